//! The desk of one provider key: how many runs it has room for, who waits for a place, and its faults.
//!
//! Pure: the shell holds it under a lock and passes on the [`Notice`]s that it returns.

use std::collections::{BTreeSet, HashMap, VecDeque};

use funduq_contract::{AgentName, LinkId, PublicKey, ThreadId};

use super::thread::{Asking, Fault, Slot};

/// Something that a waiting thread must be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) thread: ThreadId,
    pub(crate) slot: Slot,
}

/// How often a key was found at each kind of fault since funduq started. Counting is not judging: at the tolerance of
/// the settings the key's names are withdrawn until it registers again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quality {
    /// Declined although funduq believed that it had room.
    pub misdeclared: u32,
    /// Left while holding a run, past the grace.
    pub abandoned: u32,
    /// Accepted a run that has not ended long after.
    pub undelivered: u32,
    /// Let an offer lapse.
    pub unanswered: u32,
}

impl Quality {
    fn counter(&mut self, fault: Fault) -> &mut u32 {
        match fault {
            Fault::Misdeclared => &mut self.misdeclared,
            Fault::Abandoned => &mut self.abandoned,
            Fault::Undelivered => &mut self.undelivered,
            Fault::Unanswered => &mut self.unanswered,
        }
    }
}

#[derive(Debug)]
struct Waiter {
    thread: ThreadId,
    agent: AgentName,
    asking: Asking,
}

#[derive(Debug, Default)]
struct KeyDesk {
    link: Option<LinkId>,
    names: BTreeSet<AgentName>,
    /// `None`: no limit.
    capacity: Option<u32>,
    /// Places taken by offers and claims. They stay taken over a reconnection.
    used: u32,
    /// Those that ask ahead come first.
    waiting: VecDeque<Waiter>,
    /// For ever.
    quality: Quality,
    /// Since the key last registered: what the tolerance looks at.
    recent: Quality,
}

impl KeyDesk {
    fn has_room(&self) -> bool {
        self.capacity.is_none_or(|capacity| self.used < capacity)
    }

    fn state_for(&self, agent: &AgentName) -> Slot {
        match self.link {
            Some(link) if self.names.contains(agent) => {
                if self.has_room() {
                    Slot::Granted { link }
                } else {
                    Slot::Full
                }
            }
            _ => Slot::Unserved,
        }
    }

    /// Gives out what room there is, in the order of asking.
    fn grant(&mut self) -> Vec<Notice> {
        let mut notices = Vec::new();
        let mut at = 0;
        while at < self.waiting.len() {
            let waiter = &self.waiting[at];
            let slot = self.state_for(&waiter.agent);
            if slot == Slot::Full {
                break;
            }
            if waiter.asking == Asking::AfterChange || !matches!(slot, Slot::Granted { .. }) {
                at += 1;
                continue;
            }
            if let Some(waiter) = self.waiting.remove(at) {
                self.used += 1;
                notices.push(Notice { thread: waiter.thread, slot });
            }
        }
        notices
    }

    /// Something changed at this key: those who had been declined may be granted again.
    fn changed(&mut self) -> Vec<Notice> {
        for waiter in &mut self.waiting {
            if waiter.asking == Asking::AfterChange {
                waiter.asking = Asking::InTurn;
            }
        }
        self.grant()
    }

    /// Tells every waiting thread how things stand, after granting what can be granted.
    fn roster_changed(&mut self) -> Vec<Notice> {
        let mut notices = self.changed();
        let standing = self.waiting.iter().map(|waiter| Notice {
            thread: waiter.thread.clone(),
            slot: match self.state_for(&waiter.agent) {
                Slot::Unserved => Slot::Unserved,
                Slot::Granted { .. } | Slot::Full => Slot::Full,
            },
        });
        notices.extend(standing.collect::<Vec<_>>());
        notices
    }
}

/// The desks of all keys.
#[derive(Debug, Default)]
pub(crate) struct Desks {
    keys: HashMap<PublicKey, KeyDesk>,
}

