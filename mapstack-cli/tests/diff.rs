//! `mapstack diff`: what a change does to every minion.

#[cfg(feature = "git")]
use crate::common::git;
use crate::common::{Tree, assert_line, assert_snapshot, run, run_line};

/// Two states of the files, and minions.
fn tree() -> Tree {
    Tree::new(&[
        (
            "old/ssh/parameters/defaults.yaml",
            "values:\n  port: 22\n  admins: [root]\n  api_token: one-secret\n",
        ),
        (
            "old/ssh/parameters/os_family/Debian.yaml",
            "values:\n  shell: /bin/sh\n",
        ),
        (
            "old/ssh/parameters/os/Arch.yaml",
            "values: {a: {{ nope }}}\n",
        ),
        ("old/web/parameters/defaults.yaml", "values: {same: 1}\n"),
        (
            "new/ssh/parameters/defaults.yaml",
            "values:\n  port: 22\n  admins: [root, tom]\n  api_token: two-secret\n",
        ),
        (
            "new/ssh/parameters/os_family/Debian.yaml",
            "values:\n  shell: {{ '/bin/' ~ 'bash' }}\n  extra: {a: <b>}\n",
        ),
        (
            "new/ssh/parameters/os/Rocky.yaml",
            "values: {a: {{ nope }}}\n",
        ),
        ("new/web/parameters/defaults.yaml", "values: {same: 1}\n"),
        (
            "minions/web1.yaml",
            "id: web1\ngrains: {os: Debian, os_family: Debian}\npillar: {ssh: {key: of-the-pillar}}\n",
        ),
        (
            "minions/web2.yaml",
            "id: web2\ngrains: {os: Debian, os_family: Debian}\npillar: {ssh: {key: of-the-pillar}}\n",
        ),
        (
            "minions/db1.yaml",
            "id: db1\ngrains: {os: Rocky, os_family: RedHat}\n",
        ),
        (
            "minions/lab1.yaml",
            "id: lab1\ngrains: {os: Arch, os_family: Arch}\n",
        ),
    ])
}

const DIRECTORIES: &str = "diff --from old --to new --minions minions --digest-salt x";

#[test]
fn changes_are_folded_and_have_their_origins() {
    let tree = tree();
    for (name, format) in [
        ("text.txt", "text"),
        ("changes.json", "json"),
        ("comment.md", "markdown"),
    ] {
        let ran = run_line(tree.path(), &format!("{DIRECTORIES} -o {format}"));
        assert_eq!((ran.status, ran.said()), (Some(1), ""), "{format}");
        assert_snapshot(&format!("diff/{name}"), &ran.stdout);
        assert!(
            !ran.stdout.contains("-secret"),
            "{format} prints a secret:\n{}",
            ran.stdout
        );
    }
    let ran = run_line(tree.path(), &format!("{DIRECTORIES} --color always"));
    assert_snapshot("diff/colored.txt", &ran.stdout);
    let shown = run_line(tree.path(), &format!("{DIRECTORIES} --show-secrets"));
    assert!(shown.stdout.contains("+ two-secret"), "{}", shown.stdout);
}

#[test]
#[cfg(feature = "html")]
fn a_page_has_every_change_and_no_markup_of_values() {
    let ran = run_line(tree().path(), &format!("{DIRECTORIES} -o html"));
    assert_eq!((ran.status, ran.said()), (Some(1), ""));
    let body = ran.stdout.split_once("<body>").expect("a body").1;
    assert!(
        !body.contains("<b>") && body.contains("&lt;b&gt;"),
        "{body}"
    );
    assert_snapshot("diff/page.html", body);
}

