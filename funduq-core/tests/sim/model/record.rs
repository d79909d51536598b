//! What may be written into the record, and what it then holds.

use std::sync::Arc;

use funduq_agui::{Outcome as Finish, RelayedEvent, Terminal};
use funduq_contract::AgentAddress;
use funduq_core::{Conflict, OpenRun, RunStatus, Settle, Write};

use super::{Model, Outcome, RunModel, State};

/// The one reason that the model learns from core: which of its looks at the roster a thread took is not posted.
const GIVEN_UP: &str = "no_provider_took_it";

impl Model {
    /// A write is in the record.
    pub(crate) fn written(&mut self, write: &Write) {
        self.touch();
        match write {
            Write::OpenRun(open) => self.opened(open),
            Write::Status { run, status, .. } => {
                let Some(run) = self.run_of(run) else {
                    return self.violate("a status of a run without a row".into());
                };
                self.moved(run, *status);
            }
            Write::Append { run, first, events } => {
                let Some(run) = self.run_of(run) else {
                    return self.violate("events of a run without a row".into());
                };
                self.note(|| format!("recorded: {} events of r{run} from {first}", events.len()));
                if events.iter().any(|event| event.terminal().is_some()) {
                    self.violate(format!("a terminal event of r{run} is written apart from its end"));
                }
                self.append(run, *first, events);
                self.check_relayed(run, self.runs[run].events.len());
            }
            Write::Settle(settle) => self.settled(settle),
            Write::OpenThread(open) => {
                let minted = self.threads.iter().position(|thread| thread.minting == Some(self.process));
                self.note(|| format!("recorded: t{minted:?}"));
                let agent = minted.map(|at| self.agents[self.threads[at].agent].address.clone());
                if agent.as_ref() != Some(&open.thread.agent) {
                    self.violate("a thread that nobody asked for is recorded".into());
                }
                if let Some(at) = minted {
                    self.threads[at].minting = None;
                    self.threads[at].id = Some(open.thread.id.clone());
                    self.by_thread.insert(open.thread.id.clone(), at);
                }
            }
            Write::Register(register) => {
                for agent in &register.agents {
                    let known = self.agents.iter_mut().find(|known| {
                        known.address.provider == register.provider && known.address.name == agent.name
                    });
                    known.expect("only these agents register").registered = true;
                }
            }
            Write::DeleteAgent(address) => {
                let at =
                    self.agents.iter().position(|known| known.address == *address).expect("it registered");
                self.note(|| format!("recorded: agent {at} is forgotten"));
                self.agents[at].registered = false;
                if self.threads.iter().any(|thread| thread.agent == at && thread.id.is_some()) {
                    self.violate(format!("agent {at} is forgotten, and has conversations behind it"));
                }
            }
            Write::RegisterLlm { .. } | Write::Seen { .. } => {}
        }
    }

    /// A write was refused because the engine failed.
    pub(crate) fn failed(&mut self, write: &Write) {
        self.touch();
        self.write_failed_while_stopping |= self.stopping;
        match write {
            Write::OpenRun(open) => {
                let utterance = utterance_of(open);
                self.note(|| format!("not recorded: u{utterance}"));
                self.utterances[utterance].unwritten = true;
            }
            Write::Status { run, status, .. } => {
                let Some(run) = self.run_of(run) else { return };
                self.note(|| format!("not recorded: r{run} {}", status.as_str()));
                self.runs[run].stale = true;
                if status.is_claimed() {
                    // The run fails for it, unless its end is in the same group.
                    self.runs[run].broken = true;
                    self.runs[run].unsure = true;
                }
            }
            Write::Append { run, .. } => {
                let Some(run) = self.run_of(run) else { return };
                self.note(|| format!("not recorded: events of r{run}"));
                let run = &mut self.runs[run];
                run.broken = true;
                run.taken.truncate(run.events.len());
                if !matches!(run.state, State::Ended) {
                    run.state = State::Over(Outcome::failed("record_unavailable"));
                }
            }
            Write::Settle(settle) => {
                let Some(run) = self.run_of(&settle.run) else { return };
                self.note(|| format!("not recorded: the end of r{run}"));
                let given_up = settle.metadata.failure_reason.as_deref() == Some(GIVEN_UP);
                if given_up && self.may_be_given_up(run) {
                    self.runs[run].state = State::Over(Outcome::failed(GIVEN_UP));
                }
            }
            _ => {}
        }
    }

