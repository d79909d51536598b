//! What the machine keeps of each run that has not ended.

use funduq_contract::{LinkId, RunId};

use super::Moment;
use crate::record::RunStatus;

/// A run that has not ended.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) id: RunId,
    pub(super) phase: Phase,
    /// How often it was offered.
    pub(super) attempts: u32,
    /// How many of those offers lapsed.
    pub(super) lapses: u32,
    /// How many were declined, in a row.
    pub(super) declines: u32,
    pub(super) cancel_asked: bool,
}

/// Where it stands: the columns of the table.
#[derive(Debug)]
pub(super) enum Phase {
    /// At the door; the desk is being asked for a place.
    Arriving,
    /// Its row is on its way to the disk with this status; `offer_on` while a place is taken for it.
    Recording { as_status: RunStatus, offer_on: Option<LinkId> },
    /// Waiting since `since`; after a decline not before `paused_until`, unless something changes.
    Queued { since: Moment, paused_until: Option<Moment> },
    /// Offered on `link`, to be answered by `deadline`.
    Offering { link: LinkId, deadline: Moment },
    /// Claimed by the provider's key.
    Running {
        /// The latest link that the key is known to have been there on.
        link: LinkId,
        recorded: u64,
        overdue_at: Option<Moment>,
        away_until: Option<Moment>,
    },
}

/// What the thread has asked the desk for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    None,
    Waiting,
    WaitingForChange,
}
