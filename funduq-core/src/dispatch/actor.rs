//! One thread's owner: the task around [`super::thread::Thread`] that feeds it and carries out what it decides.
//!
//! It lives while anything of the thread is alive. Doors, links, the desk and the writer post to its one inbox; it
//! judges in the order of arrival.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use funduq_agui::{RelayedEvent, RunFold};
use funduq_contract::{AgentAddress, DeliveredRun, LinkGone, Offer, PortError, RunId, ThreadId};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::opening::{OpenError, Opened, Opening, delivered};
use super::own;
use super::relay::{Dispatch, Envelope, Letter};
use super::thread::{CancelAnswer, Effect, Fault, Message, Moment, Refusal, Settlement, Thread};
use crate::clock;
use crate::record::{
    Done, FailureReason, Job, PendingCall, Room, Run, RunEnd, RunLog, RunMetadata, RunStatus, RunStream,
    Settle, StoreError, Write, WriterEvents as _,
};
use crate::stats::Answer;

/// How many messages the owner takes from its inbox at once.
const BURST: usize = 128;

/// Starts the owner of a thread.
pub(super) fn start(
    dispatch: Arc<Dispatch>,
    thread: ThreadId,
    agent: AgentAddress,
    inbox: mpsc::UnboundedReceiver<Envelope>,
) {
    let machine = Thread::new(dispatch.settings.clone(), agent.provider);
    let actor = Actor {
        dispatch,
        thread,
        agent,
        machine,
        runs: BTreeMap::new(),
        cancels: Vec::new(),
        effects: Vec::new(),
        followups: VecDeque::new(),
        batch: None,
    };
    tokio::spawn(actor.run(inbox));
}

/// What the owner keeps of a live run beside the machine.
struct RunShell {
    log: Arc<RunLog>,
    fold: RunFold,
    /// Until the run's row is durable.
    opening: Option<Box<Opening>>,
    /// What the provider gets, until it has taken the run on: it holds the whole history that a client resent.
    delivered: Option<DeliveredRun>,
    metadata: RunMetadata,
    /// When it came here, until its first event has.
    arrived: Option<Moment>,
    /// When it was offered, until the offer is answered.
    offered: Option<Moment>,
}

/// Events of one run that go to the record together.
struct Batch {
    run: RunId,
    events: Vec<RelayedEvent>,
    room: Option<Room>,
}

struct Actor {
    dispatch: Arc<Dispatch>,
    thread: ThreadId,
    agent: AgentAddress,
    machine: Thread,
    /// A thread has few at once.
    runs: BTreeMap<RunId, Box<RunShell>>,
    cancels: Vec<(RunId, oneshot::Sender<CancelAnswer>)>,
    effects: Vec<Effect>,
    followups: VecDeque<Message>,
    batch: Option<Batch>,
}

