//! What stands on a line of the control socket, and how much of a line is read.

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::request::{Reply, Request};

/// The version of the protocol.
pub(super) const VERSION: u64 = 1;
/// The most bytes of a request's line: the largest input of an execution, with every character escaped.
pub(super) const REQUEST_BYTES_MAX: usize = 1 << 20;
/// The most bytes of a reply's line: the longest timeline of an execution within its limits is far shorter.
pub(super) const REPLY_BYTES_MAX: usize = 64 << 20;

/// A request's line.
#[derive(Debug, Serialize)]
pub(super) struct Asked<'a> {
    pub(super) v: u64,
    pub(super) request: &'a Request,
}

/// A line of what is told.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Told {
    pub(super) v: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reply: Option<Reply>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Refusal>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) end: bool,
}

/// Why a request was refused.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Refusal {
    pub(super) message: String,
    pub(super) exit: u8,
}

impl Told {
    pub(super) fn reply(reply: Reply) -> Self {
        Self {
            v: VERSION,
            reply: Some(reply),
            ..Self::default()
        }
    }

    pub(super) fn end() -> Self {
        Self {
            v: VERSION,
            end: true,
            ..Self::default()
        }
    }

    pub(super) fn error(error: &CliError) -> Self {
        let refusal = Refusal {
            message: error.to_string(),
            exit: error.exit().code(),
        };
        Self {
            v: VERSION,
            error: Some(refusal),
            ..Self::default()
        }
    }
}

impl Refusal {
    pub(super) fn into_error(self) -> CliError {
        CliError::Remote {
            message: self.message,
            exit: Exit::of_code(self.exit),
        }
    }
}

/// Reads a request.
///
/// # Errors
/// It is of another version, or none of ours.
pub(super) fn request(line: &[u8]) -> Result<Request, CliError> {
    #[derive(Deserialize)]
    struct Version {
        v: u64,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Whole {
        #[serde(rename = "v")]
        _v: u64,
        request: Request,
    }
    let invalid = |error: serde_json::Error| {
        // The error's own text may quote the request; where it stands is enough.
        let (row, column) = (error.line(), error.column());
        CliError::RequestInvalid(format!(
            "line {row}, column {column}: it is no request of protocol version {VERSION}"
        ))
    };
    let Version { v } = serde_json::from_slice(line).map_err(invalid)?;
    if v != VERSION {
        return Err(CliError::Version {
            found: v,
            supported: VERSION,
        });
    }
    let whole: Whole = serde_json::from_slice(line).map_err(invalid)?;
    Ok(whole.request)
}

/// What a line came to.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) enum Line {
    /// A whole line, without its end.
    Whole(Vec<u8>),
    /// More bytes than a line may have.
    TooLong,
    /// The other side closed first.
    Closed,
}

/// Reads one line of at most `bytes_max` bytes; what comes after the bound is not read.
///
/// # Errors
/// The connection failed.
pub(in crate::cli) async fn read_line(
    input: &mut (impl AsyncBufRead + Unpin),
    bytes_max: usize,
) -> std::io::Result<Line> {
    let mut line = Vec::new();
    loop {
        let bytes = input.fill_buf().await?;
        if bytes.is_empty() {
            return Ok(Line::Closed);
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or(bytes);
        if line.len() + part.len() > bytes_max {
            return Ok(Line::TooLong);
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Line::Whole(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_back_as_written() {
        let request = Request::Show {
            execution: "abcd".to_owned(),
        };
        let asked = Asked {
            v: VERSION,
            request: &request,
        };
        let line = serde_json::to_vec(&asked).unwrap();
        assert_eq!(super::request(&line).unwrap(), request);
    }

    // BAD INPUT 56, 58
    #[test]
    fn what_is_no_request_is_refused_by_code_and_not_quoted() {
        let cases = [
            ("", "control.request-invalid"),
            ("\0\u{1b}[2J", "control.request-invalid"),
            ("[]", "control.request-invalid"),
            (r#"{"v":1}"#, "control.request-invalid"),
            (
                r#"{"v":1,"request":{"op":"erase-everything"}}"#,
                "control.request-invalid",
            ),
            (
                r#"{"v":1,"request":{"op":"show","execution":"a","by":"root"}}"#,
                "control.request-invalid",
            ),
            (
                r#"{"v":1,"request":{"op":"show","execution":"a"},"by":"root"}"#,
                "control.request-invalid",
            ),
            (
                r#"{"v":2,"request":{"op":"unheard-of"}}"#,
                "control.version",
            ),
            (r#"{"v":18446744073709551615}"#, "control.version"),
        ];
        for (line, code) in cases {
            let error = request(line.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("[{code}]")), "{line}: {error}");
            assert!(!error.contains("erase-everything") && !error.contains('\u{1b}'));
        }
    }

    // BAD INPUT 38
    #[tokio::test]
    async fn a_line_is_read_up_to_its_bound_and_no_further() {
        let read = |text: &'static str| async move {
            let mut input = tokio::io::BufReader::with_capacity(3, text.as_bytes());
            read_line(&mut input, 8).await.unwrap()
        };
        assert_eq!(
            read("12345678\nrest").await,
            Line::Whole(b"12345678".to_vec())
        );
        assert_eq!(read("123456789\n").await, Line::TooLong);
        assert_eq!(read("123").await, Line::Closed);
        assert_eq!(read("\n").await, Line::Whole(vec![]));
    }
}
