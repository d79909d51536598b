//! How often something may happen.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::values::{InvalidValue, read_from_files};

/// A number of times in a second, a minute or an hour, as in `100/s`; or `none` for as often as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(Option<(u32, Unit)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Second,
    Minute,
    Hour,
}

impl Unit {
    fn duration(self) -> Duration {
        Duration::from_secs(match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3600,
        })
    }

    fn letter(self) -> char {
        match self {
            Self::Second => 's',
            Self::Minute => 'm',
            Self::Hour => 'h',
        }
    }
}

impl Rate {
    /// How long one time takes; `None` for as often as it comes.
    pub fn interval(self) -> Option<Duration> {
        self.0.map(|(count, unit)| unit.duration() / count)
    }
}

impl FromStr for Rate {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        if text == "none" {
            return Ok(Self(None));
        }
        let read = || {
            let (count, unit) = text.split_once('/')?;
            let count = count.trim().parse().ok().filter(|count| (1..=1_000_000).contains(count))?;
            let unit = match unit.trim() {
                "s" => Unit::Second,
                "m" => Unit::Minute,
                "h" => Unit::Hour,
                _ => return None,
            };
            Some(Self(Some((count, unit))))
        };
        read().ok_or_else(|| InvalidValue::new(text, "a rate, such as 100/s, 600/m, 50/h, or `none`"))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((count, unit)) => write!(f, "{count}/{}", unit.letter()),
            None => f.write_str("none"),
        }
    }
}

read_from_files!(Rate);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_and_a_unit() {
        for (text, millis) in
            [("100/s", Some(10)), ("600/m", Some(100)), ("1 / h", Some(3_600_000)), ("none", None)]
        {
            let rate: Rate = text.parse().unwrap();
            assert_eq!(rate.interval(), millis.map(Duration::from_millis), "{text}");
            assert_eq!(rate.to_string().parse(), Ok(rate));
        }
        for wrong in ["100", "0/s", "-1/s", "5/d", "/s", "2000000/s"] {
            assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
        }
    }
}
