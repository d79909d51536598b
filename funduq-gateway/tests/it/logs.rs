//! The log of a gateway: whose a request is, what became of it, how each run began and ended; and nothing that was said.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::time::timeout;

use crate::support::{Heard, Raw, SOON, client, end, funduq, input};

/// A gateway with the demo agents that logs to a file, and what it said where it is.
async fn logging(folder: &Path) -> (Child, Value) {
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--demo", "--log", "debug", "--log-format", "json"];
    let mut command = funduq(folder, &arguments);
    command.args(["--peer-request-burst", "40", "--peer-request-rate", "1/h", "--limit-exempt", ""]);
    let log = std::fs::File::create(folder.join("log")).unwrap();
    let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap()).lines();
    loop {
        let line = timeout(SOON, printed.next_line()).await.unwrap().unwrap().expect("a line `ready`");
        if let Some(ready) = line.strip_prefix("ready ") {
            return (child, serde_json::from_str(ready).unwrap());
        }
    }
}

#[tokio::test]
async fn lines_say_whose_a_request_is_what_it_met_and_how_each_run_ended() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, ready) = logging(folder.path()).await;
    let agui = ready["aguiUrl"].as_str().unwrap();
    let a2a = agui.replacen("/agui/", "/a2a/", 1);
    let named = |id: &'static str, url: &str, body: &Value| {
        client().post(url).header("x-request-id", id).header("a2a-version", "1.0").json(body)
    };
    let heard = Heard::of(named("agui", agui, &input("a-word-of-a-caller"))).await;
    assert_eq!(heard.last_event(), "RUN_FINISHED");
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a-word-of-a-caller"}]});
    let call =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let send = call("SendMessage", json!({ "message": message }));
    let task = Heard::of(named("send", &a2a, &send)).await.json()["result"]["task"].clone();
    let stream = call("SendStreamingMessage", json!({ "message": message }));
    assert_eq!(Heard::of(named("stream", &a2a, &stream)).await.status, 200);
    let missing = call("GetTask", json!({"id": "no-such-task"}));
    assert_eq!(Heard::of(named("missing", &a2a, &missing)).await.status, 200);
    let token = named("token", agui, &input("x")).bearer_auth("a-token-that-nobody-has");
    assert_eq!(Heard::of(token).await.refusal().1, "unknown_token");
    let nobody = crate::support::nobody();
    let nobody = format!("{}/agui/{}/{}", ready["url"].as_str().unwrap(), nobody.provider, nobody.name);
    assert_eq!(Heard::of(named("nobody", &nobody, &input("x"))).await.refusal().1, "agent_not_found");
    while Raw::get(&format!("{}/agents", ready["url"].as_str().unwrap()), "x-request-id: limit\r\n")
        .await
        .status
        != 429
    {}
    assert_eq!(end(&mut child, "-TERM").await, Some(0));

    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    for secret in ["a-word-of-a-caller", "a-token-that-nobody-has"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |id: &str| {
        let mut lines =
            lines.iter().filter(|line| line["message"] == "request" && line["spans"][0]["id"] == id);
        lines.next_back().unwrap_or_else(|| panic!("a line of {id}"))
    };
    let of_runs = |message: &str, run: &Value| -> Vec<&Value> {
        lines.iter().filter(|line| line["message"] == message && line["run"] == *run).collect()
    };
    let provider = of("agui")["spans"][0]["provider"].clone();
    assert_eq!(provider.as_str().unwrap().len(), 16, "{provider}");
    for id in ["agui", "send", "stream"] {
        let (line, span) = (of(id), &of(id)["spans"][0]);
        assert!(line["code"].is_null() && span["provider"] == provider, "{line}");
        let (run, thread) = (&span["run"], &span["thread"]);
        assert!(run.is_string() && thread.is_string(), "{line}");
        let [open] = of_runs("a run is open", run)[..] else { panic!("one beginning of {run}") };
        let [ended] = of_runs("a run has ended", run)[..] else { panic!("one end of {run}") };
        for line in [open, ended] {
            assert_eq!((&line["thread"], &line["provider"]), (thread, &provider), "{line}");
        }
        assert_eq!((&ended["outcome"], &ended["reason"]), (&"completed".into(), &"".into()));
    }
    assert_eq!(of("send")["spans"][0]["run"], task["id"]);
    for (id, status, code) in [
        ("missing", 200, "TASK_NOT_FOUND"),
        ("token", 401, "unknown_token"),
        ("nobody", 404, "agent_not_found"),
    ] {
        assert_eq!((&of(id)["status"], &of(id)["code"]), (&status.into(), &code.into()), "{}", of(id));
    }
    let limited = of("limit");
    assert_eq!(
        (&limited["code"], &limited["limit"]),
        (&"too_many_requests".into(), &"peer_request_rate".into())
    );
}
