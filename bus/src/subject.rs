//! Subjects: where a message goes. Ids are encoded into them, never pasted.
//!
//! - SUBJECT-1: a subject begins with `lh.<tenant>` and names exactly one place: no wildcard, no empty part.
//! - SUBJECT-2: different parts give different subjects.

use std::fmt;

use leasehold_types::Tenant;

use crate::part;

/// What every subject begins with.
pub(crate) const ROOT: &str = "lh";

/// Tenants whose subjects would be those of stored letters, `lh.in.<slot>.<tree>`.
const RESERVED_TENANTS: [&str; 1] = ["in"];

/// An address on the bus: `lh.<tenant>.<part>…`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject(String);

/// Why something is not a subject or a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubjectError {
    /// A part is empty, so two subjects could not be told apart.
    #[error("[bus.subject-part-empty] part {place} of a subject is empty")]
    PartEmpty {
        /// Which part, counted from the tenant as 0.
        place: usize,
    },
    /// A part is longer than [`Subject::PART_BYTES_MAX`].
    #[error("[bus.subject-part-too-long] part {place} of a subject has {bytes} bytes, the limit is {max}", max = Subject::PART_BYTES_MAX)]
    PartTooLong {
        /// Which part, counted from the tenant as 0.
        place: usize,
        /// Its length before encoding.
        bytes: usize,
    },
    /// The whole is longer than [`Subject::BYTES_MAX`].
    #[error("[bus.subject-too-long] a subject has {bytes} bytes, the limit is {max}", max = Subject::BYTES_MAX)]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The tenant's name is one of the store's own words.
    #[error(
        "[bus.tenant-reserved] the tenant {0:?} has the name of stored letters: choose another"
    )]
    TenantReserved(String),
    /// A text that arrived is not written as a subject or filter is.
    #[error("[bus.subject-invalid] a text of {bytes} bytes is no {kind}: it is written as {form}")]
    Invalid {
        /// The text's length; the text itself may be hostile.
        bytes: usize,
        /// What was expected.
        kind: &'static str,
        /// How that is written.
        form: &'static str,
    },
}

impl Subject {
    /// The longest part, in bytes before it is encoded: ids are far shorter.
    pub const PART_BYTES_MAX: usize = 128;
    /// The longest subject, in bytes: a server takes four times as much.
    pub const BYTES_MAX: usize = 1_024;

    /// The subject of these parts under a tenant.
    ///
    /// # Errors
    /// No part, or one that is empty or too long; a reserved tenant.
    pub fn new(tenant: &Tenant, parts: &[&str]) -> Result<Self, SubjectError> {
        let mut text = root_of(tenant)?;
        if parts.is_empty() {
            return Err(SubjectError::PartEmpty { place: 1 });
        }
        for (place, part) in parts.iter().enumerate() {
            push_part(&mut text, place + 1, part)?;
        }
        within_limit(text).map(Self)
    }

    /// Reads a subject that arrived.
    ///
    /// # Errors
    /// The text is not exactly what [`Subject::new`] writes.
    pub fn parse(text: &str) -> Result<Self, SubjectError> {
        let invalid = || SubjectError::Invalid {
            bytes: text.len(),
            kind: "subject",
            form: "lh.<tenant>.<part>…, each part of A-Z, a-z, 0-9, _, - and %XX",
        };
        if text.len() > Self::BYTES_MAX {
            return Err(SubjectError::TooLong { bytes: text.len() });
        }
        let mut parts = text.split('.');
        if parts.next() != Some(ROOT) {
            return Err(invalid());
        }
        let parts: Option<Vec<String>> = parts.map(part::decode).collect();
        match parts.as_deref() {
            Some([tenant, parts @ ..]) => {
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                Self::new(&Tenant::new(tenant), &parts)
            }
            Some([]) | None => Err(invalid()),
        }
    }

    /// The subject as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whose subject it is.
    #[must_use]
    pub fn tenant(&self) -> Tenant {
        let tenant = self.written_parts().next().and_then(part::decode);
        Tenant::new(tenant.unwrap_or_default())
    }

    /// The parts as written, from the tenant on.
    pub(crate) fn written_parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('.').skip(1)
    }
}

/// `lh.<tenant>`, checked.
pub(crate) fn root_of(tenant: &Tenant) -> Result<String, SubjectError> {
    if RESERVED_TENANTS.contains(&tenant.as_str()) {
        return Err(SubjectError::TenantReserved(tenant.as_str().to_owned()));
    }
    let mut text = ROOT.to_owned();
    push_part(&mut text, 0, tenant.as_str())?;
    Ok(text)
}

pub(crate) fn push_part(text: &mut String, place: usize, part: &str) -> Result<(), SubjectError> {
    let bytes = part.len();
    if bytes == 0 {
        return Err(SubjectError::PartEmpty { place });
    }
    if bytes > Subject::PART_BYTES_MAX {
        return Err(SubjectError::PartTooLong { place, bytes });
    }
    text.push('.');
    part::encode_into(text, part);
    Ok(())
}

pub(crate) fn within_limit(text: String) -> Result<String, SubjectError> {
    let bytes = text.len();
    if bytes > Subject::BYTES_MAX {
        return Err(SubjectError::TooLong { bytes });
    }
    Ok(text)
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
