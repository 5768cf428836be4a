//! The roots backend over real directories, hostile ones included.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use mapstack_loader::{Backends, Fetched, FileServer, LoadError, MemoryFiles, Roots, SaltPath};
use proptest::prelude::*;
use tempfile::TempDir;

fn tree(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (path, content) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    dir
}

fn fetch(files: &dyn FileServer, url: &str) -> String {
    match files.fetch(&SaltPath::parse(url).unwrap(), "base").unwrap() {
        Fetched::Found { bytes, .. } => String::from_utf8_lossy(&bytes).into_owned(),
        Fetched::Missing => "missing".into(),
        Fetched::Refused { reason } | Fetched::Unusable { reason } => format!("refused: {reason}"),
    }
}

#[test]
fn the_first_root_with_the_file_wins() {
    let (a, b) = (
        tree(&[("f/x", "a"), ("only-a", "a")]),
        tree(&[("f/x", "b"), ("f/y", "b")]),
    );
    let files = Roots::new().root("base", a.path()).root("base", b.path());
    let table = [
        ("f/x", "a"),
        ("f/y", "b"),
        ("only-a", "a"),
        ("nope", "missing"),
        ("f", "missing"),
    ];
    for (path, content) in table {
        assert_eq!(fetch(&files, &format!("salt://{path}")), content, "{path}");
    }
    let every = files
        .find_all(&SaltPath::from_relative("f/x"), "base")
        .unwrap();
    assert_eq!(every, [a.path().join("f/x"), b.path().join("f/x")]);
    assert_eq!(files.list("base", "").unwrap(), ["f/x", "f/y", "only-a"]);
    assert_eq!(files.list("base", "f").unwrap(), ["f/x", "f/y"]);
}

#[test]
fn spellings_of_a_path() {
    let dir = tree(&[
        ("a/b", "b"),
        ("a?b", "q"),
        ("ü x:#%", "u"),
        ("sub/..x", "dots"),
    ]);
    let files = Roots::new().root("base", dir.path());
    let table = [
        ("salt://a/b", "b"),
        ("salt:///a/b", "b"),
        ("salt://./a//b/", "b"),
        (r"salt://a\b", "b"),
        ("salt://a/b?saltenv=", "b"),
        ("salt://a/b?env=dev", "b"),
        ("salt://a/b?x", "b"),
        ("salt://a/b?saltenv=dev", "missing"),
        ("salt://|a?b", "q"),
        ("salt://a?b", "missing"),
        ("salt://ü x:#%", "u"),
        ("salt://sub/..x", "dots"),
        ("salt://a/../a/b", "refused: it contains '..'"),
        ("salt://..", "refused: it contains '..'"),
        ("salt://a\0b", "refused: it contains a NUL character"),
    ];
    for (url, outcome) in table {
        assert_eq!(fetch(&files, url), outcome, "{url}");
    }
    assert!(SaltPath::parse("SALT://a").is_err());
    assert!(SaltPath::parse("/a").is_err());
    let long = "x".repeat(300);
    assert!(fetch(&files, &format!("salt://{long}")).starts_with("refused: a component"));
    assert!(
        fetch(&files, &format!("salt://{}", "x/".repeat(5000))).starts_with("refused: it has more")
    );
}

#[test]
fn links_inside_a_root_are_followed_and_others_are_not() {
    let outside = tree(&[("secret", "secret"), ("d/secret", "secret")]);
    let dir = tree(&[("p/dns:domain/example.net.yaml", "ok"), ("file", "ok")]);
    symlink("dns:domain", dir.path().join("p/domain")).unwrap();
    symlink("../file", dir.path().join("p/up")).unwrap();
    symlink(outside.path().join("secret"), dir.path().join("stolen")).unwrap();
    symlink(outside.path().join("d"), dir.path().join("door")).unwrap();
    symlink("loop", dir.path().join("loop")).unwrap();
    symlink("nowhere", dir.path().join("broken")).unwrap();
    let alias = TempDir::new().unwrap();
    let linked_root = alias.path().join("root");
    symlink(dir.path(), &linked_root).unwrap();
    for root in [dir.path(), &linked_root] {
        let files = Roots::new().root("base", root);
        assert_eq!(fetch(&files, "salt://p/domain/example.net.yaml"), "ok");
        assert_eq!(fetch(&files, "salt://p/up"), "ok");
        assert_eq!(fetch(&files, "salt://loop"), "missing");
        assert_eq!(fetch(&files, "salt://broken"), "missing");
        for path in ["stolen", "door/secret"] {
            let outcome = fetch(&files, &format!("salt://{path}"));
            assert!(
                outcome.starts_with("refused: ") && outcome.contains("link out of the root"),
                "{outcome}"
            );
        }
        assert!(
            !files
                .list("base", "")
                .unwrap()
                .iter()
                .any(|p| p.contains("secret") || p.contains("stolen"))
        );
        let trusting = files.follow_outside_links(true);
        assert_eq!(fetch(&trusting, "salt://stolen"), "secret");
        assert_eq!(fetch(&trusting, "salt://door/secret"), "secret");
    }
}

