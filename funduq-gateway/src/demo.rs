//! The demo provider: the SDK's demo agents, connected through the real link as any provider is.

use funduq_contract::{AgentAddress, AgentName, PublicKey};
use funduq_provider_sdk::ws::{self, Link, LinkError};
use funduq_provider_sdk::{ProviderIdentity, demo};

/// The address of the demo agent `echo`.
pub(crate) fn echo_address(identity: &ProviderIdentity) -> AgentAddress {
    AgentAddress::new(identity.public_key(), AgentName::new("echo").expect("a short word is a name"))
}

/// Connects the demo provider to the funduq at `url` that has this key, and returns when its agents are online.
///
/// # Errors
/// [`LinkError`] when it cannot be.
pub(crate) async fn connect(
    url: &str,
    identity: ProviderIdentity,
    funduq: PublicKey,
) -> Result<Link, LinkError> {
    let mut link = ws::connect(url, identity).pin(funduq).agents(demo::agents()).start()?;
    if !link.online().await {
        link.ended().await?;
    }
    Ok(link)
}
