//! The LLM link: completions come down, chunks go up.

use std::time::Duration;

use funduq_contract::{ConnectOk, LlmDownFrame, LlmRegisterFrame, LlmUpFrame};

use super::service::{Attached, Heard, ROSTER, Serves, Service};
use crate::identity::ProviderIdentity;
use crate::llm::{LlmAttachment, LlmOutgoing, LlmRuntime};

impl Serves for LlmRuntime {
    type Service = Self;

    fn service(self) -> Self {
        self
    }
}

impl Service for LlmRuntime {
    const PATH: &'static str = "/link/llm";
    type Attached = LlmAttachment;

    fn identity(&self) -> &ProviderIdentity {
        self.identity()
    }

    fn concurrency(&self) -> Option<u32> {
        // It is of runs, and an LLM link has none.
        None
    }

    fn attach(&self, ok: &ConnectOk) -> LlmAttachment {
        self.attach(ok)
    }

    fn roster(&self, taken_down: bool) -> String {
        let mut offerings = self.registration();
        if taken_down {
            offerings.names.clear();
        }
        LlmUpFrame::Register(LlmRegisterFrame { id: ROSTER, offerings }).to_text()
    }

    fn under_way(&self) -> usize {
        self.running()
    }

    async fn stop(&self, deadline: Duration) {
        LlmRuntime::stop(self, deadline).await;
    }

    fn abandon(&self) {
        self.abandon();
    }
}

impl Attached for LlmAttachment {
    type Outgoing = LlmOutgoing;

    fn hear(&self, text: &str) -> Heard {
        match LlmDownFrame::from_text(text) {
            Ok(LlmDownFrame::Complete(complete)) => {
                self.deliver(complete).map_or_else(Heard::broken, |()| Heard::Fine)
            }
            Ok(LlmDownFrame::CancelCompletion(cancel)) => {
                self.cancel(&cancel);
                Heard::Fine
            }
            Ok(LlmDownFrame::Ok(ok)) => Heard::done(ok.id),
            Ok(LlmDownFrame::Err(error)) if error.id == Some(ROSTER) => Heard::roster_refused(error),
            Ok(LlmDownFrame::Err(error)) => Heard::frame_refused(&error),
            Ok(LlmDownFrame::ConnectOk(_) | LlmDownFrame::ConnectErr(_)) => Heard::second_opening(),
            Err(error) => Heard::unreadable(&error),
        }
    }

    async fn next(&self, batch: &mut Vec<LlmOutgoing>) {
        self.next(batch).await;
    }

    fn text_of(outgoing: LlmOutgoing) -> String {
        match outgoing {
            LlmOutgoing::Chunk(chunk) => LlmUpFrame::Chunk(chunk).to_text(),
            LlmOutgoing::End(end) => LlmUpFrame::End(end).to_text(),
            LlmOutgoing::Failed(failed) => LlmUpFrame::Failed(failed).to_text(),
        }
    }
}
