//! The memory of signatures that were taken: each is taken once, and a flood of them harms nobody who signs when it sends.
//!
//! Whoever can make a key can make valid signatures, so the memory is bounded, and what happens when it is full must not be a
//! weapon. Refusing new ones would shut everybody out; forgetting old ones would let those be replayed. So when it is full it
//! forgets the oldest second as a whole and from then on refuses everything made in that second or before: the window in which
//! a signature is good grows shorter than a minute, for everybody alike, and never shorter than [`FLOOR_DISTANCE`]. Those that
//! are dated ahead would be the last to be forgotten, so they may fill half of the memory and no more.
//!
//! A new process takes none that was made in the second in which it began or before; those dated ahead that an earlier one
//! took are in a note, see [`Ahead`].

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;

use funduq_contract::FRESHNESS_SECONDS;
use funduq_contract::http_signature::SignatureId;

use super::ahead::{Ahead, Trace};

/// How many signatures are remembered: 4,000 a second over the whole minute, in some 10 MB at the most.
pub(super) const CAPACITY: usize = 1 << 18;
/// How many of the last seconds are never forgotten; signatures of these seconds are refused where there is no room.
const FLOOR_DISTANCE: i64 = 2;

/// Why a signature that holds is not taken all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// It was taken already.
    Replayed,
    /// It is of a time of which nothing is remembered any more, or nothing was yet.
    Forgotten,
    /// There are more of this very moment, or of times to come, than can be remembered; or one dated ahead cannot be noted.
    Full,
}

/// The memory.
#[derive(Debug)]
pub(super) struct Replays {
    /// The signatures of each second.
    seconds: BTreeMap<i64, HashSet<Trace>>,
    held: usize,
    capacity: usize,
    /// Nothing that was made in this second or before is taken.
    floor: i64,
    /// What the next process has to know.
    ahead: Option<Ahead>,
}

impl Replays {
    /// An empty memory of the first process on a folder, which began at `now`.
    pub(super) fn new(capacity: usize, now: i64) -> Self {
        Self { seconds: BTreeMap::new(), held: 0, capacity, floor: now - 1, ahead: None }
    }

    /// The memory of a process that began at `now`, with the note of the one before it.
    pub(super) fn open(capacity: usize, now: i64, note: &Path) -> io::Result<Self> {
        let mut replays = Self::new(capacity, now);
        let (ahead, noted) = Ahead::open(note)?;
        replays.ahead = Some(ahead);
        if let Some(noted) = noted {
            // The one before may have taken what was made in this very second.
            replays.floor = now;
            for (second, trace) in noted.into_iter().filter(|(second, _)| *second > now) {
                replays.held += usize::from(replays.seconds.entry(second).or_default().insert(trace));
            }
        }
        Ok(replays)
    }

    /// Takes a signature that was made at `created`, which is fresh at `now`.
    pub(super) fn take(&mut self, id: &SignatureId, created: i64, now: i64) -> Result<(), NotTaken> {
        self.forget_before(now - FRESHNESS_SECONDS);
        let mut trace = Trace::default();
        trace.copy_from_slice(&id.as_bytes()[..16]);
        if created <= self.floor {
            return Err(NotTaken::Forgotten);
        }
        if self.seconds.get(&created).is_some_and(|second| second.contains(&trace)) {
            return Err(NotTaken::Replayed);
        }
        if created > now && self.ahead_of(now) >= self.capacity / 2 {
            return Err(NotTaken::Full);
        }
        while self.held >= self.capacity {
            let oldest = self.seconds.keys().next().copied().unwrap_or(created);
            if oldest > now - FLOOR_DISTANCE {
                return Err(NotTaken::Full);
            }
            self.forget_before(oldest + 1);
            if created <= self.floor {
                return Err(NotTaken::Forgotten);
            }
        }
        if created > now {
            self.note(created, &trace, now).map_err(|error| {
                tracing::error!(%error, "a signature that is dated ahead cannot be noted, and is not taken");
                NotTaken::Full
            })?;
        }
        self.seconds.entry(created).or_default().insert(trace);
        self.held += 1;
        Ok(())
    }

    /// Notes one for the next process.
    fn note(&mut self, created: i64, trace: &Trace, now: i64) -> io::Result<()> {
        let Some(ahead) = &mut self.ahead else { return Ok(()) };
        if ahead.count() >= self.capacity {
            let still = self.seconds.range(now + 1..);
            ahead.replace(still.flat_map(|(second, traces)| traces.iter().map(|trace| (*second, trace))))?;
        }
        ahead.add(created, trace, now)
    }

    /// How many are dated after `now`.
    fn ahead_of(&self, now: i64) -> usize {
        self.seconds.range(now + 1..).map(|(_, second)| second.len()).sum()
    }

    /// Forgets what was made before a second, for good: a clock that goes back brings nothing back.
    fn forget_before(&mut self, second: i64) {
        self.floor = self.floor.max(second - 1);
        while let Some(oldest) = self.seconds.first_entry().filter(|oldest| *oldest.key() < second) {
            self.held -= oldest.remove().len();
        }
    }
}

