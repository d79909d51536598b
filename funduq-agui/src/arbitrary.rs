//! Random JSON texts that are valid by the tolerant reading, with unknown members, unknown union members, text beyond
//! ASCII and numbers at the edges, for tests of whatever carries events (feature `arbitrary`).

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::json;
use crate::wire::{Kind, Shape, Union, Wire};
use crate::{Event, EventType};

/// Texts of events of this type, whatever bytes JSON has for them; of [`EventType::Unknown`], events of a later version.
pub fn event(event_type: EventType) -> BoxedStrategy<String> {
    let Kind::Union(events) = &Event::KIND else { unreachable!("an event is a member of a union") };
    let tag = events.tag.as_str();
    match events.members.iter().find(|(name, _)| name.as_str() == event_type.as_str()) {
        Some((name, shape)) => shaped(shape, Some((tag, json::encode(name.as_str()))), Reach::Any),
        None => object(vec![(tag.to_owned(), Just("\"FUTURE\"".to_owned()).boxed())], Reach::Any),
    }
}

/// How far a text may go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Only what Rust strings and serde_json's numbers can hold.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "only this crate's own tests read what they make as types")
    )]
    Typed,
    /// Also half surrogate pairs and numbers of any size.
    Any,
}

/// Texts of this kind.
pub(crate) fn of(kind: &'static Kind, reach: Reach) -> BoxedStrategy<String> {
    match kind {
        Kind::Any => any_json(reach),
        Kind::NotNull => any_json(reach).prop_filter("not null", |json| json != "null").boxed(),
        Kind::Text => string(reach),
        Kind::Pointer => select(&["", "/", "/a/0", "/a~0b/~1", "/é/-"][..]).prop_map(json::encode).boxed(),
        Kind::OneOf(names) => select(*names).prop_map(json::encode).boxed(),
        Kind::Bool => any::<bool>().prop_map(|value| value.to_string()).boxed(),
        Kind::Integer { min, max } => integer(*min, *max),
        Kind::Map => object(Vec::new(), reach),
        Kind::Object(shape) => shaped(shape, None, reach),
        Kind::Union(union) => member(union, reach),
        Kind::List { items, min } => list(of(items, reach), *min),
        Kind::TextOrList(items) => prop_oneof![string(reach), list(of(items, reach), 0)].boxed(),
    }
}

/// An object of an open union: a known member, or one of another tag or none.
fn member(union: &'static Union, reach: Reach) -> BoxedStrategy<String> {
    let tag = union.tag.as_str();
    let known = (0..union.members.len()).prop_flat_map(move |place| {
        let (name, shape) = &union.members[place];
        shaped(shape, Some((tag, json::encode(name.as_str()))), reach)
    });
    let tagged = object(vec![(tag.to_owned(), Just("\"FUTURE\"".to_owned()).boxed())], reach);
    prop_oneof![6 => known, 1 => tagged, 1 => Just("{\"x\":null}".to_owned())].boxed()
}

/// An object of a shape: the required members, some of the others, and unknown ones.
pub(crate) fn shaped(
    shape: &'static Shape,
    tag: Option<(&'static str, String)>,
    reach: Reach,
) -> BoxedStrategy<String> {
    let all: Vec<usize> = (0..shape.fields.len()).collect();
    let count = 0..=all.len();
    let chosen = subsequence(all, count);
    chosen
        .prop_flat_map(move |chosen| {
            let fields = shape.fields.iter().enumerate();
            let fields = fields.filter(|(at, field)| field.required || chosen.contains(at));
            let members = fields.map(|(_, field)| {
                let name = field.name.as_str();
                let value = match &tag {
                    Some((tag, value)) if *tag == name => Just(value.clone()).boxed(),
                    _ => of(&field.kind, reach),
                };
                (name.to_owned(), value)
            });
            object(members.collect(), reach)
        })
        .boxed()
}

/// An object of these members and a few unknown ones, in any order.
fn object(members: Vec<(String, BoxedStrategy<String>)>, reach: Reach) -> BoxedStrategy<String> {
    let (keys, values): (Vec<String>, Vec<_>) = members.into_iter().unzip();
    let extra = subsequence(vec!["x-new", "é", "a \\\" b", "\\u0041", "zz"], 0..=2);
    let extra = extra.prop_flat_map(move |names| {
        let values = vec![any_json(reach); names.len()];
        (Just(names), values)
    });
    let space = select(&["", " ", "\t"][..]);
    (values, extra, space)
        .prop_flat_map(move |(values, (names, extra), space)| {
            let declared = keys.clone().into_iter().zip(values);
            let extra = names.into_iter().map(str::to_owned).zip(extra);
            let member = |(key, value): (String, String)| format!("\"{key}\"{space}:{space}{value}");
            Just(declared.chain(extra).map(member).collect::<Vec<_>>()).prop_shuffle()
        })
        .prop_map(|members| format!("{{{}}}", members.join(",")))
        .boxed()
}

fn list(items: BoxedStrategy<String>, min: usize) -> BoxedStrategy<String> {
    let items = prop::collection::vec(items, min..min + 3);
    items.prop_map(|items| format!("[{}]", items.join(", "))).boxed()
}

fn any_json(reach: Reach) -> BoxedStrategy<String> {
    let numbers: &[&str] = match reach {
        Reach::Typed => &["0", "-0", "-1.5", "1E+2", "18446744073709551615", "1e-400"],
        Reach::Any => &["1e400", "-1e999", "123456789012345678901234567890", "0.1000", "-0.0e-0"],
    };
    let leaf = prop_oneof![
        select(&["null", "true", "false", "{}", "[]"][..]).prop_map(str::to_owned),
        select(numbers).prop_map(str::to_owned),
        string(reach),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(","))),
            (inner.clone(), inner).prop_map(|(a, b)| format!("{{\"type\":{a}, \"k\" :{b}}}")),
        ]
    })
    .boxed()
}

fn string(reach: Reach) -> BoxedStrategy<String> {
    let mut pieces =
        vec!["", "a", "longer plain text, ", "é漢字", "😀", "\\n", "\\\"", "\\\\", "\\u00e9", "\\/"];
    pieces.extend(["\\ud83d\\ude00", "\u{2028}", "\u{7f}", "null"]);
    if reach == Reach::Any {
        pieces.extend(["\\ud83d", "\\ude00"]);
    }
    let text = prop::collection::vec(select(pieces), 0..5).prop_map(|pieces| pieces.concat());
    let big = (1_usize..4).prop_map(|many| "much ".repeat(many * 100));
    prop_oneof![9 => text, 1 => big].prop_map(|text| format!("\"{text}\"")).boxed()
}

fn integer(min: i64, max: i64) -> BoxedStrategy<String> {
    let written = select(&["0", "-0", "1.0", "1e3"][..]).prop_map(str::to_owned);
    prop_oneof![written, (min..=max).prop_map(|number| number.to_string())].boxed()
}
