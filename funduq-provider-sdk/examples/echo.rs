//! Puts the demo agent online: `echo --url URL [--key FILE] [--funduq-key KEY] [--name NAME] [--trust PEM]`.

use funduq_provider_sdk::{ProviderIdentity, demo, ws};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut url, mut key) = ("http://127.0.0.1:8787".to_owned(), "provider.key".to_owned());
    let (mut funduq_key, mut name, mut trusted) = (None, "echo".to_owned(), None);
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or(format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--url" => url = value,
            "--key" => key = value,
            "--funduq-key" => funduq_key = Some(value.parse()?),
            "--name" => name = value,
            "--trust" => trusted = Some(value),
            _ => {
                return Err(
                    format!("{flag}: there are --url, --key, --funduq-key, --name and --trust").into()
                );
            }
        }
    }
    let mut link = ws::connect(url, ProviderIdentity::load_or_create(key)?).agent(demo::echo(&name)?);
    if let Some(funduq_key) = funduq_key {
        link = link.pin(funduq_key);
    }
    if let Some(certificates) = trusted {
        link = link.trust(certificates);
    }
    let mut terminated = signal(SignalKind::terminate())?;
    let stop = async {
        tokio::select! { _ = tokio::signal::ctrl_c() => {}, _ = terminated.recv() => {} }
    };
    if let Err(error) = link.run_until(stop).await {
        eprintln!("echo: {error}");
        std::process::exit(1);
    }
    Ok(())
}
