//! A run's stream as the agent writes it, event for event, with nothing added.

use std::fmt;
use std::sync::Arc;

use funduq_agui::RelayedEvent;

use super::{EmitError, check_size};
use crate::runtime::{Ends, Run};

/// The whole stream of a run, taken over by [`EventSink::take_over`](super::EventSink::take_over).
pub struct RawStream {
    run: Arc<Run>,
}

impl RawStream {
    pub(super) fn new(run: Arc<Run>) -> Self {
        Self { run }
    }

    /// Sends one event as its JSON, byte for byte, valid or not: what is wrong with it is funduq's to
    /// judge. Waits while too much of the run is not yet recorded.
    ///
    /// # Errors
    /// [`EmitError::NoJson`] for a text that is not one JSON value, [`EmitError::TooLarge`], and
    /// [`EmitError::RunOver`] once funduq has settled the run.
    pub async fn send(&self, json: impl Into<Arc<str>>) -> Result<(), EmitError> {
        let json = json.into();
        check_size(json.len())?;
        let ends = match RelayedEvent::parse(json.clone()) {
            Ok(event) if event.terminal().is_some() => Ends::Terminal,
            Ok(_) => Ends::No,
            Err(_malformed) => {
                serde_json::from_str::<serde::de::IgnoredAny>(&json)
                    .map_err(|error| EmitError::NoJson(error.to_string()))?;
                Ends::ByFault
            }
        };
        self.run.push(json, ends)?;
        match self.run.flush().await {
            // Settled by the very event that was sent.
            Err(_over) if ends != Ends::No => Ok(()),
            flushed => Ok(flushed?),
        }
    }
}

impl fmt::Debug for RawStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawStream").field("run", self.run.id()).finish()
    }
}
