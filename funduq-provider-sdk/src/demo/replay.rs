//! Sends the events in the caller's bag as they stand, so that anybody can see what the relay makes of a stream.

use funduq_agui::RawObject;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::agent::{AgentError, AgentResult};
use crate::context::RunContext;
use crate::sink::EmitError;

pub(super) async fn replay(run: RunContext) -> AgentResult {
    let Some(asked) = run.bag().get("replay") else {
        return Err(
            AgentError::new("forwardedProps.replay is to hold an array of events").with_code("no_replay")
        );
    };
    let events = serde_json::from_str::<Vec<Box<RawValue>>>(asked.get())
        .map_err(|error| AgentError::new(format!("forwardedProps.replay: {error}")).with_code("no_replay"))?;
    let stream = run.events().take_over()?;
    for event in events {
        match stream.send(under_own_ids(&run, &event)?).await {
            Ok(()) => {}
            // funduq has seen enough of it.
            Err(EmitError::RunOver) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The event as it stands; in one that begins or finishes a run, the ids are this run's.
fn under_own_ids(run: &RunContext, event: &RawValue) -> serde_json::Result<String> {
    #[derive(Deserialize)]
    struct Typed<'a> {
        #[serde(rename = "type", borrow)]
        kind: std::borrow::Cow<'a, str>,
    }
    let kind = serde_json::from_str::<Typed<'_>>(event.get()).map(|typed| typed.kind).unwrap_or_default();
    if kind != "RUN_STARTED" && kind != "RUN_FINISHED" {
        return Ok(event.get().to_owned());
    }
    let mut members: RawObject = serde_json::from_str(event.get())?;
    for (key, id) in [("threadId", run.thread_id().as_str()), ("runId", run.run_id().as_str())] {
        // One that is missing stays missing: that is what it is to show.
        if members.get(key).is_some() {
            members.insert(key, to_raw_value(id)?);
        }
    }
    serde_json::to_string(&members)
}
