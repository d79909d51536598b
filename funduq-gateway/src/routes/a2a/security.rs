//! What an agent card says of how a caller proves who it is (A2A 1.0 §4.5, §7.2): the truth, in a form that a stock client
//! does not misread, or nothing.
//!
//! A bearer token is one of A2A's schemes. A signed request (RFC 9421) and what a proxy asks of its own users are none:
//! no scheme of A2A's says either, and a client that took another for it would send a credential that is refused. Of those the
//! 401 tells, whose challenge names what is taken.

use std::collections::BTreeMap;

use funduq_a2a::{AgentCard, HttpAuthSecurityScheme, SecurityRequirement, SecurityScheme, StringList};

/// The scheme's name within the card.
const TOKEN: &str = "bearer";
/// For people.
const ABOUT: &str = "A token from whoever runs this relay. A request that is signed (RFC 9421) with a key of the \
                     caller's own needs none; the challenge of a 401 says how.";

/// Says in a card that a caller has to present a token.
pub(super) fn ask_for_token(card: &mut AgentCard) {
    let scheme = HttpAuthSecurityScheme {
        description: Some(ABOUT.to_owned()),
        scheme: "Bearer".to_owned(),
        bearer_format: None,
    };
    card.security_schemes.insert(TOKEN.to_owned(), SecurityScheme::HttpAuth(scheme));
    let schemes = BTreeMap::from([(TOKEN.to_owned(), StringList::default())]);
    card.security_requirements.push(SecurityRequirement { schemes });
}
