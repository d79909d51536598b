//! Texts that are taken without being canonical, and texts that are refused.

use super::Sample;
use super::samples::{RUN, THREAD, connect, key, resolution};

/// Each has the name of the canonical text that it is written as.
pub(super) fn accepted() -> Vec<Sample> {
    let newer = format!(r#"{{"signature":"{}","newer":1}}"#, resolution());
    vec![
        ("ResolutionProof", "plain", newer),
        ("Ack", "held", format!("{{ \"held\": true,\n \"runId\": \"{RUN}\" }}")),
        ("UpFrame", "finish", format!(r#"{{"runId":"{RUN}","type":"finish"}}"#)),
        ("Registration", "with nothing said", r#"{"name":"translator"}"#.to_owned()),
        ("Registration", "with nothing said", r#"{"name":"translator","metadata":null}"#.to_owned()),
    ]
}

pub(super) fn refused() -> Vec<Sample> {
    [keys(), names(), numbers(), forms()].concat()
}

fn keys() -> Vec<Sample> {
    let request = |key: &str| format!(r#"{{"publicKey":"{key}"}}"#);
    vec![
        ("TicketRequest", "a key in upper case", request(&key().to_uppercase())),
        ("TicketRequest", "a key that is no point of the curve", request(&"d0".repeat(32))),
        ("TicketRequest", "a key of small order", request(&format!("01{}", "00".repeat(31)))),
        ("TicketRequest", "a key in its second encoding", request(&format!("f0{}7f", "ff".repeat(30)))),
        ("TicketRequest", "no key", "{}".to_owned()),
        ("TicketIssued", "a ticket that is too short", r#"{"ticket":"b7","expiresInSeconds":60}"#.to_owned()),
    ]
}

fn names() -> Vec<Sample> {
    vec![
        ("Registration", "a name with a slash", r#"{"name":"a/b"}"#.to_owned()),
        ("Registration", "an empty name", r#"{"name":""}"#.to_owned()),
        ("Registration", "a name that is too long", format!(r#"{{"name":"{}"}}"#, "é".repeat(65))),
        ("Cancel", "a run id with a control character", r#"{"runId":"a\u0000b"}"#.to_owned()),
        ("Cancel", "snake case", format!(r#"{{"run_id":"{RUN}"}}"#)),
    ]
}

fn numbers() -> Vec<Sample> {
    let verdict = format!(r#"{{"type":"verdict","runId":"{RUN}","attempt":0,"verdict":"accepted"}}"#);
    let event = format!(r#"{{"type":"event","runId":"{RUN}","number":0,"event":{{}}}}"#);
    vec![
        ("Connect", "room for no run", connect(Some(0))),
        ("UpFrame", "verdict on attempt 0", verdict),
        ("UpFrame", "event 0", event),
    ]
}

fn forms() -> Vec<Sample> {
    let run = format!(r#"{{"runId":"{RUN}","threadId":"{THREAD}","agentName":"a"}}"#);
    vec![
        ("Verdict", "refused without a reason", r#"{"verdict":"refused"}"#.to_owned()),
        ("Verdict", "accepted with a reason", r#"{"verdict":"accepted","reason":"x"}"#.to_owned()),
        ("Verdict", "a fourth answer", r#"{"verdict":"later"}"#.to_owned()),
        ("Verdict", "one bit", "true".to_owned()),
        ("DeliveredRun", "without an input", run),
        ("UpFrame", "no type", format!(r#"{{"runId":"{RUN}"}}"#)),
        ("UpFrame", "a word of the other direction", format!(r#"{{"type":"cancel","runId":"{RUN}"}}"#)),
        ("UpFrame", "a list", "[]".to_owned()),
    ]
}
