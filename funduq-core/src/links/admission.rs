//! Tickets: each names the key it admits, works once, and lives for a minute.
//!
//! Pure: `now` is passed in. The name is matched before the ticket is destroyed, so that a stranger who holds a leaked
//! ticket can neither use it nor burn it.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use funduq_contract::{PublicKey, Ticket};

/// Why a ticket opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TicketRefusal {
    /// Never issued, or used up.
    Unknown,
    /// Issued too long ago.
    Expired,
    /// Issued to another key.
    ForAnotherKey,
}

/// The tickets that are out.
#[derive(Debug)]
pub(crate) struct Admission {
    lifetime: Duration,
    limit: usize,
    tickets: HashMap<Ticket, (PublicKey, Duration)>,
    /// In the order of issue, so that what is oldest goes first.
    order: VecDeque<Ticket>,
}

impl Admission {
    pub(crate) fn new(lifetime: Duration, limit: usize) -> Self {
        Self { lifetime, limit: limit.max(1), tickets: HashMap::new(), order: VecDeque::new() }
    }

    /// Issues a ticket to a key: the decision that it may serve here.
    pub(crate) fn issue(&mut self, now: Duration, key: PublicKey) -> Ticket {
        // An expired ticket is kept for one more lifetime, so that whoever brings it hears that it expired.
        while let Some(oldest) = self.order.front() {
            let stale = match self.tickets.get(oldest) {
                Some((_, issued)) => *issued + self.lifetime * 2 < now || self.tickets.len() >= self.limit,
                None => true,
            };
            if !stale {
                break;
            }
            if let Some(oldest) = self.order.pop_front() {
                self.tickets.remove(&oldest);
            }
        }
        let ticket = Ticket::generate();
        self.tickets.insert(ticket, (key, now));
        self.order.push_back(ticket);
        ticket
    }

    /// Whether the ticket would open a link for this key. Changes nothing.
    pub(crate) fn check(&self, now: Duration, key: &PublicKey, ticket: &Ticket) -> Result<(), TicketRefusal> {
        let (named, issued) = self.tickets.get(ticket).ok_or(TicketRefusal::Unknown)?;
        if named != key {
            return Err(TicketRefusal::ForAnotherKey);
        }
        if now > *issued + self.lifetime { Err(TicketRefusal::Expired) } else { Ok(()) }
    }

    /// Uses a ticket up for the key that it names: of two that come at once, one gets it.
    pub(crate) fn redeem(
        &mut self,
        now: Duration,
        key: &PublicKey,
        ticket: &Ticket,
    ) -> Result<(), TicketRefusal> {
        self.check(now, key, ticket)?;
        self.tickets.remove(ticket);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use funduq_contract::Identity;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn key(seed: u8) -> PublicKey {
        Identity::from_seed(&[seed; 32]).public_key()
    }

    #[test]
    fn a_ticket_works_once() {
        let mut admission = Admission::new(MINUTE, 10);
        let ticket = admission.issue(Duration::ZERO, key(1));
        assert_eq!(admission.redeem(MINUTE, &key(1), &ticket), Ok(()));
        assert_eq!(admission.redeem(MINUTE, &key(1), &ticket), Err(TicketRefusal::Unknown));
    }

    #[test]
    fn a_stranger_can_neither_use_nor_burn_it() {
        let mut admission = Admission::new(MINUTE, 10);
        let ticket = admission.issue(Duration::ZERO, key(1));
        assert_eq!(admission.redeem(Duration::ZERO, &key(2), &ticket), Err(TicketRefusal::ForAnotherKey));
        assert_eq!(admission.redeem(Duration::ZERO, &key(1), &ticket), Ok(()));
    }

    #[test]
    fn it_expires_after_its_lifetime_and_says_so() {
        let mut admission = Admission::new(MINUTE, 10);
        let ticket = admission.issue(Duration::ZERO, key(1));
        let late = MINUTE + Duration::from_millis(1);
        assert_eq!(admission.redeem(late, &key(1), &ticket), Err(TicketRefusal::Expired));
    }

    #[test]
    fn a_flood_of_tickets_pushes_out_the_oldest_and_grows_no_further() {
        let mut admission = Admission::new(MINUTE, 3);
        let tickets: Vec<_> = (0..5).map(|_| admission.issue(Duration::ZERO, key(1))).collect();
        assert_eq!(admission.tickets.len(), 3);
        assert_eq!(admission.redeem(Duration::ZERO, &key(1), &tickets[1]), Err(TicketRefusal::Unknown));
        assert_eq!(admission.redeem(Duration::ZERO, &key(1), &tickets[2]), Ok(()));
    }
}
