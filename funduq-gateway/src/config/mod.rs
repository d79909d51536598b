//! The configuration: each setting once, with its name, type, default and what moving it costs.
//!
//! A value comes from the command line, else from the environment (`FUNDUQ_…`), else from the TOML file that `--config`
//! names, else from the default written here.

mod doors;
mod networks;
mod rate;
mod settings;
mod shown;
mod tls;
mod values;

use std::path::{Path, PathBuf};
use std::time::Duration;

use funduq_core::CoreSettings;

pub use doors::{Enrolment, PresenterHeader, Reads};
pub use networks::Networks;
pub use rate::Rate;
use settings::settings;
pub(crate) use shown::unknown;
pub use shown::{Shown, Source};
pub use tls::FilePath;
pub use values::{Bytes, Durability, Faults, InvalidValue, Listen, LogFormat, Origins, PublicUrl, Span};

settings! {
    /// Where to listen: an IP address and a port; port 0 takes a free one.
    listen: Listen = "127.0.0.1:8787", "FUNDUQ_LISTEN";

    /// The folder of keys and record; created, for its owner only (0700), where there is none, and refused where others
    /// can write it.
    data_dir: PathBuf = "./funduq-data", "FUNDUQ_DATA_DIR";

    /// The address under which callers reach this gateway, as in `https://relay.example`: what the URLs in answers and
    /// agent cards begin with. Empty takes what the request calls this host.
    public_url: PublicUrl = "", "FUNDUQ_PUBLIC_URL";

    /// Connects a provider with the demo agents, through the real link.
    @flag demo: bool = "false", "FUNDUQ_DEMO";

    /// Who is given tickets: `open` (any key that asks), `closed` (nobody), `allow-list` (the keys of a file), or `operator`
    /// (any key for which an operator asks).
    enrolment: Enrolment = "open", "FUNDUQ_ENROLMENT";

    /// Lets anybody who reaches a public address enrol as a provider. Without it, open enrolment is refused at start where
    /// listen or public-url is another address than loopback, or trusted-proxies names a proxy.
    @flag allow_public_enrolment: bool = "false", "FUNDUQ_ALLOW_PUBLIC_ENROLMENT";

    /// Web origins, separated by commas, whose pages may call this gateway; `*` for all. Requests of pages from
    /// other origins are refused.
    cors_origins: Origins = "", "FUNDUQ_CORS_ORIGINS";

    /// What to log, in RUST_LOG's grammar, which is also read where this is not set.
    log: String = "info", "FUNDUQ_LOG";

    /// How long runs in flight may go on after a stop is asked for; then their streams end with RUN_ERROR.
    drain: Span = "30s", "FUNDUQ_DRAIN";

    /// The largest request body, at most 16MiB. A client resends its whole history, so lower cuts long
    /// conversations.
    body_limit: Bytes = "16MiB", "FUNDUQ_BODY_LIMIT";

    /// How long a caller may pause within a request body.
    body_timeout: Span = "30s", "FUNDUQ_BODY_TIMEOUT";

    /// How fast a request body has to come in the long run, in bytes a second; `body-timeout` more is granted. Lower lets slower
    /// callers in, and senders that only mean to hold memory.
    body_pace: Bytes = "16KiB", "FUNDUQ_BODY_PACE";

    /// How many bytes of request bodies may be under way in all, until they are read; more is refused with 503. So much memory
    /// callers can hold without a run.
    body_bytes_limit: Bytes = "512MiB", "FUNDUQ_BODY_BYTES_LIMIT";

    /// How many of them may be of one address; more is refused with 429. At least `body-limit`, if one body is to fit, and
    /// more for callers that ask in parallel.
    peer_body_bytes_limit: Bytes = "64MiB", "FUNDUQ_PEER_BODY_BYTES_LIMIT";

    /// How long a request's head may take, and a connection be idle between requests.
    header_timeout: Span = "30s", "FUNDUQ_HEADER_TIMEOUT";

    /// How long a caller may take nothing of an answer that waits for it before its connection is closed, or on HTTP/2 its
    /// stream.
    write_timeout: Span = "30s", "FUNDUQ_WRITE_TIMEOUT";

    /// After how much silence an AG-UI stream sends a comment line, so that nothing in between takes it for dead.
    keep_alive: Span = "15s", "FUNDUQ_KEEP_ALIVE";

    /// The largest event of a provider, at most 8MiB: a link frame over it, and a little for what is around it, closes
    /// the link.
    link_event_limit: Bytes = "8MiB", "FUNDUQ_LINK_EVENT_LIMIT";

    /// How long a new link may take to prove itself.
    link_handshake: Span = "10s", "FUNDUQ_LINK_HANDSHAKE";

    /// How often a link is pinged.
    link_ping: Span = "10s", "FUNDUQ_LINK_PING";

    /// After how much silence a link is dead. Lower notices a lost provider sooner, and loses one on a bad
    /// network sooner.
    link_silence: Span = "30s", "FUNDUQ_LINK_SILENCE";

    /// How many frames may wait for a provider before its link is closed as too slow.
    link_queue_frames: usize = "1024", "FUNDUQ_LINK_QUEUE_FRAMES";

    /// How many bytes may wait for a provider before its link is closed as too slow.
    link_queue_bytes: Bytes = "128MiB", "FUNDUQ_LINK_QUEUE_BYTES";

    /// How long the runs of a provider whose link broke wait for it to come back.
    link_grace: Span = "10s", "FUNDUQ_LINK_GRACE";

    /// How long a run waits for a provider while nobody serves its agent any more.
    unserved_timeout: Span = "45s", "FUNDUQ_UNSERVED_TIMEOUT";

    /// How many runs of one thread may wait to be taken on; one more is refused with 429.
    thread_queue_limit: usize = "8", "FUNDUQ_THREAD_QUEUE_LIMIT";

    /// How many faults of one kind take a provider's agents offline until it registers again, or `none`.
    quality_tolerance: Faults = "3", "FUNDUQ_QUALITY_TOLERANCE";

    /// What a commit of the record survives: `power` (the loss of power) or `process` (the end of this process only; faster
    /// where the disk is slow to flush).
    durability: Durability = "power", "FUNDUQ_DURABILITY";

    /// Proxies in front of this gateway, as addresses and networks with commas between them. What they say of a caller
    /// (`Forwarded`, else `X-Forwarded-For`, `-Proto` and `-Host`) is believed, and from everybody else it is ignored.
    trusted_proxies: Networks = "", "FUNDUQ_TRUSTED_PROXIES";

    /// How the log is written: `text`, or `json` with one object a line.
    log_format: LogFormat = "text", "FUNDUQ_LOG_FORMAT";

    /// A PEM file with the TLS certificate and its chain; with it the gateway speaks HTTPS. It is read again on SIGHUP and
    /// when it changes.
    tls_certificate: FilePath = "", "FUNDUQ_TLS_CERTIFICATE";

    /// A PEM file with the certificate's private key.
    tls_key: FilePath = "", "FUNDUQ_TLS_KEY";

    /// From which networks /metrics can be read. Elsewhere there is nothing at that path.
    metrics_from: Networks = "127.0.0.0/8,::1", "FUNDUQ_METRICS_FROM";

    /// Peers that the limits for one peer do not hold. This machine is among them as long as nothing else is said, since a
    /// proxy on it that is not among the trusted ones stands for all its callers.
    limit_exempt: Networks = "127.0.0.0/8,::1", "FUNDUQ_LIMIT_EXEMPT";

    /// How many connections may be open in all; one more is told 503. Each costs a descriptor and some kilobytes.
    connection_limit: usize = "16384", "FUNDUQ_CONNECTION_LIMIT";

    /// How many connections one address (of IPv6, one /64) may have open; one more is told 429. Lower where nobody sits
    /// behind a shared address.
    peer_connection_limit: usize = "512", "FUNDUQ_PEER_CONNECTION_LIMIT";

    /// How many streams one address may read at once; one more is refused with 429. Each holds its run's events.
    peer_stream_limit: usize = "256", "FUNDUQ_PEER_STREAM_LIMIT";

    /// How often one address may ask, in the long run, or `none`; more is refused with 429.
    peer_request_rate: Rate = "100/s", "FUNDUQ_PEER_REQUEST_RATE";

    /// How many requests of one address may come at once after a pause.
    peer_request_burst: u32 = "500", "FUNDUQ_PEER_REQUEST_BURST";

    /// How often one key may ask that callers prove, or `none`; more is refused with 429, wherever they come from.
    key_request_rate: Rate = "100/s", "FUNDUQ_KEY_REQUEST_RATE";

    /// How many requests of one key may come at once after a pause.
    key_request_burst: u32 = "500", "FUNDUQ_KEY_REQUEST_BURST";

    /// How many requests one HTTP/2 connection may have under way. Streams of runs are among them.
    http2_streams: u32 = "256", "FUNDUQ_HTTP2_STREAMS";

    /// How many links of providers may be open in all, one of each kind a key; one more is refused with 503.
    link_limit: usize = "12288", "FUNDUQ_LINK_LIMIT";

    /// How many runs may be live in all; one more is refused with 503. Each holds its input until it ends.
    live_run_limit: usize = "100000", "FUNDUQ_LIVE_RUN_LIMIT";

    /// The file of the keys that may serve where enrolment is `allow-list`: one a line. Read when it changes, and on SIGHUP.
    allow_list: FilePath = "", "FUNDUQ_ALLOW_LIST";

    /// The file of operators' tokens where enrolment is `operator`: a name and the token's SHA-256 a line, as `funduq token`
    /// makes them. Read when it changes, and on SIGHUP.
    operator_tokens: FilePath = "", "FUNDUQ_OPERATOR_TOKENS";

    /// The file of callers' tokens: a name, the token's SHA-256 and the key that it stands for a line, as `funduq token` makes
    /// them. Read when it changes, and on SIGHUP. Empty takes no tokens.
    presenter_tokens: FilePath = "", "FUNDUQ_PRESENTER_TOKENS";

    /// The header in which a trusted proxy says which key a caller has proven to it, as in `X-Funduq-Presenter`. From
    /// everybody else it is ignored.
    presenter_header: PresenterHeader = "", "FUNDUQ_PRESENTER_HEADER";

    /// Whether callers may come without a proven key. `false` closes the doors and the reads to those without one.
    @flag anonymous: bool = "true", "FUNDUQ_ANONYMOUS";

    /// Who may read a thread that a chain has bound: `open` (whoever knows its id) or `parties` (its head and its provider).
    reads: Reads = "open", "FUNDUQ_READS";
}

