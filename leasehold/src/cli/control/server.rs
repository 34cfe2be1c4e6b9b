//! The instance's side of the socket: a bounded number of clients, each on its own time.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use leasehold_types::Clock;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use super::place::Listening;
use super::wire::{Line, REQUEST_BYTES_MAX, Told, read_line, request};
use crate::cli::desk::{Desk, Teller};
use crate::cli::error::CliError;
use crate::cli::request::Reply;
use crate::cli::user;

/// Clients that are served at the same time: people and their scripts on one machine.
const CLIENTS_MAX: usize = 64;
/// How long a client may take over its request.
const REQUEST_WAIT: Duration = Duration::from_secs(10);
/// How long a client may leave a line of a reply unread.
const WRITE_WAIT: Duration = Duration::from_secs(30);
/// How often a client that waits is told that the instance is still there.
const STILL_THERE_EVERY: Duration = Duration::from_secs(10);

/// Serves clients until it is dropped.
///
/// A connection's panic ends that connection alone.
pub(in crate::cli) async fn serve(listening: Listening, desk: Desk, clock: Arc<dyn Clock>) {
    let mut clients = FuturesUnordered::new();
    loop {
        tokio::select! {
            accepted = listening.listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let is_full = clients.len() >= CLIENTS_MAX;
                    let client = client(stream, desk.clone(), Arc::clone(&clock), is_full);
                    clients.push(AssertUnwindSafe(client).catch_unwind());
                }
                // Out of descriptors, most likely: wait until some client is gone.
                Err(error) => {
                    tracing::warn!(%error, "control socket takes no connection");
                    clock.sleep(Duration::from_millis(100)).await;
                }
            },
            Some(ended) = clients.next(), if !clients.is_empty() => {
                if ended.is_err() {
                    tracing::error!("a control connection panicked");
                }
            }
        }
    }
}

async fn client(stream: UnixStream, desk: Desk, clock: Arc<dyn Clock>, is_full: bool) {
    let mut client = Client {
        input: BufReader::new(stream),
        clock,
    };
    let answered = client.serve(&desk, is_full).await;
    let last = match &answered {
        Ok(()) => Told::end(),
        Err(error) => Told::error(error),
    };
    // A client that is gone does not want to know.
    let _gone = client.write(&last).await;
}

struct Client {
    input: BufReader<UnixStream>,
    clock: Arc<dyn Clock>,
}

impl Client {
    async fn serve(&mut self, desk: &Desk, is_full: bool) -> Result<(), CliError> {
        let peer = self
            .input
            .get_ref()
            .peer_cred()
            .map_err(|_| CliError::ReaderGone)?;
        let own = rustix::process::geteuid().as_raw();
        // The socket's mode says so already; a store on a foreign file system may not heed it.
        if peer.uid() != own && peer.uid() != 0 {
            return Err(CliError::NotAllowed(peer.uid()));
        }
        if is_full {
            return Err(CliError::Busy(CLIENTS_MAX));
        }
        let by = user::principal(peer.uid());
        let request = request(&self.line().await?)?;
        let (teller, mut replies) = Teller::new();
        let answer = async move {
            // The teller goes with the answer: the queue ends when all is told.
            let teller = teller;
            desk.answer(request, &by, &teller).await
        };
        let mut answer = std::pin::pin!(answer.fuse());
        let mut answered = Ok(());
        loop {
            tokio::select! {
                biased;
                reply = replies.recv() => match reply {
                    Some(reply) => self.write(&Told::reply(reply)).await?,
                    None => return answered,
                },
                done = &mut answer => answered = done,
                () = self.clock.sleep(STILL_THERE_EVERY) => {
                    self.write(&Told::reply(Reply::StillThere)).await?;
                }
            }
        }
    }

    async fn line(&mut self) -> Result<Vec<u8>, CliError> {
        let wait = self.clock.sleep(REQUEST_WAIT);
        let read = read_line(&mut self.input, REQUEST_BYTES_MAX);
        let line = tokio::select! {
            line = read => line,
            () = wait => return Err(CliError::RequestInvalid(format!(
                "no whole line came within {} s", REQUEST_WAIT.as_secs()
            ))),
        };
        match line {
            Ok(Line::Whole(line)) => Ok(line),
            Ok(Line::TooLong) => Err(CliError::RequestInvalid(format!(
                "the line has more than {REQUEST_BYTES_MAX} bytes"
            ))),
            Ok(Line::Closed) | Err(_) => Err(CliError::ReaderGone),
        }
    }

    async fn write(&mut self, told: &Told) -> Result<(), CliError> {
        let mut line = serde_json::to_vec(told).map_err(CliError::unwritable)?;
        line.push(b'\n');
        let wait = self.clock.sleep(WRITE_WAIT);
        tokio::select! {
            written = self.input.get_mut().write_all(&line) => {
                written.map_err(|_| CliError::ReaderGone)
            }
            () = wait => Err(CliError::ReaderGone),
        }
    }
}
