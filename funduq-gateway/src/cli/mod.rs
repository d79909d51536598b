//! The command line: `funduq serve`, `config`, `keygen`, `ticket`, `token`, and the operator's commands.

mod admin;
mod care;
mod variables;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use funduq_contract::{PublicKey, TicketIssued, TicketRequest};
use funduq_provider_sdk::{ProviderIdentity, identity_file};
use serde::Deserialize;

use crate::config::{Config, Options, Source};
use crate::{logs, serve, tokens};

/// A neutral relay between the callers of agents and the agents' providers.
#[derive(Debug, Parser)]
#[command(name = "funduq", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves: callers through AG-UI and A2A, providers through links.
    ///
    /// A setting comes from its flag, else from its variable FUNDUQ_…, else from the file that --config names, else from its
    /// default.
    Serve {
        /// A TOML file with settings, named as the flags are.
        #[arg(long, env = "FUNDUQ_CONFIG", value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        options: Box<Options>,
    },
    /// Prints the configuration that `serve` would use with the same flags, variables and file, as such a file, and where
    /// each value comes from.
    Config {
        /// A TOML file with settings, named as the flags are.
        #[arg(long, env = "FUNDUQ_CONFIG", value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        options: Box<Options>,
    },
    /// Lists the providers that were ever registered with a running funduq: keys, agents, faults.
    Providers {
        #[command(flatten)]
        of: Of,
    },
    /// Cuts the links of a provider of a running funduq. Its runs end as those of any provider that leaves.
    Evict {
        /// The provider's public key, 64 hex characters.
        key: PublicKey,
        #[command(flatten)]
        of: Of,
    },
    /// Copies the record as it is at one moment, whether a funduq is running on it or not.
    Backup {
        /// Where to; there must be nothing yet.
        file: PathBuf,
        #[command(flatten)]
        of: Of,
    },
    /// Checks that a record is whole: pages, schema, references. Ends with 1 if it is not.
    Check {
        /// A copy to check in place of the data folder's record.
        file: Option<PathBuf>,
        #[command(flatten)]
        of: Of,
    },
    /// Takes out of the record, for good, the threads that nobody has touched for so long: each as a whole, with its runs,
    /// messages and events. Never one with a run that has not ended, nor one that another hangs off that stays.
    Prune {
        /// For how long, as in 90d or 12h.
        #[arg(long, value_name = "AGE")]
        older_than: care::Age,
        /// Only says what would go.
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        of: Of,
    },
    /// Makes a key and keeps it in a file (mode 0600), or shows the one that is there. Prints the public key.
    Keygen {
        /// The file.
        #[arg(default_value = "provider.key")]
        file: PathBuf,
    },
    /// Asks a running funduq for a ticket that lets a provider open one link, and prints it.
    Ticket {
        /// The provider's public key, 64 hex characters.
        key: PublicKey,
        /// The address of funduq.
        #[arg(long, env = "FUNDUQ_URL")]
        url: String,
        /// The file with the operator's token, for a funduq whose enrolment is `operator`.
        #[arg(long, env = "FUNDUQ_TOKEN_FILE", value_name = "FILE")]
        token_file: Option<PathBuf>,
    },
    /// Makes a bearer token. Prints the token, for whoever is to have it, and then the line for the file of tokens, which
    /// has only its hash.
    Token {
        /// What to call it: it is taken back by taking this line out.
        name: String,
        /// The public key that it stands for: of a caller's token, not of an operator's.
        #[arg(long)]
        key: Option<PublicKey>,
    },
}

/// Which funduq a command is about.
#[derive(Debug, clap::Args)]
struct Of {
    /// The file that it was started with; its data-dir counts where neither flag nor variable says one.
    #[arg(long, env = "FUNDUQ_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Its data folder.
    #[arg(long, env = "FUNDUQ_DATA_DIR")]
    data_dir: Option<PathBuf>,
}

impl Of {
    fn data_dir(self) -> anyhow::Result<PathBuf> {
        let options = Options { data_dir: self.data_dir, ..Options::default() };
        Ok(in_force(self.config.as_ref(), options)?.0.data_dir)
    }
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let command = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).command;
    let done = match command {
        Command::Config { config, options } => show(config, *options, &matches),
        Command::Serve { config, options } => serve(config, *options),
        Command::Providers { of } => {
            of.data_dir().and_then(|dir| runtime()?.block_on(admin::providers(&dir)))
        }
        Command::Evict { key, of } => {
            of.data_dir().and_then(|dir| runtime()?.block_on(admin::evict(&dir, key)))
        }
        Command::Backup { file, of } => of.data_dir().and_then(|dir| care::backup(&dir, &file)),
        Command::Check { file, of } => of.data_dir().and_then(|dir| care::check(&dir, file.as_deref())),
        Command::Prune { older_than, dry_run, of } => {
            of.data_dir().and_then(|dir| care::prune(&dir, older_than, dry_run))
        }
        Command::Keygen { file } => keygen(&file),
        Command::Ticket { key, url, token_file } => ticket(key, &url, token_file.as_deref()),
        Command::Token { name, key } => token(&name, key),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("funduq: {}", said(&error));
            ExitCode::FAILURE
        }
    }
}

