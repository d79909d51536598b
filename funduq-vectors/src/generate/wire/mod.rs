//! The wire rows: each crossing shape in its canonical text, in other texts that are taken, and in texts that are not.

mod canonical;
mod frames;
mod others;
mod samples;

use crate::model::{WireRow, WireVerdict};

/// What a caller says; it may be newer than funduq, so a member that is unknown there is let be.
const TOLERANT: &[&str] = &["CallerBag", "CancelProof", "KyokOptIn", "ResolutionProof"];

/// A shape, what the row shows, and the text.
type Sample = (&'static str, &'static str, String);

pub(super) fn rows() -> Vec<WireRow> {
    let canonical = canonical::texts().into_iter().chain(frames::texts());
    let mut rows: Vec<WireRow> = canonical.map(|sample| row(sample, WireVerdict::Canonical)).collect();
    rows.extend(rows.iter().filter_map(with_unknown_field).collect::<Vec<_>>());
    rows.extend(others::accepted().into_iter().map(|sample| row(sample, WireVerdict::Accepted)));
    rows.extend(others::refused().into_iter().map(|sample| row(sample, WireVerdict::Refused)));
    rows.sort_by(|a, b| (&a.kind, &a.name, a.verdict as u8).cmp(&(&b.kind, &b.name, b.verdict as u8)));
    rows
}

fn row((shape, name, json_utf8): Sample, verdict: WireVerdict) -> WireRow {
    WireRow { kind: kebab(shape), name: name.to_owned(), shape: shape.to_owned(), json_utf8, verdict }
}

/// The same object with one field more, which no shape takes that both ends publish; a text that is no object gives none.
fn with_unknown_field(row: &WireRow) -> Option<WireRow> {
    if TOLERANT.contains(&row.shape.as_str()) {
        return None;
    }
    let fields = row.json_utf8.strip_prefix('{')?.strip_suffix('}')?;
    let comma = if fields.is_empty() { "" } else { "," };
    Some(WireRow {
        name: format!("{}, with an unknown field", row.name),
        json_utf8: format!(r#"{{{fields}{comma}"unheardOf":1}}"#),
        verdict: WireVerdict::Refused,
        ..row.clone()
    })
}

/// `DeliveredRun` becomes `delivered-run`.
fn kebab(shape: &str) -> String {
    let mut kind = String::new();
    for (index, character) in shape.char_indices() {
        if character.is_ascii_uppercase() && index > 0 {
            kind.push('-');
        }
        kind.push(character.to_ascii_lowercase());
    }
    kind
}
