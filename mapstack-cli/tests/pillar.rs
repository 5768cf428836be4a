//! `mapstack pillar`: what it prints, where it puts the blame, and Salt's `cmd_json` and `cmd_yaml` beside it.

use crate::common;
use crate::common::{Ran, Tree, assert_file, assert_snapshot, repository, run};
use mapstack::value::{Value, json};
use mapstack::yaml;

const MASTER: &str = "--config=examples/pillars/master.yaml";

fn printed(args: &[&str]) -> String {
    let ran = run(&repository(), &[&["pillar"], args].concat());
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{args:?}");
    ran.stdout
}

#[test]
fn every_example_has_what_its_expected_file_says() {
    let expected = |name: &str| repository().join("examples/expected").join(name);
    for minion in ["web1", "db1"] {
        let id = format!("--id={minion}.example.org");
        let given = [MASTER, "--minions=examples/pillars/minions", &id];
        assert_file(
            &expected(&format!("pillar-{minion}.yaml")),
            &printed(&given),
        );
        assert_file(
            &expected(&format!("pillar-{minion}-merged.yaml")),
            &printed(&[&given[..], &["--merged"]].concat()),
        );
    }
    let given = ["--stack=examples/pillars/strategies/stack.cfg", "--id=any"];
    assert_file(&expected("pillar-strategies.yaml"), &printed(&given));
    for minion in ["web1", "db1"] {
        let id = format!("--id={minion}.example.org");
        let given = [
            "--makostack=examples/pillars/makostack/stack.cfg",
            "--minions=examples/pillars/minions",
            &id,
        ];
        assert_file(
            &expected(&format!("pillar-makostack-{minion}.yaml")),
            &printed(&given),
        );
    }
}

/// The examples in PillarStack's and MakoStack's documents, with the answers of their modules.
#[test]
fn the_documented_examples_have_the_answers_of_salt_s_modules() {
    let documented = repository().join("examples/pillars/documented");
    let mut masters: Vec<_> = documented
        .join("masters")
        .read_dir()
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    masters.sort();
    assert!(!masters.is_empty());
    for master in &masters {
        for id in ["test-1-dev", "test-2-dev"] {
            let config = format!("--config=examples/pillars/documented/masters/{master}");
            let id = format!("--id={id}");
            let given = [
                &*config,
                "--minions=examples/pillars/documented/minions",
                &id,
            ];
            let expected = format!(
                "examples/expected/documented/{}-{}.yaml",
                master.trim_end_matches(".yaml"),
                &id[5..]
            );
            assert_file(&repository().join(expected), &printed(&given));
        }
    }
}

#[test]
fn all_minions_of_a_directory_come_by_their_ids() {
    let all = [
        "--stack=examples/pillars/stack/stack.cfg",
        "--minions=examples/pillars/minions",
    ];
    assert_snapshot(
        "pillar/all.json",
        &printed(&[&all[..], &["--get=web1.example.org", "-o", "json"]].concat()),
    );
    assert_snapshot(
        "pillar/all-trace.txt",
        &printed(&[&all[..], &["--trace"]].concat()),
    );
}

#[test]
fn trace_lists_the_files_and_how_they_were_merged() {
    let given = [
        MASTER,
        "--minions=examples/pillars/minions",
        "--id=db1.example.org",
        "--trace",
    ];
    assert_snapshot("pillar/trace.txt", &printed(&given));
    assert_snapshot(
        "pillar/trace.json",
        &printed(&[&given[..], &["-o", "json"]].concat()),
    );
}

