//! The binary `funduq` as a process: what it prints, how it ends, what it refuses.

use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::timeout;

use crate::support::{Raw, SOON, Serving, TestGateway, end, events, funduq, input, request};

async fn output(folder: &Path, arguments: &[&str]) -> Output {
    timeout(SOON, funduq(folder, arguments).output()).await.unwrap().unwrap()
}

#[tokio::test]
async fn it_prints_where_everything_is_answers_and_ends_with_0() {
    for signal in ["-TERM", "-INT"] {
        let folder = tempfile::tempdir().unwrap();
        let Serving { mut child, printed, ready, mut lines } =
            Serving::start(folder.path(), &["--demo"]).await;
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
    let Serving { mut child, ready, .. } =
        Serving::start(folder.path(), &["--demo", "--drain", "50ms"]).await;
    let mut answer = Raw::post(ready["aguiUrl"].as_str().unwrap(), &input("slow")).await;
    answer.chunk().await.unwrap();
    let (code, rest) = tokio::join!(end(&mut child, "-TERM"), answer.rest());
    assert_eq!(code, Some(0));
    assert!(events(&rest).last().unwrap().1["type"].as_str().unwrap().starts_with("RUN_"));
}

const LONG: &str = "a-folder-whose-name-is-longer-than-what-a-socket-may-have-which-is-some-hundred-characters-on-most-systems";

#[tokio::test]
async fn what_cannot_be_served_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let key = crate::support::nobody().provider.to_string();
    for (arguments, wanted) in [
        (&["serve", "--listen", "0.0.0.0:0"][..], "--allow-public-enrolment"),
        (&["serve", "--listen", "192.0.2.1:1", "--allow-public-enrolment"], "192.0.2.1:1"),
        (&["serve", "--drain", "15"], "15s"),
        (&["serve", "--config", "missing.toml"], "missing.toml"),
        (&["serve", "--body-limit", "1GiB"], "16MiB"),
        (&["serve", "--no-such-thing"], "--no-such-thing"),
        (&["serve", "--tls-key", "key.pem"], "tls-certificate"),
        (&["serve", "--tls-key", "key.pem", "--tls-certificate", "missing.pem"], "missing.pem"),
        (&["serve", "--listen", "127.0.0.1"], "its port is missing"),
        (
            &["serve", "--public-url", "https://relay.example", "--trusted-proxies", "127.0.0.1"],
            "--enrolment",
        ),
        (&["serve", "--link-ping", "30s"], "link-silence"),
        (&["ticket", &key, "--url", "127.0.0.1:1"], "http://"),
        (&["providers", "--data-dir", LONG], "more than a socket's may have"),
    ] {
        let output = output(folder.path(), arguments).await;
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(wanted), "{arguments:?}: {said}");
        assert!(said.matches("os error").count() <= 1, "{said}");
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
async fn what_is_in_force_is_shown_with_where_it_comes_from_and_can_be_a_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f.toml"), "drain = '3s'\nlink-limit = 7\nkeep-alive = '9s'\n")
        .unwrap();
    let mut command = funduq(folder.path(), &["config", "--config", "f.toml", "--drain", "4s"]);
    command.env("FUNDUQ_KEEP_ALIVE", "5s").env("RUST_LOG", "warn");
    let shown = timeout(SOON, command.output()).await.unwrap().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    for line in [
        "drain = \"4s\" # flag",
        "keep-alive = \"5s\" # FUNDUQ_KEEP_ALIVE",
        "link-limit = 7 # f.toml",
        "log = \"warn\" # RUST_LOG",
        "listen = \"127.0.0.1:8787\" # default",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line} in {shown}");
    }
    std::fs::write(folder.path().join("again.toml"), &shown).unwrap();
    let again = output(folder.path(), &["config", "--config", "again.toml"]).await;
    let values = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_once(" # ").unwrap().0.to_owned()).collect()
    };
    assert_eq!(values(&String::from_utf8(again.stdout).unwrap()), values(&shown));
}

#[tokio::test]
async fn a_key_of_the_file_that_is_no_setting_is_refused_with_the_nearest_that_is() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f.toml"), "peer-request-rates = '3/s'\n").unwrap();
    for command in ["serve", "config"] {
        let refused = output(folder.path(), &[command, "--config", "f.toml"]).await;
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && said.contains("did you mean `peer-request-rate`"), "{said}");
    }
}

#[tokio::test]
async fn logs_are_json_with_the_requests_names_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = funduq(
        folder.path(),
        &["serve", "--listen", "127.0.0.1:0", "--demo", "--log", "debug", "--log-format", "json"],
    );
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut logged = BufReader::new(child.stderr.take().unwrap()).lines();
    let ready = loop {
        let line = timeout(SOON, printed.next_line()).await.unwrap().unwrap().expect("a line `ready`");
        if let Some(ready) = line.strip_prefix("ready ") {
            break serde_json::from_str::<Value>(ready).unwrap();
        }
    };
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let headers = format!("x-request-id: mine-1\r\ntraceparent: 00-{trace}-00f067aa0ba902b7-01\r\n");
    let body = input("hello").to_string();
    let head = request(
        "POST",
        ready["aguiUrl"].as_str().unwrap(),
        &format!("{headers}content-length: {}\r\n", body.len()),
    );
    let mut answer = Raw::send(ready["aguiUrl"].as_str().unwrap(), &head, body.as_bytes()).await;
    assert_eq!(answer.header("x-request-id"), Some("mine-1"));
    let seen = events(&answer.rest().await);
    let (run, _) = seen[0].0.rsplit_once(':').unwrap();
    let line = loop {
        let line = timeout(SOON, logged.next_line()).await.unwrap().unwrap().expect("a line of this request");
        let line: Value = serde_json::from_str(&line).expect("each line is one object");
        if line["message"] == "request" && line["spans"][0]["id"] == "mine-1" {
            break line;
        }
    };
    assert_eq!((&line["method"], &line["status"]), (&"POST".into(), &200.into()));
    let span = &line["spans"][0];
    assert_eq!((&span["trace"], &span["run"]), (&trace.into(), &run.into()));
    assert_eq!((&span["peer"], span["thread"].is_string()), (&"127.0.0.1".into(), true));
    assert_eq!(end(&mut child, "-TERM").await, Some(0));
}

#[tokio::test]
async fn a_second_funduq_on_the_same_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let Serving { mut child, .. } = Serving::start(folder.path(), &[]).await;
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
