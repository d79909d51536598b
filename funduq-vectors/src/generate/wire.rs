//! The wire rows: each crossing shape in its canonical text, in other texts that are taken, and in texts that are not.

use super::{MAIN, SECOND, THIRD, TIME, identity};
use crate::model::{WireRow, WireVerdict};
use funduq_contract::{
    ActorChain, AgentAddress, AgentName, CallerBag, CancelProof, Connect, ConnectOk, KyokOptIn, Nonce,
    ResolutionProof, Signature, Ticket,
};

const RUN: &str = "6f1f8f0e-3c5a-4f6e-9d53-0b7a1c2d3e4f";
const THREAD: &str = "0c0ffee0-5a5a-4b4b-8c8c-123456789abc";
const COMPLETION: &str = "b2f6a1de-0d4e-4a77-8a55-6a1f0c9e7d21";

pub(super) fn rows() -> Vec<WireRow> {
    let mut rows = canonical();
    rows.extend(rows.iter().filter_map(with_unknown_field).collect::<Vec<_>>());
    rows.extend(accepted());
    rows.extend(refused());
    rows.sort_by(|a, b| (&a.kind, &a.name, a.verdict as u8).cmp(&(&b.kind, &b.name, b.verdict as u8)));
    rows
}

fn row(shape: &str, name: &str, json: impl Into<String>, verdict: WireVerdict) -> WireRow {
    WireRow {
        kind: kebab(shape),
        name: name.to_owned(),
        shape: shape.to_owned(),
        json_utf8: json.into(),
        verdict,
    }
}

/// `DeliveredRun` becomes `delivered-run`.
fn kebab(shape: &str) -> String {
    let mut kind = String::new();
    for (index, character) in shape.char_indices() {
        if character.is_ascii_uppercase() && index > 0 {
            kind.push('-');
        }
        kind.push(character.to_ascii_lowercase());
    }
    kind
}

