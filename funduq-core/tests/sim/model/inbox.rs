//! What is posted about a run, in the order in which core must judge it.

use std::cmp::Ordering;

use funduq_contract::{AgentName, LinkId, Offer, RunId, Verdict};
use funduq_core::RunStatus;

use super::{Model, Outcome, State, label};
use crate::script::{Kind, Said};

impl Model {
    /// Lets the clocks of a run run out.
    pub(crate) fn advance(&mut self, run: usize) {
        let now = self.now();
        let clocks = self.clocks;
        match self.runs[run].state {
            State::Offered { at, .. } if now > at + clocks.offer => self.lapse(run),
            State::Held { away: Some(since) } if now > since + clocks.grace => {
                self.runs[run].state = State::Over(Outcome::failed("provider_left_holding_it"));
            }
            _ => {}
        }
    }

    /// The same where core has been seen to have let them run out, at this very instant or before.
    pub(super) fn advance_to(&mut self, run: usize) {
        let now = self.now();
        let clocks = self.clocks;
        match self.runs[run].state {
            State::Offered { at, .. } if now >= at + clocks.offer => self.lapse(run),
            State::Held { away: Some(since) } if now >= since + clocks.grace => {
                self.runs[run].state = State::Over(Outcome::failed("provider_left_holding_it"));
            }
            _ => {}
        }
    }

    fn lapse(&mut self, run: usize) {
        let attempts = self.clocks.attempts;
        if let State::Offered { at, .. } = self.runs[run].state {
            self.gate_opened(run, at + self.clocks.offer);
        }
        let run = &mut self.runs[run];
        run.lapses += 1;
        run.state = if run.lapses >= attempts {
            State::Over(Outcome::failed("provider_did_not_answer"))
        } else {
            State::Waiting
        };
    }

    /// Lets the clocks run out before something is posted; on the very instant nobody can say which is first.
    fn before_posting(&mut self, run: usize) {
        self.advance(run);
        if self.deadline(run) == Some(self.now()) {
            self.runs[run].unsure = true;
        }
    }

    /// When a run's clock runs out.
    pub(crate) fn deadline(&self, run: usize) -> Option<u64> {
        let run = &self.runs[run];
        match run.state {
            State::Offered { at, .. } => Some(at + self.clocks.offer),
            State::Held { away: Some(since) } => Some(since + self.clocks.grace),
            State::Waiting => self.unserved_until(run.agent, run.since),
            _ => None,
        }
    }

    /// A link took an offer. `places` are taken of the key's `capacity`.
    pub(crate) fn offered(&mut self, key: usize, link: LinkId, offer: &Offer, taken: u32, room: Option<u32>) {
        self.touch_key(key);
        let found = self.run_of(&offer.run.run_id);
        let attempt = offer.attempt;
        self.note(|| format!("funduq offers {} to {key} (attempt {attempt}) on {link}", label(found)));
        let Some(run) = found else {
            return self.violate("a run is offered that is not in the record".into());
        };
        self.advance_to(run);
        let now = self.now();
        if self.key_of(run) != key || self.links[key] != Some(link) {
            self.violate(format!("r{run} is offered on a link that is not its agent's"));
        }
        if self.runs[run].row.is_terminal() {
            self.violate(format!("r{run} is offered and has ended in the record"));
        }
        let cancelled_meanwhile = self.runs[run].cancelled_at == Some(now);
        if !self.runs[run].unsure && self.runs[run].state != State::Waiting && !cancelled_meanwhile {
            let state = &self.runs[run].state;
            self.violate(format!("r{run} is offered while it is {state:?}"));
        }
        if attempt > 1 {
            self.reach("a run that is offered again");
        }
        if attempt <= self.runs[run].attempt {
            self.violate(format!("attempt {attempt} at r{run} comes again"));
        }
        if room.is_some_and(|room| taken > room) {
            self.violate(format!("{taken} places of key {key} are taken, of {room:?}"));
        }
        if self.runs[run].passed_over {
            self.violate(format!("r{run} is offered after a later run of its thread"));
        }
        let others = self.threads[self.runs[run].thread].runs.clone();
        let mut earlier = true;
        for other in others {
            if other == run {
                earlier = false;
                continue;
            }
            self.advance(other);
            match self.runs[other].state {
                State::Offered { at, .. } if now < at + self.clocks.offer && !self.runs[other].unsure => {
                    self.violate(format!("r{run} is offered while the answer about r{other} is outstanding"));
                }
                State::Offered { .. } | State::Waiting if earlier => self.runs[other].passed_over = true,
                _ => {}
            }
        }
        let utterance = &self.utterances[self.runs[run].utterance];
        let addressed = offer.run.input.forwarded_props.as_ref().is_some_and(|props| {
            let funduq = props.as_object().and_then(|bag| bag.get("funduq"));
            funduq.is_some_and(|props| props.get().contains("addressedRunId"))
        });
        let addressed_before = utterance.addressed && utterance.process != self.process;
        if addressed != (utterance.addressed && utterance.process == self.process) {
            self.violate(format!("r{run} says that it is addressed: {addressed}"));
        }
        if addressed_before {
            self.reach("an interjection that became an ordinary turn");
        }
        self.runs[run].attempt = attempt;
        if !cancelled_meanwhile {
            self.runs[run].state = State::Offered { attempt, at: now, link };
        }
    }

