//! Writing letters to a tree: decisions, cancels, retries. Durable first, answered once their owner has journaled them.

use std::time::Duration;

use leasehold_execution::letter::LetterBody;
use leasehold_execution::machine::{Decision, DecisionReply, PauseKey, Verdict};
use leasehold_journal::{JournalError, Letter, LetterId};
use leasehold_types::{Digest, ExecutionId, Principal, Tenant, TreeId};
use tokio::sync::oneshot;

use crate::error::DecideError;
use crate::handle::{Node, PauseTarget};
use crate::node::NodeMsg;

impl Node {
    /// Decides a pause, and waits up to `wait` for the outcome. Durable, and so applied, once this returns `Ok` or `Pending`.
    ///
    /// # Errors
    /// See [`DecideError`].
    pub async fn decide(
        &self,
        target: PauseTarget,
        by: Principal,
        verdict: Verdict,
        shown: Option<Digest>,
        wait: Duration,
    ) -> Result<DecisionReply, DecideError> {
        let (tree, pause) = match target {
            PauseTarget::Reference(reference) => (
                reference.execution.tree(),
                PauseKey::Number(reference.number),
            ),
            PauseTarget::Secret(tree, secret) => (tree, PauseKey::Secret(secret)),
        };
        let tenant = by.tenant.clone();
        let body = LetterBody::Decide(Decision {
            pause,
            by,
            verdict,
            shown,
            letter: None,
        });
        self.write_letter(tree, &tenant, &body, wait).await
    }

    /// Cancels an execution, and waits up to `wait` for the outcome.
    ///
    /// # Errors
    /// See [`DecideError`].
    pub async fn cancel(
        &self,
        tree: TreeId,
        by: Principal,
        reason: String,
        wait: Duration,
    ) -> Result<DecisionReply, DecideError> {
        let tenant = by.tenant.clone();
        self.write_letter(tree, &tenant, &LetterBody::Cancel { by, reason }, wait)
            .await
    }

    /// Lets a quarantined tree go on.
    ///
    /// # Errors
    /// See [`DecideError`].
    pub async fn retry(
        &self,
        tree: TreeId,
        by: Principal,
        wait: Duration,
    ) -> Result<DecisionReply, DecideError> {
        let tenant = by.tenant.clone();
        self.write_letter(tree, &tenant, &LetterBody::Retry { by }, wait)
            .await
    }

    async fn write_letter(
        &self,
        tree: TreeId,
        tenant: &Tenant,
        body: &LetterBody,
        wait: Duration,
    ) -> Result<DecisionReply, DecideError> {
        self.is_known(tree, tenant).await?;
        let letter = self.letter(tree, body)?;
        let (sender, receiver) = oneshot::channel();
        // Told to wait before the letter is there: its outcome cannot come first.
        let id = letter.id;
        let _gone = self.actor.cast(NodeMsg::Await { id, sender });
        self.deps.store.put(letter).await?;
        tokio::select! {
            reply = receiver => reply.map_err(|_| DecideError::Pending { waited_ms: 0 }),
            () = self.deps.clock.sleep(wait) => {
                Err(DecideError::Pending { waited_ms: wait.as_millis() })
            }
        }
    }

    /// Another tenant's tree is as unknown as one that is not there, and gets no letter.
    async fn is_known(&self, tree: TreeId, tenant: &Tenant) -> Result<(), DecideError> {
        let tail = self.deps.store.tail(tree).await?;
        let header = tail.header().map_err(JournalError::from)?;
        match header.filter(|header| header.tenant == *tenant) {
            Some(_) => Ok(()),
            None => Err(DecideError::UnknownExecution(ExecutionId::root(tree))),
        }
    }

    fn letter(&self, tree: TreeId, body: &LetterBody) -> Result<Letter, DecideError> {
        let body = body
            .write()
            .map_err(|error| JournalError::Unavailable(error.to_string()))?;
        let (bytes, max) = (body.len(), Letter::BYTES_MAX);
        if bytes > max {
            return Err(DecideError::TooLarge { bytes, max });
        }
        let random = &self.deps.random;
        let id = (u128::from(random.next_u64()) << 64) | u128::from(random.next_u64());
        let id = LetterId(id);
        Ok(Letter { id, tree, body })
    }
}
