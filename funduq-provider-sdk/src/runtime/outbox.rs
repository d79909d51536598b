//! What one run has said and funduq has not yet recorded: numbered, bounded, sent in order, sent again when asked. Pure.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::time::Instant;

/// How much of one run may wait to be recorded before its agent is slowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferLimits {
    /// Events. Default 8192.
    pub events: usize,
    /// Bytes of events. Default 2 MiB. One larger event is let through alone.
    pub bytes: usize,
}

impl Default for BufferLimits {
    fn default() -> Self {
        Self { events: 8192, bytes: 2 << 20 }
    }
}

/// Whether funduq takes this run's events from this provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Offered here and accepted here.
    Claimed,
    /// funduq says that this key does not hold the run, yet has never shown that it did: the
    /// answer may have come too late, and the run be offered again. `probe` lets one event
    /// out, to see whether it has been understood meanwhile.
    Lost { since: Instant, probe: bool },
    /// funduq has settled the run. Nothing more is sent.
    Over,
}

/// Whether funduq settles the run at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    No,
    /// It is a terminal event.
    Terminal,
    /// It is malformed.
    ByFault,
}

/// What a link sends next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    Event(u64, Arc<str>),
    Finish,
    Nothing,
}

/// What the run's surroundings must see to after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Effects {
    /// funduq has settled the run: stop its agent.
    pub(crate) over: bool,
    /// There is something to send on the current link.
    pub(crate) ready: bool,
    /// The run waits to be offered again, for a while.
    pub(crate) lost: bool,
    /// Everything said is recorded or in vain, and the agent has returned: forget the run.
    pub(crate) retire: bool,
}

/// The run is settled: nothing can be said in it any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed;

#[derive(Debug)]
pub(crate) struct Outbox {
    standing: Standing,
    /// Whether funduq has ever shown that it knows this run to be held here.
    confirmed: bool,
    /// The number of the first entry; one more than what is recorded.
    first: u64,
    entries: VecDeque<Arc<str>>,
    bytes: usize,
    /// The number handed to the current link last.
    sent: u64,
    /// The event with which funduq settles the run.
    ending: Option<u64>,
    /// That event is one which funduq refuses, so its refusal is no misunderstanding.
    faulty: bool,
    /// The agent has returned: after the last event comes the finish.
    finishing: bool,
    finish_sent: bool,
    /// The gap that is being filled: events sent before that was known are refused one by one.
    gap: Option<u64>,
}

impl Outbox {
    pub(crate) fn new() -> Self {
        Self {
            standing: Standing::Claimed,
            confirmed: false,
            first: 1,
            entries: VecDeque::new(),
            bytes: 0,
            sent: 0,
            ending: None,
            faulty: false,
            finishing: false,
            finish_sent: false,
            gap: None,
        }
    }

    fn last(&self) -> u64 {
        self.first - 1 + self.entries.len() as u64
    }

    pub(crate) fn is_over(&self) -> bool {
        self.standing == Standing::Over
    }

    pub(crate) fn within(&self, limits: BufferLimits) -> bool {
        self.entries.len() <= limits.events && (self.bytes <= limits.bytes || self.entries.len() <= 1)
    }

    /// Takes one event in.
    pub(crate) fn push(&mut self, event: Arc<str>, ends: Ends) -> Result<(), Closed> {
        if self.is_over() || self.finishing {
            return Err(Closed);
        }
        self.bytes += event.len();
        self.entries.push_back(event);
        if ends != Ends::No && self.ending.is_none() {
            self.ending = Some(self.last());
            self.faulty = ends == Ends::ByFault;
        }
        Ok(())
    }

    /// The agent has returned: nothing more comes.
    pub(crate) fn finish(&mut self) -> Effects {
        self.finishing = true;
        self.effects()
    }

    /// What to send next on the current link; the caller then counts it as sent.
    pub(crate) fn next(&self) -> Next {
        match self.standing {
            Standing::Over | Standing::Lost { probe: false, .. } => return Next::Nothing,
            Standing::Claimed | Standing::Lost { probe: true, .. } => {}
        }
        if self.sent < self.last() {
            let number = self.sent + 1;
            let at = usize::try_from(number - self.first).unwrap_or(usize::MAX);
            return match self.entries.get(at) {
                Some(event) => Next::Event(number, event.clone()),
                None => Next::Nothing,
            };
        }
        if self.finishing && !self.finish_sent { Next::Finish } else { Next::Nothing }
    }

