//! `mapstack render`: text or data, of files in roots.

use crate::common::{Ran, Tree, assert_snapshot, repository, run, run_line};

/// Arguments, and what is printed.
const PRINTED: &[(&[&str], &str)] = &[
    (&["f/init.sls"], "f-2:\n  test.nop: []\n"),
    (
        &["salt://f/init.sls", "-o", "yaml"],
        "f-2:\n  test.nop: []\n",
    ),
    (
        &["f/init.sls", "-o", "json", "--get", "f-2"],
        "{\n  \"test.nop\": []\n}\n",
    ),
    (
        &[
            "f/x.conf",
            "--context={a: 1}",
            "--defaults={\"a\": 2, \"b\": 5}",
            "--name=/etc/x",
        ],
        "salt://f/x.conf /etc/x 15 Debian\n",
    ),
    (
        &["f/x.conf", "--context=context.yaml"],
        "salt://f/x.conf - 34 Debian\n",
    ),
    (
        &["f/x.tera", "--template=tera", "--context={a: [1, b]}"],
        "[1, b]\n",
    ),
    (&["salt://f/x.conf?saltenv=dev"], "dev\n"),
    (&["f/x.conf", "--saltenv=dev"], "dev\n"),
];

/// Arguments that do not fit, and a part of the message.
const MISUSED: &[(&[&str], &str)] = &[
    (&["f/init.sls", "--context={a: 1}"], "--template"),
    (&["f/x.conf", "-o=yaml"], ".sls"),
    (&["f/init.sls", "--get=a"], "-o yaml"),
    (&["f/x.conf", "--context={a"], "--context"),
    (&["f/x.conf", "--context={a: 1}", "--kwargs={}"], "--kwargs"),
];

#[test]
fn sls_and_managed_files_are_printed_as_flags_say() {
    let tree = Tree::new(&[
        ("r/f/init.sls", "{{ sls }}-{{ 1 + 1 }}:\n  test.nop: []\n"),
        (
            "r/f/x.conf",
            "{{ source }} {{ name|default('-') }} {{ a|default('-') }}{{ b|default('-') }} {{ grains.os }}\n",
        ),
        ("r/f/x.tera", "{{ a }}\n"),
        ("dev/f/x.conf", "{{ saltenv }}\n"),
        ("context.yaml", "a: 3\nb: 4\n"),
        ("minion.yaml", "id: m\ngrains: {os: Debian}\n"),
    ]);
    let rendered = |args: &[&str]| -> Ran {
        let roots = ["--root=base=r", "--root=dev=dev", "--minion=minion.yaml"];
        run(tree.path(), &[&["render"], args, &roots].concat())
    };
    for (args, printed) in PRINTED {
        let ran = rendered(args);
        let expected = (Some(0), "", *printed);
        assert_eq!(
            (ran.status, &*ran.stderr, &*ran.stdout),
            expected,
            "{args:?}"
        );
    }
    for (args, name) in [
        (&["f/inti.sls"][..], "missing"),
        (&["f/init.sls", "--saltenv=none"], "missing-saltenv"),
    ] {
        let ran = rendered(args);
        assert_eq!((ran.status, &*ran.stdout), (Some(1), ""), "{name}");
        assert_snapshot(&format!("render/{name}.txt"), &ran.stderr);
    }
    for (args, says) in MISUSED {
        let ran = rendered(args);
        assert_eq!((ran.status, &*ran.stdout), (Some(2), ""), "{args:?}");
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
    for minion in ["web1", "db1"] {
        let line = format!(
            "render users/init.sls -o yaml --minion=examples/minions/{minion}.yaml \
             --root=examples/site --root=examples/formulas"
        );
        let ran = run_line(&repository(), &line);
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
        assert_snapshot(&format!("render/users-{minion}.yaml"), &ran.stdout);
    }
}