/// Salt's results for the command as its external pillars `cmd_json` and `cmd_yaml`, whatever goes wrong.
#[test]
fn a_master_gets_the_pillar_or_its_errors() {
    let records = json::loads(include_str!("data/master_commands.json")).unwrap();
    let records = records.as_list().unwrap();
    assert!(!records.is_empty());
    for record in records {
        let record = record.as_map().unwrap();
        let text = |name: &str| record.get(name).unwrap().to_string();
        let files = record
            .get("files")
            .and_then(Value::as_map)
            .cloned()
            .unwrap_or_default();
        let files: Vec<(String, String)> = files
            .iter()
            .map(|(path, text)| (path.to_string(), text.to_string()))
            .collect();
        // Only Unix can have a name for such a file.
        if cfg!(windows) && files.iter().any(|(path, _)| path.contains('*')) {
            continue;
        }
        let tree = Tree::new(
            &files
                .iter()
                .map(|(path, text)| (&**path, &**text))
                .collect::<Vec<_>>(),
        );
        let (repository_path, tree_path) = (
            repository().display().to_string(),
            tree.path().display().to_string(),
        );
        let line = text("command")
            .replace("<REPO>", &repository_path)
            .replace("<TREE>", &tree_path);
        let args = words(&line.replace("%s", &text("minion_id")));
        let ran = run(&repository(), &args[1..]);
        let name = format!("{} {}", text("by"), text("name"));
        assert_eq!(ran.stderr, "", "{name}");
        assert_eq!(
            ran.status,
            Some(if text("name") == "usage" { 2 } else { 0 }),
            "{name}"
        );
        let external = match &*text("by") {
            // It reads both streams as one.
            "cmd_json" => json::loads(&format!("{}{}", ran.stdout, ran.stderr)).unwrap(),
            _ => yaml::load(&ran.stdout).unwrap(),
        };
        // The given pillar has no key that a stack changes.
        let mut merged = record.get("pillar").unwrap().as_map().unwrap().clone();
        merged.extend(
            external
                .as_map()
                .unwrap()
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        assert_eq!(
            Value::from(merged).repr().replace(&tree_path, "<TREE>"),
            text("result"),
            "{name}"
        );
    }
}

/// The words of a command line, split as a shell does as long as single quotes are its only quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// Both streams are one for `cmd_json`: whatever goes wrong, they are a pillar that says so.
#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each thing that goes wrong"
)]
fn going_on_gives_one_document_whatever_goes_wrong() {
    let files: &[(&str, &[u8])] = &[
        ("m/w.yaml", b"id: w\n"),
        ("m/broken.yaml", b"a: [\n"),
        ("m/other.yaml", b"id: x\n"),
        ("m/latin.yaml", b"grains: {a: \xe4}\n"),
        ("ok.cfg", b"ok.yml\r\n"),
        ("ok.yml", b"a: 1\r\n"),
        ("latin.cfg", b"latin.yml\n"),
        ("latin.yml", b"a: \xe4\n"),
        ("dir.cfg", b"d.yml\n"),
        ("d.yml/", b""),
        ("self.cfg", b"self.yml\n"),
        (
            "self.yml",
            b"{% macro m() %}{{ m() }}{% endmacro %}a: {{ m() }}\n",
        ),
        ("strategy.cfg", b"strategy.yml\n"),
        ("strategy.yml", b"__: merge-frist\na: 1\n"),
        ("no-list", b"ext_pillar: {stack: ok.cfg}\n"),
        ("no-yaml", b"ext_pillar: [\n"),
        ("others", b"ext_pillar: [{svn: x}, {stack: ok.cfg}]\n"),
        ("nothing", b"x: 1\n"),
    ];
    let tree = Tree::new(files);
    for (args, says) in [
        (&["--stack=ok.cfg"][..], ""),
        (&["--stack=none.cfg"], "_warnings none.cfg is not a file"),
        (
            &["--stack=none/none.cfg"],
            "_warnings none/none.cfg is not a file",
        ),
        (&["--stack=latin.cfg"], "_errors latin.yml:1:4"),
        (&["--stack=dir.cfg"], "_errors d.yml is not a regular file"),
        (
            &["--stack=self.cfg"],
            "_errors Failed to load ext_pillar stack: self.yml:1",
        ),
        (
            &["--stack=strategy.cfg"],
            "_errors did you mean 'merge-first'?",
        ),
        (
            &["--stack=none.cfg", "--strict"],
            "_errors none.cfg is not a file",
        ),
        (
            &["--config=none"],
            "_errors the configuration file none does not exist",
        ),
        (
            &["--config=no-list"],
            "_errors no-list:1:13: `ext_pillar` must be a list",
        ),
        (&["--config=no-yaml"], "_errors no-yaml:1:13"),
        (
            &["--config=nothing"],
            "_errors nothing sets neither pillar_roots nor ext_pillar",
        ),
        (
            &["--config=others"],
            "_warnings the external pillar 'svn' is left out",
        ),
        (
            &["--stack=ok.cfg", "--root=none"],
            "_warnings the root none is not a directory",
        ),
        (
            &["--stack=ok.cfg", "--stub=none.yaml"],
            "_errors cannot read none.yaml",
        ),
        (&["--stack=ok.cfg", "--allow=bogus"], "_errors --allow: "),
        (&["--stack=ok.cfg", "--set=x"], "_errors --set x: "),
        (
            &[],
            "_errors no pillar given: pass --config MASTER, whose pillar_roots",
        ),
        (
            &["--stack=ok.cfg", "--get=a"],
            "_errors cannot be used with '--get",
        ),
        (
            &["--stack=ok.cfg", "--id=v"],
            "_errors cannot be used multiple times",
        ),
        (&["--stak=ok.cfg"], "_errors unexpected argument '--stak'"),
    ] {
        assert_document(&tree, &[&["--minions=m", "--id=w"], args].concat(), says);
    }
    for (args, says) in [
        (
            &["--minions=m", "--id=broken"][..],
            "_errors m/broken.yaml:1:4",
        ),
        (&["--minions=m", "--id=latin"], "_errors m/latin.yaml"),
        (
            &["--minions=m", "--id=other"],
            "_errors is named after 'other' and has the id 'x'",
        ),
        (
            &["--minions=m", "--id=nope"],
            "_errors no facts of 'nope' in m",
        ),
        (
            &["--minions=m", "--id=*"],
            "_errors no facts of '*' in m; an id is not a pattern",
        ),
        (
            &["--minions=m", "--id=[w]"],
            "_errors no facts of '[w]' in m; an id is not a pattern",
        ),
        (
            &["--minions=m", "--id="],
            "_errors '' is not a valid minion id",
        ),
        (
            &["--minions=m", "--id=.."],
            "_errors '..' is not a valid minion id",
        ),
        (
            &["--minions=m", "--id=../w"],
            "_errors '../w' is not a valid minion id",
        ),
        (
            &["--minions=m", "--id=a\\b"],
            "_errors 'a\\b' is not a valid minion id",
        ),
        (
            &["--minions=m", "--id", "--merged"],
            "_errors a value is required for '--id",
        ),
        (
            &["--minions=m", "--id=w", "--minion-glob=*"],
            "_errors cannot be used with '--minion-glob",
        ),
        (
            &["--minions=m", "--minion-glob=z*"],
            "_errors no minion matches 'z*' in m; there are",
        ),
        (&["--minions=none", "--id=w"], "_errors none"),
        (&["--minion=none", "--id=w"], "_errors cannot read none"),
        (&[], "_errors no minion given"),
    ] {
        assert_document(&tree, &[&["--stack=ok.cfg"], args].concat(), says);
    }
}

