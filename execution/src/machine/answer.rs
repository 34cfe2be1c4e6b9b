//! A model's answer: each of its calls gets an id and a plan, and the answer becomes a record.

use leasehold_models::{ModelAnswer, ModelCall, StopReason};
use leasehold_types::{CallId, Digest, Money, PauseId, SpendEntry};

use super::Deciding;
use super::apply::model_key;
use super::order::{self, Slot};
use crate::call_id;
use crate::plan::{PlannedApproval, PlannedTool, Reviewed};
use crate::record::{
    AnsweredCall, CallBinding, CallPlan, FinishKind, ModelAnswered, PauseOpened, PauseSubject,
    Place, Record,
};
use crate::texts;

/// The most calls of one answer that are looked at: what a model writes beyond them is as if it had not.
const CALLS_MAX: usize = 2_048;

/// The most bytes of arguments that the calls of one answer may have together, so that an answer is a record of bounded size.
const ARGUMENTS_BYTES_MAX: usize = 4 << 20;

/// The most bytes of one call's arguments that are journaled as the model wrote them, where they cannot be used.
const RAW_BYTES_MAX: usize = 16 * 1_024;

/// The same of all calls of one answer together.
const RAW_TOTAL_BYTES_MAX: usize = 128 * 1_024;

/// The most characters of a tool's name that are journaled; no tool has a longer one.
const TOOL_CHARS_MAX: usize = 128;

/// The most bytes of a provider's id that are kept for the echo.
const PROVIDER_ID_BYTES_MAX: usize = 1_024;

/// What the calls of an answer that were judged before one take of what they share.
#[derive(Default)]
struct Taken {
    reserved: Money,
    arguments_bytes: usize,
    raw_bytes: usize,
}

/// How a call was judged, before it is known when it may run.
struct Judged {
    plan: CallPlan,
    arguments: String,
    bound: Option<CallBinding>,
    role: Option<PlannedApproval>,
    exclusive: bool,
}

impl Deciding<'_> {
    pub(super) fn place(&self) -> Place {
        Place {
            node: self.machine.plan.agent.clone(),
            visit: 1,
            item: None,
        }
    }

    pub(super) fn answered(
        &mut self,
        turn: u32,
        attempt: u32,
        answer: &ModelAnswer,
        spend: SpendEntry,
    ) {
        let mut judged = self.judge_all(answer, spend.money);
        self.let_run(&mut judged);
        let asked = judged.iter_mut().map(|call| call.role.take()).collect();
        let calls = self.name(turn, answer, judged);
        let approvals = approvals(&calls, asked);
        let repair = self.repair_of(answer);
        let reply_bytes_max = self.machine.plan.limits.reply_bytes;
        self.record(Record::ModelAnswered(Box::new(ModelAnswered {
            turn,
            attempt,
            text: cut_past(&answer.text, reply_bytes_max).to_owned(),
            calls,
            stop: word(&answer.stop),
            spend,
            echo: answer.echo.as_deref().map(str::to_owned),
            repair,
        })));
        for approval in approvals {
            self.open_approval(approval);
        }
        self.run_admitted();
    }

    /// Gives each judged call its id.
    fn name(&self, turn: u32, answer: &ModelAnswer, judged: Vec<Judged>) -> Vec<AnsweredCall> {
        let looked_at = answer.calls.iter().take(CALLS_MAX);
        let provider_ids: Vec<Option<String>> = looked_at
            .map(|call| call.provider_id.as_deref().map(str::to_owned))
            .collect();
        let ids = call_id::assign(&self.place(), turn, &provider_ids, &self.state().used_ids);
        judged
            .into_iter()
            .zip(answer.calls.iter().zip(ids).zip(provider_ids))
            .map(|(judged, ((call, call_id), provider_id))| AnsweredCall {
                call_id,
                provider_id: provider_id.map(|id| cut(&id, PROVIDER_ID_BYTES_MAX).to_owned()),
                tool: call.name.chars().take(TOOL_CHARS_MAX).collect(),
                arguments: judged.arguments,
                plan: judged.plan,
                bound: judged.bound,
            })
            .collect()
    }

    /// What the model is told where its answer is no answer.
    fn repair_of(&self, answer: &ModelAnswer) -> Option<String> {
        if !answer.calls.is_empty() || self.state().stop.is_some() {
            return None;
        }
        if answer.stop == StopReason::Length {
            return Some(texts::CUT_ANSWER.to_owned());
        }
        answer
            .text
            .trim()
            .is_empty()
            .then(|| texts::EMPTY_ANSWER.to_owned())
    }

    fn judge_all(&self, answer: &ModelAnswer, spent: Money) -> Vec<Judged> {
        let (limits, state) = (&self.machine.plan.limits, self.state());
        let used = state.counts.tool_calls - state.since.tool_calls;
        let left = usize::try_from(limits.tool_calls.saturating_sub(used)).unwrap_or(usize::MAX);
        let mut taken = Taken::default();
        let judge = |(position, call): (usize, &ModelCall)| {
            let verdict = if state.stop.is_some() {
                Err((FinishKind::Cancelled, texts::CANCELLED.to_owned()))
            } else if state.tools_off {
                Err((FinishKind::LimitReached, texts::TOOLS_OFF.to_owned()))
            } else if position >= left {
                let text = texts::limit_reached(limits.tool_calls);
                Err((FinishKind::LimitReached, text))
            } else if answer.stop == StopReason::Length {
                Err((FinishKind::InvalidInput, texts::CUT_ARGUMENTS.to_owned()))
            } else {
                self.judge(call, spent, &mut taken)
            };
            verdict.unwrap_or_else(|(kind, message)| refused(call, kind, &message, &mut taken))
        };
        let looked_at = answer.calls.iter().take(CALLS_MAX);
        looked_at.enumerate().map(judge).collect()
    }

    fn judge(
        &self,
        call: &ModelCall,
        spent: Money,
        taken: &mut Taken,
    ) -> Result<Judged, (FinishKind, String)> {
        let tools = &self.machine.plan.tools;
        let tool = tools.get(&*call.name).ok_or_else(|| {
            let known = tools.keys().map(String::as_str);
            (
                FinishKind::UnknownTool,
                texts::unknown_tool(&call.name, known),
            )
        })?;
        let invalid = |message| (FinishKind::InvalidInput, message);
        let reviewed = tool.review.review(&call.arguments).map_err(invalid)?;
        let bytes = taken
            .arguments_bytes
            .saturating_add(reviewed.canonical.len());
        if bytes > ARGUMENTS_BYTES_MAX {
            return Err(invalid(texts::arguments_too_large(ARGUMENTS_BYTES_MAX)));
        }
        let reserved = taken.reserved.saturating_add(tool.reserve);
        if tool.reserve > Money::ZERO {
            let (ledger, key) = (&self.state().ledger, model_key(self.state().turn));
            let covered = ledger.covers_after(&key, spent, reserved);
            covered.map_err(|error| (FinishKind::BudgetExceeded, error.to_string()))?;
        }
        (taken.reserved, taken.arguments_bytes) = (reserved, bytes);
        Ok(accepted(tool, &reviewed))
    }

    /// Says of each accepted call whether it runs at once or waits for others of its turn.
    fn let_run(&self, judged: &mut [Judged]) {
        let slots: Vec<Slot> = judged
            .iter()
            .map(|call| Slot {
                waits: call.plan == CallPlan::Run,
                runs: false,
                exclusive: call.exclusive,
            })
            .collect();
        let starts = order::may_start(&slots, self.machine.plan.limits.parallel_calls);
        for (position, call) in judged.iter_mut().enumerate() {
            if call.plan == CallPlan::Run && !starts.contains(&position) {
                call.plan = CallPlan::Queue;
            }
        }
    }

    fn open_approval(&mut self, approval: Approval) {
        let expires_after = self.machine.plan.approval_expires_after;
        let Approval {
            call_id,
            bound,
            role: PlannedApproval { role, answerer },
        } = approval;
        let opened = PauseOpened {
            number: self.state().next_pause(),
            pause_id: PauseId::new(self.context.random),
            subject: PauseSubject::Approval { call_id, role },
            answerer: answerer.into(),
            digest: self.digest_of(&bound),
            expires_at: expires_after.map(|after| self.context.now.plus(after)),
        };
        self.record(Record::PauseOpened(Box::new(opened)));
    }

    /// What a decision is bound to.
    pub(super) fn digest_of(&self, bound: &CallBinding) -> Digest {
        Digest::of_parts(&[
            bound.definition.as_bytes(),
            bound.arguments.as_bytes(),
            self.machine.plan.config_hash.as_bytes(),
        ])
    }
}

