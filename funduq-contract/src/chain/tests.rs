//! Each rule of a chain, broken one at a time, and the limits.

use super::*;
use crate::ids::AgentName;
use proptest::prelude::*;

fn identity(byte: u8) -> Identity {
    Identity::from_seed(&[byte; 32])
}

fn address(byte: u8) -> AgentAddress {
    AgentAddress::new(identity(byte).public_key(), AgentName::new("translator").unwrap())
}

/// A token with these claims and this header, signed by the party `byte` whatever they say.
fn forge(byte: u8, header: &str, claims: &str) -> String {
    let input = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = identity(byte).sign_hop(&input);
    format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature.as_bytes()))
}

fn claims_of(byte: u8, rest: &str) -> String {
    format!(r#"{{"actorPublicKey":"{}"{rest}}}"#, identity(byte).public_key())
}

fn kind_of(tokens: impl IntoIterator<Item = String>) -> (Option<usize>, &'static str) {
    match ActorChain::from_tokens(tokens.into_iter().collect()).verify() {
        Ok(_) => (None, "accepted"),
        Err(error) => {
            assert!(ChainError::KINDS.iter().any(|(kind, _)| *kind == error.kind()), "{error}");
            (error.hop(), error.kind())
        }
    }
}

#[test]
fn the_encoded_header_is_that_of_the_published_one() {
    assert_eq!(URL_SAFE_NO_PAD.encode(HEADER), ENCODED_HEADER);
}

#[test]
fn a_verified_chain_names_head_last_and_dispatches() {
    let chain = ActorChain::start(&identity(1)).dispatch(&identity(2), &address(3)).unwrap();
    let chain = chain.extend(&identity(3)).unwrap().verify().unwrap();
    assert_eq!(chain.head(), identity(1).public_key());
    assert_eq!(chain.last(), identity(3).public_key());
    assert_eq!(chain.hops()[1].dispatched_to, Some(address(3)));
    assert_eq!(chain.hops()[2].dispatched_to, None);
}

#[test]
fn a_header_in_any_other_bytes_is_refused() {
    let claims = claims_of(1, r#","prevHash":null"#);
    assert_eq!(kind_of([forge(1, HEADER, &claims)]), (None, "accepted"));
    for header in [
        r#"{"alg":"none","typ":"JWT"}"#,
        r#"{"alg":"HS256","typ":"JWT"}"#,
        r#"{"typ":"JWT","alg":"EdDSA"}"#,
        r#"{"alg":"EdDSA", "typ":"JWT"}"#,
        r#"{"alg":"EdDSA","typ":"JWT","kid":"x"}"#,
        r#"{"alg":"EdDSA"}"#,
        "",
    ] {
        assert_eq!(kind_of([forge(1, header, &claims)]), (Some(0), "wrong_header"), "{header}");
    }
}

#[test]
fn claims_in_any_other_spelling_are_refused() {
    let key = identity(1).public_key();
    for claims in [
        format!(r#"{{"prevHash":null,"actorPublicKey":"{key}"}}"#),
        format!(r#"{{"actorPublicKey":"{key}", "prevHash":null}}"#),
        format!(r#"{{"actorPublicKey":"{key}","prevHash":null}} "#),
        format!(r#"{{"actorPublicKey":"{key}"}}"#),
        format!(r#"{{"actorPublicKey":"{key}","prevHash":null,"dispatchedTo":null}}"#),
        format!(r#"{{"actorPublicKey":"{key}","prevHash":null,"prevHash":null}}"#),
        format!(r#"{{"actorPublicKey":"{key}","prevHash":0}}"#),
        format!(
            r#"{{"actorPublicKey":"\u00{:x}{}","prevHash":null}}"#,
            key.to_string().as_bytes()[0],
            &key.to_string()[1..]
        ),
        format!(r#"["{key}",null]"#),
        "null".to_owned(),
        "{".to_owned(),
    ] {
        assert_eq!(kind_of([forge(1, HEADER, &claims)]), (Some(0), "malformed_claims"), "{claims}");
    }
}

#[test]
fn a_claim_that_no_hop_has_is_refused_by_name() {
    let extra = claims_of(1, r#","prevHash":null,"exp":1"#);
    assert_eq!(kind_of([forge(1, HEADER, &extra)]), (Some(0), "unknown_claim"));
    let inner = claims_of(
        1,
        &format!(
            r#","prevHash":null,"dispatchedTo":{{"providerKey":"{}","name":"x","url":"y"}}"#,
            identity(2).public_key()
        ),
    );
    let error = ActorChain::from_tokens(vec![forge(1, HEADER, &inner)]).verify().unwrap_err();
    assert_eq!(error.kind(), "unknown_claim");
    assert!(error.to_string().contains("dispatchedTo.url"), "{error}");
}

#[test]
fn keys_that_are_none_are_refused() {
    let small_order = format!("01{}", "00".repeat(31));
    let upper = identity(1).public_key().to_string().to_uppercase();
    for key in ["".to_owned(), "d0".repeat(32), small_order, upper] {
        let claims = format!(r#"{{"actorPublicKey":"{key}","prevHash":null}}"#);
        assert_eq!(kind_of([forge(1, HEADER, &claims)]), (Some(0), "bad_key"), "{key}");
        let claims =
            claims_of(1, &format!(r#","prevHash":null,"dispatchedTo":{{"providerKey":"{key}","name":"x"}}"#));
        assert_eq!(kind_of([forge(1, HEADER, &claims)]), (Some(0), "bad_key"), "{key}");
    }
}

#[test]
fn a_dispatch_to_a_name_that_no_agent_has_is_refused() {
    let claims = claims_of(
        1,
        &format!(
            r#","prevHash":null,"dispatchedTo":{{"providerKey":"{}","name":"a/b"}}"#,
            identity(2).public_key()
        ),
    );
    assert_eq!(kind_of([forge(1, HEADER, &claims)]), (Some(0), "bad_name"));
}

#[test]
fn tokens_that_are_not_canonical_base64url_are_refused() {
    let token = ActorChain::start(&identity(1)).tokens()[0].clone();
    let (input, signature) = token.rsplit_once('.').unwrap();
    let (header, claims) = input.split_once('.').unwrap();
    // The last character of a 64-byte value carries four bits that must be zero.
    let mut unused_bits = token.clone();
    let last = unused_bits.pop().unwrap();
    unused_bits.push(if last == 'A' { 'B' } else { char::from(last as u8 + 1) });
    for broken in [
        String::new(),
        "..".to_owned(),
        input.to_owned(),
        format!("{token}."),
        format!("{token}.x"),
        format!("{token}=="),
        format!("{header}.{claims}.{}", &signature[..84]),
        format!("{header}.{claims}!.{signature}"),
        format!("{header}.{claims}\n.{signature}"),
        unused_bits,
    ] {
        let (hop, kind) = kind_of([broken.clone()]);
        assert_eq!(hop, Some(0));
        assert!(matches!(kind, "malformed_token" | "wrong_header"), "{broken}: {kind}");
    }
}

#[test]
fn links_are_checked() {
    let head = ActorChain::start(&identity(1));
    let two = head.extend(&identity(2)).unwrap();
    let other = ActorChain::start(&identity(3));
    let tokens = two.tokens();
    assert_eq!(kind_of([tokens[1].clone()]), (Some(0), "headless"));
    assert_eq!(kind_of([tokens[1].clone(), tokens[0].clone()]), (Some(0), "headless"));
    assert_eq!(kind_of([other.tokens()[0].clone(), tokens[1].clone()]), (Some(1), "prev_hash_mismatch"));
    assert_eq!(kind_of([tokens[0].clone(), other.tokens()[0].clone()]), (Some(1), "prev_hash_mismatch"));
    let three = two.extend(&identity(3)).unwrap();
    let cut = [three.tokens()[0].clone(), three.tokens()[2].clone()];
    assert_eq!(kind_of(cut), (Some(1), "prev_hash_mismatch"));
}

#[test]
fn after_a_dispatch_comes_the_party_or_another_dispatch_of_the_witness() {
    let head = ActorChain::start(&identity(1));
    let dispatched = head.dispatch(&identity(2), &address(3)).unwrap();
    let hash = token_hash(&dispatched.tokens()[1]);
    let next = |byte| forge(byte, HEADER, &claims_of(byte, &format!(r#","prevHash":"{hash}""#)));
    let with = |token| dispatched.tokens().iter().cloned().chain([token]);
    assert_eq!(kind_of(with(next(3))), (None, "accepted"));
    assert_eq!(kind_of(with(next(1))), (Some(2), "dispatch_not_followed"));
    assert_eq!(kind_of(with(next(2))), (Some(2), "witness_signs_as_party"));
    assert!(dispatched.dispatch(&identity(2), &address(4)).unwrap().verify().is_ok());
    assert_eq!(dispatched.dispatch(&identity(4), &address(4)).unwrap_err().kind(), "dispatch_not_followed");
    // The party that was named may itself be a witness.
    assert!(dispatched.dispatch(&identity(3), &address(4)).unwrap().verify().is_ok());
}

#[test]
fn a_hop_under_anothers_name_is_refused() {
    let claims = claims_of(1, r#","prevHash":null"#);
    assert_eq!(kind_of([forge(2, HEADER, &claims)]), (Some(0), "bad_signature"));
}

#[test]
fn the_limits_are_checked_before_anything_else() {
    let mut chain = ActorChain::start(&identity(1));
    for _ in 1..MAX_HOPS {
        chain = chain.extend(&identity(2)).unwrap();
    }
    assert_eq!(chain.verify().unwrap().hops().len(), 64);
    assert_eq!(chain.extend(&identity(2)).unwrap_err(), ChainError::TooManyHops { limit: 64, got: 65 });
    assert_eq!(kind_of(vec![String::new(); 65]), (None, "too_many_hops"));
    // The first token is nonsense, but the last one is too long, and that is seen first.
    assert_eq!(kind_of([String::new(), "x".repeat(MAX_TOKEN_BYTES + 1)]), (Some(1), "token_too_long"));
    assert_eq!(kind_of(["x".repeat(MAX_TOKEN_BYTES)]), (Some(0), "malformed_token"));
    assert_eq!(kind_of([]), (None, "empty"));
}

#[test]
fn nothing_is_built_on_a_chain_that_is_empty_or_unreadable() {
    assert_eq!(ActorChain::from_tokens(vec![]).extend(&identity(1)).unwrap_err().kind(), "empty");
    let broken = ActorChain::from_tokens(vec!["x".to_owned()]);
    assert_eq!(broken.extend(&identity(1)).unwrap_err().kind(), "malformed_token");
}

#[test]
fn a_name_keeps_its_one_spelling_whatever_is_in_it() {
    let name = AgentName::new("é\"汉").unwrap();
    let to = AgentAddress::new(identity(2).public_key(), name);
    let chain = ActorChain::start(&identity(1)).dispatch(&identity(3), &to).unwrap();
    assert_eq!(chain.verify().unwrap().hops()[1].dispatched_to.as_ref(), Some(&to));
}

/// Every byte of a one-hop chain, put to every character that a token may hold.
#[test]
fn no_other_character_anywhere_verifies() {
    let token = ActorChain::start(&identity(1)).tokens()[0].clone();
    let alphabet = (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').chain(*b"-_.=+/");
    let alphabet: Vec<u8> = alphabet.collect();
    for at in 0..token.len() {
        for &character in alphabet.iter().filter(|&&character| character != token.as_bytes()[at]) {
            let mut bytes = token.clone().into_bytes();
            bytes[at] = character;
            let mutated = String::from_utf8(bytes).unwrap();
            assert_ne!(kind_of([mutated]).1, "accepted", "byte {at} as {}", char::from(character));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// No chain that differs from a valid one in a single byte verifies, whichever byte and whatever it becomes.
    #[test]
    fn no_mutation_of_one_byte_verifies(hops in 1usize..5, pick in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut chain = ActorChain::start(&identity(1));
        for hop in 1..hops {
            chain = if hop % 2 == 1 {
                chain.dispatch(&identity(9), &address(2)).unwrap()
            } else {
                chain.extend(&identity(2)).unwrap()
            };
        }
        prop_assert!(chain.verify().is_ok());
        let mut tokens: Vec<Vec<u8>> = chain.tokens().iter().map(|token| token.clone().into_bytes()).collect();
        let total: usize = tokens.iter().map(Vec::len).sum();
        let mut at = pick.index(total);
        let token = tokens.iter_mut().find(|token| {
            let here = at < token.len();
            if !here { at -= token.len(); }
            here
        }).expect("the index is below the total length");
        prop_assume!(token[at] != byte);
        token[at] = byte;
        // Bytes that are no UTF-8 never get as far as a chain.
        let tokens: Result<Vec<String>, _> = tokens.into_iter().map(String::from_utf8).collect();
        if let Ok(tokens) = tokens {
            prop_assert!(ActorChain::from_tokens(tokens).verify().is_err());
        }
    }
}
