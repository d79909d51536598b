//! `google.protobuf.Timestamp` as RFC 3339: UTC, milliseconds, a trailing `Z` (A2A 1.0 §5.6.1).

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// 0001-01-01T00:00:00.000Z, the first instant a proto timestamp can name.
const FIRST_MILLIS: i64 = -62_135_596_800_000;
/// 9999-12-31T23:59:59.999Z, the last one.
const LAST_MILLIS: i64 = 253_402_300_799_999;

const MILLIS_PER_SECOND: i64 = 1000;
const SECONDS_PER_DAY: i64 = 86_400;

/// An instant in milliseconds since 1970-01-01T00:00:00Z, between the years 1 and 9999.
///
/// Reading accepts any RFC 3339 offset and up to nine digits of a second's fraction; what is finer than a
/// millisecond is cut. Writing always has three digits and a `Z`: `2025-10-28T10:30:00.000Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant so many milliseconds after (or before) the Unix epoch; one outside the years 1 to 9999 is moved
    /// to the nearer end.
    #[must_use]
    pub fn from_unix_millis(millis: i64) -> Self {
        Self(millis.clamp(FIRST_MILLIS, LAST_MILLIS))
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub fn unix_millis(self) -> i64 {
        self.0
    }
}

/// Text that is no RFC 3339 timestamp of the years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an RFC 3339 timestamp such as 2025-10-28T10:30:00.000Z")]
pub struct InvalidTimestamp;

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        parse(text.as_bytes()).ok_or(InvalidTimestamp)
    }
}

fn parse(text: &[u8]) -> Option<Timestamp> {
    let (date_time, rest) = text.split_at_checked(19)?;
    let [b4, b7, b10, b13, b16] = [4, 7, 10, 13, 16].map(|index| date_time[index]);
    let separators = b4 == b'-' && b7 == b'-' && matches!(b10, b'T' | b't') && b13 == b':' && b16 == b':';
    if !separators {
        return None;
    }
    let year = number(&date_time[0..4])?;
    let month = number(&date_time[5..7])?;
    let day = number(&date_time[8..10])?;
    let hour = number(&date_time[11..13])?;
    let minute = number(&date_time[14..16])?;
    let second = number(&date_time[17..19])?;
    let valid = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !valid {
        return None;
    }
    let (fraction_millis, zone) = parse_fraction(rest)?;
    let offset_seconds = parse_offset(zone)?;
    let seconds = days_from_epoch(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second
        - offset_seconds;
    let millis = seconds * MILLIS_PER_SECOND + fraction_millis;
    (FIRST_MILLIS..=LAST_MILLIS).contains(&millis).then_some(Timestamp(millis))
}

/// The milliseconds of `.123456789`, if a fraction is there, and what follows it.
fn parse_fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some(digits) = text.strip_prefix(b".") else {
        return Some((0, text));
    };
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=9).contains(&length) {
        return None;
    }
    let first_three = digits[..length].iter().chain(std::iter::repeat(&b'0')).take(3);
    let millis = first_three.fold(0, |millis, digit| millis * 10 + i64::from(digit - b'0'));
    Some((millis, &digits[length..]))
}

/// Seconds east of UTC of `Z` or `+hh:mm`.
fn parse_offset(zone: &[u8]) -> Option<i64> {
    match zone {
        b"Z" | b"z" => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let hours = number(&[*h1, *h2])?;
            let minutes = number(&[*m1, *m2])?;
            let seconds = hours * 3600 + minutes * 60;
            (hours < 24 && minutes < 60).then_some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    digits
        .iter()
        .try_fold(0_i64, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar, counted in years that begin in March.
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse of [`days_from_epoch`].
fn date_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(MILLIS_PER_SECOND);
        let millis = self.0.rem_euclid(MILLIS_PER_SECOND);
        let (year, month, day) = date_from_days(seconds.div_euclid(SECONDS_PER_DAY));
        let second_of_day = seconds.rem_euclid(SECONDS_PER_DAY);
        let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'_, str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(text: &str) -> String {
        text.parse::<Timestamp>().unwrap().to_string()
    }

    #[test]
    fn writing_has_three_digits_and_a_z() {
        assert_eq!(Timestamp::from_unix_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_unix_millis(-1).to_string(), "1969-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::from_unix_millis(951_782_400_000).to_string(), "2000-02-29T00:00:00.000Z");
    }

    #[test]
    fn reading_accepts_offsets_and_cuts_below_the_millisecond() {
        assert_eq!(reads("2025-10-28T10:30:00Z"), "2025-10-28T10:30:00.000Z");
        assert_eq!(reads("2025-10-28T10:30:00.1Z"), "2025-10-28T10:30:00.100Z");
        assert_eq!(reads("2025-10-28T10:30:00.123999999Z"), "2025-10-28T10:30:00.123Z");
        assert_eq!(reads("2025-10-28t00:30:00+02:00"), "2025-10-27T22:30:00.000Z");
        assert_eq!(reads("2025-12-31T23:00:00-05:30"), "2026-01-01T04:30:00.000Z");
        assert_eq!(reads("0001-01-01T00:00:00Z"), "0001-01-01T00:00:00.000Z");
        assert_eq!(reads("9999-12-31T23:59:59.999Z"), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn what_is_no_timestamp_is_refused() {
        for text in [
            "",
            "2025-10-28",
            "2025-10-28T10:30:00",
            "2025-02-29T00:00:00Z",
            "2025-13-01T00:00:00Z",
            "2025-00-01T00:00:00Z",
            "2025-01-00T00:00:00Z",
            "2025-01-01T24:00:00Z",
            "2025-01-01T00:60:00Z",
            "2025-01-01T00:00:60Z",
            "2025-01-01 00:00:00Z",
            "2025-01-01T00:00:00.Z",
            "2025-01-01T00:00:00.1234567890Z",
            "2025-01-01T00:00:00+2:00",
            "2025-01-01T00:00:00+24:00",
            "0000-01-01T00:00:00Z",
            "0001-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-01:00",
            "+025-01-01T00:00:00Z",
            "2025-01-01T00:00:00ZZ",
            "２０２５-01-01T00:00:00Z",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(InvalidTimestamp), "{text}");
        }
    }

    #[test]
    fn an_instant_out_of_range_moves_to_the_nearer_end() {
        assert_eq!(Timestamp::from_unix_millis(i64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::from_unix_millis(i64::MIN).to_string(), "0001-01-01T00:00:00.000Z");
    }

    #[test]
    fn each_day_of_the_range_survives_the_round_trip() {
        let days = FIRST_MILLIS / 86_400_000..=LAST_MILLIS / 86_400_000;
        for day in days.step_by(17) {
            let instant = Timestamp::from_unix_millis(day * 86_400_000 + 12_345_678);
            assert_eq!(instant.to_string().parse(), Ok(instant));
        }
    }
}
