//! All four parties: a caller opts in over A2A, the agent calls the endpoint, the LLM provider checks the chain and
//! answers with its own key, and the caller gets the text. Nobody else ever sees that key.

use std::convert::Infallible;
use std::path::Path;

use axum::Router;
use axum::body::Body;
use axum::routing;
use funduq_contract::{ActorChain, Identity, PublicKey, RawJson};
use funduq_provider_sdk::llm::{Chunks, Completion, CompletionError, LlmOfferings};
use funduq_provider_sdk::ws::{self, KyokClient};
use funduq_provider_sdk::{AgentError, ProviderIdentity, RunContext, ServedAgent, agent_fn};
use futures_util::{StreamExt, stream};
use http::HeaderMap;
use serde_json::{Value, json};

use crate::lender::said;
use crate::log;
use crate::support::{TestGateway, client, post, signed};
use crate::tap::Tap;

/// The key that opens the model: the LLM provider's own.
const SECRET: &str = "sk-the-lenders-own-key-1b7c44e0";
const ANSWER: [&str; 3] = ["forty", "-", "two marks"];

/// A model's server that answers whoever has the key.
async fn model_server() -> String {
    let complete = |headers: HeaderMap| async move {
        assert_eq!(headers["authorization"], format!("Bearer {SECRET}"));
        let frames = ANSWER.iter().map(|word| format!("data: {}\n\n", said(word)));
        let frames = frames.chain(["data: [DONE]\n\n".to_owned()]).map(Ok::<_, Infallible>);
        Body::from_stream(stream::iter(frames.collect::<Vec<_>>()))
    };
    let router = Router::new().route("/v1/chat/completions", routing::post(complete));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/chat/completions", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// Lends to whoever spends for `head`, through an agent that this funduq handed the run to.
async fn answer(completion: Completion, head: PublicKey, model: String) -> Result<Chunks, CompletionError> {
    let refused = || CompletionError::refusal("not_for_you", "this model is lent to one caller");
    let chain = completion.chain().map_err(|_| refused())?.ok_or_else(refused)?;
    if chain.head() != head || !chain.dispatched_here() {
        return Err(refused());
    }
    let request = client().post(model).bearer_auth(SECRET).json(&completion.body);
    let response = request.send().await.map_err(|_| CompletionError::failure("upstream", "no model"))?;
    Ok(Chunks::from_sse(response.bytes_stream()))
}

fn word(chunk: &RawJson) -> String {
    let chunk: Value = serde_json::from_str(chunk.get()).unwrap();
    chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned()
}

/// Asks the model that its caller lends, and says what it says.
async fn ask(run: RunContext, client: KyokClient) -> Result<(), AgentError> {
    let signer = run.kyok().ok_or_else(|| AgentError::new("lend me a model"))?;
    let request = json!({"model": "any", "messages": [{"role": "user", "content": run.user_text()}]});
    let said = run.events().open_text().await?;
    let mut chunks = client.stream(&signer, &request).await?;
    while let Some(chunk) = chunks.next().await {
        said.push(&word(&chunk?)).await?;
    }
    Ok(said.end().await?)
}

#[tokio::test]
async fn the_caller_gets_the_lent_models_words_and_nobody_sees_the_key() {
    log::keep();
    let mut tap = Tap::listen().await;
    let gateway = TestGateway::configured(|config| config.public_url = tap.url.parse().unwrap()).await;
    tap.hand_on_to(gateway.url());
    let (caller, lender, agent) =
        (Identity::generate(), ProviderIdentity::generate(), ProviderIdentity::generate());

    let (head, model) = (caller.public_key(), model_server().await);
    let handler = move |completion| answer(completion, head, model.clone());
    let offerings = LlmOfferings::new(["gpt"], handler).unwrap();
    let mut lending =
        ws::serve_llm(&tap.url, lender.clone(), offerings).pin(gateway.public_key()).start().unwrap();
    assert!(lending.online().await);

    let spending = KyokClient::new(&tap.url).unwrap();
    let spender = ServedAgent::new("spender", agent_fn(move |run| ask(run, spending.clone()))).unwrap();
    let address = funduq_contract::AgentAddress::new(agent.public_key(), spender.name().clone());
    let mut serving = ws::connect(&tap.url, agent).agent(spender).start().unwrap();
    assert!(serving.online().await);

    let opt_in =
        json!({"llmProvider": {"providerKey": lender.public_key(), "name": "gpt"}, "context": "c-1"});
    let mut request = json!({
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "what is it?"}]},
        "metadata": {"kyok": opt_in},
    });
    let a2a = tap.url_of(&format!("/a2a/{}/{}", address.provider, address.name));
    let send = async |params: &Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}).to_string();
        let mut fields = signed(&caller, &a2a, &body);
        fields.push(("a2a-version", "1.0".to_owned()));
        post(&a2a, &body, &fields).await.json()
    };
    // Without the chain that it lends for, the lender refuses, and the agent's run fails with what it was told.
    let refused = send(&request).await;
    assert_eq!(refused["result"]["task"]["status"]["state"], "TASK_STATE_FAILED", "{refused}");
    assert!(refused.to_string().contains("lent to one caller"), "{refused}");

    request["metadata"]["actorChain"] = json!(ActorChain::start(&caller));
    let done = send(&request).await;
    let task = &done["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{done}");
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], ANSWER.concat(), "{done}");

    lending.stop().await.unwrap();
    serving.stop().await.unwrap();
    let token = token_of(&tap.seen());
    let folder = gateway.stop().await;
    let (seen, record, log) = (tap.seen(), files_of(folder.path()), log::kept());
    for (place, bytes, told) in [
        ("the frames", &seen, "llmProvider"),
        ("the record", &record, "llmProvider"),
        ("the log", &log, "is linked"),
    ] {
        assert!(holds(bytes, told), "{place} can be looked through");
        assert!(!holds(bytes, SECRET), "the key is in {place}");
    }
    assert!(!holds(&record, &token) && !holds(&log, &token), "a token is for its agent alone");
    let log = String::from_utf8(log).unwrap();
    let run = task["id"].as_str().unwrap();
    let told = [
        "/kyok/v1/chat/completions",
        &format!("run=\"{run}\""),
        &format!("provider={}", lender.public_key().fingerprint()),
    ];
    assert!(
        log.lines().any(|line| line.contains("status=200") && told.iter().all(|told| line.contains(told))),
        "the line of a completion names its run and its lender"
    );
}

/// The token that an agent was told.
fn token_of(frames: &[u8]) -> String {
    let text = String::from_utf8_lossy(frames);
    let (_, rest) = text.split_once(r#""kyok":{"token":""#).expect("an agent was given its grant");
    rest.split('"').next().unwrap().to_owned()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Every byte of every file below.
fn files_of(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.metadata().unwrap().file_type() {
            kind if kind.is_dir() => bytes.extend(files_of(&path)),
            kind if kind.is_file() => bytes.extend(std::fs::read(&path).unwrap()),
            // The operator's socket holds no bytes.
            _ => {}
        }
    }
    bytes
}
