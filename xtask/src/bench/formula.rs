//! `data` and `map` of one formula for one minion.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use xshell::{Shell, cmd};

use super::measure::{layer_text, mapstack, measured, median, report, verdict};
use crate::{Result, project_root, reference};

/// The goals for the faster side: at least, or at most.
const WARM_GOAL: f64 = 200.0;
const MAP_GOAL: f64 = 50.0;
const COLD_GOAL: f64 = 100.0;
const FLOOR_GOAL: f64 = 1.5;

/// Measure the formulas of `examples`, and a generated one.
pub fn run(sh: &Shell, starts: u32) -> Result {
    let made_up = TempDir::new()?;
    let subjects = [shipped(), generated(sh, made_up.path())?, computed()];
    cmd!(
        sh,
        "cargo bench --quiet --package mapstack --bench data --no-run"
    )
    .run()?;
    for subject in &subjects {
        println!("{}", subject.name);
        measure(sh, subject, starts)?;
    }
    Ok(())
}

/// A formula, a minion and where they are.
pub struct Subject {
    pub name: &'static str,
    verb: &'static str,
    pub formula: &'static str,
    pub minion: PathBuf,
    pub roots: Vec<PathBuf>,
    /// True if the floor parses everything that `data` parses: templates are not YAML.
    plain: bool,
}

/// The formula in `examples`.
pub fn shipped() -> Subject {
    let examples = project_root().join("examples");
    Subject {
        name: "examples/formulas/users on web1: 2 roots, templates, a post-map template",
        verb: "data",
        formula: "users",
        minion: examples.join("minions/web1.yaml"),
        roots: vec![examples.join("site"), examples.join("formulas")],
        plain: false,
    }
}

/// The formula in `examples` that computes its configuration in a `map.jinja`.
fn computed() -> Subject {
    let examples = project_root().join("examples");
    Subject {
        name: "examples/formulas/timesync on web1: a map.jinja, its macros and two YAML files",
        verb: "map",
        formula: "timesync",
        minion: examples.join("minions/web1.yaml"),
        roots: vec![examples.join("formulas")],
        plain: false,
    }
}

/// A formula of plain files, ten layers of forty keys.
pub fn generated(sh: &Shell, directory: &Path) -> Result<Subject> {
    let parameters = directory.join("layers/parameters");
    let layers: Vec<String> = (0..10).map(|layer| format!("layer{layer}.yaml")).collect();
    let mut sources = String::from("values:\n  sources:\n");
    for (number, layer) in layers.iter().enumerate() {
        sources += &format!("    - Y!P@{layer}\n");
        sh.write_file(
            parameters.join(layer),
            format!("values:\n{}", layer_text(number, "  ")),
        )?;
    }
    sh.write_file(
        parameters.join("defaults.yaml"),
        "values:\n  enabled: true\n",
    )?;
    sh.write_file(parameters.join("map_jinja.yaml"), sources)?;
    let minion = directory.join("minion.yaml");
    let facts = "{os: Debian, os_family: Debian, osarch: amd64, osfinger: Debian-12}";
    sh.write_file(
        &minion,
        format!("id: bench\ngrains: {facts}\npillar: {{}}\n"),
    )?;
    let name = "a generated formula: 10 plain YAML layers of 40 keys";
    Ok(Subject {
        name,
        verb: "data",
        formula: "layers",
        minion,
        roots: vec![directory.to_owned()],
        plain: true,
    })
}

