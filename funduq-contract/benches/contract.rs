//! What the contract costs: signatures beside the bare library, chains by their length, shapes and frames.

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ed25519_dalek::VerifyingKey;
use funduq_contract::http_signature::{RequestSignature, RequestTarget};
use funduq_contract::{
    ActorChain, AgentAddress, Connect, DeliveredRun, DownFrame, EventFrame, Identity, Nonce, Offer, RunId,
    Ticket, UpFrame, cancel_payload, verify_signature,
};

const EVENT: &str = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"5d0c9d2e-8a44-4c5d-9a3c-0f2b6d1e7a90","delta":"a few words of an answer that is being streamed"}"#;

fn identity(seed: u8) -> Identity {
    Identity::from_seed(&[seed; 32])
}

fn run_id() -> RunId {
    RunId::new("6f1f8f0e-3c5a-4f6e-9d53-0b7a1c2d3e4f").expect("a UUID is a run id")
}

/// The work that nobody gets around for one signature: the key's point, and the strict verification.
fn bare_verify(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    let Ok(key) = VerifyingKey::from_bytes(key) else { return false };
    key.verify_strict(message, &ed25519_dalek::Signature::from_bytes(signature)).is_ok()
}

fn signatures(criterion: &mut Criterion) {
    let identity = identity(1);
    let (key, payload) = (identity.public_key(), cancel_payload(&run_id(), 1_755_500_000));
    let signature = identity.sign(&payload);
    criterion.bench_function("verify_signature", |bench| {
        bench.iter(|| verify_signature(black_box(&key), black_box(&signature), black_box(&payload)));
    });
    criterion.bench_function("verify_signature, bare library", |bench| {
        let bytes = payload.to_bytes();
        bench.iter(|| {
            bare_verify(black_box(key.as_bytes()), black_box(&bytes), black_box(signature.as_bytes()))
        });
    });
    criterion.bench_function("sign", |bench| bench.iter(|| identity.sign(black_box(&payload))));
}

fn chains(criterion: &mut Criterion) {
    for hops in [1, 3, 10] {
        let chain = chain(hops);
        assert!(chain.verify().is_ok());
        criterion
            .bench_function(&format!("chain of {hops}"), |bench| bench.iter(|| black_box(&chain).verify()));
    }
    let chain = chain(1);
    let (input, signature) = chain.tokens()[0].rsplit_once('.').expect("a token has three parts");
    let signature: [u8; 64] = decode(signature).try_into().expect("a signature has 64 bytes");
    let key = identity(1).public_key();
    let bare = || bare_verify(black_box(key.as_bytes()), black_box(input.as_bytes()), black_box(&signature));
    criterion.bench_function("chain of 1, bare library", |bench| bench.iter(bare));
    let ratio = ratio(|| black_box(&chain).verify().is_ok(), bare);
    println!("one hop costs {ratio:.3} times the bare verification of the same bytes");
    assert!(ratio <= 1.3, "one hop may cost 1.3 times the bare verification");
}

/// What a signed request costs over an unsigned one: its fields read, its key's point, the signature, the body's hash.
fn signed_requests(criterion: &mut Criterion) {
    let body = vec![b'x'; 4 << 10];
    let target = RequestTarget::new("POST", "https", "relay.example", "/a2a/29e5833a915a6429/echo", None);
    let headers = identity(1).sign_request(&target, &body, 1_755_500_000, &Nonce::generate());
    let field = |name: &str| headers.get(name).map(str::to_owned);
    let accept = || {
        let signature = RequestSignature::read(&field).ok().flatten();
        signature.is_some_and(|signature| {
            signature.check_time(1_755_500_000).is_ok()
                && signature.verify(black_box(&target), &field).is_ok()
                && signature.check_body(black_box(&body)).is_ok()
        })
    };
    criterion.bench_function("accept a signed request of 4 KiB", |bench| bench.iter(accept));
    criterion.bench_function("sign a request of 4 KiB", |bench| {
        bench.iter(|| identity(1).sign_request(black_box(&target), &body, 1_755_500_000, &Nonce::generate()));
    });
    let best = (0..300).map(|_| {
        let start = Instant::now();
        assert!((0..20).all(|_| accept()));
        start.elapsed() / 20
    });
    let best = best.min().unwrap_or_default();
    println!("a signed request costs {:.1} µs over an unsigned one", best.as_secs_f64() * 1e6);
    assert!(best.as_micros() < 150, "a signed request may cost 150 µs over an unsigned one");
}

