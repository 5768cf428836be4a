//! Salt's file server over git repositories, recorded: saltenvs, lists of files, and files.
//!
//! The repositories are built here out of the same descriptions, and have the same commit ids.
#![cfg(feature = "git")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::{Entry, EntryKind};
use gix::objs::{Kind, Tree};
use gix::prelude::Write;
use mapstack_loader::{Fetched, FileServer, SaltPath};
use mapstack_salt_config::fileserver;
use mapstack_value::{Map, Value, json};

/// Answers that differ on purpose: scenario, saltenv, path, and the reason. An empty name matches all.
const DIFFERENCES: &[(&str, &str, &str, &str)] = &[
    (
        "fileserver_followsymlinks: false",
        "base",
        "list",
        "Salt lists a link out of the root, and does not serve it; here it is neither",
    ),
    (
        "",
        "",
        "large.bin",
        "a pointer to a file in Git LFS is not served as if it were the file",
    ),
    (
        "defaults",
        "193d72b50d4fac3be4e211a4c00843893b51f3cd",
        "",
        "Salt does not fetch a commit that no reference leads to; a repository read in place has it",
    ),
];

/// Scenarios in which nothing can be compared, and why.
const NOT_RECORDED: &[(&str, &str)] = &[(
    "fileserver_backend: ['-gitfs']",
    "Salt's loader fails on the name; here it is a warning",
)];

fn fixture() -> Map {
    let text = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/gitfs.json"
    ))
    .unwrap();
    json::loads(&text).unwrap().as_map().unwrap().clone()
}

fn map<'m>(map: &'m Map, key: &str) -> &'m Map {
    map.get(key)
        .and_then(Value::as_map)
        .unwrap_or_else(|| panic!("no {key}"))
}

fn texts(map: &Map, key: &str) -> Vec<String> {
    map.get(key)
        .and_then(Value::as_list)
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn text(map: &Map, key: &str) -> Option<String> {
    map.get(key).map(ToString::to_string)
}

/// Files and directories, before they are written.
#[derive(Default)]
struct Folder {
    entries: Vec<Entry>,
    folders: BTreeMap<String, Folder>,
}

impl Folder {
    fn add(&mut self, path: &str, mode: EntryKind, oid: ObjectId) {
        match path.split_once('/') {
            Some((folder, rest)) => self
                .folders
                .entry(folder.into())
                .or_default()
                .add(rest, mode, oid),
            None => self.entries.push(Entry {
                mode: mode.into(),
                filename: BString::from(path),
                oid,
            }),
        }
    }

    fn write(mut self, repository: &gix::Repository) -> ObjectId {
        for (name, folder) in std::mem::take(&mut self.folders) {
            let oid = folder.write(repository);
            self.entries.push(Entry {
                mode: EntryKind::Tree.into(),
                filename: name.into(),
                oid,
            });
        }
        self.entries.sort();
        repository
            .write_object(Tree {
                entries: self.entries,
            })
            .unwrap()
            .detach()
    }
}

#[expect(
    clippy::too_many_lines,
    reason = "the parts of a repository in the order in which they refer to each other"
)]
fn build(at: &Path, described: &Map, who: &str, ids: &Map) {
    let repository = gix::init_bare(at).unwrap();
    let mut known: BTreeMap<String, ObjectId> = BTreeMap::new();
    for (name, commit) in map(described, "commits") {
        let commit = commit.as_map().unwrap();
        let mut folder = Folder::default();
        for (path, file) in map(commit, "files") {
            let file = file.as_map().unwrap();
            let blob = |bytes: &[u8]| repository.write_blob(bytes).unwrap().detach();
            let (mode, id) = match (
                text(file, "submodule"),
                text(file, "link"),
                text(file, "text"),
            ) {
                (Some(id), ..) => (
                    EntryKind::Commit,
                    ObjectId::from_hex(id.as_bytes()).unwrap(),
                ),
                (_, Some(target), _) => (EntryKind::Link, blob(target.as_bytes())),
                (.., Some(text)) if file.contains_key("executable") => {
                    (EntryKind::BlobExecutable, blob(text.as_bytes()))
                }
                (.., Some(text)) => (EntryKind::Blob, blob(text.as_bytes())),
                _ => (EntryKind::Blob, blob(&(0..=255).collect::<Vec<u8>>())),
            };
            folder.add(&path.to_string(), mode, id);
        }
        let mut lines = vec![format!("tree {}", folder.write(&repository))];
        lines.extend(
            texts(commit, "parents")
                .iter()
                .map(|parent| format!("parent {}", known[parent])),
        );
        lines.extend([
            format!("author {who}"),
            format!("committer {who}"),
            String::new(),
            format!("{name}\n"),
        ]);
        let id = repository
            .objects
            .write_buf(Kind::Commit, lines.join("\n").as_bytes())
            .unwrap();
        assert_eq!(
            Some(id.to_string()),
            text(ids, &name.to_string()),
            "the commit {name}"
        );
        known.insert(name.to_string(), id);
    }
    let point = |name: String, id: ObjectId| {
        repository
            .reference(name, id, gix::refs::transaction::PreviousValue::Any, "")
            .unwrap();
    };
    for (name, commit) in map(described, "branches") {
        point(format!("refs/heads/{name}"), known[&commit.to_string()]);
    }
    for (name, tag) in map(described, "tags") {
        let tag = tag.as_map().unwrap();
        let at = known[&text(tag, "at").unwrap()];
        let mut id = at;
        if tag.contains_key("annotated") {
            let kind = repository.find_header(at).unwrap().kind();
            let lines = format!("object {at}\ntype {kind}\ntag {name}\ntagger {who}\n\n{name}\n");
            id = repository
                .objects
                .write_buf(Kind::Tag, lines.as_bytes())
                .unwrap();
            known.insert(name.to_string(), id);
        }
        point(format!("refs/tags/{name}"), id);
    }
}

