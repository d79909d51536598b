//! Path templates, with AIP-136 custom verbs such as `/tasks/{id}:cancel`.

/// The custom verbs of the table: a path that ends in one is never an id that happens to end so.
const CUSTOM_VERBS: [&str; 2] = [":cancel", ":subscribe"];

/// The parameters of a path that fits a template, decoded; `None` when it does not fit.
pub(super) fn match_template(template: &'static str, path: &str) -> Option<Vec<(&'static str, String)>> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut parameters = Vec::new();
    let mut segments = path.split('/');
    for wanted in template.split('/') {
        let segment = segments.next()?;
        match wanted.strip_prefix('{') {
            Some(parameter) => parameters.push(match_parameter(parameter, segment)?),
            None if percent_decode(segment)? == wanted => {}
            None => return None,
        }
    }
    segments.next().is_none().then_some(parameters)
}

/// Matches one segment against `name}` or `name}:verb`.
fn match_parameter(parameter: &'static str, segment: &str) -> Option<(&'static str, String)> {
    let (name, verb) = parameter.split_once('}')?;
    let value = if verb.is_empty() {
        let has_verb = CUSTOM_VERBS.iter().any(|verb| strip_verb(segment, verb).is_some());
        (!has_verb).then_some(segment)?
    } else {
        strip_verb(segment, verb)?
    };
    let value = percent_decode(value)?;
    (!value.is_empty()).then_some((name, value))
}

/// Takes `:verb` off the end of a segment, whose colon some clients encode.
fn strip_verb<'a>(segment: &'a str, verb: &str) -> Option<&'a str> {
    let rest = segment.strip_suffix(&verb[1..])?;
    rest.strip_suffix(':').or_else(|| rest.strip_suffix("%3A")).or_else(|| rest.strip_suffix("%3a"))
}

/// Decodes `%xx`; `None` when an escape is broken or the result is not UTF-8.
pub(super) fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first == b'%' {
            let (digits, tail) = rest.split_first_chunk::<2>()?;
            rest = tail;
            bytes.push(hex(digits[0])? << 4 | hex(digits[1])?);
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(template: &'static str, path: &str) -> Option<String> {
        let parameters = match_template(template, path)?;
        Some(
            parameters
                .into_iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(","),
        )
    }

    #[test]
    fn parameters_are_taken_and_decoded() {
        assert_eq!(fits("/tasks/{id}", "/tasks/a%2Fb%20c").as_deref(), Some("id=a/b c"));
        assert_eq!(fits("/tasks/{id}:cancel", "/tasks/a:b:cancel").as_deref(), Some("id=a:b"));
        assert_eq!(fits("/tasks/{id}:cancel", "/tasks/a%3acancel").as_deref(), Some("id=a"));
        assert_eq!(fits("/tasks/{taskId}/x/{id}", "/tasks/a/x/b/").as_deref(), Some("taskId=a,id=b"));
        assert_eq!(fits("/message:send", "/message%3Asend").as_deref(), Some(""));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(fits("/tasks/{id}", "/tasks/a:cancel"), None);
        assert_eq!(fits("/tasks/{id}", "/tasks/"), None);
        assert_eq!(fits("/tasks/{id}", "/tasks//"), None);
        assert_eq!(fits("/tasks/{id}", "/tasks/a/b"), None);
        assert_eq!(fits("/tasks/{id}:cancel", "/tasks/:cancel"), None);
        assert_eq!(fits("/tasks/{id}", "/tasks/%ff"), None);
        assert_eq!(fits("/tasks/{id}", "/tasks/%4"), None);
        assert_eq!(fits("/tasks", "tasks"), None);
    }
}
