//! How many of something are held at once: by one peer, and in all.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Whom something is counted for: an IPv4 address, or the network of an IPv6 one, of which one subscriber has as many
/// addresses as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PeerKey(IpAddr);

impl From<IpAddr> for PeerKey {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => address.into(),
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        })
    }
}

/// Which of the two bounds was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    Peer,
    All,
}

/// What is held. The bounds are given with each request for more, as some are wider.
#[derive(Debug, Default)]
pub(crate) struct Held {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    /// Has no zeros, so it is as large as what is held.
    by_peer: HashMap<PeerKey, usize>,
}

impl Held {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        // Each change is complete before anything can panic.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.lock().all
    }

    /// One more, for as long as what is returned lives. Without a peer it counts in all only.
    pub(crate) fn take(
        self: &Arc<Self>,
        peer: Option<PeerKey>,
        per_peer: usize,
        in_all: usize,
    ) -> Result<Hold, Full> {
        let mut hold = self.nothing(peer);
        hold.grow(1, per_peer, in_all)?;
        Ok(hold)
    }

    /// Something that may grow, of which there is nothing yet.
    pub(crate) fn nothing(self: &Arc<Self>, peer: Option<PeerKey>) -> Hold {
        Hold { held: Arc::clone(self), peer, amount: 0 }
    }
}

/// Part of what is held.
#[derive(Debug)]
pub(crate) struct Hold {
    held: Arc<Held>,
    peer: Option<PeerKey>,
    amount: usize,
}

impl Hold {
    /// So much more, or nothing more.
    pub(crate) fn grow(&mut self, more: usize, per_peer: usize, in_all: usize) -> Result<(), Full> {
        let mut counts = self.held.lock();
        if counts.all.saturating_add(more) > in_all {
            return Err(Full::All);
        }
        if let Some(peer) = self.peer {
            let held = counts.by_peer.get(&peer).copied().unwrap_or_default();
            if held.saturating_add(more) > per_peer {
                return Err(Full::Peer);
            }
            if more > 0 {
                counts.by_peer.insert(peer, held + more);
            }
        }
        counts.all += more;
        self.amount += more;
        Ok(())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut counts = self.held.lock();
        counts.all -= self.amount;
        if let Some(peer) = self.peer
            && let Some(count) = counts.by_peer.get_mut(&peer)
        {
            *count -= self.amount;
            if *count == 0 {
                counts.by_peer.remove(&peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(address: &str) -> PeerKey {
        address.parse::<IpAddr>().unwrap().into()
    }

    #[test]
    fn each_peer_and_all_of_them_have_their_bound() {
        let held = Arc::new(Held::default());
        let (a, b) = (Some(key("192.0.2.1")), Some(key("192.0.2.2")));
        let first = held.take(a, 2, 3).unwrap();
        let _second = held.take(a, 2, 3).unwrap();
        assert_eq!(held.take(a, 2, 3).unwrap_err(), Full::Peer);
        let _third = held.take(b, 2, 3).unwrap();
        assert_eq!(held.take(b, 2, 3).unwrap_err(), Full::All);
        assert_eq!(held.take(None, 2, 3).unwrap_err(), Full::All);
        drop(first);
        drop(held.take(a, 2, 3).unwrap());
        drop((_second, _third));
        assert!(held.lock().by_peer.is_empty());
        assert_eq!(held.lock().all, 0);
    }

    #[test]
    fn what_grows_counts_for_as_much_as_it_is() {
        let held = Arc::new(Held::default());
        let (a, b) = (Some(key("192.0.2.1")), Some(key("192.0.2.2")));
        let (mut first, mut second, mut other) = (held.nothing(a), held.nothing(a), held.nothing(b));
        first.grow(60, 100, 150).unwrap();
        second.grow(40, 100, 150).unwrap();
        assert_eq!(second.grow(1, 100, 150), Err(Full::Peer));
        other.grow(50, 100, 150).unwrap();
        assert_eq!(other.grow(1, 100, 150), Err(Full::All));
        drop(first);
        second.grow(60, 100, 150).unwrap();
        drop((second, other));
        assert!(held.lock().by_peer.is_empty());
        assert_eq!(held.lock().all, 0);
    }

    #[test]
    fn a_subscriber_of_ipv6_is_one_peer() {
        assert_eq!(key("2001:db8:0:1::1"), key("2001:db8:0:1:ffff::2"));
        assert_ne!(key("2001:db8:0:1::1"), key("2001:db8:0:2::1"));
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
    }
}
