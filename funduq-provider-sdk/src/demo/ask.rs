//! Ends the run with a question, and says what was answered in the run that goes on.

use funduq_agui::{Interrupt, RawObject, ResumeEntry, ResumeStatus};
use serde::Deserialize;

use super::echo;
use crate::agent::AgentResult;
use crate::context::RunContext;

const QUESTION: &str = "What should I say?";
const ANSWER_SCHEMA: &str = r#"{"type":"object","properties":{"answer":{"type":"string","description":"What I should say"}},"required":["answer"]}"#;

#[derive(Deserialize)]
struct Answer {
    answer: String,
}

pub(super) async fn ask(run: &RunContext) -> AgentResult {
    let schema: RawObject = serde_json::from_str(ANSWER_SCHEMA)?;
    let id = uuid::Uuid::new_v4().to_string();
    run.events()
        .interrupt([Interrupt::new(id, "question").message(QUESTION).response_schema(schema)])
        .await?;
    Ok(())
}

pub(super) async fn answered(run: &RunContext, answers: &[ResumeEntry]) -> AgentResult {
    let said: Vec<String> = answers.iter().map(said).collect();
    echo::echo(run, &format!("You said: {}", said.join(", "))).await
}

/// The answer in the question's schema, or else whatever came.
fn said(entry: &ResumeEntry) -> String {
    let Some(payload) = entry.payload.as_ref().filter(|_| entry.status == ResumeStatus::Resolved) else {
        return "nothing".to_owned();
    };
    match payload.to::<Answer>() {
        Ok(Answer { answer }) => answer,
        Err(_) => payload.to::<String>().unwrap_or_else(|_| payload.get().to_owned()),
    }
}
