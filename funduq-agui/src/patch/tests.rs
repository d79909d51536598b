//! Patches, by the rules of RFC 6902 and the limits of this crate.

use serde_json::{Value, json};

use super::{Document, JsonPatchOperation, PatchProblem};
use crate::{MAX_DEPTH, MAX_EVENT_BYTES};

fn patch(operations: &Value) -> Vec<JsonPatchOperation> {
    serde_json::from_value(operations.clone()).unwrap()
}

#[track_caller]
fn applied(document: Value, operations: Value, expected: Value) {
    let mut document = Document::new(document);
    let weighed = |document: &Document| Document::new(document.value().clone());
    document.apply(&patch(&operations)).unwrap();
    assert_eq!(*document.value(), expected);
    assert_eq!(document, weighed(&document), "the weight kept is the weight it has");
}

#[track_caller]
fn failed(before: Value, operations: Value, operation: usize, problem: PatchProblem) {
    let mut document = Document::new(before.clone());
    let error = document.apply(&patch(&operations)).unwrap_err();
    assert_eq!((error.operation, error.problem), (operation, problem));
    assert_eq!(document, Document::new(before), "all or nothing");
}

#[test]
fn values_are_put_in() {
    applied(json!({}), json!([{ "op": "add", "path": "/a", "value": null }]), json!({ "a": null }));
    applied(json!({ "a": 1 }), json!([{ "op": "add", "path": "/a", "value": 2 }]), json!({ "a": 2 }));
    applied(json!([1, 3]), json!([{ "op": "add", "path": "/1", "value": 2 }]), json!([1, 2, 3]));
    applied(json!([1]), json!([{ "op": "add", "path": "/-", "value": 2 }]), json!([1, 2]));
    applied(json!([1]), json!([{ "op": "add", "path": "/1", "value": 2 }]), json!([1, 2]));
    applied(json!({ "a": 1 }), json!([{ "op": "add", "path": "", "value": [] }]), json!([]));
    applied(
        json!({ "": {} }),
        json!([{ "op": "add", "path": "//~1~0", "value": 1 }]),
        json!({ "": { "/~": 1 } }),
    );
    failed(json!([1]), json!([{ "op": "add", "path": "/2", "value": 2 }]), 0, PatchProblem::NoSuchPlace);
    failed(json!({}), json!([{ "op": "add", "path": "/a/b", "value": 2 }]), 0, PatchProblem::NoSuchPlace);
    failed(json!("x"), json!([{ "op": "add", "path": "/a", "value": 2 }]), 0, PatchProblem::NoSuchPlace);
    failed(json!([1]), json!([{ "op": "add", "path": "/01", "value": 2 }]), 0, PatchProblem::NoSuchPlace);
}

#[test]
fn values_are_taken_out_and_replaced() {
    applied(json!({ "a": 1, "b": 2 }), json!([{ "op": "remove", "path": "/a" }]), json!({ "b": 2 }));
    applied(json!([1, 2, 3]), json!([{ "op": "remove", "path": "/1" }]), json!([1, 3]));
    applied(json!([1]), json!([{ "op": "remove", "path": "" }]), json!(null));
    applied(
        json!({ "a": [1] }),
        json!([{ "op": "replace", "path": "/a/0", "value": "x" }]),
        json!({ "a": ["x"] }),
    );
    applied(json!(1), json!([{ "op": "replace", "path": "", "value": { "a": 1 } }]), json!({ "a": 1 }));
    failed(json!({}), json!([{ "op": "remove", "path": "/a" }]), 0, PatchProblem::NoSuchPlace);
    failed(json!([1]), json!([{ "op": "remove", "path": "/-" }]), 0, PatchProblem::NoSuchPlace);
    failed(json!({}), json!([{ "op": "replace", "path": "/a", "value": 1 }]), 0, PatchProblem::NoSuchPlace);
}

#[test]
fn values_are_moved_and_copied() {
    applied(
        json!({ "a": { "b": 1 } }),
        json!([{ "op": "move", "from": "/a/b", "path": "/c" }]),
        json!({ "a": {}, "c": 1 }),
    );
    applied(json!([1, 2, 3]), json!([{ "op": "move", "from": "/0", "path": "/2" }]), json!([2, 3, 1]));
    applied(json!({ "a": 1 }), json!([{ "op": "move", "from": "/a", "path": "/a" }]), json!({ "a": 1 }));
    applied(
        json!({ "a": [1] }),
        json!([{ "op": "copy", "from": "/a", "path": "/a/0" }]),
        json!({ "a": [[1], 1] }),
    );
    failed(
        json!({ "a": { "b": 1 } }),
        json!([{ "op": "move", "from": "/a", "path": "/a/b" }]),
        0,
        PatchProblem::IntoItself,
    );
    failed(json!({}), json!([{ "op": "move", "from": "/a", "path": "/b" }]), 0, PatchProblem::NoSuchPlace);
    failed(json!({}), json!([{ "op": "copy", "from": "/a", "path": "/b" }]), 0, PatchProblem::NoSuchPlace);
}

