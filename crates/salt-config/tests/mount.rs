//! Directories that a file server has in place of the disk.

use std::fs;
use std::sync::Arc;

use mapstack_loader::{Fetched, LoadError, MemoryFiles};
use mapstack_salt_config::disk::FileTree;

/// A work tree with a file that was another one before, one that is new, and one that is gone.
fn work_tree() -> (tempfile::TempDir, MemoryFiles) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("stack/new")).unwrap();
    for name in ["stack/core.yml", "stack/new/a.yml", "other.yml"] {
        fs::write(dir.path().join(name), "now").unwrap();
    }
    let before = MemoryFiles::new()
        .file("base", "stack/core.yml", "before")
        .file("base", "stack/.hidden.yml", "before")
        .file("base", "stack/old/a.yml", "before")
        .file("base", "other.yml", "before");
    (dir, before)
}

fn text(fetched: Result<Fetched, LoadError>) -> String {
    match fetched {
        Ok(Fetched::Found { bytes, .. }) => String::from_utf8(bytes.to_vec()).unwrap(),
        Ok(other) => format!("{other:?}"),
        Err(LoadError::Outside { .. }) => "outside".into(),
        Err(e) => e.to_string(),
    }
}

#[test]
fn a_mount_hides_the_disk() {
    let (dir, before) = work_tree();
    let top = dir.path().to_str().unwrap();
    let stack = format!("{top}/stack");
    let tree = FileTree::new().directory(&stack);
    let mounted = tree.clone().mount(top, Arc::new(before));
    for (path, now, then) in [
        ("stack/core.yml", "now", "before"),
        ("stack/../stack/./core.yml", "now", "before"),
        ("stack/new/a.yml", "now", "Missing"),
        ("stack/old/a.yml", "Missing", "before"),
        ("stack", "Missing", "Missing"),
        ("other.yml", "outside", "outside"),
        ("stack/../other.yml", "outside", "outside"),
    ] {
        let path = format!("{top}/{path}");
        assert_eq!(text(tree.read(&path)), now, "{path}");
        assert_eq!(text(mounted.read(&path)), then, "{path}");
    }
    for (pattern, now, then) in [
        ("*", vec!["core.yml", "new"], vec!["core.yml", "old"]),
        (".*", vec![], vec![".hidden.yml"]),
        ("*/a.yml", vec!["new/a.yml"], vec!["old/a.yml"]),
        ("old/", vec![], vec!["old/"]),
        ("new/a.yml", vec!["new/a.yml"], vec![]),
        ("core.yml/", vec![], vec![]),
        ("../*.yml", vec!["outside"], vec!["outside"]),
    ] {
        let glob = |tree: &FileTree| match tree.glob(&stack, pattern) {
            Ok(paths) => paths
                .iter()
                .map(|path| path.replace(&format!("{stack}/"), ""))
                .collect(),
            Err(LoadError::Outside { .. }) => vec!["outside".to_owned()],
            Err(e) => vec![e.to_string()],
        };
        assert_eq!(glob(&tree), now, "{pattern}");
        assert_eq!(glob(&mounted), then, "{pattern}");
    }
}

#[test]
fn files_that_the_user_named_come_from_the_mount() {
    let (dir, before) = work_tree();
    let top = dir.path().to_str().unwrap();
    let tree = FileTree::new().mount(top, Arc::new(before));
    for (path, there) in [("stack/old/a.yml", true), ("stack/new/a.yml", false)] {
        let path = format!("{top}/{path}");
        assert_eq!(tree.is_file(&path).unwrap(), there, "{path}");
    }
    let named = tree.read_named(&format!("{top}/other.yml"));
    assert_eq!(text(named), "before");
}

#[cfg(unix)]
#[test]
fn links_above_a_mount_lead_to_it() {
    let (dir, before) = work_tree();
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("repository");
    std::os::unix::fs::symlink(dir.path(), &link).unwrap();
    let tree = FileTree::new()
        .directory(link.join("stack"))
        .mount(dir.path(), Arc::new(before));
    let path = link.join("stack/old/a.yml");
    assert_eq!(text(tree.read(path.to_str().unwrap())), "before");
}
