//! Who is calling, as far as it was proven: the chain they present and the key that the transport authenticated.

use funduq_agui::RawObject;
use funduq_contract::{ActorChain, AgentAddress, CallerBag, PublicKey, RESERVED_KEY, VerifiedChain};

use crate::error::{DoorError, InvalidChain};

/// Reads what a caller says to funduq, and takes the one reserved key out of the bag. `place` is what the door calls its
/// bag, for errors.
pub(crate) fn take_bag(place: &str, bag: &mut RawObject) -> Result<CallerBag, DoorError> {
    bag.remove(RESERVED_KEY);
    CallerBag::read(bag).map_err(|invalid| DoorError::InvalidInput {
        field: format!("{place}.{}", invalid.key),
        problem: invalid.problem.to_string(),
    })
}

/// Who is calling.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// Whom the transport authenticated.
    pub(crate) presenter: Option<PublicKey>,
    /// The chain that they present, and may present.
    pub(crate) chain: Option<(ActorChain, VerifiedChain)>,
}

impl Caller {
    /// Verifies the chain of a bag against who is at the door.
    pub(crate) fn verify(chain: Option<ActorChain>, presenter: Option<PublicKey>) -> Result<Self, DoorError> {
        let Some(chain) = chain else { return Ok(Self { presenter, chain: None }) };
        let presenter_key = presenter.ok_or(DoorError::PresenterRequired)?;
        let verified = chain.verify().map_err(InvalidChain::Chain)?;
        let last = verified.last();
        if last != presenter_key {
            return Err(InvalidChain::NotPresentedByItsLastHop { last, presenter: presenter_key }.into());
        }
        Ok(Self { presenter, chain: Some((chain, verified)) })
    }

    /// The key that the caller's words come from in the end.
    pub(crate) fn head(&self) -> Option<PublicKey> {
        self.chain.as_ref().map(|(_, verified)| verified.head())
    }

    /// Whether the caller comes under one of a bound thread's two keys.
    pub(crate) fn comes_under(&self, head: &PublicKey, agent: &AgentAddress) -> bool {
        let authorities = [*head, agent.provider];
        [self.presenter, self.head()].into_iter().flatten().any(|key| authorities.contains(&key))
    }
}
