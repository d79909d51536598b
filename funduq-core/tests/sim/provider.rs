//! A simulated provider: what it makes of what it hears, honestly or not.

use std::collections::BTreeMap;
use std::sync::Arc;

use funduq_contract::{
    AgentName, Connect, ConnectOk, ConnectedProvider, Identity, LinkId, Nonce, PortError, RunId, Verdict,
};
use funduq_core::Funduq;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::model::{Model, Shared};
use crate::prng::Rng;
use crate::script::Script;
use crate::wire::{Call, Heard, Line, Wire, pump};

/// A run as its provider sees it.
pub(crate) struct Work {
    pub(crate) id: RunId,
    pub(crate) label: usize,
    /// It said that it takes the run.
    pub(crate) accepted: bool,
    pub(crate) script: Script,
    /// How many events have gone out.
    pub(crate) sent: usize,
    /// How many of them are recorded, as far as it was told.
    received: usize,
    /// It has said all that it will say.
    pub(crate) done: bool,
    /// funduq said that it does not hold it.
    pub(crate) gone: bool,
    /// Answers that it has put off.
    pub(crate) owed: Vec<(u32, Verdict)>,
}

pub(crate) struct Link {
    pub(crate) id: LinkId,
    pub(crate) wire: Arc<Wire>,
    pub(crate) calls: mpsc::UnboundedSender<Call>,
    pump: AbortHandle,
}

pub(crate) struct Provider {
    pub(crate) key: usize,
    pub(crate) identity: Identity,
    pub(crate) names: Vec<AgentName>,
    pub(crate) room: Option<u32>,
    pub(crate) link: Option<Link>,
    /// Links that ended without funduq having noticed.
    pub(crate) lost: Vec<LinkId>,
    /// Every wire of this process.
    wires: Vec<Arc<Wire>>,
    pub(crate) work: BTreeMap<usize, Work>,
    /// It answers at once, takes everything and sees it through.
    pub(crate) well_behaved: bool,
    pub(crate) rng: Rng,
}

impl Provider {
    pub(crate) fn new(
        key: usize,
        identity: Identity,
        names: Vec<AgentName>,
        room: Option<u32>,
        rng: Rng,
    ) -> Self {
        Self {
            key,
            identity,
            names,
            room,
            link: None,
            lost: Vec::new(),
            wires: Vec::new(),
            work: BTreeMap::new(),
            well_behaved: false,
            rng,
        }
    }

    pub(crate) fn say(&self, call: Call) {
        if let Some(link) = &self.link {
            // The pump is gone when the link was closed.
            let _ = link.calls.send(call);
        }
    }

