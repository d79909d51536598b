//! Says back what it was told, word by word.

use crate::agent::AgentResult;
use crate::context::RunContext;

pub(super) async fn echo(run: &RunContext, text: &str) -> AgentResult {
    let said = run.events().open_text().await?;
    for word in text.split_inclusive(' ') {
        run.or_cancelled(said.push(word)).await??;
    }
    said.end().await?;
    Ok(())
}
