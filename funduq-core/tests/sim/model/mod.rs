//! The reference: what each run must have come to, given what was posted about it, and what the record holds.
//!
//! It is much simpler than core because it sees one run at a time and nothing of desks, queues or tasks: what funduq
//! does by itself (to offer a run, to give up on an agent) it is told, and judges. Where two things fall on the same
//! instant as a deadline it does not know which was first; such a run is `unsure` and held to less.

mod callers;
mod inbox;
mod record;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use funduq_contract::{AgentAddress, LinkId, PublicKey, RunId, ThreadId};
use funduq_core::{CoreSettings, Funduq, RunStatus};
use tokio::time::Instant;

/// Milliseconds since the seed began, over all of its processes.
pub(crate) type Millis = u64;

/// The model as everything in a seed holds it.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Model>>);

impl Shared {
    pub(crate) fn new(model: Model) -> Self {
        Self(Arc::new(Mutex::new(model)))
    }

    /// Core is never called while this is held.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Model> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Core's clocks and bounds, as the model needs them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clocks {
    pub(crate) offer: Millis,
    pub(crate) attempts: u32,
    pub(crate) grace: Millis,
    pub(crate) unserved: Millis,
    pub(crate) queue: usize,
}

impl Clocks {
    pub(crate) fn of(settings: &CoreSettings) -> Self {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap();
        Self {
            offer: millis(settings.offer_timeout),
            attempts: settings.offer_attempts,
            grace: millis(settings.link_grace),
            unserved: millis(settings.unserved_timeout),
            queue: settings.thread_queue_limit,
        }
    }
}

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// With the provider's own terminal event.
    Provider(RunStatus),
    /// With funduq's: a reason where it failed; where it was cancelled, the `code`, or nothing if it never began.
    Funduq(RunStatus, String),
}

impl Outcome {
    pub(crate) fn failed(reason: &str) -> Self {
        Self::Funduq(RunStatus::Failed, reason.to_owned())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody holds it, and no answer about it is outstanding.
    Waiting,
    /// Its provider may answer.
    Offered { attempt: u32, at: Millis, link: LinkId },
    /// Its provider's key holds it; `away` since its link went.
    Held { away: Option<Millis> },
    /// Over, if not in the record yet.
    Over(Outcome),
    /// Over in the record.
    Ended,
}

pub(crate) struct RunModel {
    pub(crate) id: RunId,
    pub(crate) utterance: usize,
    pub(crate) thread: usize,
    pub(crate) agent: usize,
    pub(crate) state: State,
    /// Since when it waits, if it does.
    pub(crate) since: Millis,
    /// More than one state is right.
    pub(crate) unsure: bool,
    /// The number of its latest offer in this process.
    pub(crate) attempt: u32,
    pub(crate) lapses: u32,
    /// It is to be cancelled if its provider stops without another word.
    pub(crate) cancel: bool,
    /// Somebody asked for it to stop, in this process.
    pub(crate) cancel_said: bool,
    /// Its provider accepted an offer that stood, in this process.
    pub(crate) accepted: bool,
    /// A later run of its thread was offered before it, so it may not be offered any more in this process.
    pub(crate) passed_over: bool,
    /// What the provider said while it held the run, in order.
    pub(crate) taken: Vec<Arc<str>>,
    /// What it said at all in this process, with the numbers that it gave.
    pub(crate) said: Vec<(u64, Arc<str>)>,
    /// The asks that are open if it ends as its provider says.
    pub(crate) asks: Vec<String>,
    /// When its cancel was posted, if that is to end it.
    pub(crate) cancelled_at: Option<Millis>,
    /// A caller was told that it is cancelled.
    pub(crate) told_cancelled: bool,

    /// Its status in the record.
    pub(crate) row: RunStatus,
    /// A write of its status failed, so the row says less than happened.
    pub(crate) stale: bool,
    /// A write of its events failed.
    pub(crate) broken: bool,
    /// The events in the record.
    pub(crate) events: Vec<Arc<str>>,
    pub(crate) answered_by: Option<usize>,
}

impl RunModel {
    pub(crate) fn is_live(&self) -> bool {
        !matches!(self.state, State::Ended)
    }
}

/// What became of a caller's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Pending,
    /// It is a run.
    Run(usize),
    /// It was refused, or answered without a run.
    Refused,
    /// The process died before it answered.
    Lost,
}

