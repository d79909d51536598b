//! The frames of both links: what is taken is written in a text that means the same, an event with its very bytes.
#![no_main]

use funduq_contract::{DownFrame, LlmDownFrame, LlmUpFrame, UpFrame};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(frame) = UpFrame::from_text(text) {
        let again = UpFrame::from_text(&frame.to_text()).expect("a frame that was written is read");
        if let (UpFrame::Event(one), UpFrame::Event(other)) = (&frame, &again) {
            assert_eq!(one.event.get(), other.event.get());
        }
        assert_eq!(frame, again);
    }
    if let Ok(frame) = DownFrame::from_text(text) {
        assert_eq!(DownFrame::from_text(&frame.to_text()).as_ref(), Ok(&frame));
    }
    if let Ok(frame) = LlmUpFrame::from_text(text) {
        assert_eq!(LlmUpFrame::from_text(&frame.to_text()).as_ref(), Ok(&frame));
    }
    if let Ok(frame) = LlmDownFrame::from_text(text) {
        assert_eq!(LlmDownFrame::from_text(&frame.to_text()).as_ref(), Ok(&frame));
    }
});
