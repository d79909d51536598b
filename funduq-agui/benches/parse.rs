//! What reading an event costs, beside stepping over the same bytes with serde_json.
//!
//! The promise: `RelayedEvent::parse` takes at most 1.5 times as long as
//! `serde_json::from_slice::<IgnoredAny>`. The bench fails where it takes longer. With `--json` the promise alone is
//! measured, and printed as one object for `cargo xtask bench`.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use funduq_agui::RelayedEvent;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

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
fn reordered(event: &Value) -> String {
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

/// How many times as long as stepping over its bytes reading an event may take.
const LIMIT: f64 = 1.5;

/// How many times as long it takes: the best of many short rounds in turn, so that whatever else the machine does meets
/// both.
fn ratio(event: &str) -> f64 {
    let shared: Arc<str> = event.into();
    let parses = (64 << 10) / event.len() + 1;
    let round = |work: &dyn Fn() -> bool| {
        let start = Instant::now();
        assert!((0..parses).all(|_| work()));
        start.elapsed().as_secs_f64()
    };
    let ours = || RelayedEvent::parse(Arc::clone(black_box(&shared))).is_ok();
    let bare = || serde_json::from_slice::<IgnoredAny>(black_box(event.as_bytes())).is_ok();
    let best = |(a, b): (f64, f64), _| (round(&ours).min(a), round(&bare).min(b));
    let (ours, bare) = (0..500).fold((f64::MAX, f64::MAX), best);
    ours / bare
}

fn main() -> ExitCode {
    let has = |flag: &str| std::env::args().any(|given| given == flag);
    if !has("--json") {
        benches();
        Criterion::default().configure_from_args().final_summary();
    }
    // `cargo test` runs it too, with another flag, to see that it works.
    if !has("--bench") {
        return ExitCode::SUCCESS;
    }
    let (mut figures, mut limits, mut is_met) = (Map::new(), Map::new(), true);
    for (name, event) in events() {
        let (name, ratio) = (format!("parse_ratio_{}", name.replace(' ', "_")), ratio(&event));
        let holds = ratio <= LIMIT;
        is_met &= holds;
        if !has("--json") {
            println!("{name:<46} {ratio:>12.3}  at most {LIMIT}{}", if holds { "" } else { "  MISSED" });
        }
        limits.insert(name.clone(), json!({ "at_most": LIMIT, "met": holds }));
        figures.insert(name, ratio.into());
    }
    if has("--json") {
        figures.insert("limits".to_owned(), limits.into());
        println!("{}", Value::from(figures));
    }
    if is_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
