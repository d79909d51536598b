//! How a link ends, and what the other side is told.

use funduq_contract::{ConnectRefusal, LinkClosed};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// The code of a close that funduq decided on; its reason is a word that a machine can match.
const DECIDED: u16 = 4000;

/// Why a link ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The provider closed it, or its connection broke.
    Left,
    /// funduq let go of it.
    Closed(LinkClosed),
    /// The opening was refused.
    Refused(ConnectRefusal),
    /// No opening came in time.
    NoOpening,
    /// A message was too large.
    TooLarge,
    /// What came is no WebSocket message.
    NotWebSocket,
    /// Too much waited to be said.
    QueueFull,
    /// Nothing was heard for too long.
    Silent,
}

impl Ending {
    /// Its word, for the close frame and for the log.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Closed(reason) => reason.as_str(),
            Self::Refused(refusal) => refusal.as_str(),
            Self::NoOpening => "noOpening",
            Self::TooLarge => "messageTooLarge",
            Self::NotWebSocket => "protocolError",
            Self::QueueFull => "queueFull",
            Self::Silent => "silent",
        }
    }

    /// The frame that says so.
    pub(super) fn frame(self) -> CloseFrame {
        let code = match self {
            Self::TooLarge => CloseCode::Size,
            Self::NotWebSocket => CloseCode::Protocol,
            Self::Left => CloseCode::Normal,
            Self::Closed(_) | Self::Refused(_) | Self::NoOpening | Self::QueueFull | Self::Silent => {
                CloseCode::Library(DECIDED)
            }
        };
        CloseFrame { code, reason: self.word().into() }
    }
}
