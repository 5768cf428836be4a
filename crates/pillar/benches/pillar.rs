//! How long one minion's external pillar takes.
//!
//! ```text
//! cargo bench -p mapstack-pillar --bench pillar -- stack|makostack CONFIG
//! ```
//!
//! Prints one JSON object: `warm`, the median nanoseconds for a minion, one engine answering for one
//! minion after another, none twice; and `peak`, the most bytes the process had in memory, where
//! the system tells.

#[path = "../../mapstack/benches/timing/mod.rs"]
mod timing;

use std::error::Error;
use std::hint::black_box;

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack_pillar::{Compiler, ExtPillars, StackKind};
use timing::{median, peak};

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo bench` adds `--bench`.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let (Some(kind), Some(config)) = (args.next(), args.next()) else {
        println!("nothing to measure: name a kind of stack and a config file");
        return Ok(());
    };
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
