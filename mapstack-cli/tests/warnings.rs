//! Warnings: the answer is the reference's, and probably not what was meant.

use crate::common::{Tree, assert_snapshot, run};

const MINION: (&str, &str) = ("minion.yaml", "id: web1\ngrains: {os: Debian}\n");

struct Case {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    args: &'static [&'static str],
    says: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "missing-root",
        files: &[("r/f/parameters/defaults.yaml", "values: {a: 1}\n")],
        args: &["f", "--root=r", "--root=nowhere"],
        says: "nowhere",
    },
    Case {
        name: "unknown-strategy",
        files: &[(
            "r/f/parameters/defaults.yaml",
            "strategy: recurs\nvalues: {a: 1}\n",
        )],
        args: &["f", "--root=r"],
        says: "recurs",
    },
    Case {
        name: "text-for-merge-lists",
        files: &[(
            "r/f/parameters/defaults.yaml",
            "merge_lists: 'false'\nvalues: {a: 1}\n",
        )],
        args: &["f", "--root=r"],
        says: "counts as true",
    },
    Case {
        name: "unknown-strategy-by-flag",
        files: &[("r/f/parameters/defaults.yaml", "values: {a: 1}\n")],
        args: &["f", "--root=r", "--default-merge-strategy=overwite"],
        says: "overwrite",
    },
    Case {
        name: "refused-path",
        files: &[
            ("r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
            ("etc.yaml", "values: {b: 2}\n"),
        ],
        args: &["f", "--root=r", "--set=grains.os=../../../../etc"],
        says: "..",
    },
    Case {
        name: "unknown-meta-key",
        files: &[
            ("r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
            (
                "r/f/parameters/map_jinja.yaml",
                "values: {source: [Y!G@os]}\n",
            ),
        ],
        args: &["f", "--root=r"],
        says: "did you mean 'sources'?",
    },
    Case {
        name: "unknown-post-map-engine",
        files: &[
            ("r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
            ("r/f/post-map.jinja", ""),
        ],
        args: &["f", "--root=r", "--post-map-template=jina"],
        says: "jina",
    },
    Case {
        name: "custom-data",
        files: &[
            ("r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
            ("custom.yaml", "tier: front\n"),
        ],
        args: &["f", "--root=r", "--custom-data=custom.yaml"],
        says: "custom_data reaches the layers",
    },
    Case {
        name: "function-that-nothing-answers",
        files: &[(
            "r/f/parameters/defaults.yaml",
            "values:\n  upgrades: {{ 'pkg.list_upgrades' in salt }}\n  own: {{ 'mine.own' in salt }}\n",
        )],
        args: &["f", "--root=r"],
        says: "asks whether Salt has pkg.list_upgrades",
    },
    Case {
        name: "function-asked-for-by-get",
        files: &[(
            "r/f/parameters/defaults.yaml",
            "values:\n  a: {{ salt.get('pkg.list_upgrades') is none }}\n",
        )],
        args: &["f", "--root=r"],
        says: "defaults.yaml:2:9",
    },
    Case {
        name: "function-tested-for-being-defined",
        files: &[(
            "r/f/parameters/defaults.yaml",
            "values:\n  a: {{ salt['pkg.list_upgrades'] is defined }}\n  b: {{ salt.grains.append | default('none') }}\n",
        )],
        args: &["f", "--root=r"],
        says: "defaults.yaml:3:9",
    },
];

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one case run with and without each flag about warnings"
)]
fn warnings_do_not_change_the_answer_unless_they_are_errors() {
    for case in CASES {
        let tree = Tree::new(case.files);
        tree.write(MINION.0, MINION.1.as_bytes());
        let with = |more: &[&str]| {
            let args: Vec<&str> = ["data"]
                .iter()
                .chain(case.args)
                .chain(&["--minion", MINION.0])
                .chain(more)
                .copied()
                .collect();
            run(tree.path(), &args)
        };
        let plain = with(&[]);
        assert_eq!(plain.status, Some(0), "{}: {}", case.name, plain.stderr);
        assert!(
            plain.stdout.contains("map_jinja:"),
            "{}: {}",
            case.name,
            plain.stdout
        );
        assert!(
            plain.stderr.starts_with("warning: "),
            "{}: {}",
            case.name,
            plain.stderr
        );
        assert!(
            plain.stderr.contains(case.says),
            "{}: {}",
            case.name,
            plain.stderr
        );
        assert_snapshot(&format!("warnings/{}.txt", case.name), &plain.stderr);

        let strict = with(&["--strict"]);
        assert_eq!(
            (strict.status, &*strict.stdout),
            (Some(1), ""),
            "{}: {}",
            case.name,
            strict.stderr
        );
        assert!(
            strict.stderr.starts_with("error: "),
            "{}: {}",
            case.name,
            strict.stderr
        );
        assert!(
            strict.stderr.contains(case.says),
            "{}: {}",
            case.name,
            strict.stderr
        );

        let quiet = with(&["-q"]);
        assert_eq!(
            (quiet.status, &*quiet.stderr),
            (Some(0), ""),
            "{}",
            case.name
        );
        assert_eq!(quiet.stdout, plain.stdout, "{}", case.name);
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_a_root_is_not_followed_unless_asked_for() {
    let tree = Tree::new(&[
        ("r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("elsewhere/Debian.yaml", "values: {a: 2}\n"),
        MINION,
    ]);
    tree.write("r/f/parameters/os/", b"");
    std::os::unix::fs::symlink(
        "../../../../elsewhere/Debian.yaml",
        tree.path().join("r/f/parameters/os/Debian.yaml"),
    )
    .unwrap();
    let args = ["data", "f", "--root=r", "--minion=minion.yaml", "--get=a"];
    let ran = run(tree.path(), &args);
    assert_eq!((ran.status, &*ran.stdout), (Some(0), "1\n"));
    let real = tree.path().canonicalize().unwrap().display().to_string();
    assert_snapshot(
        "warnings/outside-link.txt",
        &ran.stderr.replace(&real, "<TREE>"),
    );
    let ran = run(
        tree.path(),
        &[&args[..], &["--follow-outside-links"]].concat(),
    );
    assert_eq!(
        (ran.status, &*ran.stdout, &*ran.stderr),
        (Some(0), "2\n", "")
    );
}

#[test]
fn no_grain_leads_out_of_a_root() {
    let tree = Tree::new(&[
        ("r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("outside.yaml", "values: {a: 2}\n"),
        MINION,
    ]);
    tree.write("r/f/parameters/os/", b"");
    let outside = tree.path().join("outside").display().to_string();
    for grain in [
        "../../../../outside",
        "x/../../../../../outside",
        &*outside,
        "..\\..\\..\\..\\outside",
        "..",
    ] {
        let set = format!("--set=grains.os='{grain}'");
        let ran = run(
            tree.path(),
            &[
                "data",
                "f",
                "--root=r",
                "--minion=minion.yaml",
                "--get=a",
                &set,
            ],
        );
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(0), "1\n"),
            "{grain}: {}",
            ran.stderr
        );
    }
}

#[test]
fn quiet_and_strict_exclude_each_other() {
    let tree = Tree::new(&[MINION]);
    let ran = run(
        tree.path(),
        &[
            "data",
            "f",
            "--root=.",
            "--minion=minion.yaml",
            "--quiet",
            "--strict",
        ],
    );
    assert_eq!((ran.status, &*ran.stdout), (Some(2), ""));
}

/// Salt's default follows links; only who asks for it gets that here.
#[cfg(unix)]
#[test]
#[expect(clippy::too_many_lines, reason = "one row for each configuration")]
fn a_configuration_that_says_so_follows_links_out_of_its_roots() {
    let tree = Tree::new(&[
        ("r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("outside.yaml", "values: {a: 2}\n"),
        ("unset/master", "file_roots: {base: [r]}\n"),
        (
            "on/master",
            "file_roots: {base: [r]}\nfileserver_followsymlinks: true\n",
        ),
        (
            "off/master",
            "file_roots: {base: [r]}\nfileserver_followsymlinks: false\n",
        ),
        (
            "odd/master",
            "file_roots: {base: [r]}\nfileserver_followsymlinks: maybe\n",
        ),
        MINION,
    ]);
    tree.write("r/f/parameters/os/", b"");
    std::os::unix::fs::symlink(
        "../../../../outside.yaml",
        tree.path().join("r/f/parameters/os/Debian.yaml"),
    )
    .unwrap();
    let said = |config: &str, more: &[&str]| {
        let config = format!("--config={config}/master");
        run(
            tree.path(),
            &[
                &["data", "f", &config, "--minion=minion.yaml", "--get=a"],
                more,
            ]
            .concat(),
        )
    };
    for config in ["unset", "off"] {
        let refused = said(config, &[]);
        assert_eq!(
            (refused.status, &*refused.stdout),
            (Some(0), "1\n"),
            "{config}: {}",
            refused.stderr
        );
        assert!(
            refused.stderr.contains("is a link out of the root"),
            "{config}: {}",
            refused.stderr
        );
        assert!(
            refused.stderr.contains("outside.yaml"),
            "the target is named: {}",
            refused.stderr
        );
        let flag = said(config, &["--follow-outside-links"]);
        assert_eq!(
            (flag.status, &*flag.stdout, &*flag.stderr),
            (Some(0), "2\n", ""),
            "{config}"
        );
    }
    let followed = said("on", &[]);
    assert_eq!(
        (followed.status, &*followed.stdout, &*followed.stderr),
        (Some(0), "2\n", "")
    );
    let odd = said("odd", &[]);
    assert_eq!((odd.status, &*odd.stdout), (Some(1), ""));
    assert!(
        odd.stderr
            .contains("`fileserver_followsymlinks` must be true or false"),
        "{}",
        odd.stderr
    );
    // Two states of the files are served as one is; a link that is not followed is not compared.
    for (config, status) in [("unset", 2), ("on", 1)] {
        tree.write("other/r/f/parameters/defaults.yaml", b"values: {a: 1}\n");
        let config = format!("--config={config}/master");
        let ran = run(
            tree.path(),
            &[
                "diff",
                "f",
                &config,
                "--from=./other",
                "--to=worktree",
                "--minion=minion.yaml",
            ],
        );
        assert_eq!(
            ran.status,
            Some(status),
            "{config}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

#[test]
fn python_that_asks_for_a_function_that_nothing_answers_is_reported() {
    for (name, text) in [
        (
            "mako",
            "#!mako|yaml\nupgrades: ${'pkg.list_upgrades' in salt}\nown: ${'mine.own' in salt}\n",
        ),
        (
            "py",
            "#!py\ndef run():\n    return {'upgrades': 'pkg.list_upgrades' in __salt__, 'own': 'mine.own' in __salt__}\n",
        ),
    ] {
        let tree = Tree::new(&[("r/f/x.sls", text), MINION]);
        let args = [
            "render", "f/x.sls", "--root=r", "--minion", MINION.0, "-o", "yaml",
        ];
        let ran = run(tree.path(), &args);
        let expected = (Some(0), "upgrades: false\nown: false\n");
        let got = (ran.status, ran.stdout.to_lowercase());
        assert_eq!((got.0, &*got.1), expected, "{name}: {}", ran.stderr);
        let said = ran.stderr.matches("asks whether Salt has").count();
        assert!(
            ran.stderr
                .contains("asks whether Salt has pkg.list_upgrades")
                && said == 1,
            "{name}: {}",
            ran.stderr
        );
        let strict = run(tree.path(), &[&args[..], &["--strict"]].concat());
        assert_eq!(strict.status, Some(1), "{name}: {}", strict.stderr);
    }
}
