//! Stopping: every stream ends with an event, every link is told, and what is recorded is there afterwards.

use funduq_contract::{DownFrame, LinkClosed};
use funduq_core::RunStatus;
use funduq_gateway::Gateway;
use serde_json::Value;

use crate::support::{
    Closed, Provider, Raw, TestGateway, config, events, finished, input, input_on, started,
};

#[tokio::test]
async fn a_run_in_flight_ends_with_an_error_and_its_body_ends_clean() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    let run = offer.run.run_id.clone();
    provider.event(&run, 1, &started(&offer)).await;
    let mut answer = asked.await.unwrap();
    answer.event().await.unwrap();

    let reading = tokio::spawn(async move {
        let rest = events(&answer.rest().await);
        answer.closed().await;
        rest
    });
    let told = tokio::spawn(async move { provider.closed().await });
    let folder = gateway.stop().await;
    let rest = reading.await.unwrap();
    let [(id, error)] = &rest[..] else { panic!("{rest:?}") };
    assert_eq!((&error["type"], &error["code"]), (&"RUN_ERROR".into(), &"funduq_shutdown".into()));
    assert_eq!(*id, format!("{run}:2"));
    let shutting_down = LinkClosed::ShuttingDown.as_str().to_owned();
    assert_eq!(told.await.unwrap(), Closed { code: 4000, reason: shutting_down });

    let again = Gateway::start(config(folder.path())).await.unwrap();
    let recorded = again.funduq().run_events(&run, 0, 10).await.unwrap();
    let last: Value = serde_json::from_str(recorded.last().unwrap().event.json()).unwrap();
    assert_eq!(last, *error);
    again.shutdown().await;
}

#[tokio::test]
async fn a_run_that_ends_in_time_ends_as_it_would() {
    let gateway = TestGateway::configured(|config| config.drain = "20s".parse().unwrap()).await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    let run = offer.run.run_id.clone();
    provider.event(&run, 1, &started(&offer)).await;
    let mut answer = asked.await.unwrap();
    answer.event().await.unwrap();
    let url = gateway.url().to_owned();
    let stopping = tokio::spawn(gateway.stop());
    let host = url.strip_prefix("http://").unwrap().to_owned();
    // It has begun to stop when it takes no new connections.
    while tokio::net::TcpStream::connect(&host).await.is_ok() {
        tokio::task::yield_now().await;
    }
    provider.event(&run, 2, &finished(&offer)).await;
    let rest = events(&answer.rest().await);
    assert_eq!(rest.last().unwrap().1["type"], "RUN_FINISHED");
    stopping.await.unwrap();
}

#[tokio::test]
async fn what_waits_in_a_queue_is_told_that_it_goes_on_later() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let mut answer = Raw::post(&url, &input("hello")).await;
    // The offer is left unanswered.
    provider.hear().await;
    let reading = tokio::spawn(async move { events(&answer.rest().await) });
    gateway.stop().await;
    let seen: Vec<Value> = reading.await.unwrap().into_iter().map(|(_, event)| event).collect();
    assert_eq!(seen.last().unwrap()["code"], "funduq_shutdown");
}

#[tokio::test]
async fn idle_connections_do_not_hold_it_up() {
    let gateway = TestGateway::start().await;
    let host = gateway.url().strip_prefix("http://").unwrap().to_owned();
    let silent = tokio::net::TcpStream::connect(&host).await.unwrap();
    let mut kept = Raw::get(&gateway.url_of("/healthz"), "").await;
    kept.json().await;
    let mut unopened = Provider::dial(&gateway).await;
    let told = tokio::spawn(async move { unopened.closed().await });
    gateway.stop().await;
    kept.closed().await;
    let shutting_down = LinkClosed::ShuttingDown.as_str().to_owned();
    assert_eq!(told.await.unwrap(), Closed { code: 4000, reason: shutting_down });
    drop(silent);
}

#[tokio::test]
async fn a_restart_under_load_loses_no_queued_run_and_keeps_their_order() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let mut streams = Vec::new();
    let mut queued = Vec::new();
    for thread in 0..4 {
        // The first run's offer is left unanswered, and the others wait behind it.
        let mut first = Raw::post(&url, &input("first")).await;
        let offer = match provider.hear().await {
            DownFrame::Offer(offer) => offer,
            other => panic!("{other:?} instead of an offer"),
        };
        let thread_id = offer.run.thread_id.to_string();
        for turn in 0..5 {
            let mut waiting = Raw::post(&url, &input_on(&thread_id, &format!("{thread}.{turn}"))).await;
            let reading = async move { events(&waiting.rest().await) };
            streams.push(tokio::spawn(reading));
        }
        let runs = gateway.read(&format!("/threads/{thread_id}/runs")).await;
        let ids =
            runs["runs"].as_array().unwrap()[1..].iter().map(|run| run["runId"].as_str().unwrap().to_owned());
        queued.push(ids.collect::<Vec<_>>());
        streams.push(tokio::spawn(async move { events(&first.rest().await) }));
    }
    let identity = provider.identity;
    let folder = gateway.stop().await;
    for stream in streams {
        assert_eq!(stream.await.unwrap().last().unwrap().1["code"], "funduq_shutdown");
    }

    let again = TestGateway::again(folder).await;
    let mut provider = Provider::serving_as(&again, identity, &["echo"]).await;
    let mut offered: Vec<Vec<String>> = vec![Vec::new(); queued.len()];
    for _ in 0..20 {
        let offer = provider.accept().await;
        provider.play(&offer, &[]).await;
        let run = offer.run.run_id.to_string();
        let thread = queued.iter().position(|runs| runs.contains(&run)).expect("a run that was queued");
        offered[thread].push(run.clone());
        again.until_run_is(&run, RunStatus::Completed).await;
    }
    assert_eq!(offered, queued);
    again.stop().await;
}
