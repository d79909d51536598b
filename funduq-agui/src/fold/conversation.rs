//! The messages of a run as its events build them.

use std::collections::HashMap;

use super::call::Call;
use super::draft::{Body, Draft};
use crate::json::Members;
use crate::patch::JsonPatchOperation;

/// A message's place in the conversation.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) id: Option<String>,
    pub(super) role: String,
    /// The message as it came, while no event has changed it.
    pub(super) raw: Option<String>,
    /// Whether it is the thread's, from before the run.
    pub(super) earlier: bool,
    pub(super) draft: Draft,
    /// Tool results that follow it.
    pub(super) results: Vec<usize>,
    /// Whether it is among another's results.
    pub(super) follows: bool,
}

/// The messages, by first appearance, and the tool calls they hold. All look-ups
/// are by map: how many there are is the provider's choice.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation {
    pub(super) slots: Vec<Slot>,
    pub(super) by_id: HashMap<String, usize>,
    pub(super) calls: Vec<Call>,
    pub(super) call_by_id: HashMap<String, usize>,
    /// The message that holds a call, by the call's place.
    pub(super) holders: HashMap<usize, usize>,
}

impl Conversation {
    /// A text message begins, or goes on.
    pub(super) fn open_text(&mut self, id: Option<&str>, event: &Members<'_>) {
        let role = event.get("role").unwrap_or("\"assistant\"");
        let role_text = event.text("role").unwrap_or("assistant".into());
        self.open(id, role, &role_text, event);
    }

    /// A reasoning message begins, or goes on.
    pub(super) fn open_reasoning(&mut self, id: Option<&str>, event: &Members<'_>) {
        self.open(id, "\"reasoning\"", "reasoning", event);
    }

    fn open(&mut self, id: Option<&str>, role: &str, role_text: &str, event: &Members<'_>) {
        let (Some(id), Some(raw_id)) = (id, id.map(crate::json::encode)) else { return };
        let raw_id = event.get("messageId").unwrap_or(&raw_id);
        let place = match self.by_id.get(id) {
            Some(place) => *place,
            None => {
                let mut draft = Draft { content: Some(Body::Text(String::new())), ..Draft::default() };
                draft.rest =
                    members([("id", Some(raw_id)), ("role", Some(role)), ("name", event.get("name"))]);
                draft.subagent_run_id = event.get("subagentRunId").map(str::to_owned);
                self.add(Some(id.to_owned()), role_text, draft)
            }
        };
        if let Some(metadata) = event.get("metadata")
            && let Some(draft) = self.text_draft(place)
        {
            draft.metadata.merge(metadata);
        }
    }

    /// A message goes on or ends: its text and its metadata grow.
    pub(super) fn append(&mut self, id: Option<&str>, event: &Members<'_>) {
        let Some(place) = id.and_then(|id| self.by_id.get(id)).copied() else { return };
        let (delta, metadata) = (event.body("delta"), event.get("metadata"));
        if delta.is_none() && metadata.is_none() {
            return;
        }
        let Some(draft) = self.text_draft(place) else { return };
        if let Some(delta) = delta {
            draft.append(delta);
        }
        if let Some(metadata) = metadata {
            draft.metadata.merge(metadata);
        }
    }

    /// A tool call begins. One that is there already is not begun twice.
    pub(super) fn open_call(&mut self, id: Option<&str>, event: &Members<'_>) {
        let Some(id) = id else { return };
        let name = event.get("toolCallName").unwrap_or("\"\"");
        let place = match self.call_by_id.get(id).copied() {
            Some(place) => {
                self.touch_holder(place);
                name.clone_into(&mut self.calls[place].name);
                self.calls[place].started = true;
                place
            }
            None => {
                let holder = self.holder_of_new_call(id, event);
                let place = self.calls.len();
                let raw_id = event.get("toolCallId").map_or_else(|| crate::json::encode(id), str::to_owned);
                self.calls.push(Call::new(&raw_id, name));
                self.call_by_id.insert(id.to_owned(), place);
                self.holders.insert(place, holder);
                self.draft(holder).calls.push(place);
                place
            }
        };
        self.calls[place].metadata.merge(event.get("metadata").unwrap_or_default());
    }

    /// The assistant message that a call names as its parent, or one made for it.
    fn holder_of_new_call(&mut self, id: &str, event: &Members<'_>) -> usize {
        let parent = event.text("parentMessageId");
        let named = parent.as_deref().and_then(|parent| self.by_id.get(parent)).copied();
        if let Some(place) = named
            && self.slots[place].role == "assistant"
        {
            return place;
        }
        // A parent that is no assistant's message cannot hold a call: the call's own id serves.
        let own = match parent {
            Some(parent) if named.is_none() => parent.into_owned(),
            _ => id.to_owned(),
        };
        let draft = Draft {
            rest: members([("id", Some(&*crate::json::encode(&own))), ("role", Some("\"assistant\""))]),
            subagent_run_id: event.get("subagentRunId").map(str::to_owned),
            ..Draft::default()
        };
        self.add(Some(own), "assistant", draft)
    }

    /// A tool call goes on or ends: its arguments and its metadata grow.
    pub(super) fn append_to_call(&mut self, id: Option<&str>, event: &Members<'_>) {
        let Some(place) = id.and_then(|id| self.call_by_id.get(id)).copied() else { return };
        self.touch_holder(place);
        let call = &mut self.calls[place];
        call.arguments.push_str(event.body("delta").unwrap_or_default());
        call.metadata.merge(event.get("metadata").unwrap_or_default());
    }

