//! Pillars whose files name the renderer `stateconf`, beside what the reference compiles.

#[path = "../../mapstack/tests/common/mod.rs"]
mod common;
#[path = "common/whole_pillar.rs"]
mod whole_pillar;

use std::sync::Arc;

use common::{assert_repeated, records};
use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack_pillar::{Ask, Master, WholePillar};
use mapstack_salt_config::{Config, Kind};

/// Records whose result here differs on purpose, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[(
    "stateconf: what an included sls sets is extended",
    "what stateconf changes in place changes only in the sls at hand",
)];

#[test]
fn every_recorded_pillar_is_as_the_reference_has_it() {
    let records = records(include_str!("data/stateconf_pillars.json"));
    assert_eq!(records.len(), RECORDS);
    assert_repeated(&records, DIFFERENCES, whole_pillar::check);
}

const RECORDS: usize = 144;

/// What a master compiles from files that all minions have, in this order.
fn compiled(files: &[(&str, &str)]) -> WholePillar {
    let names: Vec<&str> = files
        .iter()
        .map(|(path, _)| path.trim_end_matches(".sls"))
        .collect();
    let top = format!("base: {{'*': [{}]}}\n", names.join(", "));
    let pillar = files.iter().fold(
        MemoryFiles::new().file("base", "top.sls", top),
        |all, (path, text)| all.file("base", path, *text),
    );
    let config = Config::parse(
        b"pillar_roots: {base: [/srv/pillar]}\n",
        "master",
        Kind::Master,
    );
    let master = Master::new(config.unwrap(), Arc::new(pillar));
    let minion = Minion::parse(b"{id: web1, grains: {os: Debian}}", "web1.yaml").unwrap();
    master
        .compile(
            &Engine::new(MemoryFiles::new()),
            &minion.complete(),
            &Ask::default(),
        )
        .unwrap()
}

fn shown(files: &[(&str, &str)]) -> String {
    Value::from(compiled(files).data).repr()
}

/// What the only error says, with its place.
fn error(text: &str) -> String {
    let pillar = compiled(&[("a.sls", text)]);
    let [error] = &pillar.errors[..] else {
        panic!("{:?}", pillar.errors)
    };
    error.error.to_string()
}

#[test]
fn errors_of_stateconf_name_the_place() {
    for (text, place, says) in [
        (
            "#!stateconf -G\na: {b.c: []}\nk: 1\n",
            "a.sls:3:1",
            "'k' is an integer, not a mapping",
        ),
        (
            "#!stateconf -G\na: {b.c: [{require: [{pkg: 5}]}]}\n",
            "a.sls:2:23",
            "is an integer, not text",
        ),
        ("#!stateconf -x\na: {}\n", "a.sls:1:1", "has no option '-x'"),
        (
            "#!stateconf yaml . nosuch\na: {}\n",
            "a.sls:1:1",
            "no renderer 'nosuch'",
        ),
        (
            "#!stateconf -G\n.x: {b.c: []}\n'a::x': {b.c: []}\n",
            "a.sls:2:1",
            "which is there already",
        ),
        (
            "#!stateconf -G\n{% set x = 1 %}\ny: {b.c: []}\ninclude: [...z]\n",
            "a.sls:4:11",
            "above the top",
        ),
    ] {
        let error = error(text);
        assert!(
            error.contains(place) && error.contains(says),
            "{text}\n{error}"
        );
    }
}

#[test]
fn what_is_extended_stays_as_it_was() {
    let made = shown(&[
        (
            "a.sls",
            "#!stateconf -G\nextend: {'b::p': {stateconf.set: [{require: [{pkg: x}]}]}}\n",
        ),
        (
            "b.sls",
            "#!stateconf -G\n.p: {stateconf.set: [{require: [{pkg: y}]}]}\n",
        ),
    ]);
    // The reference adds the `y` of the second sls to the first one's list.
    assert!(
        made.contains("OrderedDict({'require': [OrderedDict({'pkg': 'x'})]})")
            || made.contains("{'require': [{'pkg': 'x'}]}"),
        "{made}"
    );
}
