//! A provider that does what the test says: it keeps what it is handed and answers nothing by itself.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use funduq_contract::{
    Cancel, ConnectOk, ConnectedProvider, Identity, LinkClosed, LinkGone, Nonce, Offer, PortError, PublicKey,
    RunId, Signature, Ticket, WrongFunduq,
};
use tokio::sync::Notify;

/// What funduq did to the provider, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Heard {
    Offer(Box<Offer>),
    Cancel(RunId),
    Received(RunId, u64),
    Refused(RunId, PortError),
    Closed(LinkClosed),
}

pub(crate) struct Scripted {
    pub(crate) identity: Identity,
    concurrency: Option<u32>,
    doubts: bool,
    /// Nothing can be handed to it any more.
    cut: AtomicBool,
    heard: Mutex<Vec<Heard>>,
    news: Notify,
}

impl Scripted {
    pub(crate) fn new(identity: Identity, concurrency: Option<u32>) -> Self {
        Self {
            identity,
            concurrency,
            doubts: false,
            cut: AtomicBool::new(false),
            heard: Mutex::default(),
            news: Notify::new(),
        }
    }

    /// The same key again, for a test that signs as this provider's agent.
    pub(crate) fn identity_twin(&self) -> Identity {
        let twin = crate::bench::identity(1);
        assert_eq!(twin.public_key(), self.identity.public_key());
        twin
    }

    /// One that refuses to confirm whichever funduq answers.
    pub(crate) fn doubting(identity: Identity) -> Self {
        Self { doubts: true, ..Self::new(identity, None) }
    }

    /// Its connection breaks, and nobody has noticed.
    pub(crate) fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
    }

    fn hear(&self, heard: Heard) {
        self.heard.lock().unwrap().push(heard);
        self.news.notify_waiters();
    }

    /// Waits for the next thing heard that `wanted` takes, and forgets it.
    pub(crate) async fn expect<T>(&self, wanted: impl Fn(&Heard) -> Option<T>) -> T {
        loop {
            let news = self.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            {
                let mut heard = self.heard.lock().unwrap();
                if let Some((at, found)) =
                    heard.iter().enumerate().find_map(|(at, heard)| wanted(heard).map(|found| (at, found)))
                {
                    heard.remove(at);
                    return found;
                }
            }
            tokio::time::timeout(std::time::Duration::from_secs(3600), news)
                .await
                .expect("nothing came in an hour");
        }
    }

    pub(crate) async fn offer(&self) -> Offer {
        self.expect(|heard| match heard {
            Heard::Offer(offer) => Some((**offer).clone()),
            _ => None,
        })
        .await
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }
}

#[async_trait]
impl ConnectedProvider for Scripted {
    fn public_key(&self) -> PublicKey {
        self.identity.public_key()
    }

    fn concurrency(&self) -> Option<u32> {
        self.concurrency
    }

    fn deliver(&self, offer: Offer) -> Result<(), LinkGone> {
        if self.cut.load(Ordering::SeqCst) {
            return Err(LinkGone);
        }
        self.hear(Heard::Offer(Box::new(offer)));
        Ok(())
    }

    fn cancel(&self, cancel: Cancel) -> Result<(), LinkGone> {
        self.hear(Heard::Cancel(cancel.run_id));
        Ok(())
    }

    fn received(&self, run_id: &RunId, number: u64) {
        self.hear(Heard::Received(run_id.clone(), number));
    }

    fn refused(&self, run_id: &RunId, error: PortError) {
        self.hear(Heard::Refused(run_id.clone(), error));
    }

    fn closed(&self, reason: LinkClosed) {
        self.hear(Heard::Closed(reason));
    }

    async fn sign_connect(
        &self,
        funduq_key: Option<PublicKey>,
        ticket: Ticket,
        nonce: Nonce,
    ) -> Option<Signature> {
        Some(self.identity.sign_connect(funduq_key.as_ref(), &ticket, &nonce))
    }

    async fn confirm_connect(&self, ok: &ConnectOk) -> Result<(), WrongFunduq> {
        match (self.doubts, ok.funduq_public_key) {
            (true, Some(found)) => Err(WrongFunduq::OtherKey {
                pinned: self.identity.public_key().fingerprint(),
                found: found.fingerprint(),
            }),
            _ => Ok(()),
        }
    }
}