    /// A tool returned: a message of its own, after the one that called it.
    pub(super) fn result(&mut self, event: &Members<'_>) {
        let Some(id) = event.text("messageId") else { return };
        let call = event.text("toolCallId").and_then(|call| self.call_by_id.get(&*call)).copied();
        let mut draft = Draft {
            rest: members([
                ("id", event.get("messageId")),
                ("role", Some("\"tool\"")),
                ("toolCallId", event.get("toolCallId")),
            ]),
            content: event.get("content").map(|content| Body::Raw(content.to_owned())),
            subagent_run_id: event.get("subagentRunId").map(str::to_owned),
            ..Draft::default()
        };
        draft.metadata.merge(event.get("metadata").unwrap_or_default());
        if let Some(call) = call {
            self.calls[call].answered = true;
        }
        if let Some(place) = self.by_id.get(&*id)
            && self.slots[*place].role == "tool"
        {
            let slot = &mut self.slots[*place];
            (slot.raw, slot.draft) = (None, draft);
            return;
        }
        let place = self.add(Some(id.into_owned()), "tool", draft);
        if let Some(holder) = call.and_then(|call| self.holders.get(&call)) {
            self.slots[*holder].results.push(place);
            self.slots[place].follows = true;
        }
    }

    /// An activity's content comes whole.
    pub(super) fn activity(&mut self, event: &Members<'_>) {
        let Some(id) = event.text("messageId") else { return };
        let replaces = event.get("replace") != Some("false");
        let found = self.by_id.get(&*id).copied();
        let is_activity = found.is_some_and(|place| self.slots[place].role == "activity");
        let place = match found {
            Some(place) if !replaces && !is_activity => return self.merge_metadata(place, event),
            Some(place) => place,
            None => self.add(Some(id.into_owned()), "activity", Draft::default()),
        };
        if found.is_none() || replaces {
            let slot = &mut self.slots[place];
            if !is_activity {
                // Another kind of message gives its place to the activity.
                (slot.raw, slot.draft) = (None, Draft::default());
                "activity".clone_into(&mut slot.role);
                slot.draft.rest = members([("id", event.get("messageId")), ("role", Some("\"activity\""))]);
            }
            let draft = self.draft(place);
            draft.activity_type = event.get("activityType").map(str::to_owned);
            draft.content = event.get("content").map(|content| Body::Raw(content.to_owned()));
            draft.subagent_run_id = event.get("subagentRunId").map(str::to_owned);
        }
        self.merge_metadata(place, event);
    }

    /// An activity's content changes; without a patch that can be read, its metadata alone.
    pub(super) fn change_activity(&mut self, event: &Members<'_>, patch: Option<&[JsonPatchOperation]>) {
        let place = event.text("messageId").and_then(|id| self.by_id.get(&*id)).copied();
        let Some(place) = place.filter(|place| self.slots[*place].role == "activity") else { return };
        self.merge_metadata(place, event);
        let draft = self.draft(place);
        if patch.is_some_and(|patch| draft.patch(patch)) {
            draft.activity_type = event.get("activityType").map(str::to_owned);
        }
    }

    /// A model provider's encrypted value, for a message or a tool call.
    pub(super) fn encrypted_value(&mut self, event: &Members<'_>) {
        let Some(id) = event.text("entityId") else { return };
        let value = event.get("encryptedValue").map(str::to_owned);
        if event.text("subtype").as_deref() == Some("tool-call") {
            if let Some(place) = self.call_by_id.get(&*id).copied() {
                self.touch_holder(place);
                self.calls[place].encrypted_value = value;
            }
        } else if let Some(place) = self.by_id.get(&*id).copied()
            && let Some(draft) = self.text_draft(place)
        {
            draft.encrypted_value = value;
        }
    }

    /// The messages that the run made or changed, as JSON, in order.
    pub(super) fn finished(&self) -> Vec<String> {
        let slots = self.order().into_iter().map(|place| &self.slots[place]);
        let new = slots.filter(|slot| !slot.earlier || slot.raw.is_none());
        new.map(|slot| slot.raw.clone().unwrap_or_else(|| slot.draft.to_json(&self.calls))).collect()
    }

    /// The places of the messages in order: each followed by the results of its calls.
    pub(super) fn order(&self) -> Vec<usize> {
        let heads = self.slots.iter().enumerate().filter(|(_, slot)| !slot.follows);
        let group = |(place, slot): (usize, &Slot)| [vec![place], slot.results.clone()].concat();
        heads.flat_map(group).collect()
    }

    /// Adds a message at the end. An id that is there already keeps naming its first message.
    pub(super) fn add(&mut self, id: Option<String>, role: &str, draft: Draft) -> usize {
        let place = self.slots.len();
        if let Some(id) = id.clone() {
            self.by_id.entry(id).or_insert(place);
        }
        let role = role.to_owned();
        self.slots.push(Slot {
            id,
            role,
            raw: None,
            earlier: false,
            draft,
            results: Vec::new(),
            follows: false,
        });
        place
    }

    /// A message to change, unless it is an activity, which has no text to grow.
    fn text_draft(&mut self, place: usize) -> Option<&mut Draft> {
        (self.slots[place].role != "activity").then(|| self.draft(place))
    }

    fn merge_metadata(&mut self, place: usize, event: &Members<'_>) {
        if let Some(metadata) = event.get("metadata") {
            self.draft(place).metadata.merge(metadata);
        }
    }

    fn touch_holder(&mut self, call: usize) {
        if let Some(holder) = self.holders.get(&call).copied() {
            self.draft(holder);
        }
    }
}

/// The members that are there.
fn members<const N: usize>(members: [(&str, Option<&str>); N]) -> Vec<(String, String)> {
    let there = members.into_iter().filter_map(|(key, value)| Some((key, value?)));
    there.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}
