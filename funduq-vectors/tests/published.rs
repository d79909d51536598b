//! The published file is the one that this crate makes, and the contract crate agrees with each of its rows.

use funduq_vectors::{
    ChainVerdict, ContractCrate, Implementation, PayloadInputs, TEXT, WireRow, WireVerdict, replay, surface,
    vectors,
};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn the_file_is_what_the_generator_makes() {
    assert!(
        funduq_vectors::generate_text() == TEXT,
        "contract-vectors.json is stale: run `cargo xtask vectors`"
    );
}

#[test]
fn the_contract_crate_names_the_fingerprint_of_what_is_published() {
    let fingerprint = vectors().unwrap().contract.fingerprint;
    assert_eq!(funduq_contract::CONTRACT_FINGERPRINT, fingerprint, "set it in funduq-contract/src/lib.rs");
}

#[test]
fn the_generator_makes_the_same_bytes_each_time() {
    assert_eq!(funduq_vectors::generate_text(), funduq_vectors::generate_text());
}

#[test]
fn the_contract_crate_agrees_with_every_row() {
    let vectors = vectors().unwrap();
    let report = replay(&vectors, &ContractCrate);
    report.assert_clean();
    let rows =
        vectors.vectors.len() + vectors.wire.len() + vectors.chains.len() + vectors.handshake.steps.len() + 3;
    assert_eq!(report.rows().len(), rows);
}

#[test]
fn each_family_has_at_least_two_rows_and_the_special_ones() {
    let vectors = vectors().unwrap();
    let mut count = BTreeMap::new();
    for row in &vectors.vectors {
        *count.entry(row.inputs.kind()).or_insert(0) += 1;
    }
    assert_eq!(count.len(), surface().payloads.len());
    assert!(count.values().all(|rows| *rows >= 2), "{count:?}");
    let any = |test: fn(&PayloadInputs) -> bool| vectors.vectors.iter().any(|row| test(&row.inputs));
    assert!(any(
        |inputs| matches!(inputs, PayloadInputs::ProviderConnect { funduq_public_key, .. } if funduq_public_key.is_empty())
    ));
    assert!(any(|inputs| matches!(inputs, PayloadInputs::Resolution { ask_ids, .. }
        if !ask_ids.is_sorted() && ask_ids.iter().any(|id| !id.is_ascii()))));
    assert!(any(
        |inputs| matches!(inputs, PayloadInputs::KyokCall { body_utf8, .. } if !body_utf8.is_ascii())
    ));
}

#[test]
fn each_word_of_a_chains_refusal_has_a_row() {
    let vectors = vectors().unwrap();
    let shown: BTreeSet<_> = vectors
        .chains
        .iter()
        .filter_map(|row| match &row.verdict {
            ChainVerdict::Refused { error, .. } => Some(error.clone()),
            ChainVerdict::Accepted { .. } => None,
        })
        .collect();
    let published: BTreeSet<_> = surface().chain.refusal_kinds.into_iter().collect();
    assert_eq!(shown, published);
}

#[test]
fn every_shape_that_is_no_part_of_another_has_a_wire_row() {
    let vectors = vectors().unwrap();
    let shown: BTreeSet<_> = vectors.wire.iter().map(|row| row.shape.as_str()).collect();
    for shape in [
        "Connect",
        "ConnectOk",
        "ConnectErr",
        "Registration",
        "Offer",
        "Verdict",
        "Cancel",
        "Ack",
        "DeliveredRun",
        "Complete",
        "Chunk",
        "CompletionEnd",
        "CompletionFailed",
        "DeliveredCompletion",
        "KyokGrant",
        "FunduqProps",
        "LlmRegistration",
        "CancelCompletion",
        "TicketRequest",
        "TicketIssued",
        "UpFrame",
        "DownFrame",
        "LlmUpFrame",
        "LlmDownFrame",
    ] {
        assert!(shown.contains(shape), "{shape}");
    }
}

#[test]
fn every_word_of_the_link_has_a_wire_row() {
    let vectors = vectors().unwrap();
    for (direction, words) in surface().frames {
        for word in words {
            let begins = format!(r#"{{"type":"{word}","#);
            let shown = |row: &&WireRow| row.shape == direction && row.json_utf8.starts_with(&begins);
            let row = vectors.wire.iter().filter(shown).find(|row| row.verdict == WireVerdict::Canonical);
            assert!(row.is_some(), "{direction} {word}");
        }
    }
}

#[test]
fn rows_are_sorted_and_have_a_name_each() {
    let vectors = vectors().unwrap();
    let payloads: Vec<_> = vectors.vectors.iter().map(|row| (row.inputs.kind(), &row.name)).collect();
    assert!(payloads.is_sorted() && payloads.windows(2).all(|pair| pair[0] != pair[1]));
    let chains: Vec<_> = vectors.chains.iter().map(|row| &row.name).collect();
    assert!(chains.is_sorted() && chains.windows(2).all(|pair| pair[0] != pair[1]));
    assert!(vectors.wire.is_sorted_by_key(|row| (&row.kind, &row.name)));
}

/// An implementation that is wrong in one place each time; the replay has to see it.
struct Wrong(&'static str);

impl Implementation for Wrong {
    fn public_key(&self, seed_hex: &str) -> Result<String, String> {
        if self.0 == "public_key" { Ok("00".repeat(32)) } else { ContractCrate.public_key(seed_hex) }
    }

    fn fingerprint(&self, public_key: &str) -> Result<String, String> {
        if self.0 == "fingerprint" {
            Ok(public_key[..16].to_owned())
        } else {
            ContractCrate.fingerprint(public_key)
        }
    }

    fn payload(&self, inputs: &PayloadInputs) -> Result<String, String> {
        let text = ContractCrate.payload(inputs)?;
        Ok(if self.0 == "payload" { text.replacen("funduq", "Funduq", 1) } else { text })
    }

    fn sign(&self, seed_hex: &str, inputs: &PayloadInputs) -> Result<String, String> {
        let seed = if self.0 == "sign" { "00".repeat(32) } else { seed_hex.to_owned() };
        ContractCrate.sign(&seed, inputs)
    }

    fn verify(&self, public_key: &str, signature_hex: &str, inputs: &PayloadInputs) -> Result<bool, String> {
        if self.0 == "verify" { Ok(true) } else { ContractCrate.verify(public_key, signature_hex, inputs) }
    }

    fn judge_chain(&self, tokens: &[String]) -> Result<ChainVerdict, String> {
        match ContractCrate.judge_chain(tokens)? {
            ChainVerdict::Refused { .. } if self.0 == "judge_chain" => {
                Ok(ChainVerdict::Accepted { ok: vec![] })
            }
            verdict => Ok(verdict),
        }
    }

    fn rewrite(&self, shape: &str, json: &str) -> Result<String, String> {
        match ContractCrate.rewrite(shape, json) {
            Err(_) if self.0 == "rewrite" => Ok(json.to_owned()),
            rewritten => rewritten,
        }
    }
}

#[test]
fn the_replay_sees_an_implementation_that_is_wrong() {
    let vectors = vectors().unwrap();
    for method in ["public_key", "fingerprint", "payload", "sign", "verify", "judge_chain", "rewrite"] {
        let report = replay(&vectors, &Wrong(method));
        assert!(report.problems().count() > 0, "{method} was wrong and nothing was reported");
        assert!(report.to_string().contains("wrong"));
    }
    assert_eq!(replay(&vectors, &Wrong("nothing")).problems().count(), 0);
}
