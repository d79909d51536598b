//! What an independent implementation of the same contract produced: bytes, signatures and chains that this crate
//! must come out at. Made with the public Python packages `funduq-contract` 0.0.14, test keys `a5`, `b6` and `e1`
//! thirty-two times.

use crate::chain::ActorChain;
use crate::identity::{Identity, verify_bytes};
use crate::ids::RunId;
use crate::keys::{PublicKey, Signature};
use crate::payload::{
    SignedPayload, cancel_payload, funduq_connect_payload, kyok_call_payload, provider_connect_payload,
    provider_connect_text, resolve_payload, view_payload,
};
use crate::tickets::{Nonce, Ticket};
use crate::verify_signature;

const KEY_A5: &str = "29e5833a915a6429a4e3a7948475c338ef436eb82be89c92f059704403db9d55";
const KEY_B6: &str = "805440ee48051fc82ea64d905acabff0d21780f7fcaba6900e0e41387b1d4a57";
const KEY_E1: &str = "25fc32c478a5a4f84e4557a0342e08278c883641b6149bdb0b4a986ab6c2cb78";
const RUN: &str = "run_2c26b46b68ffc68ff99b453c";
const TICKET: &str = "b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7";
const NONCE: &str = "c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9";
const TIME: i64 = 1_755_500_000;

const HEAD: &str = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJhY3RvclB1YmxpY0tleSI6IjI5ZTU4MzNhOTE1YTY0MjlhNGUzYTc5NDg0NzVjMzM\
    4ZWY0MzZlYjgyYmU4OWM5MmYwNTk3MDQ0MDNkYjlkNTUiLCJwcmV2SGFzaCI6bnVsbH0.UdDNsBBdWnD09-_qQoH1SYv-APhcYZUCJS6\
    gGml2YakXq-I3pLsHBn4zDmG0MZTFVLfZnEOj5XNiD_dTHPkLBg";
const SECOND: &str = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJhY3RvclB1YmxpY0tleSI6IjgwNTQ0MGVlNDgwNTFmYzgyZWE2NGQ5MDVhY2FiZmY\
    wZDIxNzgwZjdmY2FiYTY5MDBlMGU0MTM4N2IxZDRhNTciLCJwcmV2SGFzaCI6ImUxYTliMmVhNjQ3ZWExNzFjOTNkMjhkMTc0ZmI0MzY\
    0N2Q2ZGU1YmUyZmJiZWI4Y2RhYWNiN2IxY2Y0ZGUwM2QifQ.BiPx2kQy-o2hQjDuAeUHDrrGbFcVc5O0wLdTlHV9Fbti2QCBsKz7bl4n\
    p2RCA78C2Fxoijt_F2BCwhnX6jQRDg";
const WITNESS: &str = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJhY3RvclB1YmxpY0tleSI6IjgwNTQ0MGVlNDgwNTFmYzgyZWE2NGQ5MDVhY2FiZmY\
    wZDIxNzgwZjdmY2FiYTY5MDBlMGU0MTM4N2IxZDRhNTciLCJwcmV2SGFzaCI6ImUxYTliMmVhNjQ3ZWExNzFjOTNkMjhkMTc0ZmI0MzY\
    0N2Q2ZGU1YmUyZmJiZWI4Y2RhYWNiN2IxY2Y0ZGUwM2QiLCJkaXNwYXRjaGVkVG8iOnsicHJvdmlkZXJLZXkiOiIyNWZjMzJjNDc4YTV\
    hNGY4NGU0NTU3YTAzNDJlMDgyNzhjODgzNjQxYjYxNDliZGIwYjRhOTg2YWI2YzJjYjc4IiwibmFtZSI6InRyYW5zbGF0b3IifX0.diO\
    eTiS2WvTiBEDPr_ZkpUBpfh0D_RFhR7UvHHnkvCROhWVsJEcTW7J1eTM3ZI64HQ8c4SSytmfwLK2USHq-DQ";
