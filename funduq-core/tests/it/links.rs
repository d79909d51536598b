//! Links: tickets and handshake, the roster, replacement, the grace, and what a returning key finds.

use std::sync::Arc;
use std::time::Duration;

use funduq_contract::{
    AgentAddress, Connect, ConnectRefusal, ConnectedProvider, FunduqPort, LinkClosed, Nonce, PortError,
    Ticket, Verdict,
};
use funduq_core::{Change, DoorError, Funduq, MemoryStore, RunStatus};

use crate::bench::{Bench, FINISHED, funduq_identity, identity, json, on_every_store, rest, started, types};
use crate::scripted::{Heard, Scripted};

async fn refusal(bench: &Bench, provider: &Arc<Scripted>, connect: Connect) -> ConnectRefusal {
    let provider = Arc::clone(provider) as Arc<dyn ConnectedProvider>;
    bench.funduq.attach_provider(provider, connect).await.unwrap_err().code
}

#[test]
fn each_fault_of_an_opening_has_its_refusal_and_opens_nothing() {
    on_every_store(|bench| async move {
        let provider = Arc::new(Scripted::new(identity(1), None));
        let key = provider.public_key();
        let here = bench.funduq.public_key();
        let sign = |ticket| Connect::sign(&provider.identity, here.as_ref(), ticket, Nonce::generate(), None);
        let unknown = refusal(&bench, &provider, sign(Ticket::generate())).await;
        assert_eq!(unknown, ConnectRefusal::TicketUnknown);
        let others = bench.funduq.issue_ticket(&identity(2).public_key());
        assert_eq!(refusal(&bench, &provider, sign(others)).await, ConnectRefusal::TicketForAnotherKey);
        let late = bench.funduq.issue_ticket(&key);
        tokio::time::sleep(Duration::from_secs(61)).await;
        assert_eq!(refusal(&bench, &provider, sign(late)).await, ConnectRefusal::TicketExpired);
        let ticket = bench.funduq.issue_ticket(&key);
        let for_another_funduq = Connect::sign(
            &provider.identity,
            Some(&identity(8).public_key()),
            ticket,
            Nonce::generate(),
            None,
        );
        assert_eq!(refusal(&bench, &provider, for_another_funduq).await, ConnectRefusal::BadProof);
        // The bad proof has not burnt the ticket of the key that can sign.
        let connect = sign(ticket);
        let link = Arc::clone(&provider) as Arc<dyn ConnectedProvider>;
        let (_, ok) = bench.funduq.attach_provider(link, connect.clone()).await.unwrap();
        assert_eq!(ok.confirm(&here.unwrap(), &connect.ticket, &connect.provider_nonce), Ok(()));
        assert_eq!(refusal(&bench, &provider, connect).await, ConnectRefusal::TicketUnknown);
    });
}

#[test]
fn a_provider_that_doubts_this_funduq_never_appears_in_the_roster() {
    on_every_store(|bench| async move {
        let provider = Arc::new(Scripted::doubting(identity(1)));
        let ticket = bench.funduq.issue_ticket(&provider.public_key());
        let here = bench.funduq.public_key();
        let connect = Connect::sign(&provider.identity, here.as_ref(), ticket, Nonce::generate(), None);
        assert_eq!(refusal(&bench, &provider, connect).await, ConnectRefusal::BadProof);
        assert_eq!(bench.funduq.health().await.links, 0);
    });
}

#[test]
fn a_funduq_without_an_identity_answers_none() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let funduq = Funduq::new(Default::default(), None, Arc::new(MemoryStore::new()));
        funduq.start().await.unwrap();
        let provider = Arc::new(Scripted::new(identity(1), None));
        let ticket = funduq.issue_ticket(&provider.public_key());
        let connect = Connect::sign(&provider.identity, None, ticket, Nonce::generate(), None);
        let (_, ok) = funduq.attach_provider(provider, connect).await.unwrap();
        assert_eq!((ok.answer, ok.funduq_public_key), (None, None));
    });
}

