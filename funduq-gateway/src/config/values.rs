//! The kinds of values that settings have: each read from the text that a person writes, in a flag or in a file.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use http::{HeaderValue, Uri};
use serde::{Deserialize, Deserializer};

/// A text is no value of that kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not {expected}")]
pub struct InvalidValue {
    given: String,
    expected: &'static str,
}

impl InvalidValue {
    pub(super) fn new(given: &str, expected: &'static str) -> Self {
        Self { given: given.to_owned(), expected }
    }
}

/// A length of time, written with its unit: `250ms`, `15s`, `2m`, `1h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span(Duration);

impl Span {
    /// This long.
    pub fn new(duration: Duration) -> Self {
        Self(duration)
    }

    /// How long.
    pub fn get(self) -> Duration {
        self.0
    }
}

impl FromStr for Span {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let invalid = || InvalidValue::new(text, "a time, such as 250ms, 15s, 2m or 1h");
        let (number, unit) = split(text);
        let number: u64 = number.parse().map_err(|_| invalid())?;
        let millis = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(invalid()),
        };
        // A year is longer than anything here waits, and far from the end of the clock.
        let total =
            number.checked_mul(millis).filter(|total| *total <= 366 * 24 * 3_600_000).ok_or_else(invalid)?;
        Ok(Self(Duration::from_millis(total)))
    }
}

/// An IP address and a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen(SocketAddr);

impl Listen {
    /// Both of them.
    pub fn get(self) -> SocketAddr {
        self.0
    }
}

