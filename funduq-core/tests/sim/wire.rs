//! A link between a simulated provider and funduq: what funduq hands over lies in an inbox until the provider looks,
//! and what the provider says goes out in order.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use funduq_contract::{
    Ack, AgentName, Cancel, ConnectOk, ConnectedProvider, FunduqPort, LinkClosed, LinkGone, LinkId, Nonce,
    Offer, PortError, PublicKey, Registration, RunId, Signature, Ticket, Verdict, WrongFunduq,
};
use funduq_core::Funduq;
use tokio::sync::mpsc;

use crate::model::{Millis, Model, Shared};
use crate::script::Said;

/// How many offers of one run at one instant are a loop.
const LOOP: u32 = 100;

/// What funduq did to the provider.
#[derive(Debug, Clone)]
pub(crate) enum Heard {
    Offer(RunId, u32),
    Cancel(RunId),
    Received(RunId, u64),
    Refused(RunId, PortError),
    Closed,
}

/// How the connection under a link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    Up = 0,
    /// Nothing arrives, and nobody has noticed.
    Silent = 1,
    /// Nothing can be handed over any more.
    Down = 2,
}

pub(crate) struct Wire {
    pub(crate) key: usize,
    public_key: PublicKey,
    pub(crate) room: Option<u32>,
    model: Shared,
    /// Until the process is gone.
    funduq: Mutex<Option<Funduq>>,
    line: AtomicU8,
    state: Mutex<WireState>,
}

#[derive(Default)]
struct WireState {
    id: Option<LinkId>,
    heard: VecDeque<Heard>,
    at_once: (Millis, u32),
}

