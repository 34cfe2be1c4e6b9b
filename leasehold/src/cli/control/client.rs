//! A command's side of the socket.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use leasehold_types::Clock;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use super::place::SocketPath;
use super::wire::{Asked, Line, REPLY_BYTES_MAX, Told, VERSION, read_line};
use crate::cli::error::CliError;
use crate::cli::request::{Reply, Request};

/// How long an instance may be silent: it tells that it is there more often than that.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// Asks the instance that holds a store.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Client {
    directory: PathBuf,
    clock: Arc<dyn Clock>,
}

impl Client {
    /// The client of the instance on this store, if one answers.
    pub(in crate::cli) async fn find(directory: &Path, clock: Arc<dyn Clock>) -> Option<Self> {
        let client = Self {
            directory: directory.to_owned(),
            clock,
        };
        client.connect().await.ok().map(|_| client)
    }

    async fn connect(&self) -> std::io::Result<UnixStream> {
        let path = SocketPath::of(&self.directory)?;
        UnixStream::connect(path.as_path()).await
    }

    /// Asks, and hands each reply to `told`.
    ///
    /// # Errors
    /// The instance refused, is gone, is silent, or `told` wants no more.
    pub(in crate::cli) async fn ask(
        &self,
        request: &Request,
        told: &mut (dyn FnMut(Reply) -> Result<(), CliError> + Send),
    ) -> Result<(), CliError> {
        let mut stream = self.connect().await.map_err(gone)?;
        let asked = Asked {
            v: VERSION,
            request,
        };
        let mut line = serde_json::to_vec(&asked).map_err(CliError::unwritable)?;
        line.push(b'\n');
        if let Err(error) = stream.write_all(&line).await {
            // Refused before all was read: why stands in the reply.
            if error.kind() != ErrorKind::BrokenPipe {
                return Err(gone(error));
            }
        }
        let mut input = BufReader::new(stream);
        loop {
            let line = self.line(&mut input).await?;
            let read: Told = serde_json::from_slice(&line)
                .map_err(|_| CliError::Control("said what this build does not know".to_owned()))?;
            if let Some(refusal) = read.error {
                return Err(refusal.into_error());
            }
            if read.end {
                return Ok(());
            }
            match read.reply {
                Some(Reply::StillThere) | None => {}
                Some(reply) => told(reply)?,
            }
        }
    }

    async fn line(&self, input: &mut BufReader<UnixStream>) -> Result<Vec<u8>, CliError> {
        let read = tokio::select! {
            read = read_line(input, REPLY_BYTES_MAX) => read.map_err(gone)?,
            () = self.clock.sleep(SILENCE_MAX) => {
                return Err(CliError::Control(format!("was silent for {} s", SILENCE_MAX.as_secs())));
            }
        };
        match read {
            Line::Whole(line) => Ok(line),
            Line::TooLong => Err(CliError::Control(
                "told more than a line may hold".to_owned(),
            )),
            Line::Closed => Err(CliError::Control(
                "was closed: the instance has stopped".to_owned(),
            )),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a function for map_err")]
fn gone(error: std::io::Error) -> CliError {
    let kind = error.kind();
    if kind == ErrorKind::ConnectionRefused || kind == ErrorKind::NotFound {
        return CliError::Control("is not there any more: the instance has stopped".to_owned());
    }
    CliError::Control(format!("failed: {error}"))
}
