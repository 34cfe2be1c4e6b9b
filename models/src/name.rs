//! How a model is named: `<provider>/<model>`, as in `anthropic/claude-sonnet-5`.

use std::fmt;
use std::str::FromStr;

/// A model's name: the provider before the first `/`, the provider's own name for the model after it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelName {
    text: String,
    slash: usize,
}

/// Why a text names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("[model.name-invalid] {0:?} names no model: write <provider>/<model>, like \"anthropic/claude-sonnet-5\", in at most {max} bytes without spaces", max = ModelName::BYTES_MAX)]
pub struct ModelNameError(String);

impl ModelName {
    /// The longest name, in bytes: longer than any provider's, short enough for a log line.
    pub const BYTES_MAX: usize = 200;

    /// The provider, or the name the application gave to an endpoint.
    #[must_use]
    pub fn provider(&self) -> &str {
        self.text.get(..self.slash).unwrap_or_default()
    }

    /// The provider's name for the model. May hold further slashes.
    #[must_use]
    pub fn model(&self) -> &str {
        self.text.get(self.slash + 1..).unwrap_or_default()
    }

    /// The whole name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for ModelName {
    type Err = ModelNameError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || ModelNameError(text.chars().take(Self::BYTES_MAX).collect());
        let (provider, model) = text.split_once('/').ok_or_else(refused)?;
        let plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        if provider.is_empty() || model.is_empty() || !plain || text.len() > Self::BYTES_MAX {
            return Err(refused());
        }
        Ok(Self {
            slash: provider.len(),
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_provider_and_a_model() {
        let name: ModelName = "openrouter/meta-llama/llama-4:free".parse().unwrap();
        assert_eq!(name.provider(), "openrouter");
        assert_eq!(name.model(), "meta-llama/llama-4:free");
        assert_eq!(name.to_string(), "openrouter/meta-llama/llama-4:free");
        let long = format!("a/{}", "b".repeat(199));
        for bad in [
            "",
            "gpt-5",
            "/gpt-5",
            "openai/",
            "openai/gpt 5",
            "openai/gpt\n5",
            &long,
        ] {
            assert!(bad.parse::<ModelName>().is_err(), "{bad:?}");
        }
    }
}