impl Desks {
    /// A thread asks for a place. Unless it is granted, the thread waits and will be told.
    pub(crate) fn ask(
        &mut self,
        key: PublicKey,
        thread: &ThreadId,
        agent: &AgentName,
        asking: Asking,
    ) -> Slot {
        let desk = self.keys.entry(key).or_default();
        desk.waiting.retain(|waiter| waiter.thread != *thread);
        let slot = desk.state_for(agent);
        let comes_before = |waiter: &Waiter| match (asking, waiter.asking) {
            (_, Asking::AfterChange) | (Asking::Ahead, Asking::InTurn) => false,
            (_, Asking::Ahead | Asking::InTurn) => true,
        };
        let queue_ahead =
            desk.waiting.iter().any(|waiter| comes_before(waiter) && desk.names.contains(&waiter.agent));
        if matches!(slot, Slot::Granted { .. }) && asking != Asking::AfterChange && !queue_ahead {
            desk.used += 1;
            return slot;
        }
        let waiter = Waiter { thread: thread.clone(), agent: agent.clone(), asking };
        let at = match asking {
            Asking::Ahead => desk.waiting.iter().take_while(|other| other.asking == Asking::Ahead).count(),
            Asking::InTurn | Asking::AfterChange => desk.waiting.len(),
        };
        desk.waiting.insert(at, waiter);
        if slot == Slot::Unserved { Slot::Unserved } else { Slot::Full }
    }

    /// A thread waits no more.
    pub(crate) fn forget(&mut self, key: &PublicKey, thread: &ThreadId) {
        if let Some(desk) = self.keys.get_mut(key) {
            desk.waiting.retain(|waiter| waiter.thread != *thread);
        }
    }

    /// A place is free again.
    pub(crate) fn release(&mut self, key: &PublicKey) -> Vec<Notice> {
        let Some(desk) = self.keys.get_mut(key) else { return Vec::new() };
        debug_assert!(desk.used > 0, "a place was given back twice");
        desk.used = desk.used.saturating_sub(1);
        desk.changed()
    }

    /// The key publishes what its open link serves from now on.
    pub(crate) fn registered(
        &mut self,
        key: PublicKey,
        link: LinkId,
        capacity: Option<u32>,
        names: BTreeSet<AgentName>,
    ) -> Vec<Notice> {
        let desk = self.keys.entry(key).or_default();
        desk.link = Some(link);
        desk.capacity = capacity;
        desk.names = names;
        desk.recent = Quality::default();
        desk.roster_changed()
    }

    /// The key serves nothing from now on.
    pub(crate) fn withdrawn(&mut self, key: &PublicKey) -> Vec<Notice> {
        let Some(desk) = self.keys.get_mut(key) else { return Vec::new() };
        desk.link = None;
        desk.names.clear();
        desk.roster_changed()
    }

    /// Counts a fault; `true` when the tolerance is reached and the key's names must go.
    pub(crate) fn count(&mut self, key: PublicKey, fault: Fault, tolerance: Option<u32>) -> bool {
        let desk = self.keys.entry(key).or_default();
        *desk.quality.counter(fault) += 1;
        let recent = desk.recent.counter(fault);
        *recent += 1;
        tolerance.is_some_and(|limit| *recent >= limit)
    }

    /// The faults of a key since funduq started.
    pub(crate) fn quality(&self, key: &PublicKey) -> Quality {
        self.keys.get(key).map(|desk| desk.quality).unwrap_or_default()
    }

    /// How many places of a key are taken.
    pub(crate) fn used(&self, key: &PublicKey) -> u32 {
        self.keys.get(key).map_or(0, |desk| desk.used)
    }
}

#[cfg(test)]
mod tests {
    use funduq_contract::Identity;

    use super::*;

    fn key() -> PublicKey {
        Identity::from_seed(&[7; 32]).public_key()
    }

    fn name(text: &str) -> AgentName {
        text.parse().unwrap()
    }

    fn thread(text: &str) -> ThreadId {
        text.parse().unwrap()
    }

    fn serving(capacity: Option<u32>) -> Desks {
        let mut desks = Desks::default();
        desks.registered(key(), LinkId::new(1), capacity, [name("echo")].into());
        desks
    }

    #[test]
    fn an_agent_that_nobody_serves_is_unserved_until_its_key_registers_it() {
        let mut desks = Desks::default();
        assert_eq!(desks.ask(key(), &thread("t"), &name("echo"), Asking::InTurn), Slot::Unserved);
        let notices = desks.registered(key(), LinkId::new(1), None, [name("echo")].into());
        assert_eq!(notices, [Notice { thread: thread("t"), slot: Slot::Granted { link: LinkId::new(1) } }]);
    }

