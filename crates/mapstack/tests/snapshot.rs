//! A snapshot gives the same answers as its file server, with few requests.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::serving::Intercepted;
use mapstack::loader::{
    Backends, Fetched, FileServer, LoadError, MemoryFiles, Roots, SaltPath, Snapshot,
};
use proptest::prelude::*;
use tempfile::TempDir;

/// Counts the requests for files.
fn counting(
    requests: &Arc<AtomicUsize>,
) -> impl Fn(&SaltPath) -> Option<Result<Fetched, LoadError>> + use<> {
    let requests = requests.clone();
    move |_| {
        requests.fetch_add(1, Ordering::Relaxed);
        None
    }
}

/// Directories and names, plain ones, odd ones, and some that others are links to.
const DIRECTORIES: [&str; 8] = ["", "d/", "d/e/", "away/", "c../", "D/", "é/", "link/"];
const NAMES: [&str; 14] = [
    "a.yaml",
    "A.yaml",
    "b",
    "B",
    "web1.example.org.yaml",
    "é.yaml",
    "a:b",
    "x.",
    "..x",
    "-",
    "1",
    "2",
    "a b",
    "~1",
];

fn path() -> impl Strategy<Value = String> {
    let odd = prop_oneof![Just(""), Just("/"), Just("./"), Just("../"), Just(r"d\")];
    let other = "[a-c]{1,2}";
    let name =
        prop_oneof![4 => prop::sample::select(&NAMES[..]).prop_map(str::to_owned), 2 => other];
    (
        prop_oneof![8 => Just(""), 1 => odd],
        prop::sample::select(&DIRECTORIES[..]),
        name,
    )
        .prop_map(|(odd, directory, name)| format!("{odd}{directory}{name}"))
}

/// A root with some of the files, and links: to a directory inside, out of the root, to nowhere.
fn root(files: &[(usize, usize)], outside: &TempDir) -> TempDir {
    let dir = TempDir::new().unwrap();
    for &(directory, name) in files {
        let path = dir
            .path()
            .join(DIRECTORIES[directory % 7])
            .join(NAMES[name % NAMES.len()]);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, path.to_string_lossy().as_bytes()).unwrap();
    }
    let _ = symlink("d", dir.path().join("link"));
    let _ = symlink(outside.path(), dir.path().join("away"));
    let _ = symlink("nowhere", dir.path().join("1"));
    let _ = symlink("a.yaml", dir.path().join("2"));
    dir
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_a_snapshot_answers_is_what_its_server_answers(
        trees in prop::collection::vec(prop::collection::vec((0..7usize, 0..14usize), 0..12), 0..3),
        memory in any::<bool>(),
        outside_links in any::<bool>(),
        asked in prop::collection::vec((path(), prop_oneof![4 => Just("base"), 1 => Just("dev"), 1 => Just("other")]), 0..300),
    ) {
        let outside = TempDir::new().unwrap();
        fs::write(outside.path().join("b"), "outside").unwrap();
        let trees: Vec<TempDir> = trees.iter().map(|files| root(files, &outside)).collect();
        let roots = || {
            let roots = trees.iter().fold(Roots::new(), |roots, dir| roots.root("base", dir.path()).root("dev", dir.path().join("d")));
            roots.root("base", "/no/such/dir").follow_outside_links(outside_links)
        };
        let files = || -> Backends {
            let mut servers: Vec<Box<dyn FileServer>> = vec![Box::new(roots())];
            if memory {
                servers.push(Box::new(MemoryFiles::new().file("base", "d/c", "memory")));
            }
            servers
        };
        let (plain, snapshot) = (files(), Snapshot::new(files()));
        for _ in 0..2 {
            for prefix in DIRECTORIES {
                for saltenv in ["base", "dev", "other"] {
                    prop_assert_eq!(snapshot.list(saltenv, prefix).unwrap(), plain.list(saltenv, prefix).unwrap(), "{}", prefix);
                }
            }
            for (path, saltenv) in &asked {
                let path = SaltPath::from_relative(path);
                prop_assert_eq!(snapshot.fetch(&path, saltenv).unwrap(), plain.fetch(&path, saltenv).unwrap(), "{}", path);
            }
        }
    }
}

#[test]
fn a_directory_that_lacks_many_files_is_listed_instead() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("id")).unwrap();
    fs::write(dir.path().join("id/web500.yaml"), "there").unwrap();
    let requests = Arc::default();
    let counted = Intercepted::new(Roots::new().root("base", dir.path()), counting(&requests));
    let lists = counted
        .names_in(&SaltPath::from_relative("id"), "base")
        .is_some();
    let files = Snapshot::new(counted);
    for directory in ["id", "absent"] {
        for number in 0..1000 {
            let path = SaltPath::from_relative(&format!("{directory}/web{number}.yaml"));
            let found = files.fetch(&path, "base").unwrap() != Fetched::Missing;
            assert_eq!(found, directory == "id" && number == 500, "{path}");
        }
    }
    // On some file systems, listings are not reliable, so there is a request for every file.
    let asked = requests.load(Ordering::Relaxed);
    assert!(
        if lists {
            asked < 50
        } else {
            asked == 2000 || asked < 1050
        },
        "{asked}"
    );
}

#[test]
fn a_server_without_lists_of_names_gets_a_request_for_every_file() {
    let memory = MemoryFiles::new().file("base", "id/web5.yaml", "there");
    let requests = Arc::default();
    let files = Snapshot::new(Intercepted::new(memory, counting(&requests)).without_names());
    for number in 0..100 {
        files
            .fetch(
                &SaltPath::from_relative(&format!("id/web{number}.yaml")),
                "base",
            )
            .unwrap();
    }
    assert_eq!(requests.load(Ordering::Relaxed), 100);
}

#[test]
fn files_are_listed_once() {
    let dir = TempDir::new().unwrap();
    let files = Snapshot::new(Roots::new().root("base", dir.path()));
    let write = |name: &str| fs::write(dir.path().join(name), "").unwrap();
    write("a");
    assert_eq!(files.list("base", "").unwrap(), ["a"]);
    write("b");
    assert_eq!(files.list("base", "").unwrap(), ["a"]);
}
