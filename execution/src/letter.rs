//! Letters: what others ask of a tree, as it stands in the inbox. JSON with a version, like records.

use leasehold_types::{Digest, PauseId, Principal};
use serde::{Deserialize, Serialize};

use crate::machine::{Decision, PauseKey, Verdict};

/// What a letter says.
#[derive(Debug, Clone, PartialEq)]
pub enum LetterBody {
    /// Decide a pause.
    Decide(Decision),
    /// Cancel the execution.
    Cancel {
        /// Who.
        by: Principal,
        /// Why.
        reason: String,
    },
    /// Let a quarantined tree go on.
    Retry {
        /// Who.
        by: Principal,
    },
}

/// A letter that cannot be read: it goes to the dead letters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("[letter.unreadable] {0}")]
pub struct LetterError(String);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
enum Wire {
    Decide {
        v: u16,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secret: Option<PauseId>,
        by: Principal,
        verdict: VerdictWire,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<Digest>,
    },
    Cancel {
        v: u16,
        by: Principal,
        #[serde(default)]
        reason: String,
    },
    Retry {
        v: u16,
        by: Principal,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum VerdictWire {
    Approve {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<String>,
    },
    Reject {
        #[serde(default)]
        reason: String,
    },
    Message {
        text: String,
    },
}

const VERSION: u16 = 1;

impl LetterBody {
    /// Writes the letter's body.
    ///
    /// # Errors
    /// A value that JSON cannot hold; no letter of ours has one.
    pub fn write(&self) -> Result<Vec<u8>, LetterError> {
        serde_json::to_vec(&Wire::from(self)).map_err(|error| LetterError(error.to_string()))
    }

    /// Reads a letter's body. `letter` names it in what is journaled.
    ///
    /// # Errors
    /// Not a letter of ours, or of a version this build does not know.
    pub fn read(bytes: &[u8], letter: &str) -> Result<Self, LetterError> {
        let wire: Wire =
            serde_json::from_slice(bytes).map_err(|error| LetterError(error.to_string()))?;
        match wire {
            Wire::Decide {
                v: VERSION,
                number,
                secret,
                by,
                verdict,
                shown,
            } => {
                let (pause, letter) = (named(number, secret)?, Some(letter.to_owned()));
                Ok(Self::Decide(Decision {
                    pause,
                    by,
                    verdict: verdict.into(),
                    shown,
                    letter,
                }))
            }
            Wire::Cancel {
                v: VERSION,
                by,
                reason,
            } => Ok(Self::Cancel { by, reason }),
            Wire::Retry { v: VERSION, by } => Ok(Self::Retry { by }),
            Wire::Decide { v, .. } | Wire::Cancel { v, .. } | Wire::Retry { v, .. } => Err(
                LetterError(format!("version {v} is not known to this build")),
            ),
        }
    }
}

/// The one pause that a decision names.
fn named(number: Option<u32>, secret: Option<PauseId>) -> Result<PauseKey, LetterError> {
    match (number, secret) {
        (Some(number), None) => Ok(PauseKey::Number(number)),
        (None, Some(secret)) => Ok(PauseKey::Secret(secret)),
        (Some(_), Some(_)) | (None, None) => {
            Err(LetterError("it names not exactly one pause".to_owned()))
        }
    }
}

impl From<&LetterBody> for Wire {
    fn from(body: &LetterBody) -> Self {
        match body.clone() {
            LetterBody::Decide(Decision {
                pause,
                by,
                verdict,
                shown,
                letter: _,
            }) => {
                let (number, secret) = match pause {
                    PauseKey::Number(number) => (Some(number), None),
                    PauseKey::Secret(secret) => (None, Some(secret)),
                };
                Self::Decide {
                    v: VERSION,
                    number,
                    secret,
                    by,
                    verdict: verdict.into(),
                    shown,
                }
            }
            LetterBody::Cancel { by, reason } => Self::Cancel {
                v: VERSION,
                by,
                reason,
            },
            LetterBody::Retry { by } => Self::Retry { v: VERSION, by },
        }
    }
}

impl From<Verdict> for VerdictWire {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Approve { override_arguments } => Self::Approve {
                arguments: override_arguments,
            },
            Verdict::Reject { reason } => Self::Reject { reason },
            Verdict::Message { text } => Self::Message { text },
        }
    }
}

impl From<VerdictWire> for Verdict {
    fn from(wire: VerdictWire) -> Self {
        match wire {
            VerdictWire::Approve { arguments } => Self::Approve {
                override_arguments: arguments,
            },
            VerdictWire::Reject { reason } => Self::Reject { reason },
            VerdictWire::Message { text } => Self::Message { text },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasehold_types::PrincipalKind;

    // CASE 78
    #[test]
    fn a_letter_reads_back_as_written_and_garbage_is_refused() {
        let by = Principal::new("dana", PrincipalKind::Person);
        let verdict = Verdict::Approve {
            override_arguments: Some("{}".to_owned()),
        };
        let letter = LetterBody::Decide(Decision {
            pause: PauseKey::Number(1),
            by: by.clone(),
            verdict,
            shown: None,
            letter: Some("l".to_owned()),
        });
        assert_eq!(LetterBody::read(&letter.write().unwrap(), "l"), Ok(letter));
        let both = r#"{"kind":"decide","v":1,"by":{"id":"a","kind":"person","tenant":"t"},"verdict":{"reject":{}}}"#;
        let newer = r#"{"kind":"retry","v":9,"by":{"id":"a","kind":"person","tenant":"t"}}"#;
        for bad in ["", "{}", "[1]", both, newer] {
            assert!(LetterBody::read(bad.as_bytes(), "l").is_err(), "{bad}");
        }
    }
}
