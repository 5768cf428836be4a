//! Python's `json`, and `sorted()` over keys.

use mapstack_value::json::{DumpOptions, JsonError, dumps, loads};
use mapstack_value::{Key, List, Map, Set, Value, sort_by_key};
use proptest::prelude::*;

fn printed(value: impl Into<Value>, options: &DumpOptions) -> String {
    dumps(&value.into(), options).unwrap_or_else(|error| error.to_string())
}

fn sample() -> Value {
    loads(r#"{"b": [1, 2.5, {}], "a": {"é": "\"\\\n\u0007😀\u007f"}, "c": []}"#).unwrap()
}

#[test]
fn layouts() {
    let default = DumpOptions::default();
    assert_eq!(
        printed(sample(), &default),
        r#"{"b": [1, 2.5, {}], "a": {"\u00e9": "\"\\\n\u0007\ud83d\ude00\u007f"}, "c": []}"#
    );
    let unicode = DumpOptions {
        ensure_ascii: false,
        sort_keys: true,
        ..default.clone()
    };
    assert_eq!(
        printed(sample(), &unicode),
        "{\"a\": {\"é\": \"\\\"\\\\\\n\\u0007😀\u{7f}\"}, \"b\": [1, 2.5, {}], \"c\": []}"
    );
    let small = loads(r#"{"a": [1, []], "b": {}}"#).unwrap();
    let indented = DumpOptions {
        indent: Some(2),
        ..default.clone()
    };
    assert_eq!(
        printed(small.clone(), &indented),
        "{\n  \"a\": [\n    1,\n    []\n  ],\n  \"b\": {}\n}"
    );
    let no_columns = DumpOptions {
        indent: Some(0),
        ..default.clone()
    };
    assert_eq!(
        printed(small.clone(), &no_columns),
        "{\n\"a\": [\n1,\n[]\n],\n\"b\": {}\n}"
    );
    let compact = DumpOptions {
        separators: Some((",".into(), ":".into())),
        ..default
    };
    assert_eq!(printed(small, &compact), r#"{"a":[1,[]],"b":{}}"#);
}

#[test]
fn keys_become_text() {
    let map: Map = [
        (Key::from(1), 0),
        (Key::from(1.5), 1),
        (Key::from(false), 2),
        (Key::None, 3),
        (Key::from(f64::INFINITY), 4),
        (Key::from(1e20), 5),
    ]
    .into_iter()
    .collect();
    assert_eq!(
        printed(map, &DumpOptions::default()),
        r#"{"1": 0, "1.5": 1, "false": 2, "null": 3, "Infinity": 4, "1e+20": 5}"#
    );
}

#[test]
fn what_has_no_json_is_worded_as_python_words_it() {
    let default = DumpOptions::default();
    let sorted = DumpOptions {
        sort_keys: true,
        ..default.clone()
    };
    let bytes = || Value::Bytes([1].into());
    assert_eq!(
        printed(bytes(), &default),
        "Object of type bytes is not JSON serializable"
    );
    assert_eq!(
        printed(Set::default(), &default),
        "Object of type set is not JSON serializable"
    );
    let tuple_key: Map = [(Key::Tuple([Key::None].into()), 1)].into_iter().collect();
    assert_eq!(
        printed(tuple_key, &default),
        "keys must be str, int, float, bool or None, not tuple"
    );
    let mixed: Map = [(Key::from(1), 1), (Key::from("a"), 2)]
        .into_iter()
        .collect();
    assert_eq!(
        printed(mixed, &sorted),
        "'<' not supported between instances of 'str' and 'int'"
    );
    let one_null: Map = [(Key::None, 1)].into_iter().collect();
    assert_eq!(printed(one_null, &sorted), r#"{"null": 1}"#);
    assert_eq!(
        printed(Value::Tuple([1.into(), f64::NAN.into()].into()), &default),
        "[1, NaN]"
    );
}

#[test]
fn loading() {
    for (text, expected) in [
        (" [1, -0, 2.0, 1e3, -1E-2] ", "[1, 0, 2.0, 1000.0, -0.01]"),
        ("100000000000000000000", "100000000000000000000"),
        ("[NaN, Infinity, -Infinity]", "[nan, inf, -inf]"),
        (r#"{"a": 1, "b": 2, "a": 3}"#, "{'a': 3, 'b': 2}"),
        (r#""\ud83d\ude00\/\u00e9""#, "'😀/é'"),
        ("[null, true, false]", "[None, True, False]"),
    ] {
        assert_eq!(loads(text).unwrap().repr(), expected);
    }
    for (text, message) in [
        ("", "Expecting value: line 1 column 1"),
        ("[1,\n x]", "Expecting value: line 2 column 2"),
        (
            "{'a': 1}",
            "Expecting property name enclosed in double quotes: line 1 column 2",
        ),
        ("{\"a\" 1}", "Expecting ':' delimiter: line 1 column 6"),
        ("[1 2]", "Expecting ',' delimiter: line 1 column 4"),
        ("\"é", "Unterminated string starting at: line 1 column 1"),
        ("\"\t\"", "Invalid control character at: line 1 column 2"),
        ("\"é\\x\"", "Invalid \\escape: line 1 column 3"),
        ("\"\\u12\"", "Invalid \\uXXXX escape: line 1 column 3"),
        ("01", "Extra data: line 1 column 2"),
    ] {
        assert_eq!(loads(text).unwrap_err().to_string(), message, "{text}");
    }
}

/// Deep values are refused both ways on a small stack.
#[test]
fn depth_is_limited() {
    let work = || {
        assert!(loads(&("[".repeat(200) + &"]".repeat(200))).is_ok());
        assert_eq!(loads(&"[".repeat(100_000)), Err(JsonError::TooDeep));
        let deep = (0..400).fold(Value::None, |inner, _| List::from(vec![inner]).into());
        assert_eq!(
            dumps(&deep, &DumpOptions::default()),
            Err(JsonError::TooDeep)
        );
    };
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<String>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::None),
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        let entries = proptest::collection::vec((any::<String>(), inner.clone()), 0..4);
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(Value::from),
            entries.prop_map(|entries| Value::Map(entries.into_iter().collect::<Map>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_is_dumped_loads_back(value in json_value(), ensure_ascii: bool, indent in proptest::option::of(0_usize..4)) {
        let options = DumpOptions { ensure_ascii, indent, ..DumpOptions::default() };
        let text = dumps(&value, &options).unwrap();
        prop_assert_eq!(loads(&text).unwrap().repr(), value.repr());
    }

    #[test]
    fn sorting_is_by_less_than(numbers in proptest::collection::vec(prop_oneof![any::<i64>().prop_map(Key::from), any::<f64>().prop_map(Key::from)], 0..30)) {
        let sorted = sort_by_key(numbers.iter().collect(), |key| *key).unwrap();
        prop_assert_eq!(sorted.len(), numbers.len());
        let has_nan = numbers.iter().any(|key| matches!(key, Key::Float(f) if f.is_nan()));
        for pair in sorted.windows(2) {
            prop_assert!(has_nan || !pair[1].less_than(pair[0]).unwrap());
        }
    }

    #[test]
    fn any_text_is_json_or_an_error(text in "[\\[\\]{}:,\"\\\\u0-9aeE+.tnN \n-]{0,24}") {
        if let Ok(value) = loads(&text) {
            prop_assert_eq!(loads(&dumps(&value, &DumpOptions::default()).unwrap()).unwrap().repr(), value.repr());
        }
    }
}

/// The limit of the writer is the limit of the reader, for lists and mappings alike.
#[test]
fn what_can_be_written_can_be_read() {
    let list = |inner| List::from(vec![inner]).into();
    let map = |inner| Value::from([("a", inner)].into_iter().collect::<Map>());
    for wrap in [list, map] {
        let written = |levels| {
            let deep = (0..levels).fold(Value::from(1), |inner, _| wrap(inner));
            dumps(&deep, &DumpOptions::default())
        };
        let most = (1..400)
            .take_while(|&levels| written(levels).is_ok())
            .last()
            .unwrap();
        let text = written(most).unwrap();
        assert!(loads(&text).is_ok(), "{most}");
        let (open, close) = if text.starts_with('[') {
            ("[", "]")
        } else {
            ("{\"a\": ", "}")
        };
        assert!(loads(&format!("{open}{text}{close}")).is_err(), "{most}");
    }
}

#[test]
fn the_limit_of_digits_does_not_count_the_sign() {
    for sign in ["", "-"] {
        let number = |digits| loads(&format!("{sign}{}", "1".repeat(digits)));
        assert!(number(4300).is_ok() && number(4301).is_err(), "{sign}");
    }
}

#[test]
fn a_lone_surrogate_is_named_by_its_place() {
    let error = loads(r#"["ab\ud83dx"]"#).unwrap_err().to_string();
    assert_eq!(error, "Lone surrogate in \\uXXXX escape: line 1 column 6");
}
