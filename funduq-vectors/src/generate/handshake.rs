//! One whole opening of a link: from the ticket to the first published agent.

use super::{MAIN, SECOND, identity};
use crate::model::{Channel, Handshake, HandshakeInputs, HandshakeStep, Party};
use funduq_contract::{
    AgentName, CONTRACT_REVISION, Connect, ConnectOk, DownFrame, Nonce, OkFrame, RegisterFrame, Registration,
    TICKET_SECONDS, Ticket, TicketIssued, TicketRequest, UpFrame,
};

pub(super) fn script() -> Handshake {
    let (provider, funduq) = (identity(MAIN), identity(SECOND));
    let (ticket, nonce) = (Ticket::from_bytes([0xb7; 16]), Nonce::from_bytes([0xc9; 16]));
    let connect = Connect::sign(&provider, Some(&funduq.public_key()), ticket, nonce, Some(4));
    let connect_ok = ConnectOk {
        funduq_public_key: Some(funduq.public_key()),
        answer: Some(funduq.sign_funduq_connect(&ticket, &nonce)),
        held_runs: vec![],
        revision: CONTRACT_REVISION,
    };
    let name = AgentName::new("translator").expect("a word is an agent name");
    let agent = Registration { description: "Translates.".to_owned(), ..Registration::new(name) };
    let ask = json(&TicketRequest { public_key: provider.public_key() });
    let issue = json(&TicketIssued { ticket, expires_in_seconds: TICKET_SECONDS });
    let register = UpFrame::Register(RegisterFrame { id: 1, agents: vec![agent] });
    let steps = [
        (
            Party::Provider,
            Channel::Tickets,
            "TicketRequest",
            ask,
            "funduq decides whether this key may serve here; that decision is the whole of admission.",
        ),
        (
            Party::Funduq,
            Channel::Tickets,
            "TicketIssued",
            issue,
            "The provider opens the link and draws a nonce of its own.",
        ),
        (
            Party::Provider,
            Channel::Link,
            "UpFrame",
            UpFrame::Connect(connect).to_text(),
            "funduq finds the ticket, compares its key with publicKey before it spends it, builds the provider-connect \
             payload with its own key and verifies proof. Anything else is answered connectErr and the link closes.",
        ),
        (
            Party::Funduq,
            Channel::Link,
            "DownFrame",
            DownFrame::ConnectOk(connect_ok).to_text(),
            "The provider compares funduqPublicKey with the key that it pinned and verifies answer over the \
             funduq-connect payload. On a mismatch it closes the link and has sent nothing.",
        ),
        (
            Party::Provider,
            Channel::Link,
            "UpFrame",
            register.to_text(),
            "funduq serves exactly these agents over this link from now on.",
        ),
        (
            Party::Funduq,
            Channel::Link,
            "DownFrame",
            DownFrame::Ok(OkFrame { id: 1 }).to_text(),
            "The link serves: offers may come.",
        ),
    ];
    Handshake {
        inputs: HandshakeInputs {
            provider: "main".to_owned(),
            funduq: "second".to_owned(),
            funduq_nonce: ticket.to_string(),
            provider_nonce: nonce.to_string(),
        },
        steps: steps.map(|(from, channel, shape, text, then)| step(from, channel, shape, text, then)).into(),
    }
}

fn step(from: Party, channel: Channel, shape: &str, text: String, then: &str) -> HandshakeStep {
    HandshakeStep { from, channel, shape: shape.to_owned(), text_utf8: text, then: then.to_owned() }
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("a shape always serialises")
}