const PARTY: &str = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJhY3RvclB1YmxpY0tleSI6IjI1ZmMzMmM0NzhhNWE0Zjg0ZTQ1NTdhMDM0MmUwODI\
    3OGM4ODM2NDFiNjE0OWJkYjBiNGE5ODZhYjZjMmNiNzgiLCJwcmV2SGFzaCI6IjMwZjEyMWI5MzkxZmIyMzIyNDdkZmIzOWNjNmNhYzY\
    3MGFhZTE1N2MyMGFlZGM3YjFiN2Y1MGRjMTlhOTU4OWIifQ.n_5vo72QhNK4-dTiTrmmnKEhFhj2xANtI5L28fwJeBEOrV-hdyz3_5Rl\
    _vQzDNIxtZqYjBjVJJzKQKxsqjrIBw";
const HEAD_SKIPS: &str = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJhY3RvclB1YmxpY0tleSI6IjI5ZTU4MzNhOTE1YTY0MjlhNGUzYTc5NDg0NzVjMzM\
    4ZWY0MzZlYjgyYmU4OWM5MmYwNTk3MDQ0MDNkYjlkNTUiLCJwcmV2SGFzaCI6IjMwZjEyMWI5MzkxZmIyMzIyNDdkZmIzOWNjNmNhYzY\
    3MGFhZTE1N2MyMGFlZGM3YjFiN2Y1MGRjMTlhOTU4OWIifQ.vGD-2f6O6iL6-Uu7NlyUn15O4lQEMcJeuq569F1MBICcaUWQQEs9bpOX\
    Ys7GV5ESzCG74c_NELwAp15haPLsCw";
const WITNESS_AS_PARTY: &str = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJhY3RvclB1YmxpY0tleSI6IjgwNTQ0MGVlNDgwNTFmYzgyZWE2NGQ5MDVhY2FiZmY\
    wZDIxNzgwZjdmY2FiYTY5MDBlMGU0MTM4N2IxZDRhNTciLCJwcmV2SGFzaCI6IjMwZjEyMWI5MzkxZmIyMzIyNDdkZmIzOWNjNmNhYzY\
    3MGFhZTE1N2MyMGFlZGM3YjFiN2Y1MGRjMTlhOTU4OWIifQ.JSEI72ppzAM_DtXuxYNtumjDI5ANxozA0ahj333Dp-zj1CO38SjiwoN9\
    QVftSGbR7A5AgXd2OhUklYbZfN-9Cg";
const REDISPATCH: &str = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJhY3RvclB1YmxpY0tleSI6IjgwNTQ0MGVlNDgwNTFmYzgyZWE2NGQ5MDVhY2FiZmY\
    wZDIxNzgwZjdmY2FiYTY5MDBlMGU0MTM4N2IxZDRhNTciLCJwcmV2SGFzaCI6IjMwZjEyMWI5MzkxZmIyMzIyNDdkZmIzOWNjNmNhYzY\
    3MGFhZTE1N2MyMGFlZGM3YjFiN2Y1MGRjMTlhOTU4OWIiLCJkaXNwYXRjaGVkVG8iOnsicHJvdmlkZXJLZXkiOiIyOWU1ODMzYTkxNWE\
    2NDI5YTRlM2E3OTQ4NDc1YzMzOGVmNDM2ZWI4MmJlODljOTJmMDU5NzA0NDAzZGI5ZDU1IiwibmFtZSI6Im90aGVyIn19.3IRDKnGH8h\
    5tgLREzB_PVUs5lrb5Ok219HgpZl1yFY9rjqj9dHjrfoujKOtsIz_VjSYbgkbSP_pNRedj4x9TBQ";

fn identity(byte: u8) -> Identity {
    Identity::from_seed(&[byte; 32])
}

fn run() -> RunId {
    RUN.parse().unwrap()
}

fn ticket() -> Ticket {
    TICKET.parse().unwrap()
}

fn nonce() -> Nonce {
    NONCE.parse().unwrap()
}

/// Text and signature as the peer made them, with key `a5`.
fn check(payload: &SignedPayload, text: &str, signature: &str) {
    let identity = identity(0xa5);
    assert_eq!(payload.to_text(), text);
    assert_eq!(identity.sign(payload).to_string(), signature);
    assert_eq!(verify_signature(&identity.public_key(), &signature.parse().unwrap(), payload), Ok(()));
}

