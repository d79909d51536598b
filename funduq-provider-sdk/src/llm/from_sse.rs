//! The chunks of an OpenAI-compatible server's own stream, carried on as they come.

use std::fmt::Display;

use funduq_agui::RawObject;
use funduq_contract::RawJson;
use futures_util::stream::{self, Stream, StreamExt};

use super::{Chunks, CompletionError};
use crate::sse::SseReader;

/// What the server's stream says next.
enum Said {
    Chunk(RawJson),
    Failed(CompletionError),
    Done,
}

impl Chunks {
    /// The chunks of the body of a streamed answer, `data: [DONE]` at its end. An `error` in it, or its breaking off,
    /// ends the answer as a failure and never as a whole one.
    pub fn from_sse<B, E>(body: impl Stream<Item = Result<B, E>> + Send + 'static) -> Self
    where
        B: AsRef<[u8]> + Send + 'static,
        E: Display + Send + 'static,
    {
        let state = (Box::pin(body), SseReader::default(), false);
        Self::new(stream::unfold(state, |(mut body, mut reader, over)| async move {
            if over {
                return None;
            }
            let said = loop {
                if let Some(data) = reader.next() {
                    break read(&data);
                }
                break match body.next().await {
                    Some(Ok(bytes)) => match reader.push(bytes.as_ref()) {
                        Ok(()) => continue,
                        Err(error) => Said::Failed(broken(&error.to_string())),
                    },
                    Some(Err(error)) => {
                        tracing::warn!(%error, "the model's server broke off its answer");
                        Said::Failed(broken("the model's server broke off its answer"))
                    }
                    None => Said::Failed(broken("the model's server ended its answer before its end")),
                };
            };
            match said {
                Said::Chunk(chunk) => Some((Ok(chunk), (body, reader, false))),
                Said::Failed(error) => Some((Err(error), (body, reader, true))),
                Said::Done => None,
            }
        }))
    }
}

fn read(data: &str) -> Said {
    #[derive(serde::Deserialize)]
    struct Failure {
        error: Option<RawObject>,
    }
    if data.trim() == "[DONE]" {
        return Said::Done;
    }
    match (serde_json::from_str(data), RawJson::new(data)) {
        (Ok(Failure { error: Some(error) }), _) => Said::Failed(CompletionError::failed(error)),
        (Ok(Failure { error: None }), Ok(chunk)) => Said::Chunk(chunk),
        _ => Said::Failed(broken("the model's server sent what is no chunk")),
    }
}

fn broken(message: &str) -> CompletionError {
    CompletionError::failure("upstream_error", message)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::FutureExt;

    use super::*;

    fn read_all(body: &str) -> (Vec<String>, Option<CompletionError>) {
        let pieces: Vec<_> =
            body.as_bytes().chunks(7).map(|piece| Ok::<_, Infallible>(piece.to_vec())).collect();
        let all: Vec<_> = Chunks::from_sse(stream::iter(pieces)).collect().now_or_never().unwrap();
        let mut chunks = Vec::new();
        for said in all {
            match said {
                Ok(chunk) => chunks.push(chunk.get().to_owned()),
                Err(error) => return (chunks, Some(error)),
            }
        }
        (chunks, None)
    }

    #[test]
    fn an_answer_is_whole_when_the_server_said_so_and_not_before() {
        let whole = read_all("data: {\"n\": 1.0}\n\ndata: [DONE]\n\n");
        assert_eq!(whole, (vec![r#"{"n": 1.0}"#.to_owned()], None));
        let (chunks, error) = read_all("data: {\"n\": 1.0}\n\n");
        assert_eq!(chunks.len(), 1);
        assert!(!error.unwrap().is_refusal());
    }

    #[test]
    fn an_error_in_the_stream_is_carried_on_as_it_is() {
        let (_, error) = read_all("data: {\"error\": {\"code\": 7, \"message\": \"over\"}}\n\n");
        let error = error.unwrap();
        assert_eq!(error.error().get("code").unwrap().get(), "7");
        assert!(read_all("data: nonsense\n\n").1.is_some());
    }
}
