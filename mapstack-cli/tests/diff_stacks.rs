//! `mapstack diff` of pillars with stacked files: what an edit of a layer does to every minion.

use crate::common;
use crate::common::{Tree, assert_line};

const MASTER: &str = "pillar_roots: {base: [pillar]}\next_pillar: [{stack: stack/stack.cfg}]\n";

/// Two states of a stack, in which one layer changes, one goes, and no minion has another.
fn files(prefixes: [&str; 2]) -> Vec<(String, String)> {
    let [old, new] = prefixes;
    let config = "core.yml\nroles/*.yml\n{{ __grains__.os_family }}.yml\n";
    let of = |prefix: &str, core: &str, debian: &str| {
        [
            ("pillar/top.sls", "base: {'*': [a]}\n"),
            ("pillar/a.sls", "a: 1\n"),
            ("stack/stack.cfg", config),
            ("stack/core.yml", core),
            ("stack/Debian.yml", debian),
            ("stack/Suse.yml", core),
        ]
        .map(|(path, text)| (format!("{prefix}{path}"), text.to_owned()))
    };
    let mut files = of(old, "core: 1\n", "deb: 1\n").to_vec();
    files.push((
        format!("{old}stack/roles/web.yml"),
        "web: {{ minion_id }}\n".into(),
    ));
    files.extend(of(new, "core: 2\n", "deb: {a: 1}\n"));
    files
}

const CHANGES: [&str; 5] = [
    "stack/core.yml:1:7\n  on 2 minions: debian-12, fedora-40\n",
    "pillar: deb\n",
    "stack/roles/web.yml:1:6 (computed)\n",
    "changed outside of the roots, and not compared: 1 file (stack/Suse.yml)",
    "2 minions",
];

#[test]
fn an_edit_of_a_layer_is_a_change_of_the_pillar() {
    let mut files = files(["old/", "new/"]);
    files.push(("master".into(), MASTER.into()));
    let named: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (&**path, &**text))
        .collect();
    let tree = Tree::new(&named);
    let line = "diff --config master --from old --to new --platform debian-12 --platform fedora-40";
    for change in CHANGES {
        assert_line(tree.path(), line, 1, change, "");
    }
    let core = "pillar: core\n  - 1  old/stack/core.yml:1:7\n  + 2  new/stack/core.yml:1:7\n";
    assert_line(tree.path(), line, 1, core, "");
    // A path that no minion has is not compared.
    for path in ["stack/core.yml", "stack/Debian.yml"] {
        let new = std::fs::read(tree.path().join("new").join(path)).unwrap();
        tree.write(&format!("old/{path}"), &new);
    }
    std::fs::remove_file(tree.path().join("old/stack/roles/web.yml")).unwrap();
    assert_line(
        tree.path(),
        line,
        2,
        "1 file (stack/Suse.yml)",
        "nothing that changed was compared",
    );
}

#[test]
#[cfg(feature = "git")]
fn revisions_have_their_own_layers() {
    let files = files(["", "new/"]);
    let (new, old): (Vec<_>, Vec<_>) = files.iter().partition(|(path, _)| path.starts_with("new/"));
    let mut named: Vec<(&str, &str)> = old.iter().map(|(path, text)| (&**path, &**text)).collect();
    named.push(("master", MASTER));
    let tree = Tree::new(&named);
    common::git(
        tree.path(),
        &["init", "--quiet", "--initial-branch=main", "."],
    );
    common::git(tree.path(), &["add", "."]);
    common::git(tree.path(), &["commit", "--quiet", "--message=one"]);
    for (path, text) in new {
        tree.write(&path["new/".len()..], text.as_bytes());
    }
    std::fs::remove_file(tree.path().join("stack/roles/web.yml")).unwrap();
    let line = "diff --config master --platform debian-12 --platform fedora-40";
    for change in CHANGES {
        assert_line(tree.path(), line, 1, change, "");
    }
    common::git(
        tree.path(),
        &["commit", "--quiet", "--all", "--message=two"],
    );
    assert_line(tree.path(), line, 0, "no file's content differs", "");
    for change in CHANGES {
        let line = format!("{line} --from HEAD~1 --to HEAD");
        assert_line(tree.path(), &line, 1, change, "");
    }
    // The place in a revision is one that `git show` takes.
    let line_of_one = format!("{line} --from HEAD~1");
    for place in [
        "  - 1  HEAD~1@",
        ":stack/core.yml:1:7\n  + 2  stack/core.yml:1:7\n",
    ] {
        assert_line(tree.path(), &line_of_one, 1, place, "");
    }
    // A layer that git does not have yet.
    tree.write("stack/roles/new.yml", b"fresh: 1\n");
    assert_line(tree.path(), line, 1, "pillar: fresh\n", "");
}
