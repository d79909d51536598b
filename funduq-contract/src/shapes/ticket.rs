//! How a ticket is asked for and given out, on a channel apart from the link.

use crate::keys::PublicKey;
use crate::tickets::Ticket;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Asks for a ticket. Who may have one is the decision of whoever runs this funduq.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TicketRequest {
    /// The key that wants to open a link. Not proved here: a ticket is worthless to anybody else.
    pub public_key: PublicKey,
}

/// A ticket for one opening by one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TicketIssued {
    /// The ticket.
    pub ticket: Ticket,
    /// How long it is good for, in seconds from now.
    pub expires_in_seconds: u64,
}