/// Why there is no configuration to start with.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The configuration file could not be read.
    #[error("the configuration file {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The configuration file has a setting that there is not, or a value of another kind.
    #[error("the configuration file {path}: {problem}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and what.
        problem: String,
    },
    /// Open enrolment where others than this machine come was not asked for by name.
    #[error(
        "{because} lets anybody who reaches this gateway enrol as a provider: give --enrolment allow-list, operator or \
         closed, or --allow-public-enrolment to allow that"
    )]
    PublicEnrolment {
        /// The setting by which others come, and its value.
        because: String,
    },
    /// A setting needs another beside it.
    #[error("{name} needs {needed}")]
    Needs {
        /// The setting.
        name: &'static str,
        /// What it needs, and why.
        needed: &'static str,
    },
    /// A limit is over what funduq can take.
    #[error("{name} is {value}, and at most {limit} can be taken")]
    OverLimit {
        /// The setting.
        name: &'static str,
        /// What it is.
        value: Bytes,
        /// What it may be.
        limit: Bytes,
    },
    /// A setting is there without the one that it needs.
    #[error("{name} is set and {other} is not; each needs the other")]
    Alone {
        /// The one that is there.
        name: &'static str,
        /// The one that is not.
        other: &'static str,
    },
    /// A limit that has to be something is zero.
    #[error("{name} must be more than 0")]
    Zero {
        /// The setting.
        name: &'static str,
    },
    /// A time that has to be something is zero, which is no word for `none` here.
    #[error("{name} is 0s, which would be at once and not never: give it a time, such as {example}")]
    AtOnce {
        /// The setting.
        name: &'static str,
        /// What it is as a rule.
        example: &'static str,
    },
    /// A link would be dead before it is asked whether it lives.
    #[error(
        "link-ping ({ping:?}) has to be less than link-silence ({silence:?}), or a quiet link is cut before it is pinged: \
         lower the one or raise the other"
    )]
    PingsTooLate {
        /// How often a link is pinged.
        ping: Duration,
        /// After how much silence it is dead.
        silence: Duration,
    },
}

