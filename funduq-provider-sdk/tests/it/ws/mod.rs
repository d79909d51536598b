//! The WebSocket link against a gateway of a few lines on loopback.

mod server;

use std::sync::Arc;
use std::time::Duration;

use funduq_provider_sdk::contract::{
    Cancel, ConnectErr, ConnectOk, ConnectRefusal, DownFrame, ErrFrame, HeldRun, MessagesFrame,
    PortErrorCode, ReceivedFrame, UpFrame, Verdict, WrongFunduq,
};
use funduq_provider_sdk::ws::{self, Connection, LinkError};
use funduq_provider_sdk::{ProviderIdentity, RunContext, ServedAgent, agent_fn, demo};
use tokio::sync::Semaphore;

use crate::support::{check_order, offer, run_id, text};
use server::{Peer, Server};

fn connection(server: &Server) -> Connection {
    ws::connect(&server.url, ProviderIdentity::generate()).pin(server.key())
}

/// Says a word for each permit, ends when the gate is closed.
fn stepwise(gate: &Arc<Semaphore>) -> ServedAgent {
    let gate = gate.clone();
    let agent = agent_fn(move |run: RunContext| {
        let gate = gate.clone();
        async move {
            let said = run.events().open_text().await?;
            let mut word = 0;
            while let Ok(permit) = run.or_cancelled(gate.acquire()).await? {
                permit.forget();
                said.push(&format!("{word} ")).await?;
                word += 1;
            }
            Ok(())
        }
    });
    ServedAgent::new("a", agent).unwrap()
}

fn received(run: &str, number: u64) -> DownFrame {
    DownFrame::Received(ReceivedFrame { run_id: run_id(run), number })
}

#[tokio::test]
async fn a_run_over_a_link_is_answered_before_it_speaks_and_ends() {
    let mut server = Server::start().await;
    let mut link = connection(&server).agents(demo::agents()).start().unwrap();
    let (mut peer, agents) = server.link(Vec::new()).await;
    assert_eq!(agents.len(), 2);
    assert!(link.online().await && link.is_online());
    peer.say(DownFrame::Offer(offer("echo", "t", "1", "hello there"))).await;
    match peer.hear().await {
        Some(UpFrame::Verdict(verdict)) => assert_eq!(verdict.verdict, Verdict::Accepted),
        other => panic!("{other:?}"),
    }
    let events: Vec<String> = peer.events(6).await.into_iter().map(|(_, event)| event).collect();
    check_order(&events, "t", "1");
    assert_eq!(text(&events), "hello there");
    assert!(matches!(peer.hear().await, Some(UpFrame::Finish(_))));
    peer.say(received("1", 6)).await;
    peer.say(DownFrame::Cancel(Cancel { run_id: run_id("1") })).await;
    match peer.hear().await {
        Some(UpFrame::Ack(ack)) => assert!(!ack.held, "it is recorded and forgotten"),
        other => panic!("{other:?}"),
    }
    assert_eq!(link.runtime().held_runs(), 0);
}

#[tokio::test]
async fn a_new_link_is_sent_exactly_what_funduq_has_not_recorded() {
    let mut server = Server::start().await;
    let gate = Arc::new(Semaphore::new(4));
    let link = connection(&server).agent(stepwise(&gate)).start().unwrap();
    let (mut peer, _) = server.link(Vec::new()).await;
    peer.say(DownFrame::Offer(offer("a", "t", "1", "x"))).await;
    let mut all = peer.events(6).await;
    peer.say(received("1", 2)).await;
    // Cut without a word, while the agent goes on.
    drop(peer);
    gate.add_permits(3);
    let held = vec![
        HeldRun { run_id: run_id("1"), received: 4 },
        HeldRun { run_id: run_id("of an earlier process"), received: 9 },
    ];
    let (mut peer, _) = server.link(held).await;
    all.truncate(4);
    let mut finished_the_unknown = false;
    while all.len() < 9 {
        match peer.hear().await {
            Some(UpFrame::Event(event)) => all.push((event.number, event.event.get().to_owned())),
            Some(UpFrame::Finish(finish)) => {
                assert_eq!(finish.run_id.as_str(), "of an earlier process");
                finished_the_unknown = true;
            }
            other => panic!("{other:?}"),
        }
    }
    gate.close();
    all.extend(peer.events(2).await);
    let numbers: Vec<u64> = all.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=11).collect::<Vec<u64>>());
    let events: Vec<String> = all.into_iter().map(|(_, event)| event).collect();
    check_order(&events, "t", "1");
    assert_eq!(text(&events), "0 1 2 3 4 5 6 ");
    assert!(finished_the_unknown);
    drop(link);
}

