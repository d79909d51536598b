//! Who may spend what, and the status of each way in which a call comes to nothing.

use funduq_contract::Identity;
use funduq_provider_sdk::llm::CompletionError;
use serde_json::json;

use crate::lender::{Lender, object};
use crate::spender::{Spender, code, error, now, opting_in, request};
use crate::support::{Raw, TestGateway, client, input};

#[tokio::test]
async fn a_call_without_its_proofs_says_which_is_missing() {
    let gateway = TestGateway::start().await;
    let url = gateway.url_of("/kyok/v1/chat/completions");
    let bare = client().post(&url).body(request(true)).send().await.unwrap();
    assert_eq!(bare.headers()["www-authenticate"], "Bearer realm=\"funduq\"");
    assert_eq!(code(bare).await, (401, "missing_token".into()));
    let unsigned = client().post(&url).bearer_auth("a.b").body(request(true)).send().await.unwrap();
    assert_eq!(code(unsigned).await, (401, "missing_signature".into()));
    let basic = client().post(&url).basic_auth("a", Some("b")).body(request(true)).send().await.unwrap();
    assert_eq!(code(basic).await, (401, "missing_token".into()));
    gateway.stop().await;
}

#[tokio::test]
async fn only_the_agents_own_key_spends_and_only_what_it_signed_just_now() {
    let gateway = TestGateway::start().await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let other = Spender::begin(&gateway, &lender.offering()).await;
    let body = request(true);
    let (agent, at) = (&spender.provider.identity, now());
    let answer = async |request: reqwest::RequestBuilder| code(request.send().await.unwrap()).await;
    let signed = spender.sign(agent, at, &body);

    let strange = spender.signed(at, spender.sign(&Identity::generate(), at, &body), &body);
    assert_eq!(answer(strange).await, (401, "invalid_signature".into()), "a stranger's signature");
    let anothers = spender.signed(at, spender.sign(&other.provider.identity, at, &body), &body);
    assert_eq!(answer(anothers).await, (401, "invalid_signature".into()), "another agent's signature");
    let moved = other.signed(at, signed, &body);
    assert_eq!(answer(moved).await, (401, "invalid_signature".into()), "another run's token");
    let changed = spender.signed(at, signed, &body.replace("hi", "ho"));
    assert_eq!(answer(changed).await, (401, "invalid_signature".into()), "a changed body");
    let restamped = spender.signed(at + 1, signed, &body);
    assert_eq!(answer(restamped).await, (401, "invalid_signature".into()), "a changed time");
    for old in [at - 70, at + 70] {
        let stale = spender.signed(old, spender.sign(agent, old, &body), &body);
        assert_eq!(answer(stale).await, (401, "stale_timestamp".into()), "a time {}", old - at);
    }
    let twice = spender.request(&body).bearer_auth(&spender.token);
    assert_eq!(answer(twice).await, (401, "missing_token".into()), "two tokens");
    let mut spender = spender;
    spender.token.replace_range(..1, "x");
    assert_eq!(code(spender.call(&body).await).await, (401, "invalid_token".into()), "a token of nobody");
    assert!(lender.is_idle(), "none of them reached the provider");
    drop((spender, other));
    gateway.stop().await;
}

