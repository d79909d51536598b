//! One thread's state machine: every message about its runs in, effects out. No clock, no I/O, no await.
//!
//! The shell ([`super::actor`]) feeds it messages in arrival order and carries out the effects in the
//! order they come. A run that has ended is gone from the machine, so whatever comes late for it finds
//! nothing. Time is a [`Moment`]: how long the shell has been running.
//!
//! | message ↓ / run is → | `Arriving` | `Recording` | `Queued` | `Offering` | `Running` | gone |
//! |---|---|---|---|---|---|---|
//! | `Open` | – | – | – | – | – | a new run, or `Full` |
//! | `Slot` granted | recorded `offering` | given back | offered | given back | given back | given back |
//! | `Slot` full or unserved | recorded `queued`, or failed `agent_offline` | waits | waits | waits | – | – |
//! | `Recorded` | – | queued (and stays so once funduq stops), or the offer goes out | – | – | – | – |
//! | `RecordFailed` | – | forgotten, its caller told | – | – | – | – |
//! | `Verdict` of this attempt | refused | refused | refused | running, queued or failed | refused, or a repeat | refused |
//! | `OfferFailed` | – | – | – | queued | – | – |
//! | `Event`, next number | refused | refused | refused | refused | recorded; a terminal one settles | refused |
//! | `Finish` | – | – | – | – | settled without a terminal event | – |
//! | `Cancel` | remembered | remembered | cancelled | cancelled | asked of the provider | not live |
//! | `LinkGone` | – | the grant is lost: queued | – | queued | the grace begins | – |
//! | `Registered` | – | – | – | – | the grace ends | – |
//! | `Tick` past its deadline | – | – | offered again, or `no_provider_took_it` | taken back, or `provider_did_not_answer` | `provider_left_holding_it`; counted once | – |
//! | `StoreFailed` | – | – | – | – | failed `record_unavailable` | – |
//! | `Shutdown` | stays queued | the grant is given back | stays queued | failed | failed | – |

mod state;
mod vocabulary;

use std::collections::VecDeque;

use funduq_agui::{MalformedEvent, Outcome, RelayedEvent, Terminal};
use funduq_contract::{LinkId, PublicKey, RunId, Verdict};

use crate::planted::{Mutant, planted};
use crate::record::{FailureReason, RunStatus};
use crate::settings::CoreSettings;
use state::{Live, Phase, Request};

pub use vocabulary::CancelAnswer;
pub(crate) use vocabulary::{Asking, Effect, Fault, Message, Moment, OwnTerminal, Refusal, Settlement, Slot};

/// The machine of one thread. All of a thread's runs are for one agent of one key.
#[derive(Debug)]
pub(crate) struct Thread {
    settings: CoreSettings,
    provider: PublicKey,
    /// In arrival order.
    runs: VecDeque<Live>,
    request: Request,
    unserved_since: Option<Moment>,
    stopping: bool,
}

impl Thread {
    /// A thread with nothing alive, whose agent belongs to `provider`.
    pub(crate) fn new(settings: CoreSettings, provider: PublicKey) -> Self {
        Self {
            settings,
            provider,
            runs: VecDeque::with_capacity(1),
            request: Request::None,
            unserved_since: None,
            stopping: false,
        }
    }

    /// Puts a run back that an earlier process recorded as queued. Called before the first message.
    pub(crate) fn restore(&mut self, now: Moment, run: RunId, out: &mut Vec<Effect>) {
        self.runs.push_back(Live {
            id: run,
            phase: Phase::Queued { since: now, paused_until: None },
            attempts: 0,
            lapses: 0,
            declines: 0,
            cancel_asked: false,
        });
        self.advance(now, out);
    }

    /// Whether nothing is alive, so that the shell may let the thread go.
    pub(crate) fn is_idle(&self) -> bool {
        self.runs.is_empty()
    }

