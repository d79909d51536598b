//! Server-sent events, as far as chat completions need them: the data of each event, however its bytes are cut.

/// The most bytes of one event.
const MAX_EVENT: usize = 8 << 20;

/// An event is longer than is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {MAX_EVENT} bytes")]
pub(crate) struct TooLong;

/// Reads a stream of events (WHATWG HTML, section 9.2) and keeps their data alone.
#[derive(Debug, Default)]
pub(crate) struct SseReader {
    unread: Vec<u8>,
    /// Where in `unread` the next line begins, and from where no end of it has been looked for.
    line: usize,
    looked: usize,
    data: Option<String>,
}

impl SseReader {
    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        self.unread.drain(..self.line);
        self.looked -= self.line;
        self.line = 0;
        let waiting = self.unread.len() + self.data.as_ref().map_or(0, String::len);
        if waiting + bytes.len() > MAX_EVENT {
            return Err(TooLong);
        }
        self.unread.extend_from_slice(bytes);
        Ok(())
    }

    /// The data of the next whole event.
    pub(crate) fn next(&mut self) -> Option<String> {
        while let Some(found) = self.unread[self.looked..].iter().position(|byte| *byte == b'\n') {
            let end = self.looked + found;
            let line = String::from_utf8_lossy(&self.unread[self.line..end]);
            let line = line.strip_suffix('\r').unwrap_or(&line);
            let ended = if line.is_empty() { self.data.take() } else { None };
            if let Some(data) = line.strip_prefix("data:") {
                let data = data.strip_prefix(' ').unwrap_or(data);
                match &mut self.data {
                    Some(before) => {
                        before.push('\n');
                        before.push_str(data);
                    }
                    None => self.data = Some(data.to_owned()),
                }
            }
            self.line = end + 1;
            self.looked = self.line;
            if ended.is_some() {
                return ended;
            }
        }
        self.looked = self.unread.len();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut reader = SseReader::default();
        let mut events = Vec::new();
        for piece in pieces {
            reader.push(piece).unwrap();
            events.extend(std::iter::from_fn(|| reader.next()));
        }
        events
    }

    #[test]
    fn events_are_the_same_wherever_their_bytes_are_cut() {
        let text =
            ": hello\nid: 1\ndata: {\"a\":\"é\"}\n\ndata:b\r\ndata: c\r\n\r\n:\ndata: [DONE]\n\n".as_bytes();
        let whole = read(&[text]);
        assert_eq!(whole, ["{\"a\":\"é\"}", "b\nc", "[DONE]"]);
        for cut in 0..text.len() {
            assert_eq!(read(&[&text[..cut], &text[cut..]]), whole, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(read(&bytes), whole);
    }

    #[test]
    fn an_event_without_end_is_given_up() {
        let mut reader = SseReader::default();
        reader.push(b"data: ").unwrap();
        assert_eq!(reader.next(), None);
        assert_eq!(reader.push(&vec![b'x'; MAX_EVENT]), Err(TooLong));
    }
}
