//! Python's rules for keys, numbers, order and text, as laws and as tables.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use mapstack_value::{
    ArithmeticError, Int, Key, KeyRef, List, Map, Path, Set, Value, float_repr, quote_str,
    sort_by_key, traverse,
};
use proptest::prelude::*;

fn key() -> impl Strategy<Value = Key> {
    let leaf = prop_oneof![
        Just(Key::None),
        any::<bool>().prop_map(Key::Bool),
        (-3i64..3).prop_map(Key::from),
        any::<i64>().prop_map(Key::from),
        any::<i128>().prop_map(|i| Key::Int(i.into())),
        (-3i64..3).prop_map(|i| Key::Float(i as f64)),
        any::<f64>()
            .prop_filter("Python finds NaN by identity", |f| !f.is_nan())
            .prop_map(Key::Float),
        prop::sample::select(vec![9.223_372_036_854_776e18, 1e20, -1e30, 0.5]).prop_map(Key::Float),
        "[a1]{0,2}".prop_map(Key::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop::collection::vec(inner, 0..3).prop_map(|t| Key::Tuple(t.into()))
    })
}

fn hash(key: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #[test]
    fn equal_keys_hash_alike(a in key(), b in key()) {
        if a == b {
            prop_assert_eq!(hash(&a), hash(&b));
        }
        prop_assert_eq!(a == b, b == a);
        prop_assert_eq!(a == b, a.to_value() == b.to_value());
    }

    #[test]
    fn text_is_found_without_a_key(text in ".*") {
        let map: Map = [(text.as_str(), 1)].into_iter().collect();
        prop_assert!(map.contains_key(text.as_str()) && map.contains_key(&KeyRef(&text)) && map.contains_key(&Key::from(text)));
    }

    #[test]
    fn division_is_pythons(a in any::<i128>(), b in any::<i64>()) {
        let (x, y) = (Int::from(a), Int::from(b));
        match (x.floor_div(&y), x.modulo(&y)) {
            (Ok(quotient), Ok(rest)) => {
                prop_assert_eq!(quotient.mul(&y).unwrap().add(&rest), x);
                prop_assert!(rest.is_zero() || rest.is_negative() == (b < 0));
                prop_assert!(rest.abs() < y.abs());
            }
            other => prop_assert_eq!(other, (Err(ArithmeticError::DivisionByZero), Err(ArithmeticError::DivisionByZero))),
        }
    }

    #[test]
    fn integers_print_and_parse(a in any::<i128>()) {
        let int = Int::from(a);
        prop_assert_eq!(int.to_string(), a.to_string());
        prop_assert_eq!(a.to_string().parse::<Int>().unwrap(), int);
    }

    #[test]
    fn arithmetic_does_not_overflow(a in any::<i64>(), b in any::<i64>()) {
        let (x, y) = (Int::from(a), Int::from(b));
        prop_assert_eq!(x.add(&y), Int::from(i128::from(a) + i128::from(b)));
        prop_assert_eq!(x.sub(&y), Int::from(i128::from(a) - i128::from(b)));
        prop_assert_eq!(x.mul(&y).unwrap(), Int::from(i128::from(a) * i128::from(b)));
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
    }

    #[test]
    fn floats_print_so_that_they_read_back(f in any::<f64>()) {
        prop_assume!(f.is_finite());
        prop_assert_eq!(float_repr(f).parse::<f64>().unwrap().to_bits(), f.to_bits());
    }

    #[test]
    fn changing_a_clone_leaves_the_original(keys in prop::collection::vec("[a-c]", 0..6)) {
        let original: Map = keys.iter().map(|k| (k.as_str(), 1)).collect();
        let before = original.repr();
        let mut clone = original.clone();
        clone.insert("z", 2);
        clone.shift_remove("a");
        if let Some(value) = clone.get_mut("b") {
            *value = Value::None;
        }
        prop_assert_eq!(original.repr(), before);
    }

    #[test]
    fn a_map_keeps_the_first_key_and_the_last_value(keys in prop::collection::vec(key(), 0..8)) {
        let map: Map = keys.iter().cloned().enumerate().map(|(i, k)| (k, i)).collect();
        let mut model: Vec<(Key, usize)> = Vec::new();
        for (i, key) in keys.into_iter().enumerate() {
            match model.iter_mut().find(|(known, _)| *known == key) {
                Some((_, value)) => *value = i,
                None => model.push((key, i)),
            }
        }
        let got: Vec<String> = map.iter().map(|(k, v)| format!("{k:?} {v:?}")).collect();
        let wanted: Vec<String> = model.iter().map(|(k, v)| format!("{k:?} {v}")).collect();
        prop_assert_eq!(got, wanted);
    }
}

trait Repr {
    fn repr(&self) -> String;
}

impl Repr for Map {
    fn repr(&self) -> String {
        Value::Map(self.clone()).repr()
    }
}

