//! The execution actor: owns one execution's machine, starts its calls, and hands what it decides to the tree.
//!
//! **Supervision.** A call actor that panics or is killed becomes an error result or a failed attempt; its siblings go on.
//! If this actor fails, ractor kills its call actors, its tree actor ends with a failure, and the node starts the tree again from
//! the journal under a new epoch. It never stops because a child did.

use std::collections::BTreeMap;
use std::sync::Arc;

use leasehold_execution::letter::LetterBody;
use leasehold_execution::machine::{
    CallReport, CallView, Decision, DecisionReply, ModelReport, PauseKey,
};
use leasehold_execution::record::PauseSubject;
use leasehold_execution::spill::spill;
use leasehold_execution::{Context, Entry, Event, Machine, Output, Standing, Step, write_entries};
use leasehold_journal::{LetterId, LetterSeq};
use leasehold_models::{ModelRequest, ToolChoice};
use leasehold_tools::{ApprovalRecord, CallFacts, CallFrame};
use leasehold_types::{
    AbortReason, CallId, FrameIndex, OwnershipGuard, Permit, PermitRefused, Principal,
    PrincipalKind, Signal, StepIntent, Tenant, ThreadId, Timestamp, TreeSummary,
};
use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};

use crate::agent::Agent;
use crate::call::{CallActor, Decided, Job, ModelJob, Outstanding, SendJob, ToolJob, wait_for};
use crate::channel::Ask;
use crate::deps::Deps;
use crate::tree::TreeMsg;

/// The least time a call needs before the lease's deadline: what one round trip to the outside takes at least.
const CALL_NEEDS: std::time::Duration = std::time::Duration::from_millis(50);

/// What an execution actor is told.
pub(crate) enum ExecutionMsg {
    /// Entries are durable up to this frame: carry out their steps.
    Durable {
        frame: FrameIndex,
        commits: usize,
        steps: Vec<Step>,
    },
    /// A model call ended.
    Model(ModelReport),
    /// A tool call ended.
    Call(CallReport),
    /// A question was sent, was decided by a rule, or failed.
    Sent {
        number: u32,
        attempt: u32,
        error: Option<String>,
        decided: Decided,
    },
    /// A letter for the execution.
    Letter(Arrived),
    /// Time has passed.
    Tick,
    /// Ask no model any more; release the tree once nothing runs.
    Drain,
    /// Kill one of the running calls' actors, as a defect would.
    Fault(usize),
}

/// A letter that arrived, decoded.
pub(crate) struct Arrived {
    pub(crate) seq: LetterSeq,
    pub(crate) id: LetterId,
    pub(crate) body: LetterBody,
}

/// What the tree is asked to journal together.
pub(crate) struct Commit {
    /// Records as they stand in a frame.
    pub(crate) body: Vec<u8>,
    /// Blobs that must be durable first.
    pub(crate) blobs: Vec<Vec<u8>>,
    /// The entries themselves, where an observer wants them.
    pub(crate) entries: Vec<Entry>,
    pub(crate) summary: TreeSummary,
    pub(crate) steps: Vec<Step>,
    /// Letters that are over once this is durable.
    pub(crate) settled: Vec<Settled>,
    pub(crate) then: Then,
    /// Whether something came of the epoch, this commit included.
    pub(crate) proven: bool,
}

/// A letter and what its sender is told.
#[derive(Debug, Clone)]
pub(crate) struct Settled {
    pub(crate) seq: LetterSeq,
    pub(crate) id: LetterId,
    pub(crate) reply: DecisionReply,
}

/// What the tree does after a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It goes on.
    Continue,
    /// It rests until a letter or this time.
    Rest(Option<Timestamp>),
    /// It is over.
    End,
    /// It waits for an operator.
    Block,
    /// It is given back with steps left.
    Release,
}

/// What an execution actor begins with.
pub(crate) struct Beginning {
    pub(crate) machine: Machine,
    pub(crate) agent: Arc<Agent>,
    pub(crate) tenant: Tenant,
    pub(crate) guard: OwnershipGuard,
    pub(crate) tree: ActorRef<TreeMsg>,
    pub(crate) deps: Arc<Deps>,
}

/// Runs one execution.
pub(crate) struct ExecutionActor;

