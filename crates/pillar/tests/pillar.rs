//! External pillars beside the reference's, recorded: what they return, and where they fail.

use std::fs;
use std::path::Path;

use crate::common::{assert_repeated, map, records};
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Map, Value, json};
use mapstack::{Engine, Result};
use mapstack_pillar::{Compiler, ExtPillars, StackKind};

/// Records whose result here differs on purpose, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "args+kwargs: args first",
        "a master's configuration has either the one or the other",
    ),
    (
        "a: {{ (1).__class__.__mro__ }}",
        "templates are sandboxed here, too",
    ),
    (
        "anchors alias in stack (same object mutated!)",
        "values are values: a file that merges into one spelling of a YAML anchor does not change the other",
    ),
    (
        "indent ok upstream",
        "Salt's own PillarStack is followed, which takes blanks as part of the name",
    ),
    (
        "__env__ upstream",
        "Salt's own PillarStack is followed, which knows __env__",
    ),
    (
        "pillarenv upstream",
        "Salt's own PillarStack is followed, which has pillarenv",
    ),
    (
        "cfg: \u{feff}a.yml",
        "a byte order mark is not part of a name",
    ),
    (
        "master: item is text",
        "a malformed ext_pillar is an error at once",
    ),
    (
        "master: malformed",
        "a malformed ext_pillar is an error at once",
    ),
    (
        "data: coding comment of another code",
        "templates are UTF-8",
    ),
    (
        "stack: shares with itself",
        "values are values: two keys that a template gives one mapping do not stay one",
    ),
    (
        "fails: stack holds itself",
        "what is not data does not come into the stack",
    ),
    (
        "fails: undefined into stack",
        "what is not data does not come into the stack",
    ),
    ("master: text", "a malformed ext_pillar is an error at once"),
];

/// A directory with the files and links of a record.
fn tree(record: &Map) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("here")).unwrap();
    let here = dir.path().join("here").display().to_string();
    for (name, text) in &map(record, "files") {
        let path = dir
            .path()
            .join("here")
            .join(name.to_string().replace("<DIR>", &here));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = text.to_string().replace("<DIR>", &here);
        fs::write(path, text).unwrap();
    }
    for (name, target) in &map(record, "links") {
        link(
            &target.to_string(),
            &dir.path().join("here").join(name.to_string()),
        );
    }
    dir
}

