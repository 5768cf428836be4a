//! `mapstack diff` of pillars: what an edit of a top file or an sls does to every minion.

use crate::common;
use crate::common::{Tree, assert_line, assert_snapshot, run_line};

const MASTER: &str =
    "pillar_roots: {base: [pillar], dev: [dev]}\nfile_roots: {base: [salt]}\ncachedir: nowhere\n";

/// Two states of a pillar, a formula that reads it, and minions.
fn tree() -> Tree {
    let top = |more: &str| {
        format!(
            "base:\n  '*':\n    - common\n  'os_family:Debian':\n    - match: grain\n    - debian\n{more}"
        )
    };
    let shell = "values:\n  shell: {{ pillar.get('shell', '/bin/sh') }}\n  port: 22\n";
    Tree::new(&[
        ("master", MASTER),
        ("old/pillar/top.sls", &top("")),
        ("new/pillar/top.sls", &top("  'db*':\n    - db\n")),
        (
            "old/pillar/common.sls",
            "include: [users]\nntp: [a, b]\ndb: {password: one-secret, host: db1}\n",
        ),
        (
            "new/pillar/common.sls",
            "include: [users]\nntp: [b, c]\ndb: {password: two-secret, host: db1}\n",
        ),
        ("old/pillar/users/init.sls", "users: {tom: {shell: sh}}\n"),
        (
            "new/pillar/users/init.sls",
            "{% from 'users/map.jinja' import shell %}\nusers: {tom: {shell: {{ shell }}}}\nshell: {{ shell }}\n",
        ),
        (
            "new/pillar/users/map.jinja",
            "{% set shell = '/bin/bash' %}\n",
        ),
        ("old/pillar/debian.sls", "pkg: apt\n"),
        ("new/pillar/debian.sls", "pkg: {{ nope.nope }}\n"),
        ("new/pillar/db.sls", "role: <b>db</b>\n"),
        ("old/pillar/unused.sls", "a: 1\n"),
        ("new/pillar/unused.sls", "a: 2\n"),
        ("old/dev/top.sls", "dev: {'*': [dev]}\n"),
        ("old/dev/dev.sls", "dev: true\n"),
        ("old/salt/ssh/parameters/defaults.yaml", shell),
        ("new/salt/ssh/parameters/defaults.yaml", shell),
        (
            "minions/web1.yaml",
            "id: web1\ngrains: {os: Debian, os_family: Debian}\n",
        ),
        (
            "minions/db1.yaml",
            "id: db1\ngrains: {os: Rocky, os_family: RedHat}\n",
        ),
        (
            "minions/db2.yaml",
            "id: db2\ngrains: {os: Rocky, os_family: RedHat}\n",
        ),
    ])
}

const DIRECTORIES: &str =
    "diff --config master --from old --to new --minions minions --digest-salt x";

#[test]
fn a_platform_with_an_id_has_that_name() {
    let tree = tree();
    let line = "diff --config master --from old --to new --platform rockylinux-9 --id db7";
    assert_line(tree.path(), line, 1, "on 1 minion: db7\n", "");
}

#[test]
fn an_edit_of_a_pillar_is_shown_like_one_of_a_formula() {
    let tree = tree();
    for (name, format) in [
        ("text.txt", "text"),
        ("changes.json", "json"),
        ("comment.md", "markdown"),
    ] {
        let ran = run_line(tree.path(), &format!("{DIRECTORIES} -o {format}"));
        assert_eq!((ran.status, ran.said()), (Some(1), ""), "{format}");
        assert_snapshot(&format!("diff_pillars/{name}"), &ran.stdout);
        assert!(!ran.stdout.contains("-secret"), "{}", ran.stdout);
    }
    let shown = run_line(tree.path(), &format!("{DIRECTORIES} --show-secrets"));
    assert!(shown.stdout.contains("two-secret"), "{}", shown.stdout);
    let masked = run_line(tree.path(), &format!("{DIRECTORIES} --mask pillar"));
    for value in ["two-secret", "bash", "- c"] {
        assert!(!masked.stdout.contains(value), "{value}: {}", masked.stdout);
    }
}

#[test]
#[cfg(feature = "html")]
fn a_page_has_the_pillar_and_no_markup_of_values() {
    let ran = run_line(tree().path(), &format!("{DIRECTORIES} -o html"));
    assert_eq!((ran.status, ran.said()), (Some(1), ""));
    let body = ran.stdout.split_once("<body>").expect("a body").1;
    assert!(
        body.contains("&lt;b&gt;db") && !body.contains("<b>"),
        "{body}"
    );
    assert!(!body.contains("-secret"), "{body}");
}

