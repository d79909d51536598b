//! What the page of metrics says of completions: each ends in one way, and nothing of a stranger's is a label.

use std::collections::HashMap;

use funduq_provider_sdk::llm::CompletionError;

use crate::lender::Lender;
use crate::spender::{Spender, request};
use crate::support::TestGateway;

fn ended(figures: &HashMap<String, f64>, outcome: &str) -> f64 {
    figures[&format!("funduq_completions_ended_total{{outcome=\"{outcome}\"}}")]
}

#[tokio::test]
async fn completions_are_counted_by_how_they_ended() {
    let gateway = TestGateway::start().await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let before = gateway.figures().await;
    assert_eq!((before["funduq_completions_total"], ended(&before, "agent_too_slow")), (0.0, 0.0));

    let (stream, at_once) = (request(true), request(false));
    let call = spender.call(&stream);
    let (mut answer, mut asked) = tokio::join!(call, async {
        let asked = lender.asked().await;
        asked.word("one");
        asked
    });
    answer.chunk().await.unwrap().unwrap();
    let during = gateway.figures().await;
    assert_eq!((during["funduq_completions_total"], during["funduq_completions_live"]), (1.0, 1.0));
    assert_eq!(during["funduq_links{kind=\"llm\"}"], 1.0);
    asked.word("two");
    asked.end();
    answer.text().await.unwrap();

    let (refused, ()) = tokio::join!(spender.call(&at_once), async {
        lender.asked().await.fail(CompletionError::refusal("no", "not for you"));
    });
    assert_eq!(refused.status(), 403);
    let (failed, ()) = tokio::join!(spender.call(&at_once), async {
        lender.asked().await.fail(CompletionError::failure("upstream", "gone"));
    });
    assert_eq!(failed.status(), 502);
    let call = tokio::spawn(spender.request(&stream).send());
    let left = lender.asked().await;
    call.abort();
    left.dropped().await;
    let (cut, ()) = tokio::join!(spender.call(&at_once), async {
        lender.asked().await;
        lender.die();
    });
    assert_eq!(cut.status(), 502);

    let after = gateway.figures().await;
    for outcome in ["completed", "refused", "failed", "agent_left", "provider_disconnected"] {
        assert_eq!(ended(&after, outcome), 1.0, "{outcome}");
    }
    assert_eq!((after["funduq_completions_total"], after["funduq_completions_live"]), (5.0, 0.0));
    assert_eq!(after["funduq_completion_chunks_total"], 2.0);
    assert!(after["funduq_completion_bytes_total"] > 200.0);
    assert_eq!(after["funduq_completion_unread_bytes"], 0.0);
    assert_eq!(after["funduq_first_chunk_seconds_count"], 1.0);
    assert_eq!(after.len(), before.len() + new_routes(&before, &after), "no series of completions is new");
    drop(spender);
    gateway.stop().await;
}

fn new_routes(before: &HashMap<String, f64>, after: &HashMap<String, f64>) -> usize {
    let is_new = |name: &&String| name.starts_with("funduq_http_requests") && !before.contains_key(*name);
    after.keys().filter(is_new).count()
}
