//! Who is at the door, by each way to prove it, and what the policies make of it.

use std::path::PathBuf;

use funduq_contract::{ActorChain, Identity};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    Fields, Heard, TestGateway, chained, client, get_as, input, now, post, post_as, signed, signed_at,
};

/// The SHA-256 of `abc`, and of the empty text.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

struct Desk {
    gateway: TestGateway,
    url: String,
    caller: Identity,
    tokens: PathBuf,
    _folder: TempDir,
}

impl Desk {
    async fn new(change: impl FnOnce(&mut funduq_gateway::Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (tokens, caller) = (folder.path().join("tokens"), Identity::generate());
        std::fs::write(&tokens, format!("laptop {ABC} {}\n", caller.public_key())).unwrap();
        let gateway = TestGateway::configured(|config| {
            config.demo = true;
            config.presenter_tokens = tokens.to_str().unwrap().parse().unwrap();
            config.trusted_proxies = "127.0.0.1".parse().unwrap();
            config.presenter_header = "x-presenter".parse().unwrap();
            change(config);
        })
        .await;
        let url = gateway.agui(gateway.demo_agent().unwrap());
        Self { gateway, url, caller, tokens, _folder: folder }
    }

    /// Presents the caller's chain with these credentials: the status and the word, or the last event.
    async fn present(&self, fields: &Fields) -> (u16, String) {
        let body = chained("new", "hello", &ActorChain::start(&self.caller), json!({})).to_string();
        let heard = post(&self.url, &body, fields).await;
        match heard.status {
            200 => (200, heard.last_event()),
            _ => heard.refusal(),
        }
    }
}

fn served() -> (u16, String) {
    (200, "RUN_FINISHED".to_owned())
}

fn bearer(token: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {token}"))
}

#[tokio::test]
async fn a_token_stands_for_its_key_until_it_is_taken_back() {
    let desk = Desk::new(|_| {}).await;
    assert_eq!(desk.present(&vec![bearer("abc")]).await, served());
    assert_eq!(desk.present(&vec![bearer(ABC)]).await.1, "unknown_token", "the hash is no token");
    // Taken back, and another given, while the gateway runs.
    std::fs::write(&desk.tokens, format!("other {EMPTY} {}\n", desk.caller.public_key())).unwrap();
    let heard = post(&desk.url, &input("x").to_string(), &vec![bearer("abc")]).await;
    assert_eq!(heard.refusal(), (401, "unknown_token".into()));
    assert!(heard.headers["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
    // A file that does not hold leaves everything as it was.
    std::fs::write(&desk.tokens, "nonsense\n").unwrap();
    desk.gateway.reload().await;
    assert_eq!(desk.present(&vec![bearer("abc")]).await.1, "unknown_token");
    std::fs::write(&desk.tokens, format!("again {ABC} {}\n", desk.caller.public_key())).unwrap();
    assert_eq!(desk.present(&vec![bearer("abc")]).await, served());
    desk.gateway.stop().await;
}

#[tokio::test]
async fn a_trusted_proxy_says_who_its_caller_is() {
    let desk = Desk::new(|_| {}).await;
    let says = |key: &str| vec![("x-presenter", key.to_owned())];
    let key = desk.caller.public_key().to_string();
    assert_eq!(desk.present(&says(&key)).await, served());
    for wrong in ["", "abc", &key.to_uppercase(), &format!("{key}, {key}")] {
        assert_eq!(desk.present(&says(wrong)).await, (401, "invalid_presenter_header".into()), "{wrong:?}");
    }
    let other = Identity::generate().public_key().to_string();
    assert_eq!(desk.present(&says(&other)).await, (403, "invalid_chain".into()));
    desk.gateway.stop().await;
}

#[tokio::test]
async fn of_several_proofs_the_first_counts() {
    let desk = Desk::new(|_| {}).await;
    let body = chained("new", "hello", &ActorChain::start(&desk.caller), json!({})).to_string();
    let other = Identity::generate();
    let send = |mut fields: Fields, more: Fields| {
        fields.extend(more);
        let (url, body) = (desk.url.clone(), body.clone());
        async move { post(&url, &body, &fields).await }
    };
    // The signature, before the proxy's word, before the token.
    let by = |identity: &Identity| signed(identity, &desk.url, &body);
    let says = |identity: &Identity| vec![("x-presenter", identity.public_key().to_string())];
    let heard = send(by(&desk.caller), says(&other)).await;
    assert_eq!(heard.last_event(), "RUN_FINISHED");
    assert_eq!(send(by(&other), says(&desk.caller)).await.refusal().1, "invalid_chain");
    let heard = send(says(&desk.caller), vec![bearer("for somebody else")]).await;
    assert_eq!(heard.last_event(), "RUN_FINISHED");
    // A first that does not hold is not passed over for a second that does.
    let mut bent = by(&desk.caller);
    bent[2].1 = "funduq=:AAAA:".to_owned();
    assert_eq!(send(bent, says(&desk.caller)).await.refusal(), (401, "invalid_signature".into()));
    desk.gateway.stop().await;
}

#[tokio::test]
async fn behind_a_proxy_a_signature_is_for_the_public_address() {
    let desk = Desk::new(|config| config.public_url = "https://relay.example/funduq".parse().unwrap()).await;
    let body = chained("new", "hello", &ActorChain::start(&desk.caller), json!({})).to_string();
    let path = desk.url.strip_prefix(desk.gateway.url()).unwrap();
    // As the caller signed it; the proxy takes the prefix off and calls this host by another name.
    let public = format!("https://relay.example/funduq{path}");
    let mut fields = signed(&desk.caller, &public, &body);
    fields.push(("host", "upstream:8787".to_owned()));
    assert_eq!(post(&desk.url, &body, &fields).await.last_event(), "RUN_FINISHED");
    // Who asks without the proxy is known as well.
    let fields = signed(&desk.caller, &desk.url, &body);
    assert_eq!(post(&desk.url, &body, &fields).await.last_event(), "RUN_FINISHED");
    let elsewhere = format!("https://other.example/funduq{path}");
    let fields = signed(&desk.caller, &elsewhere, &body);
    assert_eq!(post(&desk.url, &body, &fields).await.refusal(), (401, "invalid_signature".into()));
    desk.gateway.stop().await;
}

#[tokio::test]
async fn a_gateway_that_takes_nobody_without_a_key_says_so_at_every_callers_door() {
    let desk = Desk::new(|config| config.anonymous = false).await;
    let (gateway, echo) = (&desk.gateway, desk.gateway.demo_agent().unwrap());
    let a2a = format!("{}/a2a/{}/{}", gateway.url(), echo.provider, echo.name);
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "GetTask", "params": {"id": "x"}}).to_string();
    for (url, body) in [
        (desk.url.clone(), input("hello").to_string()),
        (format!("{}/threads", desk.url), String::new()),
        (format!("{a2a}/message:send"), "{}".to_owned()),
    ] {
        let heard = post(&url, &body, &Vec::new()).await;
        assert_eq!(heard.refusal(), (401, "presenter_required".into()), "{url}");
        assert!(heard.headers.contains_key("accept-signature"));
    }
    let heard = post(&a2a, &call, &vec![("a2a-version", "1.0".to_owned())]).await;
    assert_eq!((heard.status, &heard.json()["id"]), (401, &json!(3)));
    assert_eq!(heard.json()["error"]["data"][0]["reason"], "PRESENTER_REQUIRED");
    for path in ["/agents", "/threads/x", "/threads/x/runs", "/runs/x", "/runs/x/events", "/llm-offerings"] {
        assert_eq!(
            get_as(None, &gateway.url_of(path)).await.refusal(),
            (401, "presenter_required".into()),
            "{path}"
        );
    }
    assert_eq!(get_as(None, &format!("{}/runs/x", desk.url)).await.refusal().0, 401);
    // What a caller needs to find out how to come in stays open, and so do the providers' ways in.
    for path in ["/healthz", "/.well-known/funduq.json"] {
        assert_eq!(get_as(None, &gateway.url_of(path)).await.status, 200, "{path}");
    }
    assert_eq!(get_as(None, &format!("{a2a}/.well-known/agent-card.json")).await.status, 200);
    // Whoever proves a key is served, with a chain or without.
    assert_eq!(post_as(&desk.caller, &desk.url, &input("hello")).await.last_event(), "RUN_FINISHED");
    assert_eq!(desk.present(&vec![bearer("abc")]).await, served());
    assert_eq!(get_as(Some(&desk.caller), &gateway.url_of("/agents")).await.status, 200);
    desk.gateway.stop().await;
}

/// The thread and the run that a stream is of.
fn ids(body: &str) -> (String, String) {
    let first = crate::support::events(body).remove(0).1;
    (first["threadId"].as_str().unwrap().to_owned(), first["runId"].as_str().unwrap().to_owned())
}

/// A bound thread, an open one, and their runs.
async fn conversations(desk: &Desk) -> [(String, String); 2] {
    let bound = chained("new", "hello", &ActorChain::start(&desk.caller), json!({}));
    let bound = post_as(&desk.caller, &desk.url, &bound).await;
    let open = post(&desk.url, &input("hello").to_string(), &Vec::new()).await;
    [ids(&bound.body), ids(&open.body)]
}

#[tokio::test]
async fn where_reads_are_the_parties_a_bound_thread_is_there_for_nobody_else() {
    let desk = Desk::new(|config| config.reads = "parties".parse().unwrap()).await;
    let [bound, open] = conversations(&desk).await;
    let (gateway, stranger) = (&desk.gateway, Identity::generate());
    let reads = |(thread, run): &(String, String)| {
        let record = ["", "/messages", "/runs", "/tree"]
            .map(|part| gateway.url_of(&format!("/threads/{thread}{part}")));
        let runs = ["", "/events"].map(|part| gateway.url_of(&format!("/runs/{run}{part}")));
        let replay = format!("{}/runs/{run}", desk.url);
        record.into_iter().chain(runs).chain([replay]).collect::<Vec<_>>()
    };
    for url in reads(&bound) {
        for reader in [None, Some(&stranger)] {
            let heard = get_as(reader, &url).await;
            assert_eq!(heard.status, 404, "{url}");
            let never = url.replace(&bound.0, "never").replace(&bound.1, "never");
            let words = |text: String| text.replace(&bound.0, "never").replace(&bound.1, "never");
            assert_eq!(words(heard.body), get_as(reader, &never).await.body, "as one that never was: {url}");
        }
        assert_eq!(get_as(Some(&desk.caller), &url).await.status, 200, "{url}");
    }
    for url in reads(&open) {
        assert_eq!(get_as(None, &url).await.status, 200, "{url}");
    }
    // Over A2A, on both bindings.
    let echo = gateway.demo_agent().unwrap();
    let a2a = format!("{}/a2a/{}/{}", gateway.url(), echo.provider, echo.name);
    let ask = |identity: Option<&Identity>, method: &str, params: Value| {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let mut fields = identity.map(|identity| signed(identity, &a2a, &call)).unwrap_or_default();
        fields.push(("a2a-version", "1.0".to_owned()));
        let a2a = a2a.clone();
        async move { post(&a2a, &call, &fields).await.json() }
    };
    for method in ["GetTask", "SubscribeToTask"] {
        for reader in [None, Some(&stranger)] {
            let heard = ask(reader, method, json!({"id": bound.1})).await;
            assert_eq!(heard["error"]["code"], -32001, "{heard}");
        }
    }
    let page = ask(None, "ListTasks", json!({"contextId": bound.0})).await;
    assert_eq!(page["result"]["tasks"], json!([]));
    let task = ask(Some(&desk.caller), "GetTask", json!({"id": bound.1})).await;
    assert_eq!(task["result"]["id"], json!(bound.1), "{task}");
    assert_eq!(get_as(None, &format!("{a2a}/tasks/{}", bound.1)).await.status, 404);
    assert_eq!(get_as(None, &format!("{a2a}/tasks/{}", open.1)).await.status, 200);
    assert_eq!(get_as(Some(&desk.caller), &format!("{a2a}/tasks/{}", bound.1)).await.status, 200);
    desk.gateway.stop().await;
}

#[tokio::test]
async fn where_reads_are_the_parties_a_run_is_there_for_those_whose_hands_it_went_through() {
    let desk = Desk::new(|config| config.reads = "parties".parse().unwrap()).await;
    let (gateway, delegate) = (&desk.gateway, Identity::generate());
    let chain = ActorChain::start(&desk.caller).extend(&delegate).unwrap();
    let asked = post_as(&delegate, &desk.url, &chained("new", "hello", &chain, json!({}))).await;
    let (thread, run) = ids(&asked.body);
    let echo = gateway.demo_agent().unwrap();
    let task = format!("{}/a2a/{}/{}/tasks/{run}", gateway.url(), echo.provider, echo.name);
    let urls = [
        gateway.url_of(&format!("/runs/{run}")),
        gateway.url_of(&format!("/runs/{run}/events")),
        format!("{}/runs/{run}", desk.url),
        task,
    ];
    for (reader, status) in [(&delegate, 200), (&desk.caller, 200), (&Identity::generate(), 404)] {
        for url in &urls {
            assert_eq!(get_as(Some(reader), url).await.status, status, "{url}");
        }
    }
    // The thread is its parties', and so is what else is asked on it.
    let messages = gateway.url_of(&format!("/threads/{thread}/messages"));
    assert_eq!(get_as(Some(&delegate), &messages).await.status, 404);
    let own = ActorChain::start(&desk.caller);
    let next = post_as(&desk.caller, &desk.url, &chained(&thread, "hello", &own, json!({}))).await;
    let next = gateway.url_of(&format!("/runs/{}", ids(&next.body).1));
    assert_eq!(get_as(Some(&delegate), &next).await.status, 404);
    assert_eq!(get_as(Some(&desk.caller), &next).await.status, 200);
    desk.gateway.stop().await;
}

#[tokio::test]
async fn where_reads_are_open_whoever_knows_an_id_reads() {
    let desk = Desk::new(|_| {}).await;
    for (thread, run) in conversations(&desk).await {
        for path in [format!("/threads/{thread}/messages"), format!("/runs/{run}/events")] {
            assert_eq!(get_as(None, &desk.gateway.url_of(&path)).await.status, 200);
        }
    }
    desk.gateway.stop().await;
}

#[tokio::test]
async fn a_bound_thread_under_an_open_one_is_in_the_tree_for_its_parties_alone() {
    let desk = Desk::new(|config| config.reads = "parties".parse().unwrap()).await;
    let [_, open] = conversations(&desk).await;
    let echo = desk.gateway.demo_agent().unwrap();
    let a2a = format!("{}/a2a/{}/{}", desk.gateway.url(), echo.provider, echo.name);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}], "referenceTaskIds": [open.1]},
        "metadata": {"actorChain": ActorChain::start(&desk.caller)},
    }})
    .to_string();
    let mut fields = signed(&desk.caller, &a2a, &call);
    fields.push(("a2a-version", "1.0".to_owned()));
    let sent = post(&a2a, &call, &fields).await.json();
    let child = sent["result"]["task"]["contextId"].as_str().unwrap_or_else(|| panic!("{sent}")).to_owned();
    let tree = desk.gateway.url_of(&format!("/threads/{}/tree", open.0));
    for (reader, wanted) in [
        (None, vec![&open.0]),
        (Some(Identity::generate()), vec![&open.0]),
        (Some(desk.caller), vec![&open.0, &child]),
    ] {
        let told = get_as(reader.as_ref(), &tree).await.json();
        let threads: Vec<_> =
            told["threads"].as_array().unwrap().iter().map(|thread| &thread["threadId"]).collect();
        assert_eq!(threads, wanted, "{told}");
    }
    desk.gateway.stop().await;
}

