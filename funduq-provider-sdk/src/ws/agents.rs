//! What crosses an open agent link: the roster first, then offers down and everything that runs say up.

use funduq_contract::{
    DownFrame, ErrFrame, EventFrame, FinishFrame, PortError, PortErrorCode, RegisterFrame, Registration,
    RunId, ThreadMessagesFrame, UpFrame, VerdictFrame,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use super::error::LinkError;
use super::opening::Opened;
use super::socket::{Lost, PING_EVERY, Reader, Writer};
use crate::runtime::{Attachment, Outgoing, Runtime};

/// The number of a roster's frame; questions of agents count from 1.
const ROSTER: u64 = 0;

/// How an open link ended.
#[derive(Debug)]
pub(super) enum End {
    Lost(Lost),
    Final(LinkError),
    /// It was closed from here.
    Stopped,
}

impl From<Lost> for End {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost)
    }
}

/// What the link's surroundings tell it and hear from it.
pub(super) struct Surroundings<'a> {
    pub(super) runtime: &'a Runtime,
    /// Fired when no new runs are wanted: the roster is taken down.
    pub(super) stopping: &'a CancellationToken,
    /// Fired when nothing more is to be sent.
    pub(super) closing: &'a CancellationToken,
    /// Whether funduq has taken the roster.
    pub(super) online: &'a watch::Sender<bool>,
}

/// Serves the link until it ends.
pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    opened: Opened<S>,
    surroundings: &Surroundings<'_>,
) -> End {
    let Opened { reader, writer, ok } = opened;
    let attachment = surroundings.runtime.attach(&ok);
    let end = tokio::select! {
        end = hear(reader, &attachment, surroundings) => end,
        end = speak(writer, &attachment, surroundings) => end,
    };
    surroundings.online.send_replace(false);
    end
}

async fn hear<S: AsyncRead + AsyncWrite + Unpin>(
    mut reader: Reader<S>,
    attachment: &Attachment,
    surroundings: &Surroundings<'_>,
) -> End {
    loop {
        let text = match reader.next().await {
            Ok(text) => text,
            Err(lost) => return lost.into(),
        };
        let frame = match DownFrame::from_text(&text) {
            Ok(frame) => frame,
            Err(error) => {
                // A newer funduq may say more than this SDK knows; the rest goes on.
                tracing::warn!(kind = error.kind, problem = %error, "a frame that this provider cannot read");
                continue;
            }
        };
        drop(text);
        let done = match frame {
            DownFrame::Received(received) => {
                attachment.received(&received.run_id, received.number);
                Ok(())
            }
            DownFrame::Offer(offer) => attachment.deliver(offer),
            DownFrame::Cancel(cancel) => attachment.cancel(&cancel),
            DownFrame::Messages(messages) => {
                attachment.messages(messages.id, Ok(messages.messages));
                Ok(())
            }
            DownFrame::Ok(ok) => {
                if ok.id == ROSTER {
                    surroundings.online.send_replace(true);
                }
                Ok(())
            }
            DownFrame::Err(error) => match refusal(error, attachment) {
                Some(end) => return end,
                None => Ok(()),
            },
            DownFrame::ConnectOk(_) | DownFrame::ConnectErr(_) => {
                return Lost::Broken("funduq answered an opening on an open link".to_owned()).into();
            }
        };
        if let Err(stuck) = done {
            return Lost::Broken(stuck.to_string()).into();
        }
    }
}

/// What an `err` frame means: the answer to a question, a refused report, or something for the log.
fn refusal(frame: ErrFrame, attachment: &Attachment) -> Option<End> {
    match (frame.id, &frame.run_id) {
        (Some(ROSTER), _) => Some(match frame.code {
            PortErrorCode::Unavailable | PortErrorCode::LinkClosed => Lost::Broken(frame.message).into(),
            _ => End::Final(LinkError::RosterRefused(frame)),
        }),
        (Some(id), _) => {
            attachment.messages(id, Err(port_error(&frame, None)));
            None
        }
        // Without the number that is missing, only a new link says from where to go on.
        (None, Some(_)) if frame.code == PortErrorCode::Gap && frame.expected.is_none() => {
            Some(Lost::Broken(frame.message).into())
        }
        (None, Some(run_id)) => {
            attachment.refused(run_id, &port_error(&frame, Some(run_id)));
            None
        }
        (None, None) => {
            tracing::warn!(code = ?frame.code, message = %frame.message, "funduq did not take a frame");
            None
        }
    }
}

fn port_error(frame: &ErrFrame, run_id: Option<&RunId>) -> PortError {
    match (frame.code, run_id) {
        (PortErrorCode::Gap, _) => match frame.expected {
            Some(expected) => PortError::Gap { expected, got: expected },
            None => PortError::Invalid(frame.message.clone()),
        },
        (PortErrorCode::NotHeld, Some(run_id)) => PortError::NotHeld(run_id.clone()),
        (PortErrorCode::LinkClosed, _) => PortError::LinkClosed,
        (PortErrorCode::Unavailable, _) => PortError::Unavailable(frame.message.clone()),
        _ => PortError::Invalid(frame.message.clone()),
    }
}

async fn speak<S: AsyncRead + AsyncWrite + Unpin>(
    mut writer: Writer<S>,
    attachment: &Attachment,
    surroundings: &Surroundings<'_>,
) -> End {
    match speak_until_closing(&mut writer, attachment, surroundings).await {
        Err(lost) => lost.into(),
        Ok(()) => {
            writer.close().await;
            End::Stopped
        }
    }
}

async fn speak_until_closing<S: AsyncRead + AsyncWrite + Unpin>(
    writer: &mut Writer<S>,
    attachment: &Attachment,
    surroundings: &Surroundings<'_>,
) -> Result<(), Lost> {
    writer.feed(roster(surroundings.runtime.registrations())).await?;
    writer.flush().await?;
    let mut taken_down = surroundings.stopping.is_cancelled();
    let mut pings = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut batch = Vec::new();
    loop {
        tokio::select! {
            () = attachment.next(&mut batch) => {
                for outgoing in batch.drain(..) {
                    writer.feed(text_of(outgoing)).await?;
                }
                writer.flush().await?;
            }
            _ = pings.tick() => writer.ping().await?,
            () = surroundings.stopping.cancelled(), if !taken_down => {
                taken_down = true;
                writer.feed(roster(Vec::new())).await?;
                writer.flush().await?;
            }
            () = surroundings.closing.cancelled() => return Ok(()),
        }
    }
}

fn roster(agents: Vec<Registration>) -> String {
    UpFrame::Register(RegisterFrame { id: ROSTER, agents }).to_text()
}

fn text_of(outgoing: Outgoing) -> String {
    match outgoing {
        Outgoing::Event { run_id, number, event } => EventFrame::text(&run_id, number, &event),
        Outgoing::Verdict { run_id, attempt, verdict } => {
            UpFrame::Verdict(VerdictFrame { run_id, attempt, verdict }).to_text()
        }
        Outgoing::Finish { run_id } => UpFrame::Finish(FinishFrame { run_id }).to_text(),
        Outgoing::Ack(ack) => UpFrame::Ack(ack).to_text(),
        Outgoing::ThreadMessages { call, run_id, limit } => {
            UpFrame::ThreadMessages(ThreadMessagesFrame { id: call, run_id, limit }).to_text()
        }
    }
}
