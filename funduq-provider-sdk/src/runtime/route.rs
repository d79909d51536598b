//! Where a run's events go: nowhere for now, straight into funduq, or into a link's queue.

use std::sync::Arc;

use funduq_contract::{FunduqPort, LinkId};

use super::queue::Queue;

/// An open in-process link: events are reported by the task that makes them.
pub(crate) struct Direct {
    pub(crate) port: Arc<dyn FunduqPort>,
    pub(crate) link: LinkId,
}

#[derive(Clone)]
pub(crate) enum Route {
    Detached,
    Direct(Arc<Direct>),
    Queued(Arc<Queue>),
}

impl Route {
    /// Whether both are the same link, not merely the same kind.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Detached, Self::Detached) => true,
            (Self::Direct(one), Self::Direct(other)) => Arc::ptr_eq(one, other),
            (Self::Queued(one), Self::Queued(other)) => Arc::ptr_eq(one, other),
            (Self::Detached | Self::Direct(_) | Self::Queued(_), _) => false,
        }
    }

    pub(crate) fn is_direct(&self, direct: &Arc<Direct>) -> bool {
        matches!(self, Self::Direct(own) if Arc::ptr_eq(own, direct))
    }

    pub(crate) fn is_queued(&self, queue: &Arc<Queue>) -> bool {
        matches!(self, Self::Queued(own) if Arc::ptr_eq(own, queue))
    }
}