#[test]
fn formulas_see_the_pillar_of_each_state() {
    let tree = tree();
    // web1 has no pillar after the change, so it has no configuration either.
    let ran = run_line(tree.path(), &DIRECTORIES.replace("diff", "diff ssh"));
    assert_eq!((ran.status, &*ran.stderr), (Some(1), ""));
    assert_snapshot("diff_pillars/formula.txt", &ran.stdout);
}

#[test]
fn conditions_and_flags_count_in_both_states() {
    let tree = tree();
    for (flags, status, out, err) in [
        // A condition that is true in one of the states.
        ("--select pillar.get('role')", 1, "pillar: role", ""),
        ("--select pillar.get('role')", 1, "of 2 minions", ""),
        (
            "--select pillar.get('nothing')",
            2,
            "",
            "--select is true for none",
        ),
        (
            "--select grains.os=='Debian'",
            1,
            "1 minion gets no states: its pillar has a new error",
            "",
        ),
        // A pillar that is given is that of both states.
        (
            "--pillar given.yaml",
            2,
            "changed outside of the roots, and not compared: 9 files",
            "nothing that changed was compared",
        ),
        ("--set pillar.users.tom.shell=zsh", 1, "ntp", ""),
        (
            "--ignore ntp --ignore db --ignore dev --ignore role --ignore users --ignore shell --ignore pkg --select grains.os=='Rocky'",
            0,
            "no change on 2 minions",
            "",
        ),
    ] {
        tree.write("given.yaml", b"shell: given\n");
        let line = format!("{DIRECTORIES} {flags}");
        assert_line(tree.path(), &line, status, out, err);
    }
    let line = format!("{DIRECTORIES} --set pillar.users.tom.shell=zsh");
    let ran = run_line(tree.path(), &line);
    assert!(!ran.stdout.contains("users:tom"), "{}", ran.stdout);
}

#[test]
fn what_is_wrong_on_one_side_is_a_change() {
    let pillar = |top: &str, a: &str| {
        Tree::new(&[
            ("master", "pillar_roots: {base: [pillar]}\n"),
            ("old/pillar/top.sls", "base: {'*': [a]}\n"),
            ("old/pillar/a.sls", "a: 1\nb: 2\n"),
            ("new/pillar/top.sls", top),
            ("new/pillar/a.sls", a),
        ])
    };
    let good = "base: {'*': [a]}\n";
    for (top, a, status, expected) in [
        (good, "a: 1\r\nb: 2\r\n", 0, "no change"),
        (good, "b: 2\na: 1\n", 0, "no change"),
        (good, "a: '1'\nb: 2\n", 1, "+ '1'"),
        (good, "# nothing\n", 1, "pillar: a"),
        (good, "grün: 'ß'\na: 1\nb: 2\n", 1, "pillar: grün"),
        (good, "- a\n", 1, "renders to a list, not a mapping"),
        (good, "a: [\n", 1, "a new error"),
        (
            good,
            "include: nowhere\n",
            1,
            "must be a list, not a string",
        ),
        (
            good,
            "include: [nowhere]\na: 1\nb: 2\n",
            1,
            "no sls 'nowhere'",
        ),
        ("- a\n", "a: 1\n", 1, "renders to a list, not a mapping"),
        ("base: [a]\n", "a: 1\n", 1, "must be a mapping, not a list"),
        ("base: {'*': a}\n", "a: 1\n", 1, "pillar: b"),
        ("base: {'G@os:': [a]}\n", "a: 1\n", 1, "pillar: a"),
        ("base: {'db*': [a]}\n", "a: 1\nb: 2\n", 1, "pillar: a"),
        ("{{ nope.nope }}\n", "a: 1\nb: 2\n", 1, "a new error"),
        ("base: {'*': [b]}\n", "a: 1\nb: 2\n", 1, "no sls 'b'"),
        ("", "a: 1\nb: 2\n", 1, "pillar: a"),
    ] {
        let tree = pillar(top, a);
        let line = |from, to| format!("diff --config master --from {from} --to {to} --id web1");
        let line = |from, to| format!("{} --set grains.os=Debian", line(from, to));
        assert_line(tree.path(), &line("old", "new"), status, expected, "");
        // The other way round, what failed works again.
        let back = run_line(tree.path(), &line("new", "old"));
        assert_eq!(back.status, Some(status), "{top}{a}: {}", back.stderr);
        let there = run_line(tree.path(), &line("old", "new")).stdout;
        assert_eq!(
            there.contains("fails now"),
            back.stdout.contains("works again"),
            "{there}{}",
            back.stdout
        );
        // Of what fails alike, nothing was compared.
        let still = run_line(tree.path(), &line("new", "new"));
        assert_eq!(still.status, Some(0), "{}", still.stderr);
    }
}

