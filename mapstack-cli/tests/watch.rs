//! `mapstack watch`: what changes do, as they happen.

use crate::common::{Going, Tree};

#[test]
fn changes_are_reported_until_the_end() {
    let tree = Tree::new(&[
        ("r/ssh/parameters/defaults.yaml", "values: {port: 22}\n"),
        ("r/.git/index", "1"),
        ("m.yaml", "id: web1\ngrains: {os: Debian}\n"),
    ]);
    let mut watch = Going::start(tree.path(), "watch --root r --minion m.yaml");
    watch.until("watching r for 1 minion;");
    // Git's own files do not count.
    tree.replace("r/.git/index", b"2");
    std::thread::sleep(std::time::Duration::from_secs(1));
    // A file that is half written hides what changed until it is whole.
    tree.replace("r/ssh/parameters/defaults.yaml", b"values: {port: ");
    watch.until("ssh fails now");
    let reports = |line: &&String| line.starts_with('#') || line.contains("no change");
    let count = watch.seen.iter().filter(reports).count();
    assert_eq!(count, 1, "{:#?}", watch.seen);
    tree.replace("r/ssh/parameters/defaults.yaml", b"values: {port: 2222}\n");
    watch.until("ssh works again");
    watch.until("- 22  r/ssh/parameters/defaults.yaml:1:16");
    watch.until("+ 2222  r/ssh/parameters/defaults.yaml:1:16");
    tree.replace(
        "r/ssh/parameters/os/Debian.yaml",
        b"values: {shell: {{ nope }}}\n",
    );
    watch.until("ssh fails now");
    tree.replace(
        "r/ssh/parameters/os/Debian.yaml",
        b"values: {shell: /bin/sh}\n",
    );
    watch.until("ssh works again");
}

#[test]
fn only_changes_of_a_key_are_reported() {
    let tree = Tree::new(&[
        (
            "r/ssh/parameters/defaults.yaml",
            "values: {port: 22, shell: sh}\n",
        ),
        ("m.yaml", "id: web1\n"),
    ]);
    let mut watch = Going::start(tree.path(), "watch --root r --minion m.yaml --get port");
    watch.until("watching r for 1 minion;");
    tree.replace(
        "r/ssh/parameters/defaults.yaml",
        b"values: {port: 22, shell: bash}\n",
    );
    watch.until("no change");
    tree.replace(
        "r/ssh/parameters/defaults.yaml",
        b"values: {port: 2222, shell: zsh}\n",
    );
    watch.until("+ 2222  r/ssh/parameters/defaults.yaml:1:16");
    assert!(
        !watch.seen.iter().any(|line| line.contains("bash")),
        "{:#?}",
        watch.seen
    );
}

/// A pillar, a formula that reads it, and a minion.
fn with_pillar() -> Tree {
    Tree::new(&[
        (
            "master",
            "pillar_roots: {base: [pillar]}\nfile_roots: {base: [salt]}\ncachedir: nowhere\n\
             ext_pillar: [stack: stack/stack.cfg]\n",
        ),
        ("stack/stack.cfg", "*.yml\n"),
        ("stack/core.yml", "relay: mx1\n"),
        ("pillar/top.sls", "base: {'*': [web]}\n"),
        ("pillar/web.sls", "web: {port: 80, password: one-secret}\n"),
        (
            "salt/web/parameters/defaults.yaml",
            "values: {port: {{ pillar.get('web', {}).get('port') }}}\n",
        ),
        ("m.yaml", "id: web1\n"),
    ])
}

#[test]
fn pillars_are_watched_as_diff_compares_them() {
    let tree = with_pillar();
    let mut watch = Going::start(tree.path(), "watch --config master --minion m.yaml");
    watch.until("watching salt, pillar, stack for 1 minion;");
    tree.replace(
        "pillar/web.sls",
        b"web: {port: 8080, password: two-secret}\n",
    );
    for line in [
        "# web.sls",
        "pillar: web:port",
        "+ 8080  pillar/web.sls:1:13",
        "web: port",
        "compared: pillars; parameters of web",
    ] {
        watch.until(line);
    }
    tree.replace("pillar/web.sls", b"web: {port: {{ nope.nope }}}\n");
    watch.until("1 minion gets no states: its pillar has a new error");
    tree.replace(
        "pillar/web.sls",
        b"web: {port: 8081, password: two-secret}\n",
    );
    // The formula is compared with what it had when there was a whole pillar.
    for line in [
        "1 minion gets states again: its pillar has no error",
        "web: port",
        "- 8080",
        "+ 8081",
    ] {
        watch.until(line);
    }
    tree.replace("stack/core.yml", b"relay: mx2\n");
    for line in [
        "# files outside the roots, such as those of stacks",
        "pillar: relay",
        "+ mx2",
    ] {
        watch.until(line);
    }
    assert!(
        !watch.seen.iter().any(|line| line.contains("-secret")),
        "{:#?}",
        watch.seen
    );
}

#[test]
fn changes_are_lines_for_programs() {
    let tree = with_pillar();
    let line = "watch --config master --minion m.yaml --jobs 2 -o jsonl";
    let mut watch = Going::start(tree.path(), line);
    watch.until("watching salt, pillar, stack for 1 minion;");
    tree.replace("pillar/web.sls", b"web: {port: 81, password: one-secret}\n");
    watch.until("{\"files\": [\"web.sls\"]");
    let line = watch.seen.last().unwrap();
    for part in [
        r#""key": "web:port""#,
        r#""new": 81"#,
        r#""pillars": true"#,
        r#""count": 1"#,
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
}

#[test]
fn states_and_files_are_watched_unless_other_parts_are_named() {
    let tree = Tree::new(&[
        ("r/top.sls", "base: {'*': [motd]}\n"),
        (
            "r/motd.sls",
            "/etc/motd: {file.managed: [{source: 'salt://motd.txt'}]}\n",
        ),
        ("r/motd.txt", "hello\n"),
        ("r/ssh/parameters/defaults.yaml", "values: {port: 22}\n"),
        ("m.yaml", "id: web1\ngrains: {os: Debian}\n"),
    ]);
    let line = "watch --root r --minion m.yaml";
    let mut all = Going::start(tree.path(), line);
    let mut maps = Going::start(tree.path(), &format!("{line} --only maps"));
    all.until("watching r for 1 minion;");
    maps.until("watching r for 1 minion;");
    tree.replace("r/motd.txt", b"good day\n");
    all.until("+ good day  <- r/motd.txt:1:1");
    all.until("compared: states and files of top files; parameters of ssh");
    maps.until("changed, and not compared: 1 other file (motd.txt)");
}
