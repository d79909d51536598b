//! What a refused resume is answered with: the conversation as it stands, in one `MESSAGES_SNAPSHOT` (AG-UI 1.0).

use std::collections::BTreeSet;

use funduq_agui::{MAX_EVENT_BYTES, RelayedEvent, RelayedMessage};

use crate::record::ThreadMessage;

/// How many messages of the record it has at most.
pub(super) const MESSAGES: usize = 10_000;
/// How many bytes of messages it has at most: what an event has room for.
pub(super) const BYTES: usize = MAX_EVENT_BYTES - OPENING.len() - CLOSING.len() - MESSAGES;

const OPENING: &str = r#"{"type":"MESSAGES_SNAPSHOT","messages":["#;
const CLOSING: &str = "]}";

/// The latest messages of the record, and then what the client sent that the record does not have: a snapshot takes the
/// place of all that a client shows, and it is not for funduq to take a message away. As much of the newest as an event has
/// room for.
pub(super) fn snapshot(recorded: &[ThreadMessage], sent: &[RelayedMessage]) -> RelayedEvent {
    let known: BTreeSet<&str> = recorded.iter().filter_map(|stored| stored.message.id()).collect();
    let is_known = |message: &RelayedMessage| message.id().is_some_and(|id| known.contains(id));
    // Where not all of the record is here, what was sent before the first that is may be in the rest of it.
    let begins = match recorded.first() {
        Some(first) if first.position > 1 => sent.iter().position(is_known).unwrap_or_default(),
        _ => 0,
    };
    let new = sent[begins..].iter().filter(|message| !is_known(message));
    let mut messages: Vec<_> =
        recorded.iter().map(|stored| &stored.message).chain(new).map(RelayedMessage::json).collect();
    let mut bytes = 0;
    let newest = messages.iter().rev().take(MESSAGES).take_while(|json| {
        bytes += json.len();
        bytes <= BYTES
    });
    let too_many = messages.len() - newest.count();
    messages.drain(..too_many);
    event(&messages).unwrap_or_else(|| {
        // What an event said of a message may lie deeper within the message than it did within the event.
        messages.retain(|json| event(&[json]).is_some());
        event(&messages).expect("each of the messages is one by itself, and there is room for all of them")
    })
}

fn event(messages: &[&str]) -> Option<RelayedEvent> {
    RelayedEvent::parse([OPENING, &messages.join(","), CLOSING].concat()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::ids;

    fn message(id: &str, content: &str) -> RelayedMessage {
        let json = serde_json::json!({"id": id, "role": "user", "content": content});
        RelayedMessage::parse(&json.to_string()).unwrap()
    }

    fn recorded(from: u64, ids: &[&str]) -> Vec<ThreadMessage> {
        let stored = |(position, id): (u64, &&str)| ThreadMessage {
            position,
            run_id: ids::run(),
            message: message(id, "recorded"),
        };
        (from..).zip(ids).map(stored).collect()
    }

    fn sent(ids: &[&str]) -> Vec<RelayedMessage> {
        ids.iter().map(|id| message(id, "sent")).collect()
    }

    fn told(recorded: &[ThreadMessage], sent: &[RelayedMessage]) -> Vec<String> {
        let event: Value = serde_json::from_str(snapshot(recorded, sent).json()).unwrap();
        let messages = event["messages"].as_array().unwrap().iter();
        messages
            .map(|message| format!("{}-{}", message["id"].as_str().unwrap(), message["content"]))
            .collect()
    }

    #[test]
    fn what_was_sent_and_is_not_recorded_comes_after_what_is() {
        let told = told(&recorded(1, &["a", "b"]), &sent(&["local", "a", "b", "new"]));
        assert_eq!(told, ["a-\"recorded\"", "b-\"recorded\"", "local-\"sent\"", "new-\"sent\""]);
    }

    #[test]
    fn what_may_be_in_the_rest_of_the_record_is_not_told_as_new() {
        let told = told(&recorded(8, &["h", "i"]), &sent(&["a", "g", "h", "i", "new"]));
        assert_eq!(told, ["h-\"recorded\"", "i-\"recorded\"", "new-\"sent\""]);
    }

    #[test]
    fn without_a_record_it_is_what_was_sent() {
        assert_eq!(told(&[], &sent(&["a", "b"])), ["a-\"sent\"", "b-\"sent\""]);
        assert!(told(&[], &[]).is_empty());
    }

    #[test]
    fn it_is_one_event_however_much_there_is() {
        let large = "x".repeat(3 << 20);
        let sent: Vec<_> = ["a", "b", "c"].iter().map(|id| message(id, &large)).collect();
        let event = snapshot(&recorded(1, &["r"]), &sent);
        let kept: Value = serde_json::from_str(event.json()).unwrap();
        let ids: Vec<_> = kept["messages"].as_array().unwrap().iter().map(|message| &message["id"]).collect();
        assert_eq!(ids, ["b", "c"], "the newest that fit");
        let small: Vec<_> = (0..MESSAGES + 1).map(|at| message(&at.to_string(), "x")).collect();
        assert_eq!(told(&[], &small).len(), MESSAGES);
    }

    #[test]
    fn a_message_that_lies_too_deep_for_an_event_is_left_out_alone() {
        let deep = |levels: usize| {
            let content = format!("{}{}", r#"{"a":"#.repeat(levels), "1") + &"}".repeat(levels);
            let json = format!(r#"{{"id":"deep","role":"activity","activityType":"x","content":{content}}}"#);
            RelayedMessage::parse(&json).unwrap()
        };
        let shallow = message("a", "x");
        assert_eq!(told(&[], &[shallow.clone(), deep(100)]).len(), 2);
        assert_eq!(told(&[], &[deep(127), shallow]), ["a-\"x\""]);
    }

    #[test]
    fn half_a_surrogate_pair_stays_as_it_was() {
        let json = r#"{"id":"a","role":"assistant","content":"cut \ud83d"}"#;
        let event = snapshot(&[], &[RelayedMessage::parse(json).unwrap()]);
        assert!(event.json().contains(json));
    }
}