    /// A write was refused because the record stands otherwise.
    pub(crate) fn conflicted(&mut self, write: &Write, conflict: Conflict) {
        self.touch();
        self.note(|| format!("conflict: {conflict}"));
        if let (Write::OpenRun(open), Conflict::Missing("agent")) = (write, conflict) {
            self.utterances[utterance_of(open)].unwritten = true;
        }
        let broken = |run| self.run_of(run).is_some_and(|run| self.runs[run].broken);
        let expected = match (write, conflict) {
            (Write::OpenRun(open), Conflict::AlreadyAnswered) => {
                let asked = open.run.answers_run_id.as_ref().and_then(|asked| self.run_of(asked));
                asked.is_some_and(|asked| self.runs[asked].answered_by.is_some())
            }
            (Write::DeleteAgent(_), _) => true,
            (Write::OpenRun(open), Conflict::Missing("agent")) => self.is_forgotten(&open.thread.agent),
            (Write::OpenThread(open), Conflict::Missing("agent")) => self.is_forgotten(&open.thread.agent),
            (Write::Append { run, .. }, Conflict::OutOfOrder { .. }) => broken(run),
            (Write::Settle(settle), Conflict::OutOfOrder { .. }) => broken(&settle.run),
            _ => false,
        };
        if !expected {
            let what = format!("{write:?}").chars().take(60).collect::<String>();
            self.violate(format!("a write did not fit the record: {conflict}: {what}"));
        }
    }

    fn is_forgotten(&self, agent: &AgentAddress) -> bool {
        self.agents.iter().any(|known| known.address == *agent && !known.registered)
    }

    fn opened(&mut self, open: &OpenRun) {
        self.touch_key(self.agents[self.threads[self.utterances[utterance_of(open)].thread].agent].key);
        let at = self.runs.len();
        let utterance = utterance_of(open);
        let said = &self.utterances[utterance];
        let (thread, posted) = (said.thread, said.at);
        let status = open.run.status;
        self.note(|| format!("recorded: u{utterance} is r{at} of t{thread}, {}", status.as_str()));
        let known = self.by_thread.insert(open.thread.id.clone(), thread);
        let id = self.threads[thread].id.get_or_insert_with(|| open.thread.id.clone());
        if known.is_some_and(|known| known != thread) || *id != open.thread.id {
            self.violate(format!("r{at} is on another thread than its caller said"));
        }
        if self.threads[thread].runs.iter().any(|run| self.runs[*run].utterance > utterance) {
            self.violate(format!("r{at} is recorded after a run of its thread that arrived later"));
        }
        let answers = open.run.answers_run_id.as_ref().and_then(|asked| self.run_of(asked));
        if answers != self.utterances[utterance].answers {
            self.violate(format!("r{at} answers {answers:?}"));
        }
        if let Some(asked) = answers {
            self.reach("a resume that is a run");
            if self.runs[asked].answered_by.replace(at).is_some() || self.runs[asked].asks.is_empty() {
                self.violate(format!("r{asked} had no open ask to answer"));
            }
        }
        let agent = self.threads[thread].agent;
        self.threads[thread].runs.push(at);
        self.by_run.insert(open.run.id.clone(), at);
        let stillborn = status == RunStatus::Failed;
        if stillborn {
            self.reach("agent_offline");
        }
        if !self.agents[agent].registered {
            self.violate(format!("r{at} is opened for an agent that is not in the record"));
        }
        let now = self.now();
        self.runs.push(RunModel {
            id: open.run.id.clone(),
            utterance,
            thread,
            agent,
            state: if stillborn { State::Ended } else { State::Waiting },
            since: now,
            unsure: false,
            attempt: 0,
            lapses: 0,
            cancel: false,
            cancel_said: false,
            accepted: false,
            passed_over: false,
            taken: Vec::new(),
            said: Vec::new(),
            asks: Vec::new(),
            cancelled_at: None,
            told_cancelled: false,
            row: status,
            stale: false,
            broken: false,
            events: shared(&open.events),
            answered_by: None,
        });
        let reason = open.run.metadata.failure_reason.as_deref();
        let fits = match status {
            RunStatus::Queued | RunStatus::Offering => open.events.is_empty() && reason.is_none(),
            RunStatus::Failed => {
                reason == Some("agent_offline")
                    && open.events.len() == 2
                    && is_error(&open.events[1], "agent_offline")
                    && self.was_unserved(agent, posted, 0)
            }
            _ => false,
        };
        if !fits {
            self.violate(format!("r{at} is opened {} with reason {reason:?}", status.as_str()));
        }
    }