    /// When a [`Message::Tick`] is due, if nothing else comes before.
    pub(crate) fn next_deadline(&self) -> Option<Moment> {
        self.runs.iter().filter_map(|run| self.deadline_of(run)).min()
    }

    fn deadline_of(&self, run: &Live) -> Option<Moment> {
        match run.phase {
            Phase::Arriving | Phase::Recording { .. } => None,
            Phase::Queued { since, paused_until } => {
                let unserved =
                    self.unserved_since.map(|from| from.max(since) + self.settings.unserved_timeout);
                [paused_until, unserved].into_iter().flatten().min()
            }
            Phase::Offering { deadline, .. } => Some(deadline),
            Phase::Running { overdue_at, away_until, .. } => {
                [overdue_at, away_until].into_iter().flatten().min()
            }
        }
    }

    /// Takes one message and appends what follows from it to `out`. `now` never goes back.
    pub(crate) fn handle(&mut self, now: Moment, message: Message, out: &mut Vec<Effect>) {
        match message {
            Message::Open { run, exempt } => self.open(run, exempt, out),
            Message::Recorded { run } => self.recorded(now, &run, out),
            Message::RecordFailed { run } => self.record_failed(&run, out),
            Message::Slot(slot) => self.slot(now, slot, out),
            Message::OfferFailed { run, attempt } => {
                if let Some((at, _)) = self.offered(&run, attempt) {
                    self.take_back(now, at, out);
                }
            }
            Message::Verdict { key, run, attempt, verdict } => {
                self.verdict(now, key, run, attempt, verdict, out);
            }
            Message::Event { key, run, number, event } => self.event(key, run, number, event, out),
            Message::Finish { key, run } => self.finish(key, &run, out),
            Message::Cancel { run } => self.cancel(run, out),
            Message::LinkGone { link } => self.link_gone(now, link, out),
            Message::Registered { link } => self.registered(link, out),
            Message::StoreFailed { run } => {
                if let Some(at) = self.find(&run)
                    && matches!(self.runs[at].phase, Phase::Running { .. })
                {
                    self.settle(at, Settlement::failed(FailureReason::RecordUnavailable), out);
                }
            }
            Message::Tick => self.tick(now, out),
            Message::Shutdown => self.shutdown(out),
        }
        self.advance(now, out);
    }

    fn open(&mut self, id: RunId, exempt: bool, out: &mut Vec<Effect>) {
        let unclaimed = self.runs.iter().filter(|run| !matches!(run.phase, Phase::Running { .. })).count();
        if !exempt && unclaimed >= self.settings.thread_queue_limit {
            out.push(Effect::Full { run: id });
            return;
        }
        let mut run =
            Live { id, phase: Phase::Arriving, attempts: 0, lapses: 0, declines: 0, cancel_asked: false };
        if self.request == Request::None && unclaimed == 0 {
            self.request = Request::Waiting;
            out.push(Effect::AskSlot(Asking::InTurn));
        } else {
            // Others wait before it, so it takes its place behind them.
            let offline = self.unserved_since.is_some();
            let as_status = if offline { RunStatus::Failed } else { RunStatus::Queued };
            run.phase = Phase::Recording { as_status, offer_on: None };
            out.push(Effect::Record { run: run.id.clone(), as_status });
            if offline {
                return;
            }
        }
        self.runs.push_back(run);
    }

    fn recorded(&mut self, now: Moment, id: &RunId, out: &mut Vec<Effect>) {
        let Some(at) = self.find(id) else { return };
        let Phase::Recording { as_status, offer_on } = self.runs[at].phase else { return };
        match offer_on {
            _ if self.runs[at].cancel_asked => {
                self.settle(at, Settlement::cancelled(OwnTerminal::Cancelled), out);
            }
            Some(link) => self.offer(now, at, link, out),
            None => {
                self.runs[at].phase = Phase::Queued { since: now, paused_until: None };
                if as_status == RunStatus::Offering {
                    // The link went while the row was written.
                    out.push(Effect::Status { run: id.clone(), status: RunStatus::Queued });
                }
                if self.stopping {
                    self.runs.remove(at);
                    out.push(Effect::Suspend { run: id.clone() });
                }
            }
        }
    }