#[test]
fn a_link_serves_exactly_the_names_it_last_published() {
    on_every_store(|bench| async move {
        let (_, link, agent) = bench.serving(None).await;
        bench.register(link, &["one", "two"]).await;
        let names = |funduq: &Funduq| {
            funduq.served().into_iter().map(|served| served.address.name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(&bench.funduq), ["one", "two"]);
        assert!(!bench.funduq.is_online(&agent));
        bench.register(link, &[]).await;
        assert!(names(&bench.funduq).is_empty());
        // They are offline and not forgotten.
        assert_eq!(bench.funduq.agents().await.unwrap().len(), 3);
        let twice = vec![funduq_contract::Registration::new("a".parse().unwrap()); 2];
        assert!(matches!(bench.funduq.register_agents(link, twice).await, Err(PortError::Invalid(_))));
    });
}

#[test]
fn an_agent_with_a_conversation_behind_it_is_not_deleted() {
    on_every_store(|bench| async move {
        let (_, link, agent) = bench.serving(None).await;
        bench.register(link, &["echo", "unused"]).await;
        bench.ask(&agent, "t", "x").await.unwrap();
        let in_use = bench.funduq.delete_agent(link, &agent.name).await;
        assert_eq!(in_use, Err(PortError::AgentInUse(agent.name.clone())));
        bench.funduq.delete_agent(link, &"unused".parse().unwrap()).await.unwrap();
        let again = bench.funduq.delete_agent(link, &"unused".parse().unwrap()).await;
        assert_eq!(again, Err(PortError::UnknownAgent("unused".parse().unwrap())));
        assert_eq!(bench.funduq.agents().await.unwrap().len(), 1);
    });
}

#[test]
fn the_cleanup_of_a_replaced_link_takes_nothing_down() {
    on_every_store(|bench| async move {
        let (old, old_link, agent) = bench.serving(None).await;
        let new = Arc::new(Scripted::new(identity(1), None));
        let new_link = bench.attach(&new).await;
        assert!(old.heard().contains(&Heard::Closed(LinkClosed::Replaced)));
        assert!(!bench.funduq.is_online(&agent), "nothing is served until it registers");
        bench.register(new_link, &["echo"]).await;
        bench.funduq.detach_provider(&agent.provider, old_link);
        assert!(bench.funduq.is_online(&agent));
        assert_eq!(bench.funduq.register_agents(old_link, vec![]).await, Err(PortError::LinkClosed));
        bench.funduq.detach_all_for(&agent.provider);
        assert!(!bench.funduq.is_online(&agent));
        assert!(new.heard().contains(&Heard::Closed(LinkClosed::Evicted)));
    });
}

async fn held(bench: &Bench) -> (AgentAddress, funduq_core::AguiStream, funduq_contract::LinkId) {
    let (provider, link, agent) = bench.serving(Some(1)).await;
    let stream = bench.ask(&agent, "t", "x").await.unwrap();
    let run = provider.offer().await.run.run_id;
    bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
    bench.report(link, &run, 1, &started("r")).await;
    provider.expect(|heard| matches!(heard, Heard::Received(_, 1)).then_some(())).await;
    (agent, stream, link)
}

#[test]
fn a_key_that_comes_back_within_the_grace_goes_on_where_the_record_stands() {
    on_every_store(|bench| async move {
        let (agent, mut stream, link) = held(&bench).await;
        bench.funduq.detach_provider(&agent.provider, link);
        tokio::time::sleep(Duration::from_secs(9)).await;
        let back = Arc::new(Scripted::new(identity(1), Some(1)));
        let here = bench.funduq.public_key();
        let ticket = bench.funduq.issue_ticket(&agent.provider);
        let connect = Connect::sign(&back.identity, here.as_ref(), ticket, Nonce::generate(), Some(1));
        let (link, ok) = bench.funduq.attach_provider(back.clone(), connect).await.unwrap();
        let [held] = &ok.held_runs[..] else { panic!("{ok:?}") };
        assert_eq!((&held.run_id, held.received), (stream.run_id(), 1));
        bench.register(link, &["echo"]).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        // What comes again is not doubled, and its provider hears again that it is recorded.
        bench.report(link, &held.run_id, 1, &started("r")).await;
        back.expect(|heard| matches!(heard, Heard::Received(_, 1)).then_some(())).await;
        bench.report(link, &held.run_id, 2, FINISHED).await;
        assert_eq!(types(&mut stream).await, ["RUN_STARTED", "RUN_FINISHED"]);
        assert_eq!(bench.funduq.places_taken(&agent.provider), 0);
    });
}

#[test]
fn who_lost_the_news_that_a_run_is_recorded_and_settled_hears_it_again() {
    on_every_store(|bench| async move {
        let (agent, mut stream, link) = held(&bench).await;
        bench.report(link, stream.run_id(), 2, FINISHED).await;
        rest(&mut stream).await;
        bench.funduq.detach_provider(&agent.provider, link);
        let back = Arc::new(Scripted::new(identity(1), Some(1)));
        let link = bench.attach(&back).await;
        let run = stream.run_id().clone();
        let refused = bench.funduq.report_event(link, &run, 1, started("r").into()).await;
        assert_eq!(refused, Err(PortError::NotHeld(run.clone())));
        back.expect(|heard| (*heard == Heard::Received(run.clone(), 2)).then_some(())).await;
        // It is nobody else's to know.
        let stranger = Arc::new(Scripted::new(identity(2), None));
        let link = bench.attach(&stranger).await;
        let refused = bench.funduq.report_event(link, &run, 1, started("r").into()).await;
        assert_eq!(refused, Err(PortError::NotHeld(run.clone())));
        assert_eq!(stranger.heard(), []);
    });
}

#[test]
fn what_a_lost_link_was_offered_is_offered_first_when_its_key_is_back() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(Some(1)).await;
        let first = bench.ask(&agent, "t", "one").await.unwrap();
        let second = bench.ask(&agent, "u", "two").await.unwrap();
        assert_eq!(provider.offer().await.run.run_id, *first.run_id());
        // It may have taken the run on, and has no room for another; that its answer is lost is no fault of its.
        bench.funduq.detach_provider(&agent.provider, link);
        let back = Arc::new(Scripted::new(identity(1), Some(1)));
        let link = bench.attach(&back).await;
        bench.register(link, &["echo"]).await;
        let again = back.offer().await;
        assert_eq!((&again.run.run_id, again.attempt), (first.run_id(), 2));
        bench.funduq.answer(link, first.run_id(), 2, Verdict::Accepted).await.unwrap();
        bench.report(link, first.run_id(), 1, FINISHED).await;
        assert_eq!(back.offer().await.run.run_id, *second.run_id());
        assert_eq!(bench.funduq.quality(&agent.provider), funduq_core::Quality::default());
    });
}

