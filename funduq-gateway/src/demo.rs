//! The demo provider: the SDK's demo agents, connected through the real link as any provider is.

use std::path::Path;

use funduq_contract::{AgentAddress, AgentName, PublicKey};
use funduq_provider_sdk::ws::{self, Link, LinkError};
use funduq_provider_sdk::{ProviderIdentity, demo};

/// The address of the demo agent `echo`.
pub(crate) fn echo_address(identity: &ProviderIdentity) -> AgentAddress {
    AgentAddress::new(identity.public_key(), AgentName::new("echo").expect("a short word is a name"))
}

/// Connects the demo provider to the funduq at `url` that has this key, whose certificate is trusted if it is given, and
/// returns when its agents are online.
///
/// # Errors
/// [`LinkError`] when it cannot be.
pub(crate) async fn connect(
    url: &str,
    identity: ProviderIdentity,
    funduq: PublicKey,
    trusted: Option<&Path>,
) -> Result<Link, LinkError> {
    let mut link = ws::connect(url, identity).pin(funduq).agents(demo::agents());
    if let Some(certificate) = trusted {
        link = link.trust(certificate);
    }
    let mut link = link.start()?;
    if !link.online().await {
        link.ended().await?;
    }
    Ok(link)
}