#[tokio::test]
async fn a_signature_is_taken_once_over_a_restart_too() {
    let named = |config: &mut funduq_gateway::Config| {
        config.public_url = "https://relay.example".parse().unwrap();
    };
    let caller = Identity::generate();
    let ask = async |gateway: &TestGateway, fields: &Fields| {
        let request =
            fields.iter().fold(client().get(gateway.url_of("/runs/none")), |request, (name, value)| {
                request.header(*name, value)
            });
        Heard::of(request).await.refusal()
    };
    let first = TestGateway::configured(named).await;
    let at = now();
    // Of the first process's first second too, since there was none before it.
    let taken: Vec<_> = [at, at + 1, at + 40]
        .map(|created| signed_at(&caller, "GET", "https://relay.example/runs/none", "", created))
        .into();
    for fields in &taken {
        assert_eq!(ask(&first, fields).await, (404, "run_not_found".into()));
    }
    let second = TestGateway::again_configured(first.stop().await, named).await;
    for fields in &taken {
        let refused = ask(&second, fields).await;
        assert!(refused.0 == 401 && refused.1 != "invalid_signature", "{refused:?}");
    }
    let fields = signed_at(&caller, "GET", "https://relay.example/runs/none", "", now() + 1);
    assert_eq!(ask(&second, &fields).await, (404, "run_not_found".into()));
    let metrics = second.figures().await;
    assert_eq!(metrics["funduq_limited_total{limit=\"signatures\"}"], 0.0);
    for result in ["ok", "failed"] {
        assert_eq!(metrics[&format!("funduq_certificate_loads_total{{result=\"{result}\"}}")], 0.0);
    }
    second.stop().await;
}
