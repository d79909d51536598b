//! One attempt at a link: ticket, connection, the handshake over it.

use std::sync::Arc;
use std::time::Duration;

use funduq_contract::{ConnectErr, ConnectOk, ConnectRefusal, DownFrame, PublicKey, UpFrame, WrongFunduq};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::MaybeTlsStream;

use super::dial::Dialer;
use super::error::LinkError;
use super::http::{Http, HttpError};
use super::socket::{Lost, Reader, Writer, split};
use crate::handshake::Handshake;
use crate::identity::ProviderIdentity;

/// How long funduq may take to answer the opening.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// How long an opening that nobody answered may still be carried out: the life of its ticket, and some.
const STRAY_FOR: Duration = Duration::from_secs(65);

/// Everything that an opening needs, for as long as the process lives.
pub(super) struct Opener {
    pub(super) identity: ProviderIdentity,
    pub(super) pinned: Option<PublicKey>,
    pub(super) concurrency: Option<u32>,
    pub(super) dialer: Dialer,
    pub(super) http: Http,
    /// Without a pin: the key that this funduq named first, and is held to from then on.
    pub(super) first_seen: OnceCell<Option<PublicKey>>,
}

/// An open link, before anything is published on it.
pub(super) struct Opened<S> {
    pub(super) reader: Reader<S>,
    pub(super) writer: Writer<S>,
    pub(super) ok: ConnectOk,
}

/// Why an attempt came to nothing.
#[derive(Debug)]
pub(super) enum Failed {
    Final(LinkError),
    Temporary {
        problem: String,
        /// Until then the opening may still arrive and take the place of a later one.
        stray_until: Option<Instant>,
    },
}

impl From<HttpError> for Failed {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Final(error) => Self::Final(error),
            HttpError::Temporary(problem) => Self::temporary(problem),
        }
    }
}

impl Failed {
    fn temporary(problem: impl Into<String>) -> Self {
        Self::Temporary { problem: problem.into(), stray_until: None }
    }

    fn unanswered(problem: impl Into<String>) -> Self {
        Self::Temporary { problem: problem.into(), stray_until: Some(Instant::now() + STRAY_FOR) }
    }
}

impl Opener {
    pub(super) async fn open(
        self: &Arc<Self>,
        path: &str,
    ) -> Result<Opened<MaybeTlsStream<TcpStream>>, Failed> {
        let funduq_key = match self.pinned {
            Some(pinned) => Some(pinned),
            None => *self.first_seen.get_or_try_init(|| self.http.funduq_key()).await?,
        };
        let ticket = self.http.ticket(self.identity.public_key()).await?;
        let socket = self.dialer.dial(path).await.map_err(Failed::temporary)?;
        let (reader, writer) = split(socket);
        let (handshake, connect) = Handshake::begin(&self.identity, funduq_key, ticket, self.concurrency);
        let connect = UpFrame::Connect(connect).to_text();
        match (greet(reader, writer, &handshake, connect).await, funduq_key) {
            (Err(Failed::Final(LinkError::Refused(refusal))), Some(named))
                if refusal.code == ConnectRefusal::BadProof =>
            {
                Err(Failed::Final(self.whose_proof_was_refused(named, refusal).await))
            }
            (opened, _) => opened,
        }
    }

    /// The proof names a key, so it holds at that funduq and at no other: which one was it that refused it?
    async fn whose_proof_was_refused(&self, named: PublicKey, refusal: ConnectErr) -> LinkError {
        let pinned = named.fingerprint();
        match self.http.funduq_key().await {
            Ok(Some(found)) if found == named => LinkError::Refused(refusal),
            Ok(Some(found)) => WrongFunduq::OtherKey { pinned, found: found.fingerprint() }.into(),
            Ok(None) | Err(_) => WrongFunduq::NoProof { pinned }.into(),
        }
    }
}

/// Sends the opening and judges the answer.
pub(super) async fn greet<S: AsyncRead + AsyncWrite + Unpin>(
    mut reader: Reader<S>,
    mut writer: Writer<S>,
    handshake: &Handshake,
    connect: String,
) -> Result<Opened<S>, Failed> {
    let said = async {
        writer.feed(connect).await?;
        writer.flush().await?;
        reader.next().await
    };
    let answer = match timeout(ANSWER_WITHIN, said).await {
        Err(_) => return Err(Failed::unanswered("funduq did not answer the opening")),
        Ok(Err(Lost::Closed(reason))) => return Err(Failed::unanswered(format!("closed: {reason}"))),
        Ok(Err(Lost::Broken(problem))) => return Err(Failed::unanswered(problem)),
        Ok(Ok(answer)) => answer,
    };
    // Both kinds of links are opened in the same words.
    match DownFrame::from_text(&answer) {
        Ok(DownFrame::ConnectOk(ok)) => match handshake.confirm(&ok) {
            Ok(()) => Ok(Opened { reader, writer, ok }),
            Err(wrong) => {
                writer.close().await;
                Err(Failed::Final(wrong.into()))
            }
        },
        Ok(DownFrame::ConnectErr(refusal)) if refusal.code.is_temporary() => {
            Err(Failed::temporary(refusal.to_string()))
        }
        Ok(DownFrame::ConnectErr(refusal)) => Err(Failed::Final(LinkError::Refused(refusal))),
        Ok(other) => Err(Failed::temporary(format!("funduq answered the opening with {}", other.kind()))),
        Err(error) => Err(Failed::temporary(format!("funduq's answer to the opening: {error}"))),
    }
}