    fn moved(&mut self, at: usize, status: RunStatus) {
        self.touch_key(self.key_of(at));
        self.note(|| format!("recorded: r{at} is {}", status.as_str()));
        let run = &mut self.runs[at];
        let from = std::mem::replace(&mut run.row, status);
        let legal = matches!(
            (from, status),
            (RunStatus::Queued, RunStatus::Offering)
                | (RunStatus::Offering, RunStatus::Queued | RunStatus::Running)
                | (RunStatus::Running, RunStatus::Cancelling)
        );
        let stale = std::mem::take(&mut run.stale);
        let (accepted, unsure, cancel) = (run.accepted, run.unsure, run.cancel_said);
        if from.is_terminal() || (!legal && !stale) {
            self.violate(format!("r{at} moves from {} to {}", from.as_str(), status.as_str()));
        }
        if status.is_claimed() && !accepted && !unsure {
            self.violate(format!("r{at} is {}, and no offer of it that stood was accepted", status.as_str()));
        }
        if status == RunStatus::Cancelling && !cancel {
            self.violate(format!("r{at} is cancelling, and nobody asked for it"));
        }
    }

    fn append(&mut self, run: usize, first: u64, events: &[RelayedEvent]) {
        if self.runs[run].row.is_terminal() {
            self.violate(format!("r{run} goes on after its end"));
        }
        let due = self.runs[run].events.len() as u64 + 1;
        if first != due {
            self.violate(format!("event {first} of r{run} is written where {due} is due"));
        }
        self.runs[run].events.extend(shared(events));
    }

    /// The first `count` recorded events of a run are its provider's, byte for byte and in order.
    fn check_relayed(&mut self, at: usize, count: usize) {
        let run = &self.runs[at];
        let relayed = &run.events[..count];
        let sound = if run.unsure {
            (1..).zip(relayed).all(|(number, event)| {
                run.said.iter().any(|(said, json)| *said == number && json == event)
                    || run.taken.get(number as usize - 1) == Some(event)
            })
        } else {
            run.taken.starts_with(relayed)
        };
        if !sound {
            let (held, taken) = (relayed.len(), run.taken.len());
            self.violate(format!(
                "the record of r{at} ({held} events) is not what its provider said ({taken})"
            ));
        }
        if count > 0
            && !self.runs[at].accepted
            && !self.runs[at].unsure
            && self.runs[at].row != RunStatus::Failed
        {
            let orphaned = self.runs[at].state == State::Over(Outcome::failed("orphaned_by_restart"));
            if !orphaned {
                self.violate(format!("r{at} has events, and no offer of it that stood was accepted"));
            }
        }
    }

    fn settled(&mut self, settle: &Settle) {
        let Some(at) = self.run_of(&settle.run) else {
            return self.violate("the end of a run without a row".into());
        };
        let (status, reason) = (settle.status, settle.metadata.failure_reason.as_deref());
        self.reach(reason.unwrap_or(status.as_str()));
        self.touch_key(self.key_of(at));
        self.note(|| format!("recorded: r{at} is {} ({})", status.as_str(), reason.unwrap_or("-")));
        self.append(at, settle.first, &settle.events);
        let terminals = settle.events.iter().filter(|event| event.terminal().is_some()).count();
        let Some(last) = settle.events.last().filter(|last| last.terminal().is_some() && terminals == 1)
        else {
            return self.violate(format!("r{at} ends with {terminals} terminal events"));
        };
        self.advance_to(at);
        let run = &self.runs[at];
        let own = reason.is_some() || is_own_cancel(last, run);
        let begun_by_funduq = own && run.events.len() == 2 && is_own_start(&run.events[0], run);
        let relayed = run.events.len() - usize::from(own) - usize::from(begun_by_funduq);
        let actual = match (own, reason) {
            (false, _) => Outcome::Provider(status),
            (true, Some(reason)) => Outcome::Funduq(status, reason.to_owned()),
            (true, None) => match last.terminal() {
                Some(Terminal::RunError { code }) => {
                    Outcome::Funduq(status, code.unwrap_or_default().to_string())
                }
                _ => Outcome::Funduq(status, String::new()),
            },
        };
        if own && relayed == 0 && !begun_by_funduq {
            self.violate(format!("funduq ends r{at} without having begun it"));
        }
        self.check_status(at, last, &actual);
        self.check_outcome(at, &actual, relayed);
        if self.runs[at].taken.len() > relayed && self.may_have_been_stopped(at) {
            // What was said after the stop was not heard.
            self.runs[at].taken.truncate(relayed);
        }
        self.check_relayed(at, relayed);
        if !self.runs[at].unsure && relayed < self.runs[at].taken.len() {
            self.violate(format!("r{at} ends without all that its provider said"));
        }
        let open = settle.metadata.ask_ids();
        let expected = match &actual {
            Outcome::Provider(RunStatus::Completed) => self.runs[at].asks.clone(),
            _ => Vec::new(),
        };
        if open != expected && !self.runs[at].unsure {
            self.violate(format!("r{at} leaves {open:?} open and not {expected:?}"));
        }
        let run = &mut self.runs[at];
        run.asks = open;
        run.row = status;
        run.stale = false;
        run.state = State::Ended;
    }

