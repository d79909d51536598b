//! What goes in comes out: relayed as the same bytes, typed as the same JSON.

use proptest::prelude::*;
use serde_json::Value;

use crate::arbitrary::{Reach, of};
use crate::message::Message;
use crate::wire::Wire;
use crate::{
    AgentCapabilities, Event, EventType, RelayedEvent, RelayedInput, RelayedMessage, RelayedResume,
    ResumeEntry, RunAgentInput, RunFold,
};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Equality of JSON, where `1` and `1.0` are one number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn event(reach: Reach) -> impl Strategy<Value = String> {
    // An object without `type` is a member of no union that is an event.
    of(&Event::KIND, reach).prop_filter("has a type", |event| event != "{\"x\":null}")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_event_is_relayed_as_the_bytes_that_came(text in event(Reach::Any)) {
        let event = RelayedEvent::parse(text.as_str()).unwrap();
        prop_assert_eq!(event.json(), text.as_str());
        let framed = serde_json::to_string(&vec![&event]).unwrap();
        prop_assert_eq!(&framed, &format!("[{text}]"));
        let back: Vec<RelayedEvent> = serde_json::from_str(&framed).unwrap();
        prop_assert_eq!(&back[0], &event);
        prop_assert_eq!(event.terminal().is_some(), matches!(event.event_type(), EventType::RunFinished | EventType::RunError));
    }

    #[test]
    fn a_typed_event_is_the_same_json(text in event(Reach::Typed)) {
        let relayed = RelayedEvent::parse(text.as_str()).unwrap();
        let typed = Event::try_from(&relayed).unwrap();
        let encoded = serde_json::to_string(&typed).unwrap();
        prop_assert!(same(&json(&text), &json(&encoded)), "{text}\n{encoded}");
        let again: Event = serde_json::from_str(&encoded).unwrap();
        prop_assert_eq!(&again, &typed);
        let emitted = RelayedEvent::from(typed);
        prop_assert_eq!(&RelayedEvent::parse(emitted.json()).unwrap(), &emitted);
        prop_assert_eq!(emitted.type_name(), relayed.type_name());
        prop_assert_eq!(emitted.terminal(), relayed.terminal());
    }

    #[test]
    fn an_input_keeps_each_members_bytes(text in of(&RunAgentInput::KIND, Reach::Typed)) {
        let input = RelayedInput::parse(text.as_bytes()).unwrap();
        let written = input.to_json();
        prop_assert_eq!(&RelayedInput::parse(written.as_bytes()).unwrap(), &input);
        prop_assert_eq!(&RelayedInput::parse(written.as_bytes()).unwrap().to_json(), &written);
        for message in &input.messages {
            prop_assert!(text.contains(message.json()));
        }
        for raw in [&input.state, &input.tools, &input.context].into_iter().flatten() {
            prop_assert!(text.contains(raw.get()));
        }
        let typed = RunAgentInput::try_from(&input).unwrap();
        let encoded = serde_json::to_string(&typed).unwrap();
        prop_assert!(same(&json(&written), &json(&encoded)), "{written}\n{encoded}");
        prop_assert!(same(&json(&RelayedInput::from(&typed).to_json()), &json(&written)));
    }

    #[test]
    fn a_message_keeps_its_bytes(text in of(&Message::KIND, Reach::Typed)) {
        let message = RelayedMessage::parse(&text).unwrap();
        prop_assert_eq!(message.json(), text.as_str());
        let typed = Message::try_from(&message).unwrap();
        prop_assert!(same(&json(&text), &serde_json::to_value(&typed).unwrap()));
        let relayed = RelayedMessage::from(&typed);
        prop_assert_eq!((relayed.id(), relayed.role()), (message.id(), message.role()));
        prop_assert_eq!((relayed.tool_call_id(), relayed.text()), (message.tool_call_id(), message.text()));
    }

    #[test]
    fn a_resume_entry_keeps_its_bytes(text in of(&ResumeEntry::KIND, Reach::Typed)) {
        let entry = RelayedResume::parse(&text).unwrap();
        prop_assert_eq!(entry.json(), text.as_str());
        let typed: ResumeEntry = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(entry.interrupt_id(), &typed.interrupt_id);
        prop_assert!(same(&json(&text), &json(RelayedResume::from(&typed).json())));
    }

    #[test]
    fn typed_capabilities_are_the_same_json(text in of(&AgentCapabilities::KIND, Reach::Typed)) {
        let typed: AgentCapabilities = serde_json::from_str(&text).unwrap();
        prop_assert!(same(&json(&text), &serde_json::to_value(&typed).unwrap()));
    }

    #[test]
    fn a_fold_makes_valid_messages_of_any_events(texts in prop::collection::vec(event(Reach::Any), 0..12)) {
        let mut fold = RunFold::new();
        for text in &texts {
            fold.push(&RelayedEvent::parse(text.as_str()).unwrap());
        }
        for message in fold.messages() {
            prop_assert!(RelayedMessage::parse(message.json()).is_ok(), "{}", message.json());
        }
        prop_assert_eq!(fold.asks().is_empty(), fold.asks().ids().is_empty());
    }
}
