//! How many runs a provider takes on at once, and how many may wait.

/// What a provider declares to funduq when its link opens, and keeps to.
///
/// funduq counts the runs that a key holds and offers no more than the declared number;
/// an offer beyond it is declined, offered again later, and counted against the key when
/// funduq had reason to think there was room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    bounds: Option<Bounds>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bounds {
    running: u32,
    waiting: u32,
}

impl Capacity {
    /// No limit: every offer for a served agent is accepted, none ever declined. The default.
    pub const fn unlimited() -> Self {
        Self { bounds: None }
    }

    /// At most `max` runs held at once, waiting turns included. 0 counts as 1: a provider
    /// that takes nothing should publish nothing.
    pub const fn max_concurrent_runs(max: u32) -> Self {
        let running = if max == 0 { 1 } else { max };
        Self { bounds: Some(Bounds { running, waiting: 0 }) }
    }

    /// Beside the running ones, up to `waiting` accepted runs wait here for a place.
    ///
    /// Without a limit there is nothing to wait for, and this changes nothing.
    #[must_use]
    pub const fn queue(self, waiting: u32) -> Self {
        match self.bounds {
            None => self,
            Some(Bounds { running, .. }) => Self { bounds: Some(Bounds { running, waiting }) },
        }
    }

    /// The number declared to funduq: running and waiting together; `None` for no limit.
    pub const fn declared(&self) -> Option<u32> {
        match self.bounds {
            None => None,
            Some(Bounds { running, waiting }) => Some(running.saturating_add(waiting)),
        }
    }

    pub(crate) const fn running_limit(&self) -> usize {
        match self.bounds {
            None => usize::MAX,
            Some(Bounds { running, .. }) => running as usize,
        }
    }

    pub(crate) const fn held_limit(&self) -> usize {
        match self.declared() {
            None => usize::MAX,
            Some(declared) => declared as usize,
        }
    }
}

impl Default for Capacity {
    fn default() -> Self {
        Self::unlimited()
    }
}
