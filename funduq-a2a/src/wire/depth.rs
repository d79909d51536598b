//! The nesting limit, checked on the text before anything recurses into it.

/// How deep a document may nest: the default of protobuf's own JSON parsers.
///
/// It stays below the limit of `serde_json` (127), so that whatever passes here can be parsed again later.
pub const MAX_DEPTH: usize = 100;

/// Whether valid JSON nests deeper than [`MAX_DEPTH`].
pub(crate) fn is_too_deep(json: &str) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for byte in json.bytes() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed_and_one_more_is_not() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(!is_too_deep(&nested(MAX_DEPTH)));
        assert!(is_too_deep(&nested(MAX_DEPTH + 1)));
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        let text = format!("[\"{}\\\"{}\"]", "[".repeat(200), "{".repeat(200));
        assert!(!is_too_deep(&text));
    }

    #[test]
    fn siblings_do_not_add_up() {
        let wide = format!("[{}[]]", "[],".repeat(500));
        assert!(!is_too_deep(&wide));
    }
}
