//! A disk with no room left: `/readyz` says so as soon as callers are told, and for as long.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::support::{Raw, SOON, end, input};

#[tokio::test]
async fn a_gateway_that_cannot_write_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    // No file may grow over so many blocks of 512 bytes, and who tries is told and not ended.
    let limited = r#"trap "" XFSZ; ulimit -f 600; exec "$0" "$@""#;
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_funduq"), "serve", "--listen", "127.0.0.1:0", "--demo"]);
    command.args(["--data-dir", "data", "--drain", "0s"]).current_dir(folder.path()).kill_on_drop(true);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready: Value = loop {
        let line = timeout(SOON, lines.next_line()).await.unwrap().unwrap().expect("a line `ready`");
        if let Some(ready) = line.strip_prefix("ready ") {
            break serde_json::from_str(ready).unwrap();
        }
    };
    let readyz = format!("{}/readyz", ready["url"].as_str().unwrap());
    assert_eq!(Raw::get(&readyz, "").await.status, 200);

    let agui = ready["aguiUrl"].as_str().unwrap();
    let filling = async {
        loop {
            let mut answer = Raw::post(agui, &input(&"x".repeat(8 << 10))).await;
            match answer.status {
                // One that began before the disk was full has an end that cannot be written.
                200 => drop(timeout(Duration::from_millis(300), answer.rest()).await),
                status => break (status, answer.json().await["error"]["code"].clone()),
            }
        }
    };
    let refused = timeout(SOON, filling).await.expect("a full disk");
    assert_eq!(refused, (503, "record_unavailable".into()));
    // What it said a moment before is not what counts.
    let looking = async {
        loop {
            let mut answer = Raw::get(&readyz, "").await;
            let said = answer.json().await;
            if answer.status == 503 {
                break said;
            }
        }
    };
    let said = timeout(SOON, looking).await.expect("it is told");
    assert_eq!((&said["checks"]["record"], &said["checks"]["schema"]), (&"failing".into(), &"ok".into()));
    assert_eq!(end(&mut child, "-TERM").await, Some(0));
}
