//! Values through serde, and as the values of `serde_json` and `serde_yaml`.

use mapstack_value::json::{DumpOptions, dumps};
use mapstack_value::{Int, Key, Map, Set, Value};
use proptest::prelude::*;

/// Data that JSON can express.
fn json_data() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::None),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no word for it", |f| f.is_finite())
            .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let entries = prop::collection::vec((any::<String>(), inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            entries.prop_map(|entries| Map::from_iter(entries).into()),
        ]
    })
}

/// Data that `serde_yaml` can express: keys of any hashable type, and floats that are not finite.
fn yaml_data() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        any::<String>().prop_map(Key::from),
        any::<i64>().prop_map(Key::from),
        any::<bool>().prop_map(Key::from),
        Just(Key::None),
        prop::collection::vec(any::<i64>().prop_map(Key::from), 0..3)
            .prop_map(|items| Key::Tuple(items.into())),
    ];
    let leaf = prop_oneof![json_data(), any::<f64>().prop_map(Value::from)];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        prop::collection::vec((key.clone(), inner), 0..4)
            .prop_map(|entries| Map::from_iter(entries).into())
    })
}

proptest! {
    #[test]
    fn json_text_comes_back(value in json_data()) {
        let text = serde_json::to_string(&value).unwrap();
        let back: Value = serde_json::from_str(&text).unwrap();
        prop_assert!(back.is_same(&value), "{:?} came back as {:?}", value, back);
        // The crate's own JSON says the same; a float's exponent can have a zero in front there, as in Python.
        let own = dumps(&value, &DumpOptions::default()).unwrap();
        let own: Value = serde_json::from_str(&own).unwrap();
        prop_assert!(own.is_same(&value), "{:?} came back as {:?}", value, own);
    }

    #[test]
    fn json_values_come_back(value in json_data()) {
        let json = serde_json::Value::try_from(&value).unwrap();
        prop_assert!(Value::from(json.clone()).is_same(&value), "{} from {:?}", json, value);
    }

    #[test]
    fn yaml_values_come_back(value in yaml_data()) {
        let yaml = serde_yaml::Value::try_from(&value).unwrap();
        // NaN has several bit patterns, and `repr` one word.
        prop_assert_eq!(Value::try_from(yaml).unwrap().repr(), value.repr());
    }
}

#[test]
fn a_value_can_be_read_from_yaml_and_be_a_field() {
    #[derive(serde::Deserialize, serde::Serialize)]
    struct Layer {
        strategy: Option<String>,
        values: Map,
        rest: Value,
    }
    let layer: Layer =
        serde_yaml::from_str("{strategy: list, values: {80: [a, ~]}, rest: {[1, 2]: -1.5}}")
            .unwrap();
    assert_eq!(layer.strategy.as_deref(), Some("list"));
    assert_eq!(
        Value::from(layer.values.clone()).repr(),
        "{80: ['a', None]}"
    );
    assert_eq!(layer.rest.repr(), "{(1, 2): -1.5}");
    let text = serde_json::to_string(&Layer {
        rest: Value::None,
        ..layer
    })
    .unwrap();
    assert_eq!(
        text,
        r#"{"strategy":"list","values":{"80":["a",null]},"rest":null}"#
    );
    let error = serde_yaml::from_str::<Map>("[1]").unwrap_err().to_string();
    assert!(error.starts_with("invalid type: sequence"), "{error}");
    let error = serde_json::from_str::<Map>("3").unwrap_err().to_string();
    assert!(error.contains("invalid type"), "{error}");
}

#[test]
fn numbers_of_any_size_are_exact() {
    let big: Value = "123456789012345678901234567890123456789012345678901234567890"
        .parse::<Int>()
        .unwrap()
        .into();
    assert!(
        serde_json::from_str::<Value>(&big.to_string())
            .unwrap()
            .is_same(&big)
    );
    let json = serde_json::Value::try_from(&big).unwrap();
    assert_eq!(json.to_string(), big.to_string());
    assert!(Value::from(json).is_same(&big));
    for (text, repr) in [
        ("1.0", "1.0"),
        ("1e2", "100.0"),
        ("-0.0", "-0.0"),
        ("1e999", "inf"),
        ("-7", "-7"),
    ] {
        assert_eq!(serde_json::from_str::<Value>(text).unwrap().repr(), repr);
    }
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each value without a counterpart"
)]
fn what_has_no_counterpart_says_where_and_why() {
    let at = |value: Value| {
        Value::from(Map::from_iter([(
            "a",
            Value::from_iter([Value::None, value]),
        )]))
    };
    let big: Int = Int::from(2).pow(200).unwrap();
    let set: Value = Set::from_iter([1]).into();
    let bytes = Value::Bytes((*b"x").into());
    let json = [
        (
            f64::NAN.into(),
            "a:1: the float nan is not finite; JSON has no word for it",
        ),
        (set.clone(), "a:1: a set cannot be JSON"),
        (bytes.clone(), "a:1: bytes cannot be JSON"),
        (
            Map::from_iter([(1, 2)]).into(),
            "a:1: the key 1 is an integer; keys of JSON are strings",
        ),
        (
            Map::from_iter([(Key::None, 2)]).into(),
            "a:1: the key None is null; keys of JSON are strings",
        ),
    ];
    for (value, message) in json {
        assert_eq!(
            serde_json::Value::try_from(&at(value))
                .unwrap_err()
                .to_string(),
            message
        );
    }
    let yaml = [
        (
            set,
            "a:1: a set cannot be a value of serde_yaml".to_string(),
        ),
        (
            bytes,
            "a:1: bytes cannot be a value of serde_yaml".to_string(),
        ),
        (
            big.clone().into(),
            format!("a:1: the integer {big} has more than 64 bits"),
        ),
    ];
    for (value, message) in yaml {
        assert_eq!(
            serde_yaml::Value::try_from(&at(value))
                .unwrap_err()
                .to_string(),
            message
        );
    }
    let from_yaml = [
        (
            "a: [{{b: 1}: 2}]",
            "a:0: the key {'b': 1}: unhashable type: 'dict'",
        ),
        (
            "a: [!thing x]",
            "a:0: the tag !thing says a type that is not known",
        ),
    ];
    for (text, message) in from_yaml {
        let yaml: serde_yaml::Value = serde_yaml::from_str(text).unwrap();
        assert_eq!(Value::try_from(yaml).unwrap_err().to_string(), message);
    }
    assert!(
        serde_yaml::from_str::<Value>("{{b: 1}: 2}")
            .unwrap_err()
            .to_string()
            .contains("unhashable type: 'dict'")
    );
    let error = serde_json::to_string(&at(big.into()))
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("has more than 128 bits"), "{error}");
}
