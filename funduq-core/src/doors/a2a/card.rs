//! The agent card: what the provider published of its agent, and what funduq's door does for it (A2A 1.0 §4.4).

use funduq_a2a::{
    AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill, WireMessage,
    media_type,
};
use funduq_agui::RawObject;
use funduq_contract::INTERJECTION_EXTENSION;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::intake::TEXT;
use crate::record::AgentRecord;

/// The version of an agent whose provider names none: A2A requires one.
const VERSION: &str = "1.0.0";

/// The card of an agent. The interfaces are the host's, who alone knows where it is reached; so is what it says of security:
/// the host alone knows whom it lets in.
///
/// Of what the provider published beside name and description, these go in, each if it is what A2A says it is:
/// `version`, `skills` (one by one), `provider`, `documentationUrl`, `iconUrl`. The rest would be a promise that
/// funduq's door does not keep.
pub(super) fn card(agent: &AgentRecord, interfaces: Vec<AgentInterface>) -> AgentCard {
    let empty = RawObject::new();
    let extra = Extra { members: agent.agent_card_extra.as_ref().unwrap_or(&empty), agent };
    AgentCard {
        name: agent.address.name.as_str().to_owned(),
        description: agent.description.clone(),
        supported_interfaces: interfaces,
        provider: extra.member("provider", read::<AgentProvider>),
        version: extra.member("version", text).unwrap_or_else(|| VERSION.to_owned()),
        documentation_url: extra.member("documentationUrl", text),
        icon_url: extra.member("iconUrl", text),
        capabilities: AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(false),
            extensions: agent.takes_interjections.then(interjection).into_iter().collect(),
            extended_agent_card: None,
        },
        default_input_modes: vec![TEXT.to_owned()],
        default_output_modes: vec![TEXT.to_owned()],
        skills: extra.skills(),
        ..AgentCard::default()
    }
}

fn interjection() -> AgentExtension {
    AgentExtension {
        uri: Some(INTERJECTION_EXTENSION.to_owned()),
        description: Some(
            "A message may ask to join a turn in flight: name the task in the request's metadata under \
             <uri>/addressedRunId. The agent judges."
                .to_owned(),
        ),
        required: false,
        params: None,
    }
}

/// Card members as the provider published them.
struct Extra<'a> {
    members: &'a RawObject,
    agent: &'a AgentRecord,
}

impl Extra<'_> {
    fn member<T>(&self, name: &str, read: impl Fn(&RawValue) -> Result<T, String>) -> Option<T> {
        let raw = self.members.get(name).filter(|raw| raw.get() != "null")?;
        read(raw).map_err(|problem| self.left_out(name, &problem)).ok()
    }

    fn skills(&self) -> Vec<AgentSkill> {
        let raw = self.member("skills", read::<Vec<Box<RawValue>>>).unwrap_or_default();
        let skills = raw.iter().enumerate().filter_map(|(at, raw)| {
            AgentSkill::from_raw(raw)
                .map_err(|problem| self.left_out(&format!("skills[{at}]"), &problem.to_string()))
                .ok()
        });
        // Other media types never reach the agent, whatever its skills would take.
        let text_only = |modes: &mut Vec<String>| modes.retain(|mode| media_type::is_accepted(TEXT, &[mode]));
        skills
            .map(|mut skill| {
                text_only(&mut skill.input_modes);
                text_only(&mut skill.output_modes);
                if !skill.security_requirements.is_empty() {
                    skill.security_requirements.clear();
                    self.left_out(
                        &format!("skill {}", skill.id),
                        "whom the door lets in is the host's to say",
                    );
                }
                skill
            })
            .collect()
    }

    fn left_out(&self, member: &str, problem: &str) {
        let agent = &self.agent.address;
        tracing::warn!(%agent, member, problem, "a member that the provider published is not in the agent card");
    }
}

fn read<T: DeserializeOwned>(raw: &RawValue) -> Result<T, String> {
    serde_json::from_str(raw.get()).map_err(|error| error.to_string())
}

/// A text with something in it.
fn text(raw: &RawValue) -> Result<String, String> {
    read::<String>(raw).and_then(|text| match text.trim() {
        "" => Err("it is empty".to_owned()),
        _ => Ok(text),
    })
}

#[cfg(test)]
#[path = "card_tests.rs"]
mod tests;
