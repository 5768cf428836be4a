//! States over small trees of files, and what real Salt would write.

use std::fs;
use std::path::Path;

use mapstack::Engine;
use mapstack::loader::Roots;
use mapstack::minion::{Minion, Part};
use mapstack::value::pytext::base64;
use mapstack::value::{Map, Value, json};
use mapstack_files::{Content, ManagedFile, ManagedFiles, ManagedKind, Reason};

fn map<'m>(of: &'m Map, name: &str) -> &'m Map {
    of.get(name).and_then(Value::as_map).unwrap()
}

/// The recorded trees on disk, as a file server.
fn served(setup: &Map, home: &Path) -> Roots {
    let mut roots = Roots::new();
    for (env, own) in map(setup, "files") {
        let root = home.join(env.to_string());
        for (path, content) in own.as_map().unwrap() {
            let at = root.join(path.to_string());
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::write(&at, base64::decode(content.to_string().as_bytes()).unwrap()).unwrap();
            let mode = map(setup, "modes").get(path);
            set_mode(&at, mode.filter(|_| *env == "base".into()));
        }
        roots = roots.root(&env.to_string(), root);
    }
    for (path, target) in map(setup, "links") {
        link(
            &home.join("base").join(path.to_string()),
            &target.to_string(),
        );
    }
    roots.follow_outside_links(true)
}

#[cfg(unix)]
fn link(path: &Path, target: &str) {
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[cfg(not(unix))]
fn link(_: &Path, _: &str) {}

#[cfg(unix)]
fn set_mode(path: &Path, mode: Option<&Value>) {
    use std::os::unix::fs::PermissionsExt;
    let mode = mode.map_or(0o644, |mode| mode.to_string().parse().unwrap());
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: Option<&Value>) {}

/// The files of a state as the record has them, and true if Salt refuses it.
fn ours(files: &ManagedFiles<'_>, all: &[&ManagedFile]) -> Result<(Vec<Value>, bool), String> {
    let (mut rows, mut refused) = (Vec::new(), false);
    for file in all {
        let content = files.content(file);
        let bytes = match content {
            Content::Failed(_) => {
                refused = true;
                continue;
            }
            Content::Unknown(unknown) if unknown.reason == Reason::NotBuiltIn => {
                return Err(unknown.why);
            }
            Content::Unknown(unknown) => panic!("{unknown:?}"),
            Content::Bytes(bytes) => Some(Value::from(base64::encode(&bytes))),
            Content::Nothing => None,
        };
        if !matches!(file.kind, ManagedKind::File | ManagedKind::Link) {
            continue;
        }
        let text = |value: &Option<String>| value.as_deref().map_or(Value::None, Value::from);
        let mut row = Map::from_iter([
            ("path", Value::from(file.path.as_str())),
            ("user", file.attributes.user.clone()),
            ("group", file.attributes.group.clone()),
            ("mode", text(&file.attributes.mode)),
        ]);
        match &file.attributes.target {
            Some(target) => drop(row.insert("target", target.as_str())),
            None => drop(row.insert("attrs", text(&file.attributes.attrs))),
        }
        let url = file.source.as_ref().and_then(|source| source.url.clone());
        row.extend(url.map(|url| ("source", Value::from(url))));
        row.extend(bytes.map(|bytes| ("base64", bytes)));
        rows.push(row.into());
    }
    Ok((rows, refused))
}

fn difference(engine: &Engine, minion: &Minion, record: &Map) -> Option<String> {
    let text = record.get("low").unwrap().to_string();
    let low = mapstack_yaml::load(&text).unwrap();
    let low = low.as_list().unwrap();
    let files = ManagedFiles::new(engine, minion, low);
    let all = files.all();
    let results = record.get("results").and_then(Value::as_list).unwrap();
    let mut different = Vec::new();
    for (position, result) in results.iter().enumerate() {
        let result = result.as_map().unwrap();
        let of_state = |file: &&ManagedFile| file.state.position == position;
        let of_state: Vec<&ManagedFile> = all.iter().filter(of_state).collect();
        let Ok((rows, refused)) = ours(&files, &of_state) else {
            continue;
        };
        let theirs = result.get("files").and_then(Value::as_list).unwrap();
        let is_refused = result.contains_key("fails");
        if refused != is_refused || (rows != theirs && !(refused && of_state.len() == 1)) {
            different.push(format!(
                "{text}\n  Salt: {}\n  ours: {refused} {}",
                Value::from(result.clone()).repr(),
                Value::from(rows).repr()
            ));
        }
    }
    (!different.is_empty()).then(|| different.join("\n"))
}

#[test]
fn recorded_states_write_the_same_bytes_owners_and_modes() {
    let recorded = json::loads(include_str!("../data/managed.json")).unwrap();
    let [setup, records @ ..] = recorded.as_list().unwrap() else {
        panic!("nothing is recorded");
    };
    let setup = setup.as_map().unwrap();
    let home = tempfile::tempdir().unwrap();
    let engine = Engine::new(served(setup, home.path()));
    let minion = Minion::new("m").with(Part::Grains, map(setup, "grains").clone());
    let minion = minion
        .with(Part::Pillar, map(setup, "pillar").clone())
        .complete();
    let different: Vec<String> = records
        .iter()
        .filter_map(|one| difference(&engine, &minion, one.as_map().unwrap()))
        .collect();
    assert!(
        different.is_empty(),
        "{} of {}\n{}",
        different.len(),
        records.len(),
        different.join("\n\n")
    );
}
