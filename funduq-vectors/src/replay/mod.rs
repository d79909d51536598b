//! The replay: asks an implementation of the contract for every row of the file and says which it gets wrong.

mod contract_crate;
mod implementation;
mod report;

pub use contract_crate::ContractCrate;
pub(crate) use contract_crate::payload_of;
pub use implementation::Implementation;
pub use report::{Report, RowReport};

use crate::model::{
    ChainRow, ChainVerdict, ContractVectors, Handshake, HandshakeStep, PayloadInputs, PayloadRow, TestKey,
    WireRow, WireVerdict,
};

/// Asks `implementation` for every row of `vectors`.
///
/// A suite ends with [`Report::assert_clean`]; a tool prints the report.
pub fn replay(vectors: &ContractVectors, implementation: &dyn Implementation) -> Report {
    let mut report = Report::default();
    let keys = std::iter::once(("main", &vectors.test_key.main))
        .chain(vectors.test_key.others.iter().map(|(name, key)| (name.as_str(), key)));
    for (name, key) in keys {
        report.add("test_key", name, check_key(implementation, key));
    }
    for row in &vectors.vectors {
        let name = format!("{}: {}", row.inputs.kind(), row.name);
        report.add("vectors", &name, check_payload(implementation, &vectors.test_key.main, row));
    }
    for row in &vectors.wire {
        let name = format!("{}: {} ({:?})", row.kind, row.name, row.verdict);
        report.add("wire", &name, check_wire(implementation, &vectors.wire, row));
    }
    for row in &vectors.chains {
        report.add("chains", &row.name, check_chain(implementation, row));
    }
    for (index, step) in vectors.handshake.steps.iter().enumerate() {
        let outcome = check_step(implementation, vectors, &vectors.handshake, step);
        report.add("handshake", &format!("step {index}, {}", step.shape), outcome);
    }
    report
}

fn check_key(implementation: &dyn Implementation, key: &TestKey) -> Result<(), String> {
    let found = implementation.public_key(&key.seed_hex)?;
    expect_equal("public key", &found, &key.public_key)?;
    expect_equal("fingerprint", &implementation.fingerprint(&found)?, &key.fingerprint)
}

fn check_payload(implementation: &dyn Implementation, key: &TestKey, row: &PayloadRow) -> Result<(), String> {
    expect_equal("payload", &implementation.payload(&row.inputs)?, &row.payload_utf8)?;
    expect_equal("signature", &implementation.sign(&key.seed_hex, &row.inputs)?, &row.signature_hex)?;
    if !implementation.verify(&key.public_key, &row.signature_hex, &row.inputs)? {
        return Err("the published signature was refused".to_owned());
    }
    // One bit of S, and one of R.
    for position in [0, row.signature_hex.len() - 1] {
        let tampered = with_other_digit(&row.signature_hex, position);
        if implementation.verify(&key.public_key, &tampered, &row.inputs)? {
            return Err(format!("a signature with another digit at {position} was taken"));
        }
    }
    Ok(())
}

fn check_wire(implementation: &dyn Implementation, rows: &[WireRow], row: &WireRow) -> Result<(), String> {
    let rewritten = implementation.rewrite(&row.shape, &row.json_utf8);
    match row.verdict {
        WireVerdict::Canonical => expect_equal("text", &rewritten?, &row.json_utf8),
        WireVerdict::Accepted => {
            let twin = |other: &&WireRow| {
                other.verdict == WireVerdict::Canonical && other.kind == row.kind && other.name == row.name
            };
            let canonical = rows.iter().find(twin).ok_or("the file has no canonical row of this name")?;
            expect_equal("text", &rewritten?, &canonical.json_utf8)
        }
        WireVerdict::Refused => match rewritten {
            Ok(_) => Err("the text was taken".to_owned()),
            Err(_) => Ok(()),
        },
    }
}

fn check_chain(implementation: &dyn Implementation, row: &ChainRow) -> Result<(), String> {
    let found = implementation.judge_chain(&row.chain)?;
    if found == row.verdict {
        return Ok(());
    }
    let say = |verdict: &ChainVerdict| serde_json::to_string(verdict).unwrap_or_default();
    Err(format!("verdict is {}, published is {}", say(&found), say(&row.verdict)))
}

fn check_step(
    implementation: &dyn Implementation,
    vectors: &ContractVectors,
    handshake: &Handshake,
    step: &HandshakeStep,
) -> Result<(), String> {
    expect_equal("text", &implementation.rewrite(&step.shape, &step.text_utf8)?, &step.text_utf8)?;
    let value: serde_json::Value =
        serde_json::from_str(&step.text_utf8).map_err(|error| error.to_string())?;
    let inputs = &handshake.inputs;
    let (provider, funduq) = (key(vectors, &inputs.provider)?, key(vectors, &inputs.funduq)?);
    let (funduq_nonce, provider_nonce) = (inputs.funduq_nonce.clone(), inputs.provider_nonce.clone());
    if let Some(proof) = value["proof"].as_str() {
        let funduq_public_key = funduq.public_key.clone();
        let payload = PayloadInputs::ProviderConnect { funduq_public_key, funduq_nonce, provider_nonce };
        expect_equal("proof", &implementation.sign(&provider.seed_hex, &payload)?, proof)?;
    } else if let Some(answer) = value["answer"].as_str() {
        let payload = PayloadInputs::FunduqConnect { funduq_nonce, provider_nonce };
        expect_equal("answer", &implementation.sign(&funduq.seed_hex, &payload)?, answer)?;
    }
    Ok(())
}

fn key<'a>(vectors: &'a ContractVectors, name: &str) -> Result<&'a TestKey, String> {
    match name {
        "main" => Ok(&vectors.test_key.main),
        name => vectors.test_key.others.get(name).ok_or_else(|| format!("the file has no test key {name}")),
    }
}

fn with_other_digit(hex: &str, position: usize) -> String {
    let mut digits: Vec<char> = hex.chars().collect();
    digits[position] = if digits[position] == '0' { '1' } else { '0' };
    digits.into_iter().collect()
}

fn expect_equal(what: &str, found: &str, published: &str) -> Result<(), String> {
    if found == published { Ok(()) } else { Err(format!("{what} is {found}, published is {published}")) }
}