/// How much more the first costs than the second: the best of many short rounds in turn, so that whatever else the
/// machine does meets both.
fn ratio(ours: impl Fn() -> bool, bare: impl Fn() -> bool) -> f64 {
    let round = |work: &dyn Fn() -> bool| {
        let start = Instant::now();
        assert!((0..20).all(|_| work()));
        start.elapsed().as_secs_f64()
    };
    let best = |(a, b): (f64, f64), _| (round(&ours).min(a), round(&bare).min(b));
    let (ours, bare) = (0..300).fold((f64::MAX, f64::MAX), best);
    ours / bare
}

/// Head, then witness and party in turn.
fn chain(hops: usize) -> ActorChain {
    let to =
        AgentAddress::new(identity(2).public_key(), "translator".parse().expect("a word is an agent name"));
    let mut chain = ActorChain::start(&identity(1));
    for hop in 1..hops {
        let next = if hop % 2 == 1 { chain.dispatch(&identity(9), &to) } else { chain.extend(&identity(2)) };
        chain = next.expect("each step is one that the rules allow");
    }
    chain
}

fn decode(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text).expect("a token is base64url")
}

fn shapes(criterion: &mut Criterion) {
    let connect = Connect::sign(&identity(1), None, Ticket::generate(), Nonce::generate(), Some(4));
    let text = serde_json::to_string(&connect).expect("a shape always serialises");
    criterion.bench_function("read Connect", |bench| {
        bench.iter(|| serde_json::from_str::<Connect>(black_box(&text)));
    });
    criterion
        .bench_function("write Connect", |bench| bench.iter(|| serde_json::to_string(black_box(&connect))));

    let text = offer_text();
    let offer: Offer = serde_json::from_str(&text).expect("the text below is an offer");
    let mut group = criterion.benchmark_group("offer with 40 messages");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("read", |bench| bench.iter(|| serde_json::from_str::<Offer>(black_box(&text))));
    group.bench_function("write", |bench| bench.iter(|| serde_json::to_string(black_box(&offer))));
    group.finish();
}

fn offer_text() -> String {
    let message =
        r#"{"id":"m","role":"user","content":"something that was said a while ago, of a usual length"}"#;
    let messages = vec![message; 40].join(",");
    let input = format!(r#"{{"threadId":"t","runId":"r","messages":[{messages}]}}"#);
    let run: DeliveredRun =
        serde_json::from_str(&format!(r#"{{"runId":"r","threadId":"t","agentName":"a","input":{input}}}"#))
            .expect("this is a delivered run");
    serde_json::to_string(&Offer { attempt: 1, run }).expect("a shape always serialises")
}

fn frames(criterion: &mut Criterion) {
    let run_id = run_id();
    let text = EventFrame::text(&run_id, 7, EVENT);
    let mut group = criterion.benchmark_group("event frame");
    group.throughput(Throughput::Elements(1));
    group.bench_function("read", |bench| bench.iter(|| UpFrame::from_text(black_box(&text))));
    group.bench_function("write", |bench| {
        bench.iter(|| EventFrame::text(black_box(&run_id), 7, black_box(EVENT)));
    });
    let late = format!(r#"{{"event":{EVENT},"runId":"r","number":7,"type":"event"}}"#);
    group.bench_function("read, type last", |bench| bench.iter(|| UpFrame::from_text(black_box(&late))));
    group.finish();
    let received = r#"{"type":"received","runId":"6f1f8f0e-3c5a-4f6e-9d53-0b7a1c2d3e4f","number":7}"#;
    criterion.bench_function("read received frame", |bench| {
        bench.iter(|| DownFrame::from_text(black_box(received)));
    });
}

criterion_group!(contract, signatures, signed_requests, chains, shapes, frames);
criterion_main!(contract);
