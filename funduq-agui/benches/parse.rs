//! What reading an event costs, beside stepping over the same bytes with serde_json.
//!
//! The promise: `RelayedEvent::parse` takes at most 1.5 times as long as
//! `serde_json::from_slice::<IgnoredAny>`.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use funduq_agui::RelayedEvent;
use serde::de::IgnoredAny;
use serde_json::json;

/// Events as agents send them: small deltas mostly, now and then a large one.
fn events() -> Vec<(&'static str, String)> {
    let delta = json!({
        "type": "TEXT_MESSAGE_CONTENT",
        "messageId": "6f0b1d52-3b5e-4c55-9a3a-7c0a6d0c1f11",
        "delta": "the answer ",
        "timestamp": 1_767_225_600_000_u64,
    });
    let rows: Vec<_> =
        (0..30).map(|row| json!({ "row": row, "text": "a line\nof \"plain\" text, then more" })).collect();
    let result = json!({
        "type": "TOOL_CALL_RESULT",
        "messageId": "t1",
        "toolCallId": "c1",
        "content": json!({ "rows": rows, "total": 30, "note": "x".repeat(1_800) }).to_string(),
    });
    let parts = json!({
        "type": "TOOL_CALL_RESULT",
        "messageId": "t1",
        "toolCallId": "c1",
        "content": [
            { "type": "text", "text": "Found it. ".repeat(200) },
            { "type": "image", "source": { "type": "data", "value": "iVBORw0KGgo".repeat(180), "mimeType": "image/png" } },
        ],
    });
    let messages: Vec<_> = (0..160)
        .map(|turn| match turn % 3 {
            0 => json!({ "id": format!("u{turn}"), "role": "user", "content": "What about the next one? ".repeat(10) }),
            1 => json!({
                "id": format!("a{turn}"),
                "role": "assistant",
                "content": "Let me look. ".repeat(15),
                "toolCalls": [{
                    "id": format!("c{turn}"),
                    "type": "function",
                    "function": { "name": "search", "arguments": "{\"query\":\"the next one\",\"limit\":10}" },
                }],
            }),
            _ => json!({
                "id": format!("t{turn}"),
                "role": "tool",
                "toolCallId": format!("c{}", turn - 1),
                "content": "{\"hits\":[1,2,3,4,5]}".repeat(20),
            }),
        })
        .collect();
    let conversation = json!({ "type": "MESSAGES_SNAPSHOT", "messages": messages });
    let cells: Vec<_> = (0..1_250)
        .map(|cell| json!({ "id": cell, "name": "a cell", "at": [cell, 0.5], "on": true, "of": null }))
        .collect();
    let state = json!({ "type": "STATE_SNAPSHOT", "snapshot": { "cells": cells } });
    vec![
        ("text delta", reordered(&delta)),
        ("tool result", reordered(&result)),
        ("tool result in parts", reordered(&parts)),
        ("messages snapshot", reordered(&conversation)),
        ("state snapshot", reordered(&state)),
    ]
}

/// The event with `type` first, as producers send it; the map of serde_json sorts its keys.
fn reordered(event: &serde_json::Value) -> String {
    let mut members = vec![format!("\"type\":{}", event["type"])];
    for (key, value) in event.as_object().into_iter().flatten().filter(|(key, _)| *key != "type") {
        members.push(format!("\"{key}\":{value}"));
    }
    format!("{{{}}}", members.join(","))
}

fn parse(c: &mut Criterion) {
    for (name, event) in events() {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(event.len() as u64));
        let shared: Arc<str> = event.clone().into();
        group.bench_function(BenchmarkId::new("IgnoredAny", event.len()), |b| {
            b.iter(|| serde_json::from_slice::<IgnoredAny>(black_box(event.as_bytes())));
        });
        group.bench_function(BenchmarkId::new("RelayedEvent", event.len()), |b| {
            b.iter(|| RelayedEvent::parse(Arc::clone(black_box(&shared))));
        });
        group.bench_function(BenchmarkId::new("RelayedEvent, copied", event.len()), |b| {
            b.iter(|| RelayedEvent::parse(black_box(event.as_str())));
        });
        group.finish();
    }
}

criterion_group!(benches, parse);
criterion_main!(benches);
