//! The agent link: what a provider says goes to the port in the order in which it came, what funduq says goes out
//! through the link's queue.

use std::sync::Arc;

use async_trait::async_trait;
use funduq_agui::RelayedEvent;
use funduq_contract::{
    Cancel, Connect, ConnectErr, ConnectOk, ConnectedProvider, DownFrame, ErrFrame, EventFrame, FunduqPort,
    LinkClosed, LinkGone, LinkId, MessagesFrame, Nonce, Offer, OkFrame, PortError, PublicKey, RunId,
    Signature, Ticket, UpFrame, WrongFunduq,
};
use funduq_core::Funduq;

use super::ending::Ending;
use super::outgoing::{Down, Outgoing};
use super::serve::{Kind, Link, opened_already};

/// The most events, and the bytes from which on no more of them, are judged together.
const MAX_EVENTS: usize = 256;
const MAX_EVENT_BYTES: usize = 256 << 10;

/// The links of agents.
pub(super) struct Agents;

impl Down for DownFrame {
    fn err(frame: ErrFrame) -> Self {
        Self::Err(frame)
    }

    fn connect_err(refusal: ConnectErr) -> Self {
        Self::ConnectErr(refusal)
    }

    fn text(&self) -> String {
        self.to_text()
    }

    fn offers(&self) -> Option<&RunId> {
        match self {
            Self::Offer(offer) => Some(&offer.run.run_id),
            _ => None,
        }
    }
}

impl Kind for Agents {
    const WHO: &'static str = "a provider";
    type Down = DownFrame;
    type Held = Option<Events>;

    fn opening(text: &str) -> Result<Connect, String> {
        match UpFrame::from_text(text) {
            Ok(UpFrame::Connect(connect)) => Ok(connect),
            Ok(other) => Err(format!(", and this is {}", other.kind())),
            Err(problem) => Err(format!(": {problem}")),
        }
    }

    async fn open(funduq: &Funduq, connect: Connect, outgoing: &Arc<Outgoing>) -> Result<LinkId, ConnectErr> {
        let (key, concurrency) = (connect.public_key, connect.concurrency);
        let provider = Provider { key, concurrency, outgoing: Arc::clone(outgoing) };
        funduq.open(Arc::new(provider), connect).await.map(|(link, _)| link)
    }

    fn hold(held: &mut Self::Held, text: &str) -> bool {
        let Some((run, number, event)) = EventFrame::parts(text) else { return false };
        match held {
            Some(events) if !events.go_on_with(run, number) => return false,
            _ => {}
        }
        // Whether it is the frame that is wrong or the event in it is told where the whole frame is read.
        let Ok(event) = RelayedEvent::parse(event) else { return false };
        match held {
            Some(events) => events.push(event),
            None => match RunId::new(run) {
                Ok(run) => *held = Some(Events::new(run, number, event)),
                Err(_) => return false,
            },
        }
        true
    }

    async fn judge_held(link: &Link<'_>, held: &mut Self::Held) {
        let Some(Events { run, first, events, .. }) = held.take() else { return };
        about_run(link, &run, link.funduq.report_events(link.id, &run, first, events).await);
    }

    async fn judge(link: &Link<'_>, text: &str) {
        match UpFrame::from_text(text) {
            Ok(frame) => judge(link, frame).await,
            Err(problem) => link.say(&DownFrame::Err(ErrFrame::from(&problem))),
        }
    }

    async fn close(funduq: &Funduq, link: LinkId) {
        funduq.close(link).await;
    }
}

