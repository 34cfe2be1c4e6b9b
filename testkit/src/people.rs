//! People for tests: principals as a door would have authenticated them.

use leasehold_types::{Principal, PrincipalKind};

/// A person of this name in the default tenant.
#[must_use]
pub fn principal(name: &str) -> Principal {
    Principal::new(name, PrincipalKind::Person)
}
