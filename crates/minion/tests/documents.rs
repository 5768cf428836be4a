//! Reading facts, setting them, and what is said of those that are wrong.

use mapstack_minion::{MAX_BYTES, Minion, Part, ReadErrorKind};
use mapstack_value::{Key, Map, Value};
use proptest::prelude::*;

fn yaml(text: &str) -> Value {
    mapstack_yaml::load(text).unwrap()
}

fn minion(text: &str) -> Minion {
    Minion::parse(text.as_bytes(), "m.yaml").unwrap()
}

#[test]
fn the_id_comes_from_the_document_the_grain_or_nowhere() {
    for (text, id, grain) in [
        ("id: web1", "'web1'", "'web1'"),
        ("grains: {id: web2}", "'web2'", "'web2'"),
        ("{id: a, grains: {id: b}}", "'a'", "'b'"),
        ("{id: '', grains: {id: b}}", "'b'", "'b'"),
        ("{id: null, grains: {id: null}}", "'minion'", "None"),
        ("{id: 7}", "7", "7"),
        ("{}", "'minion'", "'minion'"),
    ] {
        let minion = minion(text).complete();
        let found = minion.grains_get("id", ":").unwrap().unwrap();
        assert_eq!(
            (minion.id.repr(), found.repr()),
            (id.to_owned(), grain.to_owned()),
            "{text}"
        );
        assert_eq!(
            minion.option(&Key::from("id")).unwrap().repr(),
            id,
            "{text}"
        );
    }
}

#[test]
fn parts_may_be_missing_or_empty() {
    for text in [
        "{}",
        "grains:\npillar:\nopts:\n",
        "{grains: [], pillar: '', opts: false}",
    ] {
        assert_eq!(minion(text), Minion::default(), "{text}");
    }
}

#[test]
fn json_that_is_not_yaml_is_read_as_well() {
    let minion = minion(r#"{"id": "a\/b", "grains": {"face": "\ud83d\ude00"}}"#);
    assert_eq!(
        (minion.id.repr(), minion.grains.get("face").unwrap().repr()),
        ("'a/b'".into(), "'😀'".into())
    );
}

/// Parse, and check what is said.
fn check_refused(text: &[u8], message: &str) {
    assert_eq!(
        Minion::parse(text, "m.yaml").unwrap_err().to_string(),
        message
    );
}

#[test]
fn errors_say_where_and_what_to_do() {
    let known = "a minion has `id`, `grains`, `pillar` and `opts`";
    check_refused(
        b"id: x\nos: Debian\n",
        &format!("m.yaml:2:1: unknown key 'os': {known}"),
    );
    check_refused(
        b"pilar: {}",
        &format!("m.yaml:1:1: unknown key 'pilar': {known}; did you mean `pillar`?"),
    );
    check_refused(
        b"Options: {}",
        &format!("m.yaml:1:1: unknown key 'Options': {known}; did you mean `opts`?"),
    );
    check_refused(b"1: x", &format!("m.yaml:1:1: unknown key 1: {known}"));
    check_refused(
        b"id: x\ngrains:\n  - a\n",
        "m.yaml:3:3: grains must be a mapping, not a list",
    );
    check_refused(
        b"pillar: text",
        "m.yaml:1:9: pillar must be a mapping, not a string",
    );
    check_refused(b"id: [a]", "m.yaml:1:5: the id must be a name, not a list");
    check_refused(
        b"- id: x",
        "m.yaml:1:1: a minion must be a mapping, not a list",
    );
    check_refused(
        b"id: x\ngrains:\n\tos: Debian\n",
        "m.yaml:3:1: a tab is used as indentation; indent with spaces",
    );
    let deep = format!("grains: {}{}", "[".repeat(20_000), "]".repeat(20_000));
    check_refused(
        deep.as_bytes(),
        "m.yaml:1:136: collections are nested more than 128 levels deep; flatten them",
    );
    check_refused(b"", "m.yaml: holds nothing; write `{}` for no facts");
    check_refused(
        b"id: x\nid: y\n",
        "m.yaml:2:1: the key 'id' was already set at line 1, column 1; keep one of the two",
    );
    check_refused(
        b"a: 1\nb: \xff\n",
        "m.yaml:2:4: byte 8 does not start a UTF-8 character; save the text as UTF-8",
    );
}

#[test]
fn files_are_read_up_to_a_limit() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("web1.yaml");
    std::fs::write(&file, "id: web1\n").unwrap();
    assert_eq!(
        Minion::from_path(&file)
            .unwrap()
            .grains
            .get("id")
            .unwrap()
            .as_str(),
        Some("web1")
    );

    std::fs::File::create(&file)
        .unwrap()
        .set_len(MAX_BYTES + 1)
        .unwrap();
    let error = Minion::from_path(&file).unwrap_err();
    assert!(
        matches!(error.kind, ReadErrorKind::TooLarge { limit: MAX_BYTES }),
        "{error}"
    );

    let missing = Minion::from_path(directory.path().join("none.yaml")).unwrap_err();
    assert!(
        matches!(missing.kind, ReadErrorKind::Unreadable(_)),
        "{missing}"
    );
    assert!(
        missing.to_string().contains("none.yaml: cannot be read: "),
        "{missing}"
    );
}