    /// A key's answer was posted.
    pub(crate) fn answered(&mut self, key: usize, id: &RunId, attempt: u32, verdict: &Verdict) {
        self.touch_key(key);
        let Some(run) = self.run_of(id) else { return };
        self.note(|| format!("{key} answers r{run} (attempt {attempt}): {verdict:?}"));
        self.before_posting(run);
        if self.runs[run].state == State::Waiting
            && attempt > self.runs[run].attempt
            && key == self.key_of(run)
        {
            // It answers an earlier process, and an offer of this one with the same number may be on its way.
            self.runs[run].unsure = true;
            self.runs[run].accepted |= *verdict == Verdict::Accepted;
        }
        let standing = match self.runs[run].state {
            State::Offered { attempt: offered, .. } => offered == attempt && key == self.key_of(run),
            _ => false,
        };
        if !standing {
            return self.reach("an answer that matches nothing");
        }
        self.gate_opened(run, self.now());
        self.runs[run].state = match verdict {
            Verdict::Accepted => {
                self.runs[run].accepted = true;
                State::Held { away: None }
            }
            Verdict::Declined => State::Waiting,
            Verdict::Refused { reason } => State::Over(Outcome::failed(reason)),
        };
    }

    /// A key's event was posted.
    pub(crate) fn reported(&mut self, key: usize, id: &RunId, number: u64, said: &Said, asks: &[String]) {
        self.touch_key(key);
        let Some(run) = self.run_of(id) else { return };
        self.note(|| format!("{key} reports event {number} of r{run}: {:?}", said.kind));
        self.before_posting(run);
        if key != self.key_of(run) {
            return;
        }
        self.runs[run].said.push((number, said.json.clone()));
        let next = self.runs[run].taken.len() as u64 + 1;
        if !matches!(self.runs[run].state, State::Held { .. }) || number != next {
            self.reach(match number.cmp(&next) {
                Ordering::Less => "an event that comes again",
                Ordering::Equal => "an event of a run that is not held",
                Ordering::Greater => "an event after a gap",
            });
            return;
        }
        let cancel = self.runs[run].cancel;
        let run = &mut self.runs[run];
        match said.kind {
            Kind::Malformed => {
                run.state = State::Over(Outcome::failed("malformed_event"));
                return;
            }
            Kind::Plain => {}
            Kind::Terminal(RunStatus::Failed) if cancel => {
                run.state = State::Over(Outcome::Provider(RunStatus::Cancelled));
            }
            Kind::Terminal(status) => {
                if status == RunStatus::Completed {
                    // A tool call is asked for by its start, and that may have got lost.
                    let begun = |ask: &&String| {
                        !ask.starts_with("call")
                            || run.taken.iter().any(|event| event.contains("TOOL_CALL_START"))
                    };
                    run.asks = asks.iter().filter(begun).cloned().collect();
                }
                run.state = State::Over(Outcome::Provider(status));
            }
        }
        run.taken.push(said.json.clone());
    }

