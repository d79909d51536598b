//! Any event, as the agent has it: checked, and kept within the run's beginning and end.

use std::sync::Arc;

use funduq_agui::{Event, EventType, RelayedEvent};

use super::order::Phase;
use super::{EmitError, EventSink, RawStream, check_size, json_of};
use crate::runtime::Ends;

impl EventSink {
    /// Says any event. A `RUN_STARTED` or `RUN_FINISHED` gets the run's own ids; a terminal event
    /// closes what the other methods have opened.
    ///
    /// What is opened by an event given here is the agent's to close.
    ///
    /// # Errors
    /// [`EmitError::Malformed`] for an event at which funduq would end the run, and
    /// [`EmitError::AlreadyStarted`]; else as for everything that is said.
    pub async fn emit(&self, event: impl Into<Event>) -> Result<(), EmitError> {
        match event.into() {
            Event::RunStarted(mut started) => {
                started.thread_id.clone_from(&self.shared.thread_id);
                started.run_id.clone_from(&self.shared.run_id);
                self.say_json(json_of(&started.into())?)?;
            }
            Event::RunFinished(mut finished) => {
                finished.thread_id.clone_from(&self.shared.thread_id);
                finished.run_id.clone_from(&self.shared.run_id);
                self.end(finished.into())?;
            }
            error @ Event::RunError(_) => self.end(error)?,
            event => self.say_json(json_of(&event)?)?,
        }
        self.flush_or_over().await
    }

    /// Says any event as its JSON, byte for byte; also one of a type that AG-UI 1.0 does not know.
    ///
    /// # Errors
    /// As [`emit`](Self::emit).
    pub async fn emit_json(&self, json: impl Into<Arc<str>>) -> Result<(), EmitError> {
        self.say_json(json.into())?;
        self.flush_or_over().await
    }

    /// Leaves the run's whole stream to the agent: from here on nothing is added to it, no beginning,
    /// no closing and no end, and the other methods take nothing. For an agent that hands on the stream of
    /// another one.
    ///
    /// A stream that ends without a terminal event fails its run.
    ///
    /// # Errors
    /// [`EmitError::RunOver`] when the run has ended, and [`EmitError::TakenOver`] the second time.
    pub fn take_over(&self) -> Result<RawStream, EmitError> {
        let mut order = self.order();
        match order.phase {
            Phase::Over => Err(EmitError::RunOver),
            Phase::TakenOver => Err(EmitError::TakenOver),
            Phase::Before | Phase::Started => {
                order.phase = Phase::TakenOver;
                Ok(RawStream::new(self.shared.run.clone()))
            }
        }
    }

    fn say_json(&self, json: Arc<str>) -> Result<(), EmitError> {
        check_size(json.len())?;
        let event = RelayedEvent::parse(json.clone())?;
        let run = &self.shared.run;
        let mut order = self.order();
        match (order.phase, event.event_type()) {
            (Phase::Over, _) => return Err(EmitError::RunOver),
            (Phase::TakenOver, _) => return Err(EmitError::TakenOver),
            (Phase::Started, EventType::RunStarted) => return Err(EmitError::AlreadyStarted),
            (Phase::Before, EventType::RunStarted) => order.phase = Phase::Started,
            (Phase::Before, _) => self.start(&mut order)?,
            (Phase::Started, _) => {}
        }
        if event.terminal().is_none() {
            return Ok(run.push(json, Ends::No)?);
        }
        for open in order.close_all() {
            run.push(json_of(&super::finish::closing(&open))?, Ends::No)?;
        }
        order.phase = Phase::Over;
        Ok(run.push(json, Ends::Terminal)?)
    }

    /// After a terminal event the run may be settled before this returns, which is no failure.
    async fn flush_or_over(&self) -> Result<(), EmitError> {
        match self.flush().await {
            Err(EmitError::RunOver) if self.order().phase == Phase::Over => Ok(()),
            flushed => flushed,
        }
    }
}