    /// Opens a link; whichever it had is replaced.
    pub(crate) async fn attach(&mut self, funduq: &Funduq, model: &Shared) {
        let key = self.identity.public_key();
        let wire = Arc::new(Wire::new(self.key, key, self.room, model.clone(), funduq.clone()));
        let funduq_key = funduq.public_key();
        let ticket = funduq.issue_ticket(&key);
        let connect =
            Connect::sign(&self.identity, funduq_key.as_ref(), ticket, Nonce::generate(), self.room);
        let opened = funduq.attach_provider(Arc::clone(&wire) as Arc<dyn ConnectedProvider>, connect).await;
        let (id, ok) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                let mut model = model.lock();
                if !model.stopping {
                    model.violate(format!("key {} is not let in: {error}", self.key));
                }
                return;
            }
        };
        wire.set_id(id);
        self.wires.push(Arc::clone(&wire));
        model.lock().check_held(self.key, &ok, self.link.is_none());
        model.lock().link_opened(self.key, id);
        Model::look_at_roster(model, funduq);
        let (calls, outgoing) = mpsc::unbounded_channel();
        let task = tokio::spawn(pump(funduq.clone(), model.clone(), self.key, id, outgoing));
        self.hang_up(Line::Down);
        self.link = Some(Link { id, wire, calls, pump: task.abort_handle() });
        self.resume(&ok);
    }

    /// Sends again what is not recorded, and lets go of what it does not know.
    fn resume(&mut self, ok: &ConnectOk) {
        for held in &ok.held_runs {
            match self.work.values_mut().find(|work| work.id == held.run_id) {
                Some(work) => {
                    work.accepted = true;
                    work.gone = false;
                    work.done = false;
                    work.sent = (held.received as usize).min(work.script.events.len());
                }
                None => self.say(Call::Finish(held.run_id.clone())),
            }
        }
    }

    /// Its side of the link ends; funduq hears nothing of it.
    pub(crate) fn hang_up(&mut self, line: Line) -> Option<LinkId> {
        let link = self.link.take()?;
        link.pump.abort();
        link.wire.set_line(line);
        Some(link.id)
    }

    /// The process that its links led to is gone.
    pub(crate) fn process_died(&mut self) {
        self.link = None;
        self.lost.clear();
        for wire in self.wires.drain(..) {
            wire.cut();
        }
    }

    /// It crashed, and knows nothing of its runs.
    pub(crate) fn forget(&mut self) {
        self.work.clear();
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.link.as_ref().is_some_and(|link| !link.wire.is_quiet())
    }

    /// Takes up the next thing that it heard.
    pub(crate) fn look(&mut self, model: &Shared) {
        let Some(heard) = self.link.as_ref().and_then(|link| link.wire.next()) else { return };
        match heard {
            Heard::Offer(run, attempt) => self.on_offer(model, &run, attempt),
            Heard::Cancel(run) => self.on_cancel(&run),
            Heard::Received(run, number) => {
                if let Some(work) = self.work.values_mut().find(|work| work.id == run) {
                    work.received = work.received.max(number as usize);
                }
            }
            Heard::Refused(run, error) => {
                if let Some(work) = self.work.values_mut().find(|work| work.id == run) {
                    match error {
                        PortError::Gap { expected, .. } => work.sent = expected as usize - 1,
                        // What was refused may be a report or an answer from before the offer that stands.
                        _ => work.gone = !self.well_behaved && self.rng.percent(70),
                    }
                }
            }
            Heard::Closed => drop(self.hang_up(Line::Down)),
        }
    }

    fn on_offer(&mut self, model: &Shared, run: &RunId, attempt: u32) {
        let Some(label) = model.lock().run_of(run) else { return };
        let well_behaved = self.well_behaved;
        let rng = &mut self.rng;
        let work = self.work.entry(label).or_insert_with(|| Work {
            id: run.clone(),
            label,
            accepted: false,
            script: Script::new(rng, label, well_behaved),
            sent: 0,
            received: 0,
            done: false,
            gone: false,
            owed: Vec::new(),
        });
        // Whatever it said of the run before, nothing of it is recorded.
        (work.gone, work.done, work.sent) = (false, false, 0);
        let accept = |work: &Work| Call::Answer(work.id.clone(), attempt, Verdict::Accepted);
        let manner = if well_behaved || work.accepted {
            Manner::Prompt
        } else {
            self.rng.weigh(&[
                (50, Manner::Prompt),
                (14, Manner::Burst),
                (12, Manner::Late),
                (5, Manner::Twice),
                (8, Manner::Decline),
                (4, Manner::Refuse),
                (4, Manner::Silence),
                (5, Manner::BeforeItsTurn),
            ])
        };
        let id = work.id.clone();
        match manner {
            Manner::Prompt | Manner::Burst | Manner::Twice => {
                work.accepted = true;
                let call = accept(work);
                self.say(call);
                if manner == Manner::Twice {
                    self.say(Call::Answer(id.clone(), attempt, Verdict::Accepted));
                    let other = if self.rng.percent(50) { Verdict::Declined } else { Verdict::Accepted };
                    self.say(Call::Answer(id, attempt, other));
                } else if manner == Manner::Burst {
                    let count = self.rng.within(1, 4);
                    self.send(label, count);
                }
            }
            Manner::Late => {
                let verdict = self.rng.weigh(&[(6, 0), (1, 1), (1, 2)]);
                work.owed.push((attempt, [Verdict::Accepted, Verdict::Declined, refusal()][verdict].clone()));
            }
            Manner::Decline => self.say(Call::Answer(id, attempt, Verdict::Declined)),
            Manner::Refuse => self.say(Call::Answer(id, attempt, refusal())),
            Manner::Silence => {}
            Manner::BeforeItsTurn => {
                work.owed.push((attempt, Verdict::Accepted));
                if self.rng.percent(50) {
                    self.say(Call::Finish(id));
                } else {
                    let count = self.rng.within(1, 3);
                    self.send(label, count);
                    self.work.entry(label).and_modify(|work| (work.sent, work.done) = (0, false));
                }
            }
        }
    }

    fn on_cancel(&mut self, run: &RunId) {
        let well_behaved = self.well_behaved;
        let Some(work) = self.work.values_mut().find(|work| work.id == *run && work.accepted) else {
            return self.say(Call::Ack(run.clone(), false));
        };
        work.script.stop(&mut self.rng, work.label, work.sent);
        let held = well_behaved || self.rng.percent(90);
        self.say(Call::Ack(run.clone(), held));
    }

    /// Says again what it was not told is recorded: whether funduq knows that it holds a run may have been undecided
    /// when it asked.
    pub(crate) fn probe(&mut self) {
        for work in self.work.values_mut().filter(|work| work.accepted) {
            (work.gone, work.done) = (false, false);
            work.sent = work.received.min(work.script.events.len());
        }
    }

    /// Sends up to `count` of the next events of a run, and what comes after the last.
    pub(crate) fn send(&mut self, label: usize, count: u64) {
        let Some(work) = self.work.get_mut(&label).filter(|work| !work.done) else { return };
        let mut calls = Vec::new();
        for _ in 0..count {
            match work.script.events.get(work.sent) {
                Some(said) => {
                    work.sent += 1;
                    calls.push(event(work, work.sent, said.clone()));
                }
                None => {
                    work.done = true;
                    calls.push(Call::Finish(work.id.clone()));
                    break;
                }
            }
        }
        for call in calls {
            self.say(call);
        }
    }

    /// Sends something of a run that is not its next event.
    pub(crate) fn stray(&mut self, label: usize) {
        let Some(work) = self.work.get(&label) else { return };
        let said = |number: usize| work.script.events.get(number.checked_sub(1)?).cloned();
        let next = work.sent + 1;
        let (number, said) = match self.rng.below(4) {
            0 => (work.sent, said(work.sent)),
            // A resend from the beginning.
            1 => (1, said(1)),
            2 => (next + 1, said(next + 1)),
            // The number of one event and the bytes of another.
            _ => (work.sent.max(1), said(next)),
        };
        let call = match said {
            Some(said) if number > 0 => event(work, number, said),
            _ => Call::Finish(work.id.clone()),
        };
        self.say(call);
    }
}

fn event(work: &Work, number: usize, said: crate::script::Said) -> Call {
    Call::Event(work.id.clone(), number as u64, said, work.script.asks.clone())
}

fn refusal() -> Verdict {
    Verdict::Refused { reason: "not on a Monday".into() }
}

/// How a provider answers an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Prompt,
    /// Accepted, and the first events right behind.
    Burst,
    Late,
    Twice,
    Decline,
    Refuse,
    Silence,
    /// A finish or events, and the answer after them.
    BeforeItsTurn,
}
