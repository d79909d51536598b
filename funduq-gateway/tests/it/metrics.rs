//! The page of metrics: what it says is what happened, who may read it, and what its labels can be.

use serde_json::json;

use crate::support::{Provider, Raw, TestGateway, client, input, nobody};

#[tokio::test]
async fn runs_events_links_and_streams_are_counted() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    let mut answer = asked.await.unwrap();
    provider.event(&offer.run.run_id, 1, &crate::support::started(&offer)).await;
    answer.event().await.unwrap();
    let during = gateway.figures().await;
    assert_eq!(during["funduq_streams"], 1.0);
    assert_eq!(during["funduq_runs_live{status=\"running\"}"], 1.0);
    assert_eq!(during["funduq_links{kind=\"agents\"}"], 1.0);
    assert!(during["funduq_connections"] >= 2.0);

    provider.event(&offer.run.run_id, 2, &crate::support::finished(&offer)).await;
    answer.rest().await;
    let after = gateway.figures().await;
    assert_eq!(after["funduq_runs_opened_total"], 1.0);
    assert_eq!(after["funduq_runs_ended_total{outcome=\"completed\",reason=\"\"}"], 1.0);
    assert_eq!(after["funduq_verdicts_total{verdict=\"accepted\"}"], 1.0);
    assert_eq!((after["funduq_offers_total"], after["funduq_events_total"]), (1.0, 2.0));
    assert_eq!(after["funduq_first_event_seconds_count"], 1.0);
    assert!(after["funduq_commit_seconds_bucket{le=\"+Inf\"}"] > 0.0);
    assert_eq!(after["funduq_streams"], 0.0);
    let posted =
        "funduq_http_requests_total{method=\"POST\",route=\"/agui/{provider}/{agent}\",status=\"200\"}";
    assert_eq!(after[posted], 1.0);
    assert_eq!(after["funduq_limited_total{limit=\"peer_request_rate\"}"], 0.0);
    gateway.stop().await;
}

#[tokio::test]
async fn whatever_a_stranger_sends_is_no_label_of_its_own() {
    let gateway = TestGateway::start().await;
    let before = gateway.figures().await.len();
    let agent = nobody();
    for at in 0..20 {
        let body = json!({ "publicKey": format!("{at}") });
        for path in
            [format!("/no/{at}"), format!("/runs/{at}/events"), format!("/agui/{}/a{at}", agent.provider)]
        {
            client().post(gateway.url_of(&path)).json(&body).send().await.unwrap();
            let method = reqwest::Method::from_bytes(format!("M{at}").as_bytes()).unwrap();
            client().request(method, gateway.url_of(&path)).send().await.unwrap();
        }
    }
    let added = gateway.figures().await.len() - before;
    assert!(added < 12, "{added} new series");
    gateway.stop().await;
}

#[tokio::test]
async fn strangers_find_no_page() {
    let gateway = TestGateway::configured(|config| {
        config.trusted_proxies = "127.0.0.1".parse().unwrap();
    })
    .await;
    let said = Raw::get(&gateway.url_of("/metrics"), "x-forwarded-for: 203.0.113.9\r\n").await;
    assert_eq!(said.status, 404);
    assert_eq!(Raw::get(&gateway.url_of("/metrics"), "").await.status, 200);
    gateway.stop().await;
}
