//! Keeps a provider linked: opens, serves, and opens again after whatever ended it.

use std::sync::Arc;

use funduq_contract::LinkClosed;
use tokio::time::Instant;

use super::backoff::Backoff;
use super::error::LinkError;
use super::opening::{Failed, Opener};
use super::serve::{Surroundings, serve};
use super::service::{End, Service};
use super::socket::Lost;

/// Runs until the surroundings close it, or something that no further attempt can heal.
pub(super) async fn keep<S: Service>(
    opener: Arc<Opener>,
    backoff: Backoff,
    surroundings: Surroundings<'_, S>,
) -> Result<(), LinkError> {
    let mut failed: u32 = 0;
    let mut stray_until: Option<Instant> = None;
    loop {
        let opened = tokio::select! {
            () = surroundings.closing.cancelled() => return Ok(()),
            opened = opener.open(S::PATH) => opened,
        };
        let problem = match opened {
            Ok(opened) => {
                tracing::info!(funduq = %opener.dialer.address, "linked");
                match serve(opened, &surroundings).await {
                    End::Stopped => return Ok(()),
                    End::Final(error) => return Err(error),
                    // An opening of this very process that had been given up may have arrived
                    // late and taken the place of the one after it. Otherwise it is somebody else.
                    End::Lost(Lost::Closed(LinkClosed::Replaced))
                        if stray_until.is_none_or(|until| until < Instant::now()) =>
                    {
                        return Err(LinkError::Replaced);
                    }
                    End::Lost(Lost::Closed(reason)) => {
                        failed = if reason == LinkClosed::Replaced { 0 } else { failed + 1 };
                        format!("funduq let go of the link: {reason}")
                    }
                    End::Lost(Lost::Broken(problem)) => {
                        failed = 0;
                        problem
                    }
                }
            }
            Err(Failed::Final(error)) => return Err(error),
            Err(Failed::Temporary { problem, stray_until: stray }) => {
                stray_until = stray.or(stray_until);
                failed = failed.saturating_add(1);
                problem
            }
        };
        // Without randomness the longest wait of this round is a safe one.
        let wait = backoff.wait(failed, getrandom::u32().unwrap_or(u32::MAX));
        tracing::warn!(problem, wait_ms = wait.as_millis(), "no link; trying again");
        tokio::select! {
            () = surroundings.closing.cancelled() => return Ok(()),
            () = tokio::time::sleep(wait) => {}
        }
    }
}