fn assert_document(tree: &Tree, args: &[&str], says: &str) {
    let (list, message) = says.split_once(' ').unwrap_or_default();
    for format in ["json", "yaml"] {
        let ran = run(
            tree.path(),
            &[&["pillar", "--keep-going", "-o", format], args].concat(),
        );
        let both = ran.stdout + &ran.stderr;
        let document = match format {
            "json" => json::loads(&both).map_err(|e| e.to_string()),
            _ => yaml::load(&both).map_err(|e| e.to_string()),
        };
        let document = document.unwrap_or_else(|e| panic!("{args:?}: {e} in {both}"));
        let pillar = document
            .as_map()
            .unwrap_or_else(|| panic!("{args:?}: {both}"));
        let messages: Vec<String> = match pillar.get(list).and_then(Value::as_list) {
            Some(messages) => messages.iter().map(ToString::to_string).collect(),
            None => Vec::new(),
        };
        assert!(
            list.is_empty() || messages.iter().any(|one| one.contains(message)),
            "{args:?}: {both}"
        );
        assert_eq!(
            pillar.contains_key("_errors"),
            list == "_errors",
            "{args:?}: {both}"
        );
        assert_eq!(
            pillar.contains_key("_warnings"),
            list == "_warnings",
            "{args:?}: {both}"
        );
    }
}

#[cfg(unix)]
#[test]
fn going_on_needs_no_arguments_in_unicode() {
    use std::os::unix::ffi::OsStrExt as _;

    let id = std::ffi::OsStr::from_bytes(b"--id=\xff");
    let ran = common::command(&repository())
        .args(["pillar", "--keep-going"])
        .arg(id)
        .output()
        .unwrap();
    assert_eq!((ran.status.code(), &*ran.stderr), (Some(2), &b""[..]));
    let pillar = json::loads(&String::from_utf8(ran.stdout).unwrap()).unwrap();
    assert!(
        pillar
            .repr()
            .starts_with("{'_errors': [\"mapstack pillar: --id is not UTF-8"),
        "{}",
        pillar.repr()
    );
}

/// The output for one minion is its part of the output for many.
#[test]
fn going_on_gives_each_of_many_its_own_errors() {
    let tree = Tree::new(&[
        ("m/a.yaml", "grains: {os: x}\n"),
        ("m/b.yaml", "grains: [\n"),
        ("m/c.yaml", "grains: {os: y}\n"),
        ("s.cfg", "{{ __grains__.os }}.yml"),
        ("x.yml", "a: 1\n"),
        ("y.yml", "80: !!binary aGk=\n"),
        (
            "master",
            "ext_pillar: [{stack: s.cfg}]\nno_such_option_of_gitfs: 1\ninclude: none.conf\n",
        ),
    ]);
    let of = |more: &[&str]| {
        let args = [
            &[
                "pillar",
                "--config=master",
                "--minions=m",
                "--keep-going",
                "-o",
                "json",
            ],
            more,
        ]
        .concat();
        let ran = run(tree.path(), &args);
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
        json::loads(&ran.stdout).unwrap()
    };
    let all = of(&[]);
    let ids: Vec<String> = all
        .as_map()
        .unwrap()
        .keys()
        .map(ToString::to_string)
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
    for id in &ids {
        let one = of(&[&format!("--id={id}")]);
        let among = all.as_map().unwrap().get(&**id).unwrap();
        assert_eq!(
            one.repr(),
            among.repr().replace(&format!("for the minion {id}"), ""),
            "{id}"
        );
    }
    assert!(
        all.repr().contains("which JSON cannot express"),
        "{}",
        all.repr()
    );
}

/// For a program, the output is a pillar; for a person, it is the trace.
#[test]
fn a_trace_has_its_messages_on_standard_error() {
    let files: &[(&str, &str)] = &[("s.cfg", "bad.yml"), ("bad.yml", "a: {{ 1/0 }}")];
    let ran = ran(
        &Case {
            name: "",
            files,
            args: STACK,
        },
        &["--keep-going", "--trace"],
    );
    assert_eq!(ran.status, Some(0));
    assert!(
        ran.stderr.contains("error: Jinja error: division by zero"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stdout.contains("failed       bad.yml"),
        "{}",
        ran.stdout
    );
}

#[test]
fn json_that_loses_something_says_so() {
    let files: &[(&str, &str)] = &[
        ("s.cfg", "a.yml"),
        ("a.yml", "p: {80: x}\nb: !!binary aGk=\n"),
    ];
    let case = Case {
        name: "",
        files,
        args: STACK,
    };
    let yaml = ran(&case, &[]);
    assert_eq!(
        (yaml.status, &*yaml.stderr, &*yaml.stdout),
        (Some(0), "", "p:\n  80: x\nb: !!binary |\n  aGk=\n")
    );
    let json = ran(&case, &["-o", "json"]);
    assert!(
        json.stderr
            .contains("JSON only has text keys, so these keys become text: p:80"),
        "{}",
        json.stderr
    );
    let said =
        "JSON has neither bytes nor sets, so these values become the text that Python shows: b";
    assert!(json.stderr.contains(said), "{}", json.stderr);
    let expected = "{\n  \"p\": {\n    \"80\": \"x\"\n  },\n  \"b\": \"b'hi'\"\n}\n";
    assert_eq!((json.status, &*json.stdout), (Some(0), expected));
}

const MINION: (&str, &str) = (
    "m.yaml",
    "id: web1\ngrains: {os: Debian, roles: [a]}\npillar: {p: 1}\n",
);

struct Case {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    args: &'static [&'static str],
}

