//! Core's settings: each clock and bound, its default, and what moving it costs.

use std::time::Duration;

use crate::record::Keep;

/// How the relay paces and bounds itself. The defaults are the design's; a host changes a field and
/// keeps the rest: `CoreSettings { link_grace: …, ..CoreSettings::default() }`.
#[derive(Debug, Clone)]
pub struct CoreSettings {
    /// How long a provider has to answer an offer (default 5 s). The answer is a receipt from the
    /// provider's own state, so this is a network round trip and not an agent's start-up. Lower
    /// re-offers sooner over slow links; higher holds a thread's next run longer.
    pub offer_timeout: Duration,
    /// How many lapsed offers fail a run with `provider_did_not_answer` (default 3, at least 1).
    pub offer_attempts: u32,
    /// How long a queued run waits while nobody serves its agent (default 45 s).
    pub unserved_timeout: Duration,
    /// After how long an accepted run that has not ended counts against its provider's quality
    /// (default 30 min). Counting ends nothing.
    pub undelivered_after: Duration,
    /// How long the runs of a link that went wait for its key to come back (default 10 s).
    pub link_grace: Duration,
    /// The first pause after a declined offer (default 0.25 s); it doubles with each decline in a row.
    pub decline_pause_min: Duration,
    /// The longest pause after a declined offer (default 5 s).
    pub decline_pause_max: Duration,
    /// How many runs of one thread may wait unclaimed (default 8). Answers are exempt: they are how
    /// a waiting task drains.
    pub thread_queue_limit: usize,
    /// How many runs may be live in all (default 100,000): one more is refused. Each holds memory until it has ended.
    pub live_run_limit: usize,
    /// How many faults of one kind withdraw a key's names until it registers again (default 3;
    /// `None` never withdraws).
    pub quality_tolerance: Option<u32>,
    /// How long a ticket lives (default 60 s, as the transport page says).
    pub ticket_lifetime: Duration,
    /// How many tickets may be outstanding at once (default 10,000): beyond it the oldest goes.
    pub ticket_limit: usize,
    /// How many bytes of events of one thread may be on their way to the record (default 4 MiB). A
    /// provider that reports faster waits.
    pub thread_inbox_bytes: usize,
    /// How many bytes of events may be on their way to the record in all (default 256 MiB).
    pub inbox_bytes: usize,
    /// How many recorded events of a live run stay in memory for a caller that comes back (default 256); what came before
    /// is read from the record.
    pub hot_events: usize,
    /// How many stay for a stream that is behind (default 8192); a slower caller reads from the record instead.
    pub hot_unread_events: usize,
    /// How many bytes those events may have in either case (default 1 MiB).
    pub hot_bytes: usize,
    /// How many bytes of one completion may wait for its agent (default 4 MiB, and one chunk more). An agent that is
    /// further behind holds up its LLM provider's link while it is alone there, and is given up where it is not.
    pub completion_unread_bytes: usize,
    /// How many bytes of all completions may wait for their agents (default 64 MiB): beyond it the completion of which
    /// the most waits is given up.
    pub unread_bytes: usize,
    /// How long a completion may hold up its LLM provider's link before it is given up (default 30 s).
    pub unread_timeout: Duration,
}

impl Default for CoreSettings {
    fn default() -> Self {
        Self {
            offer_timeout: Duration::from_secs(5),
            offer_attempts: 3,
            unserved_timeout: Duration::from_secs(45),
            undelivered_after: Duration::from_secs(30 * 60),
            link_grace: Duration::from_secs(10),
            decline_pause_min: Duration::from_millis(250),
            decline_pause_max: Duration::from_secs(5),
            thread_queue_limit: 8,
            live_run_limit: 100_000,
            quality_tolerance: Some(3),
            ticket_lifetime: Duration::from_secs(60),
            ticket_limit: 10_000,
            thread_inbox_bytes: 4 << 20,
            inbox_bytes: 256 << 20,
            hot_events: 256,
            hot_unread_events: 8192,
            hot_bytes: 1 << 20,
            completion_unread_bytes: 4 << 20,
            unread_bytes: 64 << 20,
            unread_timeout: Duration::from_secs(30),
        }
    }
}

impl CoreSettings {
    pub(crate) fn keep(&self) -> Keep {
        Keep { events: self.hot_events, unread: self.hot_unread_events, bytes: self.hot_bytes }
    }

    /// The pause after the `declines`-th decline in a row (from 1): doubling, within the two bounds.
    pub(crate) fn decline_pause(&self, declines: u32) -> Duration {
        let doublings = declines.saturating_sub(1).min(16);
        self.decline_pause_min.saturating_mul(1 << doublings).min(self.decline_pause_max)
    }
}
