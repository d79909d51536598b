//! A caller that lost its stream takes it up again: neither gap nor double, and never waiting for its own ghost.

use serde_json::Value;

use crate::support::{Provider, Raw, TestGateway, client, events, finished, input, nobody, request, started};

struct Live {
    gateway: TestGateway,
    provider: Provider,
    offer: funduq_contract::Offer,
    answer: Raw,
    url: String,
}

/// A run that has begun and goes on as the test says.
async fn live() -> Live {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let agui = gateway.agui(&provider.agent("echo"));
    let asked = {
        let agui = agui.clone();
        tokio::spawn(async move { Raw::post(&agui, &input("hello")).await })
    };
    let offer = provider.accept().await;
    provider.event(&offer.run.run_id, 1, &started(&offer)).await;
    let url = format!("{agui}/runs/{}", offer.run.run_id);
    Live { gateway, provider, offer, answer: asked.await.unwrap(), url }
}

fn step(number: u64) -> String {
    format!(r#"{{"type":"CUSTOM","name":"step","value":{number}}}"#)
}

async fn again(url: &str, last: Option<&str>) -> Raw {
    let header = last.map(|last| format!("last-event-id: {last}\r\n")).unwrap_or_default();
    Raw::get(url, &header).await
}

#[tokio::test]
async fn a_live_stream_goes_on_where_the_connection_broke() {
    let Live { gateway, mut provider, offer, mut answer, url } = live().await;
    let run = &offer.run.run_id;
    let mut seen = vec![answer.event().await.unwrap()];
    for number in 2..6 {
        provider.event(run, number, &step(number)).await;
    }
    for _ in 2..4 {
        seen.extend(events(&answer.chunk().await.unwrap()));
        if seen.len() > 3 {
            break;
        }
    }
    seen.truncate(3);
    drop(answer);
    provider.event(run, 6, &step(6)).await;
    // It is not waited for that the gateway notices the loss.
    let mut resumed = again(&url, Some(&format!("{run}:{}", seen.len()))).await;
    assert_eq!(resumed.status, 200);
    provider.event(run, 7, &finished(&offer)).await;
    seen.extend(events(&resumed.rest().await));

    let ids: Vec<_> = seen.iter().map(|(id, _)| id.clone()).collect();
    let expected: Vec<_> = (1..=7).map(|number| format!("{run}:{number}")).collect();
    assert_eq!(ids, expected);
    let recorded = gateway.read(&format!("/runs/{run}/events")).await;
    let seen: Vec<Value> = seen.into_iter().map(|(_, event)| event).collect();
    assert_eq!(recorded["events"], Value::from(seen));
    gateway.stop().await;
}

#[tokio::test]
async fn who_comes_back_for_its_stream_has_it_even_while_the_old_connection_stands() {
    let Live { gateway, mut provider, offer, mut answer, url } = live().await;
    let run = &offer.run.run_id;
    answer.event().await.unwrap();
    let mut resumed = again(&url, Some(&format!("{run}:1"))).await;
    assert_eq!(resumed.status, 200);

    // The old connection is told, in a frame that is no event of the run, and ends clean.
    let last = events(&answer.rest().await);
    let [(id, error)] = &last[..] else { panic!("{last:?}") };
    assert_eq!((id.as_str(), error["code"].as_str()), ("", Some("stream_taken_over")));

    provider.event(run, 2, &finished(&offer)).await;
    let seen = events(&resumed.rest().await);
    assert_eq!(seen.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), [format!("{run}:2")]);
    gateway.stop().await;
}

#[tokio::test]
async fn who_names_nothing_that_it_has_waits_for_the_stream_to_be_free() {
    let Live { gateway, mut provider, offer, mut answer, url } = live().await;
    answer.event().await.unwrap();
    let mut refused = again(&url, None).await;
    assert_eq!(refused.status, 409);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.json().await["error"]["code"], "stream_taken");

    drop(answer);
    let mut whole = again(&url, None).await;
    assert_eq!(whole.status, 200);
    provider.event(&offer.run.run_id, 2, &finished(&offer)).await;
    assert_eq!(events(&whole.rest().await).len(), 2);
    gateway.stop().await;
}