async fn judge(link: &Link<'_>, frame: UpFrame) {
    // Its own methods of the same names are the host's.
    let (port, id): (&dyn FunduqPort, _) = (link.funduq, link.id);
    match frame {
        UpFrame::Event(event) => {
            let text = event.event.into_text();
            let taken = port.report_event(id, &event.run_id, event.number, text).await;
            about_run(link, &event.run_id, taken);
        }
        UpFrame::Verdict(verdict) => {
            let taken = port.answer(id, &verdict.run_id, verdict.attempt, verdict.verdict).await;
            about_run(link, &verdict.run_id, taken);
        }
        UpFrame::Finish(finish) => {
            about_run(link, &finish.run_id, port.finish(id, &finish.run_id).await);
        }
        UpFrame::Ack(ack) => {
            let run = ack.run_id.clone();
            about_run(link, &run, port.ack(id, ack).await);
        }
        UpFrame::Register(register) => {
            answer(link, register.id, port.register(id, register.agents).await);
        }
        UpFrame::Delete(delete) => answer(link, delete.id, port.delete(id, &delete.name).await),
        UpFrame::ThreadMessages(asked) => match port.thread_messages(id, &asked.run_id, asked.limit).await {
            Ok(messages) => {
                link.say(&DownFrame::Messages(MessagesFrame { id: asked.id, messages }));
            }
            Err(error) => answer(link, asked.id, Err(error)),
        },
        UpFrame::Connect(_) => link.say(&DownFrame::Err(opened_already())),
    }
}

/// Events of one run, one after another, in frames that were here at the same time.
#[derive(Debug)]
pub(super) struct Events {
    run: RunId,
    first: u64,
    events: Vec<RelayedEvent>,
    bytes: usize,
}

impl Events {
    fn new(run: RunId, first: u64, event: RelayedEvent) -> Self {
        let bytes = event.json().len();
        Self { run, first, events: vec![event], bytes }
    }

    /// Whether this event of this run is the next, and there is room for it.
    fn go_on_with(&self, run: &str, number: u64) -> bool {
        let has_room = self.events.len() < MAX_EVENTS && self.bytes < MAX_EVENT_BYTES;
        has_room
            && self.run.as_str() == run
            && number.checked_sub(self.first) == Some(self.events.len() as u64)
    }

    fn push(&mut self, event: RelayedEvent) {
        self.bytes += event.json().len();
        self.events.push(event);
    }
}

/// A report without a number of its own is answered only when it was not taken.
fn about_run(link: &Link<'_>, run: &RunId, taken: Result<(), PortError>) {
    if let Err(error) = taken {
        link.outgoing.refuse(run, &error);
    }
}

fn answer(link: &Link<'_>, id: u64, done: Result<(), PortError>) {
    link.say(&match done {
        Ok(()) => DownFrame::Ok(OkFrame { id }),
        Err(error) => DownFrame::Err(ErrFrame::to_request(id, &error)),
    });
}

/// What funduq holds of the link.
struct Provider {
    key: PublicKey,
    concurrency: Option<u32>,
    outgoing: Arc<Outgoing>,
}

#[async_trait]
impl ConnectedProvider for Provider {
    fn public_key(&self) -> PublicKey {
        self.key
    }

    fn concurrency(&self) -> Option<u32> {
        self.concurrency
    }

    /// Never fails: a link that can take nothing more is about to be closed, and its closing takes the offer back. An
    /// error before that would have the run offered again at once, to the same link.
    fn deliver(&self, offer: Offer) -> Result<(), LinkGone> {
        let _ = self.outgoing.push(&DownFrame::Offer(offer));
        Ok(())
    }

    fn cancel(&self, cancel: Cancel) -> Result<(), LinkGone> {
        self.outgoing.push(&DownFrame::Cancel(cancel))
    }

    fn received(&self, run_id: &RunId, number: u64) {
        self.outgoing.received(run_id, number);
    }

    fn refused(&self, run_id: &RunId, error: PortError) {
        self.outgoing.refuse(run_id, &error);
    }

    fn closed(&self, reason: LinkClosed) {
        self.outgoing.end(Ending::Closed(reason));
    }

    async fn sign_connect(&self, _: Option<PublicKey>, _: Ticket, _: Nonce) -> Option<Signature> {
        // The proof came with the opening; the key is at the other end.
        None
    }

    /// Sends funduq's answer before anything else can be sent. The provider checks it before it says anything more, so
    /// a link to the wrong funduq never publishes.
    async fn confirm_connect(&self, ok: &ConnectOk) -> Result<(), WrongFunduq> {
        // The queue is new, so there is room.
        let _ = self.outgoing.push(&DownFrame::ConnectOk(ok.clone()));
        Ok(())
    }
}
