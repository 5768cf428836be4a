//! Compiles the pillar of a recorded or made-up master.

#![allow(dead_code, reason = "every test file uses its own part of this")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use mapstack::loader::Roots;
use mapstack::minion::{Minion, SaltVersion};
use mapstack::value::{Map, MapKind, Value};
use mapstack::{Call, CallError, Engine, Functions};
use mapstack_pillar::{Master, PillarRequest, pillar_roots};
use mapstack_salt_config::{Config, Kind, fileserver};

/// Stands for the directory that the files are in.
const DIR: &str = "<DIR>";

/// The pillar that a master with the files below a directory compiles for the minion of a record, after another minion
/// with the same grains, and once more.
///
/// # Errors
/// The compile fails, or two pillars of one minion differ.
pub fn compiled(record: &Map, root: &Path) -> Result<Value, String> {
    made(record, root, true)
}

/// The pillar of [`compiled`]; if it is not `shared`, it is compiled once, before any other.
fn made(record: &Map, root: &Path, shared: bool) -> Result<Value, String> {
    let compile = |master: &Master, engine: &Engine, minion: &Minion, ask: &PillarRequest| {
        let other = Minion {
            id: "another".into(),
            ..minion.clone()
        };
        if !shared {
            return master
                .compile(engine, minion, ask)
                .map_err(|e| e.to_string());
        }
        // Only what it leaves for the next one matters.
        let _ = master.compile(engine, &other, ask);
        let made = [(); 2].map(|()| master.compile(engine, minion, ask));
        let [one, again] = made.each_ref().map(|made| {
            made.as_ref()
                .map(|made| Value::from(made.data.clone()).repr())
                .ok()
        });
        if one != again {
            return Err(format!("it is {again:?} when shared, not {one:?}"));
        }
        let [_, again] = made;
        again.map_err(|e| e.to_string())
    };
    let made = with_master(record, root, compile)??;
    let data = named_options(made.data, record);
    let plain = Value::Map(data).with_map_kind(MapKind::Dict);
    Ok(put(
        &without_reasons(plain),
        &root.display().to_string(),
        DIR,
    ))
}

/// A pillar with the master's options in it (`pillar_opts`) has only those that its configuration names, by name: the
/// others are those of the machine that recorded it.
fn named_options(mut data: Map, record: &Map) -> Map {
    let master = record
        .get("master")
        .map(Value::to_string)
        .unwrap_or_default();
    let options = data.get("master").and_then(Value::as_map).cloned();
    let Some(options) = options.filter(|_| master.contains("pillar_opts")) else {
        return data;
    };
    let is_name =
        |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let names = master
        .lines()
        .filter_map(|line| Some(line.split_once(':')?.0));
    let mut names: Vec<&str> = names.filter(is_name).collect();
    names.sort_unstable();
    let named = names
        .iter()
        .filter_map(|name| Some((*name, options.get(*name)?.clone())));
    data.insert("master", named.collect::<Map>());
    data
}

/// Check that the pillar of a record is as it was recorded.
///
/// # Errors
/// The difference.
pub fn check(record: &Map) -> Result<(), String> {
    check_made(record, true)
}

/// Check that the pillar of a record is as it was recorded, where nothing is shared.
///
/// # Errors
/// How it differs.
pub fn check_alone(record: &Map) -> Result<(), String> {
    check_made(record, false)
}

fn check_made(record: &Map, shared: bool) -> Result<(), String> {
    let directory = tempfile::tempdir().expect("a directory for files");
    let root = directory.path().join("here");
    write(record, &root);
    let made = made(record, &root, shared).map(|value| value.repr());
    match (made, record.get("result")) {
        (Ok(made), Some(wanted)) if wanted.as_str() == Some(&made) => Ok(()),
        (Ok(made), Some(wanted)) => Err(format!("got {made}\n    not {wanted}")),
        (Ok(made), None) => Err(format!("got {made}, not {:?}", record.get("message"))),
        (Err(error), Some(wanted)) => Err(format!("failed: {error}\n    not {wanted}")),
        (Err(_), None) => Ok(()),
    }
}

/// Work with the master of a record, whose files are below a directory, and the minion that asks it.
///
/// # Errors
/// The configuration is wrong.
pub fn with_master<T>(
    record: &Map,
    root: &Path,
    work: impl FnOnce(&Master, &Engine, &Minion, &PillarRequest) -> T,
) -> Result<T, String> {
    let shown = root.display().to_string();
    let record = put(&record.clone().into(), DIR, &shown);
    let field = |name: &str| -> Value {
        let fields = record.as_map();
        fields
            .and_then(|record| record.get(name))
            .cloned()
            .unwrap_or_default()
    };
    let map = |name: &str| field(name).as_map().cloned().unwrap_or_default();
    let config = Config::parse(
        field("master").to_string().as_bytes(),
        "master",
        Kind::Master,
    )
    .map_err(|e| e.to_string())?;
    let add = |roots: Roots, (env, directory): (String, String)| roots.root(&env, directory);
    let pillar = pillar_roots(config.options())
        .into_iter()
        .fold(Roots::new(), add);
    let served = fileserver::open(config.options(), Path::new(""))
        .map_err(|e| e.to_string())?
        .files;
    let minion = Minion {
        id: field("minion_id"),
        grains: map("grains"),
        ..Minion::default()
    };
    let ask = PillarRequest {
        saltenv: field("saltenv"),
        pillarenv: field("pillarenv"),
        pillar_override: map("override"),
        ext: Some(field("ext")).filter(|ext| !ext.is_none()),
        extra_minion_data: map("extra_minion_data"),
        problem: None,
    };
    let master = Master::new(config, Arc::new(pillar)).with_directories([root]);
    let master = master.with_memory(1 << 22);
    let version = match field("salt_version") {
        Value::None => SaltVersion::default(),
        named => named.to_string().parse().map_err(|e| format!("{e}"))?,
    };
    let engine = Engine::new(served)
        .with_functions(Echo)
        .with_salt_version(version);
    Ok(work(&master, &engine, &minion, &ask))
}

