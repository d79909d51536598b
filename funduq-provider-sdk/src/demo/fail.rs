//! Fails the run.

use crate::agent::{AgentError, AgentResult};

pub(super) fn fail() -> AgentResult {
    Err(AgentError::new("this run was asked to fail").with_code("demo_failure"))
}
