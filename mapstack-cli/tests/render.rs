//! `mapstack render`: sls files and managed files.

use crate::common::{Ran, Tree, assert_snapshot, repository, run};

#[expect(clippy::too_many_lines, reason = "one row for each file")]
fn tree() -> Tree {
    Tree::new(&[
        (
            "r/f/init.sls",
            "{% for n in [1, 2] %}\n{{ sls }}-{{ n }}:\n  test.nop: []\n{% endfor %}",
        ),
        ("r/f/plain.sls", "#!yaml\na: '{{ 1 }}'\n"),
        (
            "r/f/json.sls",
            "#!jinja|json\n{\"a\": {{ grains.os | json }},\n \"b\": {{ slspath }}}\n",
        ),
        (
            "r/f/tera.sls",
            "#!tera|yaml\n{% for r in grains.roles %}\n{{ r }}: {{ salt(fn='grains.get', args=['os']) }}\n{% endfor %}",
        ),
        (
            "r/f/tera-bad.sls",
            "#!tera|yaml\n{% for r in grains.role %}\n{{ r }}: 1\n{% endfor %}",
        ),
        (
            "r/f/tera-bad-yaml.sls",
            "#!tera|yaml\n{% set a = 'b: c' %}\na: {{ a }}\n",
        ),
        ("r/f/mako.sls", "\n#!yaml\n"),
        ("r/f/mako2.sls", "#!mako|yaml\na: 1\nb: ${nope}\n"),
        (
            "r/f/mako-yaml.sls",
            "#!mako|yaml\n% for n in range(2):\n${n}: [\n% endfor\n",
        ),
        ("r/f/py.sls", "#!py\ndef run():\n    return {}['x']\n"),
        (
            "r/f/host.sls",
            "#!py\nimport subprocess\ndef run():\n    return {'a': subprocess.run(['id'])}\n",
        ),
        ("r/f/typo.sls", "#!jinja|ymal\na: 1\n"),
        ("r/f/list.sls", "- 1\n"),
        ("r/f/text.sls", "#!jinja\na\n"),
        ("r/f/bad.sls", "a: 1\nb: {{ nope }}\n"),
        ("r/f/bad-yaml.sls", "a:\n  {{ 'b: c: d' }}\n"),
        (
            "r/f/twice.sls",
            "#!jinja|jinja|yaml\na: 1\n{% raw %}b: {{ nope }}{% endraw %}\n",
        ),
        (
            "r/f/itself.sls",
            "{% set d = salt['slsutil.renderer']('salt://f/itself.sls') %}a: 1\n",
        ),
        (
            "r/f/files/x.conf",
            "#!jinja|yaml\n{{ source }} {{ name|default('-') }} {{ a|default('-') }}{{ b|default('-') }} {{ grains.os }}\n",
        ),
        (
            "r/f/files/x.tera",
            "{{ source }} {{ a | default(value='-') }} {{ grains.os }}\n",
        ),
        ("dev/f/files/x.conf", "{{ saltenv }}\n"),
        ("context.yaml", "a: 3\nb: 4\n"),
        (
            "minion.yaml",
            "id: m\ngrains: {os: Debian, roles: [web, db]}\n",
        ),
    ])
}

/// `mapstack render …` with the roots and the minion.
fn rendered(tree: &Tree, args: &[&str]) -> Ran {
    run(
        tree.path(),
        &[
            &["render"],
            args,
            &["--root=base=r", "--root=dev=dev", "--minion=minion.yaml"],
        ]
        .concat(),
    )
}

#[test]
fn text_and_data_are_printed() {
    let tree = tree();
    for (args, printed) in [
        (
            &["f/init.sls"][..],
            "\nf-1:\n  test.nop: []\n\nf-2:\n  test.nop: []\n",
        ),
        (
            &["salt://f/init.sls", "-o", "yaml"],
            "f-1:\n  test.nop: []\nf-2:\n  test.nop: []\n",
        ),
        (
            &["f/init.sls", "-o", "json", "--get", "f-1"],
            "{\n  \"test.nop\": []\n}\n",
        ),
        (&["f/plain.sls"], "#!yaml\na: '{{ 1 }}'\n"),
        (&["f/plain.sls", "-o", "yaml"], "a: '{{ 1 }}'\n"),
        (&["f/tera.sls", "-o", "yaml"], "web: Debian\ndb: Debian\n"),
        (&["f/text.sls"], "#!jinja\na\n"),
        (
            &["f/files/x.conf"],
            "#!jinja|yaml\nsalt://f/files/x.conf - -- Debian\n",
        ),
        (
            &[
                "f/files/x.conf",
                "--context={a: 1}",
                "--defaults={\"a\": 2, \"b\": 5}",
                "--name=/etc/x",
            ],
            "#!jinja|yaml\nsalt://f/files/x.conf /etc/x 15 Debian\n",
        ),
        (
            &["f/files/x.conf", "--context=context.yaml"],
            "#!jinja|yaml\nsalt://f/files/x.conf - 34 Debian\n",
        ),
        (
            &["f/files/x.tera", "--template=tera", "--context={a: [1, b]}"],
            "salt://f/files/x.tera [1, b] Debian\n",
        ),
        (&["salt://f/files/x.conf?saltenv=dev"], "dev\n"),
        (&["f/files/x.conf", "--saltenv=dev"], "dev\n"),
        (&["f/plain.sls", "--template=jinja"], "#!yaml\na: '1'\n"),
    ] {
        let ran = rendered(&tree, args);
        assert_eq!(
            (ran.status, &*ran.stderr, &*ran.stdout),
            (Some(0), "", printed),
            "{args:?}"
        );
    }
}

