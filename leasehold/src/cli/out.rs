//! Where a command's words go: results to the standard output, progress and errors to the standard error.
//!
//! - OUT-1: a reader that goes away ends the command quietly; nothing panics and nothing is reported.

use std::io::{self, ErrorKind, Write};

use serde::Serialize;

use super::error::CliError;
use crate::escape;

/// The colours that a terminal may show. Meaning never stands in a colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    /// As it is.
    Plain,
    /// Headings.
    Bold,
    /// What matters less.
    Dim,
    /// Done.
    Green,
    /// Waits.
    Yellow,
    /// Failed.
    Red,
}

impl Paint {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Red => "31",
        }
    }
}

/// What the two streams are, as the configuration and the system established it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Streams {
    /// Whether the standard output may be coloured.
    pub(super) out_colour: bool,
    /// Whether the standard error may be coloured.
    pub(super) err_colour: bool,
    /// Whether somebody can be asked: standard input and error are a terminal.
    pub(super) can_ask: bool,
}

impl Streams {
    /// Neither colour nor anybody to ask.
    #[cfg(test)]
    pub(super) const PLAIN: Self = Self {
        out_colour: false,
        err_colour: false,
        can_ask: false,
    };
}

/// The two streams of a command.
pub(super) struct Out {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    /// What they are.
    pub(super) streams: Streams,
}

impl std::fmt::Debug for Out {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Out")
            .field("streams", &self.streams)
            .finish_non_exhaustive()
    }
}

impl Out {
    /// Writes to these.
    pub(super) fn new(
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
        streams: Streams,
    ) -> Self {
        Self { out, err, streams }
    }

    /// Writes to the process's own streams.
    pub(super) fn standard(streams: Streams) -> Self {
        Self::new(Box::new(io::stdout()), Box::new(io::stderr()), streams)
    }

    /// A line of the result. The caller has escaped what others wrote.
    ///
    /// # Errors
    /// The reader is gone.
    pub(super) fn line(&mut self, text: &str) -> Result<(), CliError> {
        // One write a line: two processes on one terminal do not cut into each other's lines.
        let text = format!("{text}\n");
        told(
            self.out
                .write_all(text.as_bytes())
                .and_then(|()| self.out.flush()),
        )
    }

    /// Several lines of the result.
    ///
    /// # Errors
    /// The reader is gone.
    pub(super) fn lines(&mut self, lines: &[String]) -> Result<(), CliError> {
        let mut text = lines.join("\n");
        if !lines.is_empty() {
            text.push('\n');
        }
        told(
            self.out
                .write_all(text.as_bytes())
                .and_then(|()| self.out.flush()),
        )
    }

    /// A line about the result: progress, a hint, an error.
    ///
    /// # Errors
    /// The reader is gone.
    pub(super) fn note(&mut self, text: &str) -> Result<(), CliError> {
        let text = format!("{text}\n");
        told(
            self.err
                .write_all(text.as_bytes())
                .and_then(|()| self.err.flush()),
        )
    }

    /// A question to whoever sits at the terminal: a text without the end of a line.
    ///
    /// # Errors
    /// The reader is gone.
    pub(super) fn ask(&mut self, text: &str) -> Result<(), CliError> {
        told(
            self.err
                .write_all(text.as_bytes())
                .and_then(|()| self.err.flush()),
        )
    }

    /// The result as one JSON document.
    ///
    /// # Errors
    /// The reader is gone.
    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string_pretty(value).map_err(CliError::unwritable)?;
        self.line(&escape::json(&text))
    }

    /// One document of several, on a line of its own.
    ///
    /// # Errors
    /// The reader is gone.
    pub(super) fn json_line(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string(value).map_err(CliError::unwritable)?;
        self.line(&escape::json(&text))
    }

    /// The text in a colour, where the standard output may have one.
    pub(super) fn painted(&self, text: &str, paint: Paint) -> String {
        painted(text, paint, self.streams.out_colour)
    }
}

/// The text in a colour, if it may have one.
pub(super) fn painted(text: &str, paint: Paint, may: bool) -> String {
    if !may || paint == Paint::Plain || text.is_empty() {
        return text.to_owned();
    }
    format!("\u{1b}[{}m{text}\u{1b}[0m", paint.code())
}

fn told(written: io::Result<()>) -> Result<(), CliError> {
    written.map_err(|error| {
        if error.kind() == ErrorKind::BrokenPipe {
            return CliError::ReaderGone;
        }
        CliError::Output(error.to_string())
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// A stream that a test reads.
    #[derive(Debug, Clone, Default)]
    pub(in crate::cli) struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Kept {
        pub(in crate::cli) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// An `Out` whose results and notes a test reads.
    pub(in crate::cli) fn kept() -> (Out, Kept, Kept) {
        let (out, err) = (Kept::default(), Kept::default());
        let streams = Streams::PLAIN;
        let made = Out::new(Box::new(out.clone()), Box::new(err.clone()), streams);
        (made, out, err)
    }

    #[derive(Debug)]
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_goes_away_ends_the_command_quietly() {
        let mut out = Out::new(Box::new(Gone), Box::new(Gone), Streams::PLAIN);
        let error = out.line("x").unwrap_err();
        assert!(matches!(error, CliError::ReaderGone), "OUT-1");
        assert_eq!(error.exit().code(), 0, "OUT-1");
    }

    #[test]
    fn nothing_is_coloured_that_is_not_a_terminal() {
        let (out, _, _) = kept();
        assert_eq!(out.painted("x", Paint::Red), "x");
        assert_eq!(painted("x", Paint::Red, true), "\u{1b}[31mx\u{1b}[0m");
        assert_eq!(painted("", Paint::Red, true), "");
    }
}