    fn record_failed(&mut self, id: &RunId, out: &mut Vec<Effect>) {
        let Some(at) = self.find(id) else { return };
        if let Phase::Recording { offer_on, .. } = self.runs[at].phase {
            if offer_on.is_some() {
                out.push(Effect::ReleaseSlot);
            }
            self.runs.remove(at);
        }
    }

    fn slot(&mut self, now: Moment, slot: Slot, out: &mut Vec<Effect>) {
        match slot {
            Slot::Granted { .. } | Slot::Full => self.unserved_since = None,
            Slot::Unserved => self.unserved_since = self.unserved_since.or(Some(now)),
        }
        let arriving = self.runs.iter().position(|run| matches!(run.phase, Phase::Arriving));
        match (slot, arriving) {
            (Slot::Granted { link }, Some(at)) => {
                self.request = Request::None;
                let as_status = RunStatus::Offering;
                self.runs[at].phase = Phase::Recording { as_status, offer_on: Some(link) };
                let run = self.runs[at].id.clone();
                out.push(Effect::Record { run, as_status });
            }
            (Slot::Granted { link }, None) => {
                self.request = Request::None;
                match self.head_to_offer() {
                    Some(at) => {
                        out.push(Effect::Status {
                            run: self.runs[at].id.clone(),
                            status: RunStatus::Offering,
                        });
                        self.offer(now, at, link, out);
                    }
                    None => out.push(Effect::ReleaseSlot),
                }
            }
            (Slot::Full, Some(at)) => {
                let as_status = RunStatus::Queued;
                self.runs[at].phase = Phase::Recording { as_status, offer_on: None };
                let run = self.runs[at].id.clone();
                out.push(Effect::Record { run, as_status });
            }
            (Slot::Unserved, Some(at)) => {
                // At the door, an agent that nobody serves is a failed run and not a queued one.
                if let Some(run) = self.runs.remove(at) {
                    out.push(Effect::Record { run: run.id, as_status: RunStatus::Failed });
                }
            }
            (Slot::Full | Slot::Unserved, None) => {}
        }
    }

    /// The first run that waits, if the answer to no other offer is outstanding before it.
    fn head_to_offer(&self) -> Option<usize> {
        for (at, run) in self.runs.iter().enumerate() {
            match run.phase {
                Phase::Running { .. } => {}
                Phase::Queued { .. } => return Some(at),
                Phase::Offering { .. } if planted(Mutant::GateDropped) => {}
                Phase::Arriving | Phase::Recording { .. } | Phase::Offering { .. } => return None,
            }
        }
        None
    }

    fn offer(&mut self, now: Moment, at: usize, link: LinkId, out: &mut Vec<Effect>) {
        let deadline = now + self.settings.offer_timeout;
        let run = &mut self.runs[at];
        run.attempts += 1;
        run.phase = Phase::Offering { link, deadline };
        out.push(Effect::Offer { run: run.id.clone(), attempt: run.attempts, link });
    }

    fn verdict(
        &mut self,
        now: Moment,
        key: PublicKey,
        id: RunId,
        attempt: u32,
        verdict: Verdict,
        out: &mut Vec<Effect>,
    ) {
        let offered = self.offered(&id, attempt).filter(|_| key == self.provider);
        let Some((at, link)) = offered else {
            let repeated = key == self.provider
                && verdict == Verdict::Accepted
                && self.find(&id).is_some_and(|at| {
                    self.runs[at].attempts == attempt && matches!(self.runs[at].phase, Phase::Running { .. })
                });
            if !repeated {
                out.push(Effect::Refused { run: id, why: Refusal::NotHeld });
            }
            return;
        };
        match verdict {
            Verdict::Accepted => {
                self.runs[at].phase = Phase::Running {
                    link,
                    recorded: 0,
                    overdue_at: Some(now + self.settings.undelivered_after),
                    away_until: None,
                };
                out.push(Effect::Status { run: id, status: RunStatus::Running });
            }
            Verdict::Declined => {
                out.push(Effect::Count(Fault::Misdeclared));
                self.put_off(now, at, out);
            }
            Verdict::Refused { reason } => {
                self.settle(at, Settlement::failed(FailureReason::Refused(reason)), out);
            }
        }
    }

