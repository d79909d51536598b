//! What the contract crate's sources define: payload families, crossing shapes, port verbs. Read with syn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;

use super::tree;

const SOURCES: &str = "funduq-contract/src";

/// Traits that make a type cross.
const CROSSING: &[&str] = &["Serialize", "Deserialize", "JsonSchema"];

/// Macros of the contract crate that declare one crossing type each, named by the first word of the call.
const DECLARING: &[&str] = &["frames", "name", "hex_text"];

/// Macros of the contract crate that declare nothing that crosses.
const HARMLESS: &[&str] = &["random_bits", "macro_rules"];

/// What the sources define.
#[derive(Debug, Default)]
pub(super) struct Defined {
    /// Each family's word.
    pub(super) families: BTreeSet<String>,
    /// Each public type that can be read from or written to a wire.
    pub(super) shapes: BTreeSet<String>,
    /// Each public trait's verbs with their signatures.
    pub(super) ports: BTreeMap<String, BTreeMap<String, syn::Signature>>,
    /// Each `funduq-…:` tag that a literal spells, with the file.
    pub(super) tags: BTreeMap<String, String>,
    /// Macro calls that this reader knows nothing about, with the file.
    pub(super) unread_macros: BTreeMap<String, String>,
}

/// Reads the contract crate below `root`.
pub(super) fn read(root: &Path) -> Result<Defined> {
    let mut reader = Reader::default();
    for path in tree::files(&root.join(SOURCES), &[".rs"])? {
        let (text, name) = tree::read(root, &path)?;
        if is_test(&path) {
            continue;
        }
        let file = syn::parse_file(&text).with_context(|| format!("parsing {name}"))?;
        reader.file = name;
        reader.visit_file(&file);
    }
    let Reader { mut defined, implemented, public, .. } = reader;
    defined.shapes.extend(implemented.intersection(&public).cloned());
    Ok(defined)
}

fn is_test(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "tests.rs" || name == "peer_facts.rs")
}

#[derive(Default)]
struct Reader {
    file: String,
    defined: Defined,
    /// Types that implement a crossing trait by hand, public or not.
    implemented: BTreeSet<String>,
    /// Every public type.
    public: BTreeSet<String>,
}

impl Reader {
    fn add_type(&mut self, name: &syn::Ident, visibility: &syn::Visibility, attributes: &[syn::Attribute]) {
        if !matches!(visibility, syn::Visibility::Public(_)) {
            return;
        }
        self.public.insert(name.to_string());
        if attributes.iter().any(derives_crossing) {
            self.defined.shapes.insert(name.to_string());
        }
    }

    fn add_tags(&mut self, text: &str) {
        for tag in tree::tags(text) {
            self.defined.tags.insert(tag, self.file.clone());
        }
    }

    fn add_literals(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_literals(group.stream()),
                TokenTree::Literal(literal) => self.add_tags(&literal.to_string()),
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(item) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {
        // Documentation may name a tag.
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add_type(&item.ident, &item.vis, &item.attrs);
        if item.ident == "SignedPayload" {
            self.defined
                .families
                .extend(item.variants.iter().map(|variant| kebab(&variant.ident.to_string())));
        }
        syn::visit::visit_item_enum(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add_type(&item.ident, &item.vis, &item.attrs);
        syn::visit::visit_item_struct(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let by_hand = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        if by_hand.is_some_and(|name| CROSSING.iter().any(|crossing| name.ident == crossing))
            && let syn::Type::Path(path) = &*item.self_ty
            && let Some(name) = path.path.segments.last()
        {
            self.implemented.insert(name.ident.to_string());
        }
        syn::visit::visit_item_impl(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        if matches!(item.vis, syn::Visibility::Public(_)) {
            let verbs = item.items.iter().filter_map(|item| match item {
                syn::TraitItem::Fn(verb) => Some((verb.sig.ident.to_string(), verb.sig.clone())),
                _ => None,
            });
            self.defined.ports.insert(item.ident.to_string(), verbs.collect());
        }
        syn::visit::visit_item_trait(self, item);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        let name = item.mac.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if DECLARING.contains(&name.as_str()) {
            self.defined.shapes.extend(first_word(item.mac.tokens.clone()));
        } else if !HARMLESS.contains(&name.as_str()) {
            self.defined.unread_macros.insert(name, self.file.clone());
        }
        syn::visit::visit_item_macro(self, item);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.add_literals(item.tokens.clone());
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.add_tags(&literal.value());
    }

    fn visit_lit_byte_str(&mut self, literal: &'ast syn::LitByteStr) {
        self.add_tags(&String::from_utf8_lossy(&literal.value()));
    }
}

fn derives_crossing(attribute: &syn::Attribute) -> bool {
    let mut found = false;
    if attribute.path().is_ident("derive") {
        let _ = attribute.parse_nested_meta(|meta| {
            let last = meta.path.segments.last().map(|segment| segment.ident.to_string());
            found |= last.is_some_and(|last| CROSSING.contains(&last.as_str()));
            Ok(())
        });
    }
    found
}

fn is_for_tests(item: &syn::Item) -> bool {
    let attributes = match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    })
}

/// The first word of a macro call that is not inside an attribute or a group.
fn first_word(tokens: TokenStream) -> Option<String> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    })
}

/// `KyokCall` becomes `kyok-call`.
fn kebab(name: &str) -> String {
    let mut text = String::new();
    for (index, character) in name.char_indices() {
        if character.is_ascii_uppercase() && index > 0 {
            text.push('-');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}
