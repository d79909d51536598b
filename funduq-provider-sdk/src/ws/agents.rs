//! The agent link: offers come down, everything that runs say goes up.

use std::time::Duration;

use funduq_contract::{
    ConnectOk, DownFrame, ErrFrame, EventFrame, FinishFrame, PortError, PortErrorCode, RegisterFrame, RunId,
    ThreadMessagesFrame, UpFrame, VerdictFrame,
};

use super::service::{Attached, Heard, ROSTER, Serves, Service};
use crate::identity::ProviderIdentity;
use crate::runtime::{Attachment, Outgoing, Runtime, RuntimeBuilder};

impl Serves for RuntimeBuilder {
    type Service = Runtime;

    fn service(self) -> Runtime {
        self.build()
    }
}

impl Service for Runtime {
    const PATH: &'static str = "/link/agents";
    type Attached = Attachment;

    fn identity(&self) -> &ProviderIdentity {
        self.identity()
    }

    fn concurrency(&self) -> Option<u32> {
        self.capacity().declared()
    }

    fn attach(&self, ok: &ConnectOk) -> Attachment {
        self.attach(ok)
    }

    fn roster(&self, taken_down: bool) -> String {
        let agents = if taken_down { Vec::new() } else { self.registrations() };
        UpFrame::Register(RegisterFrame { id: ROSTER, agents }).to_text()
    }

    fn under_way(&self) -> usize {
        self.held_runs()
    }

    async fn stop(&self, deadline: Duration) {
        Runtime::stop(self, deadline).await;
    }

    fn abandon(&self) {
        self.abandon();
    }
}

impl Attached for Attachment {
    type Outgoing = Outgoing;

    fn hear(&self, text: &str) -> Heard {
        let frame = match DownFrame::from_text(text) {
            Ok(frame) => frame,
            Err(error) => return Heard::unreadable(&error),
        };
        let done = match frame {
            DownFrame::Received(received) => {
                self.received(&received.run_id, received.number);
                Ok(())
            }
            DownFrame::Offer(offer) => self.deliver(offer),
            DownFrame::Cancel(cancel) => self.cancel(&cancel),
            DownFrame::Messages(messages) => {
                self.messages(messages.id, Ok(messages.messages));
                Ok(())
            }
            DownFrame::Ok(ok) => return Heard::done(ok.id),
            DownFrame::Err(error) => return refusal(error, self),
            DownFrame::ConnectOk(_) | DownFrame::ConnectErr(_) => return Heard::second_opening(),
        };
        done.map_or_else(Heard::broken, |()| Heard::Fine)
    }

    async fn next(&self, batch: &mut Vec<Outgoing>) {
        self.next(batch).await;
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
}

/// What an `err` frame means: the answer to a question, a refused report, or something for the log.
fn refusal(frame: ErrFrame, attachment: &Attachment) -> Heard {
    match (frame.id, &frame.run_id) {
        (Some(ROSTER), _) => return Heard::roster_refused(frame),
        (Some(id), _) => attachment.messages(id, Err(port_error(&frame, None))),
        // Without the number that is missing, only a new link says from where to go on.
        (None, Some(_)) if frame.code == PortErrorCode::Gap && frame.expected.is_none() => {
            return Heard::broken(frame.message);
        }
        (None, Some(run_id)) => attachment.refused(run_id, &port_error(&frame, Some(run_id))),
        (None, None) => return Heard::frame_refused(&frame),
    }
    Heard::Fine
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
