//! Shows everything that can stand around an answer: reasoning, state, a step, an activity, a custom event.

use std::collections::BTreeMap;

use funduq_agui::patch::ReplaceOperation;
use funduq_agui::{Json, RawObject};

use super::echo;
use crate::agent::AgentResult;
use crate::context::RunContext;

pub(super) async fn think(run: &RunContext, text: &str) -> AgentResult {
    let events = run.events();
    let thought = events.open_reasoning().await?;
    thought.push("I was told ").await?;
    thought.push(&format!("{} characters.", text.chars().count())).await?;
    thought.end().await?;

    events.state(&BTreeMap::from([("progress", 0)])).await?;
    let step = events.step("answer").await?;
    let content = RawObject::from_iter(
        [("done", Json::of(&false)?), ("words", Json::of(&text.split_whitespace().count())?)]
            .map(|(key, value)| (key, value.into())),
    );
    let activity = events.activity("WORK", content).await?;
    echo::echo(run, text).await?;
    events
        .activity_delta(&activity, "WORK", vec![ReplaceOperation::new("/done", Json::of(&true)?).into()])
        .await?;
    step.finish().await?;
    events.state_delta(vec![ReplaceOperation::new("/progress", Json::of(&100)?).into()]).await?;
    events.custom("demo", &BTreeMap::from([("agent", run.agent_name())])).await?;
    Ok(())
}
