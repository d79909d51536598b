//! What the operator asks of a funduq that is running, over the socket in its data folder.

use std::path::Path;

use anyhow::{Context, bail};
use funduq_contract::PublicKey;
use reqwest::{Client, Method, Response};

use super::TIMEOUT;
use crate::admin::SOCKET;
use crate::admin::providers::Providers;

/// Prints one line for each provider.
pub(super) async fn providers(data_dir: &Path) -> anyhow::Result<()> {
    let answer = ask(data_dir, Method::GET, "/providers").await?;
    let Providers { providers } = answer.json().await.context("the answer is none of this version's")?;
    for provider in providers {
        let names = |names: &[funduq_contract::AgentName]| {
            let names: Vec<_> = names.iter().map(|name| name.as_str()).collect();
            if names.is_empty() { "-".to_owned() } else { names.join(",") }
        };
        let faults = provider.faults;
        println!(
            "{} {} online={} offline={} places={} misdeclared={} abandoned={} undelivered={} unanswered={}",
            provider.public_key,
            provider.fingerprint,
            names(&provider.online),
            names(&provider.offline),
            provider.places_taken,
            faults.misdeclared,
            faults.abandoned,
            faults.undelivered,
            faults.unanswered,
        );
    }
    Ok(())
}

/// Cuts a provider's links.
pub(super) async fn evict(data_dir: &Path, key: PublicKey) -> anyhow::Result<()> {
    ask(data_dir, Method::POST, &format!("/providers/{key}/evict")).await?;
    println!("evicted {key}; whether it can come back is for enrolment to say");
    Ok(())
}

async fn ask(data_dir: &Path, method: Method, path: &str) -> anyhow::Result<Response> {
    let socket = data_dir.join(SOCKET);
    // Another part of the process may have chosen already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().timeout(TIMEOUT).no_proxy().unix_socket(socket.as_path()).build()?;
    // The host is a formality: the socket is where it goes.
    let request = client.request(method, format!("http://admin{path}"));
    let answer = request.send().await.with_context(|| {
        format!("no funduq answers at {}; is one running on this data folder?", socket.display())
    })?;
    if !answer.status().is_success() {
        bail!("funduq answered {}: {}", answer.status(), answer.text().await.unwrap_or_default());
    }
    Ok(answer)
}
