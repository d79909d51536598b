//! The provider's half of an opening: prove the key to one funduq, and check that it was that one that answered.

use funduq_contract::{
    Connect, ConnectOk, Nonce, PublicKey, Ticket, WrongFunduq, funduq_connect_payload, verify_signature,
};

use crate::identity::ProviderIdentity;

/// One opening under way.
#[derive(Debug, Clone)]
pub struct Handshake {
    ticket: Ticket,
    nonce: Nonce,
    funduq_key: Option<PublicKey>,
}

impl Handshake {
    /// Signs an opening with this ticket for the funduq with this key, `None` for one without an identity, and
    /// declares how many runs the provider takes on at once, `None` for no limit.
    pub fn begin(
        identity: &ProviderIdentity,
        funduq_key: Option<PublicKey>,
        ticket: Ticket,
        concurrency: Option<u32>,
    ) -> (Self, Connect) {
        let nonce = Nonce::generate();
        let connect = Connect::sign(identity, funduq_key.as_ref(), ticket, nonce, concurrency);
        (Self { ticket, nonce, funduq_key }, connect)
    }

    /// Checks the answer. Nothing is to be published before this.
    ///
    /// # Errors
    /// [`WrongFunduq`] when the one who answered has not proved the key that the opening was signed for.
    pub fn confirm(&self, ok: &ConnectOk) -> Result<(), WrongFunduq> {
        match (&self.funduq_key, ok.funduq_public_key, ok.answer) {
            (Some(pinned), _, _) => ok.confirm(pinned, &self.ticket, &self.nonce),
            // Nobody is pinned and nobody claims to be anybody.
            (None, None, _) => Ok(()),
            (None, Some(claimed), answer) => {
                let bad = WrongFunduq::BadAnswer { pinned: claimed.fingerprint() };
                let answer = answer.ok_or(bad)?;
                let payload = funduq_connect_payload(&self.ticket, &self.nonce);
                verify_signature(&claimed, &answer, &payload).map_err(|_| bad)
            }
        }
    }
}
