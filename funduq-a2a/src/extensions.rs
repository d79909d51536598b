//! The `A2A-Extensions` service parameter: URIs of the extensions a caller wants active (A2A 1.0 §3.2.6, §4.6).

/// The header that names extensions, in requests and in responses.
pub const EXTENSIONS_PARAMETER: &str = "A2A-Extensions";

/// The spelling of [`EXTENSIONS_PARAMETER`] that A2A 0.3 clients use.
pub const EXTENSIONS_PARAMETER_V03: &str = "X-A2A-Extensions";

/// The URIs in the values of the header, which may be given several times, each once and in order.
pub fn parse_extensions<'a>(values: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut uris = Vec::new();
    for uri in values.into_iter().flat_map(|value| value.split(',')) {
        let uri = uri.trim();
        if !uri.is_empty() && !uris.contains(&uri) {
            uris.push(uri);
        }
    }
    uris
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_split_at_commas_and_joined() {
        let uris = parse_extensions([
            "https://a.example/v1, https://b.example/v1",
            "",
            "https://a.example/v1,,https://c",
        ]);
        assert_eq!(uris, ["https://a.example/v1", "https://b.example/v1", "https://c"]);
    }
}
