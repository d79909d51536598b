//! What must hold when nothing has happened for a while, when a process has stopped, and at the end of a seed.

use std::collections::BTreeSet;

use funduq_contract::ConnectOk;
use funduq_core::{Funduq, RunStatus};

use crate::callers::Place;
use crate::model::{Answer, Model, State};
use crate::store::Fault;
use crate::world::World;

/// After how long without any event everything that was on its way has arrived, in milliseconds.
const QUIET: u64 = 150;
/// The longest that a run may wait for its offer when nothing holds it: longer than the longest pause after a decline.
const PATIENCE: u64 = 5_500;

impl World {
    /// Checks that must hold whenever it has been quiet.
    pub(crate) fn check_quiet(&mut self, funduq: &Funduq) {
        let mut model = self.model.lock();
        let quiet = model.now().saturating_sub(model.latest());
        let answered = model.utterances.iter().all(|said| said.answer != Answer::Pending);
        if quiet < QUIET || self.store.fault() != Fault::None || !answered || model.stopping {
            return;
        }
        for run in 0..model.runs.len() {
            if model.runs[run].is_live() {
                model.check_row(run);
            }
        }
        for key in 0..self.providers.len() {
            let public = model.keys[key];
            drop(model);
            let taken = funduq.places_taken(&public) as usize;
            model = self.model.lock();
            if let Some(expected) = model.places(key)
                && expected != taken
            {
                model.violate(format!(
                    "{taken} places of key {key} are taken, and {expected} runs are offered or held"
                ));
            }
        }
        for key in 0..self.providers.len() {
            if model.now() - model.key_touched[key] > PATIENCE {
                model.check_nobody_is_stuck(key, self.providers[key].room);
            }
        }
    }

    /// Places at any moment: never more than there could be runs for.
    pub(crate) fn check_places(&mut self, funduq: &Funduq) {
        for key in 0..self.providers.len() {
            let public = self.model.lock().keys[key];
            let taken = funduq.places_taken(&public) as usize;
            let mut model = self.model.lock();
            let live = model.may_be_live(key);
            if taken > live {
                model
                    .violate(format!("{taken} places of key {key} are taken, and {live} runs could be live"));
            }
        }
    }

    /// A shutdown has returned.
    pub(crate) fn check_stopped(&mut self, funduq: &Funduq) {
        let mut model = self.model.lock();
        model.note(|| "the shutdown returns".to_owned());
        if model.write_failed_while_stopping {
            return;
        }
        for run in 0..model.runs.len() {
            let row = model.runs[run].row;
            if !row.is_terminal() && row != RunStatus::Queued && !model.runs[run].stale {
                model.violate(format!("funduq has stopped, and r{run} is {} in the record", row.as_str()));
            }
        }
        drop(model);
        for key in 0..self.providers.len() {
            let public = self.model.lock().keys[key];
            if funduq.places_taken(&public) != 0 {
                self.model.lock().violate(format!("funduq has stopped, and places of key {key} are taken"));
            }
        }
    }

    /// Nothing is left to happen: the record through funduq's own eyes, and everything that was taken is free again.
    pub(crate) async fn check_end(&mut self, funduq: &Funduq) {
        let health = funduq.health().await;
        let (runs, threads) = (health.live_runs, health.live_threads);
        if (runs, threads) != (0, 0) {
            self.model.lock().violate(format!("at the end {runs} runs and {threads} threads are live"));
        }
        for key in 0..self.providers.len() {
            let public = self.model.lock().keys[key];
            let taken = funduq.places_taken(&public);
            if taken != 0 {
                self.model.lock().violate(format!("at the end {taken} places of key {key} are taken"));
            }
        }
        for caller in &self.callers {
            if let Place::Eager(task) = &caller.place
                && !task.is_finished()
            {
                self.model.lock().violate(format!("the stream of r{} never ended", caller.run));
            }
        }
        let runs = self.model.lock().runs.len();
        for run in 0..runs {
            self.audit_run(funduq, run).await;
        }
        let threads = self.model.lock().threads.len();
        for thread in 0..threads {
            self.audit_thread(funduq, thread).await;
        }
    }

    async fn audit_run(&mut self, funduq: &Funduq, run: usize) {
        let (id, agent, row, events) = {
            let model = self.model.lock();
            let found = &model.runs[run];
            (found.id.clone(), model.agents[found.agent].address.clone(), found.row, found.events.clone())
        };
        let stored = funduq.run(&id).await.unwrap().unwrap();
        let kept = funduq.run_events(&id, 0, usize::MAX).await.unwrap();
        let same = kept.iter().map(|event| event.event.json()).eq(events.iter().map(|event| &**event));
        if stored.status != row || stored.last_event != events.len() as u64 || !same {
            self.model.lock().violate(format!("the record of r{run} reads otherwise than it was written"));
        }
        let after = self.rng.below(events.len() as u64 + 1);
        let mut stream = funduq.agui().replay(&agent, &id, after).await.unwrap();
        let mut seen = after;
        while let Some(event) = stream.next().await.unwrap() {
            let number = event.number.unwrap_or_default();
            self.model.lock().saw(run, seen + 1, number, event.event.json());
            seen += 1;
        }
        self.model.lock().stream_ended(run, seen, false);
    }

