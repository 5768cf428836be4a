//! The results of loading besides the value, and texts that ask much of the parser.

use mapstack_value::{Key, List, Map, Path, Value};
use mapstack_yaml::{Limits, Mark, Marks, load, load_document, load_marked, loose_scalar};

fn marked(text: &str) -> (Value, Marks) {
    load_marked(text, &Limits::default()).unwrap()
}

fn position(text: &str, path: &str) -> (u32, u32) {
    let (value, marks) = marked(text);
    let mark = marks
        .at(&value, &Path::split(path, "/").unwrap())
        .expect(path)
        .mark();
    (mark.line, mark.column)
}

#[test]
fn marks_lead_to_every_value() {
    let text = "é: {b: [x, 'y']}\nlist:\n  - 1\n  - k: v\n80: http\n";
    for (path, expected) in [
        ("é/b", (1, 8)),
        ("é/b/1", (1, 12)),
        ("list/0", (3, 5)),
        ("list/1/k", (4, 8)),
        ("list/-1", (4, 5)),
    ] {
        assert_eq!(position(text, path), expected, "{path}");
    }
    let (value, marks) = marked(text);
    assert_eq!(marks.key(1), Some(Mark { line: 2, column: 1 }));
    assert_eq!(marks.child(1).unwrap().mark(), Mark { line: 3, column: 3 });
    let number: Path = [Key::from(80)].into_iter().collect();
    assert_eq!(
        marks.key_at(&value, &number),
        Some(Mark { line: 5, column: 1 })
    );
    assert!(
        marks
            .at(&value, &Path::split("list/2", "/").unwrap())
            .is_none()
    );
}

#[test]
fn marks_of_what_is_brought_in_are_where_it_is_written() {
    let text = "base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\nsame: *b\n";
    assert_eq!(position(text, "use/x"), (1, 14));
    assert_eq!(position(text, "use/y"), (4, 6));
    assert_eq!(position(text, "same/y"), (1, 20));
}

#[test]
fn marks_have_the_shape_of_tuples_and_sets() {
    let (value, marks) = marked("[!!set {a, b}, !!omap [k: v]]");
    assert_eq!(value.repr(), "[{'a', 'b'}, [('k', 'v')]]");
    assert_eq!(
        marks.child(0).unwrap().key(1),
        Some(Mark {
            line: 1,
            column: 12
        })
    );
    assert_eq!(
        marks
            .child(1)
            .unwrap()
            .child(0)
            .unwrap()
            .child(1)
            .unwrap()
            .mark(),
        Mark {
            line: 1,
            column: 27
        }
    );
}

fn list<'v>(value: &'v Value, key: &str) -> &'v List {
    match value.as_map().unwrap().get(key).unwrap() {
        Value::List(list) => list,
        other => panic!("{other:?}"),
    }
}

#[test]
fn aliases_share_storage() {
    let loaded = load_document("a: &a [1]\nb: *a\nc: [1]\n", &Limits::default()).unwrap();
    assert!(loaded.shared);
    assert!(list(&loaded.value, "a").ptr_eq(list(&loaded.value, "b")));
    assert!(!list(&loaded.value, "a").ptr_eq(list(&loaded.value, "c")));
    assert!(
        !load_document("a: &a 1\nb: *a\n", &Limits::default())
            .unwrap()
            .shared
    );
}

#[test]
fn what_merge_keys_bring_in_shares_storage() {
    let value = load("a: &a {l: [1]}\nb:\n  <<: *a\n").unwrap();
    let map = |key: &str| value.as_map().unwrap().get(key).unwrap();
    assert!(list(map("a"), "l").ptr_eq(list(map("b"), "l")));
}