fn canonical() -> Vec<WireRow> {
    let key = identity(MAIN).public_key();
    let input = format!(
        r#"{{"threadId":"{THREAD}","runId":"{RUN}","messages":[{{"id":"m1","role":"user","content":"hi"}}]}}"#
    );
    let run =
        format!(r#"{{"runId":"{RUN}","threadId":"{THREAD}","agentName":"translator","input":{input}}}"#);
    let address = format!(r#"{{"providerKey":"{key}","name":"translator"}}"#);
    let completion = format!(
        r#"{{"completionId":"{COMPLETION}","runId":"{RUN}","agent":{address},"llmName":"house-model","body":{{"model":"m","messages":[]}}}}"#
    );
    let texts: Vec<(&str, &str, String)> = vec![
        ("Ack", "held", format!(r#"{{"runId":"{RUN}","held":true}}"#)),
        ("CallerBag", "everything that funduq reads", caller_bag()),
        ("CancelProof", "plain", to_json(&cancel_proof())),
        ("KyokOptIn", "with a context", format!(r#"{{"llmProvider":{address},"context":{{"budget": 1.50}}}}"#)),
        ("ResolutionProof", "plain", format!(r#"{{"signature":"{}"}}"#, resolution())),
        ("Cancel", "plain", format!(r#"{{"runId":"{RUN}"}}"#)),
        ("CancelCompletion", "plain", format!(r#"{{"completionId":"{COMPLETION}"}}"#)),
        ("Chunk", "a chunk's own bytes", format!(r#"{{"completionId":"{COMPLETION}","chunk":{{"id":"c", "created":1.7555e9,"choices":[{{"index":0,"delta":{{"content":"\u00e9"}}}}]}}}}"#)),
        ("Complete", "plain", format!(r#"{{"completion":{completion}}}"#)),
        ("CompletionEnd", "plain", format!(r#"{{"completionId":"{COMPLETION}"}}"#)),
        ("CompletionFailed", "refused with an object of the provider's own", format!(r#"{{"completionId":"{COMPLETION}","error":{{"message":"over budget","limit":1.50}},"refused":true}}"#)),
        ("Connect", "with a limit of runs at once", to_json(&connect(Some(4)))),
        ("Connect", "without a limit", to_json(&connect(None))),
        ("ConnectErr", "plain", r#"{"code":"ticketExpired","message":"the ticket's time is over; ask for another"}"#.to_owned()),
        ("ConnectOk", "a provider that comes back to a run", to_json(&connect_ok())),
        ("ConnectOk", "a funduq without an identity", r#"{"heldRuns":[],"revision":1}"#.to_owned()),
        ("DeliveredCompletion", "plain", completion),
        ("DeliveredCompletion", "with context and chain", delivered_completion_in_full(&address)),
        ("DeliveredRun", "plain", run.clone()),
        ("DeliveredRun", "with everything that funduq may say", delivered_run_in_full()),
        ("DeliveredRun", "others' bytes are kept", format!(r#"{{"runId":"{RUN}","threadId":"{THREAD}","agentName":"übersetzer","input":{{"threadId":"{THREAD}","runId":"{RUN}","state":{{ "n" : 1.0e5, "s":"\u00e9" }},"messages":[],"forwardedProps":{{"voucher":[1, 2,3.50]}},"newerMember":{{"x": null}}}}}}"#)),
        ("FunduqProps", "nothing to say", "{}".to_owned()),
        ("FunduqProps", "an interjection", format!(r#"{{"addressedRunId":"{RUN}"}}"#)),
        ("KyokGrant", "plain", r#"{"token":"eyJydW4iOiJyIn0.00ff"}"#.to_owned()),
        ("LlmRegistration", "two offerings", r#"{"names":["house-model","small-model"],"metadata":{"price":0.10}}"#.to_owned()),
        ("Offer", "first attempt", format!(r#"{{"attempt":1,"run":{run}}}"#)),
        ("Registration", "with everything", r#"{"name":"translator","description":"Translates.","agentCardExtra":{"skills":[]},"metadata":{"team":"a"},"takesInterjections":true}"#.to_owned()),
        ("Registration", "with nothing said", r#"{"name":"translator","description":"","takesInterjections":false}"#.to_owned()),
        ("TicketIssued", "plain", format!(r#"{{"ticket":"{}","expiresInSeconds":60}}"#, "b7".repeat(16))),
        ("TicketRequest", "plain", format!(r#"{{"publicKey":"{key}"}}"#)),
        ("Verdict", "accepted", r#"{"verdict":"accepted"}"#.to_owned()),
        ("Verdict", "declined", r#"{"verdict":"declined"}"#.to_owned()),
        ("Verdict", "refused", r#"{"verdict":"refused","reason":"this agent reads no images"}"#.to_owned()),
        ("UpFrame", "verdict", format!(r#"{{"type":"verdict","runId":"{RUN}","attempt":1,"verdict":"refused","reason":"no"}}"#)),
        ("UpFrame", "event with the agent's own bytes", format!(r#"{{"type":"event","runId":"{RUN}","number":1,"event":{{ "type":"RUN_STARTED" ,"runId":"{RUN}","threadId":"{THREAD}"}}}}"#)),
        ("UpFrame", "finish", format!(r#"{{"type":"finish","runId":"{RUN}"}}"#)),
        ("UpFrame", "ack", format!(r#"{{"type":"ack","runId":"{RUN}","held":false}}"#)),
        ("UpFrame", "delete", r#"{"type":"delete","id":2,"name":"translator"}"#.to_owned()),
        ("UpFrame", "thread messages", format!(r#"{{"type":"threadMessages","id":3,"runId":"{RUN}","limit":50}}"#)),
        ("DownFrame", "offer", format!(r#"{{"type":"offer","attempt":1,"run":{run}}}"#)),
        ("DownFrame", "cancel", format!(r#"{{"type":"cancel","runId":"{RUN}"}}"#)),
        ("DownFrame", "received", format!(r#"{{"type":"received","runId":"{RUN}","number":7}}"#)),
        ("DownFrame", "error in answer to a request", r#"{"type":"err","id":2,"code":"unknownAgent","message":"this link serves nothing named translator"}"#.to_owned()),
        ("DownFrame", "error about a run", format!(r#"{{"type":"err","runId":"{RUN}","code":"gap","message":"expected event 3 of the run, got 5; send the ones between"}}"#)),
        ("DownFrame", "messages", r#"{"type":"messages","id":3,"messages":[{"id":"m1","role":"user","content":"hi"}]}"#.to_owned()),
        ("LlmUpFrame", "register", r#"{"type":"register","id":1,"offerings":{"names":["house-model"]}}"#.to_owned()),
        ("LlmUpFrame", "end", format!(r#"{{"type":"end","completionId":"{COMPLETION}"}}"#)),
        ("LlmDownFrame", "cancel", format!(r#"{{"type":"cancelCompletion","completionId":"{COMPLETION}"}}"#)),
    ];
    texts.into_iter().map(|(shape, name, json)| row(shape, name, json, WireVerdict::Canonical)).collect()
}

fn delivered_run_in_full() -> String {
    let chain = to_json(&chain());
    format!(
        r#"{{"runId":"{RUN}","threadId":"{THREAD}","agentName":"translator","input":{{"threadId":"{THREAD}","runId":"{RUN}","protocolVersion":"1.0","parentRunId":"r0","messages":[],"tools":[],"context":[],"forwardedProps":{{"mine":1,"funduq":{{"kyok":{{"token":"eyJydW4iOiJyIn0.00ff"}},"actorChain":{chain},"addressedRunId":"r1"}}}}}}}}"#
    )
}

fn delivered_completion_in_full(address: &str) -> String {
    let chain = to_json(&chain());
    format!(
        r#"{{"completionId":"{COMPLETION}","runId":"{RUN}","agent":{address},"llmName":"house-model","context":{{"budget": 1.50}},"actorChain":{chain},"body":{{"model":"m","messages":[{{"role":"user","content":"\u00e9"}}],"stream":true,"temperature":1.0}}}}"#
    )
}

/// What a caller says; it may be newer than funduq, so a member that is unknown there is let be.
const TOLERANT: &[&str] = &["CallerBag", "CancelProof", "KyokOptIn", "ResolutionProof"];

/// The same object with one field more, which no shape takes that both ends publish; a text that is no object gives none.
fn with_unknown_field(row: &WireRow) -> Option<WireRow> {
    if TOLERANT.contains(&row.shape.as_str()) {
        return None;
    }
    let fields = row.json_utf8.strip_prefix('{')?.strip_suffix('}')?;
    let comma = if fields.is_empty() { "" } else { "," };
    let json = format!(r#"{{{fields}{comma}"unheardOf":1}}"#);
    Some(self::row(&row.shape, &format!("{}, with an unknown field", row.name), json, WireVerdict::Refused))
}

fn accepted() -> Vec<WireRow> {
    let newer = format!(r#"{{"signature":"{}","newer":1}}"#, resolution());
    vec![
        row("ResolutionProof", "plain", newer, WireVerdict::Accepted),
        row("Ack", "held", format!("{{ \"held\": true,\n \"runId\": \"{RUN}\" }}"), WireVerdict::Accepted),
        row("UpFrame", "finish", format!(r#"{{"runId":"{RUN}","type":"finish"}}"#), WireVerdict::Accepted),
        row("Registration", "with nothing said", r#"{"name":"translator"}"#, WireVerdict::Accepted),
        row(
            "Registration",
            "with nothing said",
            r#"{"name":"translator","metadata":null}"#,
            WireVerdict::Accepted,
        ),
    ]
}

fn refused() -> Vec<WireRow> {
    let key = identity(MAIN).public_key().to_string();
    let refused = |shape, name, json: String| row(shape, name, json, WireVerdict::Refused);
    vec![
        refused(
            "TicketRequest",
            "a key in upper case",
            format!(r#"{{"publicKey":"{}"}}"#, key.to_uppercase()),
        ),
        refused(
            "TicketRequest",
            "a key that is no point of the curve",
            format!(r#"{{"publicKey":"{}"}}"#, "d0".repeat(32)),
        ),
        refused(
            "TicketRequest",
            "a key of small order",
            format!(r#"{{"publicKey":"01{}"}}"#, "00".repeat(31)),
        ),
        refused("TicketRequest", "no key", "{}".to_owned()),
        refused(
            "TicketIssued",
            "a ticket that is too short",
            r#"{"ticket":"b7","expiresInSeconds":60}"#.to_owned(),
        ),
        refused("Registration", "a name with a slash", r#"{"name":"a/b"}"#.to_owned()),
        refused("Registration", "an empty name", r#"{"name":""}"#.to_owned()),
        refused("Cancel", "a run id with a control character", r#"{"runId":"a\u0000b"}"#.to_owned()),
        refused("Cancel", "snake case", format!(r#"{{"run_id":"{RUN}"}}"#)),
        refused("Connect", "room for no run", to_json(&connect(Some(0)))),
        refused(
            "UpFrame",
            "verdict on attempt 0",
            format!(r#"{{"type":"verdict","runId":"{RUN}","attempt":0,"verdict":"accepted"}}"#),
        ),
        refused(
            "UpFrame",
            "event 0",
            format!(r#"{{"type":"event","runId":"{RUN}","number":0,"event":{{}}}}"#),
        ),
        refused("Verdict", "refused without a reason", r#"{"verdict":"refused"}"#.to_owned()),
        refused("Verdict", "accepted with a reason", r#"{"verdict":"accepted","reason":"x"}"#.to_owned()),
        refused("Verdict", "a fourth answer", r#"{"verdict":"later"}"#.to_owned()),
        refused("Verdict", "one bit", "true".to_owned()),
        refused(
            "DeliveredRun",
            "without an input",
            format!(r#"{{"runId":"{RUN}","threadId":"{THREAD}","agentName":"a"}}"#),
        ),
        refused("UpFrame", "no type", format!(r#"{{"runId":"{RUN}"}}"#)),
        refused(
            "UpFrame",
            "a word of the other direction",
            format!(r#"{{"type":"cancel","runId":"{RUN}"}}"#),
        ),
        refused("UpFrame", "a list", "[]".to_owned()),
    ]
}

fn connect(concurrency: Option<u32>) -> Connect {
    let funduq = identity(SECOND).public_key();
    Connect::sign(&identity(MAIN), Some(&funduq), ticket(), nonce(), concurrency)
}

fn connect_ok() -> ConnectOk {
    let funduq = identity(SECOND);
    ConnectOk {
        funduq_public_key: Some(funduq.public_key()),
        answer: Some(funduq.sign_funduq_connect(&ticket(), &nonce())),
        held_runs: vec![funduq_contract::HeldRun {
            run_id: RUN.parse().expect("a UUID is a run id"),
            received: 12,
        }],
        revision: 1,
    }
}

fn chain() -> ActorChain {
    let name = AgentName::new("translator").expect("a word is an agent name");
    ActorChain::start(&identity(THIRD))
        .dispatch(&identity(SECOND), &AgentAddress::new(identity(MAIN).public_key(), name))
        .expect("a chain of one hop has room for a dispatch")
}

fn cancel_proof() -> CancelProof {
    let run = RUN.parse().expect("a UUID is a run id");
    CancelProof { timestamp: TIME, signature: identity(MAIN).sign_cancel(&run, TIME) }
}

fn resolution() -> Signature {
    identity(MAIN).sign_resolution(&RUN.parse().expect("a UUID is a run id"), ["int-1"])
}

fn caller_bag() -> String {
    let name = AgentName::new("house-model").expect("a word is an agent name");
    to_json(&CallerBag {
        actor_chain: Some(ActorChain::start(&identity(THIRD))),
        kyok: Some(KyokOptIn {
            llm_provider: AgentAddress::new(identity(SECOND).public_key(), name),
            context: None,
        }),
        resolution: Some(ResolutionProof { signature: resolution() }),
        cancel: Some(cancel_proof()),
        addressed_run_id: Some(RUN.parse().expect("a UUID is a run id")),
    })
}

fn ticket() -> Ticket {
    Ticket::from_bytes([0xb7; 16])
}

fn nonce() -> Nonce {
    Nonce::from_bytes([0xc9; 16])
}

fn to_json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("a shape always serialises")
}
