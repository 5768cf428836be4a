//! The command line: what it takes, refuses, and prints.

use std::io::Read;
use std::process::Stdio;

use crate::common;
use crate::common::{Tree, assert_snapshot, command, repository, run, run_with_input};

const VERBS: &[&str] = &[
    "data",
    "stack",
    "tofs",
    "map",
    "pillar",
    "file",
    "highstate",
    "render",
    "sources",
    "explain",
    "parse",
    "platforms",
    "lint",
    "schema",
    "fleet",
    "diff",
    "impact",
    "watch",
    "test",
    "config",
    #[cfg(feature = "fetch")]
    "fetch",
    "completions",
];

fn tree() -> Tree {
    Tree::new(&[
        (
            "r/f/parameters/defaults.yaml",
            "values:\n  a: 1\n  sub: {b: [x, y], 1: one, false: off}\n",
        ),
        ("r/f/parameters/os/Debian.yaml", "values: {os: debian}\n"),
        ("r/f/parameters/id/web1.yaml", "values: {id: web1}\n"),
        (
            "minion.yaml",
            "id: web1\ngrains: {os: Debian}\npillar: {f: {c: 3}}\n",
        ),
    ])
}

/// `data f --root r --minion minion.yaml` and more.
fn data(tree: &Tree, more: &[&str]) -> common::Ran {
    run(
        tree.path(),
        &[
            &["data", "f", "--root", "r", "--minion", "minion.yaml"],
            more,
        ]
        .concat(),
    )
}