fn measure(sh: &Shell, subject: &Subject, starts: u32) -> Result {
    let ours = in_process(sh, subject)?;
    let times = ["warm", "cold", "floor"]
        .map(|name| Duration::from_nanos(ours[name].as_u64().unwrap_or_default()));
    let [warm, cold, floor] = times;
    let started = cold_start(subject, starts)?;
    match reference::python(sh) {
        Ok(python) => {
            let theirs = warm_reference(sh, subject, &python)?;
            let in_process = "warm, in process";
            if subject.verb == "map" {
                let theirs = ("the same import", theirs);
                report(in_process, theirs, ("map", warm), MAP_GOAL);
            } else {
                report(in_process, ("map.data", theirs), ("data", warm), WARM_GOAL);
                let theirs = ("salt-call", cold_reference(sh, subject, starts)?);
                report("one process", theirs, ("data", started), COLD_GOAL);
            }
        }
        Err(missing) => {
            println!(
                "  mapstack {}: warm {warm:.1?}, one process {started:.1?}; no reference to compare with: {missing}",
                subject.verb
            );
        }
    }
    let ratio = cold.as_secs_f64() / floor.as_secs_f64();
    let files = &ours["files"];
    print!(
        "  from nothing {cold:.1?}, floor (read and parse the same {files} files) {floor:.1?}: {ratio:.2} times the floor"
    );
    println!(
        "{}",
        if subject.plain {
            verdict(ratio < FLOOR_GOAL, &format!("< {FLOOR_GOAL}"))
        } else {
            String::new()
        }
    );
    println!(
        "  warm {warm:.1?}: {:.2} times the floor",
        warm.as_secs_f64() / floor.as_secs_f64()
    );
    Ok(())
}

/// The library, measured by its own benchmark.
fn in_process(sh: &Shell, subject: &Subject) -> Result<Value> {
    let Subject {
        verb,
        formula,
        minion,
        roots,
        ..
    } = subject;
    measured(cmd!(
        sh,
        "cargo bench --quiet --package mapstack --bench data -- {verb} {formula} {minion} {roots...}"
    ))
}

fn warm_reference(sh: &Shell, subject: &Subject, python: &Path) -> Result<Duration> {
    let Subject {
        verb,
        formula,
        minion,
        roots,
        ..
    } = subject;
    let printed = measured(cmd!(
        sh,
        "{python} xtask/reference/bench.py {verb} {formula} {minion} {roots...}"
    ))?;
    Ok(Duration::from_nanos(
        printed["warm"].as_u64().ok_or("bench.py prints no time")?,
    ))
}

/// The command, from its start to its end.
fn cold_start(subject: &Subject, starts: u32) -> Result<Duration> {
    let sh = Shell::new()?;
    sh.change_dir(project_root());
    let mapstack = mapstack(&sh)?;
    let roots = subject
        .roots
        .iter()
        .flat_map(|root| ["--root".into(), root.clone()]);
    let Subject {
        verb,
        formula,
        minion,
        ..
    } = subject;
    let roots: Vec<PathBuf> = roots.collect();
    let roots = &roots;
    // A start takes milliseconds, so more of them make a better median.
    median(starts * 10, || {
        cmd!(
            sh,
            "{mapstack} {verb} {formula} --minion {minion} {roots...}"
        )
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()
    })
}

/// `salt-call --local`, with the minion's facts in a separate configuration.
fn cold_reference(sh: &Shell, subject: &Subject, starts: u32) -> Result<Duration> {
    let (salt_call, python) = (reference::program(sh, "salt-call")?, reference::python(sh)?);
    let home = TempDir::new()?;
    let to_json =
        "import json, sys, salt.utils.yaml as y; print(json.dumps(y.safe_load(open(sys.argv[1]))))";
    let minion = &subject.minion;
    let minion: Value = serde_json::from_str(
        &cmd!(sh, "{python} -c {to_json} {minion}")
            .quiet()
            .ignore_stderr()
            .read()?,
    )?;
    let pillar = home.path().join("pillar");
    sh.write_file(pillar.join("top.sls"), "base: {'*': [facts]}\n")?;
    sh.write_file(
        pillar.join("facts.sls"),
        format!("#!json\n{}\n", minion["pillar"]),
    )?;
    let mut config = minion["opts"].as_object().cloned().unwrap_or_default();
    let own = json!({
        "id": minion["id"],
        "root_dir": home.path(),
        "file_client": "local",
        "file_roots": {"base": subject.roots},
        "pillar_roots": {"base": [pillar]},
        "grains": minion["grains"],
    });
    config.extend(own.as_object().cloned().unwrap_or_default());
    sh.write_file(home.path().join("minion"), Value::from(config).to_string())?;
    let (config, formula) = (home.path(), subject.formula);
    median(starts, || {
        cmd!(
            sh,
            "{salt_call} --local --config-dir {config} --log-level quiet map.data {formula}"
        )
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()
    })
}
