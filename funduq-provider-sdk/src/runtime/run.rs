//! One held run: what it has to say, where that goes, and who is asked to stop it.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use funduq_agui::RunAgentInput;
use funduq_contract::{PortError, RunId};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Inner;
use super::outbox::{BufferLimits, Closed, Effects, Ends, Next, Outbox};
use super::queue::Share;
use super::route::{Direct, Route};
use crate::served::{InFlight, ServedAgent};

/// How long a report that funduq could not take for the moment waits before it is tried again.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// One run that this process holds.
pub(crate) struct Run {
    id: RunId,
    pub(crate) agent: Arc<ServedAgent>,
    /// The run in flight that this one addresses, when its agent has a hook for that.
    pub(crate) target: Option<Arc<Run>>,
    /// Fired when funduq asks to stop, and when nobody listens any more.
    pub(crate) cancel: CancellationToken,
    /// Fired when this process stops and cannot wait any longer.
    pub(crate) abort: CancellationToken,
    /// Holds one permit from the moment the run may start.
    pub(crate) turn: Notify,
    state: Mutex<State>,
    limits: BufferLimits,
    /// Room in the outbox, another route, the end of the run.
    changed: Notify,
    /// One task at a time reports straight to funduq, so that numbers go out in order.
    reporting: tokio::sync::Mutex<()>,
    told: Mutex<VecDeque<Arc<RunAgentInput>>>,
    told_more: Notify,
    runtime: Weak<Inner>,
}

struct State {
    outbox: Outbox,
    route: Route,
    /// Whether the run stands in the route's queue of runs with something to send.
    listed: bool,
}

impl Run {
    pub(super) fn new(
        id: RunId,
        agent: Arc<ServedAgent>,
        target: Option<Arc<Run>>,
        route: Route,
        limits: BufferLimits,
        runtime: Weak<Inner>,
    ) -> Self {
        Self {
            id,
            agent,
            target,
            cancel: CancellationToken::new(),
            abort: CancellationToken::new(),
            turn: Notify::new(),
            state: Mutex::new(State { outbox: Outbox::new(), route, listed: false }),
            limits,
            changed: Notify::new(),
            reporting: tokio::sync::Mutex::new(()),
            told: Mutex::new(VecDeque::new()),
            told_more: Notify::new(),
            runtime,
        }
    }

    pub(crate) fn id(&self) -> &RunId {
        &self.id
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under this lock leaves it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state().outbox.is_over()
    }

    pub(crate) fn route(&self) -> Route {
        self.state().route.clone()
    }

    /// Takes one event in without waiting; it is on its way after the next [`flush`](Self::flush).
    pub(crate) fn push(&self, event: Arc<str>, ends: Ends) -> Result<(), Closed> {
        self.state().outbox.push(event, ends)?;
        if ends != Ends::No
            && let Some(runtime) = self.runtime.upgrade()
        {
            runtime.made_room(&self.id);
        }
        Ok(())
    }

    /// Sends what was pushed, or leaves it to the link, and waits while too much is not yet recorded.
    ///
    /// Dropping the future takes nothing back: what was pushed goes out all the same.
    pub(crate) async fn flush(self: &Arc<Self>) -> Result<(), Closed> {
        if self.is_under_way()? {
            return Ok(());
        }
        loop {
            match self.route() {
                Route::Detached => {}
                Route::Direct(direct) => self.report(&direct).await,
                Route::Queued(queue) => self.list(&queue),
            }
            if self.has_room()? {
                return Ok(());
            }
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.has_room()? {
                return Ok(());
            }
            changed.await;
        }
    }

    /// Whether the link is about to take what was pushed, and there is room for more: most often so when an agent is
    /// faster than the link.
    fn is_under_way(&self) -> Result<bool, Closed> {
        let state = self.state();
        if state.outbox.is_over() {
            return Err(Closed);
        }
        Ok(state.listed && state.outbox.within(self.limits))
    }

    fn has_room(&self) -> Result<bool, Closed> {
        let state = self.state();
        if state.outbox.is_over() { Err(Closed) } else { Ok(state.outbox.within(self.limits)) }
    }

