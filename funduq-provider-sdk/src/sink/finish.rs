//! How a run ends: everything open is closed, then comes the one terminal event.

use std::collections::HashSet;
use std::sync::Arc;

use funduq_agui::event::{
    ReasoningEnd, ReasoningMessageEnd, RunError, RunFinished, StepFinished, SubagentError, SubagentFinished,
    SubagentSuspendedOutcome, TextMessageEnd, ToolCallEnd,
};
use funduq_agui::{Event, Interrupt, Json, RelayedEvent, RunFinishedOutcome};
use serde::Serialize;

use super::error::Entity;
use super::order::{Open, Order, Phase};
use super::{EmitError, EventSink, json_of};
use crate::runtime::Ends;

/// The most that is told of why an agent failed, in bytes. Escaped, both have room in an event beside the usage.
const MAX_FAILURE: usize = 1 << 20;
const MAX_CODE: usize = 1 << 10;

impl EventSink {
    /// Finishes the run. The agent need not: it is done when the agent returns.
    ///
    /// # Errors
    /// [`EmitError::RunOver`] when it has ended already.
    pub async fn finish(&self) -> Result<(), EmitError> {
        self.end(self.finished().into())?;
        self.flush_end().await
    }

    /// Finishes the run with something that it returns.
    ///
    /// # Errors
    /// [`EmitError::NoJson`] for a result without a JSON form, [`EmitError::Malformed`] for one that is nested too
    /// deep; else as [`finish`](Self::finish).
    pub async fn finish_with<R>(&self, result: &R) -> Result<(), EmitError>
    where
        R: Serialize + Sync + ?Sized,
    {
        let result = Json::of(result).map_err(|error| EmitError::NoJson(error.to_string()))?;
        self.end(self.finished().result(result).into())?;
        self.flush_end().await
    }

    /// Ends the run with questions; the answers start another run, whose input's `resume` has them.
    ///
    /// # Errors
    /// [`EmitError::NothingAsked`] without an interrupt, [`EmitError::AskedTwice`] for two of one id,
    /// [`EmitError::Malformed`] for a schema or metadata that is nested too deep; else as [`finish`](Self::finish).
    pub async fn interrupt(&self, interrupts: impl IntoIterator<Item = Interrupt>) -> Result<(), EmitError> {
        let mut interrupts = interrupts.into_iter();
        let first = interrupts.next().ok_or(EmitError::NothingAsked)?;
        let (thread_id, run_id) = (&*self.shared.thread_id, &*self.shared.run_id);
        self.end(RunFinished::interrupted(thread_id, run_id, first, interrupts).into())?;
        self.flush_end().await
    }

    /// Ends the run with one question to a person. Answers the interrupt's id.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub async fn ask(&self, reason: &str, question: &str) -> Result<String, EmitError> {
        let id = super::new_id();
        self.interrupt([Interrupt::new(&*id, reason).message(question)]).await?;
        Ok(id)
    }

    /// Ends the run as failed. The agent can as well return an error.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub async fn fail(&self, message: &str, code: Option<&str>) -> Result<(), EmitError> {
        self.end(failed(message, code).into())?;
        self.flush_end().await
    }

    pub(crate) fn conclude(&self) {
        self.end_if_open(self.finished().into());
    }

    pub(crate) fn conclude_cancelled(&self) {
        let (thread_id, run_id) = (&*self.shared.thread_id, &*self.shared.run_id);
        self.end_if_open(RunFinished::cancelled(thread_id, run_id).into());
    }

    /// A message that is too long for an event must not cost the run its end, so it is cut.
    pub(crate) fn conclude_failed(&self, message: &str, code: Option<&str>) {
        let message = &message[..message.floor_char_boundary(MAX_FAILURE)];
        let code = code.map(|code| &code[..code.floor_char_boundary(MAX_CODE)]);
        self.end_if_open(failed(message, code).into());
    }

    /// What is over is over, and a stream that the agent took over is the agent's to end.
    fn end_if_open(&self, event: Event) {
        if let Err(error) = self.end(event) {
            tracing::trace!(run = %self.shared.run_id, %error, "the run had ended");
        }
    }

    fn finished(&self) -> RunFinished {
        RunFinished::new(&*self.shared.thread_id, &*self.shared.run_id)
    }

    /// Says the terminal event, with the usage.
    pub(super) fn end(&self, mut event: Event) -> Result<(), EmitError> {
        let mut order = self.order();
        order.takes_more()?;
        if let Event::RunFinished(finished) = &event {
            check_asks(finished)?;
        }
        if !order.usage.is_empty() {
            let usage = order.usage.iter().cloned();
            match &mut event {
                Event::RunFinished(finished) => finished.usage.get_or_insert_default().extend(usage),
                Event::RunError(error) => error.usage.get_or_insert_default().extend(usage),
                _ => {}
            }
        }
        let terminal = json_of(&event)?;
        RelayedEvent::parse(terminal.clone())?;
        self.take_end(&mut order, terminal, &event)
    }

    /// Takes in the terminal event: nothing that was opened stays open.
    pub(super) fn take_end(
        &self,
        order: &mut Order,
        terminal: Arc<str>,
        event: &Event,
    ) -> Result<(), EmitError> {
        let run = &self.shared.run;
        order.takes_more()?;
        if order.phase == Phase::Before {
            self.start(order)?;
        }
        for end in order.close_all().iter().filter_map(|open| closing_with(open, event)) {
            run.push(json_of(&end)?, Ends::No)?;
        }
        order.phase = Phase::Over;
        Ok(run.push(terminal, Ends::Terminal)?)
    }

    /// Sends the end. That funduq has settled the run by then is what was asked for.
    async fn flush_end(&self) -> Result<(), EmitError> {
        match self.flush().await {
            Err(EmitError::RunOver) => Ok(()),
            flushed => flushed,
        }
    }
}

