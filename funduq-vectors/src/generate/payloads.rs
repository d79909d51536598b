//! The payload rows: at least two a family, with the inputs that are easiest to get wrong.

use super::{MAIN, SECOND, TIME, identity};
use crate::model::{PayloadInputs, PayloadRow};
use crate::replay::payload_of;

const RUN: &str = "run_2c26b46b68ffc68ff99b453c";
const UUID_RUN: &str = "6f1f8f0e-3c5a-4f6e-9d53-0b7a1c2d3e4f";
const ODD_RUN: &str = "läufe:7:a b";

pub(super) fn rows() -> Vec<PayloadRow> {
    let funduq = identity(SECOND).public_key().to_string();
    let mut rows = vec![
        row(
            "plain body",
            kyok("bearer-token-abc", r#"{"model":"gpt-4","messages":[{"role":"user","content":"hi"}]}"#),
        ),
        row(
            "body with non-ASCII text, bearer with a dot and a colon",
            kyok(
                "eyJydW4iOiI6In0.9f:86d0",
                r#"{"model":"m","messages":[{"role":"user","content":"Grüße, 世界 🌍"}]}"#,
            ),
        ),
        row("empty body", kyok("bearer-token-abc", "")),
        row(
            "a call with a body",
            http_request("POST", "/a2a/29e5833a915a6429/echo", "?", r#"{"jsonrpc":"2.0","id":1}"#),
        ),
        row("a read without a body", http_request("GET", "/threads/t-1/messages", "?after=2&limit=10", "")),
        row(
            "a path beyond ASCII stays encoded, a body is its bytes",
            http_request("POST", "/agui/29e5833a915a6429/%C3%BCbersetzer", "?", r#"{"text":"Grüße 🌍"}"#),
        ),
        row("funduq with a key", provider_connect(&funduq)),
        row("funduq without a key", provider_connect("")),
        row("first opening", funduq_connect("b7", "c9")),
        row("another opening", funduq_connect("00", "ff")),
        row("two asks, unsorted", resolution(RUN, &["int-b", "call_a"])),
        row("non-ASCII ask ids, unsorted", resolution(RUN, &["é", "z", "a"])),
        row(
            "sorted by UTF-8 bytes and not by UTF-16 units",
            resolution(UUID_RUN, &["\u{1f30d}", "\u{ff5e}", "A", "a"]),
        ),
        row("one ask", resolution(UUID_RUN, &["int-1"])),
        row("plain run id", PayloadInputs::Cancel { run_id: RUN.to_owned(), timestamp: TIME }),
        row(
            "run id with colons, a space and non-ASCII text",
            PayloadInputs::Cancel { run_id: ODD_RUN.to_owned(), timestamp: TIME },
        ),
        row("plain run id", PayloadInputs::View { run_id: RUN.to_owned(), timestamp: TIME }),
        row("another time", PayloadInputs::View { run_id: UUID_RUN.to_owned(), timestamp: TIME + 60 }),
    ];
    rows.sort_by(|a, b| (a.inputs.kind(), &a.name).cmp(&(b.inputs.kind(), &b.name)));
    rows
}

fn row(name: &str, inputs: PayloadInputs) -> PayloadRow {
    let payload = payload_of(&inputs).expect("the inputs above are all of their kind");
    let signature_hex = identity(MAIN).sign(&payload).to_string();
    PayloadRow { name: name.to_owned(), inputs, payload_utf8: payload.to_text(), signature_hex }
}

fn kyok(bearer: &str, body: &str) -> PayloadInputs {
    PayloadInputs::KyokCall {
        bearer: bearer.to_owned(),
        timestamp: TIME,
        body_utf8: body.to_owned(),
        body_sha256_hex: crate::stable::sha256_hex(body.as_bytes()),
    }
}

fn http_request(method: &str, path: &str, query: &str, body: &str) -> PayloadInputs {
    let digest = funduq_contract::http_signature::content_digest(body.as_bytes());
    PayloadInputs::HttpRequest {
        method: method.to_owned(),
        authority: "relay.example".to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        body_utf8: body.to_owned(),
        body_sha256_base64: digest.trim_start_matches("sha-256=:").trim_end_matches(':').to_owned(),
        timestamp: TIME,
        public_key: identity(MAIN).public_key().to_string(),
        nonce: "c9".repeat(16),
    }
}

fn provider_connect(funduq: &str) -> PayloadInputs {
    PayloadInputs::ProviderConnect {
        funduq_public_key: funduq.to_owned(),
        funduq_nonce: "b7".repeat(16),
        provider_nonce: "c9".repeat(16),
    }
}

fn funduq_connect(ticket: &str, nonce: &str) -> PayloadInputs {
    PayloadInputs::FunduqConnect { funduq_nonce: ticket.repeat(16), provider_nonce: nonce.repeat(16) }
}

fn resolution(run_id: &str, ask_ids: &[&str]) -> PayloadInputs {
    PayloadInputs::Resolution {
        run_id: run_id.to_owned(),
        ask_ids: ask_ids.iter().map(ToString::to_string).collect(),
    }
}