    #[test]
    fn places_go_out_in_the_order_of_asking() {
        let mut desks = serving(Some(1));
        assert!(matches!(
            desks.ask(key(), &thread("a"), &name("echo"), Asking::InTurn),
            Slot::Granted { .. }
        ));
        assert_eq!(desks.ask(key(), &thread("b"), &name("echo"), Asking::InTurn), Slot::Full);
        assert_eq!(desks.ask(key(), &thread("c"), &name("echo"), Asking::InTurn), Slot::Full);
        let told: Vec<_> = desks.release(&key()).into_iter().map(|notice| notice.thread).collect();
        assert_eq!(told, [thread("b")]);
        let told: Vec<_> = desks.release(&key()).into_iter().map(|notice| notice.thread).collect();
        assert_eq!(told, [thread("c")]);
    }

    #[test]
    fn a_thread_that_was_declined_waits_for_a_change() {
        let mut desks = serving(None);
        assert_eq!(desks.ask(key(), &thread("a"), &name("echo"), Asking::AfterChange), Slot::Full);
        assert!(matches!(
            desks.ask(key(), &thread("b"), &name("echo"), Asking::InTurn),
            Slot::Granted { .. }
        ));
        let told: Vec<_> = desks.release(&key()).into_iter().map(|notice| notice.thread).collect();
        assert_eq!(told, [thread("a")]);
    }

    #[test]
    fn a_thread_whose_offer_was_taken_back_goes_before_those_that_had_none() {
        let mut desks = serving(Some(1));
        assert!(matches!(
            desks.ask(key(), &thread("a"), &name("echo"), Asking::InTurn),
            Slot::Granted { .. }
        ));
        assert_eq!(desks.ask(key(), &thread("b"), &name("echo"), Asking::InTurn), Slot::Full);
        desks.withdrawn(&key());
        assert_eq!(desks.ask(key(), &thread("a"), &name("echo"), Asking::Ahead), Slot::Unserved);
        desks.release(&key());
        let notices = desks.registered(key(), LinkId::new(2), Some(1), [name("echo")].into());
        let granted = Slot::Granted { link: LinkId::new(2) };
        let expected =
            [("a", granted), ("b", Slot::Full)].map(|(name, slot)| Notice { thread: thread(name), slot });
        assert_eq!(notices, expected);
    }

    #[test]
    fn its_place_goes_to_nobody_else_when_the_link_is_back_before_it_has_heard_of_the_loss() {
        let mut desks = serving(Some(1));
        assert!(matches!(
            desks.ask(key(), &thread("a"), &name("echo"), Asking::InTurn),
            Slot::Granted { .. }
        ));
        assert_eq!(desks.ask(key(), &thread("b"), &name("echo"), Asking::InTurn), Slot::Full);
        desks.withdrawn(&key());
        desks.registered(key(), LinkId::new(2), Some(1), [name("echo")].into());
        assert_eq!(desks.ask(key(), &thread("a"), &name("echo"), Asking::Ahead), Slot::Full);
        let told: Vec<_> = desks.release(&key()).into_iter().map(|notice| notice.thread).collect();
        assert_eq!(told, [thread("a")]);
    }

    #[test]
    fn waiting_threads_hear_that_their_agent_left_the_roster() {
        let mut desks = serving(Some(0));
        assert_eq!(desks.ask(key(), &thread("a"), &name("echo"), Asking::InTurn), Slot::Full);
        let notices = desks.registered(key(), LinkId::new(1), Some(0), BTreeSet::new());
        assert_eq!(notices, [Notice { thread: thread("a"), slot: Slot::Unserved }]);
    }

    #[test]
    fn the_tolerance_counts_from_the_last_registration() {
        let mut desks = serving(None);
        assert!(!desks.count(key(), Fault::Unanswered, Some(2)));
        desks.registered(key(), LinkId::new(2), None, [name("echo")].into());
        assert!(!desks.count(key(), Fault::Unanswered, Some(2)));
        assert!(desks.count(key(), Fault::Unanswered, Some(2)));
        assert_eq!(desks.quality(&key()).unanswered, 3);
        assert!(!desks.count(key(), Fault::Misdeclared, None));
    }
}