#[test]
fn the_peers_keys_come_from_the_same_seeds() {
    for (byte, key) in [(0xa5, KEY_A5), (0xb6, KEY_B6), (0xe1, KEY_E1)] {
        assert_eq!(identity(byte).public_key().to_string(), key);
    }
    assert_eq!(KEY_A5.parse::<PublicKey>().unwrap().fingerprint().to_string(), "a1d577350a959ecd");
}

#[test]
fn a_kyok_call_is_the_peers() {
    let body = br#"{"model":"gpt-4","messages":[{"role":"user","content":"hi"}]}"#;
    check(
        &kyok_call_payload("bearer-token-abc", TIME, body),
        "funduq-kyok-call:bearer-token-abc:1755500000:\
         aafe81911c246dac10c95e15f6e50babce5f562d691953e0185c372e973940e1",
        "99d08f65fde307d001beb3ffdae7a24df033d70324e29cfabf0d177ea98e118a\
         be6e50182223968ae733dc95fb293885f9a5639e230190ea03a42f469dcd4f05",
    );
}

#[test]
fn an_opening_towards_a_funduq_without_a_key_is_the_peers() {
    check(
        &provider_connect_payload(None, &ticket(), &nonce()),
        "funduq-connect-provider::b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7:c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9",
        "2f38f690fae414ea2f3edc3767a050649420029a15baa4aacf5f7fbccb43e4af\
         f71d8b29da9e0d366202eb1d6814453bc5ff5966031f8245ee675dbf20235805",
    );
}

/// The peer's row names `d0` thirty-two times as funduq's key. That is no point of the curve, so no `PublicKey`
/// says it; the bytes and the signature are compared below that type.
#[test]
fn an_opening_towards_a_keyed_funduq_is_the_peers() {
    let key = "d0".repeat(32);
    assert!(key.parse::<PublicKey>().is_err());
    let text = provider_connect_text(&key, &ticket(), &nonce());
    assert_eq!(
        text,
        "funduq-connect-provider:d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0:\
         b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7:c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9"
    );
    let signature: Signature = "65ee172b793324af83ca988249f92d52f4b58ed4e4a80b3090b0985c00120338\
                                05af304e7a5252c9b1b7d1c1957e49f8611825d7829e6f3a39886ae0f518cf0f"
        .parse()
        .unwrap();
    assert_eq!(verify_bytes(&identity(0xa5).public_key(), &signature, text.as_bytes()), Ok(()));
}

#[test]
fn funduqs_answer_is_the_peers() {
    check(
        &funduq_connect_payload(&ticket(), &nonce()),
        "funduq-connect-funduq:b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7:c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9",
        "52eb6a978325e7da8a67844eece4a801f85c0a4eaea0e692830ad277353efe64\
         da3b8dba45e2bc10107ba3a447798144d6af606aa710e0bf15496d5781536d0e",
    );
}

#[test]
fn resolutions_are_the_peers_with_plain_and_with_non_ascii_ids() {
    check(
        &resolve_payload(&run(), ["int-b", "call_a"]),
        "funduq-resolve:run_2c26b46b68ffc68ff99b453c:\
         ad828638b84526218b18dd6c470aafa90bf125f9974744f01b0fae7c8e4759eb",
        "4aeeb56958e8ac1ec9ecb74c96761199cf90f746a16e89d6db64c0a10f0f4edc\
         790cef769cd8851ee4d641aa0b4281e80414c48fea76e56e248aa1152007f60a",
    );
    check(
        &resolve_payload(&run(), ["é", "z", "a"]),
        "funduq-resolve:run_2c26b46b68ffc68ff99b453c:\
         b841dd20e246362dfd6181f0bb99caa47df2c751d50182df0c4ed12a5723a749",
        "9aeb7db57ef45c88b0b080b1ba6fadbe748f850ae93301378da9667bccb37789\
         530451ea800ed3133be4b4dda6de76329fb9cd169e05936bee95566cedd3a40d",
    );
}

