//! The verbs of the ports with their signatures. Kept by hand, and `cargo xtask vectors --check` compares it with the
//! traits in the sources: a verb is published or it does not exist.

use std::collections::BTreeMap;

const PORTS: &[(&str, &[(&str, &str)])] = &[
    (
        "ConnectedLlmProvider",
        &[
            (
                "cancel_completion",
                "fn cancel_completion(&self, cancel: CancelCompletion) -> Result<(), LinkGone>",
            ),
            ("closed", "fn closed(&self, reason: LinkClosed)"),
            ("complete", "fn complete(&self, complete: Complete) -> Result<(), LinkGone>"),
            ("confirm_connect", "async fn confirm_connect(&self, ok: &ConnectOk) -> Result<(), WrongFunduq>"),
            ("public_key", "fn public_key(&self) -> PublicKey"),
            (
                "sign_connect",
                "async fn sign_connect(&self, funduq_key: Option<PublicKey>, ticket: Ticket, nonce: Nonce) -> Option<Signature>",
            ),
        ],
    ),
    (
        "ConnectedProvider",
        &[
            ("cancel", "fn cancel(&self, cancel: Cancel) -> Result<(), LinkGone>"),
            ("closed", "fn closed(&self, reason: LinkClosed)"),
            ("concurrency", "fn concurrency(&self) -> Option<u32>"),
            ("confirm_connect", "async fn confirm_connect(&self, ok: &ConnectOk) -> Result<(), WrongFunduq>"),
            ("deliver", "fn deliver(&self, offer: Offer) -> Result<(), LinkGone>"),
            ("public_key", "fn public_key(&self) -> PublicKey"),
            ("received", "fn received(&self, run_id: &RunId, number: u64)"),
            ("refused", "fn refused(&self, run_id: &RunId, error: PortError)"),
            (
                "sign_connect",
                "async fn sign_connect(&self, funduq_key: Option<PublicKey>, ticket: Ticket, nonce: Nonce) -> Option<Signature>",
            ),
        ],
    ),
    (
        "FunduqPort",
        &[
            ("ack", "async fn ack(&self, link: LinkId, ack: Ack) -> Result<(), PortError>"),
            (
                "answer",
                "async fn answer(&self, link: LinkId, run_id: &RunId, attempt: u32, verdict: Verdict) -> Result<(), PortError>",
            ),
            ("close", "async fn close(&self, link: LinkId)"),
            ("delete", "async fn delete(&self, link: LinkId, name: &AgentName) -> Result<(), PortError>"),
            ("finish", "async fn finish(&self, link: LinkId, run_id: &RunId) -> Result<(), PortError>"),
            (
                "open",
                "async fn open(&self, provider: Arc<dyn ConnectedProvider>, connect: Connect) -> Result<(LinkId, ConnectOk), ConnectErr>",
            ),
            (
                "register",
                "async fn register(&self, link: LinkId, agents: Vec<Registration>) -> Result<(), PortError>",
            ),
            (
                "report_event",
                "async fn report_event(&self, link: LinkId, run_id: &RunId, number: u64, event: Arc<str>) -> Result<(), PortError>",
            ),
            (
                "thread_messages",
                "async fn thread_messages(&self, link: LinkId, run_id: &RunId, limit: u32) -> Result<Vec<RelayedMessage>, PortError>",
            ),
        ],
    ),
    (
        "LlmPort",
        &[
            ("chunk", "async fn chunk(&self, link: LinkId, chunk: Chunk) -> Result<(), PortError>"),
            ("close_llm", "async fn close_llm(&self, link: LinkId)"),
            ("end", "async fn end(&self, link: LinkId, end: CompletionEnd) -> Result<(), PortError>"),
            (
                "failed",
                "async fn failed(&self, link: LinkId, failed: CompletionFailed) -> Result<(), PortError>",
            ),
            (
                "open_llm",
                "async fn open_llm(&self, provider: Arc<dyn ConnectedLlmProvider>, connect: Connect) -> Result<(LinkId, ConnectOk), ConnectErr>",
            ),
            (
                "register_llm",
                "async fn register_llm(&self, link: LinkId, offerings: LlmRegistration) -> Result<(), PortError>",
            ),
        ],
    ),
];

pub(super) fn ports() -> BTreeMap<String, BTreeMap<String, String>> {
    PORTS.iter().map(|(port, list)| ((*port).to_owned(), verbs(list))).collect()
}

fn verbs(list: &[(&str, &str)]) -> BTreeMap<String, String> {
    list.iter().map(|(verb, signature)| ((*verb).to_owned(), (*signature).to_owned())).collect()
}
