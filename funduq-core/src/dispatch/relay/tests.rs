//! Notices to threads that are gone.

use async_trait::async_trait;
use funduq_contract::{
    Cancel, ConnectOk, ConnectedProvider, Identity, LinkClosed, LinkGone, Nonce, Offer, Registration,
    Signature, Ticket, WrongFunduq,
};

use super::*;
use crate::dispatch::thread::Asking;
use crate::record::MemoryStore;

struct Nobody(PublicKey);

#[async_trait]
impl ConnectedProvider for Nobody {
    fn public_key(&self) -> PublicKey {
        self.0
    }
    fn concurrency(&self) -> Option<u32> {
        Some(1)
    }
    fn deliver(&self, _: Offer) -> Result<(), LinkGone> {
        Ok(())
    }
    fn cancel(&self, _: Cancel) -> Result<(), LinkGone> {
        Ok(())
    }
    fn closed(&self, _: LinkClosed) {}
    async fn sign_connect(&self, _: Option<PublicKey>, _: Ticket, _: Nonce) -> Option<Signature> {
        None
    }
    async fn confirm_connect(&self, _: &ConnectOk) -> Result<(), WrongFunduq> {
        Ok(())
    }
}

#[test]
fn a_place_for_a_thread_that_is_gone_is_free_again() {
    let key = Identity::from_seed(&[1; 32]).public_key();
    let record = Record::new(Arc::new(MemoryStore::new()));
    let dispatch = Dispatch::new(CoreSettings::default(), record, TokenSecret::generate());
    let agent = AgentAddress::new(key, "echo".parse().unwrap());
    let (link, ..) = dispatch.links.opened(Arc::new(Nobody(key)));
    dispatch.links.register(link, vec![Registration::new(agent.name.clone())]).unwrap();
    for thread in ["a", "b", "c"] {
        dispatch.links.ask_slot(&agent, &thread.parse().unwrap(), Asking::InTurn);
    }
    assert_eq!(dispatch.links.places_taken(&key), 1);
    // Nobody owns any of these threads, as if each had just gone.
    dispatch.notify(&key, dispatch.links.release_slot(&key));
    assert_eq!(dispatch.links.places_taken(&key), 0);
}