/// A call that waits for a decision.
struct Approval {
    call_id: CallId,
    bound: CallBinding,
    role: PlannedApproval,
}

fn approvals(calls: &[AnsweredCall], asked: Vec<Option<PlannedApproval>>) -> Vec<Approval> {
    let approval = |(call, role): (&AnsweredCall, Option<PlannedApproval>)| {
        Some(Approval {
            call_id: call.call_id.clone(),
            bound: call.bound.clone()?,
            role: role?,
        })
    };
    calls.iter().zip(asked).filter_map(approval).collect()
}

/// The text up to `bytes_max`, never inside a character.
fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// The text up to the first character that passes `bytes_max`, that one included: it shows that the limit was passed.
fn cut_past(text: &str, bytes_max: u64) -> &str {
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    &text[..text.ceil_char_boundary(bytes_max.saturating_add(1))]
}

fn accepted(tool: &PlannedTool, reviewed: &Reviewed) -> Judged {
    let role = tool.approval.clone().filter(|_| tool.review.asks(reviewed));
    Judged {
        plan: if role.is_some() {
            CallPlan::Ask
        } else {
            CallPlan::Run
        },
        arguments: reviewed.canonical.clone(),
        bound: Some(CallBinding {
            definition: tool.definition,
            arguments: reviewed.digest,
            effect: tool.effect,
            reserved: tool.reserve,
        }),
        role,
        exclusive: tool.exclusive,
    }
}

fn refused(call: &ModelCall, kind: FinishKind, message: &str, taken: &mut Taken) -> Judged {
    let left = RAW_TOTAL_BYTES_MAX.saturating_sub(taken.raw_bytes);
    let arguments = cut(&call.arguments, left.min(RAW_BYTES_MAX)).to_owned();
    taken.raw_bytes += arguments.len();
    let message = format!("Tool error: {message}");
    Judged {
        plan: CallPlan::Refuse { kind, message },
        arguments,
        bound: None,
        role: None,
        exclusive: false,
    }
}

fn word(stop: &StopReason) -> String {
    match stop {
        StopReason::Finished => "finished".to_owned(),
        StopReason::ToolCalls => "tool_calls".to_owned(),
        StopReason::Length => "length".to_owned(),
        StopReason::Refused => "refused".to_owned(),
        StopReason::Other(word) => word.clone(),
    }
}