/// The directory of every scenario's `<DIR>`.
fn place(fixture: &Map) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let who = text(fixture, "who").unwrap();
    for (name, described) in map(fixture, "repositories") {
        let ids = map(map(fixture, "ids"), &name.to_string());
        build(
            &place.path().join(name.to_string()),
            described.as_map().unwrap(),
            &who,
            ids,
        );
    }
    for (name, content) in map(fixture, "files") {
        let file = place.path().join("files").join(name.to_string());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content.to_string()).unwrap();
    }
    #[cfg(unix)]
    for (name, target) in map(fixture, "file_links") {
        let link = place.path().join("files").join(name.to_string());
        std::os::unix::fs::symlink(target.to_string(), link).unwrap();
    }
    place
}

/// The first digits of what Salt served.
fn digest(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes)
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The index of the difference that an answer belongs to.
fn difference(scenario: &str, saltenv: &str, path: &str) -> Option<usize> {
    let fits = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
    DIFFERENCES
        .iter()
        .position(|(s, e, p, _)| fits(s, scenario) && fits(e, saltenv) && fits(p, path))
}

/// Compare one scenario; the number of files that were looked for, and what differs.
#[expect(
    clippy::too_many_lines,
    reason = "everything that is recorded of one scenario, compared in turn"
)]
fn compare(scenario: &Map, place: &Path, seen: &mut BTreeSet<usize>) -> (usize, Vec<String>) {
    let name = text(scenario, "name").unwrap();
    let options = json::dumps(
        scenario.get("options").unwrap(),
        &json::DumpOptions::default(),
    )
    .unwrap();
    let options = json::loads(&options.replace("<DIR>", &place.display().to_string())).unwrap();
    let configured = match fileserver::open(options.as_map().unwrap(), place) {
        Ok(configured) => configured,
        Err(e) if scenario.contains_key("error") => {
            assert!(e.diagnostic().help.is_some(), "{name}: {e} has no advice");
            return (0, Vec::new());
        }
        Err(e) => return (0, vec![format!("{name}: {e}")]),
    };
    if scenario.contains_key("error") {
        let expected = NOT_RECORDED.iter().any(|(known, _)| *known == name);
        assert!(
            !configured.warnings.is_empty(),
            "{name}: Salt fails, and there is no warning"
        );
        return (
            0,
            (!expected)
                .then(|| format!("{name}: Salt fails"))
                .into_iter()
                .collect(),
        );
    }
    let mut differing = Vec::new();
    let files = configured.files;
    let mut check = |what: String, ours: String, theirs: String| {
        if ours != theirs {
            differing.push(format!("{name}: {what}: {ours} here, {theirs} recorded"));
        }
    };
    check(
        "envs".into(),
        files.envs().join(" "),
        texts(scenario, "envs").join(" "),
    );
    let mut count = 0;
    for (saltenv, found) in map(scenario, "found") {
        let saltenv = saltenv.to_string();
        for (path, recorded) in found.as_map().unwrap() {
            let path = path.to_string();
            let salt_path = SaltPath::parse(&format!("salt://{path}")).unwrap();
            let ours = match files.fetch(&salt_path, &saltenv) {
                Ok(Fetched::Found { bytes, .. }) => digest(&bytes),
                Ok(Fetched::Missing | Fetched::Refused { .. } | Fetched::Unusable { .. }) => {
                    "None".into()
                }
                Err(e) => e.to_string(),
            };
            count += 1;
            if let Some(known) =
                difference(&name, &saltenv, &path).filter(|_| ours != recorded.to_string())
            {
                seen.insert(known);
                continue;
            }
            check(format!("{saltenv}: {path}"), ours, recorded.to_string());
        }
    }
    for (saltenv, recorded) in map(scenario, "lists") {
        let saltenv = saltenv.to_string();
        let ours = files
            .list(&saltenv, "")
            .unwrap_or_else(|e| vec![e.to_string()]);
        let recorded: Vec<String> = recorded
            .as_list()
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        let (ours, recorded) = (ours.join(" "), recorded.join(" "));
        if let Some(known) = difference(&name, &saltenv, "list").filter(|_| ours != recorded) {
            seen.insert(known);
            continue;
        }
        check(format!("{saltenv}: list"), ours, recorded);
    }
    (count, differing)
}

#[test]
fn files_come_out_of_git_as_recorded() {
    let fixture = fixture();
    let place = place(&fixture);
    let (mut count, mut differing, mut seen) = (0, Vec::new(), BTreeSet::new());
    for scenario in fixture.get("scenarios").and_then(Value::as_list).unwrap() {
        let (looked_for, found) = compare(scenario.as_map().unwrap(), place.path(), &mut seen);
        count += looked_for;
        differing.extend(found);
    }
    assert!(count > 1_500, "only {count} files were looked for");
    assert_eq!(
        seen.len(),
        DIFFERENCES.len(),
        "a listed difference no longer differs"
    );
    assert!(
        differing.is_empty(),
        "{} differ:\n{}",
        differing.len(),
        differing.join("\n")
    );
}
