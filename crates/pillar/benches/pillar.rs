//! The time for one minion's external pillar, or its whole pillar.
//!
//! ```text
//! cargo bench -p mapstack-pillar --bench pillar -- stack|makostack CONFIG
//! cargo bench -p mapstack-pillar --bench pillar -- whole CONFIG MINIONS [MIB]
//! ```
//!
//! The second form compiles the whole pillar of each minion that has a document in a folder once, by a master's
//! configuration; `warm` is the mean there, from the first minion on. Minions share this many MiB of results (64).
//!
//! Prints one JSON object: `warm`, the median nanoseconds for a minion, one engine answering for one
//! minion after another, none twice; and `peak`, the most bytes the process had in memory, where
//! the system reports it.

#[path = "../../mapstack/benches/timing/mod.rs"]
mod timing;

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use mapstack::Engine;
use mapstack::loader::{MemoryFiles, Roots, Snapshot};
use mapstack::minion::Minion;
use mapstack_pillar::{Compiler, ExtPillars, Master, PillarRequest, StackKind, pillar_roots};
use mapstack_salt_config::{Config, Kind};
use timing::{median, peak};

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo bench` adds `--bench`.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let (Some(kind), Some(config)) = (args.next(), args.next()) else {
        println!("nothing to measure: name a kind of stack and a config file");
        return Ok(());
    };
    if kind == "whole" {
        let minions = args.next().ok_or("name a folder of minions")?;
        let memory = args.next().map_or(Ok(64), |memory| memory.parse())?;
        return whole(&config, &minions, memory);
    }
    let kind = if kind == "makostack" {
        StackKind::MakoStack
    } else {
        StackKind::PillarStack
    };
    let compiler = Compiler::new(ExtPillars::new().with_stack(kind, [config]));
    let engine = Engine::new(MemoryFiles::new());
    let compile = |number: usize| {
        let minion = Minion::new(format!("web{number}")).complete();
        compiler.run(&engine, &minion).compile()
    };
    compile(0)?;
    let mut number = 0;
    let warm = median(|| {
        number += 1;
        drop(black_box(compile(number)));
    });
    println!(
        "{{\"warm\": {}, \"peak\": {}}}",
        warm.as_nanos(),
        peak().unwrap_or_default()
    );
    Ok(())
}

fn whole(config: &str, minions: &str, mebibytes: usize) -> Result<(), Box<dyn Error>> {
    let config = Config::parse(&std::fs::read(config)?, config, Kind::Master)?;
    let roots = pillar_roots(config.options()).into_iter();
    let roots = roots.fold(Roots::new(), |roots, (env, directory)| {
        roots.root(&env, directory)
    });
    let master = Master::new(config, Arc::new(Snapshot::new(roots)));
    let master = master.with_memory(mebibytes << 20);
    let engine = Engine::new(MemoryFiles::new());
    let mut all = Vec::new();
    for entry in std::fs::read_dir(minions)? {
        all.push(Minion::from_path(entry?.path())?.complete());
    }
    let started = Instant::now();
    for minion in &all {
        black_box(master.compile(&engine, minion, &PillarRequest::default())?);
    }
    let warm = started.elapsed() / u32::try_from(all.len().max(1))?;
    println!(
        "{{\"warm\": {}, \"peak\": {}}}",
        warm.as_nanos(),
        peak().unwrap_or_default()
    );
    Ok(())
}
