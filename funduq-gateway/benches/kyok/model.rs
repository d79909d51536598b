//! A model's server that says as many chunks as the last message names, each as soon as it can.

use std::convert::Infallible;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::post;
use axum::serve::ListenerExt;
use futures_util::stream;
use serde_json::Value;

/// Serves it, and says where.
pub(crate) async fn serve() -> String {
    let router = Router::new().route("/v1/chat/completions", post(complete));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/chat/completions", listener.local_addr().unwrap());
    // As any server of streams does; without it each chunk waits for the one before to be acknowledged.
    let listener = listener.tap_io(|connection| connection.set_nodelay(true).unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

async fn complete(body: Bytes) -> Body {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let chunks: usize = request["messages"][0]["content"].as_str().unwrap().parse().unwrap();
    let frames = stream::unfold(0, move |said| async move {
        let frame = match said {
            said if said < chunks => format!(
                "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
                 \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"word {said} \"}},\"finish_reason\":null}}]}}\n\n"
            ),
            said if said == chunks => "data: [DONE]\n\n".to_owned(),
            _ => return None,
        };
        // A model makes one token after another.
        tokio::task::yield_now().await;
        Some((Ok::<_, Infallible>(frame), said + 1))
    });
    Body::from_stream(frames)
}
