//! Minion documents, good and bad.

use mapstack_minion::{Minion, Part};
use mapstack_value::Value;

#[test]
fn a_document_is_a_minion() {
    let table = [
        ("id: web1\n", "web1", "{'id': 'web1'}"),
        ("grains: {id: web2, os: Debian}\n", "web2", "{'id': 'web2', 'os': 'Debian'}"),
        ("id: a\ngrains: {id: b}\n", "a", "{'id': 'b'}"),
        ("", "minion", "{'id': 'minion'}"),
        ("{\"id\": \"j\",\t\"grains\": {\"n\": 1e3}}", "j", "{'n': 1000.0, 'id': 'j'}"),
        ("id: web1\r\ngrains:\r\n  os: Debian\r\n", "web1", "{'os': 'Debian', 'id': 'web1'}"),
    ];
    for (text, id, grains) in table.into_iter().filter(|(text, ..)| !text.is_empty()) {
        let minion = Minion::parse(text.as_bytes(), "m.yaml").unwrap();
        assert_eq!((&*minion.id(), minion.grains().clone()), (id, as_map(grains)), "{text}");
    }
}

fn as_map(repr: &str) -> mapstack_value::Map {
    match mapstack_yaml::load(repr).unwrap() {
        Value::Map(map) => map,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let table: [(&[u8], &str); 7] = [
        (b"grians: {}\n", "m.yaml:1:1: `grians` is no part of a minion (did you mean `grains`?)"),
        (b"id: x\nos: Debian\n", "m.yaml:2:1: `os` is no part of a minion (a minion document has id, grains, pillar and opts; grains go below `grains:`)"),
        (b"id: x\ngrains: [a]\n", "m.yaml:2:1: `grains` must be a mapping, not a list"),
        (b"id: {a: b}\n", "m.yaml:1:1: `id` must be text, not a mapping"),
        (b"- a\n", "m.yaml: a minion is a mapping, not a list (write `id: web1`, then `grains:`, `pillar:` and `opts:` with mappings)"),
        (b"", "m.yaml: a minion is a mapping, not null (write `id: web1`, then `grains:`, `pillar:` and `opts:` with mappings)"),
        (b"id: x\n\tgrains: {}\n", "m.yaml:2:1: "),
    ];
    for (text, message) in table {
        let error = Minion::parse(text, "m.yaml").unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    assert!(Minion::parse(b"id: \xff\n", "m.yaml").is_err());
}

#[test]
fn parts_and_single_values_can_be_replaced() {
    let mut minion = Minion::new("m1");
    minion.load_part(Part::Grains, b"{\"local\": {\"os\": \"Debian\", \"id\": \"m2\"}}", "-").unwrap();
    minion.load_part(Part::Pillar, b"a: {b: 1}\n", "-").unwrap();
    minion.set("grains.selinux.enabled", true.into()).unwrap();
    minion.set("pillar.a.c", 2.into()).unwrap();
    let minion = minion.complete();
    assert_eq!(&*minion.id(), "m2");
    assert_eq!(minion.pillar(), &as_map("{a: {b: 1, c: 2}}"));
    assert_eq!(minion.options().get("grains"), Some(&Value::Map(minion.grains().clone())));
    let mut minion = minion;
    let refused = |path: &str| minion.clone().set(path, 1.into()).unwrap_err().to_string();
    assert_eq!(refused("grain.x"), "a fact is grains.…, pillar.… or opts.…, not 'grain'");
    assert_eq!(refused("pillar.a.b.c"), "'pillar.a.b' is not a mapping, so nothing can be set below it");
    minion.set("opts.saltenv", "dev".into()).unwrap();
    assert_eq!(minion.options().get("saltenv"), Some(&Value::from("dev")));
}
