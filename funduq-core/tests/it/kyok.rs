//! Keep your own key: the grant, the call, the answer over the link that its request went to.

use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use funduq_contract::{
    AgentAddress, CancelCompletion, Chunk, Complete, CompletionEnd, CompletionFailed, Connect, ConnectOk,
    ConnectedLlmProvider, FunduqPort, FunduqProps, Identity, LinkClosed, LinkGone, LinkId, LlmPort,
    LlmRegistration, Nonce, PortError, PublicKey, RunId, Signature, Ticket, Verdict, WrongFunduq,
};
use funduq_core::{AguiStream, Change, CompletionStream, KyokCall, KyokError};
use serde_json::json;

use crate::bench::{Bench, FINISHED, identity, input_with_bag, on_every_store, types};

pub(crate) struct Lender {
    identity: Identity,
    asked: Mutex<Vec<Complete>>,
    pub(crate) cancelled: Mutex<Vec<CancelCompletion>>,
}

impl Lender {
    pub(crate) fn last(&self) -> Complete {
        self.asked.lock().unwrap().last().unwrap().clone()
    }
}

#[async_trait]
impl ConnectedLlmProvider for Lender {
    fn public_key(&self) -> PublicKey {
        self.identity.public_key()
    }
    fn complete(&self, complete: Complete) -> Result<(), LinkGone> {
        self.asked.lock().unwrap().push(complete);
        Ok(())
    }
    fn cancel_completion(&self, cancel: CancelCompletion) -> Result<(), LinkGone> {
        self.cancelled.lock().unwrap().push(cancel);
        Ok(())
    }
    fn closed(&self, _: LinkClosed) {}
    async fn sign_connect(&self, key: Option<PublicKey>, ticket: Ticket, nonce: Nonce) -> Option<Signature> {
        Some(self.identity.sign_connect(key.as_ref(), &ticket, &nonce))
    }
    async fn confirm_connect(&self, _: &ConnectOk) -> Result<(), WrongFunduq> {
        Ok(())
    }
}

const BODY: &[u8] = br#"{"model":"any", "messages":[{"role":"user","content":"hi"}],"stream":true,"x":1.0}"#;

pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

pub(crate) async fn lend(bench: &Bench) -> (Arc<Lender>, LinkId) {
    let lender =
        Arc::new(Lender { identity: identity(7), asked: Mutex::default(), cancelled: Mutex::default() });
    let ticket = bench.funduq.issue_ticket(&lender.public_key());
    let here = bench.funduq.public_key();
    let connect = Connect::sign(&lender.identity, here.as_ref(), ticket, Nonce::generate(), None);
    let (link, ok) = bench.funduq.open_llm(lender.clone(), connect.clone()).await.unwrap();
    assert_eq!(ok.confirm(&here.unwrap(), &connect.ticket, &connect.provider_nonce), Ok(()));
    let offering = LlmRegistration { names: vec!["gpt".parse().unwrap()], metadata: None };
    bench.funduq.register_llm(link, offering).await.unwrap();
    (lender, link)
}

/// A run that its caller bound to `gpt`, with its token.
pub(crate) struct Bound {
    stream: AguiStream,
    run: RunId,
    token: String,
    pub(crate) agent: Identity,
    agent_link: LinkId,
    address: AgentAddress,
}

/// One that is accepted.
pub(crate) async fn bound(bench: &Bench) -> Bound {
    let bound = offered(bench).await;
    bench.funduq.answer(bound.agent_link, &bound.run, 1, Verdict::Accepted).await.unwrap();
    bound
}

/// One that waits for its verdict.
async fn offered(bench: &Bench) -> Bound {
    let (provider, agent_link, address) = bench.serving(None).await;
    let kyok = json!({"llmProvider": {"providerKey": identity(7).public_key(), "name": "gpt"}, "context": {"budget": 5}});
    let input = input_with_bag("t", "x", json!({"kyok": kyok}));
    let stream = bench.funduq.agui().run(&address, input, None).await.unwrap();
    let delivered = provider.offer().await.run;
    let props = delivered.input.forwarded_props.as_ref().unwrap().as_object().unwrap();
    assert!(props.get("kyok").is_some(), "the opt-in stays in the bag, as sent");
    let token = FunduqProps::read(props).unwrap().kyok.unwrap().token;
    let run = delivered.run_id;
    Bound { stream, run, token, agent: provider.identity_twin(), agent_link, address }
}