#[test]
fn what_is_nothing_of_salts_does_not_matter() {
    let tree = Tree::new(&[
        ("old/ssh/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("new/ssh/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("old/README.md", "one\n"),
        ("new/README.md", "two\n"),
        ("new/.github/ci.yml", "on: push\n"),
        ("new/tests/mapstack/ssh/debian.yaml", "values: {}\n"),
    ]);
    let line = "diff --from old --to new --platform debian-12 --strict";
    let expected = "no change on 1 minion\ncompared: parameters of ssh\nchanged, but not used by Salt: \
                    .github/ci.yml, README.md, tests/mapstack/ssh/debian.yaml\n";
    assert_line(tree.path(), line, 0, expected, "");
    tree.write(
        "new/ssh/init.sls",
        b"/a: {file.managed: [{source: salt://README.md}]}\n",
    );
    let expected = "1 change on 1 of 1 minion; 0 unaffected\n\n\
                    file /a is new  (ssh/init.sls:1, salt://README.md)\n  + two\n  on 1 minion: debian-12\n\n\
                    compared: states and files of each sls; parameters of ssh\n\
                    changed, but not used by Salt: .github/ci.yml, tests/mapstack/ssh/debian.yaml\n";
    assert_line(tree.path(), line, 1, expected, "");
}

#[test]
fn minions_that_cannot_be_compared_are_counted_and_named() {
    let tree = Tree::new(&[
        ("old/ssh/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("new/ssh/parameters/defaults.yaml", "values: {a: 2}\n"),
        ("minions/web1.yaml", "id: web1\ngrains: {os: Debian}\n"),
        ("minions/web2.yaml", "grains: [\n"),
        ("minions/web3.yaml", "- a\n"),
        ("minions/web4.yaml", "id: web4\ngrains: 1\n"),
    ]);
    let line = "diff --from old --to new --minions minions";
    let summary = "1 change on 1 of 4 minions; 0 unaffected; 3 not compared";
    for format in ["text", "markdown", "html"] {
        let ran = run_line(tree.path(), &format!("{line} -o {format}"));
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        assert!(ran.stdout.contains(summary), "{}", ran.stdout);
        for id in ["web2", "web3", "web4"] {
            assert!(
                ran.stderr.contains(&format!("minions/{id}.yaml")),
                "{}",
                ran.stderr
            );
            let is_named = format == "text" || ran.stdout.contains(&format!("{id}.yaml"));
            assert!(is_named, "{}", ran.stdout);
        }
    }
    let ran = run_line(tree.path(), &format!("{line} -o json"));
    for expected in [
        "\"minions\": 4",
        "\"minions_not_compared\": 3",
        "\"affected\": 1",
    ] {
        assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each command line")]
fn the_exit_status_is_that_of_diff() {
    let tree = tree();
    tree.write("minions/broken.yaml", b"grains: [");
    for (line, status, out, err) in [
        (
            "diff --from old --to old --minion minions/web1.yaml",
            0,
            "no change on 1 minion",
            "",
        ),
        (
            "diff --from old --to new --minion minions/web1.yaml --ignore admins --ignore api_token --ignore shell --ignore extra:*",
            1,
            "extra",
            "",
        ),
        (
            "diff --from old --to new --minion minions/web1.yaml --ignore admins --ignore api_token --ignore shell --ignore extra",
            0,
            "no change",
            "",
        ),
        (
            "diff --from old --to new --minion minions/web1.yaml --get extra:a",
            1,
            "extra:a",
            "",
        ),
        (
            "diff --from old --to new --minion minions/web1.yaml --get port --get same",
            0,
            "no change",
            "",
        ),
        (
            "diff --from old --to new --minion minions/web1.yaml --get port --get prot",
            2,
            "",
            "did you mean 'port'?",
        ),
        (
            "diff web --from old --to new --minion minions/web1.yaml",
            0,
            "no change",
            "",
        ),
        (
            "diff --from old --to new --minions minions --select grains.os=='Debian'",
            2,
            "",
            "broken",
        ),
        (
            "diff --from old --to nowhere --minion minions/web1.yaml",
            2,
            "",
            "nothing was compared",
        ),
        (
            "diff --from minions --to minions --minion minions/web1.yaml",
            2,
            "",
            "no formula",
        ),
        (
            "diff --from old --to new --minion nope.yaml",
            2,
            "",
            "nope.yaml",
        ),
    ] {
        assert_line(tree.path(), line, status, out, err);
    }
}

#[test]
fn without_minions_it_looks_at_every_platform() {
    let ran = run_line(tree().path(), "diff --from old --to new");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains(" of 47 minions"), "{}", ran.stdout);
}

#[test]
#[cfg(feature = "git")]
fn files_around_the_roots_that_change_are_listed() {
    let tree = Tree::new(&[
        ("salt/ssh/parameters/defaults.yaml", "values: {port: 22}\n"),
        ("pillar/top.sls", "base: {}\n"),
        ("pillar/ssh.sls", "ssh: {}\n"),
        ("salted.txt", "this is not below salt/\n"),
    ]);
    git(
        tree.path(),
        &["init", "--quiet", "--initial-branch=main", "."],
    );
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "--message=one"]);
    tree.write("untracked.sls", b"git does not know this\n");
    let diff = |line: &str, status: i32, found: &[&str]| {
        let line = format!("diff --root salt --platform debian-12 {line}");
        let ran = run_line(tree.path(), &line);
        assert_eq!(
            ran.status,
            Some(status),
            "{line}: {}{}",
            ran.stdout,
            ran.stderr
        );
        let lines = ran
            .stdout
            .lines()
            .filter(|line| line.contains("outside") || line.contains("no file"));
        assert_eq!(lines.collect::<Vec<_>>(), found, "{line}");
    };
    diff("", 0, &["no file's content differs"]);
    tree.write("pillar/ssh.sls", b"ssh: {port: 2222}\n");
    tree.write("salted.txt", b"2\n");
    let files =
        "changed outside of the roots, and not compared: 2 files (pillar/ssh.sls, salted.txt)";
    // Nothing that changed was compared.
    diff("", 2, &["no file's content differs in the roots", files]);
    // Only the formula's files were to be compared.
    diff("ssh", 0, &["no file's content differs in the roots", files]);
    tree.write(
        "salt/ssh/parameters/defaults.yaml",
        b"values: {port: 2222}\n",
    );
    diff("", 1, &[files]);
    diff("--strict", 2, &[files]);
    git(tree.path(), &["rm", "--quiet", "-f", "pillar/top.sls"]);
    git(
        tree.path(),
        &["commit", "--quiet", "--all", "--message=two"],
    );
    let files = "changed outside of the roots, and not compared: 3 files (pillar/ssh.sls, pillar/top.sls, salted.txt)";
    diff("--from HEAD~1 --to HEAD", 1, &[files]);
    diff(
        "--from HEAD~1 --to .",
        1,
        &["files outside of the roots were not looked at: a directory is compared with a revision"],
    );
    tree.write("added.txt", b"new\n");
    git(tree.path(), &["add", "added.txt"]);
    git(tree.path(), &["commit", "--quiet", "--message=three"]);
    let added = "changed outside of the roots, and not compared: 1 file (added.txt)";
    let none = "no file's content differs in the roots";
    diff("--from HEAD~1", 2, &[none, added]);
}

#[test]
fn directories_are_compared_around_the_roots_as_well() {
    let tree = Tree::new(&[
        (
            "old/salt/ssh/parameters/defaults.yaml",
            "values: {port: 22}\n",
        ),
        (
            "new/salt/ssh/parameters/defaults.yaml",
            "values: {port: 22}\n",
        ),
        ("new/pillar/ssh.sls", "ssh: {}\n"),
    ]);
    let ran = run_line(
        tree.path(),
        "diff --from old --to new --root salt --platform debian-12",
    );
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    let line = "changed outside of the roots, and not compared: 1 file (pillar/ssh.sls)";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
}

#[test]
#[cfg(feature = "git")]
#[expect(
    clippy::too_many_lines,
    reason = "one repository, whose history grows from step to step"
)]
fn revisions_are_read_without_a_checkout() {
    let tree = Tree::new(&[
        ("salt/ssh/parameters/defaults.yaml", "values: {port: 22}\n"),
        (
            "site/ssh/parameters/os_family/Debian.yaml",
            "values: {shell: /bin/sh}\n",
        ),
    ]);
    git(
        tree.path(),
        &["init", "--quiet", "--initial-branch=main", "."],
    );
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "--message=one"]);
    git(tree.path(), &["tag", "v1"]);
    tree.write(
        "salt/ssh/parameters/defaults.yaml",
        b"values: {port: 2222}\n",
    );
    git(
        tree.path(),
        &["commit", "--quiet", "--all", "--message=two"],
    );
    tree.write(
        "site/ssh/parameters/os_family/Debian.yaml",
        b"values: {shell: /bin/bash}\n",
    );
    let roots = [
        "--root",
        "salt",
        "--root",
        "site",
        "--platform",
        "debian-12",
    ];
    for (states, found) in [
        (&[][..], "ssh: shell"),
        (&["--from", "HEAD~1"], "ssh: port|ssh: shell"),
        (&["--from", "v1", "--to", "main"], "ssh: port"),
        (&["--from", "main", "--to", "HEAD"], ""),
        (
            &["--from", "worktree", "--to", "v1"],
            "ssh: port|ssh: shell",
        ),
    ] {
        let args = [&["diff"], &roots[..], states].concat();
        let ran = run(tree.path(), &args);
        assert_eq!(
            ran.status,
            Some(i32::from(!found.is_empty())),
            "{states:?}: {}",
            ran.stderr
        );
        let keys: Vec<&str> = ran
            .stdout
            .lines()
            .filter(|line| line.starts_with("ssh: "))
            .collect();
        assert_eq!(keys.join("|"), found, "{states:?}: {}", ran.stdout);
    }
    let ran = run(
        tree.path(),
        &[&["diff"], &roots[..], &["--from", "v1"]].concat(),
    );
    let was = ran
        .stdout
        .lines()
        .find(|line| line.contains("- 22"))
        .unwrap_or_default();
    assert!(
        was.contains("v1@") && was.ends_with(":salt/ssh/parameters/defaults.yaml:1:16"),
        "{}",
        ran.stdout
    );
    let ran = run(
        tree.path(),
        &[&["diff"], &roots[..], &["--from", "v2"]].concat(),
    );
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.contains("the repository has no revision 'v2'"),
        "{}",
        ran.stderr
    );
    // A root that is newer than the revision was empty then.
    tree.write(
        "new/ssh/parameters/os/Debian.yaml",
        b"values: {fresh: true}\n",
    );
    let ran = run_line(
        tree.path(),
        "diff --root new --root salt --platform debian-12",
    );
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("ssh: fresh"), "{}", ran.stdout);
}