/// Each interrupt has an id of its own: an answer says which it answers by that alone.
pub(super) fn check_asks(finished: &RunFinished) -> Result<(), EmitError> {
    let Some(RunFinishedOutcome::Interrupt(outcome)) = &finished.outcome else { return Ok(()) };
    let mut ids = HashSet::new();
    match outcome.interrupts.iter().find(|interrupt| !ids.insert(interrupt.id.as_str())) {
        Some(twice) => Err(EmitError::AskedTwice { id: twice.id.clone() }),
        None => Ok(()),
    }
}

/// The event that closes something; `None` for what has no end.
pub(super) fn closing(open: &Open) -> Option<Event> {
    let (id, owner) = (&*open.id, open.owner.as_deref().map(str::to_owned));
    macro_rules! by {
        ($event:expr) => {{
            let mut event = $event;
            event.subagent_run_id = owner;
            Some(event.into())
        }};
    }
    match open.what {
        Entity::TextMessage => by!(TextMessageEnd::new(id)),
        Entity::ToolCall => by!(ToolCallEnd::new(id)),
        Entity::ReasoningSpan => by!(ReasoningEnd::new(id)),
        Entity::ReasoningMessage => by!(ReasoningMessageEnd::new(id)),
        Entity::Step => by!(StepFinished::new(id)),
        Entity::Subagent => Some(SubagentFinished::new(id).into()),
        Entity::Activity => None,
    }
}

/// The same at the run's end, which a subagent that is still at work shares.
fn closing_with(open: &Open, terminal: &Event) -> Option<Event> {
    if open.what != Entity::Subagent {
        return closing(open);
    }
    let id = &*open.id;
    match terminal {
        Event::RunError(failed) => {
            let mut error = SubagentError::new(id, failed.message.as_str());
            error.code.clone_from(&failed.code);
            Some(error.into())
        }
        Event::RunFinished(finished) => match &finished.outcome {
            Some(RunFinishedOutcome::Interrupt(outcome)) => {
                let own = |interrupt: &&Interrupt| interrupt.subagent_run_id.as_deref() == Some(id);
                let ids: Vec<_> = outcome.interrupts.iter().filter(own).map(|own| own.id.clone()).collect();
                let mut suspended = SubagentSuspendedOutcome::new();
                suspended.interrupt_ids = (!ids.is_empty()).then_some(ids);
                Some(SubagentFinished::new(id).outcome(suspended).into())
            }
            Some(RunFinishedOutcome::Cancelled(_)) => {
                Some(SubagentError::new(id, "the run was cancelled").code("cancelled").into())
            }
            _ => closing(open),
        },
        _ => closing(open),
    }
}

fn failed(message: &str, code: Option<&str>) -> RunError {
    let mut error = RunError::new(message);
    error.code = code.map(str::to_owned);
    error
}
