//! Each way to grow the contract in private, done to a copy of the sources, and what the check says to it.

use super::*;
use std::path::PathBuf;
use tempfile::TempDir;

/// A copy of what the check reads, to be broken.
struct Copy {
    folder: TempDir,
    made: Made,
}

impl Copy {
    /// The contract crate, the published file, the changelog, and one other crate that does nothing wrong.
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let root = workspace();
        for path in tree::files(&root.join("funduq-contract/src"), &[".rs"]).unwrap() {
            copy(&root, folder.path(), &path);
        }
        for file in ["funduq-contract/Cargo.toml", FILE, "docs/contract-changelog.md"] {
            copy(&root, folder.path(), &root.join(file));
        }
        let copy = Self { folder, made: Made::from_the_crates() };
        copy.write(
            "other/Cargo.toml",
            "[package]\nname = \"other\"\n\n[dependencies]\nfunduq-contract.workspace = true\n",
        );
        copy.write("other/src/lib.rs", "//! Nothing wrong.\n");
        // Whatever state the tree is in, the copy begins with nothing to complain about.
        copy.write(FILE, &copy.made.text);
        let fingerprint = copy.made.surface.fingerprint();
        let revision = copy.made.revision;
        let entry = format!("## Revision {revision}\n\nFingerprint: `{fingerprint}`\n");
        copy.write("docs/contract-changelog.md", &entry);
        copy
    }

    /// The revision of the crates, and the next.
    fn revisions(&self) -> (u32, u32) {
        (self.made.revision, self.made.revision + 1)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Puts `new` in the place of `old`, which must be there once.
    fn replace(&self, name: &str, old: &str, new: &str) {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        assert_eq!(text.matches(old).count(), 1, "{name} has changed: look for `{old}`");
        self.write(name, &text.replace(old, new));
    }

    fn findings(&self) -> Vec<String> {
        check(self.folder.path(), &self.made).unwrap()
    }

    /// Exactly one thing is wrong, and the message holds all of these.
    #[track_caller]
    fn refuses_with(&self, parts: &[&str]) {
        let findings = self.findings();
        assert_eq!(findings.len(), 1, "{findings:#?}");
        for part in parts {
            assert!(findings[0].contains(part), "no `{part}` in: {}", findings[0]);
        }
    }
}

fn workspace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn copy(from: &Path, to: &Path, path: &Path) {
    let target = to.join(path.strip_prefix(from).unwrap());
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    std::fs::copy(path, target).unwrap();
}

/// A tag, put together so that this file spells none.
fn tag(word: &str) -> String {
    format!("{}-{word}:", "funduq")
}

#[test]
fn an_untouched_copy_passes() {
    assert_eq!(Copy::new().findings(), Vec::<String>::new());
}

