//! A signed request that is bent, sent elsewhere or sent again; credentials in the wrong place or from the wrong hand.

use funduq_contract::{ActorChain, Identity};
use serde_json::{Value, json};

use crate::ground::Ground;
use crate::support::{Fields, Heard, chained, client, get_as, now, post, signed, signed_at};

/// A body that only a proven presenter may send.
fn body(identity: &Identity, text: &str) -> String {
    chained("new", text, &ActorChain::start(identity), json!({})).to_string()
}

#[track_caller]
fn refused(heard: &Heard, code: &str) {
    assert_eq!(heard.refusal(), (401, code.to_owned()));
    assert!(heard.headers.contains_key("www-authenticate"), "a 401 asks for what it wants: {heard:?}");
}

#[tokio::test]
async fn a_signature_over_another_body_is_refused() {
    let ground = Ground::new().await;
    let (url, said) = (ground.agui_url(), body(&ground.victim, "hello"));
    let fields = signed(&ground.victim, &url, &said);
    refused(&post(&url, &body(&ground.victim, "something else"), &fields).await, "digest_mismatch");
    // With the digest of the other body, which the signature does not cover.
    let other = body(&ground.victim, "something else");
    let digest = signed(&ground.victim, &url, &other).swap_remove(0);
    let mut bent = fields.clone();
    bent[0] = digest;
    refused(&post(&url, &other, &bent).await, "invalid_signature");
    // Neither spent the signature: the request that it was made for goes through.
    assert_eq!(post(&url, &said, &fields).await.last_event(), "RUN_FINISHED");
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_signature_that_leaves_the_body_out_is_refused() {
    let ground = Ground::new().await;
    let (url, said) = (ground.agui_url(), body(&ground.victim, "hello"));
    let mut fields = signed(&ground.victim, &url, &said);
    fields[1].1 = fields[1].1.replace(" \"content-digest\"", "");
    refused(&post(&url, &said, &fields).await, "invalid_signature");
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_signature_over_another_path_is_refused() {
    let ground = Ground::new().await;
    let said = body(&ground.victim, "hello");
    let other = ground.agui_url().replace("/echo", "/replay");
    for over in [other.clone(), format!("{}?a=b", ground.agui_url()), ground.a2a_url()] {
        let fields = signed(&ground.victim, &over, &said);
        refused(&post(&ground.agui_url(), &said, &fields).await, "invalid_signature");
    }
    // Nor under another method.
    let threads = format!("{}/threads", ground.agui_url());
    let fields = signed_at(&ground.victim, "GET", &threads, "", now());
    refused(&post(&threads, "", &fields).await, "invalid_signature");
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_signature_for_another_host_is_refused_whatever_the_request_calls_this_one() {
    let ground = Ground::new().await;
    let (url, said) = (ground.agui_url(), body(&ground.victim, "hello"));
    let elsewhere = url.replace(url.split('/').nth(2).unwrap(), "evil.example");
    let fields = signed(&ground.victim, &elsewhere, &said);
    refused(&post(&url, &said, &fields).await, "invalid_signature");
    // Relayed with the host that it was made for, also in the words of a proxy that nobody trusts.
    for (header, code) in [("host", "unknown_authority"), ("x-forwarded-host", "invalid_signature")] {
        let mut relayed = fields.clone();
        relayed.push((header, "evil.example".to_owned()));
        refused(&post(&url, &said, &relayed).await, code);
    }
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_replayed_signature_is_refused() {
    let ground = Ground::new().await;
    let (url, said) = (ground.agui_url(), body(&ground.victim, "hello"));
    let fields = signed(&ground.victim, &url, &said);
    assert_eq!(post(&url, &said, &fields).await.last_event(), "RUN_FINISHED");
    refused(&post(&url, &said, &fields).await, "replayed_signature");
    // A read is a request as any other.
    let read = ground.url_of("/agents");
    let fields = signed_at(&ground.victim, "GET", &read, "", now());
    let ask = |fields: &Fields| {
        let request =
            fields.iter().fold(client().get(&read), |request, (name, value)| request.header(*name, value));
        Heard::of(request)
    };
    assert_eq!(ask(&fields).await.status, 200);
    refused(&ask(&fields).await, "replayed_signature");
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_signature_of_another_time_is_refused() {
    let ground = Ground::new().await;
    let (url, said) = (ground.agui_url(), body(&ground.victim, "hello"));
    // Also one from before this gateway began, of which it cannot know whether it was used.
    for at in [now() - 62, now() + 62, now() - 30] {
        let fields = signed_at(&ground.victim, "POST", &url, &said, at);
        refused(&post(&url, &said, &fields).await, "stale_signature");
    }
    let fields = signed_at(&ground.victim, "POST", &url, &said, now() + 50);
    assert_eq!(post(&url, &said, &fields).await.last_event(), "RUN_FINISHED");
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_signature_under_anothers_name_is_refused() {
    let ground = Ground::new().await;
    let (url, said) = (ground.agui_url(), body(&ground.victim, "hello"));
    let mut fields = signed(&ground.attacker, &url, &said);
    let keys = [&ground.attacker, &ground.victim].map(|identity| identity.public_key().to_string());
    fields[1].1 = fields[1].1.replace(&keys[0], &keys[1]);
    refused(&post(&url, &said, &fields).await, "invalid_signature");
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_bad_credential_is_never_taken_for_none() {
    let ground = Ground::new().await;
    let (url, hello) = (ground.agui_url(), crate::support::input("hello").to_string());
    let bad: [(Fields, &str); 6] = [
        (vec![("signature", "x=:AAAA:".to_owned())], "invalid_signature"),
        (vec![("signature-input", "x=()".to_owned())], "invalid_signature"),
        (vec![("signature-input", "(".to_owned()), ("signature", "(".to_owned())], "invalid_signature"),
        (vec![("authorization", "Bearer nobodys".to_owned())], "unknown_token"),
        (vec![("authorization", "Basic YTpi".to_owned())], "unknown_token"),
        (vec![("authorization", "Bearer".to_owned())], "unknown_token"),
    ];
    for (fields, code) in bad {
        // Without the credential this very request is served.
        refused(&post(&url, &hello, &fields).await, code);
    }
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_token_in_a_url_proves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    let attacker = Identity::generate();
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; // of "abc"
    std::fs::write(&path, format!("laptop {hash} {}\n", attacker.public_key())).unwrap();
    let ground =
        Ground::configured(|config| config.presenter_tokens = path.to_str().unwrap().parse().unwrap()).await;
    let said = body(&attacker, "hello");
    for query in ["access_token=abc", "token=abc", "authorization=Bearer%20abc"] {
        let heard = post(&format!("{}?{query}", ground.agui_url()), &said, &Vec::new()).await;
        refused(&heard, "presenter_required");
        assert!(!heard.body.contains("abc"));
    }
    // In its header it would have been good.
    let header = vec![("authorization", "Bearer abc".to_owned())];
    assert_eq!(post(&ground.agui_url(), &said, &header).await.last_event(), "RUN_FINISHED");
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_spoofed_proxy_header_proves_nothing() {
    let ground = Ground::configured(|config| {
        config.trusted_proxies = "192.0.2.0/24".parse().unwrap();
        config.presenter_header = "x-funduq-presenter".parse().unwrap();
    })
    .await;
    let said = body(&ground.victim, "hello");
    let spoofed = vec![
        ("x-funduq-presenter", ground.victim.public_key().to_string()),
        ("forwarded", "for=192.0.2.1".to_owned()),
        ("x-forwarded-for", "192.0.2.1".to_owned()),
    ];
    refused(&post(&ground.agui_url(), &said, &spoofed).await, "presenter_required");
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_refusal_over_json_rpc_is_an_error_object_that_names_it() {
    let ground = Ground::new().await;
    let url = ground.a2a_url();
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": {
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello"}]},
        "metadata": {"actorChain": ActorChain::start(&ground.victim)},
    }});
    let said = call.to_string();
    let check = |heard: &Heard, status: u16, code: i32, reason: &str| {
        assert_eq!(heard.status, status, "{heard:?}");
        let answer: Value = heard.json();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(code)), "{answer}");
        assert_eq!(answer["error"]["data"][0]["reason"], reason);
    };
    let version = ("a2a-version", "1.0".to_owned());
    let by = |identity: &Identity| {
        let mut fields = signed(identity, &url, &said);
        fields.push(version.clone());
        fields
    };
    check(&post(&url, &said, &vec![version.clone()]).await, 401, -32051, "PRESENTER_REQUIRED");
    check(&post(&url, &said, &by(&ground.attacker)).await, 403, -32052, "INVALID_CHAIN");
    let good = by(&ground.victim);
    let mut bent = good.clone();
    bent[2].1 = bent[2].1.replace("=:", "=:A");
    check(&post(&url, &said, &bent).await, 401, -32058, "INVALID_SIGNATURE");
    let heard = post(&url, &said, &good).await;
    assert!(heard.json()["result"]["task"].is_object(), "{heard:?}");
    check(&post(&url, &said, &good).await, 401, -32060, "REPLAYED_SIGNATURE");
    assert_eq!(get_as(Some(&ground.victim), &ground.url_of("/agents")).await.status, 200);
    ground.ends_unharmed().await;
}
