//! Answers that are not streamed: one chat completion out of all chunks, with nothing left out.

use serde_json::{Value, json};

use crate::lender::Lender;
use crate::spender::{Spender, code, request};
use crate::support::TestGateway;

/// The answer out of these chunks. Boxed, because a gateway and its parties together are large.
async fn whole(chunks: &[Value]) -> reqwest::Response {
    Box::pin(collapsed(chunks)).await
}

async fn collapsed(chunks: &[Value]) -> reqwest::Response {
    let gateway = TestGateway::start().await;
    let mut lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let body = request(false);
    let (answer, ()) = tokio::join!(spender.call(&body), async {
        let mut asked = lender.asked().await;
        chunks.iter().for_each(|chunk| asked.chunk(&chunk.to_string()));
        asked.end();
    });
    drop(spender);
    gateway.stop().await;
    answer
}

fn choice(index: u64, delta: Value) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "created": 7, "model": "m",
        "choices": [{"index": index, "delta": delta, "finish_reason": null}]})
}

#[tokio::test]
async fn content_calls_refusals_logprobs_choices_and_usage_are_kept() {
    let call = |index: u64, function: Value| json!({"tool_calls": [{"index": index, "function": function}]});
    let mut opened = choice(0, call(1, json!({"name": "b", "arguments": ""})));
    opened["choices"][0]["delta"]["tool_calls"][0]["id"] = json!("call-b");
    let mut first = choice(0, json!({"role": "assistant", "content": "He"}));
    first["choices"][0]["logprobs"] = json!({"content": [{"token": "He"}]});
    let answer = whole(&[
        first,
        choice(0, json!({"content": "llo"})),
        choice(0, call(0, json!({"name": "a", "arguments": "{\"x\""}))),
        opened,
        choice(0, call(0, json!({"arguments": ":1}"}))),
        choice(0, call(1, json!({"arguments": "{}"}))),
        choice(1, json!({"refusal": "no"})),
        json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"},
            {"index": 1, "delta": {}, "finish_reason": "stop"}]}),
        json!({"id": "c", "choices": [], "usage": {"total_tokens": 9}}),
    ])
    .await;
    assert_eq!(answer.headers()["content-type"], "application/json");
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(
        answer,
        json!({"id": "c", "object": "chat.completion", "created": 7, "model": "m", "usage": {"total_tokens": 9},
        "choices": [
            {"index": 0, "finish_reason": "tool_calls", "logprobs": {"content": [{"token": "He"}]},
             "message": {"role": "assistant", "content": "Hello", "tool_calls": [
                {"function": {"name": "a", "arguments": "{\"x\":1}"}},
                {"id": "call-b", "function": {"name": "b", "arguments": "{}"}}]}},
            {"index": 1, "finish_reason": "stop", "logprobs": null,
             "message": {"role": "assistant", "content": null, "refusal": "no"}},
        ]})
    );
}

#[tokio::test]
async fn chunks_that_cannot_be_collapsed_are_the_providers_failure() {
    assert_eq!(code(whole(&[json!("text")]).await).await, (502, "malformed_chunk".into()));
    assert_eq!(code(whole(&[choice(1 << 40, json!({}))]).await).await, (502, "malformed_chunk".into()));
}
