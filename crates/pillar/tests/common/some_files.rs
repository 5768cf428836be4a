//! A pillar of a few files, which all minions have.

use std::sync::Arc;

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack_pillar::{Master, PillarRequest, WholePillar};
use mapstack_salt_config::{Config, Kind};

/// The pillar of a master whose files all minions get, in the order of names, and of served files.
fn compiled(files: &[(&str, &str)], served: MemoryFiles) -> WholePillar {
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
            &Engine::new(served),
            &minion.complete(),
            &PillarRequest::default(),
        )
        .unwrap()
}

/// The pillar of these files, as Python prints it.
pub fn shown(files: &[(&str, &str)]) -> String {
    Value::from(compiled(files, MemoryFiles::new()).data).repr()
}

/// The text of the only error, with its place.
pub fn error(text: &str, served: MemoryFiles) -> String {
    let pillar = compiled(&[("a.sls", text)], served);
    let [error] = &pillar.errors[..] else {
        panic!("{:?}", pillar.errors)
    };
    error.error.to_string()
}