/// One request to run an agent.
pub(crate) struct Utterance {
    pub(crate) thread: usize,
    pub(crate) at: Millis,
    /// It was posted in this process.
    pub(crate) process: u32,
    /// The run whose ask it is to answer.
    pub(crate) answers: Option<usize>,
    /// The run that it asks to join.
    pub(crate) addressed: bool,
    pub(crate) answer: Answer,
    /// The row that it asked for could not be written.
    pub(crate) unwritten: bool,
    /// How many runs of its thread waited when it was posted: at least, and at most.
    pub(crate) waiting: (usize, usize),
}

pub(crate) struct ThreadModel {
    pub(crate) id: Option<ThreadId>,
    pub(crate) agent: usize,
    /// The process in which it was asked for without a run, until it is in the record.
    pub(crate) minting: Option<u32>,
    /// Its runs in the order of the record.
    pub(crate) runs: Vec<usize>,
}

pub(crate) struct AgentModel {
    pub(crate) key: usize,
    pub(crate) address: AgentAddress,
    /// When nobody served it: from, and until.
    pub(crate) unserved: Vec<(Millis, Option<Millis>)>,
    /// It is in the record.
    pub(crate) registered: bool,
}

impl AgentModel {
    pub(crate) fn is_served(&self) -> bool {
        self.unserved.last().is_some_and(|(_, until)| until.is_some())
    }
}

struct Clock {
    before: Millis,
    began: Option<Instant>,
}

pub(crate) struct Model {
    pub(crate) clocks: Clocks,
    clock: Clock,
    pub(crate) process: u32,
    pub(crate) stopping: bool,
    pub(crate) write_failed_while_stopping: bool,
    pub(crate) keys: Vec<PublicKey>,
    pub(crate) agents: Vec<AgentModel>,
    pub(crate) threads: Vec<ThreadModel>,
    pub(crate) utterances: Vec<Utterance>,
    pub(crate) runs: Vec<RunModel>,
    by_run: HashMap<RunId, usize>,
    by_thread: HashMap<ThreadId, usize>,
    /// The link that each key has open.
    pub(crate) links: Vec<Option<LinkId>>,
    /// The last moment at which anything was posted, written or handed out.
    pub(crate) touched: Millis,
    /// The same of what concerns one key.
    pub(crate) key_touched: Vec<Millis>,
    /// What happened at least once.
    reached: BTreeSet<String>,
    violation: Option<String>,
    trace: Option<Vec<String>>,
}

impl Model {
    pub(crate) fn new(
        clocks: Clocks,
        keys: Vec<PublicKey>,
        agents: Vec<(usize, AgentAddress)>,
        traced: bool,
    ) -> Self {
        let agents = agents.into_iter().map(|(key, address)| AgentModel {
            key,
            address,
            unserved: Vec::new(),
            registered: false,
        });
        Self {
            clocks,
            clock: Clock { before: 0, began: None },
            process: 0,
            stopping: false,
            write_failed_while_stopping: false,
            links: vec![None; keys.len()],
            key_touched: vec![0; keys.len()],
            keys,
            agents: agents.collect(),
            threads: Vec::new(),
            utterances: Vec::new(),
            runs: Vec::new(),
            by_run: HashMap::new(),
            by_thread: HashMap::new(),
            touched: 0,
            reached: BTreeSet::new(),
            violation: None,
            trace: traced.then(Vec::new),
        }
    }

    pub(crate) fn now(&self) -> Millis {
        let here = self.clock.began.map(|began| began.elapsed().as_millis()).unwrap_or_default();
        self.clock.before + u64::try_from(here).unwrap()
    }