    fn event(
        &mut self,
        key: PublicKey,
        id: RunId,
        number: u64,
        event: Result<RelayedEvent, Box<MalformedEvent>>,
        out: &mut Vec<Effect>,
    ) {
        let held = self.find(&id).filter(|_| key == self.provider);
        let Some((at, recorded)) = held.and_then(|at| match &mut self.runs[at].phase {
            Phase::Running { recorded, .. } => Some((at, recorded)),
            _ => None,
        }) else {
            out.push(Effect::Refused { run: id, why: Refusal::NotHeld });
            return;
        };
        let expected = *recorded + 1;
        if number < expected {
            out.push(Effect::Repeated { run: id });
            return;
        }
        if number > expected {
            out.push(Effect::Refused { run: id, why: Refusal::Gap { expected, got: number } });
            return;
        }
        *recorded = number;
        let Ok(event) = event else {
            self.settle(at, Settlement::failed(FailureReason::MalformedEvent), out);
            return;
        };
        let status = match event.terminal() {
            None => None,
            Some(Terminal::RunFinished(Outcome::Cancelled)) => Some(RunStatus::Cancelled),
            Some(Terminal::RunFinished(Outcome::Success | Outcome::Interrupt | Outcome::Unknown)) => {
                Some(RunStatus::Completed)
            }
            Some(Terminal::RunError { .. }) if self.runs[at].cancel_asked => Some(RunStatus::Cancelled),
            Some(Terminal::RunError { .. }) => Some(RunStatus::Failed),
        };
        out.push(Effect::Append { run: id, event });
        if let Some(status) = status {
            self.settle(at, Settlement::by_provider(status), out);
        }
    }

    fn finish(&mut self, key: PublicKey, id: &RunId, out: &mut Vec<Effect>) {
        let Some(at) = self.find(id).filter(|_| key == self.provider) else { return };
        match self.runs[at].phase {
            Phase::Running { .. } => {}
            Phase::Offering { .. } if planted(Mutant::FinishBeforeVerdict) => {}
            _ => return,
        }
        let settlement = if self.runs[at].cancel_asked {
            Settlement::cancelled(OwnTerminal::CancelledMidway)
        } else {
            Settlement::failed(FailureReason::ProviderStreamEndedWithoutFinishing)
        };
        self.settle(at, settlement, out);
    }

    fn cancel(&mut self, id: RunId, out: &mut Vec<Effect>) {
        let Some(at) = self.find(&id) else {
            out.push(Effect::Cancelled { run: id, answer: CancelAnswer::NotLive });
            return;
        };
        let first = !std::mem::replace(&mut self.runs[at].cancel_asked, true);
        let answer = match self.runs[at].phase {
            Phase::Arriving | Phase::Recording { .. } => CancelAnswer::Asked,
            Phase::Queued { .. } => CancelAnswer::Settled,
            Phase::Offering { .. } => {
                out.push(Effect::AskCancel { run: id.clone() });
                CancelAnswer::Settled
            }
            Phase::Running { .. } => {
                if first {
                    out.push(Effect::Status { run: id.clone(), status: RunStatus::Cancelling });
                    out.push(Effect::AskCancel { run: id.clone() });
                }
                CancelAnswer::Asked
            }
        };
        if answer == CancelAnswer::Settled {
            self.settle(at, Settlement::cancelled(OwnTerminal::Cancelled), out);
        }
        out.push(Effect::Cancelled { run: id, answer });
    }

