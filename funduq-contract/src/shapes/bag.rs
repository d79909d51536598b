//! The caller's bag: what a caller may say to funduq, and under which keys.
//!
//! On AG-UI the bag is `forwardedProps`, on A2A it is the `metadata` of the request. A caller may leave all of it out, and
//! whatever it puts in reaches the agent as sent. Unknown members of these objects are let be: they come from callers, who may be
//! newer.

use crate::chain::ActorChain;
use crate::ids::AgentAddress;
use crate::keys::Signature;
use crate::raw::RawJson;
use funduq_agui::RawObject;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The interjection extension, as an agent card declares it.
pub const INTERJECTION_EXTENSION: &str = "https://github.com/hukaichun/funduq/ext/interjection/v1";
/// The key of an interjection's target: the id of the run or task whose turn it asks to join.
pub const ADDRESSED_RUN_ID: &str = "https://github.com/hukaichun/funduq/ext/interjection/v1/addressedRunId";

/// The whole bag, as far as funduq reads it. Any other key is between the caller and the agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallerBag {
    /// Through whose hands the request came; presented by the party that signed its last hop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_chain: Option<ActorChain>,
    /// Which LLM offering the run may spend with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kyok: Option<KyokOptIn>,
    /// The right to answer an ask on a bound thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<ResolutionProof>,
    /// The right to cancel a run on a bound thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<CancelProof>,
    /// The run or task whose turn the caller asks to join.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        rename = "https://github.com/hukaichun/funduq/ext/interjection/v1/addressedRunId"
    )]
    pub addressed_run_id: Option<crate::ids::RunId>,
}

/// A key of the bag that has the wrong shape.
#[derive(Debug, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct InvalidBag {
    /// The key.
    pub key: &'static str,
    /// What is wrong with its value.
    pub problem: serde_json::Error,
}

impl CallerBag {
    /// Reads the keys that are funduq's business; they and all others stay where they are.
    ///
    /// # Errors
    /// [`InvalidBag`] with the first key whose value has the wrong shape.
    pub fn read(bag: &RawObject) -> Result<Self, InvalidBag> {
        Ok(Self {
            actor_chain: member(bag, "actorChain")?,
            kyok: member(bag, "kyok")?,
            resolution: member(bag, "resolution")?,
            cancel: member(bag, "cancel")?,
            addressed_run_id: member(bag, ADDRESSED_RUN_ID)?,
        })
    }
}

fn member<T: DeserializeOwned>(bag: &RawObject, key: &'static str) -> Result<Option<T>, InvalidBag> {
    let Some(raw) = bag.get(key) else { return Ok(None) };
    serde_json::from_str(raw.get()).map(Some).map_err(|problem| InvalidBag { key, problem })
}

/// The proof that answers an ask on a bound thread: a signature of the thread's head or of its provider over the
/// `resolution` payload of the waiting task and its open asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolutionProof {
    /// The signature.
    pub signature: Signature,
}

/// The proof that cancels a run on a bound thread: a signature of the thread's head or of its provider over the
/// `cancel` payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelProof {
    /// The time that was signed, in Unix seconds; at most a minute away from funduq's clock.
    pub timestamp: i64,
    /// The signature.
    pub signature: Signature,
}

/// A caller binds its run to an LLM offering. It covers this one run and nothing that follows from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KyokOptIn {
    /// Whose offering, and its name.
    pub llm_provider: AgentAddress,
    /// Anything that the LLM provider should see with each call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<RawJson>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interjections_key_is_the_extensions_own() {
        assert_eq!(ADDRESSED_RUN_ID, format!("{INTERJECTION_EXTENSION}/addressedRunId"));
    }

    #[test]
    fn the_bag_reads_its_keys_and_lets_the_others_be() {
        let json = serde_json::json!({
            "resolution": {"signature": "00".repeat(64), "later": 1},
            "cancel": {"timestamp": 5, "signature": "00".repeat(64)},
            ADDRESSED_RUN_ID: "r",
            "voucher": {"any": "thing"},
        });
        let bag: RawObject = serde_json::from_value(json).unwrap();
        let bag = CallerBag::read(&bag).unwrap();
        assert_eq!(bag.cancel.unwrap().timestamp, 5);
        assert_eq!(bag.addressed_run_id.unwrap().as_str(), "r");
        assert!(bag.resolution.is_some() && bag.kyok.is_none());
    }

    #[test]
    fn a_key_of_the_wrong_shape_is_named() {
        let bag: RawObject = serde_json::from_str(r#"{"cancel":{"timestamp":"now"}}"#).unwrap();
        let error = CallerBag::read(&bag).unwrap_err();
        assert_eq!(error.key, "cancel");
    }
}
