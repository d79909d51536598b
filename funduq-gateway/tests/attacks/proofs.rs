//! Proofs over a bound thread, used for something else than they were made for.

use funduq_contract::{ActorChain, Identity, Offer, RunId, ThreadId, cancel_payload};
use serde_json::{Value, json};

use crate::ground::Ground;
use crate::support::{Provider, TestGateway, chained, now, post, post_as, signed, started};

/// Has a run of a bound thread end with an ask.
async fn ask(provider: &mut Provider, offer: &Offer, id: &str) {
    let asking = json!({
        "type": "RUN_FINISHED", "threadId": offer.run.thread_id, "runId": offer.run.run_id,
        "outcome": {"type": "interrupt", "interrupts": [{"id": id, "reason": "confirmation", "message": "Go on?"}]},
    });
    for (number, event) in (1..).zip([started(offer), asking.to_string()]) {
        provider.event(&offer.run.run_id, number, &event).await;
    }
}

fn answer(thread: &ThreadId, head: &Identity, ask: &str, proof: Value) -> Value {
    let mut body = chained(thread.as_str(), "yes", &ActorChain::start(head), proof);
    body["messages"] = json!([]);
    body["resume"] = json!([{"interruptId": ask, "status": "resolved", "payload": {"ok": true}}]);
    body
}

#[tokio::test]
async fn a_resolution_for_an_earlier_ask_is_refused() {
    let gateway = TestGateway::start().await;
    let head = std::sync::Arc::new(Identity::generate());
    let mut provider = Provider::serving(&gateway, &["asking"]).await;
    let url = gateway.agui(&provider.agent("asking"));
    let send = |body: Value| {
        let (head, url) = (head.clone(), url.clone());
        tokio::spawn(async move { post_as(&head, &url, &body).await })
    };
    let first = send(chained("new", "go", &ActorChain::start(&head), json!({})));
    let offer = provider.accept().await;
    let (thread, task) = (offer.run.thread_id.clone(), offer.run.run_id.clone());
    ask(&mut provider, &offer, "ask-1").await;
    assert_eq!(first.await.unwrap().last_event(), "RUN_FINISHED");

    // Answered with a proof that is good for this pause.
    let proof = json!({"resolution": {"signature": head.sign_resolution(&task, ["ask-1"])}});
    let second = send(answer(&thread, &head, "ask-1", proof.clone()));
    let offer = provider.accept().await;
    ask(&mut provider, &offer, "ask-2").await;
    assert_eq!(second.await.unwrap().last_event(), "RUN_FINISHED");

    // The next pause has another ask, and neither the old proof nor none answers it.
    for proof in [proof, json!({})] {
        let heard = send(answer(&thread, &head, "ask-2", proof)).await.unwrap();
        assert_eq!(heard.refusal(), (403, "invalid_resolution".to_owned()));
    }
    let proof = json!({"resolution": {"signature": head.sign_resolution(&task, ["ask-2"])}});
    let third = send(answer(&thread, &head, "ask-2", proof));
    let offer = provider.accept().await;
    provider.play(&offer, &[]).await;
    assert_eq!(third.await.unwrap().last_event(), "RUN_FINISHED");
    gateway.stop().await;
}

#[tokio::test]
async fn a_cancel_replayed_after_61_seconds_is_refused() {
    let ground = Ground::new().await;
    let mut provider = Provider::serving(&ground, &["slow"]).await;
    let (agui, agent) = (ground.agui(&provider.agent("slow")), provider.agent("slow"));
    let a2a = format!("{}/a2a/{}/{}", ground.url(), agent.provider, agent.name);
    let body = chained("new", "go", &ActorChain::start(&ground.victim), json!({})).to_string();
    let fields = signed(&ground.victim, &agui, &body);
    let running = tokio::spawn(async move { post(&agui, &body, &fields).await });
    let offer = provider.accept().await;
    let run = offer.run.run_id.clone();

    let cancel = |by: &Identity, at: i64, run: &RunId| json!({"timestamp": at, "signature": by.sign(&cancel_payload(run, at))});
    let refused = [
        ("stale", cancel(&ground.victim, now() - 61, &run)),
        ("of a stranger", cancel(&ground.attacker, now(), &run)),
        ("for another run", cancel(&ground.victim, now(), &RunId::new("another").unwrap())),
        ("missing", Value::Null),
    ];
    for (what, proof) in refused {
        let mut params = json!({"id": run});
        if !proof.is_null() {
            params["metadata"] = json!({"cancel": proof});
        }
        let heard = cancel_task(&a2a, params).await;
        assert_eq!(
            (heard["error"]["code"].as_i64(), &heard["error"]["data"][0]["reason"]),
            (Some(-32055), &json!("INVALID_CANCEL")),
            "{what}: {heard}"
        );
    }
    // The run went on all the while, and a fresh one of the head's stops it.
    let fresh = json!({"id": run, "metadata": {"cancel": cancel(&ground.victim, now(), &run)}});
    let answer = tokio::spawn({
        let a2a = a2a.clone();
        async move { cancel_task(&a2a, fresh).await }
    });
    assert!(matches!(provider.hear().await, funduq_contract::DownFrame::Cancel(_)));
    provider.play(&offer, &[]).await;
    assert!(answer.await.unwrap().get("error").is_none());
    assert_eq!(running.await.unwrap().last_event(), "RUN_FINISHED");
    ground.ends_unharmed().await;
}

async fn cancel_task(url: &str, params: Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "CancelTask", "params": params}).to_string();
    post(url, &call, &vec![("a2a-version", "1.0".to_owned())]).await.json()
}
