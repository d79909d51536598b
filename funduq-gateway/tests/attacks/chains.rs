//! Chains that are forged, reordered, spliced, branched, or presented by somebody else than their last hop.

use funduq_contract::{ActorChain, FunduqProps, Identity};
use serde_json::json;

use crate::ground::Ground;
use crate::support::{Provider, Raw, TestGateway, chained, post, post_as, signed};

/// Presents a chain, with a signature that is good, so that the chain alone decides.
async fn presented(ground: &Ground, presenter: &Identity, chain: &ActorChain) -> (u16, String) {
    post_as(presenter, &ground.agui_url(), &chained("new", "hello", chain, json!({}))).await.refusal()
}

fn invalid_chain() -> (u16, String) {
    (403, "invalid_chain".to_owned())
}

fn tokens(chain: &ActorChain) -> Vec<String> {
    chain.tokens().to_vec()
}

#[tokio::test]
async fn a_forged_chain_is_refused() {
    let ground = Ground::new().await;
    // The victim's hop with a signature of the attacker's, and claims that name the victim under the attacker's signature.
    let (victims, attackers) = (ActorChain::start(&ground.victim), ActorChain::start(&ground.attacker));
    let parts =
        |chain: &ActorChain| -> Vec<String> { chain.tokens()[0].split('.').map(str::to_owned).collect() };
    let (theirs, own) = (parts(&victims), parts(&attackers));
    let forged = ActorChain::from_tokens(vec![format!("{}.{}.{}", theirs[0], theirs[1], own[2])]);
    let extended = forged.extend(&ground.attacker).unwrap();
    assert_eq!(presented(&ground, &ground.victim, &forged).await, invalid_chain());
    assert_eq!(presented(&ground, &ground.attacker, &extended).await, invalid_chain());
    // "No signature needed", says the header.
    let none = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{}.", theirs[1]);
    let unsigned = ActorChain::from_tokens(vec![none]);
    assert_eq!(presented(&ground, &ground.victim, &unsigned).await, invalid_chain());
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_reordered_chain_is_refused() {
    let ground = Ground::new().await;
    let chain = ActorChain::start(&ground.victim).extend(&ground.attacker).unwrap();
    let mut turned = tokens(&chain);
    turned.reverse();
    let turned = ActorChain::from_tokens(turned);
    for presenter in [&ground.victim, &ground.attacker] {
        assert_eq!(presented(&ground, presenter, &turned).await, invalid_chain());
    }
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_spliced_chain_is_refused() {
    let ground = Ground::new().await;
    let (head, other) = (ActorChain::start(&ground.victim), ActorChain::start(&Identity::generate()));
    // The attacker's hop was made behind another head.
    let theirs = other.extend(&ground.attacker).unwrap();
    let spliced = ActorChain::from_tokens(vec![tokens(&head)[0].clone(), tokens(&theirs)[1].clone()]);
    assert_eq!(presented(&ground, &ground.attacker, &spliced).await, invalid_chain());
    // And one whose beginning was cut off.
    let headless = ActorChain::from_tokens(tokens(&theirs)[1..].to_vec());
    assert_eq!(presented(&ground, &ground.attacker, &headless).await, invalid_chain());
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_branched_chain_is_refused() {
    let ground = Ground::new().await;
    let head = ActorChain::start(&ground.victim);
    let (one, other) = (head.extend(&Identity::generate()).unwrap(), head.extend(&ground.attacker).unwrap());
    // Both branches are good; one behind the other is not.
    let mut branched = tokens(&one);
    branched.push(tokens(&other)[1].clone());
    assert_eq!(
        presented(&ground, &ground.attacker, &ActorChain::from_tokens(branched)).await,
        invalid_chain()
    );
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_chain_presented_by_its_receiver_is_refused() {
    let gateway = TestGateway::configured(|config| config.demo = true).await;
    let ground = gateway.agui(gateway.demo_agent().unwrap());
    let caller = Identity::generate();
    let mut receiver = Provider::serving(&gateway, &["receiver"]).await;
    let url = gateway.agui(&receiver.agent("receiver"));
    let sent = ActorChain::start(&caller);
    let body = chained("new", "hello", &sent, json!({}));
    let asked = {
        let (caller, url) = (caller, url);
        tokio::spawn(async move { post_as(&caller, &url, &body).await })
    };
    let offer = receiver.accept().await;
    let props = offer.run.input.forwarded_props.as_ref().and_then(|props| props.as_object()).unwrap();
    let relayed = FunduqProps::read(props).unwrap().actor_chain.unwrap();
    // What it was given, as it was given, at somebody else's door: by itself, and by nobody in particular.
    for chain in [&sent, &relayed] {
        let body = chained("new", "hello", chain, json!({})).to_string();
        let fields = signed(&receiver.identity, &ground, &body);
        assert_eq!(post(&ground, &body, &fields).await.refusal(), invalid_chain());
        let heard = post(&ground, &body, &Vec::new()).await;
        assert_eq!(heard.refusal(), (401, "presenter_required".to_owned()));
    }
    // With a hop of its own it may hand it on.
    let own = relayed.extend(&receiver.identity).unwrap();
    let heard = post_as(&receiver.identity, &ground, &chained("new", "hello", &own, json!({}))).await;
    assert_eq!(heard.last_event(), "RUN_FINISHED");
    receiver.play(&offer, &[]).await;
    assert_eq!(asked.await.unwrap().last_event(), "RUN_FINISHED");
    let other = Raw::post(&ground, &crate::support::input("hello")).await;
    assert_eq!(other.status, 200);
    drop(other);
    gateway.stop().await;
}
