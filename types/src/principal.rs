//! Who: tenants, owners, threads, and the principals that answer.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! named {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes a name that authentication or the caller has established.
            #[must_use]
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

named! {
    /// The wall between customers of one installation. `default` where there is only one.
    Tenant
}
named! {
    /// Whom a thread and its executions belong to.
    Owner
}
named! {
    /// A conversation: executions that share history, one owner and one tenant.
    ThreadId
}

impl Default for Tenant {
    fn default() -> Self {
        Self::new("default")
    }
}

/// How a principal was authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrincipalKind {
    /// A user of this machine, read from the socket or the process.
    LocalUser,
    /// A person whom an identity provider or a channel's own system vouches for.
    Person,
    /// A program with credentials of its own.
    Service,
    /// A rule that answered without a person: auto-approve, auto-reject, a channel's `decided`.
    Rule,
}

/// Who acts, as authentication established it; never as a request body claims it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Principal {
    /// The name, unique within the tenant and kind.
    pub id: String,
    /// How it was authenticated.
    pub kind: PrincipalKind,
    /// The tenant it may act in.
    pub tenant: Tenant,
}

impl Principal {
    /// A principal of `kind` in the default tenant.
    #[must_use]
    pub fn new(id: impl Into<String>, kind: PrincipalKind) -> Self {
        Self {
            id: id.into(),
            kind,
            tenant: Tenant::default(),
        }
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.id)
    }
}
