//! Lists: executions, newest first, and the pauses that are open.

use leasehold_execution::record::{CallPlan, Ended, ModelAnswered, Outcome};
use leasehold_execution::{Entry, Record};
use leasehold_types::{ExecutionId, PauseRef, TreeId, TreeState, TreeSummary};

use super::{Desk, Teller};
use crate::cli::error::CliError;
use crate::cli::frames::{ReadFrame, Said, last_frame};
use crate::cli::ids::{each_tree, resolve};
use crate::cli::request::Reply;
use crate::cli::story::{Story, state_of};
use crate::cli::view::{ExecutionRow, PauseRow, SpendView, State};
use crate::cli::when::When;
use crate::escape::clip;

/// Characters of a reason in a list.
const WHY_CHARS: usize = 80;

impl Desk {
    pub(super) async fn list(
        &self,
        limit: usize,
        state: Option<State>,
        teller: &Teller,
    ) -> Result<(), CliError> {
        let mut trees: Vec<TreeId> = Vec::new();
        each_tree(&*self.store, |head| {
            let header = head.header;
            if state.is_none_or(|state| may_be(state, header.summary.state)) {
                trees.push(header.tree);
            }
        })
        .await?;
        let mut told = 0;
        for tree in trees.iter().rev() {
            let Some(row) = self.row(*tree).await? else {
                continue;
            };
            if state.is_some_and(|state| state != row.state) {
                continue;
            }
            if told == limit {
                let of = trees.len() as u64;
                return teller.tell(Reply::More { of }).await;
            }
            told += 1;
            teller.tell(Reply::Row(Box::new(row))).await?;
        }
        Ok(())
    }

    async fn row(&self, tree: TreeId) -> Result<Option<ExecutionRow>, CliError> {
        let row = match last_frame(&*self.store, tree).await? {
            None => None,
            Some(Ok(frame)) => {
                let mut row = row_of(&frame);
                row.why = self.qualified(row.state, row.why);
                Some(row)
            }
            Some(Err(broken)) => Some(unreadable(tree, &broken.why)),
        };
        Ok(row)
    }

    pub(super) async fn approvals(
        &self,
        limit: usize,
        execution: Option<&str>,
        teller: &Teller,
    ) -> Result<(), CliError> {
        let only = match execution {
            Some(text) => Some(resolve(&*self.store, text).await?),
            None => None,
        };
        let mut trees: Vec<TreeId> = Vec::new();
        each_tree(&*self.store, |head| {
            let (header, wanted) = (&head.header, only.map(ExecutionId::tree));
            let is_wanted = wanted.is_none_or(|wanted| wanted == header.tree);
            if is_wanted && !header.summary.pauses.is_empty() {
                trees.push(header.tree);
            }
        })
        .await?;
        let mut told = 0;
        // The oldest question first: it has waited longest.
        for (position, tree) in trees.iter().enumerate() {
            let (story, _) = self.read(Story::new(ExecutionId::root(*tree))).await?;
            for pause in story.pauses() {
                if told == limit {
                    let of = (trees.len() - position + told) as u64;
                    return teller.tell(Reply::More { of }).await;
                }
                told += 1;
                teller.tell(Reply::Pause(Box::new(pause))).await?;
            }
        }
        Ok(())
    }
}

/// Whether a tree that its header says is in `tree` may turn out to be in `state`.
const fn may_be(state: State, tree: TreeState) -> bool {
    match state {
        State::Starting | State::Running => matches!(tree, TreeState::Live),
        State::Waiting => matches!(tree, TreeState::Resting),
        State::Blocked => matches!(tree, TreeState::Blocked),
        State::Completed
        | State::Failed
        | State::Cancelled
        | State::LimitExceeded
        | State::BudgetExceeded => matches!(tree, TreeState::Ended),
        State::Unreadable => true,
    }
}

fn row_of(frame: &ReadFrame) -> ExecutionRow {
    let (header, summary) = (&frame.header, &frame.header.summary);
    let execution = ExecutionId::root(header.tree);
    let entries = frame
        .records
        .iter()
        .filter_map(|record| match &record.said {
            Said::Known(entry) => Some(&**entry),
            Said::Unknown { .. } => None,
        });
    let entries: Vec<&Entry> = entries.collect();
    let last_at = entries.last().map(|entry| entry.at.into());
    let records: Vec<&Record> = entries.iter().map(|entry| &entry.record).collect();
    let state = state_after(summary, header.epoch.get(), &records);
    ExecutionRow {
        execution,
        state,
        workflow: summary.workflow.clone(),
        thread: Some(summary.thread.clone()).filter(|thread| !thread.is_empty()),
        tenant: header.tenant.as_str().to_owned(),
        started_at: header.tree.started_at().into(),
        last_at,
        epoch: header.epoch.get(),
        frames: header.index.get() + 1,
        next_due: summary.next_due.map(Into::into),
        pauses: pauses_of(execution, summary),
        spend: records.iter().rev().find_map(|record| spend_in(record)),
        why: why(state, summary, &records),
    }
}

