//! What a step takes to be carried out: the request, the tool with its arguments, the question with its channel.
//!
//! Everything comes from the machine and the agent; nothing is decided here.

use std::sync::Arc;

use leasehold_execution::Step;
use leasehold_execution::machine::CallView;
use leasehold_execution::record::PauseSubject;
use leasehold_models::{ModelRequest, ToolChoice};
use leasehold_tools::{ApprovalRecord, CallFacts, CallFrame};
use leasehold_types::{CallId, Permit, ThreadId, Timestamp};

use super::State;
use crate::call::{Gate, Job, ModelJob, SendJob, ToolJob};
use crate::channel::Ask;

impl State {
    /// `None` where this instance lacks what the step takes.
    pub(super) fn job(&self, step: &Step, permit: Permit) -> Option<Job> {
        match step {
            Step::AskModel { turn, attempt } => Some(self.model_job(*turn, *attempt, permit)),
            Step::RunCall {
                call_id,
                attempt,
                not_before,
            } => self.tool_job(call_id, *attempt, *not_before, permit),
            Step::SendQuestion { number, attempt } => self.send_job(*number, *attempt),
            Step::Abort(_) => None,
        }
    }

    fn model_job(&self, turn: u32, attempt: u32, permit: Permit) -> Job {
        let (messages, with_tools) = self.machine.conversation();
        let agent = &self.agent;
        let request = ModelRequest {
            instructions: Arc::clone(&agent.instructions),
            messages,
            tools: Arc::clone(&agent.definitions),
            max_output_tokens: agent.plan.max_output_tokens,
            tool_choice: if with_tools {
                ToolChoice::Auto
            } else {
                ToolChoice::None
            },
        };
        Job::Model(Box::new(ModelJob {
            turn,
            attempt,
            model: Arc::clone(&agent.model),
            caller: format!("agent:{}", agent.name),
            request,
            reservation: self.machine.reservation(),
            permit,
            signal: self.signal.child(),
            clock: Arc::clone(&self.deps.clock),
            timeout: self.deps.config.model_timeout,
        }))
    }

    fn tool_job(
        &self,
        call_id: &CallId,
        attempt: u32,
        not_before: Option<Timestamp>,
        permit: Permit,
    ) -> Option<Job> {
        let view = self.machine.call(call_id)?;
        let tool = self.agent.tools.get(&view.tool)?.clone();
        let facts = self.facts(&view)?;
        let signal = self.signal.child();
        let mut frame = CallFrame::new(facts, &signal, Arc::clone(&self.deps.clock))
            .with_pool(Arc::clone(&self.deps.pool));
        if let Some((by, at, _edited)) = view.approved {
            frame = frame.with_approval(ApprovalRecord {
                by,
                at,
                proposed: None,
            });
        }
        let wait = not_before.map(|at| {
            let gate = Gate {
                guard: self.guard.clone(),
                intent: permit.intent(),
            };
            (at.since(self.deps.clock.now()), gate)
        });
        Some(Job::Tool(Box::new(ToolJob {
            call_id: view.call_id,
            attempt,
            tool,
            arguments: view.arguments,
            wait,
            clock: Arc::clone(&self.deps.clock),
            signal,
            frame,
            permit,
        })))
    }

    fn facts(&self, view: &CallView) -> Option<CallFacts> {
        let started = self.machine.started()?;
        let execution_id = self.machine.execution();
        let thread_id = started
            .thread
            .clone()
            .unwrap_or_else(|| ThreadId::new(execution_id.to_string()));
        Some(CallFacts {
            execution_id,
            thread_id,
            owner: started.owner.clone(),
            tenant: self.tenant.clone(),
            workflow: self.agent.workflow.clone(),
            agent: self.agent.name.clone(),
            call_id: view.call_id.clone(),
            idempotency_key: view.key.clone(),
            attempt: view.attempt,
        })
    }

    fn send_job(&self, number: u32, attempt: u32) -> Option<Job> {
        let question = self.machine.question(number)?;
        let PauseSubject::Approval { role, .. } = &question.subject else {
            return None;
        };
        let channel = self.deps.channels.channel(role)?;
        let (tool, arguments) = question.call.clone()?;
        let ask = Ask {
            pause_id: question.pause_id,
            reference: question.reference,
            execution: self.machine.execution(),
            owner: self.machine.started()?.owner.clone(),
            role: role.clone(),
            answerer: question.answerer,
            tool,
            arguments,
            digest: question.digest,
            expires_at: question.expires_at,
            attempt,
        };
        Some(Job::Send(Box::new(SendJob {
            number,
            attempt,
            channel,
            ask,
            signal: self.signal.child(),
            clock: Arc::clone(&self.deps.clock),
            timeout: self.deps.config.send_timeout,
        })))
    }
}