#[tokio::test]
async fn a_funduq_with_another_key_is_told_nothing() {
    // It refuses the proof, which was made for another.
    let mut server = Server::start().await;
    let pinned = ProviderIdentity::generate().public_key();
    let run = tokio::spawn(ws::connect(&server.url, ProviderIdentity::generate()).pin(pinned).run());
    let (peer, connect) = server.opening().await;
    assert!(connect.check_proof(Some(&server.key())).is_err());
    peer.refuse(ConnectErr::new(ConnectRefusal::BadProof, "not for this funduq")).await;
    match run.await.unwrap() {
        Err(LinkError::WrongFunduq(WrongFunduq::OtherKey { found, .. })) => {
            assert_eq!(found, server.key().fingerprint());
        }
        other => panic!("{other:?}"),
    }

    // It lets the provider in, and does not prove the key.
    let run = tokio::spawn(connection(&server).agents(demo::agents()).run());
    let (mut peer, connect) = server.opening().await;
    server.change_key();
    let forged = ConnectOk { funduq_public_key: None, ..server.accept(&connect, Vec::new()) };
    peer.say(DownFrame::ConnectOk(forged)).await;
    assert!(matches!(run.await.unwrap(), Err(LinkError::WrongFunduq(_))));
    assert!(peer.hear().await.is_none(), "not even a roster");
}

#[tokio::test]
async fn without_a_pin_the_first_key_that_was_named_is_held_to() {
    let mut server = Server::start().await;
    let run = tokio::spawn(ws::connect(&server.url, ProviderIdentity::generate()).run());
    let (peer, _) = server.link(Vec::new()).await;
    drop(peer);
    server.change_key();
    let (mut peer, connect) = server.opening().await;
    assert!(connect.check_proof(Some(&server.key())).is_err(), "signed for the key named first");
    peer.say(DownFrame::ConnectOk(server.accept(&connect, Vec::new()))).await;
    assert!(matches!(run.await.unwrap(), Err(LinkError::WrongFunduq(_))));
}

