//! One event as one frame of an event stream (WHATWG HTML, Server-sent events): LF only, never split.

use bytes::BytesMut;
use funduq_contract::RunId;

/// What keeps a silent stream alive: a comment line. A blank line after it would make it a frame, which one stock client
/// takes for a broken event.
pub(crate) const KEEP_ALIVE: &[u8] = b":\n";

/// Writes an event's frame: `id: {run}:{number}` where the event has a number, its JSON, a blank line.
pub(crate) fn write(buffer: &mut BytesMut, run: &RunId, number: Option<u64>, json: &str) {
    buffer.reserve(run.as_str().len() + json.len() + 48);
    if let Some(number) = number {
        let mut digits = itoa::Buffer::new();
        for part in ["id: ", run.as_str(), ":", digits.format(number), "\n"] {
            buffer.extend_from_slice(part.as_bytes());
        }
    }
    write_data(buffer, json);
}

/// Writes a frame that is data alone.
///
/// JSON may have line ends between its values, and a frame's line ends at each of them: the JSON goes on in the next `data:`
/// line, and a reader joins them with LF.
pub(crate) fn write_data(buffer: &mut BytesMut, json: &str) {
    buffer.reserve(json.len() + 8);
    let mut rest = json.as_bytes();
    loop {
        buffer.extend_from_slice(b"data: ");
        let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else { break };
        buffer.extend_from_slice(&rest[..end]);
        buffer.extend_from_slice(b"\n");
        let length = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = &rest[end + length..];
    }
    buffer.extend_from_slice(rest);
    buffer.extend_from_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: Option<u64>, json: &str) -> String {
        let mut buffer = BytesMut::new();
        write(&mut buffer, &RunId::new("r1").unwrap(), number, json);
        String::from_utf8(buffer.to_vec()).unwrap()
    }

    #[test]
    fn a_frame_is_its_id_its_event_and_a_blank_line() {
        assert_eq!(frame(Some(7), r#"{"a":"é\n"}"#), "id: r1:7\ndata: {\"a\":\"é\\n\"}\n\n");
    }

    #[test]
    fn what_has_no_number_has_no_id() {
        assert_eq!(frame(None, "{}"), "data: {}\n\n");
    }

    #[test]
    fn each_kind_of_line_end_in_the_json_begins_another_data_line() {
        assert_eq!(frame(None, "{\n\"a\":\r\n1\r}"), "data: {\ndata: \"a\":\ndata: 1\ndata: }\n\n");
        assert_eq!(frame(None, "{}\n"), "data: {}\ndata: \n\n");
    }
}