#[cfg(unix)]
fn link(target: &str, path: &Path) {
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[cfg(not(unix))]
fn link(_: &str, _: &Path) {}

/// A record's value with its directory in place.
fn here(value: &Value, dir: &Path) -> Value {
    let text = json::dumps(value, &json::DumpOptions::default()).unwrap();
    json::loads(&text.replace("<DIR>", &dir.display().to_string())).unwrap()
}

/// The external pillars of a record.
fn pillars(record: &Map, dir: &Path) -> Result<ExtPillars> {
    let module = record.get("module").unwrap().to_string();
    if module == "master" {
        let master = json::dumps(
            &here(record.get("master").unwrap(), dir),
            &json::DumpOptions::default(),
        )
        .unwrap();
        return Ok(ExtPillars::from_master_config(master.as_bytes(), "master")?.keep_going(true));
    }
    let kind = if module == "makostack" {
        StackKind::MakoStack
    } else {
        StackKind::PillarStack
    };
    let tables = map(record, "kwargs");
    let arguments = if tables.is_empty() {
        here(record.get("args").unwrap(), dir)
    } else {
        let pair = |pair: &Value| {
            let pair = pair.as_list().unwrap();
            (
                mapstack::value::Key::try_from(&pair[0]).unwrap(),
                here(&pair[1], dir),
            )
        };
        let table = |table: &Value| match table {
            Value::List(pairs) => Value::Map(pairs.iter().map(pair).collect()),
            other => here(other, dir),
        };
        Value::Map(
            tables
                .iter()
                .map(|(selector, pairs)| (selector.clone(), table(pairs)))
                .collect(),
        )
    };
    Ok(ExtPillars::new()
        .with(kind, arguments)
        .with_opts(map(record, "opts"))
        .with_directory(dir.parent().unwrap()))
}

/// The result of a record's external pillars here, in JSON, and the number of failures.
fn answer(record: &Map, dir: &Path) -> Result<(String, usize)> {
    let minion = Minion {
        id: record.get("minion_id").unwrap().clone(),
        grains: map(record, "grains"),
        pillar: map(record, "pillar"),
        ..Minion::default()
    };
    let compiler = Compiler::new(pillars(record, dir)?);
    let engine = Engine::new(MemoryFiles::new());
    let mut compiled = compiler.run(&engine, &minion).compile()?;
    // The cache changes no answer.
    assert_eq!(
        compiler.run(&engine, &minion).compile()?,
        compiled,
        "{:?}",
        record.get("name")
    );
    let whole = record.get("module").unwrap().as_str() == Some("master");
    let errors = compiled.merged.shift_remove("_errors");
    let given = if whole {
        compiled.merged
    } else {
        compiled.external
    };
    let text = json::dumps(&Value::Map(given), &json::DumpOptions::default()).unwrap();
    let failed = errors
        .and_then(|errors| errors.as_list().map(<[Value]>::len))
        .unwrap_or_default();
    Ok((text.replace(&dir.display().to_string(), "<DIR>"), failed))
}

fn check(record: &Map) -> std::result::Result<(), String> {
    let dir = tree(record);
    let got = answer(record, &dir.path().join("here"));
    let errors = record.get("errors").map_or("0".into(), ToString::to_string);
    match (&got, record.get("result")) {
        (Ok((got, failed)), Some(wanted)) => {
            let wanted = json::dumps(wanted, &json::DumpOptions::default()).unwrap();
            if *got == wanted && failed.to_string() == errors {
                return Ok(());
            }
            Err(format!(
                "got {got} ({failed} failed)\n    not {wanted} ({errors} failed)"
            ))
        }
        (Ok((got, _)), None) => Err(format!(
            "got {got}, not an error: {:?}",
            record.get("message")
        )),
        (Err(e), Some(wanted)) => Err(format!("failed: {e}\n    not {}", wanted.repr())),
        (Err(_), None) => Ok(()),
    }
}

fn compare(text: &str) {
    assert_repeated(&records(text), DIFFERENCES, check);
}

#[test]
fn every_recorded_case_is_as_the_reference_has_it() {
    compare(include_str!("data/stack_e2e.json"));
}

#[test]
fn every_recorded_tree_is_as_the_reference_has_it() {
    compare(include_str!("data/pillar_stacks.json"));
}

#[test]
fn every_recorded_tree_of_makostack_is_as_the_reference_has_it() {
    compare(include_str!("data/makostacks.json"));
}

#[test]
fn minions_that_share_layers_get_what_they_would_get_alone() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("s.cfg", "a.yml\nb.yml\n{{ __grains__.role }}.yml\nc.yml\n");
    write("a.yml", "l: [1]\nm: {x: 1, y: {z: 2}}\n");
    write("b.yml", "l: [2]\nm: {__: merge-first, x: 2, w: 3}\n");
    write(
        "web.yml",
        "l: [{__: overwrite}, web]\nm: {y: {__: remove, z: null}}\n",
    );
    write(
        "db.yml",
        "l: [db]\nseen: {{ stack.l }}\n{% do stack.m.update(changed=1) %}\n",
    );
    write("c.yml", "last: true\nl: [9]\n");
    let pillars = ExtPillars::new().with_stack(
        StackKind::PillarStack,
        [dir.path().join("s.cfg").display().to_string()],
    );
    let engine = Engine::new(MemoryFiles::new());
    let of = |compiler: &Compiler, role: &str| {
        let minion =
            Minion::parse(format!("id: m\ngrains: {{role: {role}}}\n").as_bytes(), "m").unwrap();
        let compiled = compiler.run(&engine, &minion).compile();
        Value::from(compiled.unwrap().external).repr()
    };
    let shared = Compiler::new(pillars.clone());
    for role in ["web", "db", "web", "none", "db", "web"] {
        assert_eq!(
            of(&shared, role),
            of(&Compiler::new(pillars.clone()), role),
            "{role}"
        );
    }
    // A file that changed counts at once.
    write("c.yml", "last: changed now\n");
    assert!(of(&shared, "web").contains("'last': 'changed now'"));
}
