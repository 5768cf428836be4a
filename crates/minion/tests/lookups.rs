//! The results of look-ups besides values: options, warnings and errors.

use mapstack_minion::{ConfigGet, Minion, Part, PillarGet, builtin};
use mapstack_value::{Key, Value};

fn yaml(text: &str) -> Value {
    mapstack_yaml::load(text).unwrap()
}

fn minion(text: &str) -> Minion {
    Minion::parse(text.as_bytes(), "m.yaml").unwrap().complete()
}

fn merging(merge: &str) -> ConfigGet {
    ConfigGet {
        merge: yaml(merge),
        ..ConfigGet::default()
    }
}

#[test]
fn one_option_is_that_of_all_options() {
    let minion = minion(
        "{id: m, opts: {id: lost, grains: lost, test: true, mine: 1, 5: five}, pillar: {p: 1}}",
    );
    let all = minion.options();
    for (key, value) in &all {
        assert_eq!(minion.option(key).as_ref(), Some(value), "{key}");
    }
    for (key, shown) in [
        ("id", "'m'"),
        ("grains", "{'id': 'm'}"),
        ("test", "True"),
        ("mine", "1"),
        ("pillar", "{'p': 1}"),
    ] {
        assert_eq!(all.get(key).unwrap().repr(), shown);
    }
    assert_eq!(minion.option(&Key::from("no such option")), None);
    assert!(all.len() > builtin::options().len());
}

#[test]
fn the_built_in_options_are_found_like_given_ones() {
    let minion = minion("id: m");
    for (key, shown) in [
        (yaml("metrics:exporter"), Some("'otlp-http'")),
        (yaml("fileserver_backend:0"), Some("'roots'")),
        (yaml("virt:images"), Some("'/srv/salt-images'")),
        (yaml("[virt, images]"), Some("'/srv/salt-images'")),
        (yaml("redis.port"), Some("6379")),
        (yaml("ssl"), Some("None")),
        (yaml("grains:id"), Some("'m'")),
        (yaml("id:x"), None),
        (yaml("[[1], 2]"), None),
    ] {
        let found = minion
            .config_get(key.clone(), &ConfigGet::default())
            .unwrap()
            .value;
        assert_eq!(found.map(|value| value.repr()).as_deref(), shown, "{key:?}");
    }
    let all = minion
        .config_get(Vec::new(), &ConfigGet::default())
        .unwrap()
        .value;
    assert_eq!(all, Some(minion.options().into()));
}

#[test]
fn merging_can_warn_or_be_refused() {
    let minion = minion("{opts: {a: {x: 1}}, grains: {a: {y: 2}}}");
    for (merge, shown, warns) in [
        ("recurse", "{'y': 2, 'x': 1}", false),
        ("overwrite", "{'x': 1}", false),
        ("''", "{'y': 2, 'x': 1}", true),
        ("false", "{'y': 2, 'x': 1}", true),
        ("smart", "{'y': 2, 'x': 1}", true),
    ] {
        let answer = minion.config_get("a", &merging(merge)).unwrap();
        assert_eq!(
            (
                answer.value.unwrap().repr().as_str(),
                answer.warning.is_some()
            ),
            (shown, warns),
            "{merge}"
        );
    }
    let text = minion
        .config_get("a", &merging("smart"))
        .unwrap()
        .warning
        .unwrap()
        .to_string();
    assert_eq!(
        text,
        "config.get cannot merge by 'smart', so it merged by 'recurse'; write 'recurse' or 'overwrite'"
    );
}

#[test]
fn errors_are_those_of_the_reference() {
    let minion = minion("{pillar: {master: foo}, opts: {pillar_raise_on_missing: true}}");
    let class = |key: Value, query: ConfigGet| {
        minion
            .config_get(key, &query)
            .unwrap_err()
            .reference_class()
    };
    assert_eq!(class("foo".into(), merging("recurse")), "TypeError");
    assert_eq!(class("foo".into(), merging("overwrite")), "TypeError");
    assert_eq!(
        class(
            "foo".into(),
            ConfigGet {
                delimiter: String::new(),
                ..ConfigGet::default()
            }
        ),
        "ValueError"
    );
    assert_eq!(class(Value::None, ConfigGet::default()), "TypeError");
    assert_eq!(class(Value::from(1.5), ConfigGet::default()), "TypeError");
    assert_eq!(
        minion
            .pillar_get("nope", &PillarGet::default())
            .unwrap_err()
            .reference_class(),
        "KeyError"
    );
    let with_default = PillarGet {
        default: Some(Value::None),
        ..PillarGet::default()
    };
    assert_eq!(
        minion.pillar_get("nope", &with_default).unwrap().value,
        Value::None
    );
}

#[test]
fn defaults_of_another_kind_are_not_merged_and_it_is_said() {
    let minion = minion("pillar: {l: [a], m: {x: 1}}");
    for (key, default, shown, warns) in [
        ("m", "{y: 2}", "{'y': 2, 'x': 1}", false),
        ("l", "[b]", "['b', 'a']", false),
        ("nope", "{y: 2}", "{'y': 2}", false),
        ("l", "{y: 2}", "['a']", true),
        ("m", "[b]", "{'x': 1}", true),
        ("nope", "text", "'text'", true),
    ] {
        let query = PillarGet {
            default: Some(yaml(default)),
            merge: true,
            ..PillarGet::default()
        };
        let answer = minion.pillar_get(key, &query).unwrap();
        assert_eq!(
            (answer.value.repr().as_str(), answer.warning.is_some()),
            (shown, warns),
            "{key} {default}"
        );
    }
}

#[test]
fn nested_lists_follow_the_option_unless_overridden() {
    for (option, reported, shown) in [
        ("false", None, "{'l': ['p']}"),
        ("true", None, "{'l': ['d', 'p']}"),
        ("true", Some(false), "{'l': ['p']}"),
        ("false", Some(true), "{'l': ['d', 'p']}"),
    ] {
        let mut minion = minion("pillar: {k: {l: [p]}}");
        minion.set("opts.pillar_merge_lists", yaml(option)).unwrap();
        let query = PillarGet {
            default: Some(yaml("{l: [d]}")),
            merge: true,
            merge_nested_lists: reported,
            ..PillarGet::default()
        };
        assert_eq!(minion.pillar_get("k", &query).unwrap().value.repr(), shown);
    }
}

#[test]
fn a_database_that_salt_would_query_causes_a_warning() {
    let minion = minion(
        "{opts: {db: {driver: sqlite3}, a: 'sdb://db/key', b: 'sdb://none/key', c: 'sdb://db/'}}",
    );
    for (key, warns) in [("a", true), ("b", false), ("c", false)] {
        let answer = minion.config_get(key, &ConfigGet::default()).unwrap();
        assert!(
            answer
                .value
                .unwrap()
                .as_str()
                .unwrap()
                .starts_with("sdb://")
        );
        assert_eq!(answer.warning.is_some(), warns, "{key}");
    }
}

#[test]
fn parts_have_the_names_they_are_written_with() {
    let facts = yaml("{a: 1}").as_map().unwrap().clone();
    for part in [Part::Grains, Part::Pillar, Part::Opts] {
        let minion = Minion::default().with(part, facts.clone());
        let written = format!("{part}: {{a: 1}}");
        assert_eq!(Minion::parse(written.as_bytes(), "m.yaml").unwrap(), minion);
        assert_eq!(minion.part(part), &facts);
    }
}
