//! Settings of the doors: who may serve, who is at the caller's door, who may read.

use std::str::FromStr;

use http::HeaderName;
use http::header::{AUTHORIZATION, COOKIE, HOST};

use super::values::{InvalidValue, read_from_files};
use super::{Config, ConfigError};

/// Who is given tickets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enrolment {
    /// Any key that asks.
    Open,
    /// Nobody.
    Closed,
    /// The keys of a file.
    AllowList,
    /// Any key for which an operator asks.
    Operator,
}

impl FromStr for Enrolment {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "open" => Ok(Self::Open),
            "closed" => Ok(Self::Closed),
            "allow-list" => Ok(Self::AllowList),
            "operator" => Ok(Self::Operator),
            _ => Err(InvalidValue::new(text, "`open`, `closed`, `allow-list` or `operator`")),
        }
    }
}

/// Who may read a bound thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Whoever knows its id.
    Open,
    /// Its head and its provider.
    Parties,
}

impl FromStr for Reads {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "open" => Ok(Self::Open),
            "parties" => Ok(Self::Parties),
            _ => Err(InvalidValue::new(text, "`open` or `parties`")),
        }
    }
}

/// The header in which a trusted proxy names a caller's key; or none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PresenterHeader(Option<HeaderName>);

impl PresenterHeader {
    /// The header.
    pub fn get(&self) -> Option<&HeaderName> {
        self.0.as_ref()
    }
}

impl FromStr for PresenterHeader {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        if text.is_empty() {
            return Ok(Self(None));
        }
        let name = text.parse().ok().filter(|name| ![AUTHORIZATION, COOKIE, HOST].contains(name));
        let invalid = || InvalidValue::new(text, "a header of its own, such as X-Funduq-Presenter");
        name.map(|name| Self(Some(name))).ok_or_else(invalid)
    }
}

read_from_files!(Enrolment, Reads, PresenterHeader);

/// Checks that open enrolment stays on this machine, unless it was asked for by name.
pub(super) fn check_enrolment(config: &Config) -> Result<(), ConfigError> {
    if config.enrolment != Enrolment::Open || config.allow_public_enrolment {
        return Ok(());
    }
    let because = if !config.listen.get().ip().is_loopback() {
        format!("listening on {}", config.listen)
    } else if config.public_url.is_elsewhere() {
        format!("public-url {}", config.public_url.get().unwrap_or_default())
    } else if config.trusted_proxies != Default::default() {
        // Whoever has a proxy has it for others.
        format!("trusted-proxies {}", config.trusted_proxies)
    } else {
        return Ok(());
    };
    Err(ConfigError::PublicEnrolment { because })
}

/// Checks that what the doors need is there.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    let missing = [
        (
            config.enrolment == Enrolment::AllowList && config.allow_list.get().is_none(),
            "enrolment allow-list",
            "allow-list, the file of the keys that may serve",
        ),
        (
            config.enrolment == Enrolment::Operator && config.operator_tokens.get().is_none(),
            "enrolment operator",
            "operator-tokens, the file of the operators' tokens",
        ),
        (
            config.presenter_header.get().is_some() && config.trusted_proxies == Default::default(),
            "presenter-header",
            "trusted-proxies: from nobody else would it be believed",
        ),
    ];
    match missing.into_iter().find(|(is_missing, ..)| *is_missing) {
        Some((_, name, needed)) => Err(ConfigError::Needs { name, needed }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_setting_needs_has_to_be_there() {
        let needs = |config: Config| match config.check() {
            Err(ConfigError::Needs { name, .. }) => name,
            other => panic!("{other:?}"),
        };
        let with = |enrolment| Config { enrolment, ..Config::default() };
        assert_eq!(needs(with(Enrolment::AllowList)), "enrolment allow-list");
        assert_eq!(needs(with(Enrolment::Operator)), "enrolment operator");
        let closed = Enrolment::Closed;
        let header =
            Config { presenter_header: "x-key".parse().unwrap(), enrolment: closed, ..Config::default() };
        assert_eq!(needs(header.clone()), "presenter-header");
        assert!(Config { trusted_proxies: "127.0.0.1".parse().unwrap(), ..header }.check().is_ok());
    }

    #[test]
    fn open_enrolment_where_others_come_has_to_be_asked_for() {
        let here = Config::default();
        let listening = Config { listen: "0.0.0.0:8787".parse().unwrap(), ..here.clone() };
        let named = |url: &str| Config { public_url: url.parse().unwrap(), ..here.clone() };
        let proxied = Config { trusted_proxies: "127.0.0.1,::1".parse().unwrap(), ..here.clone() };
        for (public, because) in [
            (listening, "listening on 0.0.0.0:8787 "),
            (named("https://relay.example"), "public-url https://relay.example "),
            (named("https://localhost.example"), "public-url https://localhost.example "),
            (named("http://192.0.2.7:8787"), "public-url http://192.0.2.7:8787 "),
            (named("http://[2001:db8::1]/funduq"), "public-url http://[2001:db8::1]/funduq "),
            (proxied, "trusted-proxies 127.0.0.1,::1 "),
        ] {
            let said = public.check().unwrap_err().to_string();
            assert!(said.starts_with(because) && said.contains("--allow-public-enrolment"), "{said}");
            assert!(Config { allow_public_enrolment: true, ..public.clone() }.check().is_ok());
            assert!(Config { enrolment: Enrolment::Closed, ..public }.check().is_ok());
        }
        let listening = Config { listen: "[::1]:0".parse().unwrap(), ..here.clone() };
        for private in [
            here.clone(),
            listening,
            named("https://localhost:8443"),
            named("http://127.9.9.9"),
            named("http://[::1]:1"),
        ] {
            assert!(private.check().is_ok());
        }
    }

    #[test]
    fn a_presenters_header_is_one_of_its_own() {
        assert_eq!(
            "X-Funduq-Presenter".parse::<PresenterHeader>().unwrap().get().unwrap(),
            "x-funduq-presenter"
        );
        for wrong in ["authorization", "Host", "a b", "x:y"] {
            assert!(wrong.parse::<PresenterHeader>().is_err(), "{wrong}");
        }
    }
}
