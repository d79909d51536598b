//! The responsibility chain: presenters, binding at birth, membership, and the proofs over a bound thread.

use std::time::{SystemTime, UNIX_EPOCH};

use funduq_agui::RawObject;
use funduq_contract::{ActorChain, FunduqPort, FunduqProps, Identity, RunId, ThreadId, Verdict};
use funduq_core::{AguiStream, CancelAnswer, DoorError, InvalidChain, ProofProblem};
use serde_json::{Value, json};

use crate::bench::{Bench, funduq_identity, identity, input_with_bag, on_every_store, types};

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

async fn chained(
    bench: &Bench,
    agent: &funduq_contract::AgentAddress,
    thread: &str,
    chain: &ActorChain,
    presenter: Option<&Identity>,
) -> Result<AguiStream, DoorError> {
    let input = input_with_bag(thread, "x", json!({ "actorChain": chain }));
    bench.funduq.agui().run(agent, input, presenter.map(Identity::public_key)).await
}

fn bag(value: Value) -> RawObject {
    serde_json::from_value(value).unwrap()
}

#[test]
fn funduq_appends_one_dispatch_hop_to_each_chain_it_relays() {
    on_every_store(|bench| async move {
        let (provider, _, agent) = bench.serving(None).await;
        let caller = identity(5);
        let chain = ActorChain::start(&caller);
        let stream = chained(&bench, &agent, "t", &chain, Some(&caller)).await.unwrap();
        let input = provider.offer().await.run.input;
        let delivered = input.forwarded_props.as_ref().and_then(|props| props.as_object()).unwrap();
        let relayed = FunduqProps::read(delivered).unwrap().actor_chain.unwrap();
        let verified = relayed.verify().unwrap();
        assert_eq!(verified.head(), caller.public_key());
        assert_eq!(verified.last(), funduq_identity().public_key());
        assert_eq!(verified.hops()[1].dispatched_to.as_ref(), Some(&agent));
        // What the caller sent stays beside it, as sent.
        assert_eq!(delivered.get("actorChain").unwrap().get(), serde_json::to_string(&chain).unwrap());
        let run = bench.funduq.run(stream.run_id()).await.unwrap().unwrap();
        assert_eq!(run.chain, Some(relayed));
    });
}

#[test]
fn a_chain_without_a_presenter_is_presenter_required() {
    on_every_store(|bench| async move {
        let (_, _, agent) = bench.serving(None).await;
        let error = chained(&bench, &agent, "t", &ActorChain::start(&identity(5)), None).await.unwrap_err();
        assert_eq!(error, DoorError::PresenterRequired);
    });
}

#[test]
fn a_chain_is_presented_by_its_last_hop_and_by_nobody_else() {
    on_every_store(|bench| async move {
        let (_, _, agent) = bench.serving(None).await;
        let (caller, thief) = (identity(5), identity(6));
        let chain = ActorChain::start(&caller);
        let error = chained(&bench, &agent, "t", &chain, Some(&thief)).await.unwrap_err();
        let expected = InvalidChain::NotPresentedByItsLastHop {
            last: caller.public_key(),
            presenter: thief.public_key(),
        };
        assert_eq!(error, DoorError::InvalidChain(expected));
        let forged: ActorChain = serde_json::from_value(json!(["not.a.token"])).unwrap();
        let error = chained(&bench, &agent, "t", &forged, Some(&caller)).await.unwrap_err();
        assert!(matches!(error, DoorError::InvalidChain(InvalidChain::Chain(_))), "{error:?}");
    });
}

/// A bound thread: the head of its chain, and its id.
async fn bound(bench: &Bench, agent: &funduq_contract::AgentAddress, head: &Identity) -> (ThreadId, RunId) {
    let stream = chained(bench, agent, "t", &ActorChain::start(head), Some(head)).await.unwrap();
    (stream.thread_id().clone(), stream.run_id().clone())
}