fn state_after(summary: &TreeSummary, epoch: u64, records: &[&Record]) -> State {
    match summary.state {
        TreeState::Live if epoch == 0 => State::Starting,
        TreeState::Live => State::Running,
        TreeState::Resting => State::Waiting,
        TreeState::Blocked => State::Blocked,
        TreeState::Ended => {
            let ended = end_in(records);
            ended.map_or(State::Unreadable, |ended| state_of(&ended.outcome))
        }
    }
}

fn pauses_of(execution: ExecutionId, summary: &TreeSummary) -> Vec<PauseRow> {
    let row = |pause: &leasehold_types::PauseSummary| PauseRow {
        pause: PauseRef {
            execution: ExecutionId::numbered(execution.tree(), pause.execution),
            number: pause.number,
        },
        role: pause.role.clone(),
        answerer: pause.answerer.into(),
    };
    summary.pauses.iter().map(row).collect()
}

fn end_in<'a>(records: &[&'a Record]) -> Option<&'a Ended> {
    records.iter().rev().find_map(|record| {
        let Record::Ended(body) = record else {
            return None;
        };
        Some(&**body)
    })
}

fn spend_in(record: &Record) -> Option<SpendView> {
    if let Record::Rested(body) = record {
        return Some(SpendView::new(
            body.settled,
            body.possible,
            None,
            body.tokens,
        ));
    }
    let Record::Ended(body) = record else {
        return None;
    };
    Some(SpendView::new(
        body.settled,
        body.possible,
        None,
        body.tokens,
    ))
}

fn why(state: State, summary: &TreeSummary, records: &[&Record]) -> String {
    match state {
        State::Starting => "no instance has taken it yet".to_owned(),
        State::Running => doing(records),
        State::Waiting => waiting(summary),
        State::Blocked => "quarantined: see `executions show`".to_owned(),
        State::Completed | State::Unreadable => String::new(),
        State::Failed | State::Cancelled | State::LimitExceeded | State::BudgetExceeded => {
            ended(records)
        }
    }
}

fn doing(records: &[&Record]) -> String {
    let told = records.iter().rev().find_map(|record| step(record));
    clip(&told.unwrap_or_default(), WHY_CHARS)
}

/// What a record sets going.
fn step(record: &Record) -> Option<String> {
    if let Record::ModelIntended(body) = record {
        return Some(format!(
            "asks {}, turn {}",
            clip(&body.model, 40),
            body.turn
        ));
    }
    if let Record::ModelAnswered(body) = record {
        return Some(runs(body));
    }
    if let Record::CallIntended(body) = record {
        return Some(format!("runs call {}", body.call_id));
    }
    let Record::Released(body) = record else {
        return None;
    };
    Some(format!("no instance has it: {}", body.reason))
}

fn runs(body: &ModelAnswered) -> String {
    let running = body.calls.iter().filter(|call| call.plan == CallPlan::Run);
    let tools: Vec<&str> = running.map(|call| call.tool.as_str()).collect();
    format!("runs {}", tools.join(", "))
}

fn waiting(summary: &TreeSummary) -> String {
    let asked = |pause: &leasehold_types::PauseSummary| match pause.role.as_str() {
        "uncertain" => format!("an outcome that nobody knows (pause {})", pause.number),
        "input" => format!("a message (pause {})", pause.number),
        role => format!("{} (pause {})", clip(role, 40), pause.number),
    };
    match (summary.pauses.as_slice(), summary.next_due) {
        ([], Some(due)) => format!("rests until {}", When(due).full()),
        ([], None) => "rests".to_owned(),
        ([one], _) => asked(one),
        ([first, rest @ ..], _) => format!("{} and {} more", asked(first), rest.len()),
    }
}

fn ended(records: &[&Record]) -> String {
    let told = match end_in(records).map(|ended| &ended.outcome) {
        None | Some(Outcome::Completed { .. }) => String::new(),
        Some(
            Outcome::Failed { error }
            | Outcome::LimitExceeded { error, .. }
            | Outcome::BudgetExceeded { error },
        ) => error.clone(),
        Some(Outcome::Cancelled { by, reason }) if reason.is_empty() => format!("by {by}"),
        Some(Outcome::Cancelled { by, reason }) => format!("by {by}: {reason}"),
    };
    clip(&told, WHY_CHARS)
}

fn unreadable(tree: TreeId, why: &str) -> ExecutionRow {
    ExecutionRow {
        execution: ExecutionId::root(tree),
        state: State::Unreadable,
        workflow: String::new(),
        thread: None,
        tenant: String::new(),
        started_at: tree.started_at().into(),
        last_at: None,
        epoch: 0,
        frames: 0,
        next_due: None,
        pauses: vec![],
        spend: None,
        why: clip(why, WHY_CHARS),
    }
}
