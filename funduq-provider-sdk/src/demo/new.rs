//! Sends an event of a type that no version of AG-UI has: a relay carries it, a client does what it does with the unknown.

use super::echo;
use crate::agent::AgentResult;
use crate::context::RunContext;

const UNHEARD_OF: &str =
    r#"{"type":"DEMO_UNHEARD_OF","note":"no version of AG-UI has this type","value":[1,2.50,null]}"#;

pub(super) async fn new(run: &RunContext, text: &str) -> AgentResult {
    run.events().emit_json(UNHEARD_OF).await?;
    echo::echo(run, text).await
}