    pub(crate) fn sent(&mut self, number: u64) {
        // What was judged while it was on its way may have moved the mark already.
        if number == self.sent + 1 {
            self.sent = number;
        }
        if let Standing::Lost { probe, .. } = &mut self.standing {
            *probe = false;
        }
    }

    pub(crate) fn sent_finish(&mut self) -> Effects {
        self.finish_sent = true;
        self.effects()
    }

    /// funduq has recorded the events up to `number`. Recording the event that ends the run is
    /// no reason to stop the agent, which said so itself.
    pub(crate) fn received(&mut self, number: u64) -> Effects {
        if self.is_over() {
            return self.effects();
        }
        let number = number.min(self.last());
        let was_lost = self.standing != Standing::Claimed;
        self.confirmed = true;
        self.standing = Standing::Claimed;
        while self.first <= number {
            if let Some(event) = self.entries.pop_front() {
                self.bytes -= event.len();
            }
            self.first += 1;
        }
        self.sent = self.sent.max(number);
        if self.gap.is_some_and(|gap| gap <= number) {
            self.gap = None;
        }
        if self.ending.is_some_and(|ending| ending <= number) {
            return Effects { over: false, ..self.settle() };
        }
        let effects = self.effects();
        Effects { ready: was_lost && effects.ready, ..effects }
    }

    /// funduq says that this key does not hold the run.
    pub(crate) fn not_held(&mut self, now: Instant) -> Effects {
        if self.confirmed || (self.faulty && self.ending.is_some_and(|ending| ending <= self.sent)) {
            return self.settle();
        }
        match self.standing {
            Standing::Over | Standing::Lost { .. } => self.effects(),
            Standing::Claimed => {
                self.standing = Standing::Lost { since: now, probe: false };
                self.rewind();
                Effects { lost: true, ..self.effects() }
            }
        }
    }

    /// funduq misses the event `expected` and everything after it.
    pub(crate) fn gap(&mut self, expected: u64) -> Effects {
        if self.is_over() || self.gap == Some(expected) || expected > self.last() {
            return self.effects();
        }
        if expected < self.first {
            // It forgot what it had said to be recorded; that cannot be sent again.
            return self.settle();
        }
        self.confirmed = true;
        self.standing = Standing::Claimed;
        self.gap = Some(expected);
        self.sent = expected - 1;
        self.finish_sent = false;
        self.effects()
    }

    /// The run was offered again and accepted again: what is not recorded is sent from its start.
    pub(crate) fn claimed_again(&mut self) -> Effects {
        if !self.is_over() {
            self.standing = Standing::Claimed;
            self.rewind();
        }
        self.effects()
    }

    /// A new link: funduq holds the run for this key, with the events up to `received`.
    pub(crate) fn resumed(&mut self, received: u64) -> Effects {
        if self.is_over() {
            return self.effects();
        }
        if received + 1 < self.first || received > self.last() {
            return self.settle();
        }
        let effects = self.received(received);
        if !self.is_over() {
            self.rewind();
            return self.effects();
        }
        effects
    }

    /// While the run is lost: `true` after `patience` without an offer, else one event is let out.
    pub(crate) fn lapse(&mut self, now: Instant, patience: std::time::Duration) -> Option<Effects> {
        let Standing::Lost { since, probe } = &mut self.standing else { return None };
        if now.duration_since(*since) >= patience {
            return Some(self.settle());
        }
        *probe = true;
        self.sent = self.first - 1;
        Some(Effects { lost: true, ..self.effects() })
    }

    /// Nothing more can be said and nothing more is sent.
    pub(crate) fn settle(&mut self) -> Effects {
        let over = self.standing != Standing::Over;
        self.standing = Standing::Over;
        self.entries.clear();
        self.bytes = 0;
        Effects { over, ..self.effects() }
    }

    fn rewind(&mut self) {
        self.sent = self.first - 1;
        self.finish_sent = false;
        self.gap = None;
    }