#[cfg(test)]
mod tests {
    use funduq_contract::http_signature::{RequestSignature, RequestTarget};
    use funduq_contract::{Identity, Nonce};

    use super::*;

    const START: i64 = 1_000_000;

    fn id() -> SignatureId {
        let target = RequestTarget::new("GET", "http", "h", "/", None);
        let headers = Identity::from_seed(&[1; 32]).sign_request(&target, b"", 0, &Nonce::generate());
        RequestSignature::read(&|name| headers.get(name).map(str::to_owned)).unwrap().unwrap().id()
    }

    fn fill(replays: &mut Replays, many: usize, created: i64, now: i64) -> Option<NotTaken> {
        (0..many).find_map(|_| replays.take(&id(), created, now).err())
    }

    #[test]
    fn a_signature_is_taken_once() {
        let (mut replays, id) = (Replays::new(8, START), id());
        assert_eq!(replays.take(&id, START + 5, START + 5), Ok(()));
        assert_eq!(replays.take(&id, START + 5, START + 65), Err(NotTaken::Replayed));
        assert_eq!(replays.take(&id, START + 5, START + 66), Err(NotTaken::Forgotten));
    }

    #[test]
    fn a_clock_that_goes_back_brings_no_signature_back() {
        let (mut replays, used) = (Replays::new(8, START), id());
        assert_eq!(replays.take(&used, START + 5, START + 5), Ok(()));
        assert_eq!(replays.take(&id(), START + 90, START + 90), Ok(()));
        assert_eq!(replays.take(&used, START + 5, START + 5), Err(NotTaken::Forgotten));
    }

    #[test]
    fn a_new_process_takes_nothing_from_before_it_began() {
        let mut replays = Replays::new(8, START);
        assert_eq!(replays.take(&id(), START - 1, START), Err(NotTaken::Forgotten));
        assert_eq!(replays.take(&id(), START, START), Ok(()));
    }

    #[test]
    fn what_was_taken_before_a_restart_is_not_taken_after_it_however_it_is_dated() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("note");
        let open = |now| Replays::open(8, now, &note).unwrap();
        let mut first = open(START);
        let taken: Vec<_> = [0, 1, 2, 40, 60].map(|ahead| (id(), START + ahead)).into();
        for (id, created) in taken.iter().rev() {
            assert_eq!(first.take(id, *created, START.max(created - 60)), Ok(()), "{created}");
        }
        // In the same second, in the next, and when each of them is of the present.
        for restart in [0, 1, 2, 20] {
            let mut next = open(START + restart);
            for (id, created) in &taken {
                let now = (START + restart).max(*created);
                assert!(matches!(
                    next.take(id, *created, now),
                    Err(NotTaken::Forgotten | NotTaken::Replayed)
                ));
            }
            let now = START + restart + 1;
            assert_eq!(next.take(&id(), now, now), Ok(()), "one of the next second is as good as ever");
        }
    }

    #[test]
    fn a_note_holds_what_is_still_ahead_and_stays_small() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("note");
        let mut replays = Replays::open(8, START, &note).unwrap();
        let mut last = Vec::new();
        for second in START..START + 100 {
            let one = id();
            assert_eq!(replays.take(&one, second + 2, second), Ok(()));
            last.push(one);
        }
        assert!(std::fs::metadata(&note).unwrap().len() <= 9 * 24);
        let mut next = Replays::open(8, START + 99, &note).unwrap();
        for (one, created) in last.iter().rev().zip([START + 101, START + 100]) {
            assert_eq!(next.take(one, created, created), Err(NotTaken::Replayed));
        }
    }

    #[test]
    fn a_flood_shortens_the_window_and_shuts_out_nobody_who_signs_when_it_sends() {
        let mut replays = Replays::new(100, START - 60);
        let victim = id();
        assert_eq!(replays.take(&victim, START, START), Ok(()));
        for second in START..START + 30 {
            assert_eq!(fill(&mut replays, 40, second, second), None);
            // An honest caller, in the midst of it.
            assert_eq!(replays.take(&id(), second, second), Ok(()));
            assert!(replays.held <= 100);
        }
        // What was forgotten is refused, not taken a second time.
        assert_eq!(replays.take(&victim, START, START + 30), Err(NotTaken::Forgotten));
    }

    #[test]
    fn those_dated_ahead_leave_room_for_those_of_now() {
        let mut replays = Replays::new(100, START);
        assert_eq!(fill(&mut replays, 200, START + 60, START), Some(NotTaken::Full));
        for second in START..START + 59 {
            assert_eq!(fill(&mut replays, 20, second, second), None);
        }
    }

    #[test]
    fn what_cannot_be_remembered_is_not_taken() {
        let mut replays = Replays::new(100, START);
        assert_eq!(fill(&mut replays, 101, START, START), Some(NotTaken::Full));
        assert_eq!(replays.held, 100);
        assert_eq!(replays.take(&id(), START + 2, START + 2), Ok(()));
    }
}
