//! What the examples share: where funduq is and who this provider is, from flags, and the signals to stop at.

use funduq_provider_sdk::ws::{self, Connection};
use funduq_provider_sdk::{IdentityFileError, ProviderIdentity, ServedAgent};
use tokio::signal::unix::{SignalKind, signal};

/// The flags that every example takes, and those that only this one does.
pub(crate) struct Flags {
    pub(crate) url: String,
    key: String,
    pub(crate) funduq_key: Option<String>,
    own: Vec<(String, String)>,
}

impl Flags {
    /// Reads `--url`, `--key`, `--funduq-key` and the named ones.
    pub(crate) fn read(known: &[&str]) -> Result<Self, String> {
        let mut flags = Self {
            url: "http://127.0.0.1:8787".to_owned(),
            key: "provider.key".to_owned(),
            funduq_key: None,
            own: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(flag) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
            match flag.as_str() {
                "--url" => flags.url = value,
                "--key" => flags.key = value,
                "--funduq-key" => flags.funduq_key = Some(value),
                own if known.contains(&own) => flags.own.push((flag, value)),
                _ => {
                    return Err(format!(
                        "{flag}: there are --url, --key, --funduq-key, {}",
                        known.join(", ")
                    ));
                }
            }
        }
        Ok(flags)
    }

    /// The value of one of the example's own flags.
    pub(crate) fn get(&self, flag: &str) -> Option<&str> {
        self.own.iter().rev().find(|(known, _)| known == flag).map(|(_, value)| value.as_str())
    }

    /// The provider's key, made where there is none.
    pub(crate) fn identity(&self) -> Result<ProviderIdentity, IdentityFileError> {
        ProviderIdentity::load_or_create(&self.key)
    }

    /// Serves the agent until Ctrl-C or SIGTERM.
    pub(crate) async fn serve(&self, agent: ServedAgent) -> Result<(), Box<dyn std::error::Error>> {
        let identity = self.identity()?;
        println!("serving {} as {}", agent.name(), identity.public_key());
        let mut link: Connection = ws::connect(&self.url, identity).agent(agent);
        if let Some(key) = &self.funduq_key {
            link = link.pin(key.parse()?);
        }
        Ok(link.run_until(asked_to_stop()?).await?)
    }
}

/// Ready at Ctrl-C or SIGTERM.
pub(crate) fn asked_to_stop() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminated = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! { _ = tokio::signal::ctrl_c() => {}, _ = terminated.recv() => {} }
    })
}

/// Ends the process with an error that a person can read.
pub(crate) fn report(result: Result<(), Box<dyn std::error::Error>>) {
    if let Err(error) = result {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