/// Two states of a pillar that gives twelve minions each its own, some of which fail.
fn each_its_own() -> Tree {
    let top = "base:\n  '*': [common]\n  'lb*': [haproxy]\n  'db*': [db, nowhere]\n";
    let tree = Tree::new(&[
        ("master", "pillar_roots: {base: [pillar]}\n"),
        ("old/pillar/top.sls", top),
        ("new/pillar/top.sls", top),
        (
            "old/pillar/common.sls",
            "motd: welcome to {{ grains.id }}\nlisten: {{ grains.ip }}:80\ncpus: {{ grains.id | length }}\n",
        ),
        (
            "new/pillar/common.sls",
            "motd: hello, {{ grains.id }}\nlisten: {{ grains.ip }}:8080\ncpus: {{ grains.id | length + 1 }}\n",
        ),
        (
            "old/pillar/haproxy.sls",
            "include: [certs]\nhaproxy:\n  a: 1\n  b: 2\n",
        ),
        (
            "new/pillar/haproxy.sls",
            "include: [certs]\nhaproxy:\n  a: 1\n  b: {{ grains.num_cpuz + 1 }}\n",
        ),
        ("old/pillar/certs.sls", "certs: [a]\n"),
        ("new/pillar/certs.sls", "certs: [a]\n"),
        ("old/pillar/db.sls", "db: {{ nope.nope }}\n"),
        ("new/pillar/db.sls", "db: 1\n"),
    ]);
    for (n, id) in ["web1", "web2", "web3", "lb1", "lb2", "db1", "db2", "db-003"]
        .iter()
        .enumerate()
    {
        let facts = format!("id: {id}\ngrains: {{ip: 10.0.0.{n}, num_cpus: 2}}\n");
        tree.write(&format!("minions/{id}.yaml"), facts.as_bytes());
    }
    tree
}

#[test]
fn errors_of_both_states_come_first_with_what_is_missing_because_of_them() {
    let tree = each_its_own();
    let line = "diff --config master --from old --to new --minions minions";
    for (name, format) in [
        ("own.txt", "text"),
        ("own.md", "markdown"),
        ("own.json", "json"),
    ] {
        let ran = run_line(tree.path(), &format!("{line} -o {format}"));
        assert_eq!((ran.status, &*ran.stderr), (Some(1), ""), "{format}");
        assert_snapshot(&format!("diff_pillars/{name}"), &ran.stdout);
    }
    let each = run_line(tree.path(), &format!("{line} --each"));
    for expected in [
        "- welcome to db2  old/pillar/common.sls:1:7\n  + hello, db2  new/pillar/common.sls:1:7\n  on 1 minion: db2",
        "pillar: haproxy\n",
    ] {
        assert!(each.stdout.contains(expected), "{}", each.stdout);
    }
}

#[test]
fn an_error_of_another_file_is_another() {
    let tree = Tree::new(&[
        ("master", "pillar_roots: {base: [pillar]}\n"),
        ("old/pillar/top.sls", "base: {'*': [a, b]}\n"),
        ("old/pillar/a.sls", "a: {{ nope.nope }}\n"),
        ("old/pillar/b.sls", "b: 1\n"),
        ("new/pillar/top.sls", "base: {'*': [a, b]}\n"),
        ("new/pillar/a.sls", "a: 1\n"),
        ("new/pillar/b.sls", "b: {{ nope.nope }}\n"),
    ]);
    let line = "diff --config master --from old --to new --platform debian-12";
    let title = "1 minion still gets no states: its pillar has a new error, and one error less\n  + new/pillar/b.sls:1:7";
    assert_line(tree.path(), line, 1, title, "");
    assert_line(tree.path(), line, 1, "\n  - old/pillar/a.sls:1:7", "");
}

