//! Bytes that mean harm: they never panic, and what is no JSON is never an event.

use proptest::prelude::*;
use serde::de::IgnoredAny;

use crate::arbitrary::{Reach, of};
use crate::wire::Wire;
use crate::{Event, RelayedEvent, RelayedInput, RelayedMessage, RelayedResume, RunAgentInput, RunFold};

/// A text with a few bytes cut, doubled, put in or changed.
fn damaged(text: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<u8>> {
    let damage = (any::<prop::sample::Index>(), 0..4_u8, any::<u8>());
    (text, prop::collection::vec(damage, 1..4)).prop_map(|(text, damages)| {
        let mut bytes = text.into_bytes();
        for (place, how, byte) in damages {
            let at = place.index(bytes.len() + 1);
            match how {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, b"{}[]\",:\\0e-\x01 \xff"[usize::from(byte) % 14]),
                2 if at < bytes.len() => bytes[at] = byte,
                _ => bytes.extend_from_within(at..),
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn damaged_events_never_panic(bytes in damaged(of(&Event::KIND, Reach::Any))) {
        let text = String::from_utf8_lossy(&bytes);
        let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        match RelayedEvent::parse(&*text) {
            Ok(event) => {
                prop_assert!(is_json);
                prop_assert_eq!(event.json(), &*text);
                let mut fold = RunFold::new();
                fold.push(&event);
                drop((fold.messages(), fold.asks()));
            }
            Err(malformed) => prop_assert!(!malformed.to_string().is_empty()),
        }
    }

    #[test]
    fn damaged_inputs_never_panic(bytes in damaged(of(&RunAgentInput::KIND, Reach::Any))) {
        if let Ok(input) = RelayedInput::parse(&bytes) {
            prop_assert!(serde_json::from_slice::<IgnoredAny>(&bytes).is_ok());
            prop_assert_eq!(&RelayedInput::parse(input.to_json().as_bytes()).unwrap(), &input);
        }
        let text = String::from_utf8_lossy(&bytes);
        drop((RelayedMessage::parse(&text), RelayedResume::parse(&text)));
    }
}