    /// Waits until the run has another route or is over.
    pub(crate) async fn route_changed(&self, from: &Route) -> Result<(), Closed> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            {
                let state = self.state();
                if state.outbox.is_over() {
                    return Err(Closed);
                }
                if !state.route.is(from) {
                    return Ok(());
                }
            }
            changed.await;
        }
    }

    /// Reports everything unsent straight to funduq.
    async fn report(self: &Arc<Self>, direct: &Arc<Direct>) {
        let _alone = self.reporting.lock().await;
        let mut stuck_at = None;
        let mut next = self.next_for(direct);
        loop {
            let (number, result) = match next {
                Next::Nothing => return,
                Next::Event(number, event) => {
                    (Some(number), direct.port.report_event(direct.link, &self.id, number, event).await)
                }
                Next::Finish => (None, direct.port.finish(direct.link, &self.id).await),
            };
            next = match result {
                Ok(()) => self.reported(direct, number),
                Err(PortError::LinkClosed) => {
                    self.detach(&Route::Direct(direct.clone()));
                    return;
                }
                Err(error) => {
                    tracing::debug!(run = %self.id, %error, "funduq did not take a report");
                    self.refused(&error);
                    // Whatever cannot be taken for now is not asked for in a busy loop.
                    if stuck_at == Some(number) {
                        tokio::time::sleep(RETRY_PAUSE).await;
                    }
                    stuck_at = Some(number);
                    self.next_for(direct)
                }
            };
        }
    }

    fn next_for(&self, direct: &Arc<Direct>) -> Next {
        let state = self.state();
        if state.route.is_direct(direct) { state.outbox.next() } else { Next::Nothing }
    }

    fn reported(self: &Arc<Self>, direct: &Arc<Direct>, number: Option<u64>) -> Next {
        let (next, effects) = {
            let mut state = self.state();
            let effects = match number {
                Some(number) => {
                    state.outbox.sent(number);
                    Effects::default()
                }
                None => state.outbox.sent_finish(),
            };
            let next = if state.route.is_direct(direct) { state.outbox.next() } else { Next::Nothing };
            (next, effects)
        };
        if effects.retire {
            self.apply(effects);
        }
        next
    }

    /// What a queue's reader takes: events up to its share, and the finish when it is due.
    /// Answers whether more is waiting.
    pub(super) fn take(
        self: &Arc<Self>,
        queue: &Arc<super::queue::Queue>,
        share: Share,
        mut each: impl FnMut(Next),
    ) -> bool {
        let (more, effects) = {
            let mut state = self.state();
            if !state.route.is_queued(queue) {
                return false;
            }
            let mut effects = Effects::default();
            let (mut taken, mut bytes) = (0, 0);
            let more = loop {
                if taken == share.events || bytes >= share.bytes {
                    break state.outbox.next() != Next::Nothing;
                }
                taken += 1;
                let next = state.outbox.next();
                match &next {
                    Next::Nothing => break false,
                    Next::Event(number, event) => {
                        bytes += event.len();
                        state.outbox.sent(*number);
                    }
                    Next::Finish => effects = state.outbox.sent_finish(),
                }
                each(next);
            };
            state.listed = more;
            (more, effects)
        };
        if effects.retire {
            self.apply(effects);
        }
        more
    }

    /// Stands in the queue when there is something to send.
    pub(super) fn list(self: &Arc<Self>, queue: &Arc<super::queue::Queue>) {
        {
            let mut state = self.state();
            if state.listed || !state.route.is_queued(queue) || state.outbox.next() == Next::Nothing {
                return;
            }
            state.listed = true;
        }
        queue.list(self.clone());
    }

    /// Changes the outbox and sees to what follows.
    fn change(self: &Arc<Self>, change: impl FnOnce(&mut Outbox) -> Effects) -> Effects {
        let effects = change(&mut self.state().outbox);
        self.apply(effects);
        effects
    }

    pub(super) fn apply(self: &Arc<Self>, effects: Effects) {
        if effects.over {
            self.cancel.cancel();
        }
        if let Some(runtime) = self.runtime.upgrade() {
            if effects.over {
                runtime.made_room(&self.id);
            }
            if effects.lost {
                runtime.watch_lost();
            }
            if effects.retire {
                runtime.forget(&self.id);
            }
        }
        if effects.ready {
            self.kick();
        }
        self.changed.notify_waiters();
    }

    pub(crate) fn received(self: &Arc<Self>, number: u64) {
        let (effects, awaited) = {
            let mut state = self.state();
            let was_full = !state.outbox.within(self.limits);
            let effects = state.outbox.received(number);
            (effects, was_full || state.outbox.is_over())
        };
        if effects != Effects::default() || awaited {
            self.apply(effects);
        }
    }

    pub(crate) fn refused(self: &Arc<Self>, error: &PortError) {
        match error {
            PortError::Gap { expected, .. } => {
                self.change(|outbox| outbox.gap(*expected));
            }
            PortError::NotHeld(_) => {
                self.change(|outbox| outbox.not_held(Instant::now()));
            }
            // Nothing about this run: the report is tried again, over this link or the next.
            PortError::LinkClosed | PortError::Unavailable(_) => {}
            PortError::AgentInUse(_) | PortError::UnknownAgent(_) | PortError::Invalid(_) => {
                tracing::warn!(run = %self.id, %error, "funduq will never take this report; giving the run up");
                self.change(Outbox::settle);
            }
        }
    }

    /// Offered again, and the answer that it is accepted is on its way over this route.
    pub(super) fn claimed_again(self: &Arc<Self>, route: &Route) {
        let effects = {
            let mut state = self.state();
            if !state.route.is(route) {
                return;
            }
            state.outbox.claimed_again()
        };
        self.apply(effects);
    }

    /// A new link, on which funduq has said up to where it has recorded this run, or that it
    /// does not know it. The caller applies the effects when it holds no lock.
    pub(super) fn resume(&self, route: Route, received: Option<u64>) -> Effects {
        let mut state = self.state();
        state.route = route;
        state.listed = false;
        match received {
            Some(received) => state.outbox.resumed(received),
            None => state.outbox.not_held(Instant::now()),
        }
    }

    /// The link is gone; events wait for another.
    pub(super) fn detach(&self, from: &Route) {
        {
            let mut state = self.state();
            if !state.route.is(from) {
                return;
            }
            state.route = Route::Detached;
            state.listed = false;
        }
        self.changed.notify_waiters();
    }

    /// Sees to it that what is unsent goes out, whoever had pushed it.
    pub(super) fn kick(self: &Arc<Self>) {
        match self.route() {
            Route::Detached => {}
            Route::Queued(queue) => self.list(&queue),
            Route::Direct(direct) => {
                let run = self.clone();
                tokio::spawn(async move { run.report(&direct).await });
            }
        }
    }

    pub(super) fn lapse(self: &Arc<Self>, patience: Duration) -> bool {
        let Some(effects) = self.state().outbox.lapse(Instant::now(), patience) else { return false };
        self.apply(effects);
        effects.lost
    }

    /// The agent has returned: after what is unsent comes the finish.
    pub(super) async fn close(self: &Arc<Self>) {
        let effects = self.state().outbox.finish();
        self.apply(Effects { ready: false, ..effects });
        match self.route() {
            Route::Detached => {}
            Route::Direct(direct) => self.report(&direct).await,
            Route::Queued(queue) => self.list(&queue),
        }
    }

    pub(crate) fn tell(&self, input: Arc<RunAgentInput>) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= InFlight::MAX_WAITING || self.is_over() {
            return false;
        }
        told.push_back(input);
        drop(told);
        self.told_more.notify_one();
        true
    }

    pub(crate) async fn told(&self) -> Arc<RunAgentInput> {
        loop {
            if let Some(input) = self.told.lock().unwrap_or_else(PoisonError::into_inner).pop_front() {
                return input;
            }
            self.told_more.notified().await;
        }
    }
}