fn ran(case: &Case, more: &[&str]) -> Ran {
    let tree = Tree::new(&[&[MINION], case.files].concat());
    let args = [&["pillar", "--minion=m.yaml"], case.args, more].concat();
    run(tree.path(), &args)
}

const STACK: &[&str] = &["--stack=s.cfg"];

/// Errors, in the reference as well unless DIFFERENCES.md says otherwise.
const ERRORS: &[Case] = &[
    Case {
        name: "config-template",
        files: &[("s.cfg", "a.yml\n{{ __grains__.nope.nope }}\n")],
        args: STACK,
    },
    Case {
        name: "config-syntax",
        files: &[("s.cfg", "{% for r in x %}\n")],
        args: STACK,
    },
    Case {
        name: "data-template",
        files: &[("s.cfg", "a.yml\n"), ("a.yml", "a: 1\nb: {{ 1 / 0 }}\n")],
        args: STACK,
    },
    Case {
        name: "data-yaml-through-a-template",
        files: &[
            ("s.cfg", "a.yml\n"),
            ("a.yml", "a: {{ 1 }}\nb: {{ 'x: y: z' }}\n"),
        ],
        args: STACK,
    },
    Case {
        name: "data-yaml-in-an-include",
        files: &[
            ("s.cfg", "d/a.yml\n"),
            ("d/a.yml", "{% include 'd/part.txt' %}\n"),
            ("d/part.txt", "a: 1\nb: [1\n"),
        ],
        args: STACK,
    },
    Case {
        name: "error-in-a-macro",
        files: &[
            ("s.cfg", "a.yml\n"),
            ("a.yml", "{% import 'lib.j2' as lib %}\na: {{ lib.f() }}\n"),
            (
                "lib.j2",
                "{% macro f() %}\n{{ nope.nope }}\n{% endmacro %}\n",
            ),
        ],
        args: STACK,
    },
    Case {
        name: "import-of-nothing",
        files: &[("s.cfg", "a.yml"), ("a.yml", "{% import 'x' as x %}")],
        args: STACK,
    },
    Case {
        name: "unknown-strategy",
        files: &[
            ("s.cfg", "a.yml\nb.yml"),
            ("a.yml", "u: {x: 1}"),
            ("b.yml", "u:\n  y: 2\n  __: merge-lst\n"),
        ],
        args: STACK,
    },
    Case {
        name: "unknown-strategy-of-a-list",
        files: &[
            ("s.cfg", "a.yml\nb.yml"),
            ("a.yml", "u: [1]"),
            ("b.yml", "u:\n  - __: 5\n  - 2\n"),
        ],
        args: STACK,
    },
    Case {
        name: "item-is-a-number",
        files: &[("s.cfg", "- a.yml\n- 5\n"), ("a.yml", "a: 1")],
        args: STACK,
    },
    Case {
        name: "item-is-a-directory",
        files: &[("s.cfg", "d*\n"), ("d/a.yml", "a: 1")],
        args: STACK,
    },
    Case {
        name: "item-leads-up",
        files: &[
            ("c/s.cfg", "a.yml\n{{ __grains__['os'] }}.yml\n"),
            ("secret.yml", "a: 1"),
        ],
        args: &["--stack=c/s.cfg", "--set=grains.os=../secret"],
    },
    Case {
        name: "item-is-absolute",
        files: &[("s.cfg", "/etc/passwd\n")],
        args: STACK,
    },
    Case {
        name: "pattern-leads-up",
        files: &[("c/s.cfg", "../*.yml\n")],
        args: &["--stack=c/s.cfg"],
    },
    Case {
        name: "mako-leads-out",
        files: &[("s.cfg", "core.yml\n/etc/passwd\n")],
        args: &["--makostack=s.cfg"],
    },
    Case {
        name: "functions-run-no-commands",
        files: &[("s.cfg", "{{ __salt__['cmd.run']('id') }}\n")],
        args: STACK,
    },
    Case {
        name: "endless-include",
        files: &[("s.cfg", "a.yml"), ("a.yml", "{% include 'a.yml' %}")],
        args: STACK,
    },
    Case {
        name: "master-is-a-list",
        files: &[("master", "- 1\n")],
        args: &["--config=master"],
    },
    Case {
        name: "master-ext-pillar-is-a-mapping",
        files: &[("master", "ext_pillar:\n  stack: s.cfg\n")],
        args: &["--config=master"],
    },
    Case {
        name: "master-item-is-text",
        files: &[("master", "ext_pillar:\n  - stack: s.cfg\n  - stack\n")],
        args: &["--config=master"],
    },
    Case {
        name: "master-no-yaml",
        files: &[("master", "ext_pillar:\n  - stack: [s.cfg\n")],
        args: &["--config=master"],
    },
    Case {
        name: "selector-unknown",
        files: &[(
            "master",
            "ext_pillar:\n  - stack:\n      grain:os: {Debian: s.cfg}\n",
        )],
        args: &["--config=master"],
    },
    Case {
        name: "selector-of-a-list",
        files: &[(
            "master",
            "ext_pillar:\n  - stack:\n      grains:roles: {a: s.cfg}\n",
        )],
        args: &["--config=master"],
    },
    Case {
        name: "selector-without-a-table",
        files: &[(
            "master",
            "ext_pillar:\n  - stack:\n      grains:os: s.cfg\n",
        )],
        args: &["--config=master"],
    },
    Case {
        name: "config-file-is-a-number",
        files: &[("master", "ext_pillar:\n  - stack: [s.cfg, 5]\n")],
        args: &["--config=master"],
    },
    Case {
        name: "environment-leads-up",
        files: &[(
            "master",
            "ext_pillar:\n  - stack:\n      grains:os: {Debian: __env__/s.cfg}\n",
        )],
        args: &["--config=master", "--set=opts.pillarenv=../other"],
    },
    Case {
        name: "no-such-minion",
        files: &[("s.cfg", ""), ("ms/a.yaml", "{}")],
        args: &["--stack=s.cfg", "--minions=ms", "--id=b"],
    },
    Case {
        name: "minion-of-another-name",
        files: &[("s.cfg", ""), ("ms/a.yaml", "id: b")],
        args: &["--stack=s.cfg", "--minions=ms", "--id=a"],
    },
    Case {
        name: "minions-twice",
        files: &[("s.cfg", ""), ("ms/a.yaml", "id: a"), ("ms/a.json", "{}")],
        args: &["--stack=s.cfg", "--minions=ms"],
    },
];