    fn link_gone(&mut self, now: Moment, gone: LinkId, out: &mut Vec<Effect>) {
        let mut at = 0;
        while at < self.runs.len() {
            match &mut self.runs[at].phase {
                Phase::Recording { offer_on, .. } if *offer_on == Some(gone) => {
                    *offer_on = None;
                    out.push(Effect::ReleaseSlot);
                }
                Phase::Offering { link, .. } if *link == gone => self.take_back(now, at, out),
                // The news of an older link's loss may come after that of a newer one's roster.
                Phase::Running { link, away_until, .. } if *link <= gone => {
                    // The grace of an earlier loss is not drawn out by the loss of a link that never registered.
                    away_until.get_or_insert(now + self.settings.link_grace);
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn registered(&mut self, on: LinkId, out: &mut Vec<Effect>) {
        for run in &mut self.runs {
            if let Phase::Running { link, away_until, .. } = &mut run.phase {
                *link = on.max(*link);
                let was_away = away_until.take().is_some();
                if was_away && run.cancel_asked {
                    out.push(Effect::AskCancel { run: run.id.clone() });
                }
            }
        }
    }

    /// An offer that was declined: the run is the head of its queue, offered again when something changed or a growing
    /// pause has passed.
    fn put_off(&mut self, now: Moment, at: usize, out: &mut Vec<Effect>) {
        let declines = self.runs[at].declines + 1;
        self.runs[at].declines = declines;
        let until = now + self.settings.decline_pause(declines);
        self.runs[at].phase = Phase::Queued { since: now, paused_until: Some(until) };
        out.push(Effect::Status { run: self.runs[at].id.clone(), status: RunStatus::Queued });
        out.push(Effect::ReleaseSlot);
        self.request = Request::WaitingForChange;
        out.push(Effect::AskSlot(Asking::AfterChange));
    }

    /// An offer that nobody will answer: the run is the head of its queue again. The provider may have taken it on all
    /// the same and have no room for another, so the thread asks before it gives its place up.
    fn take_back(&mut self, now: Moment, at: usize, out: &mut Vec<Effect>) {
        self.runs[at].phase = Phase::Queued { since: now, paused_until: None };
        out.push(Effect::Status { run: self.runs[at].id.clone(), status: RunStatus::Queued });
        self.request = Request::Waiting;
        out.push(Effect::AskSlot(Asking::Ahead));
        out.push(Effect::ReleaseSlot);
    }

    fn tick(&mut self, now: Moment, out: &mut Vec<Effect>) {
        let mut at = 0;
        while at < self.runs.len() {
            if self.deadline_of(&self.runs[at]).is_none_or(|due| due > now) {
                at += 1;
                continue;
            }
            let before = self.runs.len();
            self.lapse(now, at, out);
            // A settled run has left its place to the next one.
            at += usize::from(self.runs.len() == before);
        }
    }

    /// One run whose deadline has passed.
    fn lapse(&mut self, now: Moment, at: usize, out: &mut Vec<Effect>) {
        match &mut self.runs[at].phase {
            Phase::Arriving | Phase::Recording { .. } => {}
            Phase::Queued { since, paused_until } => {
                let unserved =
                    self.unserved_since.map(|from| from.max(*since) + self.settings.unserved_timeout);
                if unserved.is_some_and(|due| due <= now) {
                    self.settle(at, Settlement::failed(FailureReason::NoProviderTookIt), out);
                } else if paused_until.is_some_and(|due| due <= now) {
                    *paused_until = None;
                    if self.request == Request::WaitingForChange {
                        self.request = Request::None;
                    }
                }
            }
            Phase::Offering { .. } => {
                self.runs[at].lapses += 1;
                out.push(Effect::Count(Fault::Unanswered));
                if self.runs[at].lapses >= self.settings.offer_attempts.max(1) {
                    out.push(Effect::AskCancel { run: self.runs[at].id.clone() });
                    self.settle(at, Settlement::failed(FailureReason::ProviderDidNotAnswer), out);
                } else {
                    self.take_back(now, at, out);
                }
            }
            Phase::Running { overdue_at, away_until, .. } => {
                if overdue_at.is_some_and(|due| due <= now) {
                    *overdue_at = None;
                    out.push(Effect::Count(Fault::Undelivered));
                }
                if away_until.is_some_and(|due| due <= now) {
                    out.push(Effect::Count(Fault::Abandoned));
                    self.settle(at, Settlement::failed(FailureReason::ProviderLeftHoldingIt), out);
                }
            }
        }
    }

    fn shutdown(&mut self, out: &mut Vec<Effect>) {
        self.stopping = true;
        let mut at = 0;
        while at < self.runs.len() {
            match &mut self.runs[at].phase {
                Phase::Arriving | Phase::Queued { .. } => {
                    out.push(Effect::Suspend { run: self.runs[at].id.clone() });
                    self.runs.remove(at);
                }
                Phase::Recording { offer_on, .. } => {
                    // Its caller hears what becomes of the row, and then that the run waits for the restart.
                    if offer_on.take().is_some() {
                        out.push(Effect::ReleaseSlot);
                    }
                    at += 1;
                }
                Phase::Offering { .. } | Phase::Running { .. } => {
                    self.settle(at, Settlement::failed(FailureReason::FunduqShutdown), out);
                }
            }
        }
    }

    /// Ends the run at `at`, which gives up its place with the provider if it has one.
    fn settle(&mut self, at: usize, settlement: Settlement, out: &mut Vec<Effect>) {
        let Some(run) = self.runs.remove(at) else { return };
        out.push(Effect::Settle { run: run.id, settlement });
        match run.phase {
            Phase::Recording { offer_on: Some(_), .. } | Phase::Offering { .. } | Phase::Running { .. } => {
                out.push(Effect::ReleaseSlot);
            }
            Phase::Arriving | Phase::Recording { offer_on: None, .. } | Phase::Queued { .. } => {}
        }
    }

    /// Asks for a place if the head of the queue could use one, and stops waiting if nothing could.
    fn advance(&mut self, now: Moment, out: &mut Vec<Effect>) {
        let head = self.head_to_offer().map(|at| &self.runs[at].phase);
        match (head, self.request) {
            (Some(Phase::Queued { paused_until, .. }), Request::None | Request::WaitingForChange) => {
                let after_change = paused_until.is_some_and(|until| until > now);
                let wanted = if after_change { Request::WaitingForChange } else { Request::Waiting };
                // The run that was declined may have left its place to one that need not wait for a change.
                if self.request != wanted {
                    self.request = wanted;
                    out.push(Effect::AskSlot(if after_change {
                        Asking::AfterChange
                    } else {
                        Asking::InTurn
                    }));
                }
            }
            (None, Request::Waiting | Request::WaitingForChange)
                if self
                    .runs
                    .iter()
                    .all(|run| matches!(run.phase, Phase::Offering { .. } | Phase::Running { .. })) =>
            {
                self.request = Request::None;
                out.push(Effect::DropSlotRequest);
            }
            _ => {}
        }
        if self.request == Request::None {
            self.unserved_since = None;
        }
    }

    fn find(&self, id: &RunId) -> Option<usize> {
        self.runs.iter().position(|run| run.id == *id)
    }

    /// The run that stands offered in this very attempt, and on which link.
    fn offered(&self, id: &RunId, attempt: u32) -> Option<(usize, LinkId)> {
        let at = self
            .find(id)
            .filter(|&at| self.runs[at].attempts == attempt || planted(Mutant::LateVerdictAccepted))?;
        match self.runs[at].phase {
            Phase::Offering { link, .. } => Some((at, link)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
