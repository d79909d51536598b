//! An agent that asks a person before it acts: `human_approval [--name AGENT] [--url URL] [--key FILE]
//! [--funduq-key KEY]`.
//!
//! Told `transfer 20 to Ana`, it ends the run with a question. The answer starts the next run, as a `resume` from an
//! AG-UI client or as a plain message to the waiting task from an A2A client, and only then is anything done.

mod common;

use funduq_provider_sdk::agui::{Interrupt, RawObject, ResumeStatus, Role};
use funduq_provider_sdk::{AgentResult, HistoryError, RunContext, ServedAgent, agent_fn};
use serde::Deserialize;

const ANSWER: &str =
    r#"{"type":"object","properties":{"approved":{"type":"boolean"}},"required":["approved"]}"#;

#[derive(Deserialize)]
struct Answer {
    approved: bool,
}

async fn answer(run: RunContext) -> AgentResult {
    let said = run.user_text().unwrap_or_default();
    if let Some(approved) = decision(&run, &said) {
        return match transfer_before(&run).await? {
            Some(transfer) if approved => {
                let step = run.events().step("transfer").await?;
                run.events().text(&format!("Done: {transfer}.")).await?;
                Ok(step.finish().await?)
            }
            Some(transfer) => Ok(run.events().text(&format!("Left undone: {transfer}.")).await.map(drop)?),
            None => Ok(run.events().text("There is nothing to decide.").await.map(drop)?),
        };
    }
    if !said.starts_with("transfer ") {
        run.events().text("Say `transfer AMOUNT to SOMEBODY`, and I ask before I do it.").await?;
        return Ok(());
    }
    let schema: RawObject = serde_json::from_str(ANSWER)?;
    let id = format!("approval-{}", run.run_id());
    let question = Interrupt::new(id, "approval").message(format!("May I {said}? (yes or no)"));
    Ok(run.events().interrupt([question.response_schema(schema)]).await?)
}

/// What a person decided: in a `resume`, or in words.
fn decision(run: &RunContext, said: &str) -> Option<bool> {
    if let Some(entry) = run.input().resume.as_deref().and_then(<[_]>::first) {
        let answer = entry.payload.as_ref().and_then(|payload| payload.to::<Answer>().ok());
        return Some(entry.status == ResumeStatus::Resolved && answer.is_some_and(|answer| answer.approved));
    }
    match said.trim().to_lowercase().as_str() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// The transfer that was asked for last. It is read from the thread's record, so that a restart forgets nothing.
async fn transfer_before(run: &RunContext) -> Result<Option<String>, HistoryError> {
    let messages = run.history(20).await?;
    let asked = messages.iter().rev().filter(|message| *message.role() == Role::User);
    Ok(asked.filter_map(|message| message.text()).find(|text| text.starts_with("transfer ")))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let serve = async {
        let flags = common::Flags::read(&["--name"])?;
        let agent = ServedAgent::new(flags.get("--name").unwrap_or("human_approval"), agent_fn(answer))?;
        flags.serve(agent.description("Asks before it transfers anything")).await
    };
    common::report(serve.await);
}
