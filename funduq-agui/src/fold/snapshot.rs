//! Messages that come whole: the thread's, from before the run, and those of a `MESSAGES_SNAPSHOT`.

use std::collections::HashMap;

use super::call::Call;
use super::conversation::{Conversation, Slot};
use super::draft::{Body, Draft};
use crate::json::{self, Members};

impl Conversation {
    /// Takes a message that the thread had before the run.
    pub(super) fn earlier(&mut self, message: &str) {
        self.place(Slot { earlier: true, ..Slot::of(message) });
    }

    /// Takes a snapshot as the stock client does: a message of the same id is replaced
    /// in its place, one the snapshot lacks is dropped, new ones come last. Activities
    /// and reasoning stay while the snapshot has none of their kind, as most agents
    /// keep none.
    pub(super) fn reconcile(&mut self, messages: &str) {
        let mut incoming: Vec<Option<Slot>> =
            json::items(messages).into_iter().map(|message| Some(Slot::of(message))).collect();
        let has = |role: &str| incoming.iter().flatten().any(|slot| slot.role == role);
        let (activities, reasoning) = (has("activity"), has("reasoning"));
        let by_id: HashMap<String, usize> = incoming
            .iter()
            .enumerate()
            .filter_map(|(place, slot)| Some((slot.as_ref()?.id.clone()?, place)))
            .collect();

        let order = self.order();
        let mut old: Vec<Option<Slot>> = std::mem::take(&mut self.slots).into_iter().map(Some).collect();
        let mut next = Vec::new();
        for slot in order.into_iter().filter_map(|place| old[place].take()) {
            match slot.id.as_ref().and_then(|id| by_id.get(id)) {
                Some(place) => {
                    let same = |new: &Slot| slot.earlier && slot.raw == new.raw;
                    next.extend(incoming[*place].take().map(|new| Slot { earlier: same(&new), ..new }));
                }
                None if slot.role == "activity" && !activities => next.push(slot),
                None if slot.role == "reasoning" && !reasoning => next.push(slot),
                None => {}
            }
        }
        next.extend(incoming.into_iter().flatten());

        self.by_id.clear();
        self.holders.clear();
        for mut slot in next {
            (slot.results, slot.follows) = (Vec::new(), false);
            self.place(slot);
        }
    }

    /// Adds a message that is there, and notes the calls it holds and answers.
    fn place(&mut self, slot: Slot) {
        let place = self.slots.len();
        if let Some(id) = slot.id.clone() {
            self.by_id.entry(id).or_insert(place);
        }
        if let Some(raw) = &slot.raw {
            let message = Members::of(raw);
            if slot.role == "assistant" {
                for call in json::items(message.get("toolCalls").unwrap_or_default()) {
                    let call = self.note_call(Call::of(call));
                    self.holders.insert(call, place);
                }
            }
            if slot.role == "tool"
                && let Some(id) = message.text("toolCallId")
                && let Some(call) = self.call_by_id.get(&*id)
            {
                self.calls[*call].answered = true;
            }
        }
        self.slots.push(slot);
    }

    /// Takes a call as the snapshot has it; what this run did with it stays known.
    fn note_call(&mut self, mut call: Call) -> usize {
        let id = call.id_text();
        match self.call_by_id.get(&id) {
            Some(place) => {
                let old = &mut self.calls[*place];
                (call.started, call.answered) = (old.started, old.answered);
                *old = call;
                *place
            }
            None => {
                let place = self.calls.len();
                self.calls.push(call);
                self.call_by_id.insert(id, place);
                place
            }
        }
    }

    /// A message to change: one that came whole is taken apart first.
    pub(super) fn draft(&mut self, place: usize) -> &mut Draft {
        if let Some(raw) = self.slots[place].raw.take() {
            let mut draft = Draft::default();
            for (key, value) in Members::of(&raw).iter() {
                match &*json::decode(key) {
                    "content" => draft.content = Some(Body::Raw(value.to_owned())),
                    "activityType" => draft.activity_type = Some(value.to_owned()),
                    "subagentRunId" => draft.subagent_run_id = Some(value.to_owned()),
                    "encryptedValue" => draft.encrypted_value = Some(value.to_owned()),
                    "metadata" => draft.metadata.merge(value),
                    "toolCalls" if self.slots[place].role == "assistant" => {
                        let ids = json::items(value).into_iter().map(|call| Call::of(call).id_text());
                        draft.calls = ids.filter_map(|id| self.call_by_id.get(&id).copied()).collect();
                    }
                    _ => draft.rest.push((key.to_owned(), value.to_owned())),
                }
            }
            self.slots[place].draft = draft;
        }
        &mut self.slots[place].draft
    }
}

impl Slot {
    /// A message as a snapshot has it.
    fn of(message: &str) -> Self {
        let members = Members::of(message);
        Self {
            id: members.text("id").map(Into::into),
            role: members.text("role").map(Into::into).unwrap_or_default(),
            raw: Some(message.to_owned()),
            earlier: false,
            draft: Draft::default(),
            results: Vec::new(),
            follows: false,
        }
    }
}
