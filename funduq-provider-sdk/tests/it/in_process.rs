//! The in-process link: the whole handshake, and what an agent asks and is told over it.

use std::sync::{Arc, Mutex};

use funduq_provider_sdk::agui::Message;
use funduq_provider_sdk::contract::{
    ActorChain, ChainError, Identity, LinkClosed, Nonce, PortError, Ticket, Verdict,
};
use funduq_provider_sdk::{
    AgentResult, HistoryError, InProcessError, InProcessLink, ProviderIdentity, RunContext, Runtime,
    ServedAgent, agent_fn, demo,
};

use tokio::sync::Semaphore;

use crate::support::{FakeFunduq, builder, linked, offer, offer_of, offer_with, text};

#[tokio::test(start_paused = true)]
async fn a_link_proves_both_keys_and_then_publishes() {
    let (_runtime, link, funduq) = linked(builder().agents(demo::agents())).await;
    let names: Vec<_> = funduq.roster().unwrap().into_iter().map(|agent| agent.name.to_string()).collect();
    assert_eq!(names, ["echo", "replay"]);
    assert!(link.delete(&"echo".parse().unwrap()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_proof_for_another_funduq_opens_nothing() {
    let funduq = FakeFunduq::new();
    let runtime = builder().agents(demo::agents()).build();
    let other = Identity::generate().public_key();
    let refused = InProcessLink::open(&runtime, funduq.clone(), Ticket::generate(), Some(other)).await;
    assert!(matches!(refused, Err(InProcessError::WrongFunduq(_))), "{refused:?}");
    let refused = InProcessLink::open(&runtime, funduq.clone(), Ticket::generate(), None).await;
    assert!(matches!(refused, Err(InProcessError::Refused(_))), "{refused:?}");
    assert!(funduq.roster().is_none());
}

mod wrong {
    //! A funduq that lets everybody in and proves nothing.

    use super::*;
    use async_trait::async_trait;
    use funduq_provider_sdk::agui::RelayedMessage;
    use funduq_provider_sdk::contract::*;

    #[derive(Default)]
    struct Impostor {
        claims: Option<PublicKey>,
        registered: Mutex<bool>,
        closed: Mutex<bool>,
    }

    #[async_trait]
    impl FunduqPort for Impostor {
        async fn open(
            &self,
            _provider: Arc<dyn ConnectedProvider>,
            connect: Connect,
        ) -> Result<(LinkId, ConnectOk), ConnectErr> {
            let answer = Identity::generate().sign_funduq_connect(&connect.ticket, &Nonce::generate());
            let ok = ConnectOk {
                funduq_public_key: self.claims,
                answer: Some(answer),
                held_runs: Vec::new(),
                revision: 1,
            };
            Ok((LinkId::new(1), ok))
        }

        async fn register(&self, _: LinkId, _: Vec<Registration>) -> Result<(), PortError> {
            *self.registered.lock().unwrap() = true;
            Ok(())
        }

        async fn delete(&self, _: LinkId, _: &AgentName) -> Result<(), PortError> {
            Err(PortError::LinkClosed)
        }

        async fn thread_messages(
            &self,
            _: LinkId,
            _: &RunId,
            _: u32,
        ) -> Result<Vec<RelayedMessage>, PortError> {
            Err(PortError::LinkClosed)
        }

        async fn answer(&self, _: LinkId, _: &RunId, _: u32, _: Verdict) -> Result<(), PortError> {
            Err(PortError::LinkClosed)
        }

        async fn report_event(&self, _: LinkId, _: &RunId, _: u64, _: Arc<str>) -> Result<(), PortError> {
            Err(PortError::LinkClosed)
        }

        async fn finish(&self, _: LinkId, _: &RunId) -> Result<(), PortError> {
            Err(PortError::LinkClosed)
        }

        async fn ack(&self, _: LinkId, _: Ack) -> Result<(), PortError> {
            Err(PortError::LinkClosed)
        }

        async fn close(&self, _: LinkId) {
            *self.closed.lock().unwrap() = true;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_cannot_prove_the_key_is_shown_nothing() {
        let real = Identity::generate().public_key();
        for (pinned, claims) in [(Some(real), Some(real)), (Some(real), None), (None, Some(real))] {
            let impostor = Arc::new(Impostor { claims, ..Default::default() });
            let runtime = builder().agents(demo::agents()).build();
            let refused = InProcessLink::open(&runtime, impostor.clone(), Ticket::generate(), pinned).await;
            assert!(matches!(refused, Err(InProcessError::WrongFunduq(_))), "{refused:?}");
            assert!(!*impostor.registered.lock().unwrap(), "nothing is published");
            assert!(*impostor.closed.lock().unwrap(), "and the link is taken down");
        }
    }
}

/// Runs a closure as the agent `a` of a provider, with further members of the input.
async fn asked<F, R>(identity: &ProviderIdentity, funduq: &Arc<FakeFunduq>, members: &str, does: F) -> String
where
    F: Fn(RunContext) -> R + Send + Sync + 'static,
    R: Future<Output = AgentResult> + Send + 'static,
{
    let agent = ServedAgent::new("a", agent_fn(does)).unwrap();
    let runtime = Runtime::builder(identity.clone()).agent(agent).build();
    let _link = funduq.link(&runtime).await.unwrap();
    let run = format!("r{}", members.len());
    funduq.offer(offer_with("a", "t", &run, "x", members)).unwrap();
    let events = funduq.finished(&run).await;
    assert!(events.last().unwrap().contains("RUN_FINISHED"), "{events:?}");
    text(&events)
}

#[tokio::test(start_paused = true)]
async fn an_agent_reads_its_threads_earlier_messages() {
    let does = |run: RunContext| async move {
        let messages = run.history(3).await?;
        run.events().text(&messages.len().to_string()).await?;
        run.events().finish().await?;
        Ok(())
    };
    assert_eq!(asked(&ProviderIdentity::generate(), &FakeFunduq::new(), "", does).await, "3");
}

#[tokio::test(start_paused = true)]
async fn history_is_not_to_be_had_of_a_run_that_is_over() {
    let gate = Arc::new(Semaphore::new(0));
    let gone = gate.clone();
    let agent = agent_fn(move |run: RunContext| {
        let gate = gate.clone();
        async move {
            run.events().finish().await?;
            gate.acquire().await?.forget();
            // The link is gone and the run settled: nothing will ever answer.
            assert_eq!(run.history(1).await.unwrap_err(), HistoryError::RunOver);
            Ok(())
        }
    });
    let (runtime, _link, funduq) = linked(builder().agent(ServedAgent::new("a", agent).unwrap())).await;
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.until(|funduq| funduq.events("1").len() == 2).await;
    funduq.drop_link(LinkClosed::Evicted);
    gone.add_permits(1);
    while runtime.held_runs() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_has_the_callers_bag_and_funduqs_part_of_it() {
    let does = |run: RunContext| async move {
        let said = format!(
            "{} {:?} {:?}",
            serde_json::to_string(run.bag())?,
            run.funduq().kyok.as_ref().map(|grant| grant.token.clone()),
            run.chain().map(|chain| chain.is_some()),
        );
        run.events().text(&said).await?;
        Ok(())
    };
    let (identity, funduq) = (ProviderIdentity::generate(), FakeFunduq::new());
    let members = r#""forwardedProps":{"voucher":"v","funduq":{"kyok":{"token":"T"}},"n":1.0},"#;
    let said = asked(&identity, &funduq, members, does).await;
    assert_eq!(said, r#"{"voucher":"v","n":1.0} Some("T") Ok(false)"#);
    assert_eq!(asked(&identity, &funduq, r#""forwardedProps":[1],"#, does).await, "{} None Ok(false)");
}

#[tokio::test(start_paused = true)]
async fn half_a_surrogate_pair_in_the_history_is_read_and_handed_on_as_it_came() {
    const CUT: &str = r#"{"id":"b","role":"assistant","content":"cut \ud83d"}"#;
    let agent = agent_fn(|run: RunContext| async move {
        assert_eq!(run.relayed_input().messages[1].json(), CUT, "byte for byte");
        assert_eq!(run.user_text().as_deref(), Some("and \u{fffd} on 😀"));
        let Message::Assistant(said) = &run.input().messages[1] else { panic!("{:?}", run.input()) };
        run.events().text(said.content.as_deref().unwrap_or_default()).await?;
        Ok(())
    });
    let runtime = Runtime::builder(ProviderIdentity::generate()).agent(ServedAgent::new("a", agent).unwrap());
    let (_runtime, _link, funduq) = linked(runtime).await;
    let messages = format!(
        r#"[{{"id":"a","role":"user","content":"x"}},{CUT},{{"id":"c","role":"user","content":"and \uDE00 on \ud83d\ude00"}}]"#
    );
    funduq.offer(offer_of("a", "t", "1", &messages, r#""state":{"k":"\ud83d"},"#)).unwrap();
    funduq.until(|funduq| funduq.verdict("1").is_some()).await;
    assert_eq!(funduq.verdict("1"), Some(Verdict::Accepted));
    let events = funduq.finished("1").await;
    assert_eq!(text(&events), "cut \u{fffd}", "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_knows_whether_the_chain_was_dispatched_to_it() {
    let does = |run: RunContext| async move {
        let said = match run.chain() {
            Ok(None) => "none".to_owned(),
            Ok(Some(chain)) => {
                let longer = run.extend_chain()?.verify()?;
                assert_eq!(longer.last(), run.identity().public_key());
                format!("{} {}", chain.verified().hops().len(), chain.dispatched_here())
            }
            Err(ChainError::Hop { index, .. }) => format!("hop {index}"),
            Err(other) => other.to_string(),
        };
        run.events().text(&said).await?;
        Ok(())
    };
    let (identity, funduq) = (ProviderIdentity::generate(), FakeFunduq::new());
    let address = |name: &str| {
        funduq_provider_sdk::contract::AgentAddress::new(identity.public_key(), name.parse().unwrap())
    };
    let start = ActorChain::start(&Identity::generate());
    let here = start.dispatch(funduq.identity(), &address("a")).unwrap();
    let elsewhere = start.dispatch(funduq.identity(), &address("b")).unwrap();
    let by_another = start.dispatch(&Identity::generate(), &address("a")).unwrap();
    let mut forged = here.tokens().to_vec();
    forged.remove(0);
    let forged = ActorChain::from_tokens(forged);
    for (chain, expected) in [
        (here, "2 true"),
        (elsewhere, "2 false"),
        (by_another, "2 false"),
        (start, "1 false"),
        (forged, "hop 0"),
    ] {
        let chain = serde_json::to_string(&chain).unwrap();
        let members = format!(r#""forwardedProps":{{"funduq":{{"actorChain":{chain}}}}},"#);
        // Each its own funduq, which knows no run yet, but with the same key.
        assert_eq!(asked(&identity, &funduq, &members, does).await, expected);
        funduq.clear();
    }
}

#[tokio::test(start_paused = true)]
async fn a_link_says_why_it_was_closed_and_takes_no_more_offers() {
    let (_runtime, link, funduq) = linked(builder().agents(demo::agents())).await;
    funduq.drop_link(LinkClosed::ShuttingDown);
    assert_eq!(link.closed().await, Some(LinkClosed::ShuttingDown));
    assert_eq!(link.register().await, Err(PortError::LinkClosed));

    let (_runtime, link, _funduq) = linked(builder().agents(demo::agents())).await;
    let waiting = tokio::spawn({
        let link = link.clone();
        async move { link.closed().await }
    });
    link.close().await;
    assert_eq!(waiting.await.unwrap(), None);
}
