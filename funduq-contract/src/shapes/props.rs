//! All that funduq writes into a run input: one object under one reserved key.

use crate::chain::ActorChain;
use crate::ids::RunId;
use funduq_agui::RawObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The key in `forwardedProps`, and in everybody's metadata, that is funduq's and nobody else's.
pub const RESERVED_KEY: &str = "funduq";

/// `forwardedProps.funduq`: what funduq tells the agent. The key is absent where there is nothing to say, and never
/// the caller's: funduq strips it from what a caller sends.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FunduqProps {
    /// The grant with which the agent may call the LLM that the caller opted in to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kyok: Option<KyokGrant>,
    /// The caller's chain with funduq's own dispatch hop at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_chain: Option<ActorChain>,
    /// The run in flight that the caller addressed its message to; whether it is joined is the agent's decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addressed_run_id: Option<RunId>,
}

impl FunduqProps {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What funduq says in these `forwardedProps`; nothing where the key is absent.
    ///
    /// # Errors
    /// Where the value under the key is not this shape: it comes from a funduq of another revision.
    pub fn read(forwarded_props: &RawObject) -> serde_json::Result<Self> {
        match forwarded_props.get(RESERVED_KEY) {
            None => Ok(Self::default()),
            Some(raw) => serde_json::from_str(raw.get()),
        }
    }

    /// Puts this under the reserved key, in the place of whatever stood there; takes the key out where there is
    /// nothing to say. Every other member stays as it is.
    pub fn write(&self, forwarded_props: &mut RawObject) {
        forwarded_props.remove(RESERVED_KEY);
        if !self.is_empty() {
            let raw = serde_json::value::to_raw_value(self).expect("a struct of strings always serialises");
            forwarded_props.insert(RESERVED_KEY, raw);
        }
    }
}

/// The grant of a run whose caller opted in to an LLM offering.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KyokGrant {
    /// The bearer token for funduq's OpenAI-compatible endpoint. Opaque; dies with its run.
    pub token: String,
}

/// The token opens somebody's wallet, so it never reaches a log.
impl std::fmt::Debug for KyokGrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KyokGrant(token hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_say_takes_the_key_out_and_leaves_the_rest() {
        let mut props: RawObject =
            serde_json::from_str(r#"{"a": 1,"funduq":{"planted":true},"b":2.0}"#).unwrap();
        assert!(FunduqProps::read(&props).is_err());
        FunduqProps::default().write(&mut props);
        assert_eq!(serde_json::to_string(&props).unwrap(), r#"{"a":1,"b":2.0}"#);
        assert!(FunduqProps::read(&props).unwrap().is_empty());
    }

    #[test]
    fn what_funduq_says_replaces_what_stood_there() {
        let mut props: RawObject = serde_json::from_str(r#"{"funduq":1,"b":2}"#).unwrap();
        let said = FunduqProps { addressed_run_id: Some("r".parse().unwrap()), ..FunduqProps::default() };
        said.write(&mut props);
        assert_eq!(serde_json::to_string(&props).unwrap(), r#"{"b":2,"funduq":{"addressedRunId":"r"}}"#);
        assert_eq!(FunduqProps::read(&props).unwrap(), said);
    }

    #[test]
    fn a_grants_token_is_not_in_the_debug_text() {
        let props =
            FunduqProps { kyok: Some(KyokGrant { token: "tok-secret".to_owned() }), ..Default::default() };
        assert!(!format!("{props:?}").contains("tok-secret"));
    }
}
