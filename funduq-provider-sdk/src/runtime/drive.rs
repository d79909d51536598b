//! One run from its turn to its end: the agent is called, and whatever becomes of it, the run ends properly.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;

use super::{Delivered, Inner, Run};
use crate::agent::AgentResult;
use crate::context::RunContext;
use crate::served::{InFlight, Turns};

/// How a run ended that its agent had not finished itself.
enum Ending {
    Returned(AgentResult),
    Panicked,
    Cancelled,
    Stopped,
}

pub(super) async fn drive(inner: Arc<Inner>, run: Arc<Run>, delivered: Delivered) {
    let context = RunContext::new(&inner, &run, delivered);
    let events = context.events().clone();
    let ending = take_turn(&run, context).await;
    match ending {
        Ending::Returned(Ok(())) if run.cancel.is_cancelled() => events.conclude_cancelled(),
        Ending::Returned(Ok(())) => events.conclude(),
        Ending::Returned(Err(error)) if error.is_cancelled() && run.cancel.is_cancelled() => {
            events.conclude_cancelled();
        }
        Ending::Returned(Err(error)) => {
            tracing::warn!(run = %run.id(), error = error.message(), "the agent failed");
            events.conclude_failed(error.message(), error.code());
        }
        Ending::Panicked => {
            tracing::error!(run = %run.id(), "the agent panicked");
            // What it panicked with is for its author, not for the caller.
            events.conclude_failed("the agent panicked", Some("agent_panicked"));
        }
        Ending::Cancelled => events.conclude_cancelled(),
        Ending::Stopped => {
            events.conclude_failed("the provider stopped before the run had ended", Some("provider_stopped"));
        }
    }
    inner.left(run.id());
    run.close().await;
}

async fn take_turn(run: &Arc<Run>, context: RunContext) -> Ending {
    tokio::select! {
        biased;
        () = run.abort.cancelled() => return Ending::Stopped,
        () = run.cancel.cancelled() => return Ending::Cancelled,
        () = run.turn.notified() => {}
    }
    let called = AssertUnwindSafe(call(run.clone(), context)).catch_unwind();
    tokio::select! {
        biased;
        () = run.abort.cancelled() => Ending::Stopped,
        returned = called => match returned {
            Ok(result) => Ending::Returned(result),
            Err(_panic) => Ending::Panicked,
        },
    }
}

async fn call(run: Arc<Run>, context: RunContext) -> AgentResult {
    if let (Turns::Interject(hook), Some(target)) = (run.agent.turns(), &run.target) {
        return hook.interject(context, InFlight::new(target.clone())).await;
    }
    run.agent.agent().run(context).await
}