#[test]
fn errors_say_what_where_and_why() {
    for case in ERRORS {
        let tree = Tree::new(&[&[MINION], case.files].concat());
        let minion: &[&str] = if case.args.contains(&"--minions=ms") {
            &[]
        } else {
            &["--minion=m.yaml"]
        };
        let ran = run(tree.path(), &[&["pillar"], minion, case.args].concat());
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(1), ""),
            "{}: {}",
            case.name,
            ran.stderr
        );
        let here = tree
            .path()
            .canonicalize()
            .expect("it is there")
            .display()
            .to_string();
        assert_snapshot(
            &format!("pillar/errors/{}.txt", case.name),
            &ran.stderr.replace(&here, "<DIR>"),
        );
    }
}

/// Mistakes that the reference accepts silently.
const WARNINGS: &[Case] = &[
    Case {
        name: "no-config-file",
        files: &[("s.cfg", "")],
        args: &["--stack=nope.cfg", "--stack=s.cfg"],
    },
    Case {
        name: "blanks-around-a-name",
        files: &[
            ("s.cfg", "  a.yml\nb.yml # note\n"),
            ("a.yml", "a: 1"),
            ("b.yml", "b: 1"),
        ],
        args: STACK,
    },
    Case {
        name: "a-list-is-no-mapping",
        files: &[
            ("s.cfg", "a.yml\nb.yml"),
            ("a.yml", "- 1"),
            ("b.yml", "b: 1"),
        ],
        args: STACK,
    },
    Case {
        name: "others-are-left-out",
        files: &[
            (
                "master",
                "ext_pillar:\n  - svn: [x]\n  - stack: s.cfg\ninclude: more.conf\n",
            ),
            ("s.cfg", "b.yml"),
            ("b.yml", "b: 1"),
        ],
        args: &["--config=master"],
    },
    Case {
        name: "two-in-one-item",
        files: &[
            (
                "master",
                "ext_pillar:\n  - stack: s.cfg\n    makostack: s.cfg\n",
            ),
            ("s.cfg", "b.yml"),
            ("b.yml", "b: 1"),
        ],
        args: &["--config=master"],
    },
    Case {
        name: "unknown-merging-strategy",
        files: &[
            (
                "master",
                "ext_pillar: [{stack: s.cfg}]\npillar_source_merging_strategy: smrt\n",
            ),
            ("s.cfg", "b.yml"),
            ("b.yml", "b: 1"),
        ],
        args: &["--config=master"],
    },
    Case {
        name: "undefined-in-stack",
        files: &[
            ("s.cfg", "{% do stack.update({'u': nope}) %}b.yml"),
            ("b.yml", "b: 1"),
        ],
        args: STACK,
    },
    Case {
        name: "makostack-drops-what-fails",
        files: &[
            (
                "c/s.cfg",
                "bad.yml\nworse.yml\nlast.yml\n../up.yml\nb.yml\n",
            ),
            ("c/bad.yml", "a: 1\nb: c: d\n"),
            ("c/worse.yml", "__: ovrwrite\na: 1\n"),
            // Values merged before the mistake stay.
            ("c/last.yml", "kept: 1\nx: {__: ovrwrite}\n"),
            ("c/b.yml", "x: {y: 1}\n"),
            ("up.yml", "up: 1\n"),
        ],
        args: &["--makostack=c/s.cfg", "--makostack=c/s.cfg"],
    },
];

/// MakoStack drops a data file whose template fails; a failure of the config file itself is an error.
const MAKO_WARNINGS: &[Case] = &[Case {
    name: "makostack-drops-templates-that-fail",
    files: &[
        (
            "s.cfg",
            "% for n in range(1, 8):\n${n}.yml\n% endfor\nlast.yml\n",
        ),
        ("1.yml", "a: 1\nb: ${1 / 0}\n"),
        ("2.yml", "a: 1\n% if x\nb: 2\n% endif\n"),
        ("3.yml", "a: ${nope}\n"),
        ("4.yml", "a: 1\n<%include file='d/part.mako'/>\n"),
        (
            "d/part.mako",
            "<%def name='f()'>\n${stack['nope']}\n</%def>\n${f()}\n",
        ),
        ("5.yml", "a: 1\nb: ${'x: y: z'}\n"),
        (
            "6.yml",
            "<% stack['kept'] = 1 %>\n<%include file='nope.mako'/>\n",
        ),
        ("7.yml", "# -*- coding: latin-1 -*-\na: \u{fc}\n"),
        ("last.yml", "last: ${minion_id}\n"),
    ],
    args: &["--makostack=s.cfg"],
}];

