//! The SDK's example `delegate`: an agent that asks another over a stock A2A client whose requests it signs, asked by one.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use a2a::{AgentCard, TaskState};
use a2a_client::agent_card::AgentCardResolver;
use funduq_interop_rust::{BINDINGS, bounded, card, client, request, send, told};

/// The running example; it ends with this.
struct Delegate(Child);

impl Drop for Delegate {
    fn drop(&mut self) {
        // It has nothing to lose.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts it in front of the demo agent: itself, and its card once it is there.
async fn delegate(key: &std::path::Path) -> (Delegate, AgentCard) {
    let behind = card("FUNDUQ_CARD_URL").await;
    let to = told("FUNDUQ_CARD_URL").replace("/.well-known/agent-card.json", "");
    let url = told("FUNDUQ_URL");
    let mut command = Command::new(told("FUNDUQ_DELEGATE"));
    command.args(["--url", &url, "--to", &to, "--key"]).arg(key).stdout(Stdio::piped());
    let mut delegate = Delegate(command.spawn().expect("the example starts"));
    let said = BufReader::new(delegate.0.stdout.take().expect("it is piped"));
    let line = said.lines().next().expect("it says who it is").expect("a line");
    let key = line.strip_prefix("serving delegate as ").unwrap_or_else(|| panic!("{line}"));
    let base = format!("{url}/a2a/{key}/delegate");
    loop {
        // It has no card before it is there; the limit of the test ends this.
        if let Ok(card) = AgentCardResolver::new(None).resolve(&base).await {
            assert!(card.description.contains(&behind.name), "{}", card.description);
            return (delegate, card);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn what_an_agent_asks_another_comes_back_through_both() {
    bounded(async {
        let folder = tempfile::tempdir().expect("a folder");
        let (_running, card) = delegate(&folder.path().join("delegate.key")).await;
        for binding in BINDINGS {
            let client = client(&card, binding).await;
            let first = send(&client, &request("grüße aus dem 漢字 garden")).await.unwrap();
            assert_eq!(first.task().status.state, TaskState::Completed);
            assert_eq!(first.text(), "grüße aus dem 漢字 garden");
            assert!(first.deltas.len() > 1, "it comes as it is said: {:?}", first.deltas);

            let mut next = request("and then the second");
            next.message.context_id = Some(first.task().context_id.clone());
            let second = send(&client, &next).await.unwrap();
            assert_eq!(second.task().context_id, first.task().context_id);
            assert_eq!(second.text(), "and then the second");

            let failed = send(&client, &request("fail")).await.unwrap();
            assert_eq!(failed.task().status.state, TaskState::Failed);
        }
    });
}
