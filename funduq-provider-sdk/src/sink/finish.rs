//! How a run ends: everything open is closed, then comes the one terminal event.

use funduq_agui::event::{
    ReasoningEnd, ReasoningMessageEnd, RunError, RunFinished, StepFinished, TextMessageEnd, ToolCallEnd,
};
use funduq_agui::{Event, Interrupt, Json};
use serde::Serialize;

use super::order::{Open, Phase};
use super::{EmitError, EventSink, json_of};
use crate::runtime::Ends;

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
    /// [`EmitError::NoJson`] for a result without a JSON form; else as [`finish`](Self::finish).
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
    /// [`EmitError::NothingAsked`] without an interrupt; else as [`finish`](Self::finish).
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

    pub(crate) fn conclude_failed(&self, message: &str, code: Option<&str>) {
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

    /// Says the terminal event: nothing that was opened stays open, and the usage is told.
    pub(super) fn end(&self, mut event: Event) -> Result<(), EmitError> {
        let run = &self.shared.run;
        let mut order = self.order();
        match order.phase {
            Phase::Over => return Err(EmitError::RunOver),
            Phase::TakenOver => return Err(EmitError::TakenOver),
            Phase::Before => self.start(&mut order)?,
            Phase::Started => {}
        }
        let usage = std::mem::take(&mut order.usage);
        if !usage.is_empty() {
            match &mut event {
                Event::RunFinished(finished) => finished.usage.get_or_insert_default().extend(usage),
                Event::RunError(error) => error.usage.get_or_insert_default().extend(usage),
                _ => {}
            }
        }
        let terminal = json_of(&event)?;
        for open in order.close_all() {
            run.push(json_of(&closing(&open))?, Ends::No)?;
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

/// The event that closes something.
pub(super) fn closing(open: &Open) -> Event {
    match open {
        Open::Text(id) => TextMessageEnd::new(&**id).into(),
        Open::ToolCall(id) => ToolCallEnd::new(&**id).into(),
        Open::Reasoning(id) => ReasoningEnd::new(&**id).into(),
        Open::ReasoningMessage(id) => ReasoningMessageEnd::new(&**id).into(),
        Open::Step(name) => StepFinished::new(&**name).into(),
    }
}

fn failed(message: &str, code: Option<&str>) -> RunError {
    let mut error = RunError::new(message);
    error.code = code.map(str::to_owned);
    error
}
