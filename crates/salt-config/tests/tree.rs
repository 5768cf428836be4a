//! Files by their paths on disk: what a `FileTree` reads and lists, and what it does not.

use std::fs;

use mapstack_loader::{Fetched, LoadError};
use mapstack_salt_config::disk::{FileTree, KeptFiles};
use tempfile::TempDir;

/// `in/` is read, `out/` is not.
fn dirs() -> (TempDir, String, String) {
    let dir = tempfile::tempdir().unwrap();
    for name in [
        "in/a.yml",
        "in/b.yml",
        "in/d/c.yml",
        "in/.h.yml",
        "out/x.yml",
    ] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (inside, outside) = (path("in"), path("out"));
    (dir, inside, outside)
}

fn text(fetched: Result<Fetched, LoadError>) -> Option<String> {
    match fetched.unwrap() {
        Fetched::Found { bytes, .. } => Some(String::from_utf8_lossy(&bytes).into_owned()),
        _ => None,
    }
}

fn is_outside<T>(result: &Result<T, LoadError>) -> bool {
    matches!(result, Err(LoadError::Outside { .. }))
}

#[test]
fn only_regular_files_below_a_directory_are_read() {
    let (_dir, inside, outside) = dirs();
    let tree = FileTree::new().directory(&inside);
    assert_eq!(
        text(tree.read(&format!("{inside}/a.yml"))).as_deref(),
        Some("in/a.yml")
    );
    assert_eq!(
        text(tree.read(&format!("{inside}/d/../a.yml"))).as_deref(),
        Some("in/a.yml")
    );
    assert_eq!(text(tree.read(&format!("{inside}/d"))), None);
    assert_eq!(text(tree.read(&format!("{inside}/nope"))), None);
    assert_eq!(text(tree.read(&format!("{inside}/../nope"))), None);
    for path in [
        format!("{outside}/x.yml"),
        format!("{inside}/../out/x.yml"),
        "/".into(),
    ] {
        assert!(is_outside(&tree.read(&path)), "{path}");
        assert!(is_outside(&FileTree::new().read(&path)), "{path}");
    }
    let both = tree.directory(&outside).directory("/nowhere");
    assert_eq!(
        text(both.read(&format!("{inside}/../out/x.yml"))).as_deref(),
        Some("out/x.yml")
    );
}

#[test]
fn a_name_that_begins_like_the_directory_is_outside() {
    let (dir, inside, _) = dirs();
    fs::write(dir.path().join("in-secret"), "").unwrap();
    assert!(is_outside(
        &FileTree::new()
            .directory(&inside)
            .read(&format!("{inside}-secret"))
    ));
}

#[test]
fn patterns_list_no_directory_outside() {
    let (_dir, inside, outside) = dirs();
    let tree = FileTree::new().directory(&inside);
    let glob = |pattern: &str| tree.glob(&inside, pattern);
    assert_eq!(
        glob("*.yml").unwrap(),
        [format!("{inside}/a.yml"), format!("{inside}/b.yml")]
    );
    assert_eq!(glob("*/*.yml").unwrap(), [format!("{inside}/d/c.yml")]);
    assert_eq!(glob("nope/*").unwrap(), [""; 0]);
    for pattern in ["../*", "../out/*", "*/../../*", "/*", "/etc/*"] {
        assert!(is_outside(&glob(pattern)), "{pattern}");
    }
    assert!(is_outside(&glob(&format!("{outside}/*.yml"))));
    // Without a pattern, only whether something is there is found out.
    assert_eq!(
        glob("../out/x.yml").unwrap(),
        [format!("{inside}/../out/x.yml")]
    );
    assert_eq!(glob("../out/y.yml").unwrap(), [""; 0]);
}

