use super::*;
use crate::identity::verify_bytes;
use crate::keys::{PublicKey, Signature};
use std::collections::BTreeMap;

const NOW: i64 = 1_755_500_000;
const BODY: &[u8] = br#"{"hello":"world"}"#;

/// A request's fields.
#[derive(Clone)]
struct Fields(BTreeMap<String, String>);

impl Fields {
    fn signed(headers: &SignatureHeaders) -> Self {
        Self(headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.0.insert(name.to_owned(), value.to_owned());
        self
    }

    fn replace(mut self, name: &str, from: &str, to: &str) -> Self {
        let value = self.0.get_mut(name).unwrap();
        assert!(value.contains(from), "{value}");
        *value = value.replace(from, to);
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    fn judge(&self, target: &RequestTarget, body: &[u8]) -> Result<PublicKey, SignatureProblem> {
        let field = |name: &str| self.0.get(name).cloned();
        let signature = RequestSignature::read(&field)?.expect("a signature");
        signature.check_time(NOW)?;
        signature.verify(target, &field)?;
        signature.check_body(body)?;
        Ok(signature.key())
    }
}

fn identity() -> Identity {
    Identity::from_seed(&[1; 32])
}

fn target() -> RequestTarget {
    RequestTarget::new("POST", "https", "relay.example", "/a2a/key/echo", Some("a=b"))
}

fn signed() -> Fields {
    Fields::signed(&identity().sign_request(&target(), BODY, NOW, &Nonce::from_bytes([7; 16])))
}

/// A signature over whatever components, which no identity makes by itself.
fn signed_over(components: &[&str], extra: &str) -> Fields {
    let quoted: Vec<_> = components.iter().map(|name| format!("\"{name}\"")).collect();
    let parameters =
        format!("({});created={NOW};keyid=\"{}\"{extra}", quoted.join(" "), identity().public_key());
    let fields =
        Fields(BTreeMap::new()).set(CONTENT_DIGEST, &content_digest(BODY)).set("content-type", "text/plain");
    let names: Vec<String> = components.iter().map(ToString::to_string).collect();
    let base =
        SignatureBase::of(&names, &parameters, &target(), &|name| fields.0.get(name).cloned()).unwrap();
    let signature = identity().sign(&crate::SignedPayload::HttpRequest(base));
    fields
        .set(SIGNATURE_INPUT, &format!("sig1={parameters}"))
        .set(SIGNATURE, &format!("sig1=:{}:", STANDARD.encode(signature.as_bytes())))
}

fn refused(fields: &Fields) -> &'static str {
    let kind = fields.judge(&target(), BODY).unwrap_err().kind();
    assert!(SignatureProblem::KINDS.iter().any(|(known, _)| *known == kind));
    kind
}

#[test]
fn a_signed_request_says_whose_it_is() {
    assert_eq!(signed().judge(&target(), BODY), Ok(identity().public_key()));
}

#[test]
fn the_base_is_that_of_the_rfcs_own_example() {
    // RFC 9421, appendix B.2.6.
    let names =
        ["date", "@method", "@path", "@authority", "content-type", "content-length"].map(str::to_owned);
    let parameters = "(\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \"content-length\")\
                      ;created=1618884473;keyid=\"test-key-ed25519\"";
    let field = |name: &str| {
        Some(match name {
            "date" => "Tue, 20 Apr 2021 02:07:55 GMT".to_owned(),
            "content-type" => "application/json".to_owned(),
            "content-length" => "18".to_owned(),
            _ => return None,
        })
    };
    let target = RequestTarget::new("POST", "https", "example.com", "/foo", Some("param=Value&Pet=dog"));
    let base = SignatureBase::of(&names, parameters, &target, &field).unwrap();
    let decode = |text: &str| STANDARD.decode(text).unwrap();
    let key = decode("JrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=");
    let key = PublicKey::from_bytes(&key.try_into().unwrap()).unwrap();
    let signature =
        decode("wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==");
    let signature = Signature::from_bytes(&signature.try_into().unwrap());
    assert_eq!(verify_bytes(&key, &signature, base.text().as_bytes()), Ok(()));
}

#[test]
fn a_signature_holds_for_one_request_only() {
    let other = |method, scheme, authority, path, query| {
        signed().judge(&RequestTarget::new(method, scheme, authority, path, query), BODY).unwrap_err()
    };
    let (host, path, query) = ("relay.example", "/a2a/key/echo", Some("a=b"));
    for problem in [
        other("PUT", "https", host, path, query),
        other("POST", "https", "other.example", path, query),
        other("POST", "https", host, "/a2a/key/other", query),
        other("POST", "https", host, path, Some("a=c")),
        other("POST", "https", host, path, None),
    ] {
        assert_eq!(problem, SignatureProblem::BadSignature);
    }
    assert_eq!(signed().judge(&target(), b"{}"), Err(SignatureProblem::DigestMismatch));
    let other = signed().set(CONTENT_DIGEST, &content_digest(b"{}"));
    assert_eq!(other.judge(&target(), b"{}"), Err(SignatureProblem::BadSignature));
}

#[test]
fn one_target_has_one_spelling() {
    let same = RequestTarget::new("POST", "HTTPS", "Relay.Example:443", "/a2a/key/echo", Some("a=b"));
    assert_eq!(same, target());
    assert_eq!(
        RequestTarget::new("GET", "http", "h:80", "", None).component("@target-uri").unwrap(),
        "http://h/"
    );
    assert_eq!(RequestTarget::new("GET", "https", "h:80", "/", None).authority(), "h:80");
    assert_eq!(RequestTarget::new("GET", "http", "h", "/", None).component("@query").unwrap(), "?");
}

#[test]
fn a_time_is_fresh_for_a_minute_either_way() {
    let at = |now: i64| {
        let headers = identity().sign_request(&target(), BODY, NOW, &Nonce::generate());
        RequestSignature::read(&|name| headers.get(name).map(str::to_owned)).unwrap().unwrap().check_time(now)
    };
    assert_eq!((at(NOW - 60), at(NOW + 60)), (Ok(()), Ok(())));
    for now in [NOW - 61, NOW + 61] {
        assert_eq!(at(now), Err(SignatureProblem::Stale { created: NOW, now }));
    }
    let covered = ["@method", "@target-uri", "content-digest"];
    assert_eq!(refused(&signed_over(&covered, &format!(";expires={}", NOW - 1))), "stale");
    assert!(signed_over(&covered, &format!(";expires={NOW}")).judge(&target(), BODY).is_ok());
}

#[test]
fn any_order_and_any_further_field_may_be_covered() {
    for covered in [
        &["@method", "@target-uri", "content-digest"][..],
        &["content-digest", "content-type", "@authority", "@request-target", "@method"],
        &["@query", "@path", "@scheme", "@authority", "@method", "content-digest"],
    ] {
        let fields = signed_over(covered, ";nonce=\"n\";alg=\"ed25519\";tag=\"funduq\"");
        assert_eq!(fields.judge(&target(), BODY), Ok(identity().public_key()), "{covered:?}");
    }
    let fields = signed_over(&["@method", "@target-uri", "content-digest", "content-type"], "");
    assert_eq!(refused(&fields.set("content-type", "text/html")), "bad_signature");
}

#[test]
fn what_has_to_be_covered_is() {
    let all = ["@method", "@authority", "@path", "@query", "content-digest"];
    for (index, name) in all.iter().enumerate() {
        let mut covered = all.to_vec();
        covered.remove(index);
        assert_eq!(refused(&signed_over(&covered, "")), "not_covered", "{name}");
    }
    assert_eq!(refused(&signed_over(&["@target-uri", "content-digest"], "")), "not_covered");
    assert_eq!(refused(&signed_over(&["@method", "@request-target", "content-digest"], "")), "not_covered");
}

#[test]
fn a_request_without_a_body_needs_no_digest() {
    let fields = signed_over(&["@method", "@target-uri"], "");
    assert_eq!(fields.judge(&target(), b""), Ok(identity().public_key()));
}

#[test]
fn components_that_nobody_here_reads_are_refused() {
    for (from, to) in [
        ("\"@query\"", "\"@query\" \"x-absent\""),
        ("\"@query\"", "\"@query\" \"@status\""),
        ("\"@query\"", "\"@query\";req"),
        ("\"@query\"", "\"@query\" \"@query\""),
    ] {
        assert_eq!(refused(&signed().replace(SIGNATURE_INPUT, from, to)), "unknown_component", "{to}");
    }
}

#[test]
fn parameters_are_what_they_have_to_be() {
    let created = format!(";created={NOW}");
    let key = identity().public_key().to_string();
    for (from, to, kind) in [
        (created.as_str(), "", "bad_parameter"),
        (&created, ";created=\"now\"", "bad_parameter"),
        ("alg=\"ed25519\"", "alg=\"hmac-sha256\"", "bad_parameter"),
        (";keyid=", ";other=", "bad_parameter"),
        (&key, &key.to_uppercase(), "bad_key"),
        (&key, "test-key", "bad_key"),
        (&key, &Identity::from_seed(&[2; 32]).public_key().to_string(), "bad_signature"),
        (";nonce", ";expires=1.5;nonce", "bad_parameter"),
    ] {
        assert_eq!(refused(&signed().replace(SIGNATURE_INPUT, from, to)), kind, "{to}");
    }
}

#[test]
fn fields_that_are_not_what_their_rfc_says_are_refused() {
    let long = format!("funduq=(\"{}\")", "a".repeat(9000));
    for fields in [
        signed().without(SIGNATURE),
        signed().without(SIGNATURE_INPUT),
        signed().without(CONTENT_DIGEST),
        signed().set(SIGNATURE_INPUT, "funduq=("),
        signed().set(SIGNATURE_INPUT, "funduq=1"),
        signed().set(SIGNATURE_INPUT, &long),
        signed().set(SIGNATURE, "other=:AAAA:"),
        signed().set(SIGNATURE, "funduq=:AAAA:"),
        signed().set(CONTENT_DIGEST, "sha-512=:AAAA:"),
        signed().set(CONTENT_DIGEST, "sha-256=:AAAA:"),
    ] {
        assert_eq!(refused(&fields), "malformed_field", "{:?}", fields.0);
    }
}

#[test]
fn one_signature_says_who_presents_and_other_applications_have_their_own() {
    let both = |theirs: &str| {
        let ours = signed();
        let input =
            format!("{}, theirs=(\"@authority\");created=1;keyid=\"web\"{theirs}", ours.0[SIGNATURE_INPUT]);
        let signature = format!("{}, theirs=:AAAA:", ours.0[SIGNATURE]);
        ours.set(SIGNATURE_INPUT, &input).set(SIGNATURE, &signature)
    };
    assert_eq!(refused(&both("")), "several_signatures");
    assert_eq!(both(";tag=\"web-bot-auth\"").judge(&target(), BODY), Ok(identity().public_key()));
    let theirs = [(SIGNATURE_INPUT, "s=(\"@authority\");tag=\"web-bot-auth\""), (SIGNATURE, "s=:AAAA:")];
    let field =
        |name: &str| theirs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    assert_eq!(RequestSignature::read(&field), Ok(None));
}

#[test]
fn a_line_end_in_a_value_cannot_pass_one_component_for_two() {
    let names = ["x".to_owned()];
    let field = |_: &str| Some("a\n\"@method\": POST".to_owned());
    let base = SignatureBase::of(&names, "()", &target(), &field);
    assert_eq!(base, Err(SignatureProblem::UnknownComponent("x".to_owned())));
}

#[test]
fn a_base_is_no_other_payload_and_no_hop() {
    let empty = SignatureBase::of(&[], "()", &target(), &|_| None).unwrap();
    assert!(empty.text().starts_with('"'));
    let own = SignatureBase::own(&identity().public_key(), &target(), &[0; 32], NOW, &Nonce::generate());
    assert!(own.text().starts_with('"'));
    for family in crate::SignedPayload::FAMILIES {
        let begins =
            family.template.starts_with(if family.kind == "http-request" { "\"" } else { "funduq-" });
        assert!(begins, "{}", family.kind);
    }
}

#[test]
fn two_signatures_of_one_second_differ_by_their_nonces() {
    let id = |nonce: &Nonce| {
        let headers = identity().sign_request(&target(), BODY, NOW, nonce);
        RequestSignature::read(&|name| headers.get(name).map(str::to_owned)).unwrap().unwrap().id()
    };
    assert_ne!(id(&Nonce::generate()), id(&Nonce::generate()));
    assert_eq!(id(&Nonce::from_bytes([1; 16])), id(&Nonce::from_bytes([1; 16])));
}
