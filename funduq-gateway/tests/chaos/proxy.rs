//! The network between a provider and the gateway: carries bytes, and does to each connection what its fate says.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::weather::{Cut, Fate, Happened, Tally, Trouble, Way, Weather};

/// With so many bytes down, a WebSocket's opening was answered: its handshake has fewer, `connectOk` more.
const ANSWERED: u64 = 400;
/// How long an opening that comes late waits for a link to come after.
const LATE_AT_MOST: Duration = Duration::from_secs(2);
/// How long the proxy listens to what the gateway makes of it.
const AFTERMATH: Duration = Duration::from_millis(300);

/// A proxy on a port of its own. Dropped, it cuts everything.
pub(crate) struct Proxy {
    pub(crate) url: String,
    network: Arc<Network>,
    accepting: JoinHandle<()>,
}

struct Network {
    gateway: String,
    weather: Mutex<Weather>,
    happened: Mutex<Tally>,
    /// How many links the gateway has answered through here.
    links: watch::Sender<u64>,
    /// Nothing is carried and nothing taken.
    dark: watch::Sender<bool>,
}

impl Proxy {
    /// Stands before the gateway at `url`.
    pub(crate) async fn before(url: &str, weather: Weather) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let network = Arc::new(Network {
            gateway: url.strip_prefix("http://").unwrap().to_owned(),
            weather: Mutex::new(weather),
            happened: Mutex::default(),
            links: watch::Sender::new(0),
            dark: watch::Sender::new(false),
        });
        let url = format!("http://{}", listener.local_addr().unwrap());
        let accepting = tokio::spawn(accept(listener, network.clone()));
        Self { url, network, accepting }
    }

    /// Cuts every connection and takes none, until it is light again.
    pub(crate) fn dark(&self, is_dark: bool) {
        self.network.dark.send_replace(is_dark);
    }

    /// What happened so far.
    pub(crate) fn happened(&self) -> Tally {
        std::mem::take(&mut self.network.happened.lock().unwrap())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, network: Arc<Network>) {
    let mut carried = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        while carried.try_join_next().is_some() {}
        if *network.dark.borrow() {
            continue;
        }
        let fate = network.weather.lock().unwrap().fate();
        let network = network.clone();
        carried.spawn(async move {
            let mut dark = network.dark.subscribe();
            tokio::select! {
                // Whichever way it fails, both ends see it end.
                _ = network.carry(client, fate) => {}
                _ = dark.wait_for(|dark| *dark) => {}
            }
        });
    }
}

impl Network {
    fn note(&self, what: Happened) {
        self.happened.lock().unwrap().note(what);
    }

    async fn dial(&self) -> io::Result<TcpStream> {
        let gateway = TcpStream::connect(&self.gateway).await?;
        gateway.set_nodelay(true)?;
        Ok(gateway)
    }

    async fn carry(&self, client: TcpStream, fate: Fate) -> io::Result<()> {
        client.set_nodelay(true)?;
        match fate {
            Fate::Fair => self.troubled(client, None).await,
            Fate::Troubled(trouble) => self.troubled(client, Some(trouble)).await,
            Fate::Refused => {
                self.note(Happened::Refused);
                Ok(())
            }
            Fate::Doubled { first_is_heard } => self.doubled(client, first_is_heard).await,
            Fate::Late(by) => self.late(client, by).await,
        }
    }

    async fn troubled(&self, mut client: TcpStream, trouble: Option<Trouble>) -> io::Result<()> {
        let mut gateway = self.dial().await?;
        let of = |way| trouble.filter(|trouble| trouble.way == way);
        let (mut from_client, mut to_client) = client.split();
        let (mut from_gateway, mut to_gateway) = gateway.split();
        let carried = tokio::try_join!(
            self.pump(&mut from_client, &mut to_gateway, of(Way::Up), false),
            self.pump(&mut from_gateway, &mut to_client, of(Way::Down), true),
        );
        match carried {
            Ok(_) => {}
            Err(Ended::Broken) => {}
            Err(Ended::Cut(Cut::Both)) => self.note(Happened::CutBoth),
            Err(Ended::Cut(Cut::GatewayFirst(later))) => {
                self.note(Happened::CutGatewayFirst);
                drop(gateway);
                sleep(later).await;
            }
            Err(Ended::Cut(Cut::ProviderFirst(later))) => {
                self.note(Happened::CutProviderFirst);
                drop(client);
                sleep(later).await;
            }
        }
        Ok(())
    }

