//! Addresses on the public network, as text.

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::GuardError;

/// An `http` or `https` address whose host is written as a public name or address.
///
/// A name may still resolve to a private address: whoever connects checks the address it connects to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicUrl(String);

impl PublicUrl {
    /// The longest address, in bytes.
    pub const BYTES_MAX: usize = 2_048;

    /// Checks an address.
    ///
    /// # Errors
    /// Another scheme, a user or password, a host that is local, private or written as a number, or a character no address has.
    pub fn new(text: impl Into<String>) -> Result<Self, GuardError> {
        let text = text.into();
        match text.len() <= Self::BYTES_MAX && is_public(&text) {
            true => Ok(Self(text)),
            false => Err(GuardError::Url),
        }
    }

    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_public(text: &str) -> bool {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    // Backslashes and spaces: readers differ in where the host ends.
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let Some(rest) = rest.filter(|rest| rest.bytes().all(is_plain)) else {
        return false;
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, _) = rest.split_at(end);
    if authority.contains(['@', '%']) {
        return false;
    }
    if let Some(bracketed) = authority.strip_prefix('[') {
        let Some((host, port)) = bracketed.split_once(']') else {
            return false;
        };
        return is_port(port)
            && host
                .parse()
                .is_ok_and(|host| is_public_address(IpAddr::V6(host)));
    }
    let (host, port) = authority
        .find(':')
        .map_or((authority, ""), |at| authority.split_at(at));
    is_port(port) && is_public_host(host)
}

fn is_port(text: &str) -> bool {
    match text.strip_prefix(':') {
        Some(digits) => {
            digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u16>().is_ok()
        }
        None => text.is_empty(),
    }
}

fn is_public_host(host: &str) -> bool {
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return is_public_address(IpAddr::V4(address));
    }
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let labels: Vec<&str> = name.split('.').collect();
    let is_label = |label: &&str| {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(is_word)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // A last label of digits or 0x… is an address in one of its odd forms.
    let is_named = |last: &str| last.starts_with(|first: char| first.is_ascii_alphabetic());
    let is_local = |last: &str| {
        matches!(
            last,
            "localhost" | "local" | "internal" | "lan" | "home" | "arpa"
        )
    };
    let Some(last) = labels.last() else {
        return false;
    };
    labels.len() > 1 && labels.iter().all(is_label) && is_named(last) && !is_local(last)
}

fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Source: the IANA IPv4 Special-Purpose Address Registry.
const fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_shared = first == 100 && second & 0xc0 == 64;
    let is_protocol = first == 192 && second == 0 && third == 0;
    let is_benchmark = first == 198 && second & 0xfe == 18;
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || is_shared
        || is_protocol
        || is_benchmark
        || first == 0
        || first >= 224)
}

/// Only global unicast, and no form that carries an IPv4 address within.
const fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let is_global = first & 0xe000 == 0x2000;
    let is_special = first == 0x2001 && (second < 0x200 || second == 0xdb8);
    let is_6to4 = first == 0x2002;
    is_global && !is_special && !is_6to4
}

impl TryFrom<String> for PublicUrl {
    type Error = GuardError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl From<PublicUrl> for String {
    fn from(url: PublicUrl) -> Self {
        url.0
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl JsonSchema for PublicUrl {
    fn schema_name() -> Cow<'static, str> {
        "PublicUrl".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^https?://",
            "maxLength": Self::BYTES_MAX,
        })
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // BAD INPUT 19
    #[test]
    fn an_address_that_is_not_public_is_refused() {
        for good in [
            "https://example.com",
            "http://example.com:8080/a?b#c",
            "https://1.1.1.1/",
            "https://[2606:4700::1111]/",
            "https://xn--bcher-kva.example/",
            "https://a-b.example.com.",
        ] {
            assert!(PublicUrl::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "example.com",
            "file:///etc/passwd",
            "gopher://example.com",
            "HTTPS://example.com",
            "http://localhost",
            "http://a.localhost",
            "http://127.0.0.1",
            "http://[::1]",
            "http://169.254.169.254",
            "http://0.0.0.0",
            "http://10.0.0.1",
            "http://192.168.1.1",
            "http://100.64.0.1",
            "http://2130706433",
            "http://0x7f000001",
            "http://0x7f.1",
            "http://0177.0.0.1",
            "http://127.1",
            "http://[::ffff:127.0.0.1]",
            "http://[64:ff9b::7f00:1]",
            "http://[2002:7f00:1::]",
            "http://[fe80::1]",
            "http://[fc00::1]",
            "http://user@example.com",
            "http://example.com@127.0.0.1",
            "http://example.com\\@127.0.0.1",
            "http://b\u{fc}cher.example",
            "http://exa mple.com",
            "http://example.com:99999",
            "http://example.com:+80",
            "http://%6cocalhost",
            "http://printer.local",
            "http://intranet",
            "http://-a.com",
            "http://224.0.0.1",
        ] {
            assert_eq!(PublicUrl::new(bad), Err(GuardError::Url), "{bad}");
        }
    }
}
