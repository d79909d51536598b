//! A reader that never reads, of a run that says far more than anybody would hold for it.

use funduq_provider_sdk::ws;
use funduq_provider_sdk::{ProviderIdentity, RunContext, ServedAgent, agent_fn};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use crate::measure::{LOOK_AGAIN, Page, falls_to, memory_of};
use crate::support::{SOON, Serving, end, input, post, request};

/// What the run says: so many events of a MiB.
const EVENTS: usize = 160;
/// By how much memory may grow meanwhile, in MiB: what is hot of the run, and what waits to be written
/// down.
const MOST: u64 = 32;
/// And by how much it may differ afterwards.
const KEPT: u64 = 12;

#[tokio::test]
async fn a_reader_that_never_reads_costs_little_is_let_go_and_its_run_ends() {
    let folder = tempfile::tempdir().unwrap();
    // Long enough for the run to say everything while nothing of it is read.
    let mut gateway = Serving::start(folder.path(), &["--demo", "--write-timeout", "15s"]).await;
    let process = gateway.child.id().unwrap();
    let [url, echo] = ["url", "aguiUrl"].map(|name| gateway.ready[name].as_str().unwrap().to_owned());
    let identity = ProviderIdentity::generate();
    let agent = format!("{url}/agui/{}/loud", identity.public_key());
    let loud = agent_fn(async |run: RunContext| {
        let large = "x".repeat(1 << 20);
        for _ in 0..EVENTS {
            run.events().custom("large", &large).await?;
        }
        Ok(())
    });
    let page = Page::of(&url);
    let mut link = ws::connect(&url, identity)
        .pin(gateway.ready["funduqKey"].as_str().unwrap().parse().unwrap())
        .agent(ServedAgent::new("loud", loud).unwrap())
        .start()
        .unwrap();
    assert!(link.online().await);
    let served = async || {
        let heard = post(&echo, &input("hello").to_string(), &Vec::new()).await;
        assert_eq!(heard.last_event(), "RUN_FINISHED");
    };
    served().await;
    // The same to one that reads: the record has its pages in memory from then on.
    assert_eq!(post(&agent, &input("hello").to_string(), &Vec::new()).await.last_event(), "RUN_FINISHED");
    let before = memory_of(process);

    let body = input("hello").to_string();
    let head = request("POST", &agent, &format!("content-length: {}\r\n", body.len()));
    let mut deaf = TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
    deaf.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    // The run goes on to its end, as for any caller that went away.
    let completed = "funduq_runs_ended_total{outcome=\"completed\",reason=\"\"}";
    let (until, mut most) = (Instant::now() + SOON, before);
    while page.figure(completed).await < 3 {
        most = most.max(memory_of(process));
        assert!(Instant::now() < until, "the run does not end");
        sleep(LOOK_AGAIN).await;
    }
    most = most.max(memory_of(process));
    assert!(page.figure("funduq_event_bytes_total").await > (2 * EVENTS) << 20);
    assert_eq!(page.figure("funduq_streams").await, 1, "nothing was read, and nobody was let go so far");
    assert!(most < before + MOST, "{before} MiB before, {most} MiB while nobody read");
    served().await;

    // The connection is closed under the one that takes nothing; what the system had taken may still be read.
    page.until_figure_is("funduq_streams", 0).await;
    page.until_figure_is("funduq_connections", 1).await;
    let mut rest = Vec::new();
    let ended = timeout(SOON, deaf.read_to_end(&mut rest)).await.expect("the connection ends");
    assert!(ended.is_err() || rest.len() < EVENTS << 19, "{} bytes", rest.len());
    falls_to("MiB", before + KEPT, || memory_of(process)).await;

    served().await;
    link.stop().await.unwrap();
    assert_eq!(end(&mut gateway.child, "-TERM").await, Some(0));
}