#[test]
fn makostack_tells_where_the_templates_fail_that_it_drops() {
    warnings(MAKO_WARNINGS);
}

#[test]
fn a_config_file_of_makostack_that_fails_is_an_error() {
    for (name, files) in [
        (
            "makostack-config-raises",
            &[("s.cfg", "a.yml\n${__grains__['nope']}.yml\n")][..],
        ),
        (
            "makostack-config-syntax",
            &[("s.cfg", "% for r in x:\na.yml\n")],
        ),
        (
            "makostack-config-undefined",
            &[("s.cfg", "a.yml\n\nr-${role}.yml\n")],
        ),
    ] {
        let ran = ran(
            &Case {
                name,
                files,
                args: &["--makostack=s.cfg"],
            },
            &[],
        );
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(1), ""),
            "{name}: {}",
            ran.stderr
        );
        assert_snapshot(&format!("pillar/errors/{name}.txt"), &ran.stderr);
    }
}

#[test]
fn templates_of_makostack_run_no_commands() {
    let files: &[(&str, &str)] = &[
        ("s.cfg", "a.yml\n"),
        ("a.yml", "a: ${__salt__['cmd.run']('id')}\n"),
    ];
    let ran = ran(
        &Case {
            name: "",
            files,
            args: &["--makostack=s.cfg"],
        },
        &[],
    );
    assert!(!ran.stdout.contains("uid="), "{}", ran.stdout);
    assert!(ran.stderr.contains("cmd.run"), "{}", ran.stderr);
}

