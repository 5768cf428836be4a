//! Functions that flags answer: stubs, permissions, a mine, and a Salt that is asked.
#![cfg(unix)]

use crate::common::{Tree, assert_line, run, run_line};

#[test]
fn flags_give_functions_that_answer() {
    let layer = "values:
  stub: {{ salt['a.stub']() }}
  allowed: {{ salt['file.directory_exists']('/') }}
  mine: {{ salt['mine.get']('web2', 'network.ip_addrs') | json }}
  asked: {{ salt['an.other']() }}
";
    let tree = Tree::new(&[
        ("r/f/parameters/defaults.yaml", layer),
        ("stubs.yaml", "a.stub: {return: written}\n"),
    ]);
    let cache = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../crates/frontend/tests/data/cache"
    );
    let args = |more: &[&str]| {
        let all = ["stack", "f", "defaults.yaml", "--root", "r", "--id", "web1"];
        run(tree.path(), &[&all, more].concat())
    };
    let answers = [
        "--stub=stubs.yaml",
        "--allow=file.*",
        &format!("--mine={cache}"),
        "--salt-call=sh -c 'echo \"{\\\"local\\\": \\\"salt\\\"}\"'",
    ];
    let ran = args(&answers);
    let expected = "stub: written\nallowed: true\nmine:\n  web2:\n  - 10.1.0.2\nasked: salt\n";
    assert_eq!((&*ran.stderr, &*ran.stdout), ("", expected));
    // Each of them is needed.
    for (at, function) in ["a.stub", "file.directory_exists", "mine.get", "an.other"]
        .iter()
        .enumerate()
    {
        let others: Vec<&str> = (0..at).map(|at| answers[at]).collect();
        let ran = args(&others);
        let says = format!("nothing answers salt['{function}']");
        assert_eq!(ran.status, Some(1));
        assert!(ran.stderr.contains(&says), "{}", ran.stderr);
    }
    for (flags, status, says) in [
        (&["--allow", "cmd.runn"][..], 2, "did you mean 'cmd.run'?"),
        (&["--allow", "*"], 2, "there are cmd.*"),
        (&["--salt-call", "salt-call 'x"], 2, "No closing quotation"),
        (
            &["--stub", "-", "--grains", "-"],
            2,
            "only one file may be -",
        ),
        (&["--stub", "r/nope"], 1, "cannot read r/nope"),
        (&["--mine", "r"], 1, "not a master's cache"),
    ] {
        let ran = args(flags);
        assert_eq!(ran.status, Some(status), "{flags:?}");
        assert!(ran.stderr.contains(says), "{flags:?}: {}", ran.stderr);
    }
}

#[test]
fn the_mine_of_a_master_answers_its_pillars() {
    let runner = "a: {{ salt['saltutil.runner']('mine.get', tgt='web2', fun='plain') | json }}";
    let own = "a: {{ salt['mine.get']('web2', 'plain') | json }}";
    let tree = Tree::new(&[
        (
            "master",
            "pillar_roots: {base: [pillar]}\nmine_get: {'web*': [plain]}\n",
        ),
        ("pillar/top.sls", "base: {'*': [a], 'db*': [own]}"),
        ("pillar/a.sls", runner),
        ("pillar/own.sls", own),
    ]);
    let cache = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../crates/frontend/tests/data/cache"
    );
    let line = |id: &str| format!("pillar --config master --minions {cache} --id {id}");
    let ran = run_line(tree.path(), &line("web1"));
    assert_eq!((ran.status, &*ran.stdout), (Some(0), "a:\n  web2: text\n"));
    // A master that limits who asks answers everyone here.
    for says in ["the option mine_get is not followed", "master:2:1"] {
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
    let says = "mine.get gives nothing in a pillar";
    assert_line(tree.path(), &line("db1"), 1, "", says);
}