/// An error with its causes, each said once: many say what caused them in their own sentence.
fn said(error: &anyhow::Error) -> String {
    let mut said = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if said.is_empty() {
            said = cause;
        } else if !said.contains(&cause) {
            said.push_str(": ");
            said.push_str(&cause);
        }
    }
    said
}

/// What is in force, from what was given and the file.
fn in_force(file: Option<&PathBuf>, options: Options) -> anyhow::Result<(Config, Options)> {
    let from_file = file.map(|file| Options::from_file(file)).transpose()?.unwrap_or_default();
    let mut options = options.or(from_file.clone());
    options.log = options.log.or_else(|| std::env::var(RUST_LOG).ok());
    Ok((options.resolve(), from_file))
}

/// Where the filter of the log comes from as well, since other programs take it from there.
const RUST_LOG: &str = "RUST_LOG";

fn show(file: Option<PathBuf>, options: Options, matches: &ArgMatches) -> anyhow::Result<()> {
    let (config, from_file) = in_force(file.as_ref(), options)?;
    let given = matches.subcommand().map(|(_, given)| given).context("a command was given")?;
    let in_file = from_file.given();
    for shown in config.shown() {
        let source = match (given.value_source(&shown.name.replace('-', "_")), &file) {
            (Some(ValueSource::CommandLine), _) => Source::Flag,
            (Some(ValueSource::EnvVariable), _) => Source::Variable(shown.variable),
            (_, Some(file)) if in_file.contains(&shown.name) => Source::File(file.clone()),
            _ if shown.name == "log" && std::env::var_os(RUST_LOG).is_some() => Source::Variable(RUST_LOG),
            _ => Source::Default,
        };
        println!("{} = {} # {source}", shown.name, shown.value);
    }
    for told in variables::strangers(&Cli::command(), variables::names()) {
        println!("# {told}");
    }
    Ok(config.check()?)
}

fn serve(file: Option<PathBuf>, options: Options) -> anyhow::Result<()> {
    let (config, _) = in_force(file.as_ref(), options)?;
    config.check()?;
    logs::start(&config.log, config.log_format).context("the log filter")?;
    for told in variables::strangers(&Cli::command(), variables::names()) {
        tracing::warn!("{told}");
    }
    runtime()?.block_on(serve::serve(config))
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")
}

fn keygen(file: &PathBuf) -> anyhow::Result<()> {
    let identity: ProviderIdentity = identity_file::load_or_create(file)?.into();
    println!("{}", identity.public_key());
    Ok(())
}

/// How long a funduq may take to answer.
const TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Deserialize)]
struct Refusal {
    error: Reason,
}

#[derive(Deserialize)]
struct Reason {
    code: String,
    message: String,
}

fn token(name: &str, key: Option<PublicKey>) -> anyhow::Result<()> {
    if name.is_empty() || name.contains(|letter: char| letter.is_whitespace() || letter == '#') {
        bail!("a token's name is one word without a #");
    }
    let token = tokens::generate().context("the operating system has no random source")?;
    println!("{token}");
    let key = key.map(|key| format!(" {key}")).unwrap_or_default();
    println!("{name} {}{key}", tokens::TokenHash::of(&token));
    Ok(())
}

fn ticket(public_key: PublicKey, url: &str, token_file: Option<&Path>) -> anyhow::Result<()> {
    if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
        bail!(
            "{url:?} is no address of a funduq: it begins with https:// or http://, as in http://127.0.0.1:8787"
        );
    }
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let token = text.lines().next().map(str::trim).filter(|token| !token.is_empty()).map(str::to_owned);
        token.with_context(|| format!("{}: there is no token on the first line", path.display()))
    };
    let token = token_file.map(read).transpose()?;
    runtime()?.block_on(async {
        // Another part of the process may have chosen already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(TIMEOUT).build()?;
        let address = format!("{}/tickets", url.trim_end_matches('/'));
        let mut request = client.post(&address).json(&TicketRequest { public_key });
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let answer = request.send().await?;
        let status = answer.status();
        let body = answer.bytes().await?;
        if !status.is_success() {
            let refusal: Option<Refusal> = serde_json::from_slice(&body).ok();
            match refusal.map(|refusal| refusal.error) {
                Some(Reason { code, message }) => bail!("{address} refused: {message} ({code})"),
                None => bail!("{address} answered {status}"),
            }
        }
        let issued: TicketIssued = serde_json::from_slice(&body)
            .with_context(|| format!("{address} answered with something that is no ticket"))?;
        println!("{}", issued.ticket);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_each_cause_once() {
        let used = || std::io::Error::from_raw_os_error(98);
        let address = "127.0.0.1:1".parse().unwrap();
        let twice = anyhow::Error::new(crate::gateway::StartError::Listen { address, source: used() });
        assert_eq!(said(&twice), format!("cannot listen on 127.0.0.1:1: {}", used()));
        let apart = anyhow::Error::new(used()).context("the file");
        assert_eq!(said(&apart), format!("the file: {}", used()));
    }
}