#[test]
fn every_variable_that_templates_import_is_compared() {
    let map = |agent: &str, version: u8| {
        format!(
            "{{% set web = {{'port': 80, 'token': 'a-secret'}} %}}\n\
             {{% set agent = {{'service': '{agent}', 'password': salt['pillar.get']('pw')}} %}}\n\
             {{% set version = {version} %}}\n\
             {{% set unused = '{agent}' %}}\n\
             {{% macro block() %}}{agent}{{% endmacro %}}\n"
        )
    };
    let states = "{% from 'web/map.jinja' import web, block, version %}\n";
    let tree = Tree::new(&[
        ("old/web/map.jinja", &*map("agentd", 1)),
        ("new/web/map.jinja", &map("agent", 2)),
        ("old/web/init.sls", states),
        ("new/web/init.sls", states),
        (
            "old/web/agent.sls",
            "{% from 'web/map.jinja' import agent %}",
        ),
        (
            "new/web/agent.sls",
            "{% from 'web/map.jinja' import agent, web %}",
        ),
        ("m.yaml", "id: web1\npillar: {pw: hidden-one}\n"),
    ]);
    let ran = run_line(tree.path(), "diff --from old --to new --minion m.yaml");
    assert_eq!((ran.status, &*ran.stderr), (Some(1), ""));
    assert_snapshot("diff/variables.txt", &ran.stdout);
    for (flags, status) in [
        ("--get agent:service", 1),
        ("--get agent:password", 0),
        // One variable is requested.
        ("--var web", 0),
        ("--var agent", 1),
    ] {
        let line = format!("diff --from old --to new --minion m.yaml {flags}");
        let ran = run_line(tree.path(), &line);
        assert_eq!((ran.status, &*ran.stderr), (Some(status), ""), "{flags}");
    }
    // A failure is listed once.
    tree.replace("new/web/map.jinja", b"{% set web = nope.nope %}");
    let ran = run_line(tree.path(), "diff --from old --to new --minion m.yaml");
    assert_eq!(
        ran.stdout.matches("web fails now").count(),
        1,
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stdout.matches("agent:").count(), 0, "{}", ran.stdout);
}