impl Options {
    /// Reads a TOML file. Its keys are the names of the settings.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`]; [`ConfigError::Malformed`], also for a key that is no setting.
    pub fn from_file(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Unreadable { path: path.into(), source })?;
        Self::from_text(&text).map_err(|problem| ConfigError::Malformed { path: path.into(), problem })
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        if let Some(unknown) = table.keys().find(|key| !Self::NAMES.contains(&key.as_str())) {
            return Err(shown::unknown(unknown, Self::NAMES));
        }
        toml::from_str(text).map_err(|error| error.to_string())
    }
}

impl Config {
    /// Checks what one setting alone does not show.
    ///
    /// # Errors
    /// [`ConfigError`], but for a file's.
    pub fn check(&self) -> Result<(), ConfigError> {
        doors::check_enrolment(self)?;
        match (self.tls_certificate.get(), self.tls_key.get()) {
            (Some(_), None) => {
                return Err(ConfigError::Alone { name: "tls-certificate", other: "tls-key" });
            }
            (None, Some(_)) => {
                return Err(ConfigError::Alone { name: "tls-key", other: "tls-certificate" });
            }
            _ => {}
        }
        doors::check(self)?;
        let limits = [
            ("body-limit", self.body_limit, funduq_agui::MAX_INPUT_BYTES),
            ("link-event-limit", self.link_event_limit, funduq_agui::MAX_EVENT_BYTES),
        ];
        for (name, value, limit) in limits {
            if value.get() > limit {
                return Err(ConfigError::OverLimit { name, value, limit: Bytes::new(limit) });
            }
        }
        let needed = [
            ("body-limit", self.body_limit.get() == 0),
            ("body-pace", self.body_pace.get() == 0),
            ("body-bytes-limit", self.body_bytes_limit.get() == 0),
            ("peer-body-bytes-limit", self.peer_body_bytes_limit.get() == 0),
            ("link-event-limit", self.link_event_limit.get() == 0),
            ("link-queue-frames", self.link_queue_frames == 0),
            ("link-queue-bytes", self.link_queue_bytes.get() == 0),
            ("thread-queue-limit", self.thread_queue_limit == 0),
            ("connection-limit", self.connection_limit == 0),
            ("peer-connection-limit", self.peer_connection_limit == 0),
            ("peer-stream-limit", self.peer_stream_limit == 0),
            ("peer-request-burst", self.peer_request_burst == 0),
            ("key-request-burst", self.key_request_burst == 0),
            ("http2-streams", self.http2_streams == 0),
            ("link-limit", self.link_limit == 0),
            ("live-run-limit", self.live_run_limit == 0),
        ];
        if let Some((name, _)) = needed.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(ConfigError::Zero { name });
        }
        let times = [
            ("header-timeout", self.header_timeout, "30s"),
            ("body-timeout", self.body_timeout, "30s"),
            ("write-timeout", self.write_timeout, "30s"),
            ("keep-alive", self.keep_alive, "15s"),
            ("link-handshake", self.link_handshake, "10s"),
            ("link-ping", self.link_ping, "10s"),
            ("link-silence", self.link_silence, "30s"),
        ];
        if let Some((name, _, example)) = times.into_iter().find(|(_, time, _)| time.get().is_zero()) {
            return Err(ConfigError::AtOnce { name, example });
        }
        let (ping, silence) = (self.link_ping.get(), self.link_silence.get());
        if ping >= silence {
            return Err(ConfigError::PingsTooLate { ping, silence });
        }
        Ok(())
    }

    /// What of it is core's.
    pub(crate) fn core(&self) -> CoreSettings {
        CoreSettings {
            link_grace: self.link_grace.get(),
            unserved_timeout: self.unserved_timeout.get(),
            thread_queue_limit: self.thread_queue_limit,
            live_run_limit: self.live_run_limit,
            quality_tolerance: self.quality_tolerance.get(),
            ..CoreSettings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_the_command_line_comes_before_one_of_the_file() {
        let flags = Options { listen: Some("127.0.0.1:1".parse().unwrap()), ..Options::default() };
        let file: Options =
            toml::from_str("listen = '127.0.0.1:2'\ndrain = '3s'\nthread-queue-limit = 4").unwrap();
        let config = flags.or(file).resolve();
        assert_eq!(config.listen.get().port(), 1);
        assert_eq!(config.drain.get().as_secs(), 3);
        assert_eq!(config.thread_queue_limit, 4);
        assert_eq!(config.keep_alive, Config::default().keep_alive);
    }

    #[test]
    fn a_key_that_is_no_setting_is_refused_by_name() {
        let error = Options::from_text("lisen = '127.0.0.1:2'").unwrap_err();
        assert_eq!(error, "there is no setting `lisen`; did you mean `listen`?");
        let error = Options::from_text("colour = 'red'").unwrap_err();
        assert_eq!(error, "there is no setting `colour`; `funduq config` shows those that there are");
    }

    #[test]
    fn a_certificate_needs_its_key() {
        let alone = Config { tls_certificate: "a.pem".parse().unwrap(), ..Config::default() };
        assert!(matches!(alone.check(), Err(ConfigError::Alone { other: "tls-key", .. })));
        let both = Config { tls_key: "b.pem".parse().unwrap(), ..alone };
        assert!(both.check().is_ok());
    }

    #[test]
    fn limits_that_funduq_cannot_hold_are_refused() {
        let huge = Config { body_limit: Bytes::new(17 << 20), ..Config::default() };
        assert!(matches!(huge.check(), Err(ConfigError::OverLimit { name: "body-limit", .. })));
        let none = Config { link_limit: 0, ..Config::default() };
        assert!(matches!(none.check(), Err(ConfigError::Zero { name: "link-limit" })));
    }

    #[test]
    fn no_time_is_at_once_and_a_link_is_pinged_before_it_is_dead() {
        let named = |text: &str| Options::from_text(text).unwrap().resolve().check();
        for name in [
            "header-timeout",
            "body-timeout",
            "write-timeout",
            "keep-alive",
            "link-handshake",
            "link-ping",
            "link-silence",
        ] {
            let said = named(&format!("{name} = '0s'")).unwrap_err().to_string();
            assert!(said.starts_with(&format!("{name} is 0s")) && said.contains("such as"), "{said}");
        }
        let said = named("link-ping = '30s'").unwrap_err().to_string();
        assert!(said.contains("link-ping (30s)") && said.contains("link-silence (30s)"), "{said}");
        assert!(named("link-ping = '29s'").is_ok());
        // To wait for nobody is a choice.
        assert!(named("drain = '0s'\nlink-grace = '0s'\nunserved-timeout = '0s'").is_ok());
    }
}