#[test]
fn a_schema_of_the_pillar_is_found_by_its_flag() {
    let tip = "`mapstack schema pillar` makes a schema of the pillars";
    for (line, is_advised) in [
        (&["schema", "--pillar"][..], true),
        (&["schema", "--pillar", "--config", "master"], true),
        (&["schema", "--pillar="], true),
        (&["data", "f", "--pillar"], false),
        (&["schema", "--stub"], false),
    ] {
        let ran = run(tree().path(), line);
        assert_eq!(ran.status, Some(2), "{line:?}");
        assert_eq!(
            ran.stderr.contains(tip),
            is_advised,
            "{line:?}: {}",
            ran.stderr
        );
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each mistake")]
fn wrong_usage_is_status_2_and_says_what_to_do() {
    let tree = tree();
    let cases: &[(&str, &[&str], &str)] = &[
        ("nothing", &[], "Usage"),
        ("unknown-verb", &["dta", "f"], "data"),
        ("no-formula", &["data", "--root", "r"], "--minion"),
        ("no-minion", &["data", "f", "--root", "r"], "--minion"),
        (
            "no-root",
            &["data", "f", "--minion", "minion.yaml"],
            "--root",
        ),
        (
            "unknown-flag",
            &["data", "f", "--root", "r", "--minoin", "minion.yaml"],
            "--minion",
        ),
        (
            "kwargs-no-json",
            &[
                "data",
                "f",
                "--root",
                "r",
                "--minion",
                "minion.yaml",
                "--kwargs",
                "{sources",
            ],
            "--kwargs",
        ),
        (
            "kwargs-list",
            &[
                "data",
                "f",
                "--root",
                "r",
                "--minion",
                "minion.yaml",
                "--kwargs",
                "[]",
            ],
            "list",
        ),
        (
            "set-without-value",
            &[
                "data",
                "f",
                "--root",
                "r",
                "--id",
                "m",
                "--set",
                "grains.os",
            ],
            "PATH=YAML",
        ),
        (
            "set-elsewhere",
            &[
                "data",
                "f",
                "--root",
                "r",
                "--id",
                "m",
                "--set",
                "grain.os=x",
            ],
            "grains",
        ),
        (
            "set-no-yaml",
            &[
                "data",
                "f",
                "--root",
                "r",
                "--id",
                "m",
                "--set",
                "grains.os=[x",
            ],
            "YAML",
        ),
        (
            "standard-input-twice",
            &["data", "f", "--root", "r", "--grains", "-", "--pillar", "-"],
            "once",
        ),
        (
            "bad-format",
            &["data", "f", "--root", "r", "--id", "m", "-o", "xml"],
            "json",
        ),
        (
            "stack-without-sources",
            &["stack", "f", "--root", "r", "--id", "m"],
            "SOURCE",
        ),
        (
            "tofs-without-files",
            &["tofs", "f", "--root", "r", "--id", "m"],
            "FILE",
        ),
    ];
    for (name, args, says) in cases {
        let ran = run(tree.path(), args);
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(2), ""),
            "{name}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(says), "{name}: {}", ran.stderr);
        assert_snapshot(&format!("usage/{name}.txt"), &ran.stderr);
    }
}

#[test]
fn an_unknown_keyword_argument_is_refused() {
    let ran = data(&tree(), &["--kwargs", r#"{"source": []}"#]);
    assert_eq!(ran.stdout, "");
    assert!(
        ran.status == Some(1) || ran.status == Some(2),
        "{:?}",
        ran.status
    );
    assert_snapshot("usage/kwargs-unknown.txt", &ran.stderr);
}

#[test]
fn every_verb_has_help_with_an_example() {
    let overall = run(&repository(), &["--help"]);
    assert_eq!((overall.status, &*overall.stderr), (Some(0), ""));
    assert_snapshot("help/mapstack.txt", &overall.stdout);
    for &verb in VERBS {
        assert!(overall.stdout.contains(&format!("\n  {verb} ")), "{verb}");
        let ran = run(&repository(), &[verb, "--help"]);
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{verb}");
        assert!(
            ran.stdout.contains(&format!("  mapstack {verb} ")),
            "{verb} has no example"
        );
        assert_snapshot(&format!("help/{verb}.txt"), &ran.stdout);
    }
}

#[test]
fn short_help_fits_a_screen() {
    let overall = run(&repository(), &["-h"]);
    let verbs = VERBS
        .iter()
        .map(|verb| (*verb, run(&repository(), &[verb, "-h"])));
    for (verb, ran) in verbs.chain([("", overall)]) {
        let lines = ran.stdout.lines().count();
        assert!(
            lines <= 42,
            "mapstack {verb} -h has {lines} lines\n{}",
            ran.stdout
        );
        assert!(
            ran.stdout.lines().all(|line| line.chars().count() <= 100),
            "{}",
            ran.stdout
        );
        assert!(ran.stdout.contains("--help"), "{}", ran.stdout);
    }
}

#[test]
fn verbs_that_print_answers_have_one_name_for_their_form() {
    for verb in VERBS {
        let long = run(&repository(), &[verb, "--help"]).stdout;
        if !["completions", "fetch", "watch"].contains(verb) {
            assert!(long.contains("  -o, --output <FORMAT>"), "{verb}");
            assert!(long.contains("[alias: --format]"), "{verb}");
        }
        let has_many = long.contains("--minion-glob");
        assert_eq!(has_many, long.contains("--select"), "{verb}");
    }
}

#[test]
fn the_version_says_what_the_program_is() {
    let short = run(&repository(), &["--version"]).stdout;
    assert_eq!(short.lines().count(), 1);
    for flags in [["--version", "-v"], ["-V", "--verbose"]] {
        let long = run(&repository(), &flags).stdout;
        for part in [
            "commit: ",
            "features: fetch, git, html, http, json-schema, tera\nleft out: jemalloc (--features full has all)",
            "equals: Salt 3008.",
            "mapstack-python",
        ] {
            assert!(long.contains(part), "{part}: {long}");
        }
    }
}

#[test]
fn platforms_are_chosen_by_patterns() {
    let tree = tree();
    let fleet = |pattern: &str| {
        let ran = run(
            tree.path(),
            &["fleet", "f", "--root", "r", "--platform", pattern],
        );
        (ran.status, ran.stdout.lines().count(), ran.stderr)
    };
    let (status, debians, _) = fleet("debian-*");
    assert!(status == Some(0) && debians > 1, "{status:?} {debians}");
    assert!(fleet("all").1 > debians);
    assert_eq!(fleet("debian-*,arch").1, debians + 1);
    let none = fleet("beos-*");
    assert_eq!(none.0, Some(2));
    assert!(
        none.2.contains("no platform matches 'beos-*'"),
        "{}",
        none.2
    );
    let one = run(
        tree.path(),
        &["data", "f", "--root", "r", "--platform", "debian-*"],
    );
    assert!(
        one.stderr.contains("one minion is looked at here"),
        "{}",
        one.stderr
    );
}

#[test]
fn every_shell_has_completions() {
    for (shell, word) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef mapstack"),
        ("fish", "complete -c mapstack"),
    ] {
        let ran = run(&repository(), &["completions", shell]);
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{shell}");
        assert!(ran.stdout.contains(word), "{shell}");
        for &verb in VERBS {
            assert!(ran.stdout.contains(verb), "{shell} does not know {verb}");
        }
    }
}

#[test]
fn set_changes_facts() {
    let tree = tree();
    let cases: &[(&[&str], &str, &str)] = &[
        (&["--set", "grains.os=Ubuntu"], "os", ""),
        (&["--set", "grains.os=Debian"], "os", "debian\n"),
        (&["--set", "pillar.f.c=4"], "c", "4\n"),
        (&["--set", "pillar.f.c='4'"], "c", "'4'\n"),
        (&["--set", "pillar.f={d: [1, 2]}"], "d", "- 1\n- 2\n"),
        (&["--set", "pillar.f.c="], "c", "null\n"),
        (&["--set", "pillar.f.x.y.z=true"], "x:y:z", "true\n"),
        (&["--set", "opts.f={o: 1}"], "o", "1\n"),
        (
            &["--set", "pillar.f.c=4", "--set", "pillar.f.c=5"],
            "c",
            "5\n",
        ),
        (&["--set", "pillar.f.c=a=b"], "c", "a=b\n"),
    ];
    for (flags, key, expected) in cases {
        let ran = data(&tree, &[flags, &["--get", key][..]].concat());
        if expected.is_empty() {
            assert_eq!((ran.status, &*ran.stdout), (Some(1), ""), "{flags:?}");
        } else {
            assert_eq!(
                (ran.status, &*ran.stdout, &*ran.stderr),
                (Some(0), *expected, ""),
                "{flags:?}"
            );
        }
    }
}

#[test]
fn facts_come_from_files_and_standard_input() {
    let tree = tree();
    tree.write("pillar.json", br#"{"f": {"c": 7}}"#);
    let grains = r#"{"local": {"os": "Debian", "id": "web1"}}"#;
    let args = [
        "data",
        "f",
        "--root=r",
        "--grains=-",
        "--pillar=pillar.json",
        "-o",
        "json",
        "--get",
    ];
    let get = |key: &str| run_with_input(tree.path(), &[&args[..], &[key]].concat(), grains);
    for (key, expected) in [("c", "7\n"), ("os", "\"debian\"\n"), ("id", "\"web1\"\n")] {
        let ran = get(key);
        assert_eq!(
            (ran.status, &*ran.stdout, &*ran.stderr),
            (Some(0), expected, ""),
            "{key}"
        );
    }
}

#[test]
fn get_prints_one_value_or_says_what_there_is() {
    let tree = tree();
    for (key, expected) in [
        ("a", "1\n"),
        ("sub:b", "- x\n- y\n"),
        ("sub:b:1", "y\n"),
        ("sub:1", "one\n"),
    ] {
        let ran = data(&tree, &["--get", key]);
        assert_eq!(
            (ran.status, &*ran.stdout, &*ran.stderr),
            (Some(0), expected, ""),
            "{key}"
        );
    }
    for (name, key) in [("near", "map_jina"), ("far", "nothing"), ("below", "sub:z")] {
        let ran = data(&tree, &["--get", key]);
        assert_eq!((ran.status, &*ran.stdout), (Some(1), ""), "{key}");
        assert_snapshot(&format!("usage/get-{name}.txt"), &ran.stderr);
    }
}

#[test]
fn json_keys_become_strings_as_in_python_and_keep_their_order() {
    let tree = Tree::new(&[
        (
            "r/f/parameters/defaults.yaml",
            "values: {m: {z: 1, 1: a, false: b, null: c, 1.5: d, a: é}}\n",
        ),
        ("minion.yaml", "id: web1\n"),
    ]);
    let ran = data(&tree, &["--get", "m", "-o", "json"]);
    let expected = "{\n  \"z\": 1,\n  \"1\": \"a\",\n  \"false\": \"b\",\n  \"null\": \"c\",\n  \"1.5\": \"d\",\n  \"a\": \"é\"\n}\n";
    assert_eq!(
        (ran.status, &*ran.stderr, &*ran.stdout),
        (Some(0), "", expected)
    );
}

#[test]
fn yaml_output_reads_back_to_the_same_output() {
    let minion = "--minion=examples/minions/bsd1.yaml";
    let args = [
        "users",
        "--root=examples/site",
        "--root=examples/formulas",
        minion,
    ];
    let first = run(&repository(), &[&["data"], &args[..]].concat());
    let tree = Tree::new(&[("values.yaml", &first.stdout)]);
    let again = format!(
        "--default-values={}",
        tree.path().join("values.yaml").display()
    );
    let second = run(
        &repository(),
        &[&["stack"], &args[..], &["G@nothing", &again]].concat(),
    );
    assert_eq!((second.status, &*second.stderr), (Some(0), ""));
    assert_eq!(second.stdout, first.stdout);
}

#[test]
fn a_reader_that_stops_early_is_not_an_error() {
    let mut child = command(&repository())
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The script is larger than a pipe holds, or it is written after this; either way the pipe breaks.
    drop(child.stdout.take());
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), &*stderr), (Some(0), ""));
}