impl Wire {
    pub(crate) fn new(
        key: usize,
        public_key: PublicKey,
        room: Option<u32>,
        model: Shared,
        funduq: Funduq,
    ) -> Self {
        let line = AtomicU8::new(Line::Up as u8);
        let funduq = Mutex::new(Some(funduq));
        Self { key, public_key, room, model, funduq, line, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, WireState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_id(&self, id: LinkId) {
        self.state().id = Some(id);
    }

    pub(crate) fn set_line(&self, line: Line) {
        self.line.store(line as u8, Ordering::SeqCst);
    }

    fn is(&self, line: Line) -> bool {
        self.line.load(Ordering::SeqCst) == line as u8
    }

    fn hear(&self, heard: Heard) {
        if self.is(Line::Up) {
            self.state().heard.push_back(heard);
        }
    }

    fn places_taken(&self) -> u32 {
        let funduq = self.funduq.lock().unwrap_or_else(PoisonError::into_inner).clone();
        funduq.map_or(0, |funduq| funduq.places_taken(&self.public_key))
    }

    /// The process that it led to is gone.
    pub(crate) fn cut(&self) {
        self.set_line(Line::Down);
        self.funduq.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    pub(crate) fn next(&self) -> Option<Heard> {
        self.state().heard.pop_front()
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.state().heard.is_empty()
    }
}

#[async_trait]
impl ConnectedProvider for Wire {
    fn public_key(&self) -> PublicKey {
        self.public_key
    }

    fn concurrency(&self) -> Option<u32> {
        self.room
    }

    fn deliver(&self, offer: Offer) -> Result<(), LinkGone> {
        let now = self.model.lock().now();
        let at_once = {
            let mut state = self.state();
            let (at, count) = state.at_once;
            state.at_once = if at == now { (now, count + 1) } else { (now, 1) };
            state.at_once.1
        };
        assert!(at_once < LOOP, "offers go out in a loop");
        if self.is(Line::Down) {
            // funduq notices, and lets go of the link.
            let mut model = self.model.lock();
            if self.state().id.is_some() && model.links[self.key] == self.state().id {
                model.link_gone(self.key);
            }
            return Err(LinkGone);
        }
        let taken = self.places_taken();
        let id = self.state().id;
        let mut model = self.model.lock();
        match id {
            Some(id) => model.offered(self.key, id, &offer, taken, self.room),
            None => model.violate("an offer comes over a link that is not open yet".into()),
        }
        drop(model);
        self.hear(Heard::Offer(offer.run.run_id, offer.attempt));
        Ok(())
    }

    fn cancel(&self, cancel: Cancel) -> Result<(), LinkGone> {
        self.hear(Heard::Cancel(cancel.run_id));
        if self.is(Line::Down) { Err(LinkGone) } else { Ok(()) }
    }

    fn received(&self, run_id: &RunId, number: u64) {
        let mut model = self.model.lock();
        let recorded = model.run_of(run_id).map_or(0, |run| model.runs[run].events.len() as u64);
        if number > recorded {
            model.violate(format!("a provider hears that event {number} is recorded, and {recorded} are"));
        }
        drop(model);
        self.hear(Heard::Received(run_id.clone(), number));
    }

    fn refused(&self, run_id: &RunId, error: PortError) {
        self.hear(Heard::Refused(run_id.clone(), error));
    }

    fn closed(&self, _: LinkClosed) {
        self.hear(Heard::Closed);
    }

    async fn sign_connect(&self, _: Option<PublicKey>, _: Ticket, _: Nonce) -> Option<Signature> {
        None
    }

    async fn confirm_connect(&self, _: &ConnectOk) -> Result<(), WrongFunduq> {
        Ok(())
    }
}

/// What a provider says over a link.
#[derive(Debug)]
pub(crate) enum Call {
    Answer(RunId, u32, Verdict),
    Event(RunId, u64, Said, Vec<String>),
    Finish(RunId),
    Ack(RunId, bool),
    Register(Vec<AgentName>),
    Delete(AgentName),
    /// The connection was ended from the provider's side, in order with what it said before.
    Close,
}

/// Says what it is given, in order, and tells the model when it was taken: the last thing that each of these calls
/// does is to post, so no task runs between the two.
pub(crate) async fn pump(
    funduq: Funduq,
    model: Shared,
    key: usize,
    link: LinkId,
    mut calls: mpsc::UnboundedReceiver<Call>,
) {
    while let Some(call) = calls.recv().await {
        match call {
            Call::Answer(run, attempt, verdict) => {
                let taken = funduq.answer(link, &run, attempt, verdict.clone()).await.is_ok();
                let mut model = model.lock();
                let strange = model.run_of(&run).is_some_and(|run| model.key_of(run) != key);
                match (taken, strange) {
                    (true, false) => model.answered(key, &run, attempt, &verdict),
                    (true, true) => model.violate("an answer of a stranger is taken in".into()),
                    (false, true) => model.reach("an answer of a stranger"),
                    (false, false) => {}
                }
            }
            Call::Event(run, number, said, asks) => {
                if funduq.report_event(link, &run, number, said.json.clone()).await.is_ok() {
                    model.lock().reported(key, &run, number, &said, &asks);
                }
            }
            Call::Finish(run) => {
                if funduq.finish(link, &run).await.is_ok() {
                    model.lock().finished(key, &run);
                }
            }
            Call::Ack(run, held) => {
                let taken = funduq.ack(link, Ack { run_id: run.clone(), held }).await.is_ok();
                if taken && !held {
                    model.lock().finished(key, &run);
                }
            }
            Call::Register(names) => {
                let agents = names.iter().map(|name| Registration::new(name.clone())).collect();
                if funduq.register_agents(link, agents).await.is_ok() {
                    model.lock().back(key, &names);
                }
                Model::look_at_roster(&model, &funduq);
            }
            Call::Delete(name) => {
                // Whether it may be forgotten is seen where the record forgets it.
                let _ = funduq.delete_agent(link, &name).await;
                Model::look_at_roster(&model, &funduq);
            }
            Call::Close => {
                let current = model.lock().links[key] == Some(link);
                funduq.close(link).await;
                if current {
                    model.lock().link_gone(key);
                }
                Model::look_at_roster(&model, &funduq);
                return;
            }
        }
    }
}
