//! Says a word every 100 ms for five seconds, and stops when it is asked to.

use std::time::Duration;

use crate::agent::AgentResult;
use crate::context::RunContext;

const PAUSE: Duration = Duration::from_millis(100);
const WORDS: u32 = 50;

pub(super) async fn count(run: &RunContext) -> AgentResult {
    let said = run.events().open_text().await?;
    for word in 1..=WORDS {
        run.or_cancelled(tokio::time::sleep(PAUSE)).await?;
        said.push(&format!("{word} ")).await?;
    }
    said.end().await?;
    Ok(())
}
