//! Frames as they look on the wire, and what is no frame.

use super::*;
use crate::ids::RunId;
use crate::raw::RawJson;
use crate::shapes::{Ack, Verdict};
use proptest::prelude::*;

fn run() -> RunId {
    "r\"1".parse().unwrap()
}

#[test]
fn an_event_keeps_its_bytes_in_both_directions() {
    let event = r#"{ "type":"CUSTOM" ,"value":1.0e5,"name":"\u00e9","x":{"type":"y"}}"#;
    let text = EventFrame::text(&run(), 7, event);
    let UpFrame::Event(read) = UpFrame::from_text(&text).unwrap() else { panic!("no event: {text}") };
    assert_eq!((read.number, read.event.get()), (7, event));
    assert_eq!(UpFrame::Event(read.clone()).to_text(), text);
    assert_eq!(serde_json::to_string(&UpFrame::Event(read)).unwrap(), text);
}

#[test]
fn the_type_may_stand_anywhere_and_the_event_still_keeps_its_bytes() {
    let text = r#"{"event": {"a": 1.0} ,"number":1,"type":"event","runId":"r"}"#;
    let UpFrame::Event(read) = UpFrame::from_text(text).unwrap() else { panic!("no event") };
    assert_eq!(read.event.get(), r#"{"a": 1.0}"#);
}

#[test]
fn the_parts_of_an_event_are_found_where_it_is_written_as_usual_and_nowhere_else() {
    let usual = r#"{"type":"event","runId":"r","number":10,"event":{"a": 1}}"#;
    assert_eq!(EventFrame::parts(usual), Some(("r", 10, r#"{"a": 1}"#)));
    for other in [
        "",
        r#"{"type":"finish","runId":"r"}"#,
        r#"{"type":"event","runId":"r"}"#,
        r#"{"type":"event","runId":"\u0072","number":10,"event":{}}"#,
        r#"{"type":"event","runId":"r","number":010,"event":{}}"#,
        r#"{"type":"event","runId":"r","number":0,"event":{}}"#,
        r#"{"type":"event","runId":"r","number":,"event":{}}"#,
        r#"{"type":"event","runId":"r","number":+1,"event":{}}"#,
        r#"{"type":"event","runId":"r","number":1.0,"event":{}}"#,
        r#"{"type":"event","runId":"r","number":18446744073709551616,"event":{}}"#,
        r#"{"type":"event","runId":"r","number":1,"event":{}} "#,
        r#"{"type":"event","number":1,"runId":"r","event":{}}"#,
    ] {
        assert_eq!(EventFrame::parts(other), None, "{other}");
    }
}

proptest! {
    #[test]
    fn parts_whose_event_is_one_value_are_those_of_the_whole(
        run in "\\PC{1,12}", number in 1_u64..2000, event in r#"[{}"a:,1 \\]{0,12}"#, cut in 0_usize..60, put in r#"[{}",:0-9 ]{0,3}"#,
    ) {
        let run = RunId::new(run).unwrap();
        let mut text = EventFrame::text(&run, number, &event);
        if let Ok(read) = UpFrame::from_text(&text) {
            let whole = EventFrame { run_id: run.clone(), number, event: RawJson::new(event.trim()).unwrap() };
            prop_assert_eq!(read, UpFrame::Event(whole));
        }
        if text.is_char_boundary(cut) {
            text.insert_str(cut, &put);
        }
        if let Some((run, number, event)) = EventFrame::parts(&text)
            && let Ok(event) = RawJson::new(event)
            && let Ok(run_id) = RunId::new(run)
        {
            let whole = EventFrame { run_id, number, event: RawJson::new(event.get().trim()).unwrap() };
            prop_assert_eq!(UpFrame::from_text(&text).unwrap(), UpFrame::Event(whole));
        }
    }
}

#[test]
fn a_verdict_stands_beside_its_run() {
    for (verdict, fields) in [
        (Verdict::Accepted, r#""verdict":"accepted""#),
        (Verdict::Declined, r#""verdict":"declined""#),
        (Verdict::Refused { reason: "no".to_owned() }, r#""verdict":"refused","reason":"no""#),
    ] {
        let frame = UpFrame::Verdict(VerdictFrame { run_id: "r".parse().unwrap(), attempt: 2, verdict });
        let text = format!(r#"{{"type":"verdict","runId":"r","attempt":2,{fields}}}"#);
        assert_eq!(frame.to_text(), text);
        assert_eq!(UpFrame::from_text(&text).unwrap(), frame);
    }
}

#[test]
fn a_frame_is_written_with_its_type_first() {
    let frame = UpFrame::Ack(Ack { run_id: "r".parse().unwrap(), held: true });
    assert_eq!(frame.to_text(), r#"{"type":"ack","runId":"r","held":true}"#);
    assert_eq!(frame.kind(), "ack");
}

#[test]
fn what_is_no_frame_is_refused_with_its_type_where_there_is_one() {
    let cases = [
        ("", None),
        ("[]", None),
        ("{}", None),
        (r#"{"type":1}"#, None),
        (r#"{"type":"shout"}"#, Some("shout")),
        (r#"{"type":"finish"}"#, Some("finish")),
        (r#"{"type":"finish","runId":""}"#, Some("finish")),
        (r#"{"type":"finish","runId":"r","extra":1}"#, Some("finish")),
        (r#"{"type":"finish","runId":"r","type":"finish"}"#, None),
        (r#"{"runId":"r","extra":1,"type":"finish"}"#, Some("finish")),
        (r#"{"type":"finish","runId":"r"} x"#, None),
        (r#"{"type":"offer","attempt":1}"#, Some("offer")),
    ];
    for (text, kind) in cases {
        let error = UpFrame::from_text(text).unwrap_err();
        assert_eq!(error.kind.as_deref(), kind, "{text}: {error}");
        assert!(!error.problem.is_empty());
    }
}

#[test]
fn a_frame_with_countless_fields_is_refused_before_they_are_kept() {
    let many: String = (0..100_000).map(|n| format!("\"k{n}\":0,")).collect();
    let error = UpFrame::from_text(&format!("{{{many}\"type\":\"finish\"}}")).unwrap_err();
    assert!(error.problem.contains("more fields"), "{error}");
}

#[test]
fn a_bad_frame_is_answered_with_what_was_wrong() {
    let malformed = UpFrame::from_text(r#"{"type":"shout"}"#).unwrap_err();
    let text = DownFrame::Err(ErrFrame::from(&malformed)).to_text();
    assert!(text.starts_with(r#"{"type":"err","code":"malformedFrame","message":"#), "{text}");
    assert!(text.contains("shout"), "{text}");
}

#[test]
fn a_raw_part_that_is_no_json_never_gets_into_a_frame() {
    assert!(RawJson::new(r#"{"a":}"#).is_err());
}
