//! Whatever bytes arrive, reading them ends in a value or an error, never in a panic.

use funduq_a2a::{
    AgentCard, ListTasksRequest, SendMessageRequest, StreamResponse, Version, WireMessage, json_rpc, rest,
    v03,
};
use proptest::prelude::*;
use serde_json::json;

use crate::arbitrary as any_;
use crate::arbitrary_cards::card;

/// Reads bytes by every way in.
fn read_all(bytes: &[u8]) {
    let _ = SendMessageRequest::from_json(bytes);
    let _ = StreamResponse::from_json(bytes);
    let _ = AgentCard::from_json(bytes);
    let _ = ListTasksRequest::from_json(bytes);
    let _ = v03::json_rpc::Event::from_json(bytes);
    let _ = v03::json_rpc::MessageSendParams::from_json(bytes);
    let _ = v03::rest::StreamResponse::from_json(bytes);
    let _ = v03::rest::SendMessageRequest::from_json(bytes);
    for version in Version::ALL {
        let _ = json_rpc::parse(bytes, Ok(version));
    }
    let text = String::from_utf8_lossy(bytes);
    for (verb, path) in [("POST", "/message:send"), ("POST", "/v1/message:send"), ("GET", "/tasks")] {
        let _ = rest::find(verb, path).unwrap().read(None, &text, bytes);
    }
    let _ = rest::find("GET", &text);
    let _ = Version::from_parameter(Some(&text));
}

/// One change to a document: bytes overwritten, cut off, or doubled.
fn mutated(json: &str, place: prop::sample::Index, kind: u8, byte: u8) -> Vec<u8> {
    let mut bytes = json.as_bytes().to_vec();
    let place = place.index(bytes.len());
    match kind % 4 {
        0 => bytes[place] = byte,
        1 => bytes.truncate(place),
        2 => bytes.insert(place, byte),
        _ => {
            let tail = bytes[place..].to_vec();
            bytes.extend(tail);
        }
    }
    bytes
}

proptest! {
    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_all(&bytes);
    }

    #[test]
    fn mutated_requests(
        request in any_::send_request(), place in any::<prop::sample::Index>(), kind in any::<u8>(), byte in any::<u8>(),
    ) {
        read_all(&mutated(&request.to_json(), place, kind, byte));
        let envelope = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": request}).to_string();
        read_all(&mutated(&envelope, place, kind, byte));
        let old = v03::json_rpc::MessageSendParams::from(request);
        read_all(&mutated(&old.to_json(), place, kind, byte));
    }

    #[test]
    fn mutated_events(
        event in any_::stream_response(), place in any::<prop::sample::Index>(), kind in any::<u8>(), byte in any::<u8>(),
    ) {
        read_all(&mutated(&event.to_json(), place, kind, byte));
        let old = v03::json_rpc::Event::from(event.clone());
        read_all(&mutated(&old.to_json(), place, kind, byte));
        let old = v03::rest::StreamResponse::from(event);
        read_all(&mutated(&old.to_json(), place, kind, byte));
    }

    #[test]
    fn mutated_cards(
        card in card(), place in any::<prop::sample::Index>(), kind in any::<u8>(), byte in any::<u8>(),
    ) {
        read_all(&mutated(&card.to_json(), place, kind, byte));
    }

    #[test]
    fn documents_of_another_kind(value in any_::json()) {
        read_all(value.to_string().as_bytes());
        read_all(json!({"message": value, "task": value, "kind": value, "id": value}).to_string().as_bytes());
    }
}

#[test]
fn nesting_without_end() {
    for open in ["[", "{\"message\":", "{\"jsonrpc\":", "{\"a\":["] {
        read_all(open.repeat(100_000).as_bytes());
    }
    let closed = "[".repeat(100_000) + &"]".repeat(100_000);
    read_all(closed.as_bytes());
}