#[test]
fn the_workspace_itself_passes() {
    let findings = check(&workspace(), &Made::from_the_crates()).unwrap();
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn a_stale_file_is_refused() {
    let copy = Copy::new();
    copy.replace(FILE, "\"the-same-party-twice\"", "\"twice-the-same-party\"");
    copy.refuses_with(&["is not what the sources make", "run `cargo xtask vectors`"]);
}

#[test]
fn a_file_that_does_not_read_is_refused() {
    let copy = Copy::new();
    copy.write(FILE, "{}");
    let findings = copy.findings();
    assert!(findings.iter().any(|finding| finding.contains("does not read")), "{findings:#?}");
}

#[test]
fn a_moved_surface_without_a_new_revision_is_refused() {
    let mut copy = Copy::new();
    let before = copy.made.surface.fingerprint();
    copy.made.surface.constants.freshness_seconds = 61;
    let after = copy.made.surface.fingerprint();
    let findings = copy.findings();
    for what in ["docs/contract-changelog.md", FILE] {
        assert!(
            findings.iter().any(|finding| {
                finding.contains(what)
                    && finding.contains("the contract's surface moved")
                    && finding.contains(&before)
                    && finding.contains(&after)
                    && finding.contains("Raise CONTRACT_REVISION")
            }),
            "{findings:#?}"
        );
    }
    let refused = write(copy.folder.path(), &copy.made).unwrap_err();
    assert!(refused.to_string().contains("nothing is written"), "{refused}");
}

#[test]
fn a_new_revision_without_its_entry_is_refused() {
    let mut copy = Copy::new();
    let (_, next) = copy.revisions();
    copy.made.revision = next;
    copy.refuses_with(&[
        &format!("has no entry for revision {next}"),
        &format!("add `## Revision {next}`"),
        &copy.made.surface.fingerprint(),
    ]);
}

#[test]
fn an_entry_without_a_fingerprint_is_refused() {
    let copy = Copy::new();
    let entry = format!("## Revision {}\n\nThe first.\n", copy.made.revision);
    copy.write("docs/contract-changelog.md", &entry);
    copy.refuses_with(&["is recorded with the fingerprint none"]);
}

#[test]
fn an_entry_of_a_revision_to_come_is_refused() {
    let copy = Copy::new();
    let fingerprint = copy.made.surface.fingerprint();
    let (revision, next) = copy.revisions();
    let entries = format!(
        "## Revision {next}\n\nFingerprint: `x`\n\n## Revision {revision}\n\nFingerprint: `{fingerprint}`\n"
    );
    copy.write("docs/contract-changelog.md", &entries);
    copy.refuses_with(&[&format!("has an entry for revision {next}"), &format!("raise it to {next}")]);
}

#[test]
fn a_revision_that_goes_back_is_refused() {
    let copy = Copy::new();
    let (revision, next) = copy.revisions();
    let text = |revision: u32| format!("\"revision\": {revision},\n  \"surface\"");
    copy.replace(FILE, &text(revision), &text(next));
    let findings = copy.findings();
    assert!(findings.iter().any(|finding| finding.contains("a revision never goes back")), "{findings:#?}");
}

#[test]
fn an_unpublished_payload_family_is_refused() {
    let copy = Copy::new();
    copy.replace(
        "funduq-contract/src/payload.rs",
        "pub enum SignedPayload {",
        "pub enum SignedPayload {\n    /// A run changes hands.\n    HandOver { run_id: RunId },",
    );
    copy.refuses_with(&[
        "`hand-over`",
        "is signed and not published",
        "SignedPayload::FAMILIES",
        "cargo xtask vectors",
    ]);
}

#[test]
fn a_tag_that_is_no_published_payloads_is_refused_inside_the_contract_crate_too() {
    let copy = Copy::new();
    let line = format!("fn aside(run: &str) -> String {{ format!(\"{}{{run}}\") }}\n", tag("hand-over"));
    copy.write("funduq-contract/src/aside.rs", &line);
    copy.refuses_with(&["funduq-contract/src/aside.rs spells", &tag("hand-over"), "make it a SignedPayload"]);
}

#[test]
fn a_family_with_too_few_rows_is_refused() {
    let mut copy = Copy::new();
    let mut vectors = funduq_vectors::generate();
    vectors.vectors.retain(|row| row.inputs.kind() != "view");
    copy.made.text = serde_json::to_string(&vectors).unwrap();
    copy.write(FILE, &copy.made.text);
    copy.refuses_with(&["`view` has 0 rows and needs two"]);
}

#[test]
fn an_unpublished_shape_is_refused_derived_written_by_hand_or_made_by_a_macro() {
    let derived = "#[derive(Debug, serde::Deserialize)]\npub struct Handover {\n    /// Which.\n    pub run_id: String,\n}\n";
    let by_hand = "pub struct Handover(String);\nimpl serde::Serialize for Handover {}\n";
    let by_macro = "frames! {\n    /// More.\n    Handover { \"x\" => X(Cancel), }\n}\n";
    for source in [derived, by_hand, by_macro] {
        let copy = Copy::new();
        copy.write("funduq-contract/src/shapes/handover.rs", source);
        copy.refuses_with(&["`Handover`", "is not published", "funduq-vectors/src/surface/shapes.rs"]);
    }
}

#[test]
fn a_macro_that_the_check_cannot_read_is_refused() {
    let copy = Copy::new();
    copy.write("funduq-contract/src/shapes/handover.rs", "shape! { Handover { run_id: RunId } }\n");
    copy.refuses_with(&["`shape!`", "teach it"]);
}

#[test]
fn a_private_type_is_nobodys_business() {
    let copy = Copy::new();
    copy.write(
        "funduq-contract/src/shapes/inner.rs",
        "#[derive(serde::Serialize)]\npub(crate) struct Inner;\n",
    );
    assert_eq!(copy.findings(), Vec::<String>::new());
}

#[test]
fn an_unpublished_port_verb_is_refused() {
    let copy = Copy::new();
    copy.replace(
        "funduq-contract/src/ports/agents.rs",
        "pub trait FunduqPort: Send + Sync + 'static {",
        "pub trait FunduqPort: Send + Sync + 'static {\n    async fn hand_over(&self, link: LinkId);",
    );
    copy.refuses_with(&[
        "`FunduqPort::hand_over`",
        "is not published",
        "funduq-vectors/src/surface/ports.rs",
    ]);
}

#[test]
fn a_whole_unpublished_port_is_refused() {
    let copy = Copy::new();
    copy.write("funduq-contract/src/ports/third.rs", "pub trait ThirdPort {\n    fn speak(&self);\n}\n");
    copy.refuses_with(&["`ThirdPort::speak`", "is not published"]);
}

#[test]
fn a_verb_with_another_signature_is_refused() {
    let copy = Copy::new();
    copy.replace(
        "funduq-contract/src/ports/agents.rs",
        "fn concurrency(&self) -> Option<u32>;",
        "fn concurrency(&self) -> u32;",
    );
    copy.refuses_with(&["`ConnectedProvider::concurrency` has another signature"]);
}

#[test]
fn a_published_verb_that_is_gone_is_refused() {
    let copy = Copy::new();
    copy.replace("funduq-contract/src/ports/agents.rs", "    fn concurrency(&self) -> Option<u32>;\n", "");
    copy.refuses_with(&["`ConnectedProvider::concurrency` is published and does not exist"]);
}

#[test]
fn signing_outside_the_contract_crate_is_refused() {
    for (source, word) in [
        ("fn f(key: &ed25519_dalek::SigningKey) {}", "ed25519_dalek"),
        ("use some::SigningKey as Key;", "SigningKey"),
        ("fn f(me: &Me) { me.sign(b\"bytes\"); }", "`sign`"),
        ("fn f(me: &Me, body: &str) { me.sign(body.as_bytes()); }", "`sign`"),
        ("fn f(me: &Me) { me.try_sign(&[1, 2]); }", "`try_sign`"),
        ("fn f(me: &Me) { run!(me.sign(\"text\")); }", "`sign`"),
        ("fn f(me: &Me, run: &str) { Me::sign(me, &format!(\"{run}\")); }", "`sign`"),
    ] {
        let copy = Copy::new();
        copy.write("other/src/stray.rs", &format!("//! A stray.\n{source}\n"));
        let findings = copy.findings();
        assert!(!findings.is_empty(), "{source}");
        let says = |part: &str| findings.iter().any(|finding| finding.contains(part));
        assert!(
            says(word) && says("other/src/stray.rs:2") && says("make it a family of SignedPayload"),
            "{findings:#?}"
        );
    }
}

#[test]
fn signing_a_payload_of_the_contract_is_allowed() {
    let copy = Copy::new();
    copy.write(
        "other/src/lib.rs",
        "fn f(me: &Identity, run: &RunId) { me.sign(&cancel_payload(run, 5)); me.sign_cancel(run, 5); }\n",
    );
    assert_eq!(copy.findings(), Vec::<String>::new());
}

#[test]
fn a_dependency_that_signs_is_refused() {
    for manifest in [
        "[dependencies]\ned25519-dalek.workspace = true\n",
        "[dependencies]\nring = \"1\"\n",
        "[dev-dependencies]\njsonwebtoken = { version = \"9\" }\n",
        "[dependencies.p256]\nversion = \"1\"\n",
    ] {
        let copy = Copy::new();
        copy.write("other/Cargo.toml", manifest);
        copy.refuses_with(&["other/Cargo.toml depends on", "only funduq-contract does"]);
    }
    let copy = Copy::new();
    copy.write("Cargo.toml", "[workspace.dependencies]\ned25519-dalek = \"3\"\n");
    assert_eq!(copy.findings(), Vec::<String>::new());
}

#[test]
fn a_tag_spelled_outside_the_contract_crate_is_refused() {
    let cancel = tag("cancel");
    for (name, source) in [
        ("other/src/stray.rs", format!("const TAG: &str = \"{cancel}\";")),
        ("other/src/stray.rs", format!("fn f(run: &str) -> String {{ format!(\"{cancel}{{run}}\") }}")),
        ("other/src/stray.rs", format!("const TAG: &[u8] = b\"{cancel}\";")),
        ("interop/stray.py", format!("payload = f\"{cancel}{{run}}\"")),
        ("interop/stray.mjs", format!("const payload = `{cancel}${{run}}`;")),
    ] {
        let copy = Copy::new();
        copy.write(name, &source);
        copy.refuses_with(&[
            name,
            &format!("spells the tag `{cancel}`"),
            "payload functions of funduq-contract",
        ]);
    }
}

#[test]
fn sentences_documentation_and_addresses_are_no_tags() {
    let cancel = tag("cancel");
    let copy = Copy::new();
    let sentence = format!("{} nothing to do", tag("gateway"));
    let address = format!("registry/{}latest", tag("gateway"));
    copy.write(
        "other/src/lib.rs",
        &format!("/// Takes `{cancel}{{run}}`.\nfn f() {{ g(\"{sentence}\", \"{address}\", \"funduq-cancel\"); }}\n"),
    );
    assert_eq!(copy.findings(), Vec::<String>::new());
}

#[test]
fn writing_brings_a_stale_file_up_to_date() {
    let copy = Copy::new();
    copy.write(FILE, "{}");
    write(copy.folder.path(), &copy.made).unwrap();
    assert_eq!(copy.findings(), Vec::<String>::new());
}
