//! What the tests share: a funduq of a few lines, offers, and AG-UI's ordering rules.

mod fake;
mod order;

use std::sync::Arc;

use funduq_provider_sdk::agui::{Event, RelayedInput};
use funduq_provider_sdk::contract::{DeliveredRun, Offer, RunId};
use funduq_provider_sdk::{InProcessLink, ProviderIdentity, Runtime, RuntimeBuilder};

pub(crate) use fake::FakeFunduq;
pub(crate) use order::check_order;

pub(crate) fn run_id(id: &str) -> RunId {
    id.parse().unwrap()
}

/// An offer of a run with one user message.
pub(crate) fn offer(agent: &str, thread: &str, run: &str, text: &str) -> Offer {
    offer_with(agent, thread, run, text, "")
}

/// The same with further members of the input, each followed by a comma.
pub(crate) fn offer_with(agent: &str, thread: &str, run: &str, text: &str, members: &str) -> Offer {
    let text = serde_json::to_string(text).unwrap();
    let messages = format!(r#"[{{"id":"m-{run}","role":"user","content":{text}}}]"#);
    offer_of(agent, thread, run, &messages, members)
}

/// An offer of a run with these messages.
pub(crate) fn offer_of(agent: &str, thread: &str, run: &str, messages: &str, members: &str) -> Offer {
    let input = format!(r#"{{{members}"threadId":"{thread}","runId":"{run}","messages":{messages}}}"#);
    Offer {
        attempt: 1,
        run: DeliveredRun {
            run_id: run_id(run),
            thread_id: thread.parse().unwrap(),
            agent_name: agent.parse().unwrap(),
            input: RelayedInput::parse(input.as_bytes()).unwrap(),
        },
    }
}

/// A runtime, and its link to a fake funduq.
pub(crate) async fn linked(runtime: RuntimeBuilder) -> (Runtime, InProcessLink, Arc<FakeFunduq>) {
    let funduq = FakeFunduq::new();
    let runtime = runtime.build();
    let link = funduq.link(&runtime).await.unwrap();
    (runtime, link, funduq)
}

pub(crate) fn builder() -> RuntimeBuilder {
    Runtime::builder(ProviderIdentity::generate())
}

pub(crate) fn typed(json: &str) -> Event {
    serde_json::from_str(json).unwrap()
}

pub(crate) fn types(events: &[String]) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Typed {
        r#type: String,
    }
    events.iter().map(|json| serde_json::from_str::<Typed>(json).unwrap().r#type).collect()
}

/// The text that the run's messages say.
pub(crate) fn text(events: &[String]) -> String {
    let delta = |json: &String| match typed(json) {
        Event::TextMessageContent(content) => Some(content.delta),
        _ => None,
    };
    events.iter().filter_map(delta).collect()
}
