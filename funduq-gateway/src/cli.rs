//! The command line: `funduq serve`, `funduq keygen`, `funduq ticket`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Parser, Subcommand};
use funduq_contract::{PublicKey, TicketIssued, TicketRequest};
use funduq_provider_sdk::{ProviderIdentity, identity_file};
use serde::Deserialize;

use crate::config::{Config, Options};
use crate::{logs, serve};

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
    },
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve { config, options } => serve(config, *options),
        Command::Keygen { file } => keygen(&file),
        Command::Ticket { key, url } => ticket(key, &url),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("funduq: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn serve(file: Option<PathBuf>, options: Options) -> anyhow::Result<()> {
    let from_file = file.map(|file| Options::from_file(&file)).transpose()?.unwrap_or_default();
    let mut options = options.or(from_file);
    options.log = options.log.or_else(|| std::env::var("RUST_LOG").ok());
    let config: Config = options.resolve();
    config.check()?;
    logs::start(&config.log).context("the log filter")?;
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

fn ticket(public_key: PublicKey, url: &str) -> anyhow::Result<()> {
    runtime()?.block_on(async {
        // Another part of the process may have chosen already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(TIMEOUT).build()?;
        let address = format!("{}/tickets", url.trim_end_matches('/'));
        let answer = client.post(&address).json(&TicketRequest { public_key }).send().await?;
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
