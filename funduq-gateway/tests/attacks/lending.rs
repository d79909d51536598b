//! A lent model, spent by somebody whom it was not lent to.

use crate::ground::Ground;
use crate::lender::Lender;
use crate::spender::{Spender, code, now, request};

#[tokio::test]
async fn a_kyok_token_of_another_run_spends_nothing() {
    let ground = Ground::new().await;
    let mut lender = Lender::online(&ground).await;
    let victim = Spender::begin(&ground, &lender.offering()).await;
    let thief = Spender::begin(&ground, &lender.offering()).await;
    let (body, at) = (request(true), now());
    let refused = async |request: reqwest::RequestBuilder, word: &str| {
        assert_eq!(code(request.send().await.unwrap()).await, (401, word.to_owned()));
    };
    // The token that was stolen, under the signature of the thief's own key.
    let own = victim.sign(&thief.provider.identity, at, &body);
    refused(victim.signed(at, own, &body), "invalid_signature").await;
    // A signature of the victim's over its own token, under the thief's.
    let theirs = victim.sign(&victim.provider.identity, at, &body);
    refused(thief.signed(at, theirs, &body), "invalid_signature").await;
    // The claims of one token with the seal of another.
    let parts = |token: &str| {
        token.split_once('.').map(|(claims, seal)| (claims.to_owned(), seal.to_owned())).unwrap()
    };
    let mut spliced = thief;
    spliced.token = format!("{}.{}", parts(&victim.token).0, parts(&spliced.token).1);
    let signature = spliced.sign(&spliced.provider.identity, at, &body);
    refused(spliced.signed(at, signature, &body), "invalid_token").await;
    assert!(lender.is_idle(), "nothing of it reached the lender");

    // The victim spends as before, until its run is over.
    let (answer, ()) = tokio::join!(victim.call(&body), async { lender.asked().await.end() });
    assert_eq!(answer.status(), 200);
    let signature = victim.sign(&victim.provider.identity, at, &body);
    let late = victim.signed(at, signature, &body);
    victim.finish().await;
    assert_eq!(code(late.send().await.unwrap()).await, (403, "run_not_live".to_owned()));
    drop(spliced);
    lender.stop(&ground).await;
    ground.ends_unharmed().await;
}
