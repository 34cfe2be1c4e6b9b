//! `doctor`: looks at what an instance stands on, and says what is wrong and what to do about it.
//!
//! - DOCTOR-1: it changes nothing; a file that it writes to measure is gone when it ends.
//! - DOCTOR-2: of keys it tells names, and whether they are set; never a value.

mod clock;
mod keys;
mod store;

use serde::Serialize;

pub(super) use clock::{Clocks, clocks};
pub(super) use keys::{Key, keys};
pub(super) use store::{Held, store};

use super::document;
use super::error::CliError;
use super::exit::Exit;
use super::out::{Out, Paint};
use crate::escape::line;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// It works, and one should know.
    Warning,
    /// An instance does not run so, or must not.
    Error,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// How bad it is.
    pub(super) level: Level,
    /// What was looked at.
    pub(super) about: &'static str,
    /// Its code in its brackets; none where all is well.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "bare")]
    pub(super) code: Option<&'static str>,
    /// What was found.
    pub(super) found: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) way_out: Option<&'static str>,
}

/// A code without its brackets, for scripts.
fn bare<S: serde::Serializer>(code: &Option<&str>, serializer: S) -> Result<S::Ok, S::Error> {
    let code = code.unwrap_or_default();
    serializer.serialize_str(code.trim_matches(['[', ']']))
}

impl Finding {
    /// All is well.
    pub(super) fn ok(about: &'static str, found: impl Into<String>) -> Self {
        Self {
            level: Level::Ok,
            about,
            code: None,
            found: found.into(),
            way_out: None,
        }
    }

    /// Something that one should know.
    pub(super) fn warning(
        about: &'static str,
        code: &'static str,
        found: impl Into<String>,
        way_out: &'static str,
    ) -> Self {
        Self {
            level: Level::Warning,
            about,
            code: Some(code),
            found: found.into(),
            way_out: Some(way_out),
        }
    }

    /// Something that must not stay so.
    pub(super) fn error(
        about: &'static str,
        code: &'static str,
        found: impl Into<String>,
        way_out: &'static str,
    ) -> Self {
        Self {
            level: Level::Error,
            ..Self::warning(about, code, found, way_out)
        }
    }
}

/// Tells what was found; an error among it fails the command.
///
/// # Errors
/// The output is gone.
pub(super) fn tell(findings: &[Finding], is_json: bool, out: &mut Out) -> Result<Exit, CliError> {
    let worst = findings.iter().map(|finding| finding.level).max();
    let exit = match worst {
        Some(Level::Error) => Exit::Failed,
        Some(Level::Ok | Level::Warning) | None => Exit::Done,
    };
    if is_json {
        #[derive(Serialize)]
        struct Body<'a> {
            findings: &'a [Finding],
        }
        out.json(&document::other(Body { findings }))?;
        return Ok(exit);
    }
    let lines: Vec<String> = findings
        .iter()
        .flat_map(|finding| lines_of(finding, out))
        .collect();
    out.lines(&lines)?;
    Ok(exit)
}

fn lines_of(finding: &Finding, out: &Out) -> Vec<String> {
    let (word, paint) = match finding.level {
        Level::Ok => ("ok     ", Paint::Green),
        Level::Warning => ("warning", Paint::Yellow),
        Level::Error => ("error  ", Paint::Red),
    };
    let code = finding
        .code
        .map(|code| format!("{code} "))
        .unwrap_or_default();
    let found = line(&finding.found);
    let mut lines = vec![format!(
        "{}  {:<6} {code}{found}",
        out.painted(word, paint),
        finding.about
    )];
    if let Some(way_out) = finding.way_out {
        lines.push(format!("                 {way_out}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::out::tests::kept;

    // CONTRACT O2
    #[test]
    fn an_error_fails_the_command_and_a_warning_does_not() {
        let ok = Finding::ok("store", "it is there");
        let warning = Finding::warning("disk", "[doctor.fsync-suspicious]", "3 µs", "look");
        let error = Finding::error("disk", "[doctor.disk-full]", "1 byte is free", "free some");
        let cases = [
            (vec![ok.clone()], Exit::Done),
            (vec![ok.clone(), warning.clone()], Exit::Done),
            (vec![error.clone(), ok], Exit::Failed),
        ];
        for (findings, exit) in cases {
            let (mut out, kept, _) = kept();
            assert_eq!(tell(&findings, false, &mut out).unwrap(), exit);
            assert_eq!(kept.text().contains("[doctor."), findings.len() > 1);
        }
        let (mut out, kept, _) = kept();
        assert_eq!(
            tell(&[warning, error], true, &mut out).unwrap(),
            Exit::Failed
        );
        let read: serde_json::Value = serde_json::from_str(&kept.text()).unwrap();
        assert_eq!(read["schema"], 1);
        assert_eq!(read["findings"][1]["code"], "doctor.disk-full");
        assert_eq!(read["findings"][0]["level"], "warning");
    }
}