#[test]
fn a_cancel_is_the_peers() {
    check(
        &cancel_payload(&run(), TIME),
        "funduq-cancel:run_2c26b46b68ffc68ff99b453c:1755500000",
        "34bf99fe56bcdf2e831258395302608b72fd3e85e76cdb395e5d71e6b2139563\
         96758a7b0f6f8260f7cbc2b6b7fb6570c1dab2c71c093c42f273681273d50504",
    );
}

#[test]
fn a_view_is_the_peers() {
    check(
        &view_payload(&run(), TIME),
        "funduq-view:run_2c26b46b68ffc68ff99b453c:1755500000",
        "08a8924d7dac66893c2c7338f5cb50daa4468d830197860e8ef4eb5dc5fd8c1e\
         b3d9ad9038488d60c3e46414b0f565e2c7f9a66ecf2b817214442f12fbd9530f",
    );
}

/// What the peer's verifier made of a chain.
enum Judgement {
    Keys(&'static [&'static str]),
    /// The hop that its message names, and this crate's word for what the message says.
    Refused(Option<usize>, &'static str),
}

#[test]
fn each_chain_is_judged_as_the_peer_judged_it() {
    use Judgement::{Keys, Refused};
    let chains: [(&str, &[&str], Judgement); 10] = [
        ("one-hop", &[HEAD], Keys(&[KEY_A5])),
        ("two-hop", &[HEAD, SECOND], Keys(&[KEY_A5, KEY_B6])),
        ("dispatch", &[HEAD, WITNESS], Keys(&[KEY_A5, KEY_B6])),
        ("dispatch-accepted", &[HEAD, WITNESS, PARTY], Keys(&[KEY_A5, KEY_B6, KEY_E1])),
        ("reordered", &[SECOND, HEAD], Refused(Some(0), "headless")),
        ("dispatched-party-skipped", &[HEAD, WITNESS, HEAD_SKIPS], Refused(Some(2), "dispatch_not_followed")),
        (
            "witness-signs-as-party",
            &[HEAD, WITNESS, WITNESS_AS_PARTY],
            Refused(Some(2), "witness_signs_as_party"),
        ),
        ("witness-redispatch", &[HEAD, WITNESS, REDISPATCH], Keys(&[KEY_A5, KEY_B6, KEY_B6])),
        ("headless", &[SECOND], Refused(Some(0), "headless")),
        ("empty", &[], Refused(None, "empty")),
    ];
    for (name, tokens, judgement) in chains {
        let chain = ActorChain::from_tokens(tokens.iter().map(ToString::to_string).collect());
        match (chain.verify(), judgement) {
            (Ok(verified), Keys(keys)) => {
                let found: Vec<String> = verified.hops().iter().map(|hop| hop.key.to_string()).collect();
                assert_eq!(found, keys, "{name}");
            }
            (Err(error), Refused(hop, kind)) => {
                assert_eq!((error.hop(), error.kind()), (hop, kind), "{name}");
            }
            (Ok(_), Refused(..)) => panic!("{name}: accepted"),
            (Err(error), Keys(_)) => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn each_accepted_chain_is_built_to_the_peers_very_tokens() {
    let address =
        |byte, name: &str| crate::AgentAddress::new(identity(byte).public_key(), name.parse().unwrap());
    let head = ActorChain::start(&identity(0xa5));
    assert_eq!(head.tokens(), [HEAD]);
    assert_eq!(head.extend(&identity(0xb6)).unwrap().tokens(), [HEAD, SECOND]);
    let dispatched = head.dispatch(&identity(0xb6), &address(0xe1, "translator")).unwrap();
    assert_eq!(dispatched.tokens(), [HEAD, WITNESS]);
    assert_eq!(dispatched.extend(&identity(0xe1)).unwrap().tokens(), [HEAD, WITNESS, PARTY]);
    let again = dispatched.dispatch(&identity(0xb6), &address(0xa5, "other")).unwrap();
    assert_eq!(again.tokens(), [HEAD, WITNESS, REDISPATCH]);
    assert_eq!(dispatched.extend(&identity(0xa5)).unwrap_err().kind(), "dispatch_not_followed");
    assert_eq!(dispatched.extend(&identity(0xb6)).unwrap_err().kind(), "witness_signs_as_party");
}
