//! Templates in the engine itself, in minijinja and in Jinja2.

use std::path::Path;

use serde_json::Value;
use xshell::{Shell, cmd};

use super::measure::{benchmark, counted, measured, names, verdict};
use crate::{Result, reference};

const TEMPLATES: &str = "benchmarks/templates";

/// The most times minijinja's time that a template may take.
const GOAL: f64 = 1.0;

/// Measure every template of `benchmarks/templates`.
pub fn run(sh: &Shell, build: bool, instructions: bool) -> Result {
    let program = benchmark(sh, "bench-templates", build)?;
    if instructions {
        return count(sh, &program);
    }
    let ours = measured(cmd!(sh, "{program} {TEMPLATES}"))?;
    let jinja2 = match reference::python(sh) {
        Ok(python) => measured(cmd!(
            sh,
            "{python} xtask/reference/templates.py {TEMPLATES}"
        ))?,
        Err(missing) => {
            println!("  no Jinja2 to compare with: {missing}");
            Value::Null
        }
    };
    let mut ratios = Vec::new();
    for (name, row) in ours.as_object().into_iter().flatten() {
        println!("{}", line(name, row, &jinja2[name]));
        ratios.extend(row["render"]["ratio"].as_f64());
    }
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let most = ratios.iter().copied().fold(0.0, f64::max);
    println!(
        "  {mean:.2} times minijinja's time in the geometric mean, {most:.2} times at most{}",
        verdict(most <= GOAL, &format!("<= {GOAL}"))
    );
    Ok(())
}

/// One template: the fastest times, and the medians of the ratios of all turns.
fn line(name: &str, row: &Value, jinja2: &Value) -> String {
    let micros = |nanos: &Value| nanos.as_f64().unwrap_or_default() / 1_000.0;
    let (render, ours) = (&row["render"], micros(&row["render"]["ours"]));
    let mut line = format!("  {name:14} {ours:8.1} µs");
    if let Some(ratio) = render["ratio"].as_f64() {
        let parse = row["parse"]["ratio"].as_f64().unwrap_or_default();
        let theirs = micros(&render["minijinja"]);
        line += &format!(", minijinja {theirs:8.1} µs: {ratio:.2} times; parsing {parse:.2} times");
    } else if let Some(difference) = row["difference"].as_str() {
        line += &format!(", minijinja cannot: {difference}");
    }
    if jinja2["text"] == row["text"] {
        let theirs = micros(&jinja2["time"]);
        line += &format!("; Jinja2 {theirs:8.1} µs, {:.1} times ours", theirs / ours);
    } else if jinja2.is_object() {
        line += "; Jinja2 prints something else";
    }
    line
}

/// The number of instructions of rendering and parsing in both engines, which does not depend on the load of the machine.
fn count(sh: &Shell, program: &Path) -> Result {
    for name in names(sh, program, TEMPLATES)? {
        for work in ["render", "parse"] {
            let [ours, theirs] = ["mapstack", "minijinja"].map(|engine| {
                counted(
                    sh,
                    program,
                    TEMPLATES,
                    [engine, &format!("{name}.jinja"), work],
                )
            });
            match (ours, theirs) {
                (Some(ours), Some(theirs)) => println!(
                    "  {name:14} {work} {ours:8.0} thousand instructions, minijinja {theirs:8.0}: {:.2} times",
                    ours / theirs
                ),
                (ours, _) => println!(
                    "  {name:14} {work} {:8.0} thousand instructions",
                    ours.unwrap_or(f64::NAN)
                ),
            }
        }
    }
    Ok(())
}
