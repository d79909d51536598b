//! What crosses an open link of either kind: the roster first, then frames both ways and pings, until it ends.

use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use super::opening::Opened;
use super::service::{Attached, End, Heard, Service};
use super::socket::{Lost, PING_EVERY, Reader, Writer};

/// What the link's surroundings tell it and hear from it.
pub(super) struct Surroundings<'a, S> {
    pub(super) service: &'a S,
    /// Fired when nothing new is wanted: the roster is taken down.
    pub(super) stopping: &'a CancellationToken,
    /// Fired when nothing more is to be sent.
    pub(super) closing: &'a CancellationToken,
    /// Whether funduq has taken the roster.
    pub(super) online: &'a watch::Sender<bool>,
}

/// Serves the link until it ends.
pub(super) async fn serve<S: Service, IO: AsyncRead + AsyncWrite + Unpin>(
    opened: Opened<IO>,
    surroundings: &Surroundings<'_, S>,
) -> End {
    let Opened { reader, writer, ok } = opened;
    let attached = surroundings.service.attach(&ok);
    let end = tokio::select! {
        end = hear(reader, &attached, surroundings.online) => end,
        end = speak(writer, &attached, surroundings) => end,
    };
    surroundings.online.send_replace(false);
    end
}

async fn hear<IO: AsyncRead + AsyncWrite + Unpin>(
    mut reader: Reader<IO>,
    attached: &impl Attached,
    online: &watch::Sender<bool>,
) -> End {
    loop {
        let text = match reader.next().await {
            Ok(text) => text,
            Err(lost) => return lost.into(),
        };
        match attached.hear(&text) {
            Heard::Fine => {}
            Heard::RosterTaken => drop(online.send_replace(true)),
            Heard::End(end) => return end,
        }
    }
}

async fn speak<S: Service, IO: AsyncRead + AsyncWrite + Unpin>(
    mut writer: Writer<IO>,
    attached: &S::Attached,
    surroundings: &Surroundings<'_, S>,
) -> End {
    match speak_until_closing(&mut writer, attached, surroundings).await {
        Err(lost) => lost.into(),
        Ok(()) => {
            writer.close().await;
            End::Stopped
        }
    }
}

async fn speak_until_closing<S: Service, IO: AsyncRead + AsyncWrite + Unpin>(
    writer: &mut Writer<IO>,
    attached: &S::Attached,
    surroundings: &Surroundings<'_, S>,
) -> Result<(), Lost> {
    let Surroundings { service, stopping, closing, .. } = surroundings;
    let mut taken_down = stopping.is_cancelled();
    writer.feed(service.roster(taken_down)).await?;
    writer.flush().await?;
    let mut pings = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut batch = Vec::new();
    loop {
        tokio::select! {
            () = attached.next(&mut batch) => say::<S, _>(writer, &mut batch).await?,
            _ = pings.tick() => writer.ping().await?,
            () = stopping.cancelled(), if !taken_down => {
                taken_down = true;
                writer.feed(service.roster(taken_down)).await?;
                writer.flush().await?;
            }
            () = closing.cancelled() => break,
        }
    }
    // What was said before the end is sent before the end.
    while attached.next(&mut batch).now_or_never().is_some() {
        say::<S, _>(writer, &mut batch).await?;
    }
    Ok(())
}

async fn say<S: Service, IO: AsyncRead + AsyncWrite + Unpin>(
    writer: &mut Writer<IO>,
    batch: &mut Vec<<S::Attached as Attached>::Outgoing>,
) -> Result<(), Lost> {
    for outgoing in batch.drain(..) {
        writer.feed(S::Attached::text_of(outgoing)).await?;
    }
    writer.flush().await
}