#[test]
fn a_refused_file_does_not_hide_that_of_a_later_root() {
    let outside = tree(&[("x", "secret")]);
    let (a, b) = (tree(&[]), tree(&[("x", "b")]));
    symlink(outside.path().join("x"), a.path().join("x")).unwrap();
    let files = Roots::new().root("base", a.path()).root("base", b.path());
    assert_eq!(fetch(&files, "salt://x"), "b");
}

#[test]
fn saltenvs_do_not_fall_back() {
    let (base, dev) = (tree(&[("b", "b")]), tree(&[("qa/d", "d")]));
    let files = Roots::new()
        .root("base", base.path())
        .root("__env__", dev.path().join("__env__"));
    let ask = |path: &str, env: &str| files.fetch(&SaltPath::from_relative(path), env).unwrap();
    assert!(matches!(ask("b", "base"), Fetched::Found { .. }));
    assert_eq!(ask("b", "qa"), Fetched::Missing);
    assert!(matches!(ask("d", "qa"), Fetched::Found { .. }));
    assert_eq!(ask("d", "base"), Fetched::Missing);
    assert_eq!(ask("qa/d", "."), ask("qa/d", "./"));
    assert_eq!(ask("b", "../../"), Fetched::Missing);
    assert_eq!(files.envs(), ["base", "__env__"]);
}

#[test]
fn missing_roots_are_ignored_and_known() {
    let dir = tree(&[("x", "x")]);
    let files = Roots::new()
        .root("base", "/no/such/dir")
        .root("base", dir.path());
    assert_eq!(fetch(&files, "salt://x"), "x");
    assert_eq!(files.missing_roots(), [Path::new("/no/such/dir")]);
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let dir = tree(&[("large", "")]);
    let file = fs::File::create(dir.path().join("large")).unwrap();
    file.set_len(1 << 40).unwrap();
    let files = Roots::new().root("base", dir.path());
    let error = files
        .fetch(&SaltPath::from_relative("large"), "base")
        .unwrap_err();
    assert!(matches!(error, LoadError::Limit { .. }), "{error}");
    let says = "large has 1099511627776 bytes, more than the 33554432 that are read";
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn pipes_are_not_files() {
    let dir = tree(&[]);
    let made = std::process::Command::new("mkfifo")
        .arg(dir.path().join("pipe"))
        .status();
    if made.is_ok_and(|status| status.success()) {
        assert_eq!(
            fetch(&Roots::new().root("base", dir.path()), "salt://pipe"),
            "missing"
        );
    }
}

#[test]
fn backends_are_asked_in_order() {
    let first = MemoryFiles::new().file("base", "x", "1");
    let second = MemoryFiles::new()
        .file("base", "x", "2")
        .file("base", "d/y", "2")
        .file("dev", "z", "2");
    let files = Backends::from([Box::new(first) as _, Box::new(second) as _]);
    assert_eq!(fetch(&files, "salt://x"), "1");
    assert_eq!(fetch(&files, "salt://d/y"), "2");
    assert_eq!(fetch(&files, "salt://../x"), "refused: it contains '..'");
    assert_eq!(files.list("base", "").unwrap(), ["d/y", "x"]);
    assert_eq!(files.list("base", "d").unwrap(), ["d/y"]);
    assert_eq!(files.envs(), ["base", "dev"]);
}

/// Outcomes recorded from Salt's own file client over the same tree.
#[test]
fn urls_are_split_as_the_reference_splits_them() {
    let dir = tree(&[("b", "b"), ("c../d", "d"), ("a?b", "q")]);
    let dev = tree(&[("d", "dev")]);
    let files = Roots::new()
        .root("base", dir.path())
        .root("dev", dev.path());
    let table = [
        ("salt://|b", "b"),
        ("salt://||b", "b"),
        ("salt://|/b", "refused: it is absolute"),
        (r"salt://|\b", "refused: it is absolute"),
        (r"salt://\b", "b"),
        ("salt://c../d", "refused: it contains '../'"),
        ("salt://d?saltenv=dev", "dev"),
        ("salt://|d?saltenv=dev", "dev"),
        ("salt://|a?b?saltenv=base", "q"),
        ("salt://d?x?saltenv=dev", "dev"),
        ("salt://d?saltenv=dev&x=1", "missing"),
        ("salt://d?saltenv=dev?saltenv=base", "missing"),
        ("salt://b?env=1?saltenv=dev", "b"),
        ("salt://b?saltenv=dev?env=1", "b"),
    ];
    for (url, outcome) in table {
        assert_eq!(fetch(&files, url), outcome, "{url}");
    }
}

#[test]
fn a_link_put_in_place_of_a_file_while_it_is_read_leads_nowhere() {
    let dir = tree(&[("root/other", "ok"), ("good", "ok"), ("secret", "secret")]);
    let (served, spare) = (dir.path().join("root/x"), dir.path().join("spare"));
    let files = Roots::new().root("base", dir.path().join("root"));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                fs::hard_link(dir.path().join("good"), &spare).unwrap();
                fs::rename(&spare, &served).unwrap();
                symlink("../secret", &spare).unwrap();
                fs::rename(&spare, &served).unwrap();
            }
        });
        let outcomes: Vec<String> = (0..20_000).map(|_| fetch(&files, "salt://x")).collect();
        done.store(true, Ordering::Relaxed);
        assert!(
            outcomes.iter().any(|outcome| outcome == "ok"),
            "the race never showed the good file"
        );
        assert!(!outcomes.iter().any(|outcome| outcome == "secret"));
    });
}

