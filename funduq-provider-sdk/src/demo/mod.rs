//! The demo agents: what people, examples and stock clients talk to when nobody has written an agent yet.
//!
//! `echo` looks at the first word that it is told: `ask`, `tool`, `slow`, `fail`, `think` and `new` each show one thing
//! that an agent can do, anything else is said back word by word. `replay` sends the events that stand in the
//! caller's bag under `replay`.

mod ask;
mod echo;
mod fail;
mod new;
mod replay;
mod slow;
mod think;
mod tool;

use funduq_agui::Message;
use funduq_contract::InvalidName;

use crate::agent::{AgentResult, agent_fn};
use crate::context::RunContext;
use crate::served::ServedAgent;

/// The demo agents under their own names, `echo` and `replay`.
///
/// # Panics
/// Never: both names are valid.
pub fn agents() -> Vec<ServedAgent> {
    let replay = ServedAgent::new("replay", agent_fn(replay::replay))
        .expect("a short word is a name")
        .description("Sends the events in forwardedProps.replay, an array, as they stand");
    vec![echo("echo").expect("a short word is a name"), replay]
}

/// The demo agent `echo` under a name.
///
/// # Errors
/// [`InvalidName`] when it is no agent's name.
pub fn echo(name: &str) -> Result<ServedAgent, InvalidName> {
    Ok(ServedAgent::new(name, agent_fn(answer))?.description(
        "Says back what it is told; ask, tool, slow, fail, think and new show what agents can do",
    ))
}

async fn answer(run: RunContext) -> AgentResult {
    // An empty list answers nothing, as if there were none.
    if let Some(answers) = run.input().resume.as_deref().filter(|answers| !answers.is_empty()) {
        return ask::answered(&run, answers).await;
    }
    if let Some(Message::Tool(result)) = run.input().messages.last() {
        return tool::answered(&run, result).await;
    }
    if run.bag().get("replay").is_some() {
        return replay::replay(run).await;
    }
    let text = run.user_text().unwrap_or_default();
    match text.split_whitespace().next().unwrap_or_default() {
        "ask" => ask::ask(&run).await,
        "tool" => tool::call(&run, &text).await,
        "slow" => slow::count(&run).await,
        "fail" => fail::fail(),
        "think" => think::think(&run, &text).await,
        "new" => new::new(&run, &text).await,
        _ => echo::echo(&run, &text).await,
    }
}
