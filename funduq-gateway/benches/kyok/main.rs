//! What it costs to have a model lent through funduq, beside a direct call to the same model's server in the same run:
//! first chunk, and the rate of a long stream. Prints a table, or with `--json` one object for `cargo xtask bench`.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement that cannot go on has nothing better to do than to stop"
)]

#[path = "../figures/mod.rs"]
mod figures;
mod model;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use figures::Figure;

use funduq_contract::{AgentAddress, PublicKey};
use funduq_gateway::{Config, Durability, Gateway};
use funduq_provider_sdk::kyok::KyokSigner;
use funduq_provider_sdk::llm::{Chunks, Completion, CompletionError, LlmOfferings};
use funduq_provider_sdk::ws;
use funduq_provider_sdk::{ProviderIdentity, RunContext, ServedAgent, agent_fn};
use reqwest::{Client, RequestBuilder};
use serde_json::json;
use tokio::sync::mpsc;

/// How many calls the first chunk is timed over, one direct and one through funduq in turn.
const CALLS: usize = 300;
/// How long the timed stream is, and how often it is read.
const CHUNKS: usize = 1000;
const STREAMS: usize = 15;
/// What funduq holds itself to.
const FIRST_CHUNK_LIMIT_MS: f64 = 2.0;
const RATE_LIMIT: f64 = 0.5;

/// Lends the model at `url`.
async fn lend(client: Client, url: String, completion: Completion) -> Result<Chunks, CompletionError> {
    let answer = client.post(url).json(&completion.body).send().await;
    let answer = answer.map_err(|error| CompletionError::failure("upstream", &error.to_string()))?;
    Ok(Chunks::from_sse(answer.bytes_stream()))
}

/// Holds its run open, and hands its signer out.
fn spender() -> (ServedAgent, mpsc::UnboundedReceiver<KyokSigner>) {
    let (sender, signers) = mpsc::unbounded_channel();
    let agent = agent_fn(move |run: RunContext| {
        sender.send(run.kyok().unwrap()).unwrap();
        async move {
            run.cancellation().cancelled().await;
            Ok(())
        }
    });
    (ServedAgent::new("spender", agent).unwrap(), signers)
}