#[test]
fn one_and_true_are_one_key() {
    let map: Map = [
        (Key::from(1), "int"),
        (Key::from(1.0), "float"),
        (Key::from(true), "bool"),
    ]
    .into_iter()
    .collect();
    assert_eq!(map.repr(), "{1: 'bool'}");
    let big: Int = "100000000000000000000".parse().unwrap();
    assert_eq!(Key::Int(big.clone()), Key::Float(1e20));
    assert_eq!(
        big.add(&Int::from(1)).compare_float(1e20),
        Some(std::cmp::Ordering::Greater)
    );
    assert_ne!(Key::from("1"), Key::from(1));
    assert_ne!(Key::None, Key::from(false));
}

#[test]
fn values_compare_as_in_python() {
    let list = |items: &[Value]| Value::List(items.to_vec().into());
    let table = [
        (Value::from(1), Value::from(true), true),
        (Value::from(0.0), Value::from(false), true),
        (Value::from("1"), Value::from(1), false),
        (Value::None, Value::from(false), false),
        (list(&[1.into()]), list(&[true.into()]), true),
        (list(&[1.into()]), Value::Tuple([1.into()].into()), false),
        (Value::from(f64::NAN), Value::from(f64::NAN), false),
    ];
    for (a, b, equal) in table {
        assert_eq!(a == b, equal, "{a:?} {b:?}");
    }
    let forward: Map = [("a", 1), ("b", 2)].into_iter().collect();
    let backward: Map = [("b", 2), ("a", 1)].into_iter().collect();
    assert_eq!(forward, backward);
}

#[test]
fn truth_is_pythons() {
    let falsy = [
        Value::None,
        false.into(),
        0.into(),
        0.0.into(),
        "".into(),
        Value::map(),
        List::default().into(),
        Set::default().into(),
        Value::Tuple([].into()),
        Value::Bytes([].into()),
    ];
    assert!(falsy.iter().all(|v| !v.truthy()));
    let truthy = [
        true.into(),
        (-1).into(),
        "false".into(),
        f64::NAN.into(),
        Value::from_iter([Value::None]),
        Value::Tuple([Value::None].into()),
        [("", Value::None)].into_iter().collect::<Map>().into(),
        Value::Set(Set::from_iter([Key::from("")])),
        Value::Bytes([0].into()),
    ];
    assert!(truthy.iter().all(Value::truthy));
}

#[test]
fn mappings_are_equal_if_all_entries_are() {
    let map = |entries: &[(&str, i32)]| entries.iter().copied().collect::<Map>();
    let one = map(&[("a", 1), ("b", 2)]);
    assert_eq!(one, map(&[("b", 2), ("a", 1)]));
    for other in [
        &[("a", 1), ("b", 3)][..],
        &[("a", 1), ("c", 2)],
        &[("a", 1)],
    ] {
        assert_ne!(one, map(other));
    }
}

#[test]
fn zero_is_not_negative() {
    let signs = [-1, 0, 1].map(|number| Int::from(number).is_negative());
    assert_eq!(signs, [true, false, false]);
}

#[test]
fn text_is_quoted_as_python_quotes_it() {
    let table = [
        ("plain", "'plain'"),
        ("it's", "\"it's\""),
        ("both ' and \"", "'both \\' and \"'"),
        ("\u{7}\n\t\\", "'\\x07\\n\\t\\\\'"),
        ("é☃😀", "'é☃😀'"),
        (
            "\u{a0}\u{200b}\u{2028}\u{e000}\u{10ffff}",
            "'\\xa0\\u200b\\u2028\\ue000\\U0010ffff'",
        ),
    ];
    for (text, quoted) in table {
        assert_eq!(quote_str(text), quoted);
    }
    assert_eq!(
        Value::Bytes((*b"a'\"\x00\xff\n").into()).repr(),
        "b'a\\'\"\\x00\\xff\\n'"
    );
    assert_eq!(Value::Tuple([1.into()].into()).repr(), "(1,)");
    assert_eq!(Value::from(Set::default()).repr(), "set()");
}