#[test]
fn keyword_arguments_have_flags_and_flags_win() {
    let tree = tree();
    tree.write("r/f/p/defaults.yaml", b"values: {from: p}\n");
    let from = |more: &[&str]| data(&tree, &[more, &["--get", "from"]].concat()).stdout;
    assert_eq!(from(&["--parameter-dirs=f/p"]), "p\n");
    assert_eq!(from(&["--kwargs", r#"{"parameter_dirs": ["f/p"]}"#]), "p\n");
    assert_eq!(
        from(&[
            "--kwargs",
            r#"{"parameter_dirs": ["nowhere"]}"#,
            "--parameter-dirs=f/p"
        ]),
        "p\n"
    );
    let meta = |more: &[&str]| {
        data(
            &tree,
            &[more, &["--get", "map_jinja", "-o", "json"]].concat(),
        )
        .stdout
    };
    let flags = meta(&[
        "--sources=Y!G@os",
        "--sources=C@f",
        "--config-get-strategy=recurse",
        "--default-merge-strategy=recurse",
        "--default-merge-lists",
        "--post-map=false",
        "--post-map-template=jinja",
        "--cache=false",
    ]);
    let kwargs = r#"{"sources": ["Y!G@os", "C@f"], "config_get_strategy": "recurse", "default_merge_strategy": "recurse",
        "default_merge_lists": true, "post_map": false, "post_map_template": "jinja", "cache": false}"#;
    assert!(flags.contains("\"post_map\": false"), "{flags}");
    assert_eq!(flags, meta(&["--kwargs", kwargs]));
}

#[test]
fn another_saltenv_has_its_own_roots() {
    let tree = tree();
    tree.write("dev/f/parameters/defaults.yaml", b"values: {env: dev}\n");
    let env = |more: &[&str]| {
        run(
            tree.path(),
            &[&["data", "f", "--minion=minion.yaml", "--get=env"], more].concat(),
        )
        .stdout
    };
    assert_eq!(
        env(&["--root=base=r", "--root=dev=dev", "--saltenv=dev"]),
        "dev\n"
    );
    assert_eq!(env(&["--root=base=r", "--root=dev=dev"]), "");
    assert_eq!(env(&["--root=dev", "--saltenv=dev"]), "dev\n");
}

#[test]
fn the_version_is_printed() {
    let ran = run(&repository(), &["--version"]);
    assert_eq!(
        (ran.status, ran.stdout),
        (Some(0), format!("mapstack {}\n", env!("CARGO_PKG_VERSION")))
    );
}

#[test]
fn messages_refer_to_flags_and_verbs_that_there_are() {
    use mapstack::Means;
    for (means, verb) in [
        (Means::Fact, "data"),
        (Means::Minions, "lint"),
        (Means::Pillar, "data"),
        (Means::Root(None), "data"),
        (Means::Roots, "data"),
        (Means::StackRoot, "pillar"),
        (Means::Stub, "data"),
        (Means::Deployed, "pillar"),
        (Means::Permission(Some("cmd.run")), "data"),
        (Means::MaxTime, "fleet"),
        (Means::MaxMemory, "fleet"),
        (Means::StrictSandbox, "data"),
        (Means::ShowSecrets, "explain"),
        (Means::Level("x"), "lint"),
        (Means::Rules, "lint"),
        (Means::Schema, "schema"),
        (Means::Map("f"), "map"),
        (Means::Sources, "sources"),
        (Means::Data, "data"),
        (Means::Diff, "diff"),
        (Means::Blame("f", "k"), "explain"),
        (Means::Fetch, "fetch"),
        (Means::FetchConfigured, "fetch"),
        (Means::FetchOne("url"), "fetch"),
    ] {
        let name = mapstack_frontend::inputs::name_of(means);
        let words: Vec<&str> = name.split([' ', '`']).collect();
        let call = words.iter().position(|word| *word == "mapstack");
        if let Some(at) = call {
            assert_eq!(words[at + 1], verb, "{name}");
        }
        let help = run(&repository(), &[verb, "--help"]).stdout;
        for flag in words.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(flag), "{name}: {verb} has no {flag}");
        }
    }
}