#[test]
fn the_first_runs_chain_binds_the_thread_and_only_its_parties_write_to_it() {
    on_every_store(|bench| async move {
        let (provider, _, agent) = bench.serving(None).await;
        let (head, delegate) = (identity(5), identity(6));
        let (thread, _) = bound(&bench, &agent, &head).await;
        let parties = bench.funduq.parties_of(&thread).await.unwrap();
        assert_eq!(parties, [head.public_key(), agent.provider]);
        let refused = Err(DoorError::ThreadMembershipRequired(thread.clone()));
        let as_key = |key: Option<&Identity>| {
            let input = crate::bench::input(thread.as_str(), "y");
            let key = key.map(Identity::public_key);
            let (funduq, agent) = (bench.funduq.clone(), agent.clone());
            async move { funduq.agui().run(&agent, input, key).await.map(drop) }
        };
        assert_eq!(as_key(None).await, refused);
        assert_eq!(as_key(Some(&delegate)).await, refused);
        let own = ActorChain::start(&delegate);
        let error = chained(&bench, &agent, thread.as_str(), &own, Some(&delegate)).await.unwrap_err();
        assert_eq!(error, DoorError::ThreadMembershipRequired(thread.clone()));
        assert_eq!(as_key(Some(&head)).await, Ok(()));
        assert_eq!(as_key(Some(&provider.identity)).await, Ok(()));
        let under_head = ActorChain::start(&head).extend(&delegate).unwrap();
        chained(&bench, &agent, thread.as_str(), &under_head, Some(&delegate)).await.unwrap();
    });
}

#[test]
fn a_thread_opened_without_a_chain_stays_open_for_ever() {
    on_every_store(|bench| async move {
        let (_, _, agent) = bench.serving(None).await;
        let thread = bench.ask(&agent, "t", "x").await.unwrap().thread_id().clone();
        let late = identity(5);
        chained(&bench, &agent, thread.as_str(), &ActorChain::start(&late), Some(&late)).await.unwrap();
        bench.ask(&agent, thread.as_str(), "y").await.unwrap();
        assert!(bench.funduq.parties_of(&thread).await.unwrap().is_empty());
    });
}

#[test]
fn a_thread_minted_beforehand_is_bound_by_its_first_run() {
    on_every_store(|bench| async move {
        let (_, _, agent) = bench.serving(None).await;
        let thread = bench.funduq.agui().create_thread(&agent).await.unwrap();
        let head = identity(5);
        let stream =
            chained(&bench, &agent, thread.as_str(), &ActorChain::start(&head), Some(&head)).await.unwrap();
        assert_eq!(*stream.thread_id(), thread, "a client that starts from the id keeps it");
        let error = bench.ask(&agent, thread.as_str(), "y").await.unwrap_err();
        assert_eq!(error, DoorError::ThreadMembershipRequired(thread));
    });
}

#[test]
fn a_cancel_on_a_bound_thread_takes_a_fresh_signature_of_a_party() {
    on_every_store(|bench| async move {
        let (provider, _, agent) = bench.serving(None).await;
        let head = identity(5);
        let (_, run) = bound(&bench, &agent, &head).await;
        let at = now();
        let cancel = |value: Value| bench.funduq.cancel_run(&agent, &run, bag(value));
        let refused = |problem| Err(DoorError::InvalidCancel { run: run.clone(), problem });
        assert_eq!(cancel(json!({})).await, refused(ProofProblem::Missing));
        let by = |who: &Identity, signed: i64, said: i64| json!({"cancel": {"timestamp": said, "signature": who.sign_cancel(&run, signed)}});
        assert_eq!(cancel(by(&identity(6), at, at)).await, refused(ProofProblem::BadSignature));
        assert_eq!(cancel(by(&head, at - 61, at - 61)).await, refused(ProofProblem::Stale));
        assert_eq!(cancel(by(&head, at - 61, at)).await, refused(ProofProblem::BadSignature));
        assert_eq!(cancel(by(&head, at, at)).await, Ok(CancelAnswer::Settled));
        let run = bench.funduq.run(&run).await.unwrap().unwrap();
        assert_eq!(run.metadata.cancel_requested_by, Some(head.public_key()));
        let (_, second) = bound(&bench, &agent, &head).await;
        let signature = provider.identity.sign_cancel(&second, at);
        let proof = bag(json!({"cancel": {"timestamp": at, "signature": signature}}));
        assert_eq!(bench.funduq.cancel_run(&agent, &second, proof).await, Ok(CancelAnswer::Settled));
    });
}

