//! Pillars of older versions of Salt, beside what these compile.

use std::sync::Arc;

use crate::common;
use crate::common::{assert_repeated, records};
use crate::whole_pillar;
use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, SaltVersion};
use mapstack::value::{Map, Value, json};
use mapstack_pillar::{Master, PillarRequest, WholePillar};
use mapstack_salt_config::{Config, Kind};

/// Records whose result here differs on purpose, by version, with the reason.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    ("3006.9", "include: a directory in itself", DEEP),
    ("3007.13", "include: a directory in itself", DEEP),
    ("3006.9", "variables: pillar is changed in place", JSON),
    ("3006.9", "version: a template adds to the pillar", JSON),
    (
        "3006.9",
        "file_tree: no nodegroup without a cache of minions",
        CACHE,
    ),
    (
        "3007.13",
        "file_tree: no nodegroup without a cache of minions",
        CACHE,
    ),
];

const JSON: &str = "JSON has all of a pillar that was empty at first";
const CACHE: &str = "no minion is in a nodegroup then, with a warning";
const DEEP: &str = "includes nest at most 100 levels deep";

#[test]
fn every_recorded_pillar_is_as_older_versions_have_it() {
    let mut records = records(include_str!("data/whole_pillars.json"));
    assert!(!records.is_empty());
    let own = common::records(include_str!("data/version_pillars.json"));
    assert_repeated(&own, &[], whole_pillar::check);
    records.extend(own);
    records.extend(common::records(include_str!("data/external_pillars.json")));
    assert_as_older_versions(&records, include_str!("data/other_versions.json"));
}

#[test]
fn every_recorded_inventory_of_saltclass_is_as_older_versions_have_it() {
    let records = records(include_str!("data/saltclass_pillars.json"));
    assert_as_older_versions(&records, include_str!("data/other_saltclass_versions.json"));
}

/// `others` has, by version and record, what is another result there. Of the records that have the same result in all
/// versions, a third is compiled, another for each version: together these take most of the time. `MAPSTACK_CASES` takes all.
fn assert_as_older_versions(records: &[Map], others: &str) {
    let others = json::loads(others).unwrap();
    let others = others.as_map().unwrap();
    assert_eq!(others.len(), SaltVersion::ALL.len() - 1);
    let takes_all = std::env::var_os("MAPSTACK_CASES").is_some();
    for (turn, (version, answers)) in others.iter().enumerate() {
        let answers = answers.as_map().unwrap();
        let of_version = |record: &Map| {
            let mut record = record.clone();
            if let Some(answer) = answers.get(record.get("name").unwrap().as_str().unwrap()) {
                record.shift_remove("result");
                record.extend(answer.as_map().unwrap().clone());
            }
            record.insert("salt_version", version.to_string());
            record
        };
        let differs = |record: &Map| {
            let name = record.get("name").unwrap().as_str().unwrap();
            answers.get(name).is_some() || DIFFERENCES.iter().any(|(_, known, _)| *known == name)
        };
        let taken = records
            .iter()
            .enumerate()
            .filter(|(number, record)| takes_all || number % 3 == turn % 3 || differs(record));
        let records: Vec<Map> = taken.map(|(_, record)| of_version(record)).collect();
        let known = DIFFERENCES.iter();
        let differences: Vec<(&str, &str)> = known
            .filter(|(of, ..)| version.as_str() == Some(of))
            .filter(|(_, name, _)| {
                records
                    .iter()
                    .any(|record| record.get("name").unwrap().as_str() == Some(name))
            })
            .map(|(_, name, reason)| (*name, *reason))
            .collect();
        // What older versions share with other minions, the tests of sharing look at.
        assert_repeated(&records, &differences, whole_pillar::check_alone);
    }
}

/// A master with files in two environments.
fn master(options: &str, files: &[(&str, &str, &str)]) -> Master {
    let text = format!("pillar_roots: {{base: [/srv/base], dev: [/srv/dev]}}\n{options}");
    let config = Config::parse(text.as_bytes(), "master", Kind::Master).unwrap();
    let add = |all: MemoryFiles, (env, path, text): &(&str, &str, &str)| all.file(env, path, *text);
    let files = files.iter().fold(MemoryFiles::new(), add);
    Master::new(config, Arc::new(files))
}

fn engine(version: SaltVersion) -> Engine {
    Engine::new(MemoryFiles::new()).with_salt_version(version)
}

fn compile(master: &Master, engine: &Engine) -> WholePillar {
    let minion = Minion::parse(b"{id: web1, grains: {roles: {web: 1}}}", "web1").unwrap();
    let made = master.compile(engine, &minion.complete(), &PillarRequest::default());
    made.unwrap()
}

fn get(pillar: &WholePillar, key: &str) -> String {
    pillar.data.get(key).map_or("none".into(), Value::repr)
}

const TWO: [(&str, &str, &str); 4] = [
    ("base", "top.sls", "base: {'*': [a]}"),
    ("dev", "top.sls", "dev: {'*': [a]}"),
    ("base", "a.sls", "a: base"),
    ("dev", "a.sls", "a: dev"),
];

