//! Tickets and nonces: the 128 random bits that make each opening of a link a new one.

use crate::hex::{self, HexProblem, hex_text};

/// What admits one key to one opening of a link; funduq issues it on a channel apart from the link.
///
/// Bound to the key it was issued for, spent by the handshake that answers it, and good for
/// [`TICKET_SECONDS`](crate::TICKET_SECONDS). 128 random bits, on a wire 32 lower-case hex characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket([u8; 16]);

/// The provider's own random part of a handshake, so that funduq's answer cannot be an old one.
///
/// 128 random bits, on a wire 32 lower-case hex characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nonce([u8; 16]);

macro_rules! random_bits {
    ($type:ident) => {
        impl $type {
            /// A fresh one from the operating system's random source.
            ///
            /// # Panics
            /// When the operating system has no random source: there is no safe way on from there.
            pub fn generate() -> Self {
                let mut bytes = [0u8; 16];
                getrandom::fill(&mut bytes).expect("the operating system has a random source");
                Self(bytes)
            }

            /// The one with these bytes: for fixed test data; use `generate` for anything that guards something.
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The 16 bytes.
            pub fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }

            fn parse_hex(text: &str) -> Result<Self, HexProblem> {
                hex::decode(text).map(Self)
            }
        }
    };
}

random_bits!(Ticket);
random_bits!(Nonce);

hex_text!(Ticket, HexProblem, "32", "a ticket, 32 lower-case hex characters");
hex_text!(Nonce, HexProblem, "32", "a nonce, 32 lower-case hex characters");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tickets_differ() {
        assert_ne!(Ticket::generate(), Ticket::generate());
    }

    #[test]
    fn a_nonce_is_read_and_written_as_lower_case_hex() {
        let text = "c9".repeat(16);
        let nonce: Nonce = text.parse().unwrap();
        assert_eq!(nonce.to_string(), text);
        assert!("C9".repeat(16).parse::<Nonce>().is_err());
        assert!("c9".repeat(15).parse::<Nonce>().is_err());
    }
}