impl FromStr for Listen {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let expected = match text.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(IpAddr::V4(_)) => "an address to listen on: its port is missing, as in 127.0.0.1:8787",
            Ok(IpAddr::V6(_)) => "an address to listen on: its port is missing, as in [::1]:8787",
            Err(_) => "an IP address and a port, such as 127.0.0.1:8787 or [::1]:8787",
        };
        text.parse().map(Self).map_err(|_| InvalidValue::new(text, expected))
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number of bytes: a plain number, or with a unit: `64KiB`, `16MiB`, `1GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(usize);

impl Bytes {
    /// This many.
    pub fn new(bytes: usize) -> Self {
        Self(bytes)
    }

    /// How many.
    pub fn get(self) -> usize {
        self.0
    }
}

impl FromStr for Bytes {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let invalid = || InvalidValue::new(text, "a number of bytes, such as 4096, 64KiB, 16MiB or 1GiB");
        let (number, unit) = split(text);
        let number: usize = number.parse().map_err(|_| invalid())?;
        let factor = match unit {
            "" | "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return Err(invalid()),
        };
        number.checked_mul(factor).map(Self).ok_or_else(invalid)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes != 0 && bytes.is_multiple_of(1 << 20) => write!(f, "{}MiB", bytes >> 20),
            bytes if bytes != 0 && bytes.is_multiple_of(1 << 10) => write!(f, "{}KiB", bytes >> 10),
            bytes => write!(f, "{bytes}"),
        }
    }
}

fn split(text: &str) -> (&str, &str) {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (&text[..digits], text[digits..].trim_start())
}

/// What a commit of the record survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The loss of power.
    Power,
    /// The end of the process.
    Process,
}

impl FromStr for Durability {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "power" => Ok(Self::Power),
            "process" => Ok(Self::Process),
            _ => Err(InvalidValue::new(text, "`power` or `process`")),
        }
    }
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One object a line, for programs.
    Json,
}

impl FromStr for LogFormat {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(InvalidValue::new(text, "`text` or `json`")),
        }
    }
}

/// A number of faults, or `none` for as many as come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faults(Option<u32>);

impl Faults {
    /// The number; `None` for as many as come.
    pub fn get(self) -> Option<u32> {
        self.0
    }
}

impl FromStr for Faults {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match (text, text.parse()) {
            ("none", _) => Ok(Self(None)),
            (_, Ok(number)) if number > 0 => Ok(Self(Some(number))),
            _ => Err(InvalidValue::new(text, "a number from 1, or `none`")),
        }
    }
}

/// The address under which callers reach the gateway, without a slash at its end; or none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublicUrl(Option<String>);

impl PublicUrl {
    /// The address.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Whether it is one at which others than this machine come.
    pub(super) fn is_elsewhere(&self) -> bool {
        let Some(uri) = self.get().and_then(|url| url.parse::<Uri>().ok()) else { return false };
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        match host.parse::<IpAddr>() {
            Ok(address) => !address.to_canonical().is_loopback(),
            Err(_) => !host.eq_ignore_ascii_case("localhost"),
        }
    }
}

impl FromStr for PublicUrl {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        if text.is_empty() {
            return Ok(Self(None));
        }
        let uri: Option<Uri> = text.parse().ok();
        let usable = uri.is_some_and(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
                && uri.query().is_none()
        });
        match usable && !text.contains('#') {
            true => Ok(Self(Some(text.trim_end_matches('/').to_owned()))),
            false => Err(InvalidValue::new(
                text,
                "an address, such as https://relay.example or https://example.org/funduq",
            )),
        }
    }
}

/// Web origins whose pages may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origins {
    /// All of them.
    Any,
    /// These.
    These(Vec<HeaderValue>),
}

impl Origins {
    /// Whether pages of this origin may call.
    pub(crate) fn contain(&self, origin: &HeaderValue) -> bool {
        match self {
            Self::Any => true,
            Self::These(listed) => listed.contains(origin),
        }
    }
}

impl FromStr for Origins {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        if text.trim() == "*" {
            return Ok(Self::Any);
        }
        let listed = text.split(',').map(str::trim).filter(|origin| !origin.is_empty());
        listed.map(origin).collect::<Result<_, _>>().map(Self::These)
    }
}

fn origin(text: &str) -> Result<HeaderValue, InvalidValue> {
    let invalid =
        || InvalidValue::new(text, "a web origin, such as https://app.example or http://localhost:3000");
    // What a browser sends for pages without an origin, such as files.
    if text != "null" {
        let (_, host) = text.split_once("://").ok_or_else(invalid)?;
        if host.is_empty() || host.contains(['/', '?', '#', '@']) || text.chars().any(char::is_uppercase) {
            return Err(invalid());
        }
    }
    HeaderValue::from_str(text).map_err(|_| invalid())
}

/// A value of a file: the text that would be given on the command line, or a number or a list where that is what
/// the text spells.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text, a whole number, or a list of texts")]
enum Written {
    Text(String),
    Number(u64),
    List(Vec<String>),
}

pub(super) fn from_file<'de, T: FromStr<Err = InvalidValue>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let text = match Written::deserialize(deserializer)? {
        Written::Text(text) => text,
        Written::Number(number) => number.to_string(),
        Written::List(list) => list.join(","),
    };
    text.parse().map_err(serde::de::Error::custom)
}

macro_rules! read_from_files {
    ($($type:ty),+) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::config::values::from_file(deserializer)
            }
        }
    )+};
}

pub(super) use read_from_files;

read_from_files!(Span, Listen, Bytes, Durability, Faults, LogFormat, PublicUrl, Origins);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_needs_its_unit() {
        assert_eq!("250ms".parse(), Ok(Span::new(Duration::from_millis(250))));
        assert_eq!("2m".parse(), Ok(Span::new(Duration::from_secs(120))));
        for wrong in ["15", "s", "", "-1s", "1.5s", "1d", "99999999999999999999h", "9999999h"] {
            assert!(wrong.parse::<Span>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_number_of_bytes_may_have_one() {
        assert_eq!("16MiB".parse(), Ok(Bytes::new(16 << 20)));
        assert_eq!("4096".parse(), Ok(Bytes::new(4096)));
        for wrong in ["16MB", "MiB", "-1", "99999999999GiB"] {
            assert!(wrong.parse::<Bytes>().is_err(), "{wrong}");
        }
        assert_eq!(Bytes::new(16 << 20).to_string(), "16MiB");
    }

    #[test]
    fn an_origin_is_a_scheme_and_a_host_and_nothing_more() {
        let two = "https://app.example, http://localhost:3000".parse();
        let listed = ["https://app.example", "http://localhost:3000"].map(HeaderValue::from_static);
        assert_eq!(two, Ok(Origins::These(listed.to_vec())));
        assert_eq!("*".parse(), Ok(Origins::Any));
        assert_eq!("".parse(), Ok(Origins::These(vec![])));
        for wrong in [
            "app.example",
            "https://app.example/",
            "https://app.example/x",
            "https://u@h",
            "https://App.example",
        ] {
            assert!(wrong.parse::<Origins>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_public_address_has_no_slash_at_its_end() {
        let url: PublicUrl = "https://example.org/funduq/".parse().unwrap();
        assert_eq!(url.get(), Some("https://example.org/funduq"));
        for wrong in [
            "example.org",
            "ftp://example.org",
            "https://u:p@example.org",
            "https://example.org/?a",
            "https://e.org/#x",
        ] {
            assert!(wrong.parse::<PublicUrl>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_without_a_port_is_told_what_it_lacks() {
        assert_eq!("[::1]:0".parse::<Listen>().unwrap().get().port(), 0);
        for (text, missing) in [
            ("127.0.0.1", "its port is missing, as in 127.0.0.1:8787"),
            ("::1", "its port is missing, as in [::1]:8787"),
            ("[::1]", "its port is missing, as in [::1]:8787"),
            ("localhost:8787", "an IP address and a port"),
        ] {
            let said = text.parse::<Listen>().unwrap_err().to_string();
            assert!(said.contains(missing), "{said}");
        }
    }

    #[test]
    fn a_file_that_writes_something_else_is_told_what_can_stand_there() {
        #[derive(Debug, Deserialize)]
        struct File {
            #[expect(dead_code, reason = "never read, since it is refused")]
            origins: Origins,
        }
        for wrong in ["[1]", "true", "{ a = 1 }", "1.5"] {
            let said = toml::from_str::<File>(&format!("origins = {wrong}")).unwrap_err().to_string();
            assert!(said.contains("expected a text, a whole number, or a list of texts"), "{said}");
        }
    }

    #[test]
    fn a_file_may_write_numbers_and_lists_as_such() {
        #[derive(Deserialize)]
        struct File {
            bytes: Bytes,
            origins: Origins,
            faults: Faults,
        }
        let file: File =
            toml::from_str("bytes = 10\norigins = ['https://a.example']\nfaults = 'none'").unwrap();
        assert_eq!(file.bytes.get(), 10);
        assert_eq!(file.origins, Origins::These(vec![HeaderValue::from_static("https://a.example")]));
        assert_eq!(file.faults.get(), None);
    }
}