/// Reads an answer to its end: when its first byte of body came, when its last one did, and how many chunks it had.
async fn read(call: RequestBuilder) -> (Duration, Duration, usize) {
    let began = Instant::now();
    let mut answer = call.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let (mut first, mut body) = (None, Vec::new());
    while let Some(bytes) = answer.chunk().await.unwrap() {
        first.get_or_insert_with(|| began.elapsed());
        body.extend_from_slice(&bytes);
    }
    let lasted = began.elapsed();
    let text = String::from_utf8(body).unwrap();
    assert!(text.ends_with("data: [DONE]\n\n"), "the answer is whole");
    (first.unwrap(), lasted, text.matches("data: {").count())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

struct Bench {
    client: Client,
    model: String,
    kyok: String,
    signer: KyokSigner,
}

impl Bench {
    fn body(chunks: usize) -> String {
        json!({"model": "m", "messages": [{"role": "user", "content": chunks.to_string()}], "stream": true})
            .to_string()
    }

    fn direct(&self, chunks: usize) -> RequestBuilder {
        let call = self.client.post(&self.model).header("content-type", "application/json");
        call.body(Self::body(chunks))
    }

    fn through(&self, chunks: usize) -> RequestBuilder {
        let body = Self::body(chunks);
        let headers = self.signer.headers(body.as_bytes());
        let call = self.client.post(&self.kyok).bearer_auth(self.signer.bearer());
        call.header(headers.timestamp.0, headers.timestamp.1)
            .header(headers.signature.0, headers.signature.1)
            .body(body)
    }

    async fn first_chunks(&self) -> (Duration, Duration) {
        let (mut direct, mut through) = (Vec::new(), Vec::new());
        for call in 0..CALLS + 20 {
            let (one, _, _) = read(self.direct(1)).await;
            let (other, _, _) = read(self.through(1)).await;
            // The first ones open connections.
            if call >= 20 {
                direct.push(one);
                through.push(other);
            }
        }
        (median(direct), median(through))
    }

    /// Chunks a second of a long stream.
    async fn rates(&self) -> (f64, f64) {
        let (mut direct, mut through) = (Vec::new(), Vec::new());
        for _ in 0..STREAMS {
            for (call, times) in [(self.direct(CHUNKS), &mut direct), (self.through(CHUNKS), &mut through)] {
                let (_, lasted, chunks) = read(call).await;
                assert_eq!(chunks, CHUNKS, "no chunk is lost and none comes twice");
                times.push(lasted);
            }
        }
        let rate = |times| CHUNKS as f64 / median(times).as_secs_f64();
        (rate(direct), rate(through))
    }
}

async fn measure() -> (Duration, Duration, f64, f64) {
    // Another part of the process may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().no_proxy().build().unwrap();
    let model = model::serve().await;
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        data_dir: folder.path().join("data"),
        durability: Durability::Process,
        drain: "100ms".parse().unwrap(),
        ..Config::default()
    };
    let gateway = Gateway::start(config).await.unwrap();

    let lender = ProviderIdentity::generate();
    let upstream = (client.clone(), model.clone());
    let handler = move |completion| lend(upstream.0.clone(), upstream.1.clone(), completion);
    let offerings = LlmOfferings::new(["model"], handler).unwrap();
    let mut lending = ws::serve_llm(gateway.url(), lender.clone(), offerings).start().unwrap();
    let (agent, mut signers) = spender();
    let identity = ProviderIdentity::generate();
    let address = AgentAddress::new(identity.public_key(), agent.name().clone());
    let mut serving = ws::connect(gateway.url(), identity).agent(agent).start().unwrap();
    assert!(lending.online().await && serving.online().await);

    let run = tokio::spawn(open_run(client.clone(), gateway.url().to_owned(), address, lender.public_key()));
    let signer = signers.recv().await.unwrap();
    let kyok = format!("{}/kyok/v1/chat/completions", gateway.url());
    let bench = Bench { client, model, kyok, signer };
    let (direct, through) = bench.first_chunks().await;
    let (direct_rate, rate) = bench.rates().await;
    run.abort();
    drop((lending, serving));
    gateway.shutdown().await;
    (direct, through, direct_rate, rate)
}

/// A caller that lends its model to the agent, for as long as it listens.
async fn open_run(client: Client, url: String, agent: AgentAddress, lender: PublicKey) {
    let kyok = json!({"llmProvider": {"providerKey": lender, "name": "model"}});
    let input = json!({"threadId": "new", "runId": "new", "forwardedProps": {"kyok": kyok},
        "messages": [{"id": "m", "role": "user", "content": "go on"}]});
    let agui = format!("{url}/agui/{}/{}", agent.provider, agent.name);
    let answer = client.post(agui).header("content-type", "application/json").body(input.to_string());
    answer.send().await.unwrap().bytes().await.unwrap();
}

fn main() -> ExitCode {
    // `cargo test` runs it too, with another flag, to see that it builds.
    if !std::env::args().any(|flag| flag == "--bench") {
        return ExitCode::SUCCESS;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (direct, through, direct_rate, rate) = runtime.block_on(measure());
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let figures = [
        Figure::new("kyok_first_chunk_direct_p50_ms", ms(direct)),
        Figure::new("kyok_first_chunk_p50_ms", ms(through)),
        Figure::new("kyok_first_chunk_added_ms", ms(through.saturating_sub(direct)))
            .at_most(FIRST_CHUNK_LIMIT_MS),
        Figure::new("kyok_chunks_direct_per_second", direct_rate.round()),
        Figure::new("kyok_chunks_per_second", rate.round()),
        Figure::new("kyok_chunks_ratio", rate / direct_rate).at_least(RATE_LIMIT),
    ];
    figures::report(&figures, std::env::args().any(|flag| flag == "--json"))
}