#[test]
fn an_ask_on_a_bound_thread_is_answered_with_a_signature_over_that_very_ask() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let head = identity(5);
        let mut stream = chained(&bench, &agent, "t", &ActorChain::start(&head), Some(&head)).await.unwrap();
        let thread = stream.thread_id().clone();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        let asking = json!({
            "type": "RUN_FINISHED", "threadId": "t", "runId": "r",
            "outcome": {"type": "interrupt", "interrupts": [{"id": "ask-1", "reason": "confirmation"}]},
        });
        bench.report(link, &run, 1, &asking.to_string()).await;
        assert_eq!(types(&mut stream).await, ["RUN_FINISHED"]);
        let answer = |proof: Option<Value>| {
            let mut props = json!({});
            if let Some(proof) = proof {
                props["resolution"] = proof;
            }
            let input = json!({
                "threadId": thread.as_str(), "runId": "c", "messages": [], "forwardedProps": props,
                "resume": [{"interruptId": "ask-1", "status": "resolved"}],
            });
            let input = funduq_agui::RelayedInput::parse(input.to_string().as_bytes()).unwrap();
            let (funduq, agent, key) = (bench.funduq.clone(), agent.clone(), head.public_key());
            async move { funduq.agui().run(&agent, input, Some(key)).await }
        };
        let refused = |problem| DoorError::InvalidResolution { task: run.clone(), problem };
        assert_eq!(answer(None).await.unwrap_err(), refused(ProofProblem::Missing));
        let earlier = json!({"signature": head.sign_resolution(&run, ["ask-0"])});
        assert_eq!(answer(Some(earlier)).await.unwrap_err(), refused(ProofProblem::BadSignature));
        let strangers = json!({"signature": identity(6).sign_resolution(&run, ["ask-1"])});
        assert_eq!(answer(Some(strangers)).await.unwrap_err(), refused(ProofProblem::BadSignature));
        let good = json!({"signature": head.sign_resolution(&run, ["ask-1"])});
        let stream = answer(Some(good)).await.unwrap();
        let run = bench.funduq.run(stream.run_id()).await.unwrap().unwrap();
        assert_eq!(run.metadata.answered_by, Some(head.public_key()));
    });
}

#[test]
fn a_strangers_resume_learns_nothing_of_a_bound_thread() {
    on_every_store(|bench| async move {
        let (_, _, agent) = bench.serving(None).await;
        let (thread, _) = bound(&bench, &agent, &identity(5)).await;
        let input = json!({
            "threadId": thread.as_str(), "runId": "c", "messages": [],
            "resume": [{"interruptId": "any", "status": "resolved"}],
        });
        let input = funduq_agui::RelayedInput::parse(input.to_string().as_bytes()).unwrap();
        let error = bench.funduq.agui().run(&agent, input, None).await.unwrap_err();
        assert_eq!(error, DoorError::ThreadMembershipRequired(thread));
    });
}

#[test]
fn a_kyok_opt_in_to_an_offering_that_is_not_registered_is_refused() {
    on_every_store(|bench| async move {
        let (_, _, agent) = bench.serving(None).await;
        let key = identity(7).public_key();
        let props = json!({"kyok": {"llmProvider": {"providerKey": key, "name": "gpt"}}});
        let error = bench.funduq.agui().run(&agent, input_with_bag("t", "x", props), None).await.unwrap_err();
        assert_eq!(error, DoorError::UnknownOffering { provider: key, name: "gpt".parse().unwrap() });
    });
}
