//! `mapstack diff` of pillars: what an edit of a top file or an sls does to every minion.

use crate::common::{Tree, assert_line, run_line};

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