#[test]
fn the_examples_are_rendered() {
    let roots = ["--root=examples/site", "--root=examples/formulas"];
    for minion in ["web1", "db1"] {
        let facts = format!("--minion=examples/minions/{minion}.yaml");
        let ran = run(
            &repository(),
            &[
                &["render", "users/init.sls", "-o", "yaml", &facts],
                &roots[..],
            ]
            .concat(),
        );
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
        assert_snapshot(&format!("render/users-{minion}.yaml"), &ran.stdout);
    }
}

#[test]
fn what_goes_wrong_has_a_place() {
    let tree = tree();
    for (name, args, says) in [
        ("undefined", &["f/bad.sls"][..], "r/f/bad.sls:2:7"),
        (
            "yaml",
            &["f/bad-yaml.sls", "-o=yaml"],
            "r/f/bad-yaml.sls:2:3",
        ),
        ("json", &["f/json.sls", "-o=yaml"], "r/f/json.sls:3:7"),
        (
            "tera-undefined",
            &["f/tera-bad.sls"],
            "r/f/tera-bad.sls:2:1",
        ),
        (
            "tera-yaml",
            &["f/tera-bad-yaml.sls", "-o=yaml"],
            "r/f/tera-bad-yaml.sls:3:4",
        ),
        ("second-stage", &["f/twice.sls"], "r/f/twice.sls:3:16"),
        ("mako-undefined", &["f/mako2.sls"], "r/f/mako2.sls:3:4"),
        (
            "mako-yaml",
            &["f/mako-yaml.sls", "-o=yaml"],
            "r/f/mako-yaml.sls:",
        ),
        ("py", &["f/py.sls", "-o=yaml"], "r/f/py.sls:3:"),
        ("py-host", &["f/host.sls", "-o=yaml"], "r/f/host.sls:4"),
        ("ends-in-text", &["f/text.sls", "-o=yaml"], "text"),
        ("itself", &["f/itself.sls"], "32 levels"),
        ("missing", &["f/inti.sls"], "salt://f/init.sls"),
        (
            "missing-saltenv",
            &["f/init.sls", "--saltenv=none"],
            "saltenvs with a root: base, dev",
        ),
        ("folder", &["salt://f"], "salt://f/init.sls"),
        ("no-engine", &["f/files/x.conf", "--template=jinj"], "jinja"),
        (
            "absent-engine",
            &["f/files/x.conf", "--template=genshi"],
            "not built in",
        ),
    ] {
        let ran = rendered(&tree, args);
        assert_eq!((ran.status, &*ran.stdout), (Some(1), ""), "{name}");
        assert!(ran.stderr.contains(says), "{name}: {}", ran.stderr);
        assert_snapshot(&format!("render/{name}.txt"), &ran.stderr);
    }
}

#[test]
fn what_was_probably_not_meant_is_a_warning() {
    let tree = tree();
    for (name, args, printed) in [
        ("typo", ["f/typo.sls", "-o=yaml"], "{}\n"),
        ("list", ["f/list.sls", "-o=yaml"], "- 1\n"),
    ] {
        let ran = rendered(&tree, &args);
        assert_eq!((ran.status, &*ran.stdout), (Some(0), printed), "{name}");
        assert_snapshot(&format!("render/warning-{name}.txt"), &ran.stderr);
    }
}

#[test]
fn flags_that_do_not_fit_are_wrong_usage() {
    let tree = tree();
    for (args, says) in [
        (&["f/init.sls", "--context={a: 1}"][..], "--template"),
        (&["f/files/x.conf", "-o=yaml"], ".sls"),
        (&["f/init.sls", "--get=a"], "-o yaml"),
        (&["f/files/x.conf", "--context={a"], "--context"),
        (
            &["f/files/x.conf", "--context={a: 1}", "--kwargs={}"],
            "--kwargs",
        ),
    ] {
        let ran = rendered(&tree, args);
        assert_eq!((ran.status, &*ran.stdout), (Some(2), ""), "{args:?}");
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}