    fn effects(&self) -> Effects {
        let said = self.is_over() || (self.finish_sent && self.entries.is_empty());
        Effects {
            over: false,
            ready: self.next() != Next::Nothing,
            lost: false,
            retire: self.finishing && said,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn filled(events: u64) -> Outbox {
        let mut outbox = Outbox::new();
        for number in 1..=events {
            outbox.push(Arc::from(number.to_string()), Ends::No).unwrap();
        }
        outbox
    }

    fn send_all(outbox: &mut Outbox) -> Vec<String> {
        let mut sent = Vec::new();
        loop {
            match outbox.next() {
                Next::Nothing => return sent,
                Next::Event(number, event) => {
                    sent.push(event.to_string());
                    outbox.sent(number);
                }
                Next::Finish => {
                    sent.push("finish".into());
                    outbox.sent_finish();
                }
            }
        }
    }

    #[test]
    fn a_new_link_is_sent_exactly_what_funduq_has_not_recorded() {
        let mut outbox = filled(5);
        assert_eq!(send_all(&mut outbox), ["1", "2", "3", "4", "5"]);
        outbox.received(2);
        assert!(outbox.resumed(3).ready);
        assert_eq!(send_all(&mut outbox), ["4", "5"]);
        outbox.received(5);
        assert!(outbox.finish().ready);
        assert_eq!(send_all(&mut outbox), ["finish"]);
        assert!(outbox.finish().retire);
    }

    #[test]
    fn a_late_answer_keeps_the_events_until_the_run_is_offered_again() {
        let mut outbox = filled(3);
        send_all(&mut outbox);
        let now = Instant::now();
        assert!(outbox.not_held(now).lost);
        assert_eq!(outbox.next(), Next::Nothing);
        assert!(outbox.claimed_again().ready);
        assert_eq!(send_all(&mut outbox), ["1", "2", "3"]);
    }

    #[test]
    fn a_lost_run_is_probed_with_one_event_and_given_up_in_the_end() {
        let mut outbox = filled(3);
        send_all(&mut outbox);
        let now = Instant::now();
        outbox.not_held(now);
        assert!(outbox.lapse(now, Duration::from_secs(60)).unwrap().ready);
        assert_eq!(send_all(&mut outbox), ["1"]);
        outbox.received(1);
        assert_eq!(send_all(&mut outbox), ["2", "3"], "it was understood after all");

        let mut outbox = filled(1);
        outbox.not_held(now);
        let effects = outbox.lapse(now + Duration::from_secs(60), Duration::from_secs(60)).unwrap();
        assert!(effects.over);
        assert_eq!(outbox.push(Arc::from("2"), Ends::No), Err(Closed));
    }

    #[test]
    fn a_run_that_funduq_has_settled_is_over_at_once() {
        let mut outbox = filled(3);
        send_all(&mut outbox);
        outbox.received(1);
        assert!(outbox.not_held(Instant::now()).over);
        assert_eq!(outbox.push(Arc::from("4"), Ends::No), Err(Closed));
        assert!(outbox.finish().retire);
    }

    #[test]
    fn a_malformed_event_is_not_waited_upon() {
        let mut outbox = Outbox::new();
        outbox.push(Arc::from("{}"), Ends::ByFault).unwrap();
        send_all(&mut outbox);
        assert!(outbox.not_held(Instant::now()).over);
    }

    #[test]
    fn the_terminal_event_recorded_ends_the_run_and_what_came_after_it_is_forgotten() {
        let mut outbox = filled(1);
        outbox.push(Arc::from("end"), Ends::Terminal).unwrap();
        outbox.push(Arc::from("after"), Ends::No).unwrap();
        assert_eq!(send_all(&mut outbox), ["1", "end", "after"]);
        assert!(!outbox.received(2).over, "the agent ended it: nobody needs to stop it");
        assert!(outbox.is_over() && outbox.finish().retire);
    }

    #[test]
    fn a_gap_is_filled_once_however_often_it_is_reported() {
        let mut outbox = filled(4);
        send_all(&mut outbox);
        assert!(outbox.gap(2).ready);
        assert_eq!(send_all(&mut outbox), ["2", "3", "4"]);
        assert!(!outbox.gap(2).ready, "the events sent before are refused too");
        outbox.received(4);
        assert!(outbox.gap(1).over, "recorded events cannot be sent again");
    }

    #[test]
    fn the_bound_lets_one_large_event_through_alone() {
        let limits = BufferLimits { events: 2, bytes: 10 };
        let mut outbox = Outbox::new();
        outbox.push(Arc::from("x".repeat(100)), Ends::No).unwrap();
        assert!(outbox.within(limits));
        outbox.push(Arc::from("y"), Ends::No).unwrap();
        assert!(!outbox.within(limits));
    }
}
