//! The terminal channel: prints a question where the process runs. The answer comes through the command line.

use std::io::{IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use leasehold_actors::{Ask, Channel, ChannelError, Sent};
use leasehold_types::BoxFuture;

use crate::question::shown_question;

/// Whether whoever runs this process shows open questions itself: then they would be printed twice.
static SHOWN_ELSEWHERE: AtomicBool = AtomicBool::new(false);

/// Says that questions are shown by the command line that this process runs.
pub(crate) fn questions_are_shown_elsewhere() {
    SHOWN_ELSEWHERE.store(true, Ordering::Relaxed);
}

/// Asks on the terminal the process was started from; anybody who may use the store answers, with `approvals approve`.
///
/// Where there is no terminal nothing is printed: the question is in `approvals list`, and never in a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terminal;

impl Channel for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn send(&self, ask: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        // Standard error: what the program prints for scripts stays its own.
        let terminal = std::io::stderr();
        if terminal.is_terminal() && !SHOWN_ELSEWHERE.load(Ordering::Relaxed) {
            let put = put(&mut terminal.lock(), &ask);
            return Box::pin(std::future::ready(put.map(|()| Sent::AwaitReply).map_err(
                |error| ChannelError(format!("the terminal cannot be written to: {error}")),
            )));
        }
        Box::pin(std::future::ready(Ok(Sent::AwaitReply)))
    }
}

/// One write: lines of other questions do not come between.
fn put(terminal: &mut dyn Write, ask: &Ask) -> std::io::Result<()> {
    let mut text = String::from("\n");
    for line in shown_question(ask) {
        text.push_str(&line);
        text.push('\n');
    }
    terminal.write_all(text.as_bytes())?;
    terminal.flush()
}
