//! The reader of JSON against Python's, recorded, and against `serde_json`.

use mapstack_value::json::{JsonError, loads, raw_decode};
use mapstack_value::{Key, Value};
use proptest::prelude::*;

/// The outcome of reading a text, as the record has it.
fn said<T>(result: Result<T, JsonError>, shown: impl Fn(T) -> Value) -> Value {
    match result {
        Ok(found) => shown(found),
        // Python's message also names the function that raises the limit.
        Err(error) => match error.to_string().split_once(" (4300 digits)") {
            Some((limit, _)) => {
                format!("{limit} (4300 digits) for integer string conversion").into()
            }
            None => error.to_string().into(),
        },
    }
}

#[test]
fn python_reads_the_same() {
    let records = loads(include_str!("data/json_texts.json")).unwrap();
    let mut failed = Vec::new();
    for record in records.as_list().unwrap() {
        let field = |name: &str| record.as_map().and_then(|map| map.get(name)).unwrap();
        let text = field("text").as_str().unwrap();
        let whole = said(loads(text), |value| Value::from_iter([value.repr()]));
        // Python counts characters.
        let at = field("at").to_string().parse().unwrap();
        let characters = || {
            text.char_indices()
                .map(|(offset, _)| offset)
                .chain([text.len()])
        };
        let at = characters().nth(at).unwrap();
        let part = said(raw_decode(text, at), |(value, end)| {
            let end = characters().position(|offset| offset == end).unwrap();
            Value::from_iter([
                Value::from(value.repr()),
                i64::try_from(end).unwrap().into(),
            ])
        });
        for (name, found) in [("loads", whole), ("raw_decode", part)] {
            if found != *field(name) {
                let text: String = text.chars().take(200).collect();
                failed.push(format!("{text}\n  {name}: {found}, not {}", field(name)));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Texts that look like JSON: keys and words out of few, so that they come again.
fn json_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-d]{0,2}",
        "[ -!#-\\[\\]-~é😀]{0,20}",
        Just("key\\u00e9\\n\\ud83d\\ude00".to_owned()),
        "[a-z]{45,50}",
    ];
    let string = word.prop_map(|word| format!("\"{word}\""));
    let number = prop_oneof![
        "(-?[1-9][0-9]{0,2}|0)",
        "-?[1-9][0-9]{16,20}",
        "-?[1-9][0-9]{0,2}\\.[0-9]{1,3}([eE][+-]?[0-9]{1,2})?",
    ];
    let other = prop_oneof![Just("null"), Just("true"), Just("false")];
    let leaf = prop_oneof![4 => string.clone(), 2 => number, 1 => other.prop_map(str::to_owned)];
    leaf.prop_recursive(4, 60, 8, move |inner| {
        let entry = (string.clone(), " ?", inner.clone())
            .prop_map(|(key, blank, value)| format!("{key}{blank}:{value}"));
        prop_oneof![
            proptest::collection::vec(inner, 0..6)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            proptest::collection::vec(entry, 0..8)
                .prop_map(|entries| format!("{{{}}}", entries.join(" ,\n"))),
        ]
    })
}

/// True if both hold the same: order, integers and floats included.
fn is_same(ours: &Value, theirs: &serde_json::Value) -> bool {
    use serde_json::Value as Json;
    match (ours, theirs) {
        (Value::None, Json::Null) => true,
        (Value::Bool(ours), Json::Bool(theirs)) => ours == theirs,
        (Value::Str(ours), Json::String(theirs)) => **ours == **theirs,
        // It keeps the text of a number; Python reads `-0` as the integer 0.
        (Value::Int(ours), Json::Number(theirs)) => {
            let theirs = theirs.to_string();
            ours.to_string() == if theirs == "-0" { "0" } else { &theirs }
        }
        (Value::Float(ours), Json::Number(theirs)) => {
            let theirs: f64 = theirs.to_string().parse().unwrap();
            ours.to_bits() == theirs.to_bits()
        }
        (Value::List(ours), Json::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|(one, other)| is_same(one, other))
        }
        (Value::Map(ours), Json::Object(theirs)) => {
            let entries = || ours.iter().zip(theirs);
            let is_same_entry =
                |((key, one), (name, other)): ((&Key, &Value), (&String, &Json))| {
                    key.as_str() == Some(name) && is_same(one, other)
                };
            ours.len() == theirs.len() && entries().all(is_same_entry)
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Both readers agree where the standard and Python do.
    #[test]
    fn serde_json_reads_the_same(text in json_text(), damage in any::<Option<(prop::sample::Index, char)>>()) {
        let theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert!(is_same(&loads(&text).unwrap(), &theirs), "{}", text);
        let mut damaged = text.clone();
        if let Some((at, c)) = damage {
            let at = at.index(text.len() + 1);
            if text.is_char_boundary(at) {
                damaged.insert(at, c);
            }
        }
        if let Ok(theirs) = serde_json::from_str(&damaged) {
            prop_assert!(is_same(&loads(&damaged).unwrap(), &theirs), "{}", damaged);
        }
    }

    /// A partial read gives the result of the part, and never ends outside of the text.
    #[test]
    fn a_part_is_read_as_if_it_stood_alone(text in json_text(), more in "[\\[\\]{}:,\"\\\\u0-9aeE+.tnN \n-]{0,24}") {
        let both = format!("{text} {more}");
        let (value, end) = raw_decode(&both, 0).unwrap();
        prop_assert_eq!(value.repr(), loads(&both[..end]).unwrap().repr());
        prop_assert_eq!(both[..end].trim_end(), text.as_str());
        if let Ok((_, end)) = raw_decode(&both, text.len() + 1) {
            prop_assert!(both.is_char_boundary(end) && end > text.len());
        }
    }
}
