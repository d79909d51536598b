//! Connections enough to leave a process without descriptors.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::time::{Instant, sleep, timeout};

use crate::measure::LOOK_AGAIN;
use crate::support::{SOON, Serving, clients, end};

/// How many descriptors the process may have.
const DESCRIPTORS: u32 = 256;
/// How many connections are opened, of which each would have one.
const CONNECTIONS: usize = 300;

#[tokio::test]
async fn health_and_metrics_answer_however_few_descriptors_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("ulimit -n {DESCRIPTORS} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_funduq")]);
    command.current_dir(folder.path()).kill_on_drop(true);
    let mut gateway = Serving::start_with(command, &["--demo"]).await;
    let url = gateway.ready["url"].as_str().unwrap().to_owned();
    let mut opened = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut connection = TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
        // Whoever is over the limit may be gone already.
        let _ = connection.write_all(b"GET /agents HTTP/1.1\r\nhost: x\r\n\r\n").await;
        opened.push(connection);
    }
    // Each on a connection of its own.
    let client = clients().pool_max_idle_per_host(0).timeout(SOON / 10).build().unwrap();
    let until = Instant::now() + SOON;
    for path in ["/healthz", "/readyz", "/metrics"] {
        // Those of the many that are over the limit are told so, one after another.
        while !client.get(format!("{url}{path}")).send().await.is_ok_and(|answer| answer.status() == 200) {
            assert!(Instant::now() < until, "{path} does not answer");
            sleep(LOOK_AGAIN).await;
        }
    }
    let refused = client.get(format!("{url}/agents")).send().await.unwrap();
    assert_eq!(refused.status(), 503);
    drop(opened);
    timeout(SOON, async {
        while !client.get(format!("{url}/agents")).send().await.is_ok_and(|answer| answer.status() == 200) {
            sleep(LOOK_AGAIN).await;
        }
    })
    .await
    .expect("there is room again");
    assert_eq!(end(&mut gateway.child, "-TERM").await, Some(0));
}