    /// Carries one way until its end.
    async fn pump(
        &self,
        from: &mut ReadHalf<'_>,
        to: &mut WriteHalf<'_>,
        mut trouble: Option<Trouble>,
        down: bool,
    ) -> Result<(), Ended> {
        let mut buffer = vec![0; 16 << 10];
        let mut carried = 0_u64;
        let mut is_link_answered = !down;
        loop {
            if let Some(due) = trouble.filter(|trouble| trouble.after <= carried) {
                trouble = None;
                if !due.stall.is_zero() {
                    self.note(Happened::Stalled);
                    sleep(due.stall).await;
                }
                if let Some(cut) = due.cut {
                    return Err(Ended::Cut(cut));
                }
            }
            // Up to where something happens, and no further.
            let room = trouble.map_or(u64::MAX, |trouble| trouble.after - carried);
            let room = usize::try_from(room).unwrap_or(usize::MAX).min(buffer.len());
            let read = from.read(&mut buffer[..room]).await?;
            if read == 0 {
                to.shutdown().await?;
                return Ok(());
            }
            to.write_all(&buffer[..read]).await?;
            carried += read as u64;
            if !is_link_answered && carried > ANSWERED {
                is_link_answered = true;
                self.links.send_modify(|links| *links += 1);
            }
        }
    }

    async fn doubled(&self, mut client: TcpStream, first_is_heard: bool) -> io::Result<()> {
        self.note(Happened::Doubled);
        let (mut first, mut second) = (self.dial().await?, self.dial().await?);
        let (mut from_client, mut to_client) = client.split();
        let ((from_first, mut to_first), (from_second, mut to_second)) = (first.split(), second.split());
        let (mut heard, mut unheard) =
            if first_is_heard { (from_first, from_second) } else { (from_second, from_first) };
        let up = async {
            let mut buffer = vec![0; 16 << 10];
            loop {
                let read = from_client.read(&mut buffer).await?;
                // One of the two may be gone; that is the point.
                let written = to_first.write_all(&buffer[..read]).await;
                let too = to_second.write_all(&buffer[..read]).await;
                if read == 0 || (written.is_err() && too.is_err()) {
                    return Ok::<(), Ended>(());
                }
            }
        };
        let ignored = async {
            let _ = tokio::io::copy(&mut unheard, &mut tokio::io::sink()).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = up => {}
            _ = self.pump(&mut heard, &mut to_client, None, true) => {}
            () = ignored => {}
        }
        Ok(())
    }

    /// Lets the client see its connection break once it has sent what it opens with, and delivers that after the
    /// client's next link stands.
    async fn late(&self, mut client: TcpStream, by: Duration) -> io::Result<()> {
        let mut gateway = self.dial().await?;
        let head = head(&mut client).await?;
        gateway.write_all(&head).await?;
        if !head.starts_with(b"GET /link/") {
            // A request whose answer is lost.
            self.note(Happened::CutProviderFirst);
            return Ok(());
        }
        let upgraded = self::head(&mut gateway).await?;
        client.write_all(&upgraded).await?;
        let mut opening = vec![0; 4 << 10];
        let mut read = client.read(&mut opening).await?;
        // A frame may come in pieces.
        while let Ok(more) = timeout(Duration::from_millis(5), client.read(&mut opening[read..])).await {
            match more? {
                0 => break,
                more => read += more,
            }
        }
        let mut links = self.links.subscribe();
        let before = *links.borrow_and_update();
        drop(client);
        let came = timeout(LATE_AT_MOST, links.wait_for(|links| *links > before)).await.is_ok();
        sleep(by).await;
        gateway.write_all(&opening[..read]).await?;
        if came {
            self.note(Happened::CameLate);
        }
        let mut answer = [0; 4 << 10];
        let answered = timeout(AFTERMATH, gateway.read(&mut answer)).await;
        // A refusal says so, and is no answer.
        if came
            && let Ok(Ok(read)) = answered
            && answer[..read].windows(9).any(|bytes| bytes == b"connectOk")
        {
            self.note(Happened::AnsweredLate);
            sleep(AFTERMATH).await;
        }
        Ok(())
    }
}

/// Why one way of a connection carries nothing more before its end.
enum Ended {
    Broken,
    Cut(Cut),
}

impl From<io::Error> for Ended {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

/// Everything up to the end of an HTTP message's head, and what came with it.
async fn head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(head)
}