impl Actor {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Envelope>) {
        let began = Instant::now() - self.dispatch.now();
        let mut letters = Vec::new();
        loop {
            let deadline = self.machine.next_deadline();
            tokio::select! {
                biased;
                received = inbox.recv_many(&mut letters, BURST) => if received == 0 { return },
                () = sleep_until(began + deadline.unwrap_or_default()), if deadline.is_some() => {}
            }
            let now = self.dispatch.now();
            for Envelope { letter, room } in letters.drain(..) {
                self.take(now, letter, room);
            }
            // Also after letters: a busy inbox may not put a deadline off.
            if self.machine.next_deadline().is_some_and(|due| due <= now) {
                self.feed(now, Message::Tick, None);
            }
            self.flush();
            if self.machine.is_idle() && self.dispatch.retire(&self.thread, &inbox) {
                return;
            }
            if inbox.is_empty() {
                // Thousands of threads may wait at once, and none of them keeps room for what nobody says.
                letters = Vec::new();
                self.effects = Vec::new();
                self.followups = VecDeque::new();
            }
        }
    }

    fn take(&mut self, now: Moment, letter: Letter, room: Option<Room>) {
        match letter {
            Letter::Machine(Message::Recorded { run }) => {
                self.answer_door(&run, Ok(()));
                self.feed(now, Message::Recorded { run }, room);
            }
            Letter::Machine(message) => self.feed(now, message, room),
            Letter::Events { key, run, first, events } => {
                let mut room = room;
                for (number, event) in (first..).zip(events) {
                    let run = run.clone();
                    self.followups.push_back(Message::Event { key, run, number, event: Ok(event) });
                    self.follow(now, &mut room);
                }
            }
            Letter::Open(opening) => self.open(now, opening),
            Letter::Restore(run, live) => {
                let delivered = delivered(&run, false, &self.dispatch.token_secret);
                self.adopt(&run, delivered, None);
                // Whoever started may have stopped waiting.
                let _ = live.send(());
                let mut effects = Vec::new();
                self.machine.restore(now, run.id, &mut effects);
                for effect in effects {
                    self.carry_out(effect, &mut None);
                }
                self.follow(now, &mut None);
            }
            Letter::CatchUp(done) => {
                // Whoever asked may have stopped waiting.
                let _ = done.send(());
            }
            Letter::RecordFailed(run, error) => {
                self.answer_door(&run, Err(error));
                self.runs.remove(&run);
                self.dispatch.untrack(&run);
                self.feed(now, Message::RecordFailed { run }, room);
            }
            Letter::Cancel(run, by, reply) => {
                if let Some(shell) = self.runs.get_mut(&run) {
                    shell.metadata.cancel_requested = true;
                    shell.metadata.cancel_requested_by = shell.metadata.cancel_requested_by.or(by);
                }
                self.cancels.push((run.clone(), reply));
                self.feed(now, Message::Cancel { run }, room);
            }
        }
    }

    fn open(&mut self, now: Moment, opening: Box<Opening>) {
        let run = opening.open.run.clone();
        if self.dispatch.is_stopping() {
            // The door may have stopped waiting.
            let _ = opening.reply.send(Err(OpenError::Stopping));
            return;
        }
        let delivered = delivered(&run, true, &self.dispatch.token_secret);
        self.adopt(&run, delivered, Some(opening));
        let exempt =
            self.runs.get(&run.id).and_then(|shell| shell.opening.as_ref()).is_some_and(|open| open.exempt);
        self.feed(now, Message::Open { run: run.id, exempt }, None);
    }

    fn adopt(&mut self, run: &Run, delivered: DeliveredRun, opening: Option<Box<Opening>>) {
        let keep = self.dispatch.settings.keep();
        let log = RunLog::new(run.id.clone(), self.thread.clone(), run.agent.provider, keep);
        self.dispatch.track(&self.thread, &self.agent, &log);
        let shell = RunShell {
            log,
            // A client resends its history, and an event may go on with a message of it.
            fold: RunFold::over(&run.input.messages),
            opening,
            delivered: Some(delivered),
            metadata: run.metadata.clone(),
            arrived: Some(self.dispatch.now()),
            offered: None,
        };
        self.runs.insert(run.id.clone(), Box::new(shell));
    }

    /// Gives the machine one message and carries out everything that follows from it.
    fn feed(&mut self, now: Moment, message: Message, mut room: Option<Room>) {
        self.followups.push_back(message);
        self.follow(now, &mut room);
    }

    fn follow(&mut self, now: Moment, room: &mut Option<Room>) {
        while let Some(message) = self.followups.pop_front() {
            let mut effects = std::mem::take(&mut self.effects);
            self.machine.handle(now, message, &mut effects);
            for effect in effects.drain(..) {
                self.carry_out(effect, room);
            }
            self.effects = effects;
        }
    }

    fn carry_out(&mut self, effect: Effect, room: &mut Option<Room>) {
        match effect {
            Effect::AskSlot(asking) => {
                let slot = self.dispatch.links.ask_slot(&self.agent, &self.thread, asking);
                self.followups.push_back(Message::Slot(slot));
            }
            Effect::DropSlotRequest => self.dispatch.links.forget_slot(&self.agent, &self.thread),
            Effect::ReleaseSlot => {
                let notices = self.dispatch.links.release_slot(&self.agent.provider);
                self.dispatch.notify(&self.agent.provider, notices);
            }
            Effect::Record { run, as_status } => self.record(run, as_status),
            Effect::Full { run } => {
                self.dispatch.untrack(&run);
                if let Some(opening) = self.runs.remove(&run).and_then(|shell| shell.opening) {
                    let _ = opening.reply.send(Err(OpenError::QueueFull));
                }
            }
            Effect::Offer { run, attempt, link } => {
                let Some(shell) = self.runs.get_mut(&run) else { return };
                let Some(run_to_deliver) = shell.delivered.clone() else { return };
                let offer = Offer { attempt, run: run_to_deliver };
                shell.offered = Some(self.dispatch.now());
                self.dispatch.record.stats.offered();
                if let Err(LinkGone) = self.dispatch.links.deliver(&self.agent.provider, link, offer) {
                    // Whoever watches over the connection may not have noticed; until then the desk would grant
                    // places on it without end.
                    self.dispatch.link_lost(self.dispatch.links.closed(link));
                    self.followups.push_back(Message::OfferFailed { run, attempt });
                }
            }
            Effect::Status { run, status } => self.status(run, status),
            Effect::Append { run, event } => self.append(run, event, room.take()),
            Effect::Settle { run, settlement } => self.settle(&run, &settlement),
            Effect::AskCancel { run } => self.dispatch.links.cancel(&self.agent.provider, &run),
            Effect::Suspend { run } => {
                if let Some(shell) = self.runs.remove(&run) {
                    shell.log.committed(0, Some(RunEnd::Suspended));
                    self.dispatch.untrack(&run);
                }
            }
            Effect::Repeated { run } => {
                if let Some(shell) = self.runs.get(&run) {
                    self.dispatch.links.received(&self.agent.provider, &run, shell.log.durable());
                }
            }
            Effect::Refused { run, why } => {
                tracing::debug!(%run, ?why, "a report or an answer of the provider was not taken");
                let error = match why {
                    Refusal::NotHeld => PortError::NotHeld(run.clone()),
                    Refusal::Gap { expected, got } => PortError::Gap { expected, got },
                };
                self.dispatch.links.refused(&self.agent.provider, &run, error);
            }
            Effect::Count(fault) => {
                match fault {
                    // Which offer it was is told by what follows; of declines it is of no interest how fast they are.
                    Fault::Misdeclared => self.dispatch.answered(Answer::Declined, None),
                    Fault::Unanswered => self.dispatch.answered(Answer::Unanswered, None),
                    Fault::Abandoned | Fault::Undelivered => {}
                }
                let tolerance = self.dispatch.settings.quality_tolerance;
                let notices = self.dispatch.links.count_fault(self.agent.provider, fault, tolerance);
                self.dispatch.notify(&self.agent.provider, notices);
            }
            Effect::Cancelled { run, answer } => {
                let waiting = self.cancels.extract_if(.., |(asked, _)| *asked == run);
                for (_, reply) in waiting {
                    // Whoever asked may have stopped waiting.
                    let _ = reply.send(answer);
                }
            }
        }
    }

    /// Writes the run's row, and a run that fails at the door with its whole short story.
    fn record(&mut self, run: RunId, status: RunStatus) {
        let Some(shell) = self.runs.get_mut(&run) else { return };
        let Some(opening) = &mut shell.opening else { return };
        opening.open.run.status = status;
        let mut open = opening.open.clone();
        let dispatch = Arc::clone(&self.dispatch);
        let done: Box<dyn FnOnce(Result<(), StoreError>) + Send> = if status == RunStatus::Failed {
            let reason = FailureReason::AgentOffline;
            let events = own::stillborn(&self.thread, &run, &reason);
            open.events = events.clone();
            open.run.metadata.failure_reason = Some(reason.as_str().to_owned());
            let shell = self.runs.remove(&run);
            Box::new(move |written| {
                dispatch.untrack(&run);
                let Some(RunShell { log, opening: Some(opening), .. }) = shell.map(|shell| *shell) else {
                    return;
                };
                log.append(&events);
                log.committed(log.appended(), Some(RunEnd::Settled));
                if written.is_ok() {
                    dispatch.moved(&log, RunStatus::Failed);
                }
                let stream = stream(&dispatch, &log);
                // The door may have stopped waiting.
                let _ = opening.reply.send(written.map(|()| Opened { stream }).map_err(OpenError::Store));
            })
        } else {
            let thread = self.thread.clone();
            Box::new(move |written| {
                let letter = match written {
                    Ok(()) => Letter::Machine(Message::Recorded { run }),
                    Err(error) => Letter::RecordFailed(run, error),
                };
                dispatch.post(&thread, letter);
            })
        };
        self.note_status(&open.run.id, status);
        self.dispatch.record.write(Job {
            write: Write::OpenRun(Box::new(open)),
            done: Done::Opened(done),
            room: None,
        });
    }

    /// Tells the door that waits for a run's row.
    fn answer_door(&mut self, run: &RunId, written: Result<(), StoreError>) {
        let Some(shell) = self.runs.get_mut(run) else { return };
        let Some(opening) = shell.opening.take() else { return };
        let stream = stream(&self.dispatch, &shell.log);
        if written.is_ok() {
            self.dispatch.moved(&shell.log, opening.open.run.status);
        }
        // A caller that went away does not stop its run.
        let _ = opening.reply.send(written.map(|()| Opened { stream }).map_err(OpenError::Store));
    }

    fn status(&mut self, run: RunId, status: RunStatus) {
        self.flush();
        self.note_status(&run, status);
        let Some(shell) = self.runs.get_mut(&run) else { return };
        if status == RunStatus::Running {
            let offered = shell.offered.take();
            shell.delivered = None;
            self.dispatch.answered(Answer::Accepted, offered);
        }
        let metadata = (status == RunStatus::Cancelling).then(|| shell.metadata.clone());
        self.dispatch.record.write(Job {
            write: Write::Status { run, status, metadata, at: clock::now_millis() },
            done: Done::Moved { log: Arc::clone(&shell.log), status },
            room: None,
        });
    }

    fn append(&mut self, run: RunId, event: RelayedEvent, room: Option<Room>) {
        let Some(shell) = self.runs.get_mut(&run) else { return };
        shell.fold.push(&event);
        if let Some(arrived) = shell.arrived.take() {
            self.dispatch.record.stats.first_event_time.note(self.dispatch.now().saturating_sub(arrived));
        }
        match &mut self.batch {
            Some(batch) if batch.run == run => {
                batch.events.push(event);
                match (&mut batch.room, room) {
                    (Some(taken), Some(room)) => taken.merge(room),
                    (taken @ None, room) => *taken = room,
                    (Some(_), None) => {}
                }
            }
            _ => {
                self.flush();
                self.batch = Some(Batch { run, events: vec![event], room });
            }
        }
    }

    /// Sends the events that were collected on their way.
    fn flush(&mut self) {
        let Some(Batch { run, events, room }) = self.batch.take() else { return };
        let Some(shell) = self.runs.get(&run) else { return };
        let first = shell.log.append(&events);
        let upto = first + events.len() as u64 - 1;
        self.dispatch.record.write(Job {
            write: Write::Append { run, first, events },
            done: Done::Events { log: Arc::clone(&shell.log), upto },
            room,
        });
    }

    fn settle(&mut self, run: &RunId, settlement: &Settlement) {
        // The last events go with the end, in one operation.
        let last = self.batch.take_if(|batch| batch.run == *run);
        self.flush();
        let Some(shell) = self.runs.remove(run) else { return };
        if let Some(FailureReason::Refused(_)) = settlement.reason {
            self.dispatch.answered(Answer::Refused, shell.offered);
        }
        let Batch { mut events, room, .. } =
            last.unwrap_or_else(|| Batch { run: run.clone(), events: Vec::new(), room: None });
        let begun = shell.log.appended() + events.len() as u64 > 0;
        events.extend(own::closing(&self.thread, run, settlement, begun));
        let first = shell.log.append(&events);
        let mut metadata = shell.metadata;
        metadata.failure_reason = settlement.reason.as_ref().map(|reason| reason.as_str().to_owned());
        if settlement.status == RunStatus::Completed {
            let asks = shell.fold.asks();
            metadata.interrupts = asks.interrupts.into_iter().map(|interrupt| interrupt.raw).collect();
            metadata.pending_tool_calls = asks
                .tool_calls
                .into_iter()
                .map(|call| PendingCall { id: call.id, name: call.name, arguments: call.arguments })
                .collect();
        }
        shell.log.set_status(settlement.status);
        if settlement.own_event.is_some() {
            // The provider may hold it, and nobody listens any more.
            self.dispatch.links.refused(&self.agent.provider, run, PortError::NotHeld(run.clone()));
        }
        let settle = Settle {
            run: run.clone(),
            status: settlement.status,
            metadata,
            first,
            events,
            messages: shell.fold.messages(),
            at: clock::now_millis(),
        };
        self.dispatch.record.write(Job {
            write: Write::Settle(Box::new(settle)),
            done: Done::Settled { log: shell.log },
            room,
        });
    }

    /// Notes where a run stands, for those who look at it while it is live.
    fn note_status(&self, run: &RunId, status: RunStatus) {
        if let Some(shell) = self.runs.get(run) {
            shell.log.set_status(status);
        }
    }
}

fn stream(dispatch: &Dispatch, log: &Arc<RunLog>) -> RunStream {
    RunStream::new(dispatch.record.clone(), log.run.clone(), log.thread.clone(), Some(Arc::clone(log)), 0)
        .with_claim(log.claim_stream())
}