/// Text of another encoding is dropped with its template, and the place is reported.
#[test]
fn makostack_drops_text_that_is_not_utf_8() {
    let tree = Tree::new(&[
        ("s.cfg", &b"a.yml\nb.yml"[..]),
        ("a.yml", b"a: 1\nb: \xff\n"),
        ("b.yml", b"b: 1"),
        ("m.yaml", b"id: x"),
    ]);
    let ran = run(
        tree.path(),
        &["pillar", "--minion=m.yaml", "--makostack=s.cfg"],
    );
    assert_eq!(
        (ran.status, &*ran.stdout),
        (Some(0), "b: 1\n"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("warning: MakoStack leaves a.yml out"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("a.yml:2:4"), "{}", ran.stderr);
}

/// The way to each of a template's own templates is bounded by the same directories.
#[test]
fn templates_of_makostack_come_from_allowed_directories_alone() {
    let tree = Tree::new(&[
        MINION,
        ("c/m.cfg", "{}"),
        ("shared/x.yml", "x: 1\n"),
        ("other/y.mako", "y: 2\n"),
    ]);
    let path = |name: &str| tree.path().join(name).display().to_string();
    tree.write("c/m.cfg", format!("{}\n", path("shared/x.yml")).as_bytes());
    tree.write(
        "shared/x.yml",
        format!("<%include file='{}'/>\n", path("other/y.mako")).as_bytes(),
    );
    let args = [
        "pillar",
        "--minion=m.yaml",
        "--makostack=c/m.cfg",
        "--stack-root=shared",
    ];
    let refused = run(tree.path(), &args);
    assert!(!refused.stdout.contains("y: 2"), "{}", refused.stdout);
    assert!(
        refused.stderr.contains("is outside of the directories"),
        "{}",
        refused.stderr
    );
    let allowed = run(tree.path(), &[&args[..], &["--stack-root=other"]].concat());
    assert_eq!(
        (allowed.status, &*allowed.stdout),
        (Some(0), "y: 2\n"),
        "{}",
        allowed.stderr
    );
}

#[test]
fn what_the_reference_swallows_is_a_warning_or_an_error() {
    warnings(WARNINGS);
}

fn warnings(cases: &[Case]) {
    for case in cases {
        let soft = ran(case, &[]);
        assert_eq!(soft.status, Some(0), "{}: {}", case.name, soft.stderr);
        assert_snapshot(
            &format!("pillar/warnings/{}.txt", case.name),
            &format!("{}---\n{}", soft.stdout, soft.stderr),
        );
        let strict = ran(case, &["--strict"]);
        assert_eq!(
            (strict.status, &*strict.stdout),
            (Some(1), ""),
            "{}",
            case.name
        );
        assert!(
            strict.stderr.contains("error: "),
            "{}: {}",
            case.name,
            strict.stderr
        );
    }
}

#[test]
fn wrong_usage_is_status_2() {
    let files: &[(&str, &str)] = &[
        ("s.cfg", "b.yml"),
        ("b.yml", "b: 1"),
        ("master", "x: 1"),
        ("ms/a.yaml", "{}"),
    ];
    for (args, says) in [
        (&["--minion=m.yaml"][..], "--stack CFG"),
        (
            &["--minion=m.yaml", "--config=master"],
            "sets neither pillar_roots nor ext_pillar",
        ),
        (&["--stack=s.cfg"], "no minion given"),
        (
            &["--stack=s.cfg", "--minions=ms", "--id=../m"],
            "is not a valid minion id",
        ),
        (
            &["--stack=s.cfg", "--minions=-", "--pillar=-"],
            "standard input",
        ),
        (
            &["--stack=s.cfg", "--minions=ms", "--minion=m.yaml"],
            "cannot be used with",
        ),
        (
            &["--stack=s.cfg", "--minion=m.yaml", "--trace", "--merged"],
            "cannot be used with",
        ),
    ] {
        let tree = Tree::new(&[&[MINION], files].concat());
        let ran = run(tree.path(), &[&["pillar"], args].concat());
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(2), ""),
            "{args:?}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn stacks_of_flags_come_in_order_both_kinds_together() {
    let files: &[(&str, &str)] = &[
        ("1.cfg", "1.yml"),
        ("2.cfg", "2.yml"),
        ("3.cfg", "3.yml"),
        ("1.yml", "l: [1]"),
        ("2.yml", "l: [2]"),
        ("3.yml", "l: [3]"),
    ];
    let get = |args: &'static [&'static str]| {
        ran(
            &Case {
                name: "",
                files,
                args,
            },
            &["--get=l", "-o", "json"],
        )
        .stdout
        .replace(['\n', ' '], "")
    };
    // Neighbours of a kind are one stack; lists of another stack replace.
    assert_eq!(get(&["--stack=1.cfg", "--stack=2.cfg"]), "[1,2]");
    assert_eq!(
        get(&["--stack=2.cfg", "--stack=1.cfg", "--makostack=3.cfg"]),
        "[3]"
    );
    assert_eq!(get(&["--makostack=3.cfg", "--stack=1.cfg"]), "[1]");
    assert_eq!(get(&["--makostack=3.cfg", "--makostack=1.cfg:m"]), "[3]");
}

#[test]
fn going_on_after_a_failure_leaves_it_in_the_pillar() {
    let files: &[(&str, &str)] = &[
        ("master", "ext_pillar: [{stack: bad.cfg}, {stack: s.cfg}]"),
        ("bad.cfg", "{{ nope.nope }}"),
        ("s.cfg", "b.yml"),
        ("b.yml", "b: 1"),
    ];
    let case = Case {
        name: "",
        files,
        args: &["--config=master"],
    };
    let stopped = ran(&case, &[]);
    assert_eq!((stopped.status, &*stopped.stdout), (Some(1), ""));
    let went_on = ran(&case, &["--keep-going", "-o", "json"]);
    assert_eq!((went_on.status, &*went_on.stderr), (Some(0), ""));
    assert_snapshot("pillar/keep-going.txt", &went_on.stdout);
}

#[test]
fn a_trace_shows_how_far_it_came() {
    let files: &[(&str, &str)] = &[
        ("s.cfg", "a.yml\nmiss.yml\nl.yml\ne.yml\nbad.yml\nb.yml"),
        ("a.yml", "__: overwrite\na: 1"),
        ("l.yml", "[1]"),
        ("e.yml", ""),
        ("bad.yml", "a: b: c"),
        ("b.yml", "b: 1"),
    ];
    let ran = ran(
        &Case {
            name: "",
            files,
            args: STACK,
        },
        &["--trace"],
    );
    assert_eq!(ran.status, Some(1));
    assert_snapshot("pillar/trace-to-an-error.txt", &ran.stdout);
}

#[test]
fn no_file_outside_is_read_unless_its_directory_is_allowed() {
    let tree = Tree::new(&[
        MINION,
        ("c/s.cfg", "l.yml\n"),
        ("c/m.cfg", "{}"),
        ("shared/x.yml", "x: 1\n"),
    ]);
    let absolute = tree.path().join("shared/x.yml");
    tree.write("c/m.cfg", format!("{}\n", absolute.display()).as_bytes());
    #[cfg(unix)]
    std::os::unix::fs::symlink(&absolute, tree.path().join("c/l.yml")).unwrap();
    for stack in ["--stack=c/s.cfg", "--makostack=c/m.cfg"] {
        let args = ["pillar", "--minion=m.yaml", stack];
        let refused = run(tree.path(), &args);
        assert_eq!((refused.status, &*refused.stdout), (Some(1), ""), "{stack}");
        assert!(
            refused.stderr.contains("is outside of the directories"),
            "{}",
            refused.stderr
        );
        assert!(
            refused.stderr.contains("--stack-root"),
            "{}",
            refused.stderr
        );
        let allowed = run(tree.path(), &[&args[..], &["--stack-root=shared"]].concat());
        assert_eq!(
            (allowed.status, &*allowed.stdout),
            (Some(0), "x: 1\n"),
            "{stack}: {}",
            allowed.stderr
        );
    }
}

#[test]
fn text_that_is_not_utf_8_is_refused_with_its_place() {
    let tree = Tree::new(&[
        ("s.cfg", &b"a.yml"[..]),
        ("a.yml", b"a: 1\nb: \xff\n"),
        ("m.yaml", b"id: x"),
    ]);
    let ran = run(tree.path(), &["pillar", "--minion=m.yaml", "--stack=s.cfg"]);
    assert_eq!((ran.status, &*ran.stdout), (Some(1), ""));
    assert!(ran.stderr.contains("a.yml:2:4"), "{}", ran.stderr);
}

/// Values are values: the reference changes both spellings.
#[test]
fn anchors_are_not_shared_between_data_files() {
    let files: &[(&str, &str)] = &[
        ("s.cfg", "a.yml\nb.yml"),
        ("a.yml", "base: &b {x: 1}\nk: *b\n"),
        ("b.yml", "base: {y: 2}"),
    ];
    let ran = ran(
        &Case {
            name: "",
            files,
            args: STACK,
        },
        &["-o", "json"],
    );
    let given = json::loads(&ran.stdout).unwrap();
    assert_eq!(given.repr(), "{'base': {'x': 1, 'y': 2}, 'k': {'x': 1}}");
    assert!(
        ran.stderr
            .contains("b.yml changes 'base', which a YAML anchor makes one mapping with 'k'"),
        "{}",
        ran.stderr
    );
}

/// Python's insides are hidden; PillarStack itself has no sandbox.
#[test]
fn templates_are_sandboxed() {
    let files: &[(&str, &str)] = &[("s.cfg", "{{ ().__class__.__mro__ }}")];
    let ran = ran(
        &Case {
            name: "",
            files,
            args: STACK,
        },
        &[],
    );
    assert_eq!((ran.status, &*ran.stdout), (Some(1), ""));
    assert!(ran.stderr.contains("unsafe"), "{}", ran.stderr);
}

#[test]
fn options_of_the_master_are_seen_as_opts() {
    let files: &[(&str, &str)] = &[
        (
            "master",
            "ext_pillar: [{stack: {'opts:site': {here: s.cfg}}}]\nsite: here\nid: salt_master\n",
        ),
        ("s.cfg", "a.yml"),
        (
            "a.yml",
            "seen: {{ __opts__.site }} {{ __opts__['id'] }} {{ __opts__.minion_id }} {{ pillarenv }}",
        ),
    ];
    let case = Case {
        name: "",
        files,
        args: &["--config=master", "--set=opts.pillarenv=qa"],
    };
    assert_eq!(ran(&case, &[]).stdout, "seen: here salt_master web1 qa\n");
}

const TREE: &str = "--config=examples/pillars/tree/master.yaml";

#[test]
fn the_example_tree_gives_what_its_expected_files_say() {
    let expected = |name: &str| repository().join("examples/expected").join(name);
    let minion = ["--platform=debian-12", "--id=web1"];
    let whole = printed(&[&[TREE][..], &minion].concat());
    assert_file(&expected("pillar-tree-web1.yaml"), &whole);
    let trace = printed(&[&[TREE, "--trace"][..], &minion].concat());
    assert_file(&expected("pillar-tree-web1-trace.txt"), &trace);
    let rows = printed(&[&[TREE, "--trace", "-o", "json"][..], &minion].concat());
    let Value::List(rows) = json::loads(&rows).unwrap() else {
        panic!("{rows}")
    };
    assert!(rows[0].as_map().unwrap().contains_key("top"));
}

/// A master whose pillar has an error, and a formula that reads the pillar.
fn broken_tree(web: &str) -> Tree {
    Tree::new(&[
        (
            "master",
            "pillar_roots: {base: [pillar]}\nfile_roots: {base: [salt]}\n",
        ),
        (
            "pillar/top.sls",
            "base:\n  'web*': [web]\n  '*': [common]\n",
        ),
        ("pillar/common.sls", "f: {a: 1}\n"),
        ("pillar/web.sls", web),
        ("salt/f/parameters/defaults.yaml", "values: {a: 0, b: 0}\n"),
    ])
}

#[test]
fn errors_of_a_pillar_are_in_it_and_are_the_exit_status() {
    let tree = broken_tree("f:\n  b: {{ grains.nosuch }}\n");
    let minion = ["--config=master", "--platform=debian-12", "--id=web1"];
    let given = [&["pillar"][..], &minion].concat();
    let ran = run(tree.path(), &given);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stdout.contains("f:\n  a: 1\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("_errors:"), "{}", ran.stdout);
    assert!(ran.stderr.contains("pillar/web.sls:2:9"), "{}", ran.stderr);
    let ran = run(tree.path(), &[&given[..], &["--keep-going"]].concat());
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    assert!(
        ran.stdout.contains("Rendering SLS 'web' failed"),
        "{}",
        ran.stdout
    );
    let ran = run(tree.path(), &[&["data", "f"][..], &minion].concat());
    assert_eq!((ran.status, &*ran.stdout), (Some(1), ""));
    assert!(
        ran.stderr.contains("in the pillar of 'web1'"),
        "{}",
        ran.stderr
    );
}

#[test]
fn every_verb_compiles_the_pillars_of_its_minions() {
    let tree = broken_tree("f: {b: '{{ grains.id }}'}\n");
    let data = |flags: &[&str]| {
        let given = [
            "data",
            "f",
            "--config=master",
            "--platform=debian-12",
            "--get=a",
        ];
        let ran = run(tree.path(), &[&given[..], flags].concat());
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{flags:?}");
        ran.stdout
    };
    assert_eq!(data(&["--id=db1"]), "1\n");
    // Flags win over what is compiled, and a pillar that is given replaces it.
    assert_eq!(data(&["--id=web1", "--set=pillar.f.a=2"]), "2\n");
    tree.write("own.yaml", b"f: {a: 3}\n");
    assert_eq!(data(&["--id=web1", "--pillar=own.yaml"]), "3\n");
    let given = [
        "fleet",
        "f",
        "--config=master",
        "--platform=debian-12",
        "--get=a",
    ];
    let ran = run(tree.path(), &given);
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    assert!(ran.stdout.ends_with("\t1\n"), "{}", ran.stdout);
    // Warnings are counted, not shown: a text could have a secret of one minion.
    tree.write(
        "pillar/top.sls",
        b"include: [nowhere]\nbase: {'*': [common]}\n",
    );
    let ran = run(tree.path(), &given);
    assert_eq!(
        (ran.status, &*ran.stdout),
        (Some(0), "minion\tf:a\ndebian-12\t1\n")
    );
    let counted = "1 warning about the pillars of the minions";
    assert!(ran.stderr.contains(counted), "{}", ran.stderr);
    let ran = run(tree.path(), &[&given[..], &["--strict"]].concat());
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
}
