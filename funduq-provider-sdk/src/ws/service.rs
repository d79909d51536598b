//! What differs between the kinds of links: what is published, what is heard, what is said.

use std::future::Future;
use std::time::Duration;

use funduq_contract::{ConnectOk, ErrFrame, PortErrorCode};

use super::error::LinkError;
use super::socket::Lost;
use crate::identity::ProviderIdentity;

/// The number of a roster's frame; whatever else is asked on a link counts from 1.
pub(super) const ROSTER: u64 = 0;

/// What may be served over a link: agents, or an LLM provider's offerings.
pub trait Serves {
    /// What serves it.
    type Service: Service;

    /// Makes it ready to serve.
    fn service(self) -> Self::Service;
}

/// What is served over a link, from one link to the next.
pub trait Service: Clone + Send + Sync + 'static {
    /// Where it is served, below the base address.
    const PATH: &'static str;
    /// Its side of one open link.
    type Attached: Attached;

    /// Whose it is.
    fn identity(&self) -> &ProviderIdentity;

    /// How many runs it takes at once, for the opening.
    fn concurrency(&self) -> Option<u32>;

    /// Joins it to a link that is open.
    fn attach(&self, ok: &ConnectOk) -> Self::Attached;

    /// The frame that publishes what it serves, under the number [`ROSTER`]; nothing once it is taken down.
    fn roster(&self, taken_down: bool) -> String;

    /// How much is under way.
    fn under_way(&self) -> usize;

    /// Takes on nothing new, and waits until everything under way has ended or been handed back by the deadline.
    fn stop(&self, deadline: Duration) -> impl Future<Output = ()> + Send;

    /// Drops everything under way.
    fn abandon(&self);
}

/// A service's side of one open link. Dropping it detaches the service.
pub trait Attached: Send + Sync {
    /// One thing to say.
    type Outgoing: Send;

    /// Hears one frame.
    fn hear(&self, text: &str) -> Heard;

    /// Puts what is to be said next at the end of `batch`; waits until there is something.
    fn next(&self, batch: &mut Vec<Self::Outgoing>) -> impl Future<Output = ()> + Send;

    /// The frame that says it.
    fn text_of(outgoing: Self::Outgoing) -> String;
}

/// What a frame means for the link that it came over.
#[derive(Debug)]
pub enum Heard {
    /// Nothing.
    Fine,
    /// funduq has taken the roster.
    RosterTaken,
    /// The link is of no use any more.
    End(End),
}

/// How an open link ended.
#[derive(Debug)]
pub enum End {
    /// It can be opened again.
    Lost(Lost),
    /// It cannot.
    Final(LinkError),
    /// It was closed from here.
    Stopped,
}

impl From<Lost> for End {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost)
    }
}

impl Heard {
    /// The link does not do what a link does.
    pub(super) fn broken(problem: impl ToString) -> Self {
        Self::End(Lost::Broken(problem.to_string()).into())
    }

    /// funduq answered a request with `ok`.
    pub(super) fn done(id: u64) -> Self {
        if id == ROSTER { Self::RosterTaken } else { Self::Fine }
    }

    /// funduq did not take the roster.
    pub(super) fn roster_refused(frame: ErrFrame) -> Self {
        Self::End(match frame.code {
            PortErrorCode::Unavailable | PortErrorCode::LinkClosed => Lost::Broken(frame.message).into(),
            _ => End::Final(LinkError::RosterRefused(frame)),
        })
    }

    /// A frame that answers an opening, on a link that is open.
    pub(super) fn second_opening() -> Self {
        Self::broken("funduq answered an opening on an open link")
    }

    /// A frame that this SDK cannot read. A newer funduq may say more than it knows; the rest goes on.
    pub(super) fn unreadable(error: &funduq_contract::MalformedFrame) -> Self {
        tracing::warn!(kind = error.kind, problem = %error, "a frame that this provider cannot read");
        Self::Fine
    }

    /// funduq did not take a frame that carried no number.
    pub(super) fn frame_refused(frame: &ErrFrame) -> Self {
        tracing::warn!(code = ?frame.code, message = %frame.message, "funduq did not take a frame");
        Self::Fine
    }
}
