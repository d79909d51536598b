//! Keys and signatures from a stranger: any bytes are judged, none verifies under a key that did not sign, none panics.
#![no_main]

use funduq_contract::{PublicKey, Signature, funduq_connect_payload, verify_signature};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: ([u8; 32], [u8; 64], [u8; 16], [u8; 16])| {
    let (key, signature, ticket, nonce) = input;
    let Ok(key) = PublicKey::from_bytes(&key) else { return };
    let text = key.to_string();
    assert_eq!(text.parse::<PublicKey>(), Ok(key));
    let payload = funduq_connect_payload(
        &funduq_contract::Ticket::from_bytes(ticket),
        &funduq_contract::Nonce::from_bytes(nonce),
    );
    // A fuzzer that forges one has found something.
    assert!(verify_signature(&key, &Signature::from_bytes(&signature), &payload).is_err());
});
