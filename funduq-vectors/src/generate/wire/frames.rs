//! Each word of the WebSocket link once: `type`, and the shape's fields beside it.

use super::Sample;
use super::canonical;
use super::samples::{COMPLETION, RUN, THREAD};

pub(super) fn texts() -> Vec<Sample> {
    [up(), down(), llm_up(), llm_down()].concat()
}

fn up() -> Vec<Sample> {
    let event = format!(r#"{{ "type":"RUN_STARTED" ,"runId":"{RUN}","threadId":"{THREAD}"}}"#);
    vec![
        frame("UpFrame", "connect", &canonical_of("Connect")),
        frame("UpFrame", "register", &format!(r#"{{"id":1,"agents":[{}]}}"#, canonical_of("Registration"))),
        frame("UpFrame", "delete", r#"{"id":2,"name":"translator"}"#),
        frame("UpFrame", "threadMessages", &format!(r#"{{"id":3,"runId":"{RUN}","limit":50}}"#)),
        frame(
            "UpFrame",
            "verdict",
            &format!(r#"{{"runId":"{RUN}","attempt":1,"verdict":"refused","reason":"no"}}"#),
        ),
        frame("UpFrame", "event", &format!(r#"{{"runId":"{RUN}","number":1,"event":{event}}}"#)),
        frame("UpFrame", "finish", &format!(r#"{{"runId":"{RUN}"}}"#)),
        frame("UpFrame", "ack", &canonical_of("Ack")),
    ]
}

fn down() -> Vec<Sample> {
    let gap = format!(
        r#"{{"runId":"{RUN}","code":"gap","expected":3,"message":"expected event 3 of the run, got 5; send the ones between"}}"#
    );
    let message = r#"{"id":"m1","role":"user","content":"hi"}"#;
    vec![
        frame("DownFrame", "connectOk", &canonical_of("ConnectOk")),
        frame("DownFrame", "connectErr", &canonical_of("ConnectErr")),
        frame("DownFrame", "ok", r#"{"id":1}"#),
        frame("DownFrame", "err", &gap),
        frame("DownFrame", "messages", &format!(r#"{{"id":3,"messages":[{message}]}}"#)),
        frame("DownFrame", "offer", &canonical_of("Offer")),
        frame("DownFrame", "cancel", &canonical_of("Cancel")),
        frame("DownFrame", "received", &format!(r#"{{"runId":"{RUN}","number":7}}"#)),
    ]
}

fn llm_up() -> Vec<Sample> {
    let offerings = canonical_of("LlmRegistration");
    vec![
        frame("LlmUpFrame", "connect", &canonical_of("Connect")),
        frame("LlmUpFrame", "register", &format!(r#"{{"id":1,"offerings":{offerings}}}"#)),
        frame("LlmUpFrame", "chunk", &canonical_of("Chunk")),
        frame("LlmUpFrame", "end", &canonical_of("CompletionEnd")),
        frame("LlmUpFrame", "failed", &canonical_of("CompletionFailed")),
    ]
}

fn llm_down() -> Vec<Sample> {
    let unknown = format!(r#"{{"code":"invalid","message":"this link has no completion {COMPLETION}"}}"#);
    vec![
        frame("LlmDownFrame", "connectOk", &canonical_of("ConnectOk")),
        frame("LlmDownFrame", "connectErr", &canonical_of("ConnectErr")),
        frame("LlmDownFrame", "ok", r#"{"id":1}"#),
        frame("LlmDownFrame", "err", &unknown),
        frame("LlmDownFrame", "complete", &canonical_of("Complete")),
        frame("LlmDownFrame", "cancelCompletion", &canonical_of("CancelCompletion")),
    ]
}

/// The word before a shape's fields.
fn frame(shape: &'static str, word: &'static str, fields: &str) -> Sample {
    (shape, word, format!(r#"{{"type":"{word}",{}"#, &fields[1..]))
}

/// The first canonical text of a shape.
fn canonical_of(shape: &str) -> String {
    let mut texts = canonical::texts().into_iter();
    texts.find(|(name, ..)| *name == shape).expect("each shape that a frame holds has a canonical text").2
}
