//! `mapstack sources pillar`: which targets mean a minion and why, which sls were read in which order, and the external
//! pillars.

use crate::common::{Tree, assert_line, assert_snapshot, run_line};

fn tree() -> Tree {
    Tree::new(&[
        (
            "master",
            "pillar_roots: {base: [pillar]}\next_pillar:\n  - stack: stack.cfg\n  - nodegroups: {}\n",
        ),
        (
            "pillar/top.sls",
            "base:\n  'web* and G@os:Debian':\n    - web\n  'roles:db':\n    - match: grain\n    - db\n  'api_token:t*':\n    - match: grain\n    - common\n",
        ),
        ("pillar/web.sls", "include: [common, users]\nweb: true\n"),
        ("pillar/common.sls", "ntp: [a]\n"),
        ("pillar/users/init.sls", "users: {tom: {}}\n"),
        ("pillar/db.sls", "db: true\n"),
        ("stack.cfg", "core.yml\nnope.yml\n"),
        ("core.yml", "core: 1\n"),
        (
            "minion.yaml",
            "id: web1\ngrains: {os: Debian, api_token: t0ps3cret}\n",
        ),
    ])
}

#[test]
fn the_sources_of_a_pillar_are_listed_with_what_is_wrong() {
    let tree = tree();
    for (name, more) in [("text.txt", ""), ("rows.json", " -o json")] {
        let line = format!(
            "sources pillar --config master --config-kind master --minion minion.yaml{more}"
        );
        let ran = run_line(tree.path(), &line);
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{line}");
        assert!(!ran.stdout.contains("t0ps3cret"), "{}", ran.stdout);
        let shown = ran
            .stdout
            .replace(&tree.path().display().to_string(), "<DIR>");
        assert_snapshot(&format!("sources_pillar/{name}"), &shown);
    }
    let line = "sources pillar --root pillar --minion minion.yaml";
    let says = "nothing says what compiles the pillar";
    assert_line(tree.path(), line, 2, "", says);
    // An error is beside the list.
    tree.write("pillar/db.sls", b"db: {{ nope }}\n");
    tree.write("pillar/top.sls", b"base: {'*': [db, gone]}\n");
    let line = "sources pillar --config master --config-kind master --minion minion.yaml";
    let ran = run_line(tree.path(), line);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("base  db  pillar/db.sls  failed"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("base  gone  missing"), "{}", ran.stdout);
    assert!(ran.stderr.contains("pillar/db.sls:1"), "{}", ran.stderr);
}
