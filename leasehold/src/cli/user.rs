//! Who acts on this machine: the user behind a socket or a process, by the name that `/etc/passwd` gives it.
//!
//! - USER-1: a name comes from the system, never from what a request says: only root may act as another user.

use leasehold_types::{Principal, PrincipalKind};

use super::error::CliError;

/// The most bytes of `/etc/passwd` that are looked at.
const PASSWD_BYTES_MAX: u64 = 4 * 1_024 * 1_024;
/// Who may be anybody.
const ROOT: &str = "root";

/// The principal of a user of this machine; `uid:<number>` where it has no name.
pub(super) fn principal(user: u32) -> Principal {
    let id = name_in(&passwd(), user).unwrap_or_else(|| format!("uid:{user}"));
    Principal::new(id, PrincipalKind::LocalUser)
}

/// The principal of the process itself.
pub(super) fn own() -> Principal {
    principal(rustix::process::geteuid().as_raw())
}

/// The principal that acts, where `by` asks to act as somebody else.
///
/// # Errors
/// USER-1: it may not.
pub(super) fn acting_as(by: &Principal, wanted: Option<&str>) -> Result<Principal, CliError> {
    acting_among(&passwd(), by, wanted)
}

fn acting_among(passwd: &str, by: &Principal, wanted: Option<&str>) -> Result<Principal, CliError> {
    let Some(wanted) = wanted.filter(|wanted| *wanted != by.id) else {
        return Ok(by.clone());
    };
    let is_known = entries(passwd).any(|(name, _)| name == wanted);
    if by.id != ROOT || by.kind != PrincipalKind::LocalUser || !is_known {
        return Err(CliError::AsRefused {
            user: by.id.clone(),
            wanted: wanted.chars().take(64).collect(),
        });
    }
    Ok(Principal {
        id: wanted.to_owned(),
        ..by.clone()
    })
}

fn passwd() -> String {
    use std::io::Read as _;
    let mut text = Vec::new();
    let read = std::fs::File::open("/etc/passwd")
        .and_then(|file| file.take(PASSWD_BYTES_MAX).read_to_end(&mut text));
    match read {
        Ok(_) => String::from_utf8_lossy(&text).into_owned(),
        // Without it users have numbers.
        Err(_) => String::new(),
    }
}

/// Names and numbers. Source: passwd(5).
fn entries(passwd: &str) -> impl Iterator<Item = (&str, u32)> {
    passwd.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let number = fields.nth(1)?.parse().ok()?;
        Some((name, number))
    })
}

fn name_in(passwd: &str, user: u32) -> Option<String> {
    let mut named = entries(passwd).filter(|(_, number)| *number == user);
    named.next().map(|(name, _)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str =
        "root:x:0:0::/root:/bin/sh\n\nbroken\ndana:x:1000:1000::/home/dana:/bin/sh\n";

    fn local(name: &str) -> Principal {
        Principal::new(name, PrincipalKind::LocalUser)
    }

    #[test]
    fn users_have_their_names_or_their_numbers() {
        assert_eq!(name_in(PASSWD, 1000).as_deref(), Some("dana"));
        assert_eq!(name_in(PASSWD, 7), None);
        assert_eq!(principal(u32::MAX - 5).id, format!("uid:{}", u32::MAX - 5));
    }

    // CONTRACT P5
    #[test]
    fn only_root_acts_as_another_user_and_only_as_one_that_there_is() {
        let as_whom =
            |by: &str, wanted| acting_among(PASSWD, &local(by), wanted).map(|p| p.id).ok();
        assert_eq!(as_whom("dana", None).as_deref(), Some("dana"));
        assert_eq!(as_whom("dana", Some("dana")).as_deref(), Some("dana"));
        assert_eq!(as_whom("root", Some("dana")).as_deref(), Some("dana"));
        assert_eq!(as_whom("root", Some("nobody-here")), None, "USER-1");
        assert_eq!(as_whom("dana", Some("root")), None, "USER-1");
        let rule = Principal::new("root", PrincipalKind::Rule);
        assert!(acting_among(PASSWD, &rule, Some("dana")).is_err(), "USER-1");
    }
}
