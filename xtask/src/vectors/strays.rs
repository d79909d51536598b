//! What only the contract crate may do: sign bytes, and spell a `funduq-…:` tag. Everything else is searched for both.

use std::path::Path;
use std::str::FromStr;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::tree;

/// The one crate that signs.
const CONTRACT: &str = "funduq-contract/";

/// Crates that sign; no other crate of the workspace depends on one.
const SIGNING_CRATES: &[&str] = &[
    "aws-lc-rs",
    "ecdsa",
    "ed25519",
    "ed25519-compact",
    "ed25519-dalek",
    "ed25519-zebra",
    "jsonwebtoken",
    "k256",
    "openssl",
    "p256",
    "p384",
    "ring",
    "rsa",
    "signature",
    "sodiumoxide",
];

/// Names that a source file uses when it signs by itself.
const SIGNING_NAMES: &[&str] = &[
    "Ed25519KeyPair",
    "ExpandedSecretKey",
    "Signer",
    "SigningKey",
    "aws_lc_rs",
    "ed25519",
    "ed25519_compact",
    "ed25519_dalek",
    "ed25519_zebra",
    "jsonwebtoken",
];

/// Calls that sign; an identity's takes a payload of the contract, so bytes in the call are somebody else's signature.
const SIGNING_CALLS: &[&str] = &["sign", "sign_bytes", "sign_hop", "sign_prehashed", "try_sign"];

/// Words that turn something into bytes.
const BYTES: &[&str] =
    &["as_bytes", "as_slice", "bytes", "format", "into_bytes", "to_bytes", "to_vec", "vec"];

const INSTEAD: &str = "sign with an Identity's method for the payload family, or make it a family of SignedPayload in \
                       funduq-contract and publish it";

/// Everything outside the contract crate that signs or spells a tag.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for path in tree::files(root, &[".rs", ".py", ".js", ".mjs", ".ts", "Cargo.toml"])? {
        let (text, name) = tree::read(root, &path)?;
        if name.starts_with(CONTRACT) {
            continue;
        }
        if name.ends_with(".rs") {
            let tokens = TokenStream::from_str(&text).map_err(|error| anyhow!("{name}: {error}"))?;
            let mut search = Search { file: &name, findings: &mut findings };
            search.walk(tokens);
        } else if name.ends_with("Cargo.toml") {
            findings.extend(signing_dependencies(&name, &text));
        } else {
            findings.extend(tree::tags(&text).into_iter().map(|tag| spelled(&name, None, &tag)));
        }
    }
    Ok(findings)
}

/// Dependencies of one manifest that sign. The workspace's own table only says which version is meant.
fn signing_dependencies(name: &str, manifest: &str) -> Vec<String> {
    let mut in_dependencies = false;
    let mut findings = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            in_dependencies = table.contains("dependencies") && !table.starts_with("workspace.");
            let named = table.trim_end_matches(']').rsplit_once("dependencies.").map(|(_, named)| named);
            findings.extend(named.filter(|_| in_dependencies).and_then(|named| depends(name, named)));
        } else if in_dependencies {
            let dependency = line.split(['=', '.', ' ']).next().unwrap_or_default();
            findings.extend(depends(name, dependency));
        }
    }
    findings
}

fn depends(name: &str, dependency: &str) -> Option<String> {
    SIGNING_CRATES.contains(&dependency).then(|| {
        format!("{name} depends on `{dependency}`, which signs; only funduq-contract does: {INSTEAD}")
    })
}

fn spelled(file: &str, line: Option<usize>, tag: &str) -> String {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    format!(
        "{file}{line} spells the tag `{tag}`: build the bytes with the payload functions of funduq-contract, or read \
         the template from contract-vectors.json"
    )
}

/// Walks one file's tokens, macro calls included; documentation is left out, because it may name a tag.
struct Search<'a> {
    file: &'a str,
    findings: &'a mut Vec<String>,
}

impl Search<'_> {
    fn walk(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) if is_documentation(group) => {}
                TokenTree::Group(group) => self.walk(group.stream()),
                TokenTree::Literal(literal) => {
                    let line = literal.span().start().line;
                    for tag in tree::tags(&literal.to_string()) {
                        self.findings.push(spelled(self.file, Some(line), &tag));
                    }
                }
                TokenTree::Ident(word) => {
                    let line = word.span().start().line;
                    let word = word.to_string();
                    let arguments = tokens.get(index + 1);
                    if SIGNING_NAMES.contains(&word.as_str()) {
                        self.findings.push(format!(
                            "{}:{line} uses `{word}`, which signs bytes; only funduq-contract does: {INSTEAD}",
                            self.file
                        ));
                    } else if SIGNING_CALLS.contains(&word.as_str()) && arguments.is_some_and(holds_bytes) {
                        self.findings.push(format!(
                            "{}:{line} signs bytes with `{word}`; only funduq-contract does: {INSTEAD}",
                            self.file
                        ));
                    }
                }
                TokenTree::Punct(_) => {}
            }
        }
    }
}

/// `#[doc = "…"]`, which is also what `///` and `//!` become.
fn is_documentation(group: &Group) -> bool {
    group.delimiter() == Delimiter::Bracket
        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(word)) if word == "doc")
}

/// Whether the arguments of a call hold a literal, an array, or a word that makes bytes.
fn holds_bytes(arguments: &TokenTree) -> bool {
    fn any(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Literal(literal) => literal.to_string().contains('"'),
            TokenTree::Ident(word) => BYTES.contains(&word.to_string().as_str()),
            TokenTree::Group(group) => group.delimiter() == Delimiter::Bracket || any(group.stream()),
            TokenTree::Punct(_) => false,
        })
    }
    match arguments {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => any(group.stream()),
        _ => false,
    }
}