#[test]
fn a_key_that_does_not_come_back_in_time_fails_what_it_held() {
    on_every_store(|bench| async move {
        let (agent, mut stream, link) = held(&bench).await;
        bench.funduq.detach_provider(&agent.provider, link);
        let began = tokio::time::Instant::now();
        let events = rest(&mut stream).await;
        assert_eq!(json(&events[1])["code"], "provider_left_holding_it");
        let waited = began.elapsed().as_secs_f64();
        assert!((10.0..10.5).contains(&waited), "{waited}");
        assert_eq!(bench.funduq.quality(&agent.provider).abandoned, 1);
    });
}

#[test]
fn attaching_without_registering_does_not_stop_the_grace() {
    on_every_store(|bench| async move {
        let (agent, mut stream, link) = held(&bench).await;
        bench.funduq.detach_provider(&agent.provider, link);
        bench.attach(&Arc::new(Scripted::new(identity(1), Some(1)))).await;
        let events = rest(&mut stream).await;
        assert_eq!(json(&events[1])["code"], "provider_left_holding_it");
        assert_eq!(bench.funduq.run(stream.run_id()).await.unwrap().unwrap().status, RunStatus::Failed);
    });
}

#[test]
fn a_provider_reads_the_history_of_threads_whose_runs_it_holds_and_of_no_other() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let stream = bench.ask(&agent, "t", "one").await.unwrap();
        bench.ask(&agent, stream.thread_id().as_str(), "two").await.unwrap();
        let run = provider.offer().await.run.run_id;
        let history = FunduqPort::thread_messages(&bench.funduq, link, &run, 1).await.unwrap();
        assert_eq!(history.iter().map(|message| message.id().unwrap()).collect::<Vec<_>>(), ["two"]);
        let stranger = bench.attach(&Arc::new(Scripted::new(identity(2), None))).await;
        let refused = FunduqPort::thread_messages(&bench.funduq, stranger, &run, 1).await.unwrap_err();
        assert_eq!(refused, PortError::NotHeld(run));
    });
}

