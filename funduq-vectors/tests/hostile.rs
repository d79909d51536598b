//! What a stranger sends as a shape: texts that differ in one byte from a good one, and texts that are anything.

use funduq_vectors::{shape, shapes, vectors};
use proptest::prelude::*;

/// Taking a text is one thing; whatever is taken has to come out in a text that is taken again and comes out the same.
fn check(name: &str, text: &str) {
    let shape = shape(name).expect("the rows name published shapes");
    if let Ok(written) = shape.rewrite(text) {
        assert_eq!(shape.rewrite(&written).as_deref(), Ok(written.as_str()), "{name}: {text}");
    }
}

proptest! {
    #[test]
    fn one_changed_byte_is_taken_or_refused_and_never_a_panic(row in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let vectors = vectors().unwrap();
        let row = row.get(&vectors.wire);
        let mut bytes = row.json_utf8.clone().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(text) = String::from_utf8(bytes) {
            check(&row.shape, &text);
        }
    }

    #[test]
    fn any_text_is_taken_or_refused_and_never_a_panic(pick in any::<prop::sample::Index>(), text in ".{0,200}") {
        check(pick.get(shapes()).name, &text);
    }
}

#[test]
fn deep_nesting_is_taken_or_refused_and_never_a_crash() {
    for shape in shapes() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let deep = format!("{}0{}", open.repeat(100_000), close.repeat(100_000));
            check(shape.name, &deep);
            check(
                shape.name,
                &format!("{{\"type\":\"event\",\"runId\":\"r\",\"number\":1,\"event\":{deep}}}"),
            );
        }
    }
}
