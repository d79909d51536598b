//! Compares what the contract crate's sources define with what the file publishes: nothing may be only in the first.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use funduq_vectors::ContractVectors;

use super::source::{self, Defined};

const AFTERWARDS: &str = "then follow docs/contract-changelog.md and run `cargo xtask vectors`";

/// Everything that is defined and not published.
pub(super) fn check(root: &Path, published: &ContractVectors) -> Result<Vec<String>> {
    let defined = source::read(root)?;
    let mut findings = Vec::new();
    findings.extend(families(&defined, published));
    findings.extend(tags(&defined, published));
    findings.extend(shapes(&defined, published));
    findings.extend(verbs(&defined, published));
    Ok(findings)
}

fn families(defined: &Defined, published: &ContractVectors) -> Vec<String> {
    let surface = &published.contract.surface;
    let mut findings = Vec::new();
    for family in &defined.families {
        let rows = published.vectors.iter().filter(|row| row.inputs.kind() == family).count();
        if !surface.payloads.contains_key(family) {
            findings.push(format!(
                "the payload family `{family}` is signed and not published: add it to SignedPayload::FAMILIES and \
                 give it at least two rows in funduq-vectors/src/generate/payloads.rs, {AFTERWARDS}"
            ));
        } else if rows < 2 {
            findings.push(format!(
                "the payload family `{family}` has {rows} rows and needs two: add them in \
                 funduq-vectors/src/generate/payloads.rs and run `cargo xtask vectors`"
            ));
        }
    }
    for family in surface.payloads.keys().filter(|family| !defined.families.contains(*family)) {
        findings.push(format!(
            "the payload family `{family}` is published, but SignedPayload has no such variant"
        ));
    }
    findings
}

fn tags(defined: &Defined, published: &ContractVectors) -> Vec<String> {
    let templates = &published.contract.surface.payloads;
    let unknown = |tag: &&String| !templates.values().any(|template| template.starts_with(tag.as_str()));
    let say = |tag: &String| {
        let file = &defined.tags[tag];
        format!(
            "{file} spells `{tag}`, which no published payload begins with: make it a SignedPayload, {AFTERWARDS}"
        )
    };
    defined.tags.keys().filter(unknown).map(say).collect()
}

fn shapes(defined: &Defined, published: &ContractVectors) -> Vec<String> {
    let listed: BTreeSet<&String> = published.contract.surface.shapes.keys().collect();
    let mut findings: Vec<String> = defined
        .shapes
        .iter()
        .filter(|shape| !listed.contains(shape))
        .map(|shape| {
            format!(
                "the shape `{shape}` can cross a link and is not published: add it to the list in \
                 funduq-vectors/src/surface/shapes.rs and a row to funduq-vectors/src/generate/wire/canonical.rs, {AFTERWARDS}"
            )
        })
        .collect();
    findings.extend(defined.unread_macros.iter().map(|(name, file)| {
        format!(
            "{file} declares something with `{name}!`, which this check cannot read: teach it in \
             xtask/src/vectors/source.rs whether that macro declares a shape"
        )
    }));
    findings
}

/// Whether two signatures say the same; a comma after the last argument says nothing.
fn same(one: &syn::Signature, other: &syn::Signature) -> bool {
    one.asyncness == other.asyncness
        && one.ident == other.ident
        && one.generics == other.generics
        && one.inputs.iter().eq(other.inputs.iter())
        && one.output == other.output
}

fn verbs(defined: &Defined, published: &ContractVectors) -> Vec<String> {
    let listed = &published.contract.surface.ports;
    let mut findings = Vec::new();
    for (port, verbs) in &defined.ports {
        for (verb, signature) in verbs {
            let text = listed.get(port).and_then(|verbs| verbs.get(verb));
            let text = text.and_then(|text| syn::parse_str::<syn::TraitItemFn>(&format!("{text};")).ok());
            match text {
                Some(published) if same(&published.sig, signature) => {}
                Some(_) => findings.push(format!(
                    "the verb `{port}::{verb}` has another signature than the published one: write the new one into \
                     funduq-vectors/src/surface/ports.rs, {AFTERWARDS}"
                )),
                None => findings.push(format!(
                    "the verb `{port}::{verb}` is not published: add it to funduq-vectors/src/surface/ports.rs, \
                     {AFTERWARDS}"
                )),
            }
        }
    }
    for (port, verbs) in listed {
        for verb in
            verbs.keys().filter(|verb| !defined.ports.get(port).is_some_and(|have| have.contains_key(*verb)))
        {
            findings.push(format!(
                "the verb `{port}::{verb}` is published and does not exist: take it out of \
                 funduq-vectors/src/surface/ports.rs, {AFTERWARDS}"
            ));
        }
    }
    findings
}