#[cfg(unix)]
#[test]
fn links_lead_no_further_than_the_directories() {
    use std::os::unix::fs::symlink;
    let (_dir, inside, outside) = dirs();
    symlink("a.yml", format!("{inside}/l.yml")).unwrap();
    symlink(format!("{outside}/x.yml"), format!("{inside}/lx.yml")).unwrap();
    symlink(&outside, format!("{inside}/lout")).unwrap();
    symlink("loop", format!("{inside}/loop")).unwrap();
    let tree = FileTree::new().directory(&inside);
    assert_eq!(
        text(tree.read(&format!("{inside}/l.yml"))).as_deref(),
        Some("in/a.yml")
    );
    assert_eq!(text(tree.read(&format!("{inside}/loop"))), None);
    for path in ["lx.yml", "lout/x.yml"] {
        assert!(
            is_outside(&tree.read(&format!("{inside}/{path}"))),
            "{path}"
        );
    }
    assert!(is_outside(&tree.glob(&inside, "lout/*.yml")));
    let both = tree.directory(&outside);
    assert_eq!(
        text(both.read(&format!("{inside}/lout/x.yml"))).as_deref(),
        Some("out/x.yml")
    );
    assert_eq!(
        both.glob(&inside, "lout/*.yml").unwrap(),
        [format!("{inside}/lout/x.yml")]
    );
}

#[cfg(unix)]
#[test]
fn opening_a_pipe_does_not_block() {
    let (_dir, inside, _) = dirs();
    let pipe = format!("{inside}/pipe.yml");
    if std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .is_ok_and(|status| status.success())
    {
        assert_eq!(text(FileTree::new().directory(&inside).read(&pipe)), None);
    }
}

#[test]
fn a_huge_file_is_refused_unread() {
    let (_dir, inside, _) = dirs();
    let path = format!("{inside}/huge.yml");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(matches!(
        FileTree::new().directory(&inside).read(&path),
        Err(LoadError::Limit { .. })
    ));
}

#[test]
fn files_that_do_not_change_are_looked_for_once_but_read_only_where_they_may_be() {
    let home = tempfile::tempdir().unwrap();
    let base = home.path().to_str().unwrap();
    let file = format!("{base}/a.yml");
    fs::write(&file, "a: 1").unwrap();
    let kept = KeptFiles::unchanging(1 << 20);
    let tree = FileTree::new().keeping(&kept).directory(home.path());
    assert_eq!(tree.glob(base, "*.yml").unwrap(), [file.as_str()]);
    assert!(matches!(tree.read(&file), Ok(Fetched::Found { .. })));
    fs::write(format!("{base}/b.yml"), "b: 1").unwrap();
    fs::remove_file(&file).unwrap();
    assert_eq!(tree.glob(base, "*.yml").unwrap(), [file.as_str()]);
    assert!(matches!(tree.read(&file), Ok(Fetched::Found { .. })));
    assert!(tree.is_file(&file).unwrap() && tree.read_named(&file).is_ok());
    let elsewhere = tempfile::tempdir().unwrap();
    let other = FileTree::new().keeping(&kept).directory(elsewhere.path());
    assert!(!matches!(other.read(&file), Ok(Fetched::Found { .. })));
    assert!(is_outside(&other.glob(base, "*.yml")));
}

/// The paths that Python's `os.path.isfile` takes for no file: a file on the way, links in a circle or to nothing, a name that is
/// too long, and a directory.
#[cfg(unix)]
#[test]
fn paths_that_cannot_be_files_are_none() {
    let (_dir, inside, _) = dirs();
    for (target, link) in [("loop", "loop"), ("nowhere", "dangling")] {
        std::os::unix::fs::symlink(target, format!("{inside}/{link}")).unwrap();
    }
    let tree = FileTree::new().directory(&inside);
    let long = "x".repeat(300);
    for path in ["a.yml/below", "loop", "dangling", "dangling/x", "d", &long] {
        assert!(
            !tree.is_file(&format!("{inside}/{path}")).unwrap(),
            "{path}"
        );
    }
    assert!(tree.is_file(&format!("{inside}/a.yml")).unwrap());
}
