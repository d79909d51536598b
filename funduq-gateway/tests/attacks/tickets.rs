//! Tickets and proofs of a link's opening, stolen or used again.

use funduq_contract::{ConnectRefusal, Identity, Ticket};

use crate::ground::Ground;
use crate::support::{Closed, Provider, ticket};

/// Opens with a ticket and this gateway's key, and has the refusal, after which the link is closed.
async fn refused(provider: &mut Provider, ground: &Ground, ticket: Ticket) -> ConnectRefusal {
    let refusal = provider.open(Some(&ground.public_key()), ticket).await.unwrap_err();
    assert_eq!(provider.closed().await, Closed { code: 4000, reason: refusal.code.as_str().to_owned() });
    refusal.code
}

#[tokio::test]
async fn a_replayed_ticket_opens_nothing() {
    let ground = Ground::new().await;
    let mut first = Provider::dial(&ground).await;
    let ticket = ticket(&ground, first.identity.public_key()).await;
    let ok = first.open(Some(&ground.public_key()), ticket).await.unwrap();
    assert_eq!(ok.funduq_public_key, Some(ground.public_key()));
    assert!(ok.held_runs.is_empty());

    let mut second = Provider::dial_as(&ground, first.identity).await;
    assert_eq!(refused(&mut second, &ground, ticket).await, ConnectRefusal::TicketUnknown);
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_ticket_for_another_key_opens_nothing_and_stays_good() {
    let ground = Ground::new().await;
    let mut owner = Provider::dial(&ground).await;
    let ticket = ticket(&ground, owner.identity.public_key()).await;
    let mut thief = Provider::dial(&ground).await;
    assert_eq!(refused(&mut thief, &ground, ticket).await, ConnectRefusal::TicketForAnotherKey);
    owner.open(Some(&ground.public_key()), ticket).await.unwrap();
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_proof_relayed_from_another_funduq_opens_nothing() {
    let ground = Ground::new().await;
    // The other funduq coaxed it out of the provider: it names that one, or none.
    let other = Identity::generate().public_key();
    let before = ground.funduq().agents().await.unwrap().len();
    for named in [Some(&other), None] {
        let mut provider = Provider::dial(&ground).await;
        let ticket = ticket(&ground, provider.identity.public_key()).await;
        let refusal = provider.open(named, ticket).await.unwrap_err();
        assert_eq!(refusal.code, ConnectRefusal::BadProof);
        assert_eq!(provider.closed().await, Closed { code: 4000, reason: "badProof".to_owned() });
    }
    assert_eq!(ground.funduq().agents().await.unwrap().len(), before);
    ground.ends_unharmed().await;
}