#[test]
fn files_that_fail_alike_are_not_compared() {
    let tree = Tree::new(&[
        ("master", "pillar_roots: {base: [pillar]}\n"),
        ("old/pillar/top.sls", "base: {'*': [a, b]}\n"),
        ("old/pillar/a.sls", "a: {{ nope.nope }}\n"),
        ("old/pillar/b.sls", "b: 1\n"),
        ("new/pillar/top.sls", "base: {'*': [a, b]}\n"),
        ("new/pillar/a.sls", "a: {{ nope.nope }} # changed\n"),
        ("new/pillar/b.sls", "b: 1\n"),
    ]);
    let line = "diff --config master --from old --to new --platform debian-12";
    let unread = "changed, and in the pillar of no minion: 1 pillar file (a.sls)";
    assert_line(
        tree.path(),
        line,
        2,
        unread,
        "nothing that changed was compared",
    );
    tree.write("new/pillar/b.sls", b"b: 2\n");
    assert_line(tree.path(), line, 1, "1 fails in both states", "");
    let why = "pillar fails in both states\n  new/pillar/a.sls:1:7: ";
    assert_line(tree.path(), line, 1, why, "");
    assert_line(tree.path(), line, 1, unread, "");
    let strict = format!("{line} --strict");
    assert_line(
        tree.path(),
        &strict,
        2,
        "",
        "not all that changed was compared",
    );
}

#[test]
fn directories_have_the_roots_of_a_configuration_where_those_have_theirs() {
    let tree = tree();
    let top = tree.path().display().to_string();
    let lines = |text: &str| {
        let ran = run_line(tree.path(), DIRECTORIES);
        tree.write("master", text.as_bytes());
        let absolute = run_line(tree.path(), DIRECTORIES);
        [ran, absolute].map(|ran| (ran.stdout, ran.status))
    };
    let absolute = MASTER
        .replace("[pillar]", &format!("[{top}/pillar]"))
        .replace("[salt]", &format!("[{top}/salt]"));
    let [relative, absolute] = lines(&absolute);
    assert!(relative.0.contains("pillar: "), "{}", relative.0);
    assert_eq!(relative, absolute);
}

#[test]
fn roots_that_no_state_has_are_named() {
    let tree = tree();
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = format!("[{}/pillar]", elsewhere.path().display());
    let master = MASTER.replace("[pillar]", &outside);
    let only = master.replace("file_roots: {base: [salt]}", "");
    tree.write("master", only.as_bytes());
    assert_line(tree.path(), DIRECTORIES, 2, "", "has none of the roots");
    tree.write("master", b"pillar_roots: {}\n");
    assert_line(tree.path(), DIRECTORIES, 2, "", "names no directory");
}

#[test]
#[cfg(feature = "git")]
fn a_checkout_needs_no_flags() {
    let tree = Tree::new(&[
        (".mapstack.yaml", "pillar_roots: {base: pillar, dev: dev}\n"),
        ("pillar/top.sls", "base: {'*': [a]}\n"),
        ("pillar/a.sls", "a: 1\n"),
        ("dev/top.sls", "dev: {'*': [d]}\n"),
        ("dev/d.sls", "d: 1\n"),
        ("README", "not the pillar's\n"),
    ]);
    let git = |line: &str| common::git(tree.path(), &line.split(' ').collect::<Vec<_>>());
    git("init --quiet --initial-branch=main .");
    git("add .");
    git("commit --quiet --message=one");
    let lines = |line: &str, status: i32| {
        let ran = run_line(tree.path(), &format!("{line} --platform debian-12"));
        assert_eq!(ran.status, Some(status), "{}{}", ran.stdout, ran.stderr);
        ran.stdout
    };
    let same = lines("diff", 0);
    assert!(
        same.ends_with("compared: pillars\nno file's content differs\n"),
        "{same}"
    );
    tree.write("pillar/a.sls", b"a: 2\n");
    tree.write("dev/d.sls", b"d: 2\n");
    let changed = lines("diff", 1);
    assert!(
        changed.contains("\n\npillar: a\n") && changed.contains("pillar: d\n"),
        "{changed}"
    );
    assert!(changed.ends_with("compared: pillars\n"), "{changed}");
    git("commit --quiet --all --message=two");
    assert_eq!(
        lines("diff --from HEAD~1 --to HEAD", 1).lines().count(),
        changed.lines().count()
    );
    tree.write("README", b"changed\n");
    let other = lines("diff", 0);
    assert!(other.contains("not used by Salt: README\n"), "{other}");
    assert_eq!(
        lines("render salt://README", 0),
        "changed\n",
        "other verbs work as before"
    );
}
