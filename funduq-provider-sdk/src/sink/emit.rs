//! Any event, as the agent has it: checked, and kept within the run's beginning and end.

use std::sync::Arc;

use funduq_agui::{Event, RelayedEvent};

use super::finish::check_asks;
use super::order::Phase;
use super::{EmitError, EventSink, RawStream, check_size, json_of};
use crate::runtime::Ends;

impl EventSink {
    /// Says any event. A `RUN_STARTED` or `RUN_FINISHED` gets the run's own ids. What is opened by an event given
    /// here is closed as what the other methods open: with the run's end, if not before.
    ///
    /// # Errors
    /// [`EmitError::Malformed`] for an event at which funduq would end the run; [`EmitError::OutOfOrder`]
    /// for one at which a client would, as a second start of what is open, a piece or an end of what is not,
    /// or a chunk that names nothing; [`EmitError::AlreadyStarted`]; for a `RUN_FINISHED`
    /// [`EmitError::AskedTwice`]. Else as for everything that is said.
    pub async fn emit(&self, event: impl Into<Event>) -> Result<(), EmitError> {
        match event.into() {
            Event::RunStarted(mut started) => {
                started.thread_id.clone_from(&self.shared.thread_id);
                started.run_id.clone_from(&self.shared.run_id);
                self.begin(&started.into())?;
            }
            Event::RunFinished(mut finished) => {
                finished.thread_id.clone_from(&self.shared.thread_id);
                finished.run_id.clone_from(&self.shared.run_id);
                self.end(finished.into())?;
            }
            error @ Event::RunError(_) => self.end(error)?,
            // It may be of a known type all the same.
            unknown @ Event::Unknown(_) => self.say_json(json_of(&unknown)?)?,
            event => self.say_checked(&event)?,
        }
        self.flush_or_over().await
    }

    /// Says any event as its JSON, byte for byte; also one of a type that AG-UI 1.0 does not know.
    ///
    /// # Errors
    /// As [`emit`](Self::emit), and [`EmitError::OtherRun`] for a `RUN_STARTED` or `RUN_FINISHED` of other ids than
    /// the run's.
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
        order.takes_more()?;
        order.phase = Phase::TakenOver;
        Ok(RawStream::new(self.shared.run.clone()))
    }

    fn say_json(&self, json: Arc<str>) -> Result<(), EmitError> {
        check_size(json.len())?;
        let relayed = RelayedEvent::parse(json.clone())?;
        let event = Event::try_from(&relayed).map_err(|error| EmitError::NoJson(error.to_string()))?;
        match &event {
            Event::RunStarted(started) => {
                self.check_ids(&started.thread_id, &started.run_id)?;
                self.take_start(json, &event)
            }
            Event::RunFinished(finished) => {
                self.check_ids(&finished.thread_id, &finished.run_id)?;
                check_asks(finished)?;
                self.take_end(&mut self.order(), json, &event)
            }
            Event::RunError(_) => self.take_end(&mut self.order(), json, &event),
            _ => self.take(json, &event),
        }
    }

    fn begin(&self, started: &Event) -> Result<(), EmitError> {
        let json = json_of(started)?;
        RelayedEvent::parse(json.clone())?;
        self.take_start(json, started)
    }

    fn take_start(&self, json: Arc<str>, started: &Event) -> Result<(), EmitError> {
        let mut order = self.order();
        order.takes_more()?;
        if order.phase == Phase::Started {
            return Err(EmitError::AlreadyStarted);
        }
        order.admit(started)?;
        order.phase = Phase::Started;
        Ok(self.shared.run.push(json, Ends::No)?)
    }

    fn check_ids(&self, thread_id: &str, run_id: &str) -> Result<(), EmitError> {
        let own = [("threadId", thread_id, &self.shared.thread_id), ("runId", run_id, &self.shared.run_id)];
        match own.into_iter().find(|(_, said, own)| said != own) {
            Some((member, said, _)) => Err(EmitError::OtherRun { member, said: said.to_owned() }),
            None => Ok(()),
        }
    }

    /// After a terminal event the run may be settled before this returns, which is no failure.
    async fn flush_or_over(&self) -> Result<(), EmitError> {
        match self.flush().await {
            Err(EmitError::RunOver) if self.order().phase == Phase::Over => Ok(()),
            flushed => flushed,
        }
    }
}