/// Write the files of a record below a directory.
pub fn write(record: &Map, root: &Path) {
    let files = record.get("files").and_then(Value::as_map);
    for (name, text) in files.into_iter().flatten() {
        let path = root.join(name.to_string());
        let parent = path.parent().expect("a directory");
        std::fs::create_dir_all(parent).expect("the directory can be made");
        let text = text.to_string().replace(DIR, &root.display().to_string());
        std::fs::write(path, text).expect("the file can be written");
    }
    link(record, root);
}

/// Make the links and repositories of a record below a directory.
pub fn link(record: &Map, root: &Path) {
    let repositories = record.get("repositories").and_then(Value::as_map);
    for (name, repository) in repositories.into_iter().flatten() {
        build(
            &root.join(name.to_string()),
            repository.as_map().expect("a mapping"),
        );
    }
    let links = record.get("links").and_then(Value::as_map);
    for (name, target) in links.into_iter().flatten() {
        std::os::unix::fs::symlink(target.to_string(), root.join(name.to_string()))
            .expect("the link can be made");
    }
}

/// A bare repository with a commit for each branch and tag.
fn build(place: &Path, repository: &Map) {
    let mut stream = String::new();
    for (kind, key) in [("heads", "branches"), ("tags", "tags")] {
        let references = repository.get(key).and_then(Value::as_map);
        for (name, files) in references.into_iter().flatten() {
            let who = "committer A Person <a@example.org> 1700000000 +0000";
            let _ = writeln!(stream, "commit refs/{kind}/{name}\n{who}\ndata 1\nx");
            for (path, text) in files.as_map().into_iter().flatten() {
                let text = text.to_string();
                let _ = writeln!(
                    stream,
                    "M 100644 inline {path}\ndata {}\n{text}",
                    text.len()
                );
            }
            stream.push('\n');
        }
    }
    let place = place.display().to_string();
    git(&["init", "--quiet", "--bare", &place], "");
    git(&["-C", &place, "fast-import", "--quiet"], &stream);
}

fn git(args: &[&str], input: &str) {
    let mut child = Command::new("git")
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .spawn()
        .expect("git can be run");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("git reads");
    drop(stdin);
    assert!(child.wait().expect("git ends").success());
}

/// Errors without what templates and external pillars say, which is in words of each side's own.
fn without_reasons(pillar: Value) -> Value {
    let Value::Map(mut pillar) = pillar else {
        return pillar;
    };
    if let Some(Value::List(errors)) = pillar.get("_errors") {
        let cut = |error: &Value| Value::from(without_reason(&error.to_string()));
        let errors: Value = errors.iter().map(cut).collect();
        pillar.insert("_errors", errors);
    }
    pillar.into()
}

fn without_reason(error: &str) -> &str {
    if let Some(at) = error.find("render error:\n") {
        return &error[..at + "render error:".len()];
    }
    let name = |rest: &str| rest.find(':').map(|at| error.len() - rest.len() + at);
    match error
        .strip_prefix("Failed to load ext_pillar ")
        .and_then(name)
    {
        Some(at) => &error[..at],
        None => error,
    }
}

/// Runs the only command there is: `echo '…'`.
struct Echo;

impl Functions for Echo {
    fn has(&self, name: &str) -> bool {
        matches!(name, "cmd.run" | "cmd.run_stdout")
    }

    fn has_module(&self, module: &str) -> bool {
        module == "cmd"
    }

    fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
        let said = call.args.first()?.as_str()?.strip_prefix("echo ")?;
        Some(Ok(said.trim_matches('\'').into()))
    }
}

/// A value with one text for another in all its texts.
fn put(value: &Value, old: &str, new: &str) -> Value {
    match value {
        Value::Str(text) => text.replace(old, new).into(),
        Value::List(members) => members.iter().map(|member| put(member, old, new)).collect(),
        Value::Map(map) => {
            let entries = map.iter().map(|(key, inner)| {
                let key = match key.as_str() {
                    Some(text) => text.replace(old, new).into(),
                    None => key.clone(),
                };
                (key, put(inner, old, new))
            });
            Value::Map(entries.collect())
        }
        other => other.clone(),
    }
}