pub(crate) struct State {
    machine: Machine,
    agent: Arc<Agent>,
    tenant: Tenant,
    guard: OwnershipGuard,
    signal: Signal,
    tree: ActorRef<TreeMsg>,
    deps: Arc<Deps>,
    calls: BTreeMap<ActorId, Outstanding>,
    /// The last commit asked the tree to rest or end: nothing more is decided under this epoch.
    closing: bool,
    /// A wait is under way.
    waits: bool,
    /// The instance is going: what runs may end, nothing new is asked.
    draining: bool,
    /// Commits that are not durable yet.
    undurable: usize,
}

impl Actor for ExecutionActor {
    type Msg = ExecutionMsg;
    type State = State;
    type Arguments = Beginning;

    async fn pre_start(
        &self,
        _: ActorRef<ExecutionMsg>,
        begin: Beginning,
    ) -> Result<State, ActorProcessingErr> {
        let Beginning {
            machine,
            agent,
            tenant,
            guard,
            tree,
            deps,
        } = begin;
        let signal = guard.signal().child();
        let calls = BTreeMap::new();
        Ok(State {
            machine,
            agent,
            tenant,
            guard,
            signal,
            tree,
            deps,
            calls,
            closing: false,
            waits: false,
            draining: false,
            undurable: 1,
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<ExecutionMsg>,
        message: ExecutionMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ExecutionMsg::Durable {
                frame,
                commits,
                steps,
            } => {
                state.undurable = state.undurable.saturating_sub(commits);
                for step in steps {
                    state.carry_out(&myself, frame, step).await?;
                }
                state.rest_if_idle(&myself).await?;
            }
            ExecutionMsg::Model(report) => state.on(Event::Model(report))?,
            ExecutionMsg::Call(report) => state.on(Event::Call(report))?,
            ExecutionMsg::Sent {
                number,
                attempt,
                error,
                decided,
            } => {
                state.sent(number, attempt, error, decided)?;
            }
            ExecutionMsg::Letter(arrived) => state.letter(arrived)?,
            ExecutionMsg::Tick => {
                state.waits = false;
                state.on(Event::Tick)?;
                state.rest_if_idle(&myself).await?;
            }
            ExecutionMsg::Fault(position) => {
                if let Some(call) = myself.get_children().get(position) {
                    call.kill();
                }
            }
            ExecutionMsg::Drain => {
                state.draining = true;
                state.rest_if_idle(&myself).await?;
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<ExecutionMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let died = match event {
            SupervisionEvent::ActorTerminated(who, _, None) => {
                // Its report is in the mailbox already.
                state.calls.remove(&who.get_id());
                None
            }
            SupervisionEvent::ActorTerminated(who, _, Some(reason)) => Some((who, reason)),
            SupervisionEvent::ActorFailed(who, error) => Some((who, error.to_string())),
            SupervisionEvent::ActorStarted(_) | SupervisionEvent::ProcessGroupChanged(_) => None,
        };
        if let Some((who, reason)) = died
            && let Some(call) = state.calls.remove(&who.get_id())
        {
            tracing::warn!(execution = %state.machine.execution(), reason, "call actor died");
            myself.cast(call.died(&reason))?;
        }
        Ok(())
    }
}

type Handled = Result<(), ActorProcessingErr>;

impl State {
    fn on(&mut self, event: Event) -> Handled {
        if self.closing {
            return Ok(());
        }
        let deps = Arc::clone(&self.deps);
        let context = Context {
            now: deps.clock.now(),
            random: &*deps.random,
        };
        let output = self.machine.on(context, event);
        self.commit(output, vec![])
    }

    /// Hands an output to the tree. What it asks for is done once it is durable.
    fn commit(&mut self, output: Output, settled: Vec<Settled>) -> Handled {
        if output.entries.is_empty() && settled.is_empty() && output.steps.is_empty() {
            return Ok(());
        }
        let then = match self.machine.standing(self.deps.clock.now()) {
            Standing::Ended => Then::End,
            Standing::Blocked => Then::Block,
            Standing::Busy | Standing::Waiting { .. } | Standing::AtRest { .. } => Then::Continue,
        };
        self.closing = then != Then::Continue;
        self.send(output, settled, then)
    }

    fn send(&mut self, output: Output, settled: Vec<Settled>, then: Then) -> Handled {
        let spilled = spill(write_entries(&output.entries)?)?;
        let interested = self.deps.observer.is_interested();
        let commit = Commit {
            body: spilled.body,
            blobs: spilled.blobs,
            entries: if interested { output.entries } else { vec![] },
            summary: self.machine.summary(),
            steps: output.steps,
            settled,
            then,
            proven: self.machine.is_proven(),
        };
        self.undurable += 1;
        self.tree.cast(TreeMsg::Commit(Box::new(commit)))?;
        Ok(())
    }

    /// Gives the lease back, or waits for a near timer, once nothing runs.
    async fn rest_if_idle(&mut self, myself: &ActorRef<ExecutionMsg>) -> Handled {
        if self.draining {
            return self.release_if_idle();
        }
        if self.closing || self.waits {
            return Ok(());
        }
        match self.machine.standing(self.deps.clock.now()) {
            Standing::Busy | Standing::Ended | Standing::Blocked => Ok(()),
            Standing::Waiting { until } => {
                self.waits = true;
                self.start(myself, wait_for(until, &self.deps.clock)).await
            }
            Standing::AtRest { due } => {
                let deps = Arc::clone(&self.deps);
                let context = Context {
                    now: deps.clock.now(),
                    random: &*deps.random,
                };
                let output = self.machine.rest(context);
                self.closing = true;
                self.send(output, vec![], Then::Rest(due))
            }
        }
    }

    /// Gives the tree back once no call runs and nothing waits to become durable.
    fn release_if_idle(&mut self) -> Handled {
        let busy = self
            .calls
            .values()
            .any(|call| !matches!(call, Outstanding::Wait));
        if self.closing || busy || self.undurable > 0 {
            return Ok(());
        }
        let deps = Arc::clone(&self.deps);
        let context = Context {
            now: deps.clock.now(),
            random: &*deps.random,
        };
        let output = self
            .machine
            .release(context, "the instance is shutting down".to_owned());
        self.closing = true;
        self.send(output, vec![], Then::Release)
    }

    fn letter(&mut self, arrived: Arrived) -> Handled {
        if self.closing {
            // The node reads the inbox again once the tree is closed.
            return Ok(());
        }
        let deps = Arc::clone(&self.deps);
        let context = Context {
            now: deps.clock.now(),
            random: &*deps.random,
        };
        let Arrived { seq, id, body } = arrived;
        let (reply, output) = apply_letter(&mut self.machine, context, body, &self.tenant);
        self.commit(output, vec![Settled { seq, id, reply }])
    }

    fn sent(
        &mut self,
        number: u32,
        attempt: u32,
        error: Option<String>,
        decided: Decided,
    ) -> Handled {
        if self.closing {
            return Ok(());
        }
        let deps = Arc::clone(&self.deps);
        let context = Context {
            now: deps.clock.now(),
            random: &*deps.random,
        };
        let mut output = Output::default();
        let mut error = error;
        if let Some((rule, verdict)) = decided {
            let shown = self
                .machine
                .question(number)
                .map(|question| question.digest);
            let by = Principal {
                id: rule,
                kind: PrincipalKind::Rule,
                tenant: self.tenant.clone(),
            };
            let decision = Decision {
                pause: PauseKey::Number(number),
                by,
                verdict,
                shown,
                letter: None,
            };
            let (reply, applied) = self.machine.decide_pause(context, decision);
            output = applied;
            if let DecisionReply::Invalid(why) = reply {
                error = Some(format!("the channel's decision is invalid: {why}"));
            }
        }
        let reported = self.machine.on(
            context,
            Event::Sent {
                number,
                attempt,
                error,
            },
        );
        output.entries.extend(reported.entries);
        output.steps.extend(reported.steps);
        self.commit(output, vec![])
    }

    async fn carry_out(
        &mut self,
        myself: &ActorRef<ExecutionMsg>,
        frame: FrameIndex,
        step: Step,
    ) -> Handled {
        if let Step::Abort(reason) = step {
            self.signal.abort(reason);
            return Ok(());
        }
        if self.draining && matches!(step, Step::AskModel { .. }) {
            return Ok(());
        }
        if self.signal.is_aborted() {
            return self.not_started(myself, &step);
        }
        let permit = self.guard.permit(
            self.deps.clock.uptime(),
            StepIntent {
                frame,
                needs: CALL_NEEDS,
            },
        );
        let permit = match permit {
            Ok(permit) => permit,
            Err(refused @ PermitRefused::NotDurable { .. }) => return Err(refused.into()),
            Err(PermitRefused::Aborted(_) | PermitRefused::Lost(_)) => {
                return self.not_started(myself, &step);
            }
        };
        let Some(job) = self.job(step, permit) else {
            return Ok(());
        };
        self.start(myself, job).await
    }

    /// A step that may not begin any more is reported as aborted, unless the tree itself is gone.
    fn not_started(&self, myself: &ActorRef<ExecutionMsg>, step: &Step) -> Handled {
        let lost = matches!(
            self.guard.signal().reason(),
            Some(AbortReason::LeaseLost(_))
        );
        let outstanding = match step {
            _ if lost => return Ok(()),
            Step::AskModel { turn, attempt } => Outstanding::Model {
                turn: *turn,
                attempt: *attempt,
            },
            Step::RunCall {
                call_id, attempt, ..
            } => Outstanding::Call {
                call_id: call_id.clone(),
                attempt: *attempt,
            },
            Step::SendQuestion { number, attempt } => Outstanding::Send {
                number: *number,
                attempt: *attempt,
            },
            Step::Abort(_) => return Ok(()),
        };
        myself.cast(outstanding.died("it was stopped before it began"))?;
        Ok(())
    }

    async fn start(&mut self, myself: &ActorRef<ExecutionMsg>, job: Job) -> Handled {
        let outstanding = job.outstanding();
        let arguments = (job, myself.clone());
        let (actor, _task) =
            Actor::spawn_linked(None, CallActor, arguments, myself.get_cell()).await?;
        self.calls.insert(actor.get_id(), outstanding);
        Ok(())
    }

    fn job(&self, step: Step, permit: Permit) -> Option<Job> {
        match step {
            Step::AskModel { turn, attempt } => Some(self.model_job(turn, attempt, permit)),
            Step::RunCall {
                call_id,
                attempt,
                not_before,
            } => self.tool_job(&call_id, attempt, not_before, permit),
            Step::SendQuestion { number, attempt } => self.send_job(number, attempt),
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
        let mut frame = CallFrame::new(facts, &self.signal, Arc::clone(&self.deps.clock))
            .with_pool(Arc::clone(&self.deps.pool));
        if let Some((by, at, _edited)) = view.approved {
            frame = frame.with_approval(ApprovalRecord {
                by,
                at,
                proposed: None,
            });
        }
        let wait = not_before.map(|at| at.since(self.deps.clock.now()));
        Some(Job::Tool(Box::new(ToolJob {
            call_id: view.call_id,
            attempt,
            tool,
            arguments: view.arguments,
            wait,
            clock: Arc::clone(&self.deps.clock),
            signal: self.signal.child(),
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

/// Applies a letter to a machine, and says what its sender is told once the output is durable.
pub(crate) fn apply_letter(
    machine: &mut Machine,
    context: Context<'_>,
    body: LetterBody,
    tenant: &Tenant,
) -> (DecisionReply, Output) {
    let ended = machine.ended().is_some();
    match body {
        // Another tenant learns nothing, not even that there is such a pause.
        LetterBody::Decide(decision) if decision.by.tenant != *tenant => {
            (DecisionReply::Unknown, Output::default())
        }
        LetterBody::Decide(decision) => machine.decide_pause(context, decision),
        LetterBody::Cancel { by, .. } | LetterBody::Retry { by } if by.tenant != *tenant => {
            (DecisionReply::Unknown, Output::default())
        }
        LetterBody::Cancel { .. } | LetterBody::Retry { .. } if ended => {
            (DecisionReply::Closed, Output::default())
        }
        LetterBody::Cancel { by, reason } => {
            let output = machine.on(context, Event::Cancel { by, reason });
            (DecisionReply::Counted, output)
        }
        LetterBody::Retry { by } => {
            let output = machine.on(context, Event::Retry { by });
            (DecisionReply::Counted, output)
        }
    }
}
