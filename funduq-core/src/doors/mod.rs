//! The doors: what callers say, in their protocol's own words, turned into runs.
//!
//! [`caller`] reads the bag and judges authority for every door; [`open`] writes the run; [`agui`] and [`a2a`] speak
//! their protocols as objects. No door writes a byte to a socket.

pub(crate) mod a2a;
pub(crate) mod agui;
pub(crate) mod authority;
pub(crate) mod caller;
pub(crate) mod kyok;
pub(crate) mod open;
pub(crate) mod place;

pub use kyok::TokenSecret;
