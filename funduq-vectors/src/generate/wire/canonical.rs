//! Each shape in its canonical text: read and written again, it is the same bytes.

use super::Sample;
use super::samples::{
    COMPLETION, RUN, THREAD, address, caller_bag, cancel_proof, chain, completion, connect, connect_ok, key,
    plain_completion, plain_run, resolution, run, to_json,
};

/// A grant, which is opaque.
const GRANT: &str = r#"{"token":"eyJydW4iOiJyIn0.00ff"}"#;

pub(super) fn texts() -> Vec<Sample> {
    [opening(), publishing(), runs(), completions(), bags()].concat()
}

fn opening() -> Vec<Sample> {
    let refusal = r#"{"code":"ticketExpired","message":"the ticket's time is over; ask for another"}"#;
    vec![
        ("TicketRequest", "plain", format!(r#"{{"publicKey":"{}"}}"#, key())),
        ("TicketIssued", "plain", format!(r#"{{"ticket":"{}","expiresInSeconds":60}}"#, "b7".repeat(16))),
        ("Connect", "with a limit of runs at once", connect(Some(4))),
        ("Connect", "without a limit", connect(None)),
        ("ConnectOk", "a provider that comes back to a run", connect_ok()),
        ("ConnectOk", "a funduq without an identity", r#"{"heldRuns":[],"revision":1}"#.to_owned()),
        ("ConnectErr", "plain", refusal.to_owned()),
    ]
}

fn publishing() -> Vec<Sample> {
    let full = r#"{"name":"translator","description":"Translates.","agentCardExtra":{"skills":[]},"metadata":{"team":"a"},"takesInterjections":true}"#;
    let bare = r#"{"name":"translator","description":"","takesInterjections":false}"#;
    let offerings = r#"{"names":["house-model","small-model"],"metadata":{"price":0.10}}"#;
    vec![
        ("Registration", "with everything", full.to_owned()),
        ("Registration", "with nothing said", bare.to_owned()),
        ("LlmRegistration", "two offerings", offerings.to_owned()),
    ]
}

fn runs() -> Vec<Sample> {
    let chain = chain();
    let said = format!(r#"{{"kyok":{GRANT},"actorChain":{chain},"addressedRunId":"r1"}}"#);
    let full = format!(
        r#"{{"threadId":"{THREAD}","runId":"{RUN}","protocolVersion":"1.0","parentRunId":"r0","messages":[],"tools":[],"context":[],"forwardedProps":{{"mine":1,"funduq":{said}}}}}"#
    );
    let odd = format!(
        r#"{{"threadId":"{THREAD}","runId":"{RUN}","state":{{ "n" : 1.0e5, "s":"\u00e9" }},"messages":[],"forwardedProps":{{"voucher":[1, 2,3.50]}},"newerMember":{{"x": null}}}}"#
    );
    let refused = r#"{"verdict":"refused","reason":"this agent reads no images"}"#;
    vec![
        ("DeliveredRun", "plain", plain_run()),
        ("DeliveredRun", "with everything that funduq may say", run("translator", &full)),
        ("DeliveredRun", "others' bytes are kept", run("übersetzer", &odd)),
        ("Offer", "first attempt", format!(r#"{{"attempt":1,"run":{}}}"#, plain_run())),
        ("Verdict", "accepted", r#"{"verdict":"accepted"}"#.to_owned()),
        ("Verdict", "declined", r#"{"verdict":"declined"}"#.to_owned()),
        ("Verdict", "refused", refused.to_owned()),
        ("Cancel", "plain", format!(r#"{{"runId":"{RUN}"}}"#)),
        ("Ack", "held", format!(r#"{{"runId":"{RUN}","held":true}}"#)),
        ("FunduqProps", "nothing to say", "{}".to_owned()),
        ("FunduqProps", "everything", said),
        ("KyokGrant", "plain", GRANT.to_owned()),
    ]
}

fn completions() -> Vec<Sample> {
    let between = format!(r#""context":{{"budget": 1.50}},"actorChain":{},"#, chain());
    let body =
        r#"{"model":"m","messages":[{"role":"user","content":"\u00e9"}],"stream":true,"temperature":1.0}"#;
    let chunk = r#"{"id":"c", "created":1.7555e9,"choices":[{"index":0,"delta":{"content":"\u00e9"}}]}"#;
    let error = r#"{"message":"over budget","limit":1.50}"#;
    vec![
        ("DeliveredCompletion", "plain", plain_completion()),
        ("DeliveredCompletion", "with context and chain", completion(&between, body)),
        ("Complete", "plain", format!(r#"{{"completion":{}}}"#, plain_completion())),
        ("Chunk", "a chunk's own bytes", format!(r#"{{"completionId":"{COMPLETION}","chunk":{chunk}}}"#)),
        ("CompletionEnd", "plain", format!(r#"{{"completionId":"{COMPLETION}"}}"#)),
        (
            "CompletionFailed",
            "refused with an object of the provider's own",
            format!(r#"{{"completionId":"{COMPLETION}","error":{error},"refused":true}}"#),
        ),
        ("CancelCompletion", "plain", format!(r#"{{"completionId":"{COMPLETION}"}}"#)),
    ]
}

fn bags() -> Vec<Sample> {
    let opt_in = format!(r#"{{"llmProvider":{},"context":{{"budget": 1.50}}}}"#, address());
    vec![
        ("CallerBag", "everything that funduq reads", caller_bag()),
        ("CancelProof", "plain", to_json(&cancel_proof())),
        ("KyokOptIn", "with a context", opt_in),
        ("ResolutionProof", "plain", format!(r#"{{"signature":"{}"}}"#, resolution())),
    ]
}
