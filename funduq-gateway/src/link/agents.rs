//! The agent link: what a provider says goes to the port in the order in which it came, what funduq says goes out
//! through the link's queue.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use funduq_agui::RelayedMessage;
use funduq_contract::{
    Cancel, ConnectErr, ConnectOk, ConnectRefusal, ConnectedProvider, DownFrame, ErrFrame, FunduqPort,
    LinkClosed, LinkGone, LinkId, MessagesFrame, Nonce, Offer, OkFrame, PortError, PortErrorCode, PublicKey,
    RunId, Signature, Ticket, UpFrame, WrongFunduq,
};
use funduq_core::Funduq;
use tokio::time::timeout;

use super::activity::Activity;
use super::ending::Ending;
use super::outgoing::{Limits, Outgoing};
use super::socket::{self, Heard, Sink, Source};
use super::upgrade::Socket;
use crate::app::App;

/// The most bytes of a thread's messages in one frame: what a provider's own frames may have.
const MAX_MESSAGES: usize = 8 << 20;

/// Serves one connection from its opening to its end.
pub(super) async fn serve(app: Arc<App>, socket: Socket) {
    let Socket { stream, activity, peer } = socket;
    let peer = peer.map(|peer| peer.to_string()).unwrap_or_default();
    let config = &app.config;
    let limits = Limits { frames: config.link_queue_frames, bytes: config.link_queue_bytes.get() };
    let outgoing = Arc::new(Outgoing::new(limits));
    let (mut sink, mut source) = socket::split(stream);

    let opened = tokio::select! {
        opened = open(&app.funduq, &mut source, &outgoing, config.link_handshake.get()) => opened,
        () = app.ending.stop.cancelled() => Err(Ending::Closed(LinkClosed::ShuttingDown)),
    };
    let ending = match opened {
        Err(ending) => {
            tracing::info!(peer, reason = ending.word(), "a link was not opened");
            ending
        }
        Ok((link, key)) => {
            let provider = key.fingerprint();
            tracing::info!(%provider, link = link.get(), peer, "a provider is linked");
            let link = Link { port: &app.funduq, id: link, outgoing: &outgoing, activity: &activity };
            let ending =
                converse(&link, &mut source, &mut sink, config.link_ping.get(), config.link_silence.get())
                    .await;
            outgoing.end(ending);
            app.funduq.close(link.id).await;
            tracing::info!(%provider, link = link.id.get(), reason = ending.word(), "a provider's link has ended");
            ending
        }
    };
    socket::farewell(ending, &outgoing, sink, source).await;
}

/// Hears the opening and has it judged.
async fn open(
    funduq: &Funduq,
    source: &mut Source,
    outgoing: &Arc<Outgoing>,
    patience: Duration,
) -> Result<(LinkId, PublicKey), Ending> {
    let refusal = match timeout(patience, socket::hear(source)).await {
        Err(_) => return Err(Ending::NoOpening),
        Ok(Heard::Ended(ending)) => return Err(ending),
        Ok(Heard::Binary) => malformed("a link has text frames only"),
        Ok(Heard::Text(text)) => match UpFrame::from_text(&text) {
            Ok(UpFrame::Connect(connect)) => {
                let (key, concurrency) = (connect.public_key, connect.concurrency);
                let provider = Provider { key, concurrency, outgoing: Arc::clone(outgoing) };
                match funduq.open(Arc::new(provider), connect).await {
                    Ok((link, _)) => return Ok((link, key)),
                    Err(refusal) => refusal,
                }
            }
            Ok(other) => {
                malformed(format!("the first frame of a link is connect, and this is {}", other.kind()))
            }
            Err(problem) => malformed(format!("the first frame of a link is connect: {problem}")),
        },
    };
    let ending = Ending::Refused(refusal.code);
    // The queue is new, so there is room for its only frame.
    let _ = outgoing.push(&DownFrame::ConnectErr(refusal));
    Err(ending)
}

fn malformed(problem: impl Into<String>) -> ConnectErr {
    ConnectErr::new(ConnectRefusal::Malformed, problem)
}

