//! Connections that are opened and left to lie.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::ground::Ground;
use crate::requests::memory;
use crate::support::{SOON, input, post};

/// How many lie there at once: two descriptors each, both of them this process's.
const AT_ONCE: usize = 250;
const IN_ALL: usize = 10_000;

#[tokio::test]
async fn ten_thousand_idle_connections_are_let_go_and_leave_nothing_behind() {
    let ground = Ground::configured(|config| config.header_timeout = "100ms".parse().unwrap()).await;
    let host = ground.url().strip_prefix("http://").unwrap().to_owned();
    let before = memory();
    for wave in 0..IN_ALL / AT_ONCE {
        let mut idle = Vec::with_capacity(AT_ONCE);
        for _ in 0..AT_ONCE {
            let mut connection = TcpStream::connect(&host).await.unwrap();
            // Some say as much as could become anything.
            if idle.len() % 2 == 0 {
                connection.write_all(b"P").await.unwrap();
            }
            idle.push(connection);
        }
        if wave % 10 == 0 {
            let heard = post(&ground.agui_url(), &input("hello").to_string(), &Vec::new()).await;
            assert_eq!(heard.last_event(), "RUN_FINISHED");
        }
        for mut connection in idle {
            let mut said = Vec::new();
            // With an end or with a reset, as the system has it where something had come that nobody read.
            let closed = timeout(SOON, connection.read_to_end(&mut said)).await.expect("it is closed");
            assert!(closed.is_err() || said.is_empty() || said.starts_with(b"HTTP/1.1 4"), "{said:?}");
        }
    }
    let after = memory();
    assert!(after < before + 64, "{before} MiB before, {after} MiB after");
    ground.ends_unharmed().await;
}