#[cfg(feature = "git")]
#[test]
fn a_file_that_a_partial_clone_lacks_is_compared_by_its_object() {
    let tree = Tree::new(&[
        ("web/parameters/defaults.yaml", "values: {port: 80}\n"),
        ("web/files/logo.png", "logo"),
    ]);
    let commit = || {
        git(tree.path(), &["add", "."]);
        git(tree.path(), &["commit", "-q", "-m", "x"]);
    };
    git(tree.path(), &["init", "-q"]);
    commit();
    tree.write("web/parameters/defaults.yaml", b"values: {port: 81}\n");
    commit();
    let object = ".git/objects/5e/49b80ac1327e69737753fe1bbb7ce14931d68c";
    let lose = || std::fs::remove_file(tree.path().join(object)).unwrap();
    lose();
    let line = "diff web --root . --from HEAD~1 --to HEAD --platform debian-12";
    assert_line(tree.path(), line, 1, "1 change on 1 of 1 minion", "");
    let ran = run_line(tree.path(), line);
    assert!(!ran.stdout.contains("logo.png"), "{}", ran.stdout);
    // A template that loads it is an error that names it.
    tree.write(
        "web/parameters/defaults.yaml",
        b"values: {port: {% include 'web/files/logo.png' %}}\n",
    );
    // Git commits no tree of which it lacks a file.
    git(tree.path(), &["hash-object", "-w", "web/files/logo.png"]);
    commit();
    lose();
    let out = "Jinja error: web/files/logo.png";
    assert_line(tree.path(), line, 1, out, "");
}

