//! An agent hands its run on to another agent: chain and presenter, over HTTP, from end to end.

use std::sync::Arc;

use funduq_contract::{ActorChain, AgentAddress, Identity};
use funduq_provider_sdk::http_signatures::HttpSignatures;
use funduq_provider_sdk::{AgentResult, ProviderIdentity, RunContext, ServedAgent, agent_fn, ws};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use serde_json::{Value, json};

use crate::support::{TestGateway, chained, client, post, post_as};

/// Sends the run's text and its chain, with a hop of its own, to the A2A address, and says what comes back.
async fn hand_on(run: RunContext, client: &ClientWithMiddleware, to: &str) -> AgentResult {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": run.user_text().unwrap_or_default()}]},
        "metadata": {"actorChain": run.extend_chain()?},
    }});
    let answer = client.post(to).header("a2a-version", "1.0").json(&call).send().await?;
    let answer: Value = answer.json().await?;
    run.events().text(&answer.to_string()).await?;
    Ok(())
}

/// Serves an agent that hands on, under a key and with a client.
async fn serve(
    gateway: &TestGateway,
    identity: &ProviderIdentity,
    client: ClientWithMiddleware,
    to: &AgentAddress,
) -> (ws::Link, AgentAddress) {
    let to = format!("{}/a2a/{}/{}", gateway.url(), to.provider, to.name);
    let shared = Arc::new((client, to));
    let agent = agent_fn(move |run: RunContext| {
        let shared = Arc::clone(&shared);
        async move { hand_on(run, &shared.0, &shared.1).await }
    });
    let agent = ServedAgent::new("delegate", agent).unwrap();
    let mut link = ws::connect(gateway.url(), identity.clone()).agent(agent).start().unwrap();
    assert!(link.online().await);
    (link, AgentAddress::new(identity.public_key(), "delegate".parse().unwrap()))
}

fn signing(identity: &ProviderIdentity) -> ClientWithMiddleware {
    ClientBuilder::new(client()).with(HttpSignatures::new(identity.clone())).build()
}

/// What the agent that was asked heard from the one that it handed on to.
async fn asked(gateway: &TestGateway, agent: &AgentAddress, caller: &Identity) -> Value {
    let body = chained("new", "hello", &ActorChain::start(caller), json!({}));
    let heard = post_as(caller, &gateway.agui(agent), &body).await;
    assert_eq!(heard.last_event(), "RUN_FINISHED");
    let events = crate::support::events(&heard.body);
    let texts = events.iter().filter_map(|(_, event)| event["delta"].as_str());
    serde_json::from_str(&texts.collect::<String>()).unwrap()
}

#[tokio::test]
async fn a_chain_is_handed_on_by_the_agent_that_signs_its_last_hop_and_the_request() {
    let gateway = TestGateway::configured(|config| config.demo = true).await;
    let echo = gateway.demo_agent().unwrap().clone();
    let (caller, delegate) = (Identity::generate(), ProviderIdentity::generate());
    let (link, agent) = serve(&gateway, &delegate, signing(&delegate), &echo).await;
    let answer = asked(&gateway, &agent, &caller).await;
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");

    // The record of the last run says through whose hands it went: caller, delegate, and funduq as witness of both steps.
    let run = answer["result"]["task"]["id"].as_str().unwrap();
    let recorded = gateway.read(&format!("/runs/{run}")).await;
    let chain: ActorChain = serde_json::from_value(recorded["actorChain"].clone()).unwrap();
    let hops: Vec<_> = chain.verify().unwrap().hops().iter().map(|hop| hop.key).collect();
    let funduq = gateway.public_key();
    assert_eq!(hops, [caller.public_key(), funduq, delegate.public_key(), funduq]);
    link.stop().await.unwrap();
    gateway.stop().await;
}

#[tokio::test]
async fn a_delegation_without_a_presenter_or_under_another_is_refused() {
    let gateway = TestGateway::configured(|config| config.demo = true).await;
    let echo = gateway.demo_agent().unwrap().clone();
    let caller = Identity::generate();
    for (client, code, reason) in [
        (ClientBuilder::new(client()).build(), -32051, "PRESENTER_REQUIRED"),
        (signing(&ProviderIdentity::generate()), -32052, "INVALID_CHAIN"),
    ] {
        let delegate = ProviderIdentity::generate();
        let (link, agent) = serve(&gateway, &delegate, client, &echo).await;
        let answer = asked(&gateway, &agent, &caller).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["error"]["data"][0]["reason"], reason);
        link.stop().await.unwrap();
    }
    // The same without an agent in between, by its HTTP status.
    let body = chained("new", "hello", &ActorChain::start(&caller), json!({}));
    let url = gateway.agui(&echo);
    assert_eq!(
        post(&url, &body.to_string(), &Vec::new()).await.refusal(),
        (401, "presenter_required".into())
    );
    let other = post_as(&Identity::generate(), &url, &body).await;
    assert_eq!(other.refusal(), (403, "invalid_chain".into()));
    gateway.stop().await;
}
