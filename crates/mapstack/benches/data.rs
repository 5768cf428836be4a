//! Measures `data` or `map` for one formula and one minion, and a lower bound.
//!
//! ```text
//! cargo bench -p mapstack --bench data -- data|map FORMULA MINION ROOT…
//! ```
//!
//! Prints one JSON object of median nanoseconds: `warm`, with one engine for all runs; `cold`, with a new engine for
//! each run; and `floor`, which only reads the files of the run and parses them with the same YAML parser.

mod timing;

use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;

use mapstack::loader::Roots;
use mapstack::minion::Minion;
use mapstack::trace::{RequestOutcome, TracedRequest};
use mapstack::{DataOptions, Engine, yaml};
use timing::median;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo bench` adds `--bench`.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let (Some(verb), Some(formula), Some(minion)) = (args.next(), args.next(), args.next()) else {
        println!("nothing to measure: name a verb, a formula, a minion and roots");
        return Ok(());
    };
    let roots: Vec<String> = args.collect();
    let minion = Minion::from_path(minion)?.complete();
    let options = DataOptions::default();
    let engine = || {
        Engine::new(
            roots
                .iter()
                .fold(Roots::new(), |served, root| served.root("base", root)),
        )
    };
    let form = engine().map_form(&formula, None, "base")?;
    let answer = |engine: &Engine| {
        let run = engine.run(&minion);
        let value = match &*verb {
            "map" => run.map_of(&form, None)?.value,
            _ => run.data(&formula, &options)?,
        };
        Ok::<_, mapstack::Error>((value, run.events()))
    };

    let shared = engine();
    let (_, events) = answer(&shared)?;
    let files: Vec<PathBuf> = events
        .into_iter()
        .filter_map(|event| match event.asked {
            TracedRequest::File {
                outcome: RequestOutcome::Hit(path),
                ..
            } => Some(path),
            _ => None,
        })
        .collect();

    let warm = median(|| drop(black_box(answer(&shared))));
    let cold = median(|| drop(black_box(answer(&engine()))));
    let floor = median(|| files.iter().for_each(read_and_parse));
    let [warm, cold, floor] = [warm, cold, floor].map(|d| d.as_nanos());
    println!(
        "{{\"warm\": {warm}, \"cold\": {cold}, \"floor\": {floor}, \"files\": {}}}",
        files.len()
    );
    Ok(())
}

fn read_and_parse(file: &PathBuf) {
    // Templates are not YAML before rendering, so they are only read.
    if let Ok(text) = std::fs::read_to_string(file) {
        let _ = black_box(yaml::load(&text));
    }
}