#[test]
fn a_tree_that_links_to_itself_is_listed_once() {
    let dir = tree(&[("f", "f"), ("d/e/g", "g")]);
    for name in ["a", "b", "d/c", "d/e/h"] {
        symlink(dir.path(), dir.path().join(name)).unwrap();
    }
    let files = Roots::new().root("base", dir.path());
    assert_eq!(files.list("base", "").unwrap(), ["d/e/g", "f"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_url_leads_out_of_a_root(
        parts in prop::collection::vec(
            prop::sample::select(vec!["..", ".", "/", "//", "\\", "|", "?saltenv=", "?", "qa", "secret", "a", "link"]),
            0..10,
        ),
        saltenv in prop::sample::select(vec!["base", "qa", "../outside", ".."]),
    ) {
        let dir = tree(&[("secret", "secret"), ("outside/secret", "secret"), ("root/a/a", "ok"), ("env/qa/a", "ok")]);
        symlink("..", dir.path().join("root/link")).unwrap();
        symlink("../..", dir.path().join("root/a/link")).unwrap();
        let files = Roots::new().root("base", dir.path().join("root")).root("__env__", dir.path().join("env/__env__"));
        let path = SaltPath::parse(&format!("salt://{}", parts.concat())).unwrap();
        if let Fetched::Found { bytes, .. } = files.fetch(&path, saltenv).unwrap() {
            prop_assert_eq!(&*bytes, b"ok");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_not_served_is_known() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    std::fs::create_dir_all(root.join("web/sub")).unwrap();
    std::fs::write(root.join("web/init.sls"), "").unwrap();
    std::fs::write(dir.path().join("outside"), "").unwrap();
    for (target, link) in [
        ("nowhere", "web/dangling.sls"),
        ("loop", "web/loop"),
        ("../../outside", "web/out"),
        ("nowhere", "gone"),
        // A file that is served under another name.
        ("init.sls", "web/again.sls"),
        ("..", "web/sub/up"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    std::fs::write(root.join(OsStr::from_bytes(b"web/\xff")), "1").unwrap();
    let files = Roots::new().root("base", &root);
    let of = |prefix: &str| -> Vec<String> {
        let found = files.unserved("base", prefix).unwrap();
        found
            .iter()
            .map(|one| format!("{}: {:?}", one.path, one.why))
            .collect()
    };
    let in_web = [
        "web/\\xff: NotUtf8",
        "web/dangling.sls: DanglingLink",
        "web/loop: LoopingLink",
        "web/out: OutsideLink",
    ];
    assert_eq!(of("web"), in_web);
    assert_eq!(of(""), [&["gone: DanglingLink"][..], &in_web].concat());
    assert_eq!(of("gone"), ["gone: DanglingLink"]);
    let following = Roots::new().root("base", &root).follow_outside_links(true);
    assert_eq!(following.unserved("base", "web").unwrap().len(), 3);
    assert!(files.unserved("base", "nothing").unwrap().is_empty());
    // The content counts, not only the name.
    let marks = || files.unserved("base", "web").unwrap();
    let before = marks();
    assert_eq!(before, marks());
    std::fs::write(root.join(OsStr::from_bytes(b"web/\xff")), "2").unwrap();
    assert_ne!(before, marks());
}

/// The paths that Python's `os.path.isfile` takes for no file: a file on the way, links in a circle or to nothing, and a
/// directory.
#[test]
fn paths_that_cannot_be_files_are_missing() {
    let (first, second) = (tree(&[("file", "x")]), tree(&[("loop/x", "second")]));
    symlink("loop", first.path().join("loop")).unwrap();
    symlink("nowhere", first.path().join("dangling")).unwrap();
    fs::create_dir(first.path().join("directory")).unwrap();
    let files = Roots::new()
        .root("base", first.path())
        .root("base", second.path());
    for path in ["file/below", "loop", "dangling", "dangling/x", "directory"] {
        assert_eq!(
            fetch(&files, &format!("salt://{path}")),
            "missing",
            "{path}"
        );
    }
    // Such a root does not hide the next one.
    assert_eq!(fetch(&files, "salt://loop/x"), "second");
}