#[test]
fn another_name_is_one_change() {
    let tree = Tree::new(&[
        (
            "a/k/parameters/defaults.yaml",
            "values: {rootgroup: root, other: 5, is_on: true, sub: {x: one}}\n",
        ),
        (
            "b/k/parameters/defaults.yaml",
            "values: {root_group: root, other: 5, is_off: {deep: true}, top: {y: two}}\n",
        ),
        ("a/db/parameters/defaults.yaml", "values: {p: 1, q: two}\n"),
        ("b/db2/parameters/defaults.yaml", "values: {p: 1, q: two}\n"),
        ("a/k/old.sls", "x: {test.nop: []}\n"),
        ("b/k/new.sls", "x: {test.nop: []}\n"),
    ]);
    let line = "diff --from a --to b --platform debian-12 --platform rockylinux-9";
    let ran = run_line(tree.path(), line);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    for said in [
        "k: rootgroup → root_group (renamed? the value is the same)\n  - root  a/k/parameters/defaults.yaml:1:21\n  + root  \
         b/k/parameters/defaults.yaml:1:22\n  on 2 minions",
        "db → db2: all its data (renamed? the value is the same)\n",
        // Two that are true may be so by chance.
        "k: is_on\n  - true",
        "k: is_off\n",
        "7 changes on 2 of 2 minions",
        "test.nop 'x': sls  (k/new.sls:1)\n  - k.old\n  + k.new\n",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    let out = run_line(tree.path(), &format!("{line} --format markdown")).stdout;
    assert!(
        out.contains("rootgroup → root&#95;group (renamed?"),
        "{out}"
    );
    let out = run_line(tree.path(), &format!("{line} -o json")).stdout;
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    let changes = document["changes"].as_array().unwrap();
    let of = |key: &str| changes.iter().find(|change| change["key"] == key).unwrap();
    assert_eq!(of("rootgroup")["renamed_to"], "root_group");
    assert_eq!(of("root_group")["renamed_from"], "rootgroup");
    // Nothing but a name: of a file that no result reads, that is a change which nothing compared.
    let tree = Tree::new(&[
        ("a/k/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("b/k/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("a/k/files/old", "x\n"),
        ("b/k/files/new", "x\n"),
    ]);
    let line = "diff --from a --to b --platform debian-12";
    let out = "not compared: k/files/old → k/files/new";
    assert_line(
        tree.path(),
        line,
        2,
        out,
        "nothing that changed was compared",
    );
}

#[test]
fn a_formula_that_has_data_now_is_one_change() {
    let tree = Tree::new(&[
        ("a/web/init.sls", "x: {test.nop: []}\n"),
        ("b/web/init.sls", "x: {test.nop: []}\n"),
        (
            "b/web/map.jinja",
            "{% set mapdata = {'os': grains.os, 'y': {'z': 2}} %}\n",
        ),
    ]);
    let diff = |from: &str, to: &str| {
        let line =
            format!("diff --from {from} --to {to} --platform debian-12 --platform rockylinux-9");
        run_line(tree.path(), &line).stdout
    };
    let now = diff("a", "b");
    assert!(
        now.contains("\n\nweb: has map data now\n  + 2 keys: os, y")
            && now.contains("on 2 minions, each with its own value: debian-12, rockylinux-9")
            && now.contains("1 change on 2 of 2 minions"),
        "{now}"
    );
    assert!(
        now.contains("compared: states and files of each sls; map.jinja of web"),
        "{now}"
    );
    let gone = diff("b", "a");
    assert!(
        gone.contains("\n\nweb: no longer has map data\n  - 2 keys: os, y")
            && gone.contains("; map.jinja of web"),
        "{gone}"
    );
}

#[test]
fn minions_are_named_by_what_people_call_them() {
    let minions: String = (0..24)
        .map(|n| {
            let (name, role) = if n < 12 {
                ("lb", "proxy")
            } else {
                ("db", "sql")
            };
            format!("{name}{n}: {{id: {name}{n}, grains: {{os: Debian, roles: [all, {role}]}}}}\n")
        })
        .collect();
    let pillar = |lb: u8, db: u8| (format!("port: {lb}\n"), format!("port: {db}\n"));
    let (before, after) = (pillar(1, 1), pillar(2, 3));
    let master = "pillar_roots: {base: [pillar]}\nfile_roots: {base: [salt]}\nnodegroups: {loadbalancer: 'lb*'}\n";
    let top = "base:\n  'lb*': [lb]\n  'G@roles:sql': [db]\n  'lb1': [one]\n";
    let tree = Tree::new(&[
        ("a/pillar/top.sls", top),
        ("a/pillar/lb.sls", &before.0),
        ("a/pillar/db.sls", &before.1),
        ("a/pillar/one.sls", "one: 1\n"),
        ("a/salt/top.sls", "base: {}\n"),
        ("pillar/top.sls", top),
        ("pillar/lb.sls", &after.0),
        ("pillar/db.sls", &after.1),
        ("pillar/one.sls", "one: 1\n"),
        ("salt/top.sls", "base: {}\n"),
        ("master", master),
        ("minions.yaml", &minions),
    ]);
    let line = "diff --config master --from ./a --to worktree --minions minions.yaml";
    for said in [
        "on all 12 of nodegroup loadbalancer\n",
        "on all 12 of the target 'G@roles:sql'\n",
    ] {
        assert_line(tree.path(), line, 1, said, "");
    }
    // Of a few, the names are said as well.
    let few = format!("{line} --minion-glob ?b1*");
    let said = "on all 3 of nodegroup loadbalancer: lb1, lb10, lb11\n";
    assert_line(tree.path(), &few, 1, said, "");
    tree.replace(
        "master",
        master.replace("nodegroups", "no_groups").as_bytes(),
    );
    for path in ["pillar/top.sls", "a/pillar/top.sls"] {
        let top = "base:\n  '*': [{{ 'lb' if grains.id.startswith('lb') else 'db' }}]\n";
        tree.replace(path, top.as_bytes());
    }
    assert_line(tree.path(), line, 1, "on all 12 with roles=proxy\n", "");
}

#[test]
#[cfg(feature = "git")]
fn a_shallow_clone_says_what_it_lacks() {
    let tree = Tree::new(&[("salt/k/parameters/defaults.yaml", "values: {a: 1}\n")]);
    let salt = tree.path().join("salt");
    git(&salt, &["init", "-q"]);
    git(&salt, &["add", "."]);
    git(&salt, &["commit", "-qm", "one"]);
    git(&salt, &["commit", "-qm", "two", "--allow-empty"]);
    let from = format!("file://{}", salt.display());
    git(
        tree.path(),
        &["clone", "-q", "--depth", "1", &from, "shallow"],
    );
    let line = "diff --from HEAD~1 --to HEAD --root shallow";
    for said in ["`git fetch --unshallow`", "`fetch-depth: 0`"] {
        assert_line(tree.path(), line, 2, "", said);
    }
}

#[test]
fn a_new_failure_comes_with_its_advice() {
    let tree = Tree::new(&[
        ("a/k/map.jinja", "{% set mapdata = {'a': grains.os} %}\n"),
        ("b/k/map.jinja", "{% set mapdata = {'a': grains.oss.x} %}\n"),
    ]);
    let line = "diff --from a --to b --platform debian-12";
    let ran = run_line(tree.path(), line);
    assert!(ran.stdout.contains("\n    help: "), "{}", ran.stdout);
}