    /// Whether nobody served the run's agent for as long as it may wait.
    pub(super) fn may_be_given_up(&self, at: usize) -> bool {
        let run = &self.runs[at];
        let waited = match run.state {
            State::Waiting => true,
            // The cancel came at the very end of the wait.
            State::Over(_) => run.cancelled_at.is_some() || run.unsure,
            _ => run.unsure,
        };
        // Since when it waits is no surer than whether an answer about another run was outstanding.
        let sure = self.threads[run.thread].runs.iter().all(|run| !self.runs[*run].unsure);
        let since = if sure { run.since } else { 0 };
        waited && self.was_unserved(run.agent, since, self.clocks.unserved)
    }

    /// Whether funduq may have ended the run because it stops, at a moment that the model does not know.
    fn may_have_been_stopped(&self, at: usize) -> bool {
        self.stopping && !matches!(self.runs[at].state, State::Ended)
    }

    /// The status and the terminal event of a run say the same.
    fn check_status(&mut self, at: usize, last: &RelayedEvent, actual: &Outcome) {
        let (status, reason) = match actual {
            Outcome::Provider(status) => (*status, None),
            Outcome::Funduq(status, reason) => (*status, Some(reason.as_str())),
        };
        let fits = match last.terminal() {
            Some(Terminal::RunFinished(Finish::Cancelled)) => status == RunStatus::Cancelled,
            Some(Terminal::RunFinished(_)) => status == RunStatus::Completed && reason.is_none(),
            Some(Terminal::RunError { code }) => match status {
                RunStatus::Failed => reason.is_none_or(|reason| {
                    code.as_deref() == Some(reason) || code.as_deref() == Some("provider_refused")
                }),
                RunStatus::Cancelled => self.runs[at].cancel_said,
                _ => false,
            },
            None => false,
        };
        if !fits {
            self.violate(format!("r{at} ends {actual:?} with {}", last.json()));
        }
    }

    /// The run came to what the model says, or to what it cannot know.
    fn check_outcome(&mut self, at: usize, actual: &Outcome, relayed: usize) {
        let run = &self.runs[at];
        let reason = match actual {
            Outcome::Funduq(RunStatus::Failed, reason) => reason.as_str(),
            _ => "",
        };
        let fits = match (&run.state, reason) {
            (_, "funduq_shutdown") => self.may_have_been_stopped(at),
            (State::Over(outcome), _) if outcome == actual => true,
            (_, GIVEN_UP) => self.may_be_given_up(at),
            (_, "record_unavailable") => run.broken,
            _ => run.unsure && (relayed == 0 || run.accepted),
        };
        if !fits {
            let state = &run.state;
            self.violate(format!("r{at} ends {actual:?} and is {state:?}"));
        }
    }
}

/// Which request a run is: its message's id says it.
fn utterance_of(open: &OpenRun) -> usize {
    let id = open.run.input.messages.last().and_then(|message| message.id().map(str::to_owned));
    id.and_then(|id| id.trim_start_matches('u').parse().ok())
        .expect("each request has one message, named after it")
}

fn shared(events: &[RelayedEvent]) -> Vec<Arc<str>> {
    events.iter().map(RelayedEvent::shared_json).collect()
}

fn is_error(event: &RelayedEvent, wanted: &str) -> bool {
    matches!(event.terminal(), Some(Terminal::RunError { code: Some(code) }) if &*code == wanted)
}

/// A provider's events all say which run they are of.
fn is_own_start(json: &str, run: &RunModel) -> bool {
    json.contains("RUN_STARTED") && json.contains(run.id.as_str())
}

fn is_own_cancel(event: &RelayedEvent, run: &RunModel) -> bool {
    match event.terminal() {
        Some(Terminal::RunFinished(Finish::Cancelled)) => event.json().contains(run.id.as_str()),
        Some(Terminal::RunError { code }) => code.as_deref() == Some("cancelled"),
        _ => false,
    }
}