#[tokio::test]
async fn a_run_that_has_ended_is_replayed_whole_and_from_anywhere_and_never_without_an_end() {
    let Live { gateway, mut provider, offer, mut answer, url } = live().await;
    let run = &offer.run.run_id;
    provider.event(run, 2, &step(2)).await;
    provider.event(run, 3, &finished(&offer)).await;
    let live = answer.rest().await;
    assert_eq!(again(&url, None).await.rest().await, live);
    let last = format!("{run}:2");
    let rest = again(&url, Some(&last)).await.rest().await;
    assert_eq!(rest, live.split_inclusive("\n\n").nth(2).unwrap());
    // Where nothing is left, an empty 200 would look like a run that ended well.
    let nothing = client().get(&url).header("last-event-id", format!("{run}:3")).send().await.unwrap();
    assert_eq!(nothing.status(), 204);
    gateway.stop().await;
}

#[tokio::test]
async fn an_id_that_is_not_of_this_run_is_refused() {
    let Live { gateway, offer, url, .. } = live().await;
    let run = &offer.run.run_id;
    let wrong = ["x", "2", "+1", "01", "0"].map(|number| format!("{run}:{number}"));
    for last in
        wrong.into_iter().chain(["other:1".to_owned(), run.to_string(), "1".to_owned(), "é".to_owned()])
    {
        let mut refused = again(&url, Some(&last)).await;
        assert_eq!(refused.status, 400, "{last}");
        let error = refused.json().await["error"].clone();
        assert_eq!(
            (&error["code"], &error["field"]),
            (&"invalid_last_event_id".into(), &"Last-Event-ID".into())
        );
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_run_of_another_agent_is_none_of_this_one() {
    let Live { gateway, mut provider, offer, .. } = live().await;
    provider.register(&["echo", "other"]).await;
    let other = format!("{}/runs/{}", gateway.agui(&provider.agent("other")), offer.run.run_id);
    let nobodys = format!("{}/runs/{}", gateway.agui(&nobody()), offer.run.run_id);
    for url in [other, nobodys] {
        let mut refused = again(&url, None).await;
        assert_eq!(refused.status, 404);
        assert_eq!(refused.json().await["error"]["code"], "run_not_found");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn an_empty_id_is_none() {
    let Live { gateway, mut provider, offer, mut answer, url } = live().await;
    answer.event().await.unwrap();
    // So the stream stays with whoever reads it.
    let mut refused = again(&url, Some("")).await;
    assert_eq!(refused.json().await["error"]["code"], "stream_taken");
    provider.event(&offer.run.run_id, 2, &finished(&offer)).await;
    let rest = answer.rest().await;
    assert_eq!(events(&rest).len(), 1);
    assert!(again(&url, Some("")).await.rest().await.ends_with(&rest));
    gateway.stop().await;
}

#[tokio::test]
async fn asking_for_the_head_takes_nobodys_stream() {
    let Live { gateway, mut provider, offer, mut answer, url } = live().await;
    let run = &offer.run.run_id;
    answer.event().await.unwrap();
    let head = async |last: &str| {
        let headers = if last.is_empty() { String::new() } else { format!("last-event-id: {last}\r\n") };
        let request = request("HEAD", &url, &format!("{headers}connection: close\r\n"));
        let mut answer = Raw::send(&url, &request, b"").await;
        answer.closed().await;
        let head = |name: &str| answer.header(name).map(str::to_owned);
        (answer.status, head("content-type"), head("cache-control"), head("content-length"))
    };
    let as_get =
        |status, media: &str, cache: Option<&str>| (status, Some(media.to_owned()), cache.map(str::to_owned));
    let stream = as_get(200, "text/event-stream", Some("no-cache"));
    for (last, wanted) in [
        (format!("{run}:1"), &stream),
        (String::new(), &as_get(409, "application/json", None)),
        (format!("{run}:9"), &as_get(400, "application/json", None)),
    ] {
        let (status, media, cache, length) = head(&last).await;
        assert_eq!(&(status, media, cache), wanted, "{last}");
        assert_eq!(length.is_none(), status == 200, "a stream has no length to tell");
    }
    provider.event(run, 2, &finished(&offer)).await;
    let seen = events(&answer.rest().await);
    assert_eq!(seen.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), [format!("{run}:2")]);
    let (status, media, cache, _) = head("").await;
    assert_eq!((status, media, cache), stream);
    assert_eq!(head(&format!("{run}:2")).await.0, 204);
    gateway.stop().await;
}