#[tokio::test]
async fn whoever_is_not_admitted_is_told_so_and_a_busy_funduq_is_asked_again() {
    let mut server = Server::start().await;
    server.refuse_ticket(503, "starting");
    let mut link = connection(&server).start().unwrap();
    let _open = server.link(Vec::new()).await;
    assert!(link.online().await);

    server.refuse_ticket(403, r#"{"error":{"code":"not_admitted","message":"ask the operator"}}"#);
    match connection(&server).run().await {
        Err(LinkError::NotAdmitted { status: 403, message }) => assert_eq!(message, "ask the operator"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_frame_that_cannot_be_read_or_a_complaint_leaves_the_link_up() {
    let mut server = Server::start().await;
    let _link = connection(&server).agents(demo::agents()).start().unwrap();
    let (mut peer, _) = server.link(Vec::new()).await;
    peer.say_text("no frame").await;
    peer.say_text(r#"{"type":"unheardOf","x":1}"#).await;
    let complaint = ErrFrame {
        id: None,
        run_id: None,
        code: PortErrorCode::MalformedFrame,
        expected: None,
        message: "what was that".into(),
    };
    peer.say(DownFrame::Err(complaint)).await;
    peer.say(DownFrame::Offer(offer("echo", "t", "1", "still here"))).await;
    let events: Vec<String> = peer.events(6).await.into_iter().map(|(_, event)| event).collect();
    assert_eq!(text(&events), "still here");
}

#[tokio::test]
async fn a_roster_that_is_refused_ends_the_provider() {
    let mut server = Server::start().await;
    let run = tokio::spawn(connection(&server).agents(demo::agents()).run());
    let (mut peer, connect) = server.opening().await;
    peer.say(DownFrame::ConnectOk(server.accept(&connect, Vec::new()))).await;
    peer.roster().await;
    let refusal = ErrFrame {
        id: Some(0),
        run_id: None,
        code: PortErrorCode::Invalid,
        expected: None,
        message: "the name echo is given twice".into(),
    };
    peer.say(DownFrame::Err(refusal)).await;
    let error = run.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("given twice"), "{error}");
}

#[tokio::test]
async fn another_process_with_the_same_key_is_not_fought() {
    let mut server = Server::start().await;
    let run = tokio::spawn(connection(&server).run());
    let (peer, _) = server.link(Vec::new()).await;
    peer.close("replaced").await;
    assert!(matches!(run.await.unwrap(), Err(LinkError::Replaced)));
}

#[tokio::test]
async fn an_opening_of_its_own_that_arrives_late_is_not_another_process() {
    let mut server = Server::start().await;
    let mut link = connection(&server).start().unwrap();
    // Nobody knows what became of this one.
    drop(server.opening().await);
    let (peer, _) = server.link(Vec::new()).await;
    peer.close("replaced").await;
    let (_peer, _) = server.link(Vec::new()).await;
    assert!(link.online().await);
}

#[tokio::test]
async fn a_spent_ticket_and_an_evicted_link_are_tried_again() {
    let mut server = Server::start().await;
    let mut link = connection(&server).start().unwrap();
    let (peer, first) = server.opening().await;
    peer.refuse(ConnectErr::new(ConnectRefusal::TicketExpired, "too late")).await;
    let (peer, second) = server.opening().await;
    assert_ne!(first.ticket, second.ticket, "a fresh ticket each time");
    drop(peer);
    let (peer, _) = server.link(Vec::new()).await;
    peer.close("evicted").await;
    let _open = server.link(Vec::new()).await;
    assert!(link.online().await);
}

#[tokio::test]
async fn an_agent_reads_its_threads_messages_over_the_link_and_over_the_next_one() {
    let mut server = Server::start().await;
    let agent = agent_fn(|run: RunContext| async move {
        let messages = run.history(5).await?;
        run.events().text(&format!("{} messages", messages.len())).await?;
        Ok(())
    });
    let agent = ServedAgent::new("a", agent).unwrap();
    let _link = connection(&server).agent(agent).start().unwrap();
    let (mut peer, _) = server.link(Vec::new()).await;
    peer.say(DownFrame::Offer(offer("a", "t", "1", "x"))).await;
    question(&mut peer).await;
    drop(peer);
    let held = vec![HeldRun { run_id: run_id("1"), received: 0 }];
    let (mut peer, _) = server.link(held).await;
    let id = question(&mut peer).await;
    let message = serde_json::from_str(r#"{"id":"m","role":"user","content":"x"}"#).unwrap();
    peer.say(DownFrame::Messages(MessagesFrame { id, messages: vec![message] })).await;
    let events: Vec<String> = peer.events(5).await.into_iter().map(|(_, event)| event).collect();
    assert_eq!(text(&events), "1 messages");
}

async fn question(peer: &mut Peer) -> u64 {
    loop {
        match peer.hear().await {
            Some(UpFrame::ThreadMessages(question)) => {
                assert_eq!((question.run_id.as_str(), question.limit), ("1", 5));
                return question.id;
            }
            Some(UpFrame::Verdict(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_stop_takes_the_roster_down_lets_runs_end_and_closes() {
    let mut server = Server::start().await;
    let gate = Arc::new(Semaphore::new(1));
    let link = connection(&server).agent(stepwise(&gate)).drain(Duration::from_secs(60)).start().unwrap();
    let (mut peer, _) = server.link(Vec::new()).await;
    peer.say(DownFrame::Offer(offer("a", "t", "1", "x"))).await;
    peer.events(3).await;
    let stopping = tokio::spawn(link.stop());
    assert_eq!(peer.roster().await.len(), 0);
    peer.say(DownFrame::Offer(offer("a", "u", "2", "x"))).await;
    match peer.hear().await {
        Some(UpFrame::Verdict(verdict)) => assert_eq!(verdict.verdict, Verdict::Declined),
        other => panic!("{other:?}"),
    }
    gate.close();
    let last = peer.events(2).await;
    assert!(last[1].1.contains("RUN_FINISHED"));
    peer.say(received("1", 5)).await;
    assert!(matches!(peer.hear().await, Some(UpFrame::Finish(_)) | None));
    stopping.await.unwrap().unwrap();
    let after = peer.hear().await;
    assert!(after.is_none(), "nothing more was to come: {after:?}");
}

#[tokio::test]
async fn what_does_not_end_by_the_deadline_is_handed_back_before_the_link_closes() {
    let mut server = Server::start().await;
    let gate = Arc::new(Semaphore::new(1));
    let link = connection(&server).agent(stepwise(&gate)).drain(Duration::ZERO).start().unwrap();
    let (mut peer, _) = server.link(Vec::new()).await;
    peer.say(DownFrame::Offer(offer("a", "t", "1", "x"))).await;
    peer.events(3).await;
    let stopping = tokio::spawn(link.stop());
    peer.roster().await;
    let last = peer.events(2).await;
    assert!(last[1].1.contains("provider_stopped"), "{last:?}");
    peer.say(received("1", 5)).await;
    stopping.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_at_once() {
    let error = ws::connect("relay.example", ProviderIdentity::generate()).run().await.unwrap_err();
    assert!(matches!(error, LinkError::BadUrl { .. }), "{error}");
    let trust = ws::connect("https://relay.example", ProviderIdentity::generate()).trust("/no/such.pem");
    assert!(matches!(trust.run().await.unwrap_err(), LinkError::BadCertificates { .. }));
}
