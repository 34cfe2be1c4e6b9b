//! Filters: which subjects a subscription hears. `*` stands for one part, `>` for one or more at the end.
//!
//! - FILTER-1: a filter names its tenant: no filter hears two.

use std::fmt;

use leasehold_types::Tenant;

use crate::subject::{ROOT, push_part, root_of, within_limit};
use crate::{Subject, SubjectError, part};

/// One part of a filter after the tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterPart<'a> {
    /// Exactly this text.
    Is(&'a str),
    /// Any one part: `*`.
    Any,
    /// One or more parts, to the end: `>`. Only as the last part.
    Rest,
}

/// The subjects a subscription hears.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubjectFilter(String);

impl SubjectFilter {
    /// Hears one subject.
    #[must_use]
    pub fn exactly(subject: &Subject) -> Self {
        Self(subject.as_str().to_owned())
    }

    /// Hears the subjects under a tenant that these parts match.
    ///
    /// # Errors
    /// No part, one that is empty or too long, [`FilterPart::Rest`] before the end, or a reserved tenant.
    pub fn new(tenant: &Tenant, parts: &[FilterPart<'_>]) -> Result<Self, SubjectError> {
        let mut text = root_of(tenant)?;
        if parts.is_empty() {
            return Err(SubjectError::PartEmpty { place: 1 });
        }
        for (place, part) in parts.iter().enumerate() {
            match part {
                FilterPart::Is(part) => push_part(&mut text, place + 1, part)?,
                FilterPart::Any => text.push_str(".*"),
                FilterPart::Rest if place + 1 == parts.len() => text.push_str(".>"),
                FilterPart::Rest => return Err(invalid(text.len())),
            }
        }
        within_limit(text).map(Self)
    }

    /// Reads a filter from its text.
    ///
    /// # Errors
    /// The text is not exactly what [`SubjectFilter::new`] writes.
    pub fn parse(text: &str) -> Result<Self, SubjectError> {
        if text.len() > Subject::BYTES_MAX {
            return Err(SubjectError::TooLong { bytes: text.len() });
        }
        let (root, parts) = text.split_once('.').ok_or_else(|| invalid(text.len()))?;
        let (tenant, parts) = parts.split_once('.').ok_or_else(|| invalid(text.len()))?;
        let tenant = part::decode(tenant).filter(|_| root == ROOT);
        let tenant = tenant.ok_or_else(|| invalid(text.len()))?;
        let texts: Option<Vec<_>> = parts.split('.').map(decoded).collect();
        let texts = texts.ok_or_else(|| invalid(text.len()))?;
        let parts: Vec<FilterPart<'_>> = texts.iter().map(Decoded::part).collect();
        Self::new(&Tenant::new(tenant), &parts)
    }

    /// Whether a subscription with this filter hears `subject`.
    #[must_use]
    pub fn matches(&self, subject: &Subject) -> bool {
        let mut wanted = self.0.split('.').skip(1);
        let mut parts = subject.written_parts();
        loop {
            match (wanted.next(), parts.next()) {
                (Some(">"), Some(_)) | (None, None) => return true,
                (Some(wanted), Some(part)) if wanted == "*" || wanted == part => {}
                (Some(_), _) | (None, Some(_)) => return false,
            }
        }
    }

    /// Whether it hears one subject only.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.0.contains(['*', '>'])
    }

    /// The filter as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

enum Decoded {
    Is(String),
    Any,
    Rest,
}

impl Decoded {
    fn part(&self) -> FilterPart<'_> {
        match self {
            Self::Is(text) => FilterPart::Is(text),
            Self::Any => FilterPart::Any,
            Self::Rest => FilterPart::Rest,
        }
    }
}

fn decoded(written: &str) -> Option<Decoded> {
    match written {
        "*" => Some(Decoded::Any),
        ">" => Some(Decoded::Rest),
        text => part::decode(text).map(Decoded::Is),
    }
}

const fn invalid(bytes: usize) -> SubjectError {
    SubjectError::Invalid {
        bytes,
        kind: "filter",
        form: "lh.<tenant>.<part>…, a part being a word, * or, at the end, >",
    }
}

impl fmt::Display for SubjectFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for SubjectFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
