//! What the check relies on in the tables of the wire types.

use crate::wire::{Kind, Shape, Wire};
use crate::{AgentCapabilities, Event, RunAgentInput};

/// Every shape within a kind, with the tag of the union it is in.
fn shapes(
    kind: &'static Kind,
    tag: Option<&'static str>,
    found: &mut Vec<(&'static Shape, Option<&'static str>)>,
) {
    match kind {
        Kind::Object(shape) => {
            found.push((shape, tag));
            for field in shape.fields {
                shapes(&field.kind, None, found);
            }
        }
        Kind::Union(union) => {
            for (_, shape) in union.members {
                found.push((shape, Some(union.tag.as_str())));
                for field in shape.fields {
                    shapes(&field.kind, None, found);
                }
            }
        }
        Kind::List { items, .. } | Kind::TextOrList(items) => shapes(items, None, found),
        _ => {}
    }
}

fn all() -> Vec<(&'static Shape, Option<&'static str>)> {
    let mut found = Vec::new();
    for kind in [&Event::KIND, &RunAgentInput::KIND, &AgentCapabilities::KIND] {
        shapes(kind, None, &mut found);
    }
    found
}

#[test]
fn the_tag_is_the_first_declared_member_of_every_shape_in_a_union() {
    let tagged: Vec<_> = all().into_iter().filter_map(|(shape, tag)| Some((shape, tag?))).collect();
    assert!(tagged.len() > 31);
    for (shape, tag) in tagged {
        assert_eq!(shape.fields[0].name.as_str(), tag);
        assert!(shape.fields[0].required);
    }
}

#[test]
fn no_shape_declares_a_member_twice() {
    for (shape, _) in all() {
        for (index, field) in shape.fields.iter().enumerate() {
            assert_eq!(shape.place(field.name.as_str(), 0), Some(index), "{}", field.name.as_str());
        }
    }
}
