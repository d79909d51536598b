//! What a seed is about: settings, sizes, and which trouble there is. Each seed leaves some out, so that what is left
//! happens more often together.

use std::time::Duration;

use funduq_core::CoreSettings;

use crate::prng::Rng;

/// One thing that the scheduler may do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    // Callers.
    Open,
    Resume,
    Cancel,
    Read,
    Leave,
    Return,
    // Providers.
    Attach,
    Register,
    Drop,
    Notice,
    Look,
    Send,
    Stray,
    Owed,
    WrongKey,
    Forget,
    // The host.
    Evict,
    Delete,
    // The record.
    Fault,
    Heal,
    // Time.
    Pass,
    Deadline,
    // Processes.
    Kill,
    Shutdown,
}

/// How a seed comes to rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Every provider comes back and sees everything through.
    Served,
    /// Every provider leaves for good.
    Deserted,
}

#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) settings: CoreSettings,
    pub(crate) with_identity: bool,
    pub(crate) rooms: Vec<Option<u32>>,
    pub(crate) agents_per_key: usize,
    pub(crate) threads: usize,
    pub(crate) steps: u32,
    /// The longest commit, in milliseconds.
    pub(crate) slowest_commit: u64,
    pub(crate) weights: Vec<(u64, Step)>,
    pub(crate) ending: Ending,
}

impl Plan {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let mut settings = CoreSettings {
            thread_queue_limit: rng.within(2, 5) as usize,
            quality_tolerance: rng.weigh(&[(2, None), (1, Some(3))]),
            ..CoreSettings::default()
        };
        if rng.percent(30) {
            settings.hot_events = rng.within(1, 3) as usize;
            settings.hot_unread_events = 3;
        }
        if rng.percent(20) {
            settings.thread_inbox_bytes = 512;
        }
        if rng.percent(20) {
            settings.undelivered_after = Duration::from_secs(20);
        }
        let rooms =
            (0..rng.within(2, 3)).map(|_| rng.weigh(&[(2, Some(1)), (2, Some(2)), (1, Some(4)), (2, None)]));
        let rooms = rooms.collect();
        let mut some = |percent: u64, weight: u64| if rng.percent(percent) { weight } else { 0 };
        let faults = some(40, 1);
        let drops = some(65, 1);
        let weights = vec![
            (16, Step::Open),
            (3, Step::Resume),
            (some(70, 4), Step::Cancel),
            (6, Step::Read),
            (2, Step::Leave),
            (3, Step::Return),
            (6, Step::Attach),
            (some(50, 2), Step::Register),
            (5 * drops, Step::Drop),
            (5 * drops, Step::Notice),
            (26, Step::Look),
            (20, Step::Send),
            (some(50, 4), Step::Stray),
            (5, Step::Owed),
            (some(40, 3), Step::WrongKey),
            (some(20, 1), Step::Forget),
            (some(20, 1), Step::Evict),
            (some(10, 1), Step::Delete),
            (3 * faults, Step::Fault),
            (6 * faults, Step::Heal),
            (14, Step::Pass),
            (some(70, 5), Step::Deadline),
            (some(35, 2), Step::Kill),
            (some(35, 2), Step::Shutdown),
        ];
        Self {
            settings,
            with_identity: rng.percent(30),
            rooms,
            agents_per_key: rng.within(1, 2) as usize,
            threads: rng.within(3, 6) as usize,
            steps: rng.within(100, 800) as u32,
            slowest_commit: rng.weigh(&[(2, 0), (2, 3), (1, 20)]),
            weights,
            ending: rng.weigh(&[(3, Ending::Served), (2, Ending::Deserted)]),
        }
    }
}
