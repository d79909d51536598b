//! From the server's stream of chunks to the pieces of an answer.

use std::collections::VecDeque;

use reqwest::Response;
use serde::Deserialize;
use serde_json::Value;

/// The longest line of the stream that is waited for.
const MAX_LINE: usize = 8 << 20;

pub(crate) enum Piece {
    Text(String),
    Call { index: u64, id: Option<String>, name: String },
    Arguments { index: u64, delta: String },
    Usage { input: u64, output: u64 },
    Failed(String),
}

/// Reads server-sent events, however they are cut into packets.
pub(crate) struct Pieces {
    response: Response,
    unread: Vec<u8>,
    ready: VecDeque<Piece>,
    done: bool,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
    #[serde(default)]
    tool_calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    index: u64,
    id: Option<String>,
    #[serde(default)]
    function: Function,
}

#[derive(Default, Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

impl Pieces {
    pub(crate) fn new(response: Response) -> Self {
        Self { response, unread: Vec::new(), ready: VecDeque::new(), done: false }
    }

    /// The next piece; `None` at the end of the answer.
    pub(crate) async fn next(&mut self) -> Result<Option<Piece>, reqwest::Error> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Ok(Some(piece));
            }
            if self.done {
                return Ok(None);
            }
            match self.response.chunk().await? {
                Some(bytes) => self.unread.extend_from_slice(&bytes),
                None => {
                    self.done = true;
                    self.ready.push_back(Piece::Failed("the model's answer broke off".to_owned()));
                }
            }
            self.read_lines();
        }
    }

    fn read_lines(&mut self) {
        while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            if let Some(data) = String::from_utf8_lossy(&line).trim_end().strip_prefix("data:") {
                self.read(data.trim_start());
            }
        }
        if self.unread.len() > MAX_LINE {
            self.done = true;
            self.ready.push_back(Piece::Failed("the model sent a line without end".to_owned()));
        }
    }

    fn read(&mut self, data: &str) {
        if data == "[DONE]" {
            self.done = true;
            // An end that was announced is no breaking off.
            self.ready.retain(|piece| !matches!(piece, Piece::Failed(_)));
            return;
        }
        let Ok(chunk) = serde_json::from_str::<Chunk>(data) else {
            self.ready.push_back(Piece::Failed("the model's server sent what is no chunk".to_owned()));
            return;
        };
        if chunk.error.is_some() {
            eprintln!("the model's server: {data}");
            self.ready.push_back(Piece::Failed("the model failed in the middle of its answer".to_owned()));
        }
        for delta in chunk.choices.into_iter().map(|choice| choice.delta) {
            if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
                self.ready.push_back(Piece::Text(text));
            }
            for Call { index, id, function } in delta.tool_calls {
                if let Some(name) = function.name {
                    self.ready.push_back(Piece::Call { index, id, name });
                }
                if let Some(delta) = function.arguments {
                    self.ready.push_back(Piece::Arguments { index, delta });
                }
            }
        }
        if let Some(usage) = chunk.usage {
            let (input, output) = (usage.prompt_tokens, usage.completion_tokens);
            self.ready.push_back(Piece::Usage { input, output });
        }
    }
}