#[test]
fn an_order_that_is_not_known_is_a_warning() {
    for version in SaltVersion::ALL {
        let ordered = version.behaviour().environments_keep_their_order;
        let pillar = compile(&master("", &TWO), &engine(version));
        assert_eq!(get(&pillar, "a"), "'dev'");
        assert_eq!(pillar.warnings.is_empty(), ordered, "{version}");
        if let Some(warning) = pillar.warnings.first() {
            let wanted = format!("Salt {version} reads the top files of base, dev in an order");
            assert!(warning.message.contains(&wanted), "{}", warning.message);
        }
        for (options, files) in [("pillarenv: dev\n", &TWO[..]), ("", &TWO[..1])] {
            let pillar = compile(&master(options, files), &engine(version));
            assert_eq!(pillar.warnings, [], "{version} {options}");
        }
    }
}

#[test]
fn nodegroups_without_a_cache_are_a_warning_where_everyone_is_in_them() {
    let options =
        "nodegroups: {g: 'G@os:x'}\nminion_data_cache: false\next_pillar: [{nodegroups: groups}]\n";
    let files = [("base", "top.sls", "")];
    for version in SaltVersion::ALL {
        let pillar = compile(&master(options, &files), &engine(version));
        let groups = pillar.data.get("groups").map(Value::repr);
        assert!(groups.is_none_or(|groups| groups == "[]"), "{version}");
        let is_latest = version == SaltVersion::default();
        assert_eq!(
            pillar.warnings.is_empty(),
            is_latest,
            "{:?}",
            pillar.warnings
        );
    }
}

#[test]
fn engines_of_two_versions_share_nothing() {
    let files = [
        ("base", "top.sls", "base: {'*': [a], 'G@roles:w*': [b]}"),
        (
            "base",
            "a.sls",
            "{% do grains.update({'os': 1}) %}a: {{ salt['grains.get']('os', 0) }}",
        ),
        ("base", "b.sls", "b: 1"),
    ];
    let master = master("", &files).with_memory(1 << 20);
    let [old, .., new] = SaltVersion::ALL.map(engine);
    for _ in 0..2 {
        let of = |engine: &Engine| {
            let pillar = compile(&master, engine);
            [get(&pillar, "a"), get(&pillar, "b")]
        };
        assert_eq!(of(&old), ["0", "none"]);
        assert_eq!(of(&new), ["1", "1"]);
    }
}

#[test]
fn targets_by_pillar_look_into_the_list_of_external_pillars_where_options_have_no_pillar() {
    let listed = "ext_pillar: [{extra_minion_data_in_pillar: {include: [own]}}]\n";
    let first = format!("{listed}ext_pillar_first: true\n");
    let target = "base: {'I@extra_minion_data_in_pillar:include:own': [a]}";
    let files = [("base", "top.sls", target), ("base", "a.sls", "a: 1")];
    let [old, .., new] = SaltVersion::ALL.map(engine);
    for (options, engine, wanted) in [
        (listed, &old, "1"),
        (&first, &old, "none"),
        (listed, &new, "none"),
        (&first, &new, "none"),
    ] {
        let pillar = compile(&master(options, &files), engine);
        assert_eq!(get(&pillar, "a"), wanted, "{options}");
    }
}

#[test]
fn options_in_a_pillar_are_those_of_the_version_or_a_warning() {
    let files = [("base", "top.sls", "")];
    for version in SaltVersion::ALL {
        let pillar = compile(&master("pillar_opts: true\n", &files), &engine(version));
        let options = pillar.data.get("master").and_then(Value::as_map).unwrap();
        let named = options.get("saltversion").and_then(Value::as_str);
        assert_eq!(named, Some(version.release()));
        let is_latest = version == SaltVersion::default();
        assert_eq!(options.contains_key("grains"), is_latest);
        assert_eq!(
            pillar.warnings.is_empty(),
            is_latest,
            "{:?}",
            pillar.warnings
        );
    }
}

#[test]
fn an_external_pillar_sees_no_list_as_the_pillar() {
    let stack = "e: {{ pillar.get('a') | json }}\nf: {{ pillar | length }}\n";
    let options = "pillar_source_merging_strategy: aggregate\n\
        ext_pillar: [{cmd_json: \"echo '[1]'\"}, {stack: <DIR>/s.cfg}]\n";
    let files = [
        ("base/top.sls", "base: {'*': [a]}"),
        ("base/a.sls", "a: 1"),
        ("s.cfg", "s.yml"),
        ("s.yml", stack),
    ];
    let of_version = |version: SaltVersion| {
        let record: Map = [
            ("files", Value::from(files.into_iter().collect::<Map>())),
            (
                "master",
                format!("pillar_roots: {{base: [<DIR>/base]}}\n{options}").into(),
            ),
            ("minion_id", "web1".into()),
            ("salt_version", version.name().into()),
        ]
        .into_iter()
        .collect();
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("here");
        whole_pillar::write(&record, &root);
        whole_pillar::compiled(&record, &root).unwrap().repr()
    };
    assert_eq!(of_version(SaltVersion::V3006), "{'e': None, 'f': 0}");
    assert_eq!(of_version(SaltVersion::V3007), "{'e': None, 'f': 0}");
    assert_eq!(
        of_version(SaltVersion::V3008),
        "{'a': 1, 'e': None, 'f': 0}"
    );
}
