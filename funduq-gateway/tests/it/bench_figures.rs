//! What the benches make of a figure that is not what it is held to be.

use serde_json::json;

#[allow(dead_code, reason = "a bench prints its figures, and a test looks at them")]
#[path = "../../benches/figures/mod.rs"]
mod figures;

use figures::{Figure, object, table};

#[test]
fn a_limit_is_met_up_to_itself_and_by_numbers_alone() {
    let figure = |value| Figure::new("figure", value);
    assert!(figure(0.6).at_least(0.6).is_met() && figure(1.5).at_most(1.5).is_met());
    assert!(!figure(0.599).at_least(0.6).is_met() && !figure(1.501).at_most(1.5).is_met());
    assert!(!figure(f64::NAN).at_least(0.6).is_met() && !figure(f64::NAN).at_most(1.5).is_met());
    assert!(figure(f64::NAN).is_met());
}

#[test]
fn a_missed_limit_is_said_in_both_tongues() {
    let figures = [
        Figure::new("free", 2.0),
        Figure::new("held", 0.7).at_least(0.6),
        Figure::new("slow", 2.0).at_most(1.5),
    ];
    let table = table(&figures);
    let lines: Vec<_> = table.lines().collect();
    assert!(lines[0].ends_with("2.000"), "{table}");
    assert!(lines[1].ends_with("0.700  at least 0.6"), "{table}");
    assert!(lines[2].ends_with("2.000  at most 1.5  MISSED"), "{table}");
    let limits =
        json!({ "held": { "at_least": 0.6, "met": true }, "slow": { "at_most": 1.5, "met": false } });
    assert_eq!(object(&figures), json!({ "free": 2.0, "held": 0.7, "slow": 2.0, "limits": limits }));
}
