//! The cost of recording where values come from.
//!
//! ```text
//! cargo bench -p mapstack-lineage --bench explain -- time|none|data|explain FORMULA MINION ROOT…
//! ```
//!
//! `time` prints one JSON object. It measures, in turns and with one engine, `data`, `explain`, and `visited`, which
//! also visits every value. For each it prints the `fastest` run in nanoseconds, and `times`, its duration as a
//! multiple of `data`. The other modes print `peak`, the maximum memory in bytes of a process that makes an engine
//! and does nothing with it, calls `data`, or calls `explain` and keeps the result.

#[path = "../../mapstack/benches/timing/mod.rs"]
mod timing;

use std::error::Error;
use std::hint::black_box;

use mapstack::loader::Roots;
use mapstack::minion::Minion;
use mapstack::{DataOptions, Engine};
use mapstack_lineage::Explain;
use timing::{compare, peak};

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo bench` adds `--bench`.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let (Some(mode), Some(formula), Some(minion)) = (args.next(), args.next(), args.next()) else {
        println!("nothing to measure: name a mode, a formula, a minion and roots");
        return Ok(());
    };
    let minion = Minion::from_path(minion)?.complete();
    let options = DataOptions::default();
    let engine = Engine::new(args.fold(Roots::new(), |served, root| served.root("base", root)));
    match &*mode {
        "time" => {
            engine.run(&minion).explain(&formula, &options)?;
            let compared = compare([
                &mut || drop(black_box(engine.run(&minion).data(&formula, &options))),
                &mut || drop(black_box(engine.run(&minion).explain(&formula, &options))),
                &mut || {
                    if let Ok((_, lineage)) = engine.run(&minion).explain(&formula, &options) {
                        lineage.visit(&mut |path, known| {
                            black_box((path.len(), known.past.len()));
                        });
                    }
                },
            ]);
            let [data, explain, visited] = compared.map(|one| {
                format!(
                    "{{\"fastest\": {}, \"times\": {:.3}}}",
                    one.fastest.as_nanos(),
                    one.times
                )
            });
            println!("{{\"data\": {data}, \"explain\": {explain}, \"visited\": {visited}}}");
            return Ok(());
        }
        "data" => drop(black_box(engine.run(&minion).data(&formula, &options)?)),
        "explain" => drop(black_box(engine.run(&minion).explain(&formula, &options)?)),
        _ => {}
    }
    println!("{{\"peak\": {}}}", peak().unwrap_or_default());
    Ok(())
}
