//! The scalars, lists and maps of ProtoJSON, each with what it accepts.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::fields::Problems;
use super::{Bytes, JsonObject, Timestamp};

/// A value read from one piece of JSON.
pub(crate) trait FromRaw: Sized {
    /// The value, or `None` after the fault has been reported.
    fn from_raw_value(raw: &RawValue, problems: &mut Problems) -> Option<Self>;
}

impl FromRaw for String {
    fn from_raw_value(raw: &RawValue, problems: &mut Problems) -> Option<Self> {
        parse_or_report(raw, "a string", problems)
    }
}

impl FromRaw for bool {
    fn from_raw_value(raw: &RawValue, problems: &mut Problems) -> Option<Self> {
        parse_or_report(raw, "true or false", problems)
    }
}

/// ProtoJSON takes a 32-bit integer as a number or as a string, also in exponent notation, as long as it is whole.
impl FromRaw for i32 {
    fn from_raw_value(raw: &RawValue, problems: &mut Problems) -> Option<Self> {
        let text = match first_byte(raw) {
            b'"' => parse_or_report::<String>(raw, "a whole number", problems)?,
            b'-' | b'0'..=b'9' => raw.get().to_owned(),
            _ => {
                problems.report(format!("expected a whole number, found {}", describe(raw)));
                return None;
            }
        };
        let number = whole_number(&text);
        if number.is_none() {
            problems.report(format!("expected a whole number of 32 bits, found {}", describe(raw)));
        }
        number
    }
}

fn whole_number(text: &str) -> Option<i32> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let number: f64 = text.parse().ok()?;
    let in_range = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number);
    // Whole and inside the range of i32, so the cast keeps the number.
    (in_range && number.fract() == 0.0).then_some(number as i32)
}

impl FromRaw for Timestamp {
    fn from_raw_value(raw: &RawValue, problems: &mut Problems) -> Option<Self> {
        let text: String = parse_or_report(raw, "an RFC 3339 timestamp", problems)?;
        text.parse().map_err(|error: super::InvalidTimestamp| problems.report(error.to_string())).ok()
    }
}

impl FromRaw for Bytes {
    fn from_raw_value(raw: &RawValue, problems: &mut Problems) -> Option<Self> {
        let text: String = parse_or_report(raw, "a base64 string", problems)?;
        let bytes = Bytes::decode(&text);
        if bytes.is_none() {
            problems.report("is not valid base64");
        }
        bytes
    }
}

/// `google.protobuf.Struct`.
impl FromRaw for JsonObject {
    fn from_raw_value(raw: &RawValue, problems: &mut Problems) -> Option<Self> {
        parse_or_report(raw, "an object", problems)
    }
}

/// `google.protobuf.Value`: any JSON at all.
impl FromRaw for Box<RawValue> {
    fn from_raw_value(raw: &RawValue, _: &mut Problems) -> Option<Self> {
        Some(raw.to_owned())
    }
}

impl<T: FromRaw> FromRaw for Vec<T> {
    fn from_raw_value(raw: &RawValue, problems: &mut Problems) -> Option<Self> {
        let elements: Vec<&RawValue> = parse_or_report(raw, "an array", problems)?;
        let read = |(index, element): (usize, &&RawValue)| {
            problems.at_index(index, |problems| T::from_raw_value(element, problems))
        };
        Some(elements.iter().enumerate().filter_map(read).collect())
    }
}

impl<T: FromRaw> FromRaw for BTreeMap<String, T> {
    fn from_raw_value(raw: &RawValue, problems: &mut Problems) -> Option<Self> {
        let members: BTreeMap<String, &RawValue> = parse_or_report(raw, "an object", problems)?;
        let mut map = BTreeMap::new();
        for (key, raw) in members {
            let value = problems.at_index(quoted(&key), |problems| T::from_raw_value(raw, problems));
            if let Some(value) = value {
                map.insert(key, value);
            }
        }
        Some(map)
    }
}

fn parse_or_report<'a, T: Deserialize<'a>>(
    raw: &'a RawValue,
    expected: &str,
    problems: &mut Problems,
) -> Option<T> {
    let value = serde_json::from_str(raw.get()).ok();
    if value.is_none() {
        problems.report(format!("expected {expected}, found {}", describe(raw)));
    }
    value
}

/// What kind of value was found, with a number's or a short string's text: enough to recognise it, never a payload.
pub(crate) fn describe(raw: &RawValue) -> String {
    match first_byte(raw) {
        b'{' => "an object".to_owned(),
        b'[' => "an array".to_owned(),
        b'"' => format!("the string {}", shortened(raw.get())),
        b't' | b'f' | b'n' => raw.get().to_owned(),
        _ => format!("the number {}", shortened(raw.get())),
    }
}

/// Text a stranger sent, in quotes, escaped, and cut to a length that fits an error message.
pub(crate) fn quoted(text: &str) -> String {
    shortened(&format!("{text:?}"))
}

/// Text a stranger sent, cut to a length that fits an error message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 48;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The byte that tells a value's kind; a `RawValue` is never empty and has no white space around it.
fn first_byte(raw: &RawValue) -> u8 {
    raw.get().bytes().next().unwrap_or(b'n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: FromRaw>(json: &str) -> Result<T, String> {
        let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
        let mut problems = Problems::default();
        let value = T::from_raw_value(&raw, &mut problems);
        match problems.into_violations().first() {
            Some(violation) => Err(violation.to_string()),
            None => Ok(value.unwrap()),
        }
    }

    #[test]
    fn whole_numbers_come_in_all_the_spellings_of_protojson() {
        for (json, number) in
            [("7", 7), ("\"7\"", 7), ("7.0", 7), ("7e0", 7), ("-2147483648", i32::MIN), ("1e3", 1000)]
        {
            assert_eq!(read::<i32>(json), Ok(number), "{json}");
        }
        for json in ["7.5", "2147483648", "\"seven\"", "\"\"", "true", "[7]", "1e40", "\"NaN\"", "\"inf\""] {
            assert!(read::<i32>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_fault_says_what_was_expected_and_what_was_found() {
        assert_eq!(read::<String>("7"), Err("expected a string, found the number 7".to_owned()));
        assert_eq!(
            read::<bool>("\"true\""),
            Err("expected true or false, found the string \"true\"".to_owned())
        );
        assert_eq!(
            read::<Vec<String>>("[\"a\", {}]"),
            Err("[1]: expected a string, found an object".to_owned())
        );
        assert_eq!(
            read::<BTreeMap<String, bool>>("{\"x y\": 1}"),
            Err("[\"x y\"]: expected true or false, found the number 1".to_owned())
        );
    }

    #[test]
    fn long_values_are_cut_in_the_message() {
        let long = format!("\"{}\"", "ä".repeat(500));
        let message = read::<i32>(&long).unwrap_err();
        assert!(message.len() < 250, "{message}");
    }
}