#[tokio::test]
async fn a_key_that_spends_too_fast_is_told_when_to_come_back() {
    let gateway = TestGateway::configured(|config| {
        config.key_request_rate = "1/h".parse().unwrap();
        config.key_request_burst = 1;
    })
    .await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let other = Spender::begin(&gateway, &lender.offering()).await;
    let body = request(false);
    // What proves nothing takes nothing from the key that it names.
    let at = now();
    for _ in 0..2 {
        let forged = spender.signed(at, spender.sign(&Identity::generate(), at, &body), &body);
        assert_eq!(code(forged.send().await.unwrap()).await, (401, "invalid_signature".into()));
    }
    let answered = async |spender: &Spender, lender: &mut Lender| {
        let answering = async {
            let mut asked = lender.asked().await;
            asked.word("hi");
            asked.end();
        };
        let (answer, ()) = tokio::join!(spender.call(&body), answering);
        assert_eq!(answer.status(), 200);
    };
    answered(&spender, &mut lender).await;
    let refused = spender.call(&body).await;
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(code(refused).await, (429, "too_many_requests".into()));
    assert!(lender.is_idle(), "it did not reach the provider");
    answered(&other, &mut lender).await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_token_dies_when_its_run_settles_and_when_a_cancel_is_asked() {
    let gateway = TestGateway::start().await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let late = spender.request(&request(false));
    let models = client().get(gateway.url_of("/kyok/v1/models")).bearer_auth(&spender.token);
    spender.finish().await;
    assert_eq!(code(late.send().await.unwrap()).await, (403, "run_not_live".into()));
    assert_eq!(code(models.send().await.unwrap()).await, (403, "run_not_live".into()));

    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let agent = spender.provider.agent("spender");
    gateway.funduq().cancel_run(&agent, &spender.offer.run.run_id, Default::default()).await.unwrap();
    assert_eq!(code(spender.call(&request(false)).await).await, (403, "run_not_live".into()));
    assert!(lender.is_idle());
    drop(spender);
    gateway.stop().await;
}

#[tokio::test]
async fn a_body_that_is_no_chat_completion_request_is_refused() {
    let gateway = TestGateway::configured(|config| config.body_limit = "1KiB".parse().unwrap()).await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    for body in
        ["", "[]", "nonsense", r#"{"model":"m"}"#, r#"{"messages":"hi"}"#, r#"{"messages":[],"stream":1}"#]
    {
        assert_eq!(code(spender.call(body).await).await, (400, "invalid_body".into()), "{body}");
    }
    let large = json!({"messages": [], "x": "x".repeat(2000)}).to_string();
    assert_eq!(code(spender.call(&large).await).await, (413, "body_too_large".into()));
    assert!(lender.is_idle());
    drop(spender);
    gateway.stop().await;
}

#[tokio::test]
async fn a_binding_names_an_offering_and_not_a_connection() {
    let gateway = TestGateway::start().await;
    let lender = Lender::online(&gateway).await;
    let (identity, offering) = (lender.identity.clone(), lender.offering());
    lender.stop(&gateway).await;
    let spender = Spender::begin(&gateway, &offering).await;
    assert_eq!(code(spender.call(&request(false)).await).await, (503, "provider_offline".into()));
    let mut lender = Lender::online_as(&gateway, identity).await;
    let body = request(false);
    let (answer, ()) = tokio::join!(spender.call(&body), async {
        let mut asked = lender.asked().await;
        asked.word("back");
        asked.end();
    });
    assert_eq!(answer.status(), 200);
    drop(spender);
    gateway.stop().await;
}

#[tokio::test]
async fn an_offering_that_nobody_ever_registered_is_refused_at_the_door() {
    let gateway = TestGateway::start().await;
    let lender = Lender::online(&gateway).await;
    let provider = crate::support::Provider::serving(&gateway, &["spender"]).await;
    let mut offering = lender.offering();
    offering.name = "other".parse().unwrap();
    let mut refused = Raw::post(&gateway.agui(&provider.agent("spender")), &opting_in(&offering)).await;
    assert_eq!(refused.status, 400);
    let body = refused.json().await;
    assert_eq!(body["error"]["code"], "unknown_offering", "{body}");
    drop(provider);
    gateway.stop().await;
}

#[tokio::test]
async fn a_run_that_did_not_opt_in_has_no_grant() {
    let gateway = TestGateway::start().await;
    let _lender = Lender::online(&gateway).await;
    let spender = Spender::begin_with(&gateway, input("hello")).await;
    assert!(spender.offer.run.input.forwarded_props.is_none());
    drop(spender);
    gateway.stop().await;
}

#[tokio::test]
async fn what_the_provider_says_instead_of_an_answer_is_relayed_whole() {
    let gateway = TestGateway::start().await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let words = json!({"reason": "budget", "left": 0, "nested": {"a": [1, null]}});
    for stream in [false, true] {
        for (refusal, status) in [
            (CompletionError::refused(object(words.clone())), 403),
            (CompletionError::failed(object(words.clone())), 502),
        ] {
            let body = request(stream);
            let (answer, ()) = tokio::join!(spender.call(&body), async {
                lender.asked().await.fail(refusal);
            });
            assert_eq!(error(answer).await, (status, words.clone()), "stream: {stream}");
        }
    }
    let quality = gateway.funduq().llm_quality(&lender.identity.public_key());
    assert_eq!((quality.refused, quality.failed, quality.completed), (2, 2, 0));
    drop(spender);
    gateway.stop().await;
}
