//! The binary `funduq` as a process: what it prints, how it ends, what it refuses.

use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use crate::support::{Raw, SOON, TestGateway, events, input};

fn funduq(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_funduq"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FUNDUQ_") {
            command.env_remove(name);
        }
    }
    command
}

async fn output(folder: &Path, arguments: &[&str]) -> Output {
    timeout(SOON, funduq(folder, arguments).output()).await.unwrap().unwrap()
}

/// Starts `funduq serve` and reads what it prints up to the line `ready`.
async fn serve(
    folder: &Path,
    arguments: &[&str],
) -> (Child, Vec<String>, Value, Lines<BufReader<ChildStdout>>) {
    let mut command = funduq(folder, &["serve", "--listen", "127.0.0.1:0", "--durability", "process"]);
    let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut printed = Vec::new();
    loop {
        let line = timeout(SOON, lines.next_line()).await.unwrap().unwrap().expect("a line `ready`");
        if let Some(ready) = line.strip_prefix("ready ") {
            let ready = serde_json::from_str(ready).unwrap();
            return (child, printed, ready, lines);
        }
        printed.push(line);
    }
}

async fn end(child: &mut Child, signal: &str) -> Option<i32> {
    let id = child.id().unwrap().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().await.unwrap().success());
    timeout(SOON, child.wait()).await.expect("an end").unwrap().code()
}

#[tokio::test]
async fn it_prints_where_everything_is_answers_and_ends_with_0() {
    for signal in ["-TERM", "-INT"] {
        let folder = tempfile::tempdir().unwrap();
        let (mut child, printed, ready, mut lines) = serve(folder.path(), &["--demo"]).await;
        let agui = ready["aguiUrl"].as_str().unwrap();
        assert!(agui.starts_with(ready["url"].as_str().unwrap()));
        assert!(ready["agentCardUrl"].as_str().unwrap().ends_with("/echo/.well-known/agent-card.json"));
        assert_eq!(ready["funduqKey"].as_str().unwrap().len(), 64);
        let printed = printed.join("\n");
        assert!(printed.contains(&format!("curl -N '{agui}'")), "{printed}");
        let seen = events(&Raw::post(agui, &input("hello")).await.rest().await);
        assert_eq!(seen.last().unwrap().1["type"], "RUN_FINISHED");
        assert!(folder.path().join("funduq-data/record.sqlite").exists());

        assert_eq!(end(&mut child, signal).await, Some(0));
        assert_eq!(lines.next_line().await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_run_in_flight_does_not_hold_up_its_end_for_long() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, _, ready, _lines) = serve(folder.path(), &["--demo", "--drain", "50ms"]).await;
    let mut answer = Raw::post(ready["aguiUrl"].as_str().unwrap(), &input("slow")).await;
    answer.chunk().await.unwrap();
    let (code, rest) = tokio::join!(end(&mut child, "-TERM"), answer.rest());
    assert_eq!(code, Some(0));
    assert!(events(&rest).last().unwrap().1["type"].as_str().unwrap().starts_with("RUN_"));
}

#[tokio::test]
async fn what_cannot_be_served_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, wanted) in [
        (&["serve", "--listen", "0.0.0.0:0"][..], "--allow-public-enrolment"),
        (&["serve", "--listen", "192.0.2.1:1", "--allow-public-enrolment"], "192.0.2.1:1"),
        (&["serve", "--drain", "15"], "15s"),
        (&["serve", "--config", "missing.toml"], "missing.toml"),
        (&["serve", "--body-limit", "1GiB"], "16MiB"),
        (&["serve", "--no-such-thing"], "--no-such-thing"),
    ] {
        let output = output(folder.path(), arguments).await;
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
}

#[tokio::test]
async fn a_setting_comes_from_the_flag_then_the_variable_then_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("funduq.toml"), "enrolment = 'closed'\ndata-dir = 'from-file'\n")
        .unwrap();
    let mut command =
        funduq(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--config", "funduq.toml", "--demo"]);
    // Open again, or the demo would not be admitted; and the folder is the file's.
    command.env("FUNDUQ_ENROLMENT", "open").env("FUNDUQ_LISTEN", "192.0.2.1:1");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while !timeout(SOON, lines.next_line())
        .await
        .unwrap()
        .unwrap()
        .expect("a line `ready`")
        .starts_with("ready ")
    {}
    assert!(folder.path().join("from-file/funduq.key").exists());
    assert_eq!(end(&mut child, "-TERM").await, Some(0));
}

#[tokio::test]
async fn a_second_funduq_on_the_same_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, ..) = serve(folder.path(), &[]).await;
    let output = output(folder.path(), &["serve", "--listen", "127.0.0.1:0"]).await;
    assert!(String::from_utf8(output.stderr).unwrap().contains("in use by another funduq"));
    assert_eq!(end(&mut child, "-TERM").await, Some(0));
}

#[tokio::test]
async fn keygen_makes_a_key_once_and_ticket_asks_for_a_ticket_for_it() {
    let gateway = TestGateway::start().await;
    let folder = tempfile::tempdir().unwrap();
    let made = output(folder.path(), &["keygen", "my.key"]).await;
    let key = String::from_utf8(made.stdout).unwrap();
    assert_eq!(String::from_utf8(output(folder.path(), &["keygen", "my.key"]).await.stdout).unwrap(), key);
    let key = key.trim_end();
    assert_eq!(key.len(), 64);

    let got = output(folder.path(), &["ticket", key, "--url", gateway.url()]).await;
    assert!(got.status.success());
    assert_eq!(String::from_utf8(got.stdout).unwrap().trim_end().len(), 32);
    gateway.stop().await;

    let closed = TestGateway::configured(|config| config.enrolment = "closed".parse().unwrap()).await;
    let refused = output(folder.path(), &["ticket", key, "--url", closed.url()]).await;
    assert!(!refused.status.success());
    assert!(String::from_utf8(refused.stderr).unwrap().contains("enrolment_closed"));
    closed.stop().await;
}
