//! Inventories of nodes and classes in a directory, and what is wrong with their pillars.

use std::sync::Arc;

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, SaltVersion};
use mapstack_pillar::{Master, PillarRequest, WholePillar};
use mapstack_salt_config::{Config, Kind};

/// A master with one external pillar.
pub fn master(name: &str, arguments: &str) -> Master {
    let config =
        format!("pillar_roots: {{base: [/srv/pillar]}}\next_pillar: [{{{name}: {arguments}}}]\n");
    let config = Config::parse(config.as_bytes(), "master", Kind::Master).unwrap();
    Master::new(config, Arc::new(MemoryFiles::new()))
}

pub fn minion() -> Minion {
    Minion::parse(b"{id: web1}", "web1.yaml")
        .unwrap()
        .complete()
}

pub fn compile(master: &Master) -> WholePillar {
    compile_as(master, SaltVersion::default())
}

/// The pillar as a version of Salt compiles it.
pub fn compile_as(master: &Master, version: SaltVersion) -> WholePillar {
    let engine = Engine::new(MemoryFiles::new()).with_salt_version(version);
    let minion = minion();
    master
        .compile(&engine, &minion, &PillarRequest::of(&minion))
        .unwrap()
}

/// The only error of a pillar.
pub fn error_of(pillar: &WholePillar) -> String {
    let [error] = &pillar.errors[..] else {
        panic!("{:?}", pillar.errors)
    };
    let error = error.error.diagnostic();
    let place = error.place.as_ref().map(ToString::to_string);
    format!(
        "{}: {}; {}; {}",
        place.unwrap_or_default(),
        error.message,
        error.notes.join("; "),
        error.help.as_deref().unwrap_or_default()
    )
}

#[track_caller]
pub fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word} is missing in: {text}");
    }
}