    async fn audit_thread(&mut self, funduq: &Funduq, thread: usize) {
        let Some((id, runs)) = ({
            let model = self.model.lock();
            let runs =
                model.threads[thread].runs.iter().map(|run| model.runs[*run].id.clone()).collect::<Vec<_>>();
            model.threads[thread].id.clone().map(|id| (id, runs))
        }) else {
            return;
        };
        let stored = funduq.thread_runs(&id, 0, usize::MAX).await.unwrap();
        if !stored.iter().map(|run| &run.id).eq(runs.iter()) {
            self.model.lock().violate(format!("the runs of t{thread} are in another order"));
        }
        let messages = funduq.thread_messages(&id, 0, usize::MAX).await.unwrap();
        let ids: BTreeSet<_> = messages.iter().filter_map(|message| message.message.id()).collect();
        if ids.len() != messages.len() {
            self.model.lock().violate(format!("the history of t{thread} has a message twice"));
        }
    }
}

impl Model {
    pub(crate) fn is_served(&self, key: usize) -> bool {
        self.agents.iter().filter(|agent| agent.key == key).all(|agent| agent.is_served())
    }

    /// What is not at rest, in words.
    pub(crate) fn left(&self) -> String {
        let runs = self.runs.iter().enumerate().filter(|(_, run)| run.is_live());
        let runs: Vec<_> =
            runs.map(|(at, run)| format!("r{at} {:?} {}", run.state, run.row.as_str())).collect();
        let pending = self.utterances.iter().filter(|said| said.answer == Answer::Pending).count();
        format!("{pending} requests, {}", runs.join(", "))
    }

    /// What funduq says that a key holds, as it lets it in.
    /// `alone`: nothing is on its way over an earlier link.
    pub(crate) fn check_held(&mut self, key: usize, ok: &ConnectOk, alone: bool) {
        for run in 0..self.runs.len() {
            let found = &self.runs[run];
            let held = matches!(found.state, State::Held { .. }) && self.key_of(run) == key && !found.unsure;
            let due = self.deadline(run).is_some_and(|due| due <= self.now());
            let said = ok.held_runs.iter().any(|held| held.run_id == found.id);
            if alone && held && !due && !said && !self.stopping {
                self.violate(format!("key {key} holds r{run}, and is not told so"));
            }
        }
        for held in &ok.held_runs {
            let Some(run) = self.run_of(&held.run_id) else {
                self.violate("a key is said to hold a run that is not in the record".into());
                continue;
            };
            let found = &self.runs[run];
            if self.key_of(run) != key || !(found.accepted || found.unsure) {
                self.violate(format!("key {key} is said to hold r{run}"));
            }
            let recorded = self.runs[run].events.len() as u64;
            if held.received > recorded {
                self.violate(format!(
                    "{} events of r{run} are said to be recorded, of {recorded}",
                    held.received
                ));
            }
        }
    }

    /// How many runs of a key may be live as far as anybody outside can know.
    fn may_be_live(&self, key: usize) -> usize {
        let live = (0..self.runs.len()).filter(|run| self.key_of(*run) == key && self.runs[*run].is_live());
        let asked = self.utterances.iter().filter(|said| {
            said.answer == Answer::Pending && self.agents[self.threads[said.thread].agent].key == key
        });
        live.count() + asked.count()
    }

    /// How many places of a key are taken when it is quiet; unknown if a run's state is.
    fn places(&self, key: usize) -> Option<usize> {
        let mut taken = 0;
        for run in (0..self.runs.len()).filter(|run| self.key_of(*run) == key) {
            let found = &self.runs[run];
            if found.unsure && found.is_live() {
                return None;
            }
            taken += usize::from(matches!(found.state, State::Offered { .. } | State::Held { .. }));
        }
        Some(taken)
    }

    /// The record says of a live run what is so.
    fn check_row(&mut self, run: usize) {
        self.advance(run);
        let found = &self.runs[run];
        if found.unsure || found.stale {
            return;
        }
        let (row, unserved) = (found.row, self.agents[found.agent].unserved.last().copied());
        let since = found.since;
        let fits = match &found.state {
            State::Waiting => match unserved {
                Some((from, None)) if self.now() > from.max(since) + self.clocks.unserved + QUIET => false,
                _ => row == RunStatus::Queued,
            },
            State::Offered { .. } => row == RunStatus::Offering,
            State::Held { .. } => {
                row == if found.cancel { RunStatus::Cancelling } else { RunStatus::Running }
            }
            State::Over(_) => false,
            State::Ended => true,
        };
        if !fits {
            let state = &self.runs[run].state;
            self.violate(format!("r{run} is {state:?}, and the record says {}", row.as_str()));
        }
    }

    /// No run waits for an offer that nothing holds back.
    fn check_nobody_is_stuck(&mut self, key: usize, room: Option<u32>) {
        let Some(taken) = self.places(key) else { return };
        if room.is_some_and(|room| taken >= room as usize) {
            return;
        }
        for thread in 0..self.threads.len() {
            let agent = &self.agents[self.threads[thread].agent];
            if agent.key != key || !agent.is_served() {
                continue;
            }
            let states = self.threads[thread].runs.iter().map(|run| &self.runs[*run].state);
            let offered = states.clone().any(|state| matches!(state, State::Offered { .. }));
            let waiting =
                self.threads[thread].runs.iter().find(|run| self.runs[**run].state == State::Waiting);
            if let Some(run) = waiting.copied().filter(|_| !offered) {
                self.violate(format!("r{run} waits, and nothing holds it back"));
            }
        }
    }
}
