//! Media types, compared without their parameters (A2A 1.0 §3.3.2, `ContentTypeNotSupportedError`).

/// Whether a media type is among the accepted ones.
///
/// What follows a `;` does not matter, nor does the case. An accepted `text/*` takes all text, `*/*` everything.
#[must_use]
pub fn is_accepted(media_type: &str, accepted: &[impl AsRef<str>]) -> bool {
    let media_type = essence(media_type);
    accepted.iter().map(|accepted| essence(accepted.as_ref())).any(|accepted| {
        let same = accepted.eq_ignore_ascii_case(media_type);
        let range = accepted.strip_suffix('*').is_some_and(|prefix| starts_with_range(media_type, prefix));
        same || range
    })
}

fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

/// Whether a media type lies in the range `type/` or `*/`.
fn starts_with_range(media_type: &str, prefix: &str) -> bool {
    let Some(kind) = prefix.strip_suffix('/') else {
        return prefix.is_empty();
    };
    kind == "*" || media_type.split('/').next().is_some_and(|own| own.eq_ignore_ascii_case(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_case_do_not_matter() {
        assert!(is_accepted("text/plain; charset=utf-8", &["text/plain"]));
        assert!(is_accepted("Text/Plain", &["text/plain;format=flowed"]));
        assert!(!is_accepted("text/html", &["text/plain"]));
        assert!(!is_accepted("text/plain", &[] as &[&str]));
    }

    #[test]
    fn ranges_take_what_lies_in_them() {
        assert!(is_accepted("text/html", &["text/*"]));
        assert!(is_accepted("image/png", &["*/*"]));
        assert!(is_accepted("image/png", &["*"]));
        assert!(!is_accepted("textual/html", &["text/*"]));
    }
}
