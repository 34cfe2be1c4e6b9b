//! A model's answer: each of its calls gets an id and a plan, and the answer becomes a record.

use leasehold_models::{ModelAnswer, ModelCall, StopReason};
use leasehold_types::{Money, PauseId, SpendEntry};

use super::Deciding;
use super::call::{self, Slot};
use crate::call_id;
use crate::plan::{PlannedApproval, PlannedTool, Reviewed};
use crate::record::{
    AnsweredCall, CallBinding, CallPlan, FinishKind, ModelAnswered, PauseOpened, PauseSubject,
    Place, Record,
};
use crate::texts;

/// The longest arguments that are journaled as the model wrote them, where they cannot be used.
const RAW_ARGUMENTS_BYTES_MAX: usize = 16 * 1_024;

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
        let provider_ids: Vec<Option<String>> = answer
            .calls
            .iter()
            .map(|call| call.provider_id.as_deref().map(str::to_owned))
            .collect();
        let ids = call_id::assign(&self.place(), turn, &provider_ids, &self.state().used_ids);
        let mut judged = self.judge_all(answer);
        self.let_run(&mut judged);
        let roles: Vec<_> = judged.iter_mut().map(|call| call.role.take()).collect();
        let calls: Vec<AnsweredCall> = judged
            .into_iter()
            .zip(answer.calls.iter().zip(ids).zip(provider_ids))
            .map(|(judged, ((call, call_id), provider_id))| AnsweredCall {
                call_id,
                provider_id,
                tool: call.name.chars().take(128).collect(),
                arguments: judged.arguments,
                plan: judged.plan,
                bound: judged.bound,
            })
            .collect();
        let asked: Vec<_> = calls.iter().cloned().zip(roles).collect();
        let repair = self.repair_of(answer);
        self.record(Record::ModelAnswered(Box::new(ModelAnswered {
            turn,
            attempt,
            text: answer.text.to_string(),
            calls,
            stop: word(&answer.stop),
            spend,
            echo: answer.echo.as_deref().map(str::to_owned),
            repair,
        })));
        self.open_approvals(asked);
        self.run_admitted();
    }

    /// What the model is told where its answer is no answer.
    fn repair_of(&self, answer: &ModelAnswer) -> Option<String> {
        if !answer.calls.is_empty() || self.state().stop.is_some() {
            return None;
        }
        match answer.stop {
            StopReason::Length => Some(texts::CUT_ANSWER.to_owned()),
            _ if answer.text.trim().is_empty() => Some(texts::EMPTY_ANSWER.to_owned()),
            _ => None,
        }
    }

    fn judge_all(&self, answer: &ModelAnswer) -> Vec<Judged> {
        let limits = &self.machine.plan.limits;
        let left = limits
            .tool_calls
            .saturating_sub(self.state().counts.tool_calls);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let mut reserved = Money::ZERO;
        let judge = |(position, call): (usize, &ModelCall)| {
            if self.state().stop.is_some() {
                return refused(call, FinishKind::Cancelled, texts::CANCELLED.to_owned());
            }
            if position >= left {
                let text = texts::limit_reached(limits.tool_calls);
                return refused(call, FinishKind::LimitReached, text);
            }
            if answer.stop == StopReason::Length {
                return refused(
                    call,
                    FinishKind::InvalidInput,
                    texts::CUT_ARGUMENTS.to_owned(),
                );
            }
            self.judge(call, &mut reserved)
        };
        answer.calls.iter().enumerate().map(judge).collect()
    }

    fn judge(&self, call: &ModelCall, reserved: &mut Money) -> Judged {
        let tools = &self.machine.plan.tools;
        let tool = if self.state().tools_off {
            None
        } else {
            tools.get(&*call.name)
        };
        let Some(tool) = tool else {
            let known = tools.keys().map(String::as_str);
            return refused(
                call,
                FinishKind::UnknownTool,
                texts::unknown_tool(&call.name, known),
            );
        };
        let reviewed = match tool.review.review(&call.arguments) {
            Ok(reviewed) => reviewed,
            Err(message) => return refused(call, FinishKind::InvalidInput, message),
        };
        let total = reserved.saturating_add(tool.reserve);
        if tool.reserve > Money::ZERO
            && let Err(error) = self.state().ledger.covers(total)
        {
            return refused(call, FinishKind::BudgetExceeded, error.to_string());
        }
        *reserved = total;
        accepted(tool, &reviewed)
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
        let starts = call::may_start(&slots, self.machine.plan.limits.parallel_calls);
        for (position, call) in judged.iter_mut().enumerate() {
            if call.plan == CallPlan::Run && !starts.contains(&position) {
                call.plan = CallPlan::Queue;
            }
        }
    }

    fn open_approvals(&mut self, calls: Vec<(AnsweredCall, Option<PlannedApproval>)>) {
        let expires_after = self.machine.plan.approval_expires_after;
        for (call, role) in calls {
            let (Some(role), Some(bound), CallPlan::Ask) = (role, call.bound, call.plan) else {
                continue;
            };
            let digest = self.digest_of(&bound);
            let opened = PauseOpened {
                number: self.next_pause(),
                pause_id: PauseId::new(self.context.random),
                subject: PauseSubject::Approval {
                    call_id: call.call_id,
                    role: role.role,
                },
                answerer: role.answerer.into(),
                digest,
                expires_at: expires_after.map(|after| self.context.now.plus(after)),
            };
            self.record(Record::PauseOpened(Box::new(opened)));
        }
    }

    pub(super) fn next_pause(&self) -> u32 {
        u32::try_from(self.state().pauses.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1)
    }

    /// What a decision is bound to.
    pub(super) fn digest_of(&self, bound: &CallBinding) -> leasehold_types::Digest {
        leasehold_types::Digest::of_parts(&[
            bound.definition.as_bytes(),
            bound.arguments.as_bytes(),
            self.machine.plan.config_hash.as_bytes(),
        ])
    }
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

fn refused(call: &ModelCall, kind: FinishKind, message: String) -> Judged {
    let mut end = call.arguments.len().min(RAW_ARGUMENTS_BYTES_MAX);
    while !call.arguments.is_char_boundary(end) {
        end -= 1;
    }
    let arguments = call.arguments[..end].to_owned();
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