#[test]
fn changes_are_announced_and_a_slow_subscriber_stalls_nobody() {
    on_every_store(|bench| async move {
        let mut changes = bench.funduq.on_change();
        let (provider, _, agent) = bench.serving(None).await;
        assert_eq!(changes.recv().await.unwrap(), Change::Roster { provider: agent.provider });
        let stream = bench.ask(&agent, "t", "x").await.unwrap();
        let expected = Change::Run {
            run: stream.run_id().clone(),
            thread: stream.thread_id().clone(),
            status: RunStatus::Offering,
        };
        assert_eq!(changes.recv().await.unwrap(), expected);
        for at in 0..600 {
            bench.ask(&agent, "t", &at.to_string()).await.unwrap();
            let run = provider.offer().await.run.run_id;
            bench.funduq.cancel_run(&agent, &run, Default::default()).await.unwrap();
        }
        let missed = loop {
            match changes.recv().await {
                Ok(_) => {}
                Err(tokio::sync::broadcast::error::RecvError::Lagged(missed)) => break missed,
                Err(closed) => panic!("{closed}"),
            }
        };
        assert!(missed > 0);
        assert_eq!(bench.funduq.public_key(), Some(funduq_identity().public_key()));
    });
}

#[test]
fn a_link_that_takes_no_offer_is_gone() {
    on_every_store(|bench| async move {
        let (provider, _, agent) = bench.serving(None).await;
        let running = bench.ask(&agent, "a", "x").await.unwrap();
        provider.offer().await;
        provider.cut();
        let mut stream = bench.ask(&agent, "b", "y").await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(!bench.funduq.is_online(&agent));
        assert_eq!(bench.funduq.places_taken(&agent.provider), 0);
        drop(running);
        let events = rest(&mut stream).await;
        assert_eq!(json(events.last().unwrap())["code"], "no_provider_took_it");
    });
}

#[test]
fn a_claim_on_its_way_when_its_key_comes_back_is_among_the_held_runs() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        bench.ask(&agent, "a", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        let ticket = bench.funduq.issue_ticket(&agent.provider);
        let connect = Connect::sign(
            &provider.identity,
            bench.funduq.public_key().as_ref(),
            ticket,
            Nonce::generate(),
            None,
        );
        let again = Arc::new(Scripted::new(identity(1), None)) as Arc<dyn ConnectedProvider>;
        let (_, ok) = bench.funduq.attach_provider(again, connect).await.unwrap();
        assert_eq!(ok.held_runs.iter().map(|held| held.run_id.clone()).collect::<Vec<_>>(), [run]);
    });
}

#[test]
fn a_thread_is_opened_for_no_agent_that_was_forgotten_meanwhile() {
    on_every_store(|bench| async move {
        let (_, link, agent) = bench.serving(None).await;
        let name = agent.name.clone();
        let (deleted, opened, minted) =
            tokio::join!(bench.funduq.delete_agent(link, &name), bench.ask(&agent, "t", "x"), async {
                bench.funduq.agui().create_thread(&agent).await
            },);
        deleted.unwrap();
        assert_eq!(opened.unwrap_err(), DoorError::AgentNotFound(agent.clone()));
        assert_eq!(minted.unwrap_err(), DoorError::AgentNotFound(agent.clone()));
        assert_eq!(bench.funduq.places_taken(&agent.provider), 0);
    });
}
