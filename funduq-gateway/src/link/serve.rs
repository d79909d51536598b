//! The life of a link of either kind: its opening is judged, frames are heard one after another, its end is told.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use funduq_contract::{
    Connect, ConnectErr, ConnectRefusal, ErrFrame, LinkClosed, LinkId, PortErrorCode, PublicKey,
};
use funduq_core::Funduq;
use tokio::time::timeout;

use super::activity::Activity;
use super::ending::Ending;
use super::outgoing::{Down, Limits, Outgoing};
use super::socket::{self, Heard, Sink, Source};
use super::upgrade::Socket;
use crate::app::App;

/// What differs between links of agents and links of LLM providers.
pub(super) trait Kind: Send + Sync + 'static {
    /// What is at the other end, for the log.
    const WHO: &'static str;
    /// What funduq says.
    type Down: Down + Send;
    /// Frames that were heard and are judged together, with those that are here already.
    type Held: Default + Send;

    /// The opening in a link's first frame.
    ///
    /// # Errors
    /// What it is instead.
    fn opening(text: &str) -> Result<Connect, String>;

    /// Has an opening judged; what funduq then says on the link goes into `outgoing`.
    fn open(
        funduq: &Funduq,
        connect: Connect,
        outgoing: &Arc<Outgoing>,
    ) -> impl Future<Output = Result<LinkId, ConnectErr>> + Send;

    /// Holds a frame back, if it may be judged together with those that are held.
    fn hold(held: &mut Self::Held, text: &str) -> bool;

    /// Judges what is held.
    fn judge_held(link: &Link<'_>, held: &mut Self::Held) -> impl Future<Output = ()> + Send;

    /// Judges one frame of an open link.
    fn judge(link: &Link<'_>, text: &str) -> impl Future<Output = ()> + Send;

    /// The link has ended.
    fn close(funduq: &Funduq, link: LinkId) -> impl Future<Output = ()> + Send;
}

/// Serves one connection from its opening to its end.
pub(super) async fn serve<K: Kind>(app: Arc<App>, socket: Socket) {
    let Socket { stream, open: limits_when_open, activity, peer } = socket;
    let peer = peer.map(|peer| peer.to_string()).unwrap_or_default();
    let config = &app.config;
    let limits = Limits { frames: config.link_queue_frames, bytes: config.link_queue_bytes.get() };
    let outgoing = Arc::new(Outgoing::new(limits));
    let (mut sink, mut source) = socket::split(stream);

    let opened = tokio::select! {
        opened = open::<K>(&app.funduq, &mut source, &outgoing, config.link_handshake.get()) => opened,
        () = app.ending.stop.cancelled() => Err(Ending::Closed(LinkClosed::ShuttingDown)),
    };
    let ending = match opened {
        Err(ending) => {
            tracing::info!(peer, reason = ending.word(), "a link was not opened");
            ending
        }
        Ok((link, key)) => {
            let provider = key.fingerprint();
            tracing::info!(%provider, link = link.get(), peer, "{} is linked", K::WHO);
            (sink, source) = socket::open(sink, source, limits_when_open).await;
            let link = Link { funduq: &app.funduq, id: link, outgoing: &outgoing, activity: &activity };
            let (ping, silence) = (config.link_ping.get(), config.link_silence.get());
            let ending = converse::<K>(&link, &mut source, &mut sink, ping, silence).await;
            outgoing.end(ending);
            K::close(&app.funduq, link.id).await;
            tracing::info!(%provider, link = link.id.get(), reason = ending.word(), "the link of {} has ended", K::WHO);
            ending
        }
    };
    socket::farewell(ending, &outgoing, sink, source).await;
}

/// Hears the opening and has it judged.
async fn open<K: Kind>(
    funduq: &Funduq,
    source: &mut Source,
    outgoing: &Arc<Outgoing>,
    patience: Duration,
) -> Result<(LinkId, PublicKey), Ending> {
    let refusal = match timeout(patience, socket::hear(source)).await {
        Err(_) => return Err(Ending::NoOpening),
        Ok(Heard::Ended(ending)) => return Err(ending),
        Ok(Heard::Binary) => malformed(TEXT_ONLY.to_owned()),
        Ok(Heard::Text(text)) => match K::opening(&text) {
            Ok(connect) => {
                let key = connect.public_key;
                match K::open(funduq, connect, outgoing).await {
                    Ok(link) => return Ok((link, key)),
                    Err(refusal) => refusal,
                }
            }
            Err(other) => malformed(format!("the first frame of a link is connect{other}")),
        },
    };
    let ending = Ending::Refused(refusal.code);
    // The queue is new, so there is room for its only frame.
    let _ = outgoing.push(&K::Down::connect_err(refusal));
    Err(ending)
}

const TEXT_ONLY: &str = "a link has text frames only";

fn malformed(problem: String) -> ConnectErr {
    ConnectErr::new(ConnectRefusal::Malformed, problem)
}

/// Hears and speaks until one of the two ends, or the other side is silent for too long.
async fn converse<K: Kind>(
    link: &Link<'_>,
    source: &mut Source,
    sink: &mut Sink,
    ping: Duration,
    silence: Duration,
) -> Ending {
    tokio::select! {
        ending = link.listen::<K>(source) => ending,
        ending = socket::speak(sink, link.outgoing, ping) => ending,
        () = link.outgoing.is_full() => Ending::QueueFull,
        () = link.activity.silent_for(silence) => Ending::Silent,
    }
}

/// An open link, from the side that hears.
pub(super) struct Link<'a> {
    pub(super) funduq: &'a Funduq,
    pub(super) id: LinkId,
    pub(super) outgoing: &'a Outgoing,
    activity: &'a Activity,
}

impl Link<'_> {
    /// Judges frames in the order in which they came, and those that are here already together where their kind allows
    /// it. While one waits, because who is to take it is behind, nothing is read: that is how the provider learns to wait.
    async fn listen<K: Kind>(&self, source: &mut Source) -> Ending {
        let mut held = K::Held::default();
        loop {
            let heard = match socket::heard(source).await {
                Some(heard) => heard,
                None => {
                    self.judge_held::<K>(&mut held).await;
                    socket::hear(source).await
                }
            };
            if matches!(&heard, Heard::Text(text) if K::hold(&mut held, text)) {
                continue;
            }
            self.judge_held::<K>(&mut held).await;
            match heard {
                Heard::Ended(ending) => return ending,
                Heard::Binary => self.say(&K::Down::err(not_a_frame(TEXT_ONLY))),
                Heard::Text(text) if K::hold(&mut held, &text) => {}
                Heard::Text(text) => {
                    let _deaf = self.activity.deaf();
                    K::judge(self, &text).await;
                }
            }
        }
    }

    async fn judge_held<K: Kind>(&self, held: &mut K::Held) {
        let _deaf = self.activity.deaf();
        K::judge_held(self, held).await;
    }

    pub(super) fn say(&self, frame: &impl Down) {
        // A link that is ending has nothing more to say, and what ends it is heard where it is spoken.
        let _ = self.outgoing.push(frame);
    }
}

/// Says that what came is no frame, or none that may come now.
pub(super) fn not_a_frame(message: &str) -> ErrFrame {
    let message = message.to_owned();
    ErrFrame { id: None, run_id: None, code: PortErrorCode::MalformedFrame, expected: None, message }
}

/// The same of a second opening.
pub(super) fn opened_already() -> ErrFrame {
    not_a_frame("this link is open already")
}
