//! What the operator asks of a funduq that is running, over the socket in its data folder.

use std::path::Path;

use anyhow::{Context, bail};
use funduq_contract::{AgentName, PublicKey};
use reqwest::{Client, Method, Response};

use super::TIMEOUT;
use crate::admin::providers::{Evicted, Providers};
use crate::admin::{SOCKET, check_length};

/// Prints one line for each provider.
pub(super) async fn providers(data_dir: &Path) -> anyhow::Result<()> {
    let answer = ask(data_dir, Method::GET, "/providers").await?;
    let Providers { providers } = answer.json().await.context("the answer is none of this version's")?;
    for provider in providers {
        let listed = |words: Vec<String>| if words.is_empty() { "-".to_owned() } else { words.join(",") };
        let names = |names: Vec<AgentName>| listed(names.iter().map(ToString::to_string).collect());
        let faults = provider.faults;
        println!(
            "{} {} links={} online={} offline={} lent={} not-lent={} places={} misdeclared={} abandoned={} undelivered={} unanswered={}",
            provider.public_key,
            provider.fingerprint,
            listed(provider.links),
            names(provider.online),
            names(provider.offline),
            names(provider.lent),
            names(provider.not_lent),
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
///
/// # Errors
/// For a key of which nothing is known, which is more likely a slip than done already.
pub(super) async fn evict(data_dir: &Path, key: PublicKey) -> anyhow::Result<()> {
    let answer = ask(data_dir, Method::POST, &format!("/providers/{key}/evict")).await?;
    let evicted: Evicted = answer.json().await.context("the answer is none of this version's")?;
    match evicted {
        Evicted { links: 0, known: false } => {
            bail!(
                "{key} is unknown here: it has no link and has never published anything; `funduq providers` lists keys"
            )
        }
        Evicted { links: 0, known: true } => println!("no link of {key} was open"),
        Evicted { links, .. } => {
            println!("evicted {key} ({links} links); whether it can come back is for enrolment to say");
        }
    }
    Ok(())
}

async fn ask(data_dir: &Path, method: Method, path: &str) -> anyhow::Result<Response> {
    let socket = data_dir.join(SOCKET);
    // Else a socket that cannot be there would be looked for.
    check_length(&socket)?;
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
