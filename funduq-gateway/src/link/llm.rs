//! The LLM link: chunks go to whom they are for in the order in which they came, completions go out through the
//! link's queue.

use std::sync::Arc;

use async_trait::async_trait;
use funduq_contract::{
    CancelCompletion, Complete, CompletionId, Connect, ConnectErr, ConnectOk, ConnectedLlmProvider, ErrFrame,
    LinkClosed, LinkGone, LinkId, LlmDownFrame, LlmPort, LlmUpFrame, Nonce, OkFrame, PortError, PublicKey,
    Signature, Ticket, WrongFunduq,
};
use funduq_core::Funduq;

use super::ending::Ending;
use super::outgoing::{Down, Outgoing};
use super::serve::{Kind, Link, opened_already};

/// The links of LLM providers.
pub(super) struct LlmProviders;

impl Down for LlmDownFrame {
    fn err(frame: ErrFrame) -> Self {
        Self::Err(frame)
    }

    fn connect_err(refusal: ConnectErr) -> Self {
        Self::ConnectErr(refusal)
    }

    fn text(&self) -> String {
        self.to_text()
    }
}

impl Kind for LlmProviders {
    const WHO: &'static str = "an LLM provider";
    type Down = LlmDownFrame;
    type Held = ();

    fn opening(text: &str) -> Result<Connect, String> {
        match LlmUpFrame::from_text(text) {
            Ok(LlmUpFrame::Connect(connect)) => Ok(connect),
            Ok(other) => Err(format!(", and this is {}", other.kind())),
            Err(problem) => Err(format!(": {problem}")),
        }
    }

    async fn open(funduq: &Funduq, connect: Connect, outgoing: &Arc<Outgoing>) -> Result<LinkId, ConnectErr> {
        let provider = Provider { key: connect.public_key, outgoing: Arc::clone(outgoing) };
        funduq.open_llm(Arc::new(provider), connect).await.map(|(link, _)| link)
    }

    fn hold(_: &mut (), _: &str) -> bool {
        false
    }

    async fn judge_held(_: &Link<'_>, _: &mut ()) {}

    async fn judge(link: &Link<'_>, text: &str) {
        match LlmUpFrame::from_text(text) {
            Ok(frame) => judge(link, frame).await,
            Err(problem) => link.say(&LlmDownFrame::Err(ErrFrame::from(&problem))),
        }
    }

    async fn close(funduq: &Funduq, link: LinkId) {
        funduq.close_llm(link).await;
    }
}

async fn judge(link: &Link<'_>, frame: LlmUpFrame) {
    let (port, id) = (link.funduq, link.id);
    match frame {
        LlmUpFrame::Chunk(chunk) => {
            let completion = chunk.completion_id.clone();
            if let Err(error) = port.chunk(id, chunk).await {
                unread(link, &completion, &error);
                // It may not have heard of the cancel yet, so that is no fault of its.
                link.outgoing.push_once(completion.as_str(), || {
                    LlmDownFrame::CancelCompletion(CancelCompletion { completion_id: completion.clone() })
                });
            }
        }
        LlmUpFrame::End(end) => {
            let completion = end.completion_id.clone();
            port.end(id, end).await.unwrap_or_else(|error| unread(link, &completion, &error));
        }
        LlmUpFrame::Failed(failed) => {
            let completion = failed.completion_id.clone();
            port.failed(id, failed).await.unwrap_or_else(|error| unread(link, &completion, &error));
        }
        LlmUpFrame::Register(register) => {
            let number = register.id;
            link.say(&match port.register_llm(id, register.offerings).await {
                Ok(()) => LlmDownFrame::Ok(OkFrame { id: number }),
                Err(error) => LlmDownFrame::Err(ErrFrame::to_request(number, &error)),
            });
        }
        LlmUpFrame::Connect(_) => link.say(&LlmDownFrame::Err(opened_already())),
    }
}

/// Something was said about a completion that this link does not answer, or no longer.
fn unread(link: &Link<'_>, completion: &CompletionId, error: &PortError) {
    tracing::debug!(link = link.id.get(), %completion, %error, "nobody reads this completion");
}

/// What funduq holds of the link.
struct Provider {
    key: PublicKey,
    outgoing: Arc<Outgoing>,
}

#[async_trait]
impl ConnectedLlmProvider for Provider {
    fn public_key(&self) -> PublicKey {
        self.key
    }

    fn complete(&self, complete: Complete) -> Result<(), LinkGone> {
        self.outgoing.push(&LlmDownFrame::Complete(complete))
    }

    fn cancel_completion(&self, cancel: CancelCompletion) -> Result<(), LinkGone> {
        self.outgoing.push(&LlmDownFrame::CancelCompletion(cancel))
    }

    fn closed(&self, reason: LinkClosed) {
        self.outgoing.end(Ending::Closed(reason));
    }

    async fn sign_connect(&self, _: Option<PublicKey>, _: Ticket, _: Nonce) -> Option<Signature> {
        // The proof came with the opening; the key is at the other end.
        None
    }

    /// Sends funduq's answer before anything else can be sent; the provider checks it before it publishes.
    async fn confirm_connect(&self, ok: &ConnectOk) -> Result<(), WrongFunduq> {
        // The queue is new, so there is room.
        let _ = self.outgoing.push(&LlmDownFrame::ConnectOk(ok.clone()));
        Ok(())
    }
}
