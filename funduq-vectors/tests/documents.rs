//! The pages about the contract name everything that the file publishes, with the very bytes.

use funduq_vectors::{generate, surface};

fn page(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[track_caller]
fn names_all<'a>(page: &str, words: impl IntoIterator<Item = &'a str>) {
    for word in words {
        assert!(page.contains(&format!("`{word}`")), "the page does not name `{word}`");
    }
}

#[test]
fn the_contracts_page_has_every_payload_refusal_verb_and_constant() {
    let (page, surface) = (page("contract.md"), surface());
    for (kind, template) in &surface.payloads {
        names_all(&page, [kind.as_str()]);
        match template.contains('\n') {
            true => assert!(page.contains(&format!("```text\n{template}\n```")), "the page lacks {template}"),
            false => names_all(&page, [template.as_str()]),
        }
    }
    names_all(&page, surface.http_signature.refusal_kinds.iter().map(String::as_str));
    names_all(&page, surface.http_signature.fields.iter().map(String::as_str));
    names_all(&page, surface.chain.refusal_kinds.iter().map(String::as_str));
    names_all(&page, [surface.chain.header_utf8.as_str()]);
    names_all(&page, surface.chain.claims.iter().chain(&surface.chain.dispatched_to).map(String::as_str));
    names_all(
        &page,
        surface
            .ports
            .iter()
            .flat_map(|(port, verbs)| std::iter::once(port).chain(verbs.keys()))
            .map(String::as_str),
    );
    names_all(&page, surface.constants.kyok_headers.iter().map(String::as_str));
}

#[test]
fn the_contracts_page_has_every_shape_that_is_no_part_of_another() {
    let page = page("contract.md");
    let vectors = generate();
    let crossing =
        vectors.wire.iter().map(|row| row.shape.as_str()).filter(|shape| !shape.ends_with("Frame"));
    names_all(&page, crossing);
}

#[test]
fn the_transports_page_has_the_opening_byte_for_byte() {
    let page = page("transport.md");
    let vectors = generate();
    for step in &vectors.handshake.steps {
        assert!(page.contains(&format!("\n{}\n", step.text_utf8)), "the page lacks {}", step.text_utf8);
    }
    let key = &vectors.test_key.others[&vectors.handshake.inputs.funduq].public_key;
    let (ticket, nonce) = (&vectors.handshake.inputs.funduq_nonce, &vectors.handshake.inputs.provider_nonce);
    for kind in ["provider-connect", "funduq-connect"] {
        let text = vectors.contract.surface.payloads[kind]
            .replace("{funduq_public_key}", key)
            .replace("{funduq_nonce}", ticket)
            .replace("{provider_nonce}", nonce);
        assert!(page.contains(&format!("\n{text}\n")), "the page lacks {text}");
    }
}

#[test]
fn the_transports_page_has_every_word_of_the_link() {
    let (page, surface) = (page("transport.md"), surface());
    names_all(&page, surface.frames.values().flatten().map(String::as_str));
    let words = |shape: &str| -> Vec<String> {
        let schema = &generate().schemas[shape];
        schema["oneOf"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["const"].as_str().unwrap().to_owned())
            .collect()
    };
    for shape in ["ConnectRefusal", "PortErrorCode", "LinkClosed"] {
        names_all(&page, words(shape).iter().map(String::as_str));
    }
}
