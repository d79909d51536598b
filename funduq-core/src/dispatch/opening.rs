//! A run on its way in: what a door hands to the thread's owner, and what a provider is handed.

use funduq_agui::{ForwardedProps, RawObject};
use funduq_contract::{DeliveredRun, FunduqProps};
use tokio::sync::oneshot;

use crate::clock;
use crate::doors::{TokenSecret, kyok};
use crate::record::{OpenRun, Run, RunStream, StoreError};

/// A run that a door has judged and wants opened.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) open: OpenRun,
    /// It answers a waiting task, so the queue limit does not apply.
    pub(crate) exempt: bool,
    pub(crate) reply: oneshot::Sender<Result<Opened, OpenError>>,
}

/// A run that is in the record.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) stream: RunStream,
}

/// Why a run was not opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OpenError {
    QueueFull,
    Stopping,
    Store(StoreError),
}

/// What the provider gets of a run: its input, with what funduq has to say under funduq's one key.
///
/// `addressed` is false for a run that outlived a restart: the turn it was to join is gone, and it has become an
/// ordinary one.
pub(crate) fn delivered(run: &Run, addressed: bool, secret: &TokenSecret) -> DeliveredRun {
    let grant = |_| secret.mint(&run.id, run.agent.provider, &run.agent.name, clock::now_seconds());
    let props = FunduqProps {
        kyok: kyok::opt_in(run).map(grant),
        actor_chain: run.chain.clone(),
        addressed_run_id: run.addressed_run_id.clone().filter(|_| addressed),
    };
    let mut input = run.input.clone();
    match &mut input.forwarded_props {
        Some(ForwardedProps::Object(bag)) => props.write(bag),
        // A bag that is no object could say nothing to funduq, so funduq has nothing to say in it.
        Some(ForwardedProps::Other(_)) => {}
        None if props.is_empty() => {}
        None => {
            let mut bag = RawObject::default();
            props.write(&mut bag);
            input.forwarded_props = Some(ForwardedProps::Object(bag));
        }
    }
    DeliveredRun {
        run_id: run.id.clone(),
        thread_id: run.thread_id.clone(),
        agent_name: run.agent.name.clone(),
        input,
    }
}