/// Hears and speaks until one of the two ends, or the other side is silent for too long.
async fn converse(
    link: &Link<'_>,
    source: &mut Source,
    sink: &mut Sink,
    ping: Duration,
    silence: Duration,
) -> Ending {
    tokio::select! {
        ending = link.listen(source) => ending,
        ending = socket::speak(sink, link.outgoing, ping) => ending,
        () = link.outgoing.is_full() => Ending::QueueFull,
        () = link.activity.silent_for(silence) => Ending::Silent,
    }
}

/// An open link, from the side that hears.
struct Link<'a> {
    port: &'a dyn FunduqPort,
    id: LinkId,
    outgoing: &'a Outgoing,
    activity: &'a Activity,
}

impl Link<'_> {
    /// Judges each frame before the next is heard. While a frame waits, because a run's inbox is full, nothing is
    /// read: that is how the provider learns to wait.
    async fn listen(&self, source: &mut Source) -> Ending {
        loop {
            let heard = socket::hear(source).await;
            let _deaf = self.activity.deaf();
            match heard {
                Heard::Ended(ending) => return ending,
                Heard::Binary => {
                    self.say(DownFrame::Err(not_a_frame("a link has text frames only".to_owned())));
                }
                Heard::Text(text) => match UpFrame::from_text(&text) {
                    Ok(frame) => self.judge(frame).await,
                    Err(problem) => self.say(DownFrame::Err(ErrFrame::from(&problem))),
                },
            }
        }
    }

    async fn judge(&self, frame: UpFrame) {
        let (port, id) = (self.port, self.id);
        match frame {
            UpFrame::Event(event) => {
                let text = event.event.into_text();
                let taken = port.report_event(id, &event.run_id, event.number, text).await;
                self.about_run(&event.run_id, taken);
            }
            UpFrame::Verdict(verdict) => {
                let taken = port.answer(id, &verdict.run_id, verdict.attempt, verdict.verdict).await;
                self.about_run(&verdict.run_id, taken);
            }
            UpFrame::Finish(finish) => self.about_run(&finish.run_id, port.finish(id, &finish.run_id).await),
            UpFrame::Ack(ack) => {
                let run = ack.run_id.clone();
                self.about_run(&run, port.ack(id, ack).await);
            }
            UpFrame::Register(register) => self.answer(register.id, port.register(id, register.agents).await),
            UpFrame::Delete(delete) => self.answer(delete.id, port.delete(id, &delete.name).await),
            UpFrame::ThreadMessages(asked) => {
                match port.thread_messages(id, &asked.run_id, asked.limit).await {
                    Ok(messages) => {
                        let messages = newest_within(messages, MAX_MESSAGES);
                        self.say(DownFrame::Messages(MessagesFrame { id: asked.id, messages }));
                    }
                    Err(error) => self.answer(asked.id, Err(error)),
                }
            }
            UpFrame::Connect(_) => {
                self.say(DownFrame::Err(not_a_frame("this link is open already".to_owned())));
            }
        }
    }

    /// A report without a number of its own is answered only when it was not taken.
    fn about_run(&self, run: &RunId, taken: Result<(), PortError>) {
        if let Err(error) = taken {
            self.outgoing.refuse(run, &error);
        }
    }

    fn answer(&self, id: u64, done: Result<(), PortError>) {
        self.say(match done {
            Ok(()) => DownFrame::Ok(OkFrame { id }),
            Err(error) => DownFrame::Err(ErrFrame::to_request(id, &error)),
        });
    }

    fn say(&self, frame: DownFrame) {
        // A link that is ending has nothing more to say, and what ends it is heard where it is spoken.
        let _ = self.outgoing.push(&frame);
    }
}

fn not_a_frame(message: String) -> ErrFrame {
    ErrFrame { id: None, run_id: None, code: PortErrorCode::MalformedFrame, expected: None, message }
}

/// The newest of these messages that have at most so many bytes.
fn newest_within(mut messages: Vec<RelayedMessage>, limit: usize) -> Vec<RelayedMessage> {
    let mut bytes = 0;
    let newest = messages.iter().rev().take_while(|message| {
        bytes += message.json().len();
        bytes <= limit
    });
    let first = messages.len() - newest.count();
    messages.split_off(first)
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
