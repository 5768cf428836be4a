//! The time to read 50 files of a formula's git repository with 2,000 commits.
//!
//! ```text
//! cargo bench -p mapstack-salt-config --features git --bench gitfs
//! ```
//!
//! Prints one JSON object of median nanoseconds: `open` for opening the repository and reading each
//! file once, `again` for reading each file once more, `miss` for 50 files that do not exist. The
//! repository is packed by the program `git`; without it, objects lie in a file each.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use gix::ObjectId;
use gix::objs::Kind;
use gix::objs::tree::{Entry, EntryKind};
use gix::prelude::Write as _;
use mapstack_loader::{FileServer, SaltPath};
use mapstack_salt_config::gitfs::{GitFs, Remote};

const COMMITS: usize = 2_000;
const FILES: usize = 50;
const RUNS: usize = 101;

fn path(number: usize) -> String {
    format!("users/parameters/role{}/file{number}.yaml", number % 7)
}

/// A bare repository, each commit of which changes one file.
fn build(at: &Path) {
    let repository = gix::init_bare(at).expect("a repository");
    let write = |kind, bytes: &[u8]| {
        repository
            .objects
            .write_buf(kind, bytes)
            .expect("an object")
    };
    let tree = |mut entries: Vec<Entry>| {
        entries.sort();
        repository
            .write_object(gix::objs::Tree { entries })
            .expect("a tree")
            .detach()
    };
    let folder = |name: &str, oid| Entry {
        mode: EntryKind::Tree.into(),
        filename: name.into(),
        oid,
    };
    let mut blobs: Vec<ObjectId> = (0..FILES)
        .map(|number| write(Kind::Blob, format!("values: {{a: {number}}}\n").as_bytes()))
        .collect();
    let mut parent: Option<ObjectId> = None;
    for commit in 0..COMMITS {
        let text = format!("values: {{a: {commit}, b: {}}}\n", "x".repeat(commit % 400));
        blobs[commit % FILES] = write(Kind::Blob, text.as_bytes());
        let roles = (0..7).map(|role| {
            let files = (0..FILES)
                .filter(|number| number % 7 == role)
                .map(|number| Entry {
                    mode: EntryKind::Blob.into(),
                    filename: format!("file{number}.yaml").into(),
                    oid: blobs[number],
                });
            folder(&format!("role{role}"), tree(files.collect()))
        });
        let parameters = tree(roles.collect());
        let users = tree(vec![folder("parameters", parameters)]);
        let root = tree(vec![folder("users", users)]);
        let parents = parent
            .map(|id| format!("parent {id}\n"))
            .unwrap_or_default();
        let who = "A <a@example.org> 1700000000 +0000";
        let text = format!("tree {root}\n{parents}author {who}\ncommitter {who}\n\n{commit}\n");
        parent = Some(write(Kind::Commit, text.as_bytes()));
    }
    let tip = parent.expect("commits");
    repository
        .reference(
            "refs/heads/master",
            tip,
            gix::refs::transaction::PreviousValue::Any,
            "",
        )
        .expect("a branch");
}

fn read(files: &GitFs) -> usize {
    let fetch = |number| files.fetch(&SaltPath::from_relative(&path(number)), "base");
    (0..FILES)
        .filter(|number| matches!(fetch(*number), Ok(mapstack_loader::Fetched::Found { .. })))
        .count()
}

fn open(at: &Path) -> GitFs {
    GitFs::open(vec![Remote::new("bench", at)]).expect("a repository")
}

/// The median of many runs.
fn median(mut run: impl FnMut()) -> u128 {
    let mut times: Vec<u128> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_nanos()
        })
        .collect();
    times.sort_unstable();
    times[RUNS / 2]
}

fn main() {
    let place = tempfile::tempdir().expect("a directory");
    build(place.path());
    let packed = Command::new("git")
        .arg("-C")
        .arg(place.path())
        .args(["repack", "-adq"])
        .status();
    let packed = packed.is_ok_and(|status| status.success());
    let first = median(|| assert_eq!(read(&open(black_box(place.path()))), FILES));
    let files = open(place.path());
    let again = median(|| assert_eq!(read(black_box(&files)), FILES));
    let missing = |number| {
        files.fetch(
            &SaltPath::from_relative(&format!("{}.jinja", path(number))),
            "base",
        )
    };
    let miss = median(|| assert!((0..FILES).all(|number| missing(number).is_ok())));
    println!("{{\"open\": {first}, \"again\": {again}, \"miss\": {miss}, \"packed\": {packed}}}");
}