#[test]
fn floats_print_as_in_python() {
    let table = [
        (1e16, "1e+16"),
        (1e15, "1000000000000000.0"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-0.0, "-0.0"),
        (5e-324, "5e-324"),
        (1.5, "1.5"),
        (1e22, "1e+22"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
    ];
    for (f, text) in table {
        assert_eq!(float_repr(f), text);
    }
}

#[test]
fn huge_results_are_refused() {
    let big = Int::from(10).pow(1000).unwrap();
    assert_eq!(big.to_f64(), Err(ArithmeticError::FloatOverflow));
    assert!(matches!(
        big.pow(100_000),
        Err(ArithmeticError::TooLarge { .. })
    ));
    assert!(matches!(
        Int::from(2).pow(u32::MAX),
        Err(ArithmeticError::TooLarge { .. })
    ));
}

#[test]
fn a_path_needs_a_delimiter() {
    assert!(Path::split("a", "").is_err());
    let data = Value::from_iter([Value::from(1), Value::from(2)]);
    let at = |step: &str| traverse(&data, &Path::split(step, ":").unwrap(), &|_| None);
    assert_eq!(at("-1"), Some(2.into()));
    assert_eq!(at(" +0_1 "), Some(2.into()));
    assert_eq!(at("9223372036854775808"), None);
    assert_eq!(at("-9223372036854775808"), None);
    assert_eq!(at("1.0"), None);
}

#[test]
fn a_step_into_a_list_is_a_key_of_its_first_mapping_that_has_it() {
    let map = |entries: &[(&str, i32)]| Value::from(entries.iter().copied().collect::<Map>());
    let data = Value::from_iter([map(&[("a", 1)]), Value::None, map(&[("a", 2), ("b", 3)])]);
    let at = |step: &str| traverse(&data, &Path::from_iter([Key::from(step)]), &|_| None);
    assert_eq!(
        [at("a"), at("b"), at("c")],
        [Some(1.into()), Some(3.into()), None]
    );
}

#[test]
fn steps_are_read_as_pythons_int_reads_them() {
    let data = Value::from_iter(["a", "b", "c"]);
    let at = |step: Key| {
        traverse(&data, &Path::from_iter([step]), &|_| None).map(|found| found.to_string())
    };
    let table = [
        (Key::from(1.9), Some("b")),
        (Key::from(-1.9), Some("c")),
        (Key::from(-0.5), Some("a")),
        (Key::from(3.0), None),
        (Key::from(1e300), None),
        (Key::from(f64::NAN), None),
        (Key::from(f64::INFINITY), None),
        (Key::from(true), Some("b")),
        (Key::from(-3), Some("a")),
        (Key::from(-4), None),
        (Key::None, None),
        (Key::from(""), None),
        (Key::from("1_"), None),
        (Key::from("+-1"), None),
    ];
    for (step, found) in table {
        assert_eq!(at(step.clone()).as_deref(), found, "{step:?}");
    }
    // A tuple takes an integer, and nothing that would have to be read as one.
    let tuple = Value::Tuple(["a".into(), "b".into()].into());
    let at = |step: Key| {
        traverse(&tuple, &Path::from_iter([step]), &|_| None).map(|found| found.to_string())
    };
    for (step, found) in [
        (Key::from(-1), Some("b")),
        (Key::from(true), Some("b")),
        (Key::from(2), None),
        (Key::from(-3), None),
        (Key::from(1.0), None),
        (Key::from("1"), None),
    ] {
        assert_eq!(at(step.clone()).as_deref(), found, "{step:?}");
    }
}

#[test]
fn tuples_are_ordered_by_their_first_difference() {
    let tuple = |items: &[Key]| Key::Tuple(items.to_vec().into());
    let (one, two, text) = (Key::from(1), Key::from(2), Key::from("a"));
    let table = [
        (vec![], vec![one.clone()], Ok(true)),
        (vec![one.clone()], vec![], Ok(false)),
        (vec![], vec![], Ok(false)),
        (vec![one.clone()], vec![one.clone(), two.clone()], Ok(true)),
        (vec![one.clone(), two.clone()], vec![one.clone()], Ok(false)),
        (
            vec![one.clone(), two.clone()],
            vec![one.clone(), two.clone()],
            Ok(false),
        ),
        (vec![two.clone()], vec![one.clone(), two.clone()], Ok(false)),
        (
            vec![one.clone(), text.clone()],
            vec![two.clone(), one.clone()],
            Ok(true),
        ),
        // Equal items are passed over, whatever their type.
        (
            vec![Key::None, one.clone()],
            vec![Key::None, two.clone()],
            Ok(true),
        ),
        (
            vec![Key::from(true), one.clone()],
            vec![Key::from(1.0), two.clone()],
            Ok(true),
        ),
        (
            vec![text],
            vec![one],
            Err("'<' not supported between instances of 'str' and 'int'".to_string()),
        ),
    ];
    for (left, right, expected) in table {
        let outcome = tuple(&left)
            .less_than(&tuple(&right))
            .map_err(|error| error.to_string());
        assert_eq!(outcome, expected, "{left:?} < {right:?}");
    }
}

#[test]
fn tuples_are_sorted_as_python_sorts_them() {
    let keys: Vec<Key> = [[2, 1], [1, 2], [1, 1], [0, 9]]
        .map(|pair| Key::Tuple(pair.map(Key::from).to_vec().into()))
        .to_vec();
    let sorted = sort_by_key(keys.iter().collect(), |key| *key).unwrap();
    assert_eq!(sorted, [&keys[3], &keys[2], &keys[1], &keys[0]]);
}
