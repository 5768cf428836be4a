//! Reading YAML, beside libyaml and readers in Rust.

use std::path::Path;

use serde_json::Value;
use xshell::{Shell, cmd};

use super::measure::{benchmark, counted, measured, names};
use crate::{Result, reference};

/// The directory of YAML files that are read beside made texts.
const EXAMPLES: &str = "examples";

/// `events` is the grammar alone, `values` is data.
const WORKS: [&str; 2] = ["events", "values"];

/// The readers in Rust, ours first.
const READERS: [&str; 3] = ["mapstack", "saphyr", "yaml_serde"];

/// Measure every text.
pub fn run(sh: &Shell, build: bool, instructions: bool) -> Result {
    let program = benchmark(sh, "bench-yaml", build)?;
    if instructions {
        return count(sh, &program);
    }
    let rows = measured(cmd!(sh, "{program} {EXAMPLES}"))?;
    let libyaml = match libyaml(sh, &program) {
        Ok(libyaml) => libyaml,
        Err(missing) => {
            println!("  no libyaml to compare with: {missing}");
            Value::Null
        }
    };
    for (name, row) in rows.as_object().into_iter().flatten() {
        for work in WORKS {
            let libyaml = libyaml[name].as_f64().filter(|_| work == "events");
            println!("{}", line(name, work, row, libyaml));
        }
    }
    Ok(())
}

/// The nanoseconds that libyaml takes for the events of each text.
fn libyaml(sh: &Shell, program: &Path) -> Result<Value> {
    let python = reference::python(sh)?;
    let folder = sh.create_temp_dir()?;
    let folder = folder.path();
    cmd!(sh, "{program} {EXAMPLES} texts {folder}")
        .quiet()
        .run()?;
    measured(cmd!(sh, "{python} xtask/reference/yaml_events.py {folder}"))
}

/// One text: the speeds of the fastest turns.
fn line(name: &str, work: &str, row: &Value, libyaml: Option<f64>) -> String {
    let bytes = row["bytes"].as_f64().unwrap_or_default();
    let speed = |who: &str, nanos: f64| format!("{who} {:.1} MB/s", bytes / nanos * 1_000.0);
    let readers = READERS.iter();
    let readers = readers.filter_map(|who| Some(speed(who, row[work][who].as_f64()?)));
    let libyaml = libyaml.map(|nanos| speed("libyaml", nanos));
    let speeds: Vec<String> = readers.chain(libyaml).collect();
    format!("  {name:9} {work} {}", speeds.join(", "))
}

/// The number of instructions of reading, which does not depend on the load of the machine.
fn count(sh: &Shell, program: &Path) -> Result {
    for name in names(sh, program, EXAMPLES)? {
        for work in WORKS {
            let counts = READERS.map(|reader| {
                let count = counted(sh, program, EXAMPLES, [reader, &name, work]);
                format!("{reader} {:.0}", count.unwrap_or(f64::NAN))
            });
            let counts = counts.join(", ");
            println!("  {name:9} {work} thousand instructions: {counts}");
        }
    }
    Ok(())
}