    /// A key said that it is done with a run, or that it does not hold it.
    pub(crate) fn finished(&mut self, key: usize, id: &RunId) {
        self.touch_key(key);
        let Some(run) = self.run_of(id) else { return };
        self.note(|| format!("{key} is done with r{run}"));
        self.before_posting(run);
        if key != self.key_of(run) || !matches!(self.runs[run].state, State::Held { .. }) {
            self.reach("a finish of a run that is not held");
            return;
        }
        self.runs[run].state = State::Over(match self.runs[run].cancel {
            true => Outcome::Funduq(RunStatus::Cancelled, "cancelled".into()),
            false => Outcome::failed("provider_stream_ended_without_finishing"),
        });
    }

    /// Somebody asked for a run to stop.
    pub(crate) fn cancel_posted(&mut self, run: usize) {
        self.touch_key(self.key_of(run));
        self.note(|| format!("a caller cancels r{run}"));
        self.before_posting(run);
        let now = self.now();
        if matches!(self.runs[run].state, State::Offered { .. }) {
            self.gate_opened(run, now);
        }
        let run = &mut self.runs[run];
        run.cancel_said = true;
        match run.state {
            State::Waiting | State::Offered { .. } => {
                run.cancelled_at = Some(now);
                run.state = State::Over(Outcome::Funduq(RunStatus::Cancelled, String::new()));
            }
            State::Held { .. } => run.cancel = true,
            State::Over(_) | State::Ended => {}
        }
    }

    /// A key's link was opened; the one that it replaces is gone.
    pub(crate) fn link_opened(&mut self, key: usize, link: LinkId) {
        self.link_gone(key);
        self.note(|| format!("{key} has {link}"));
        self.links[key] = Some(link);
    }

    /// A key's link is gone.
    pub(crate) fn link_gone(&mut self, key: usize) {
        self.touch_key(key);
        let Some(link) = self.links[key].take() else { return };
        self.note(|| format!("{key} has lost {link}"));
        let now = self.now();
        for agent in self.agents.iter_mut().filter(|agent| agent.key == key && agent.is_served()) {
            agent.unserved.push((now, None));
        }
        for run in 0..self.runs.len() {
            if self.key_of(run) != key || !self.runs[run].is_live() {
                continue;
            }
            self.before_posting(run);
            match &mut self.runs[run].state {
                State::Offered { link: on, .. } if *on == link => {
                    self.runs[run].state = State::Waiting;
                    self.gate_opened(run, now);
                }
                State::Held { away } => {
                    away.get_or_insert(now);
                }
                _ => {}
            }
        }
    }

    /// A key published its roster.
    pub(crate) fn back(&mut self, key: usize, names: &[AgentName]) {
        self.touch_key(key);
        self.note(|| format!("{key} registers {}", names.len()));
        for run in 0..self.runs.len() {
            let agent = &self.agents[self.runs[run].agent];
            if agent.key == key && names.contains(&agent.address.name) && self.runs[run].is_live() {
                self.before_posting(run);
                if let State::Held { away } = &mut self.runs[run].state
                    && away.take().is_some()
                {
                    self.reach("a key that came back within the grace");
                }
            }
        }
    }

    /// When something happened last, as far as the model knows: it was posted, written or handed out, or ran out.
    pub(crate) fn latest(&self) -> u64 {
        let now = self.now();
        let due = (0..self.runs.len()).filter_map(|run| self.deadline(run));
        due.filter(|due| *due <= now).max().unwrap_or_default().max(self.touched)
    }

    /// When a run is given up that waits since then, while nobody serves its agent.
    fn unserved_until(&self, agent: usize, since: u64) -> Option<u64> {
        match self.agents[agent].unserved.last() {
            Some((from, None)) => Some(since.max(*from) + self.clocks.unserved),
            _ => None,
        }
    }

    /// An answer is outstanding no more: whoever waits behind it may find only now that nobody serves their agent.
    fn gate_opened(&mut self, run: usize, at: u64) {
        for other in self.threads[self.runs[run].thread].runs.clone() {
            let other = &mut self.runs[other];
            if matches!(other.state, State::Waiting | State::Offered { .. }) {
                other.since = other.since.max(at);
            }
        }
    }

    /// The next instants at which something runs out.
    pub(crate) fn deadlines(&self) -> Vec<u64> {
        let mut due: Vec<_> = (0..self.runs.len()).filter_map(|run| self.deadline(run)).collect();
        let now = self.now();
        due.retain(|due| *due >= now);
        due.sort_unstable();
        due.dedup();
        due
    }
}