#[test]
fn values_are_tested() {
    let document = json!({ "a": { "x": [1, 2.0, "1"], "y": null } });
    let same = json!([{ "op": "test", "path": "/a", "value": { "y": null, "x": [1.0, 2, "1"] } }]);
    applied(document.clone(), same, document.clone());
    failed(
        document.clone(),
        json!([{ "op": "test", "path": "/a/y", "value": false }]),
        0,
        PatchProblem::TestFailed,
    );
    failed(
        document.clone(),
        json!([{ "op": "test", "path": "/a/x/2", "value": 1 }]),
        0,
        PatchProblem::TestFailed,
    );
    failed(document, json!([{ "op": "test", "path": "/z", "value": null }]), 0, PatchProblem::NoSuchPlace);
}

#[test]
fn a_patch_that_fails_at_its_end_changes_nothing() {
    failed(
        json!({ "list": [1, 2, 3], "from": { "x": 1 }, "to": "old", "gone": [[]] }),
        json!([
            { "op": "add", "path": "/list/0", "value": 0 },
            { "op": "remove", "path": "/list/2" },
            { "op": "move", "from": "/from", "path": "/to" },
            { "op": "replace", "path": "/to/x", "value": [7] },
            { "op": "copy", "from": "/to", "path": "/list/-" },
            { "op": "move", "from": "/list/0", "path": "/list/2" },
            { "op": "remove", "path": "/gone/0" },
            { "op": "add", "path": "/new", "value": {} },
            { "op": "replace", "path": "", "value": { "list": 1 } },
            { "op": "test", "path": "/list", "value": 2 },
        ]),
        9,
        PatchProblem::TestFailed,
    );
}

#[test]
fn operations_of_a_later_version_are_skipped() {
    applied(
        json!({}),
        json!([{ "op": "frobnicate", "path": 1 }, { "note": "no op" }, { "op": "add", "path": "/a", "value": 1, "x": 2 }]),
        json!({ "a": 1 }),
    );
}

#[test]
fn a_document_that_doubles_itself_is_stopped() {
    let double = json!({ "op": "copy", "from": "/a", "path": "/a/-" });
    let mut document = Document::new(json!({ "a": ["x".repeat(1000)] }));
    let error = document.apply(&patch(&json!(vec![double; 60]))).unwrap_err();
    assert_eq!(error.problem, PatchProblem::OverLimit);
    assert_eq!(*document.value(), json!({ "a": ["x".repeat(1000)] }));
    let large = json!([{ "op": "add", "path": "/b", "value": "x".repeat(MAX_EVENT_BYTES) }]);
    assert_eq!(document.apply(&patch(&large)).unwrap_err().problem, PatchProblem::OverLimit);
}

#[test]
fn a_document_nests_no_deeper_than_its_event_may() {
    let mut document = Document::new(json!([]));
    let wrap = patch(&json!([
        { "op": "add", "path": "", "value": [] },
    ]));
    document.apply(&wrap).unwrap();
    for level in 1..MAX_DEPTH - 1 {
        let path = "/0".repeat(level);
        document.apply(&patch(&json!([{ "op": "add", "path": path, "value": [] }]))).unwrap();
    }
    let path = "/0".repeat(MAX_DEPTH - 1);
    let error = document.apply(&patch(&json!([{ "op": "add", "path": path, "value": [] }]))).unwrap_err();
    assert_eq!(error.problem, PatchProblem::OverLimit);
}

#[test]
fn work_that_shifts_much_again_and_again_is_stopped() {
    let shift = json!({ "op": "add", "path": "/0", "value": 0 });
    let mut document = Document::new(json!(vec![0; 500_000]));
    let error = document.apply(&patch(&json!(vec![shift; 100]))).unwrap_err();
    assert_eq!(error.problem, PatchProblem::OverLimit);
    assert_eq!(document.value().as_array().unwrap().len(), 500_000);
}

#[test]
fn a_value_that_cannot_be_held_stops_the_patch() {
    let patch: Vec<JsonPatchOperation> =
        serde_json::from_str(r#"[{"op":"add","path":"/a","value":1e400}]"#).unwrap();
    let error = Document::new(json!({})).apply(&patch).unwrap_err();
    assert_eq!(error.problem, PatchProblem::Value);
    assert_eq!(error.to_string(), "operation 0 of the patch has a value that cannot be held");
}