/// Missing inputs, and the command line of a state run.
#[test]
#[expect(clippy::too_many_lines, reason = "one row for each command line")]
fn slips_are_named_and_pillars_of_command_lines_win() {
    let tree = crate::common::Tree::new(&[
        ("pillar/top.sls", "base: {'*': [a], 'I@web:up:1': [b]}\n"),
        ("pillar/a.sls", "web: {port: 80, up: 1}\n"),
        ("pillar/b.sls", "web: {b: 1}\n"),
        ("dev/top.sls", "dev: {bad1: [a]}\n"),
        ("dev/a.sls", "web: {port: 81}\n_errors: [not whole]\n"),
        (
            "salt/f/parameters/defaults.yaml",
            "values: {port: {{ salt['pillar.get']('web:port', 0) }}}\n",
        ),
        (
            "salt/f/map.jinja",
            "{% set mapdata = {'x': 1} %}{% set f = mapdata %}",
        ),
    ]);
    let below = |folder: &str| tree.path().join(folder).display().to_string();
    let master = format!(
        "file_roots: {{base: [{}]}}\npillar_roots: {{base: [{}], dev: [{}]}}\n",
        below("salt"),
        below("pillar"),
        below("dev")
    );
    tree.write("master", master.as_bytes());
    let facts = "--config master --platform debian-12";
    for (line, status, out, err) in [
        ("data fo", 1, "", "no root has a formula 'fo'"),
        (
            "explain lookup:root",
            1,
            "",
            "write the key after the formula, as in FORMULA lookup:root",
        ),
        ("sources g", 1, "", "no root has a formula 'g'"),
        ("data web", 0, "port: 80", ""),
        ("data fo --parameter-dirs f/parameters", 0, "port: 80", ""),
        (
            "data f --set grains.os_famly=",
            0,
            "port",
            "did you mean 'os_family'?",
        ),
        (
            "data f --set opts.file_rotos=1",
            0,
            "port",
            "did you mean 'file_roots'?",
        ),
        ("data f --set grains.role=1 --strict", 0, "port", ""),
        (
            "sources f",
            0,
            "defaults.yaml",
            "f/map.jinja does not use them",
        ),
        (
            "render salt/f/parameters/defaults.yaml",
            0,
            "port: 80",
            "is salt://f/parameters/defaults.yaml",
        ),
        (
            "render f/parameters/defaults.yaml --strict",
            0,
            "port: 80",
            "",
        ),
        (
            "data f --pillar-override {web:\u{a0}{port:\u{a0}8080}}",
            0,
            "port: 8080",
            "",
        ),
        (
            "pillar --pillar-override {web:\u{a0}{port:\u{a0}8080}}",
            0,
            "  port: 8080\n  up: 1",
            "",
        ),
        (
            "data f --pillar-override 80",
            2,
            "",
            "--pillar-override is an integer, not a mapping",
        ),
        (
            "pillar --pillarenv dev --set id=bad1",
            1,
            "port: 81",
            "gives `_errors`, with which no state run begins: not whole",
        ),
        ("data f --pillarenv dev", 0, "port: 0", ""),
        ("data f --set id=bad1", 1, "", "gives `_errors`"),
        ("sources pillar", 0, "is the one before any sls is read", ""),
    ] {
        let args: Vec<String> = format!("{line} {facts}")
            .split(' ')
            .map(|arg| arg.replace('\u{a0}', " "))
            .collect();
        let ran = crate::common::run(tree.path(), &args);
        let shown = format!("{line}: {:?} {}{}", ran.status, ran.stdout, ran.stderr);
        assert_eq!(ran.status, Some(status), "{shown}");
        assert!(
            ran.stdout.contains(out) && ran.stderr.contains(err),
            "{shown}"
        );
    }
}
