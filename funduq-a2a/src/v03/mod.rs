//! A2A 0.3, spoken to peers that name no newer version: its shapes, and their conversion from and to 1.0.
//!
//! 0.3 has one data model and two spellings of it: [`json_rpc`] has `kind` members and lower-case states,
//! [`rest`] follows that version's proto file. What 1.0 has and 0.3 has not is lost on the way there: the media type
//! and file name of a text or data part, a tenant, an OAuth device code flow.

mod card;
pub mod json_rpc;
pub mod rest;

pub use self::card::card_document;

use serde_json::value::RawValue;

use crate::wire::{FromRaw, InvalidTimestamp, JsonObject, Problems, Timestamp};
use crate::{PartContent, TaskState};

/// The member of a data part's metadata that says its data is wrapped, as the official Python package writes it.
///
/// In 0.3 a data part holds an object. Any other value of a 1.0 part travels as `{"value": …}` under this mark.
const WRAPPED_DATA: &str = "data_part_compat";
const WRAPPED_VALUE: &str = "value";

/// A 1.0 data part's value as the object, and the metadata, of a 0.3 one.
fn wrap_data(value: Box<RawValue>, metadata: Option<JsonObject>) -> (JsonObject, Option<JsonObject>) {
    if let Ok(object) = serde_json::from_str(value.get()) {
        return (object, metadata);
    }
    let mut object = JsonObject::new();
    object.insert(WRAPPED_VALUE, value);
    let mut metadata = metadata.unwrap_or_default();
    metadata.insert(WRAPPED_DATA, RawValue::TRUE.to_owned());
    (object, Some(metadata))
}

/// The inverse of [`wrap_data`].
fn unwrap_data(mut data: JsonObject, metadata: Option<JsonObject>) -> (PartContent, Option<JsonObject>) {
    let is_wrapped =
        metadata.as_ref().and_then(|metadata| metadata.get(WRAPPED_DATA)).map(RawValue::get) == Some("true");
    if is_wrapped && let Some(value) = data.remove(WRAPPED_VALUE) {
        let mut metadata = metadata.unwrap_or_default();
        metadata.remove(WRAPPED_DATA);
        return (PartContent::Data(value), Some(metadata).filter(|metadata| !metadata.is_empty()));
    }
    let value = serde_json::value::to_raw_value(&data).expect("an object of JSON texts writes to memory");
    (PartContent::Data(value), metadata)
}

/// A history length of 0 means "all" in 0.3 and "none" in 1.0, where leaving it out means "all".
fn history_length_from_v03(length: Option<i32>) -> Option<i32> {
    length.filter(|length| *length != 0)
}

/// Whether a status update with this state is the last of its stream, which 0.3 says with `final`.
fn is_final(state: &TaskState) -> bool {
    state.is_terminal() || state.is_interrupted()
}

/// 1.0 has room for one authentication scheme of a push notification target.
fn first_scheme(schemes: Vec<String>) -> String {
    schemes.into_iter().next().unwrap_or_default()
}

/// A timestamp as 0.3 peers write it: its text is free there, and often has no offset, which means UTC.
struct LenientTimestamp(Timestamp);

impl FromRaw for LenientTimestamp {
    fn from_raw_value(raw: &RawValue, problems: &mut Problems) -> Option<Self> {
        let text = String::from_raw_value(raw, problems)?;
        let parsed = text.parse().or_else(|error| format!("{text}Z").parse().map_err(|_| error));
        parsed.map(Self).map_err(|error: InvalidTimestamp| problems.report(error.to_string())).ok()
    }
}
