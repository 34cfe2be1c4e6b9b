//! Keys: asked for by the name of their environment variable, used once, shown nowhere.

use std::fmt;

/// A provider's key. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes a key.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The key itself. Named so that a reader sees a secret leave.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// Where keys come from. Asked once for each call, so a changed key is used at once.
pub trait KeySource: Send + Sync {
    /// The key in the environment variable `name`, if it is set.
    fn key(&self, name: &str) -> Option<ApiKey>;
}

impl<F> KeySource for F
where
    F: Fn(&str) -> Option<String> + Send + Sync,
{
    fn key(&self, name: &str) -> Option<ApiKey> {
        self(name).map(ApiKey)
    }
}