#[test]
fn a_part_replaces_what_was_there() {
    let mut minion = minion("pillar: {a: 1}");
    for (text, pillar) in [
        ("{b: 2}", "{'b': 2}"),
        ("{}", "{}"),
        ("{local: {c: 3}}", "{'c': 3}"),
        ("{local: 4}", "{'local': 4}"),
        ("{local: {c: 3}, d: 5}", "{'local': {'c': 3}, 'd': 5}"),
    ] {
        minion
            .load_part(Part::Pillar, text.as_bytes(), "p.yaml")
            .unwrap();
        assert_eq!(Value::from(minion.pillar.clone()).repr(), pillar, "{text}");
    }
    let error = minion.load_part(Part::Opts, b"[]", "o.yaml").unwrap_err();
    assert_eq!(
        error.to_string(),
        "o.yaml:1:1: opts must be a mapping, not a list"
    );
}

#[test]
fn set_reaches_into_mappings_and_lists() {
    for (path, value, pillar) in [
        (
            "pillar.a",
            "1",
            "{'a': 1, 'l': [{'x': 1}], 80: 'http', 'n': None}",
        ),
        (
            "pillar.a.b",
            "1",
            "{'a': {'b': 1}, 'l': [{'x': 1}], 80: 'http', 'n': None}",
        ),
        (
            "pillar.new.deep.er",
            "x",
            "{'a': {}, 'l': [{'x': 1}], 80: 'http', 'n': None, 'new': {'deep': {'er': 'x'}}}",
        ),
        (
            "pillar.l.0.x",
            "2",
            "{'a': {}, 'l': [{'x': 2}], 80: 'http', 'n': None}",
        ),
        (
            "pillar.80",
            "https",
            "{'a': {}, 'l': [{'x': 1}], 80: 'https', 'n': None}",
        ),
        (
            "pillar:redis.port",
            "1",
            "{'a': {}, 'l': [{'x': 1}], 80: 'http', 'n': None, 'redis.port': 1}",
        ),
        ("pillar", "{z: 1}", "{'z': 1}"),
    ] {
        let mut minion = minion("pillar: {a: {}, l: [{x: 1}], 80: http, n: null}");
        minion.set(path, yaml(value)).unwrap();
        assert_eq!(Value::from(minion.pillar).repr(), pillar, "{path}");
    }
    let mut minion = Minion::default();
    minion.set("id", "web1").unwrap();
    assert_eq!(minion.id(), Value::from("web1"));
}

#[test]
fn set_refuses_what_leads_nowhere_and_changes_nothing() {
    let before = minion("pillar: {a: {s: text}, l: [1]}");
    for (path, value, message) in [
        (
            "grain.os",
            "1",
            "unknown `grain`: a path begins with `grains.`, `pillar.` or `opts.`, or is `id`; did you mean `grains`?",
        ),
        (
            "os",
            "1",
            "unknown `os`: a path begins with `grains.`, `pillar.` or `opts.`, or is `id`",
        ),
        (
            "id.x",
            "1",
            "`id` is a string, which has no `x`; set `id` itself",
        ),
        (
            "",
            "1",
            "unknown ``: a path begins with `grains.`, `pillar.` or `opts.`, or is `id`",
        ),
        (
            "pillar..a",
            "1",
            "a step of the path is empty; remove the extra `.`",
        ),
        (
            "pillar:a:",
            "1",
            "a step of the path is empty; remove the extra `:`",
        ),
        (
            "pillar.a.s.t.u",
            "1",
            "`pillar.a.s` is a string, which has no `t`; set `pillar.a.s` itself",
        ),
        (
            "pillar.l.1",
            "1",
            "`pillar.l` is a list of 1, and `1` is not an index of it; give a number, or set the whole list",
        ),
        (
            "pillar.l.x.y",
            "1",
            "`pillar.l` is a list of 1, and `x` is not an index of it; give a number, or set the whole list",
        ),
        ("grains", "text", "`grains` must be a mapping, not a string"),
        ("id", "[a]", "`id` must be a name, not a list"),
    ] {
        let mut minion = before.clone();
        assert_eq!(
            minion.set(path, yaml(value)).unwrap_err().to_string(),
            message
        );
        assert_eq!(minion, before, "{path}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_set_is_found(steps in proptest::collection::vec("[a-c1-2]{1,2}", 1..4), others in "[a-c]") {
        let mut minion = Minion::default();
        minion.set(&format!("grains.{others}"), Map::new()).unwrap();
        minion.set(&format!("grains.{}", steps.join(".")), "new").unwrap();
        prop_assert_eq!(minion.grains_get(steps.join(":"), ":").unwrap(), Some(Value::from("new")));
    }

    #[test]
    fn bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Err(error) = Minion::parse(&bytes, "m.yaml") {
            prop_assert!(error.to_string().starts_with("m.yaml:"));
        }
    }
}