    /// A new process begins on the record that the last one left.
    pub(crate) fn boot(&mut self) {
        self.clock.began = Some(Instant::now());
        self.process += 1;
        if self.process > 1 {
            self.reach("a restart");
        }
        self.stopping = false;
        self.write_failed_while_stopping = false;
        let now = self.now();
        self.touched = now;
        self.key_touched.fill(now);
        self.links.fill(None);
        for agent in &mut self.agents {
            close(&mut agent.unserved, now);
            agent.unserved.push((now, None));
        }
        for utterance in &mut self.utterances {
            if utterance.answer == Answer::Pending {
                utterance.answer = Answer::Lost;
            }
        }
        for at in 0..self.runs.len() {
            let run = &mut self.runs[at];
            run.unsure = false;
            run.attempt = 0;
            run.lapses = 0;
            run.cancel = false;
            run.cancel_said = false;
            run.cancelled_at = None;
            run.accepted = false;
            run.passed_over = false;
            run.taken = run.events.clone();
            run.said.clear();
            run.stale = false;
            run.broken = false;
            run.state = match run.row {
                row if row.is_terminal() => State::Ended,
                RunStatus::Queued if run.events.is_empty() => State::Waiting,
                _ => State::Over(Outcome::failed("orphaned_by_restart")),
            };
            if run.told_cancelled && !run.row.is_terminal() {
                self.violate(format!("r{at} is live again, and a caller was told that it is cancelled"));
            }
        }
        self.note(|| "a process starts".to_owned());
    }

    /// The process has taken up what it found.
    pub(crate) fn started(&mut self) {
        let now = self.now();
        for run in &mut self.runs {
            run.since = now;
        }
    }

    /// The process is gone, and time with it.
    pub(crate) fn died(&mut self) {
        self.clock.before = self.now();
        self.clock.began = None;
        self.note(|| "the process is gone".to_owned());
    }

    /// Looks again at who is served.
    pub(crate) fn look_at_roster(shared: &Shared, funduq: &Funduq) {
        let addresses: Vec<_> = shared.lock().agents.iter().map(|agent| agent.address.clone()).collect();
        let served: Vec<_> = addresses.iter().map(|address| funduq.is_online(address)).collect();
        let mut model = shared.lock();
        let now = model.now();
        for (agent, served) in model.agents.iter_mut().zip(served) {
            match (agent.is_served(), served) {
                (false, true) => close(&mut agent.unserved, now),
                (true, false) => agent.unserved.push((now, None)),
                _ => {}
            }
        }
    }

    /// Whether nobody served the agent for at least `length` in a row, some time after `from`.
    fn was_unserved(&self, agent: usize, from: Millis, length: Millis) -> bool {
        let now = self.now();
        self.agents[agent].unserved.iter().any(|(begin, end)| {
            let (begin, end) = ((*begin).max(from), end.unwrap_or(now));
            begin <= end && end - begin >= length
        })
    }

    pub(crate) fn run_of(&self, id: &RunId) -> Option<usize> {
        self.by_run.get(id).copied()
    }

    pub(crate) fn key_of(&self, run: usize) -> usize {
        self.agents[self.runs[run].agent].key
    }

    pub(crate) fn touch(&mut self) {
        self.touched = self.now();
    }

    pub(crate) fn touch_key(&mut self, key: usize) {
        self.touch();
        self.key_touched[key] = self.touched;
    }

    /// Remembers the first thing that went wrong.
    pub(crate) fn violate(&mut self, what: String) {
        self.note(|| format!("VIOLATION {what}"));
        self.violation.get_or_insert(what);
    }

    pub(crate) fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    /// Writes a line of the trace, if this seed has one.
    pub(crate) fn note(&mut self, line: impl FnOnce() -> String) {
        let now = self.now();
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{:>4}.{:03} {}", now / 1000, now % 1000, line()));
        }
    }

    /// Notes that something worth seeing has happened.
    pub(crate) fn reach(&mut self, what: &str) {
        if !self.reached.contains(what) {
            self.reached.insert(what.to_owned());
        }
    }

    pub(crate) fn take_reached(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.reached)
    }

    pub(crate) fn take_trace(&mut self) -> Vec<String> {
        self.trace.take().unwrap_or_default()
    }
}

fn close(unserved: &mut [(Millis, Option<Millis>)], now: Millis) {
    if let Some((_, until)) = unserved.last_mut() {
        until.get_or_insert(now);
    }
}

/// A run's label in the trace.
pub(crate) fn label(run: Option<usize>) -> String {
    run.map_or_else(|| "an unknown run".to_owned(), |run| format!("r{run}"))
}
