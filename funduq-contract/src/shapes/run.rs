//! A run on its way down, the answer to the offer, and the request to stop.

use crate::ids::{AgentName, RunId, ThreadId};
use funduq_agui::RelayedInput;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// funduq offers a run to the provider that serves its agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Offer {
    /// Which offer of this run it is, from 1. The answer repeats it, so that one to an earlier offer matches nothing.
    #[serde(deserialize_with = "super::at_least_one")]
    #[schemars(range(min = 1))]
    pub attempt: u32,
    /// The run.
    pub run: DeliveredRun,
}

/// A run as it reaches the provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeliveredRun {
    /// The run's id, which is funduq's.
    pub run_id: RunId,
    /// The thread's id, which is funduq's.
    pub thread_id: ThreadId,
    /// Which of the provider's agents is meant.
    pub agent_name: AgentName,
    /// The AG-UI run input: the caller's, under funduq's ids, with what funduq has to say under
    /// `forwardedProps.funduq`.
    pub input: RelayedInput,
}

/// A provider's answer to an offer. It comes from the provider's own state, at once, and asks the agent nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "VerdictFields", try_from = "VerdictFields")]
pub enum Verdict {
    /// The run is the provider's now.
    Accepted,
    /// No room; the run is offered again when something may have changed.
    Declined,
    /// Never; the run fails with these words.
    Refused {
        /// The provider's own words, for the record and the caller.
        reason: String,
    },
}

/// The word and, on a refusal only, the reason: how a verdict is spelled inside whatever carries it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct VerdictFields {
    pub(crate) verdict: VerdictWord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum VerdictWord {
    Accepted,
    Declined,
    Refused,
}

impl From<Verdict> for VerdictFields {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Accepted => Self { verdict: VerdictWord::Accepted, reason: None },
            Verdict::Declined => Self { verdict: VerdictWord::Declined, reason: None },
            Verdict::Refused { reason } => Self { verdict: VerdictWord::Refused, reason: Some(reason) },
        }
    }
}

impl TryFrom<VerdictFields> for Verdict {
    type Error = &'static str;

    fn try_from(fields: VerdictFields) -> Result<Self, Self::Error> {
        match (fields.verdict, fields.reason) {
            (VerdictWord::Accepted, None) => Ok(Self::Accepted),
            (VerdictWord::Declined, None) => Ok(Self::Declined),
            (VerdictWord::Refused, Some(reason)) => Ok(Self::Refused { reason }),
            (VerdictWord::Refused, None) => Err("a refusal needs a reason"),
            (VerdictWord::Accepted | VerdictWord::Declined, Some(_)) => Err("only a refusal has a reason"),
        }
    }
}

impl JsonSchema for Verdict {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Verdict".into()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        concat!(module_path!(), "::Verdict").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        verdict_schema(&json_schema!({ "type": "object", "properties": {}, "required": [] }))
    }
}

/// The schema of something that holds these fields and a verdict beside them.
pub(crate) fn verdict_schema(beside: &Schema) -> Schema {
    let word = |words: &[&str], with_reason: bool| {
        let mut schema = beside.clone();
        schema.insert("additionalProperties".to_owned(), false.into());
        if let Some(properties) = schema.get_mut("properties").and_then(serde_json::Value::as_object_mut) {
            properties.insert("verdict".to_owned(), serde_json::json!({ "type": "string", "enum": words }));
            if with_reason {
                properties.insert("reason".to_owned(), serde_json::json!({ "type": "string" }));
            }
        }
        if let Some(required) = schema.get_mut("required").and_then(serde_json::Value::as_array_mut) {
            required.push("verdict".into());
            if with_reason {
                required.push("reason".into());
            }
        }
        schema
    };
    json_schema!({
        "description": "accepted: the provider holds the run; declined: no room now; refused: never, with the reason",
        "oneOf": [word(&["accepted", "declined"], false), word(&["refused"], true)],
    })
}

/// funduq asks the provider to stop a run. A request: what then happens is what is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cancel {
    /// The run.
    pub run_id: RunId,
}

/// The receipt of a [`Cancel`]: it arrived, and this is whether the provider holds that run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ack {
    /// The run.
    pub run_id: RunId,
    /// Whether the provider holds it; a provider that does not will report nothing more of it.
    pub held: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_answers_survive_the_wire() {
        for (verdict, json) in [
            (Verdict::Accepted, r#"{"verdict":"accepted"}"#),
            (Verdict::Declined, r#"{"verdict":"declined"}"#),
            (Verdict::Refused { reason: "no".to_owned() }, r#"{"verdict":"refused","reason":"no"}"#),
        ] {
            assert_eq!(serde_json::to_string(&verdict).unwrap(), json);
            assert_eq!(serde_json::from_str::<Verdict>(json).unwrap(), verdict);
        }
    }

    #[test]
    fn an_answer_that_is_none_of_the_three_is_refused() {
        for json in [
            r#"{"verdict":"maybe"}"#,
            r#"{"verdict":"refused"}"#,
            r#"{"verdict":"accepted","reason":"x"}"#,
            r#"{"verdict":"accepted","extra":1}"#,
            r#"{}"#,
        ] {
            assert!(serde_json::from_str::<Verdict>(json).is_err(), "{json}");
        }
    }
}