/// Texts on which the parser underneath would panic or misread, and what the reference makes of
/// them.
#[test]
fn every_end_of_a_text_is_fine() {
    for (text, expected) in [
        ("a: |\n  foo", "{'a': 'foo'}"),
        ("a: |+\n  foo\n  ", "{'a': 'foo\\n'}"),
        ("a: |\n  foo\n  ", "{'a': 'foo\\n'}"),
        ("|\n foo\n   ", "'foo\\n  '"),
        (">-\n a\n b", "'a b'"),
        ("|+\n a\u{2028} ", "'a\\u2028'"),
        ("|\r a\r b", "'a\\nb'"),
        ("[!!str, a]", "['', 'a']"),
        ("[!, '!x, y', !!int 1]", "['', '!x, y', 1]"),
        ("{\"a\":!!str,b: '!t,'}", "{'a': '', 'b': '!t,'}"),
        ("[!<tag:yaml.org,2002:str>, a]", "['', 'a']"),
        ("a: x !b:, c", "{'a': 'x !b:, c'}"),
        ("# !c,\na: |\n  [!d, e]", "{'a': '[!d, e]'}"),
        ("Ａ: 1", "{'Ａ': 1}"),
        ("\u{feff}a: 1", "{'a': 1}"),
        ("a: 1\r\nb: 2\r\n", "{'a': 1, 'b': 2}"),
        ("", "None"),
        ("# only a comment", "None"),
    ] {
        assert_eq!(
            load(text)
                .unwrap_or_else(|e| panic!("{text:?}: {e}"))
                .repr(),
            expected,
            "{text:?}"
        );
    }
    for text in ["\"\\", "\"a\\", "a: !b, c", "[!b,", "'", "[\"", "{!!map,"] {
        assert!(load(text).is_err(), "{text:?}");
    }
}

#[test]
fn positions_are_those_of_the_text_as_given() {
    assert_eq!(position("- [!!str, [x]]\n- y", "0/1/0"), (1, 12));
    assert_eq!(position("- [!!str, !!str, z, !!str, y]\n", "0/4"), (1, 28));
    assert_eq!(
        load("[!!str, *x]").unwrap_err().mark(),
        Some(Mark { line: 1, column: 9 })
    );
}

/// An integer's text changes when it is read, and merge keys compare texts.
#[test]
fn merge_keys_compare_what_the_reference_compares() {
    assert!(load("a: &a {0644: x}\nb:\n  <<: *a\n  644: y\n").is_ok());
    assert!(load("a: &a {0644: x}\nb:\n  <<: *a\n  0644: y\n").is_err());
    assert!(load("x: {y: {z: &a {0644: x}}}\nb:\n  <<: *a\n  0644: y\n").is_ok());
}

#[test]
fn a_mapping_may_merge_itself() {
    for (text, expected) in [
        ("&a {<<: *a}", "{}"),
        (
            "a: &a\n  <<: [{x: 1}, *a]\n  b: 1",
            "{'a': {'x': 1, 'b': 1}}",
        ),
        ("&a {<<: [*a], <<: *a, x: 1}", "{'x': 1}"),
    ] {
        assert_eq!(load(text).unwrap().repr(), expected, "{text}");
    }
    for text in [
        "&a {<<: {x: *a}}",
        "&a {<<: &l [*a], b: *l}",
        "&a {<<: [[*a]]}",
        "&a [<<: *a]",
    ] {
        assert!(load(text).is_err(), "{text}");
    }
}

#[test]
fn only_what_changes_is_loose() {
    let map: Map = [("k", 1)].into_iter().collect();
    for (step, expected) in [
        ("1", Some(Value::from(1))),
        ("01", Some(1.into())),
        ("yes", Some(true.into())),
        ("~", Some(Value::None)),
        ("None", Some(Value::None)),
        (" foo", Some("foo".into())),
        ("1.5 # c", Some(1.5.into())),
        ("{k: 1}", Some(map.into())),
        ("k: 1", None),
        ("a # b", None),
        ("foo", None),
        ("-", None),
        ("1_0", None),
        ("0_", None),
        ("a\tb", None),
        ("[", None),
        ("|", None),
        ("!", None),
        ("...", None),
        ("2001-01-01", None),
        ("!!binary aGk=", None),
    ] {
        assert_eq!(
            loose_scalar(step).map(|v| v.repr()),
            expected.map(|v| v.repr()),
            "{step:?}"
        );
    }
}