impl Bound {
    pub(crate) async fn call(
        &self,
        bench: &Bench,
        signer: &Identity,
        at: i64,
    ) -> Result<CompletionStream, KyokError> {
        let signature = signer.sign_kyok_call(&self.token, at, BODY);
        let call = KyokCall { bearer: &self.token, timestamp: at, signature, body: BODY };
        bench.funduq.kyok().complete(call).await
    }
}

#[test]
fn a_call_reaches_the_lender_whole_and_its_chunks_come_back_as_they_came() {
    on_every_store(|bench| async move {
        let mut changes = bench.funduq.on_change();
        let (lender, link) = lend(&bench).await;
        assert_eq!(changes.recv().await.unwrap(), Change::LlmRoster { provider: lender.public_key() });
        let bound = bound(&bench).await;
        let mut answer = bound.call(&bench, &bound.agent, now()).await.unwrap();
        assert!(answer.is_streaming());
        let completion = lender.last().completion;
        assert_eq!(completion.agent, bound.address);
        assert_eq!((completion.run_id, completion.llm_name.as_str()), (bound.run.clone(), "gpt"));
        assert_eq!(completion.context.unwrap().get(), r#"{"budget":5}"#);
        assert!(
            serde_json::to_string(&completion.body).unwrap().contains(r#""x":1.0"#),
            "the body as it came"
        );
        let id = completion.completion_id;
        let chunk = serde_json::from_str(r#"{ "choices" : [] , "n": 1e2 }"#).unwrap();
        bench.funduq.chunk(link, Chunk { completion_id: id.clone(), chunk }).await.unwrap();
        bench.funduq.end(link, CompletionEnd { completion_id: id.clone() }).await.unwrap();
        assert_eq!(answer.next().await.unwrap().unwrap().get(), r#"{ "choices" : [] , "n": 1e2 }"#);
        assert_eq!(answer.next().await.unwrap(), None);
        assert_eq!(bench.funduq.llm_quality(&lender.public_key()).completed, 1);
        let late = bench.funduq.end(link, CompletionEnd { completion_id: id }).await;
        assert!(matches!(late, Err(PortError::Invalid(_))));
    });
}

#[test]
fn only_the_agent_of_the_live_run_spends_and_only_with_a_fresh_signature() {
    on_every_store(|bench| async move {
        lend(&bench).await;
        let mut bound = bound(&bench).await;
        let at = now();
        assert_eq!(bound.call(&bench, &identity(3), at).await.unwrap_err(), KyokError::BadSignature);
        assert_eq!(bound.call(&bench, &bound.agent, at - 61).await.unwrap_err(), KyokError::Stale);
        let signature = bound.agent.sign_kyok_call(&bound.token, at, BODY);
        let tampered =
            KyokCall { bearer: &bound.token, timestamp: at, signature, body: br#"{"messages":[]}"# };
        assert_eq!(bench.funduq.kyok().complete(tampered).await.unwrap_err(), KyokError::BadSignature);
        let forged = KyokCall { bearer: "abc.def", timestamp: at, signature, body: BODY };
        assert_eq!(bench.funduq.kyok().complete(forged).await.unwrap_err(), KyokError::InvalidToken);
        let bad = b"[]";
        let signature = bound.agent.sign_kyok_call(&bound.token, at, bad);
        let call = KyokCall { bearer: &bound.token, timestamp: at, signature, body: bad };
        assert!(matches!(bench.funduq.kyok().complete(call).await, Err(KyokError::InvalidBody(_))));
        assert_eq!(bench.funduq.kyok().offering_of(&bound.token).await.unwrap().name.as_str(), "gpt");
        bench.report(bound.agent_link, &bound.run, 1, FINISHED).await;
        assert_eq!(types(&mut bound.stream).await, ["RUN_FINISHED"]);
        assert_eq!(bound.call(&bench, &bound.agent, at).await.unwrap_err(), KyokError::RunNotLive);
    });
}

#[test]
fn a_call_that_overtakes_its_verdict_waits_for_it() {
    on_every_store(|bench| async move {
        let (lender, _) = lend(&bench).await;
        let bound = offered(&bench).await;
        let (called, ()) = tokio::join!(bound.call(&bench, &bound.agent, now()), async {
            tokio::task::yield_now().await;
            assert!(lender.asked.lock().unwrap().is_empty());
            bench.funduq.answer(bound.agent_link, &bound.run, 1, Verdict::Accepted).await.unwrap();
        });
        called.unwrap();
        // One whose verdict does not come is no run of this agent's.
        let refused = offered(&bench).await;
        let verdict = Verdict::Refused { reason: "no".into() };
        let (called, answered) = tokio::join!(
            refused.call(&bench, &refused.agent, now()),
            bench.funduq.answer(refused.agent_link, &refused.run, 1, verdict)
        );
        answered.unwrap();
        assert_eq!(called.unwrap_err(), KyokError::RunNotLive);
    });
}

#[test]
fn the_token_dies_when_a_cancel_is_asked() {
    on_every_store(|bench| async move {
        lend(&bench).await;
        let bound = bound(&bench).await;
        bound.call(&bench, &bound.agent, now()).await.unwrap();
        bench.funduq.cancel_run(&bound.address, &bound.run, Default::default()).await.unwrap();
        assert_eq!(bound.call(&bench, &bound.agent, now()).await.unwrap_err(), KyokError::RunNotLive);
    });
}

#[test]
fn a_refusal_is_relayed_intact_and_a_lost_link_is_never_passed_off_as_whole() {
    on_every_store(|bench| async move {
        let (lender, link) = lend(&bench).await;
        let bound = bound(&bench).await;
        let mut refused = bound.call(&bench, &bound.agent, now()).await.unwrap();
        let id = lender.last().completion.completion_id;
        let words: funduq_agui::RawObject =
            serde_json::from_value(json!({"code": "budget", "left": 0})).unwrap();
        let failed = CompletionFailed { completion_id: id, error: words.clone(), refused: true };
        bench.funduq.failed(link, failed).await.unwrap();
        assert_eq!(refused.next().await.unwrap_err(), KyokError::Refused(words));
        let mut cut = bound.call(&bench, &bound.agent, now()).await.unwrap();
        let id = lender.last().completion.completion_id;
        let chunk = Chunk { completion_id: id.clone(), chunk: serde_json::from_str("{}").unwrap() };
        bench.funduq.chunk(link, chunk.clone()).await.unwrap();
        let (_, replacement) = lend(&bench).await;
        assert_eq!(bench.funduq.chunk(link, chunk.clone()).await, Err(PortError::LinkClosed));
        assert!(matches!(bench.funduq.chunk(replacement, chunk).await, Err(PortError::Invalid(_))));
        assert!(cut.next().await.unwrap().is_some());
        assert_eq!(cut.next().await.unwrap_err(), KyokError::Disconnected);
        let quality = bench.funduq.llm_quality(&lender.public_key());
        assert_eq!((quality.refused, quality.failed), (1, 1));
    });
}

#[test]
fn an_agent_that_goes_away_stops_the_provider() {
    on_every_store(|bench| async move {
        let (lender, _) = lend(&bench).await;
        let bound = bound(&bench).await;
        let answer = bound.call(&bench, &bound.agent, now()).await.unwrap();
        drop(answer);
        let id = lender.last().completion.completion_id;
        assert_eq!(*lender.cancelled.lock().unwrap(), [CancelCompletion { completion_id: id }]);
    });
}

#[test]
fn a_binding_names_an_offering_and_not_a_connection() {
    on_every_store(|bench| async move {
        let (lender, link) = lend(&bench).await;
        bench.funduq.detach_llm_provider(&lender.public_key(), link);
        // Registered once, and offline right now: the run is opened, and the call says what is missing.
        let bound = bound(&bench).await;
        let missing = bound.call(&bench, &bound.agent, now()).await.unwrap_err();
        assert!(matches!(missing, KyokError::NotAttached(_)));
        lend(&bench).await;
        bound.call(&bench, &bound.agent, now()).await.unwrap();
    });
}
