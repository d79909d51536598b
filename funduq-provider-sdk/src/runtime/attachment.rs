//! A runtime's side of one open link: what funduq says comes in, what is to be said goes out in order.

use std::fmt;
use std::sync::Arc;

use funduq_agui::RelayedMessage;
use funduq_contract::{Cancel, ConnectOk, Offer, PortError, RunId};

use super::queue::{Outgoing, Queue};
use super::{Inner, Route, Runtime};

/// How much that is no event may wait to be sent before the link is taken for stuck.
const MAX_CONTROL: usize = 4096;

/// One open link of a [`Runtime`], for whoever carries it over a wire.
///
/// Hand in what funduq says as it comes; send what [`next`](Self::next) gives, in that order.
/// Dropping it detaches the runtime: its runs go on, keep what they say, and the next
/// attachment sends what funduq has not recorded. A newer attachment replaces an older one.
pub struct Attachment {
    inner: Arc<Inner>,
    queue: Arc<Queue>,
}

/// funduq asks faster than the link sends; the link is of no use any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{MAX_CONTROL} answers are waiting to be sent; the link is stuck")]
pub struct Stuck;

impl Runtime {
    /// Joins the runtime to a link that funduq has opened with `ok`, which the link has confirmed.
    ///
    /// From here on it sends what funduq has not recorded of the runs that both know, and finishes
    /// those that funduq believes to be held here and that are not.
    pub fn attach(&self, ok: &ConnectOk) -> Attachment {
        let queue = Arc::new(Queue::default());
        let unknown = self.inner.attach(&Route::Queued(queue.clone()), ok);
        for run_id in unknown {
            tracing::info!(run = %run_id, "funduq knows a run that this process does not; finishing it");
            queue.say(Outgoing::Finish { run_id });
        }
        Attachment { inner: self.inner.clone(), queue }
    }
}

impl Attachment {
    /// Answers an offer from the runtime's own state, at once; the verdict is the next thing to send.
    ///
    /// # Errors
    /// [`Stuck`] when too much is waiting to be sent; the link should end.
    pub fn deliver(&self, offer: Offer) -> Result<(), Stuck> {
        self.check()?;
        let (run_id, attempt) = (offer.run.run_id.clone(), offer.attempt);
        let decision = self.inner.decide(offer);
        self.queue.say(Outgoing::Verdict { run_id, attempt, verdict: decision.verdict });
        self.inner.follow_up(decision.follow_up, &Route::Queued(self.queue.clone()));
        Ok(())
    }

    /// Asks the run's agent to stop; the receipt is sent.
    ///
    /// # Errors
    /// As for [`deliver`](Self::deliver).
    pub fn cancel(&self, cancel: &Cancel) -> Result<(), Stuck> {
        self.check()?;
        self.queue.say(Outgoing::Ack(self.inner.cancel(&cancel.run_id)));
        Ok(())
    }

    /// funduq has recorded the run's events up to this number.
    pub fn received(&self, run_id: &RunId, number: u64) {
        if let Some(run) = self.inner.run(run_id) {
            run.received(number);
        }
    }

    /// funduq did not take a report of this run.
    pub fn refused(&self, run_id: &RunId, error: &PortError) {
        if let Some(run) = self.inner.run(run_id) {
            run.refused(error);
        }
    }

    /// The answer to an [`Outgoing::ThreadMessages`].
    pub fn messages(&self, call: u64, answer: Result<Vec<RelayedMessage>, PortError>) {
        self.queue.answer(call, answer);
    }

    /// Puts what is to be sent next at the end of `batch`, in order; waits until there is something.
    ///
    /// What it gives counts as sent on this link. Dropping the future before it is ready takes nothing.
    pub async fn next(&self, batch: &mut Vec<Outgoing>) {
        self.queue.next(batch).await;
    }

    fn check(&self) -> Result<(), Stuck> {
        if self.queue.control_len() < MAX_CONTROL { Ok(()) } else { Err(Stuck) }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.inner.detach(&Route::Queued(self.queue.clone()));
        self.queue.close();
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment").finish_non_exhaustive()
    }
}
