//! An error is said with its place: exit status 1, nothing on standard output, and a message that shows the file, the
//! line and the column, and the text there.

use crate::common::{Ran, Tree, assert_snapshot, run, run_with_input};

/// A formula `f` in the root `r`, and a minion.
struct Case {
    name: &'static str,
    files: &'static [(&'static str, &'static [u8])],
    /// The place the message has to name, `file:line:column`.
    at: &'static str,
    /// Words the message has to have.
    says: &'static str,
}

const DEFAULTS: &str = "r/f/parameters/defaults.yaml";
const META: &str = "r/f/parameters/map_jinja.yaml";
const MINION: &str = "minion.yaml";

const CASES: &[Case] = &[
    // Source definitions
    Case {
        name: "unknown-matcher-type",
        files: &[(META, b"values:\n  sources:\n    - defaults.yaml\n    - Y!Q@os\n")],
        at: "source definition:1:3",
        says: "'Q'",
    },
    Case {
        name: "yaml-matcher-inside-a-chain",
        files: &[(META, b"values:\n  sources: ['Y!G@os|roles']\n")],
        at: "source definition:1:8",
        says: "chain",
    },
    Case {
        name: "chain-after-a-file",
        files: &[(META, b"values:\n  sources: ['Y!P@x.yaml|G@os']\n")],
        at: "source definition:1:12",
        says: "x.yaml",
    },
    Case {
        name: "a-path-is-no-data",
        files: &[(META, b"values:\n  sources: ['P@x']\n")],
        at: "",
        says: "Y!P@x",
    },
    // Meta configuration
    Case { name: "sources-null", files: &[(META, b"values:\n  sources: null\n")], at: "", says: "`sources`" },
    Case { name: "sources-text", files: &[(META, b"values:\n  sources: G@os\n")], at: "", says: "`sources`" },
    Case { name: "sources-of-numbers", files: &[(META, b"values:\n  sources: [5]\n")], at: "", says: "source 2" },
    Case {
        name: "parameter-dirs-number",
        files: &[(META, b"values:\n  parameter_dirs: 5\n")],
        at: "",
        says: "`parameter_dirs`",
    },
    Case {
        name: "parameter-dirs-of-numbers",
        files: &[(META, b"values:\n  parameter_dirs: [5]\n")],
        at: "",
        says: "`parameter_dirs`",
    },
    Case {
        name: "post-map-engine-not-built-in",
        files: &[
            (META, b"values:\n  post_map_template: genshi\n"),
            ("r/f/post-map.jinja", b"<% mapdata['a'] = 1 %>\n"),
        ],
        at: "",
        says: "genshi",
    },
    // The shape of data sources
    Case { name: "source-is-a-list", files: &[(DEFAULTS, b"# ports\n- 80\n- 443\n")], at: "r/f/parameters/defaults.yaml:", says: "list" },
    Case {
        name: "source-has-an-unknown-key",
        files: &[(DEFAULTS, b"strategy: smart\nvaleus:\n  port: 80\n")],
        at: "r/f/parameters/defaults.yaml:2:1",
        says: "did you mean 'values'?",
    },
    Case {
        name: "source-has-a-number-as-key",
        files: &[(DEFAULTS, b"values: {}\n5: x\n")],
        at: "r/f/parameters/defaults.yaml:2:1",
        says: "'5'",
    },
    Case { name: "source-is-empty", files: &[(DEFAULTS, b"")], at: DEFAULTS_1, says: "empty" },
    Case { name: "source-is-comments", files: &[(DEFAULTS, b"# nothing yet\n")], at: DEFAULTS_1, says: "empty" },
    Case {
        name: "source-is-empty-after-its-template",
        files: &[(DEFAULTS, b"{% if grains.os == 'Plan9' %}\nvalues: {}\n{% endif %}\n")],
        at: DEFAULTS_1,
        says: "after its template ran",
    },
    // YAML
    Case {
        name: "yaml-in-a-plain-file",
        files: &[(DEFAULTS, b"values:\n  port: 80\n  name: web: front\n")],
        at: "r/f/parameters/defaults.yaml:3:",
        says: "put the value in quotes",
    },
    Case {
        name: "yaml-tab",
        files: &[(DEFAULTS, b"values:\n\tport: 80\n")],
        at: "r/f/parameters/defaults.yaml:2:1",
        says: "tab",
    },
    Case {
        name: "yaml-duplicate-key",
        files: &[(DEFAULTS, b"values:\n  port: 80\n  host: a\n  port: 81\n")],
        at: "r/f/parameters/defaults.yaml:4:3",
        says: "port",
    },
    Case {
        name: "yaml-in-a-rendered-template",
        files: &[(
            DEFAULTS,
            b"{% for i in range(3) %}\n{# not in the text #}\n{% endfor %}\nvalues:\n{%- for i in range(3) %}\n  p{{ i }}: {{ i }}\n{%- endfor %}\n  name: web: {{ grains.os }}\n",
        )],
        at: "r/f/parameters/defaults.yaml:8:",
        says: "put the value in quotes",
    },
    Case {
        name: "yaml-in-what-a-grain-holds",
        files: &[
            (DEFAULTS, b"values:\n  banner: {{ grains.banner }}\n"),
            (MINION, b"id: m\ngrains: {banner: 'a: b: c'}\n"),
        ],
        at: "r/f/parameters/defaults.yaml:2:",
        says: "put the value in quotes",
    },
    Case {
        name: "yaml-two-documents",
        files: &[(DEFAULTS, b"values: {}\n---\nvalues: {}\n")],
        at: "r/f/parameters/defaults.yaml:2:1",
        says: "document",
    },
    Case {
        name: "yaml-unknown-alias",
        files: &[(DEFAULTS, b"values:\n  a: *nowhere\n")],
        at: "r/f/parameters/defaults.yaml:2:6",
        says: "nowhere",
    },
    Case {
        name: "yaml-crlf",
        files: &[(DEFAULTS, b"values:\r\n  port: 80\r\n  name: web: front\r\n")],
        at: "r/f/parameters/defaults.yaml:3:",
        says: "put the value in quotes",
    },
    Case {
        name: "no-utf-8",
        files: &[(DEFAULTS, b"values:\n  name: caf\xe9\n")],
        at: "r/f/parameters/defaults.yaml:2:12",
        says: "UTF-8",
    },
    Case {
        name: "yaml-recursive-anchor",
        files: &[(DEFAULTS, b"values: &v\n  itself: *v\n")],
        at: "r/f/parameters/defaults.yaml:2:11",
        says: "v",
    },
    // Templates
    Case {
        name: "jinja-syntax",
        files: &[(DEFAULTS, b"values:\n  port: {{ 80 + }}\n")],
        at: "r/f/parameters/defaults.yaml:2:",
        says: "",
    },
    Case {
        name: "jinja-unknown-tag",
        files: &[(DEFAULTS, b"values:\n{% iff grains.os %}\n{% endif %}\n")],
        at: "r/f/parameters/defaults.yaml:2:4",
        says: "iff",
    },
    Case {
        name: "jinja-block-without-end",
        files: &[(DEFAULTS, b"values:\n{% if grains.os %}\n  a: 1\n")],
        at: "r/f/parameters/defaults.yaml:",
        says: "endif",
    },
    Case {
        name: "undefined-variable",
        files: &[(DEFAULTS, b"values:\n  os: {{ grain.os }}\n")],
        at: "r/f/parameters/defaults.yaml:2:10",
        says: "did you mean 'grains'?",
    },
    Case {
        name: "undefined-grain",
        files: &[
            (DEFAULTS, b"values:\n  os: {{ grains.os_famly }}\n"),
            (MINION, b"id: m\ngrains: {os: Debian, os_family: Debian}\n"),
        ],
        at: "r/f/parameters/defaults.yaml:2:10",
        says: "os_famly",
    },
    Case {
        name: "unknown-filter",
        files: &[(DEFAULTS, b"values:\n  os: {{ grains.os | uper }}\n")],
        at: "r/f/parameters/defaults.yaml:2:",
        says: "upper",
    },
    Case {
        name: "unknown-function",
        files: &[(DEFAULTS, b"values:\n  os: {{ salt['grains.gte']('os') }}\n")],
        at: "r/f/parameters/defaults.yaml:2:",
        says: "grains.get",
    },
    Case {
        name: "commands-are-not-run",
        files: &[(DEFAULTS, b"values:\n  who: {{ salt['cmd.run']('id') }}\n")],
        at: "r/f/parameters/defaults.yaml:2:",
        says: "cmd.run",
    },
    Case {
        name: "raise",
        files: &[(DEFAULTS, b"values:\n  a: {{ raise('this formula needs a role') }}\n")],
        at: "r/f/parameters/defaults.yaml:2:",
        says: "this formula needs a role",
    },
    Case {
        name: "wrong-types-in-an-expression",
        files: &[(DEFAULTS, b"values:\n  a: {{ grains.os + 1 }}\n")],
        at: "r/f/parameters/defaults.yaml:2:",
        says: "",
    },
    Case {
        name: "error-in-an-imported-macro",
        files: &[
            ("r/f/macros.jinja", b"{% macro port(name) %}\n{{ ports[name] }}\n{% endmacro %}\n"),
            (DEFAULTS, b"{% from 'f/macros.jinja' import port %}\nvalues:\n  a: {{ port('web') }}\n"),
        ],
        at: "r/f/macros.jinja:2:4",
        says: "r/f/parameters/defaults.yaml:3:",
    },
    Case {
        name: "import-of-nothing",
        files: &[(DEFAULTS, b"{% from 'f/nothing.jinja' import x %}\nvalues: {}\n")],
        at: "r/f/parameters/defaults.yaml:1:",
        says: "f/nothing.jinja",
    },
    Case {
        name: "post-map-fails",
        files: &[
            (DEFAULTS, b"values: {a: 1}\n"),
            ("r/f/post-map.jinja", b"{% do mapdata.update({'b': mapdata.c + 1}) %}\n"),
        ],
        at: "r/f/post-map.jinja:1:",
        says: "c",
    },
    // Merging
    Case {
        name: "values-are-a-list",
        files: &[(DEFAULTS, b"values:\n  - 80\n")],
        at: "r/f/parameters/defaults.yaml:",
        says: "list",
    },
    Case {
        name: "values-are-nothing",
        files: &[(DEFAULTS, b"values:\n")],
        at: "r/f/parameters/defaults.yaml:",
        says: "",
    },
    Case {
        name: "pillar-of-the-formula-is-a-list",
        files: &[(DEFAULTS, b"values: {}\n"), (MINION, b"id: m\ngrains: {os: Debian}\npillar: {f: [1]}\n")],
        at: "",
        says: "C@f",
    },
    Case {
        name: "aggregate-to-a-list",
        files: &[(DEFAULTS, b"strategy: aggregate\nvalues: [1]\n")],
        at: "",
        says: "not a mapping",
    },
    // Running away
    Case {
        name: "cyclic-include",
        files: &[
            (DEFAULTS, b"values: {}\n{% include 'f/a.jinja' %}\n"),
            ("r/f/a.jinja", b"{% include 'f/b.jinja' %}\n"),
            ("r/f/b.jinja", b"# b\n{% include 'f/a.jinja' %}\n"),
        ],
        at: ".jinja:",
        says: "",
    },
    Case {
        name: "endless-recursion",
        files: &[(DEFAULTS, b"{% macro deeper(n) %}\n{{ deeper(n + 1) }}\n{% endmacro %}\nvalues: {a: {{ deeper(0) }}}\n")],
        at: "r/f/parameters/defaults.yaml:2:",
        says: "",
    },
    Case {
        name: "endless-loop",
        files: &[(
            DEFAULTS,
            b"values:\n{% set s = 'x' * 1000000 %}{% for i in range(99999) %}{% set x = 'y' in s %}{% endfor %}\n",
        )],
        at: "r/f/parameters/defaults.yaml:2:",
        says: "",
    },
    Case {
        name: "endless-text",
        files: &[(DEFAULTS, b"values:\n  a: {{ 'mapstack' * 99999999999 }}\n")],
        at: "r/f/parameters/defaults.yaml:2:",
        says: "",
    },
    Case {
        name: "map-data-asks-for-itself",
        files: &[(DEFAULTS, b"values:\n  a: {{ salt['map.data']('f') | json }}\n")],
        at: "r/f/parameters/defaults.yaml:2:",
        says: "must not ask for the configuration it is part of",
    },
    // Facts
    Case {
        name: "minion-with-an-unknown-key",
        files: &[(MINION, b"id: web1\ngrain: {os: Debian}\n")],
        at: "minion.yaml:2:1",
        says: "grains",
    },
    Case { name: "minion-with-a-tab", files: &[(MINION, b"id: web1\ngrains:\n\tos: Debian\n")], at: "minion.yaml:3:1", says: "tab" },
    Case {
        name: "minion-no-utf-8",
        files: &[(MINION, b"id: web1\ngrains: {os: caf\xe9}\n")],
        at: "minion.yaml:2:",
        says: "UTF-8",
    },
    Case { name: "minion-empty", files: &[(MINION, b"")], at: "minion.yaml", says: "holds nothing" },
    Case { name: "minion-list", files: &[(MINION, b"- web1\n")], at: "minion.yaml:1:1", says: "list" },
    Case { name: "minion-grains-list", files: &[(MINION, b"id: web1\ngrains: [os]\n")], at: "minion.yaml:2:9", says: "grains" },
    Case { name: "minion-id-list", files: &[(MINION, b"id: [web1]\n")], at: "minion.yaml:1:5", says: "id" },
];

const DEFAULTS_1: &str = "r/f/parameters/defaults.yaml:1:1";

/// The formula and minion of a case, on top of ones that work.
fn tree(files: &[(&str, &[u8])]) -> Tree {
    let tree = Tree::new(&[
        (DEFAULTS, "values: {a: 1}\n"),
        (MINION, "id: web1\ngrains: {os: Debian}\n"),
    ]);
    for (path, content) in files {
        tree.write(path, content);
    }
    tree
}

fn data(tree: &Tree) -> Ran {
    run(
        tree.path(),
        &["data", "f", "--root", "r", "--minion", MINION],
    )
}

/// Why an outcome is not a good error message.
fn complaint(ran: &Ran, case: &Case) -> Option<String> {
    let wrong = if ran.status != Some(1) {
        format!("exit status {:?}", ran.status)
    } else if !ran.stdout.is_empty() {
        format!("standard output: {}", ran.stdout)
    } else if !ran.stderr.contains(case.at) {
        format!("no {}", case.at)
    } else if !ran.stderr.contains(case.says) {
        format!("no \"{}\"", case.says)
    } else if ran.stderr.contains("panicked") || !ran.stderr.starts_with("error: ") {
        "no error message".to_string()
    } else {
        return None;
    };
    Some(format!("{}: {wrong}\n{}", case.name, ran.stderr))
}

#[test]
fn what_works_works() {
    let ran = data(&tree(&[]));
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    assert!(ran.stdout.starts_with("a: 1\n"), "{}", ran.stdout);
}

#[test]
fn errors_name_their_place_and_read_as_recorded() {
    let mut complaints = Vec::new();
    for case in CASES {
        let ran = data(&tree(case.files));
        complaints.extend(complaint(&ran, case));
        assert_snapshot(&format!("errors/{}.txt", case.name), &ran.stderr);
    }
    assert!(
        complaints.is_empty(),
        "{} of {}:\n{}",
        complaints.len(),
        CASES.len(),
        complaints.join("\n")
    );
}

/// Cases whose files are made, not written.
fn made(name: &'static str, at: &'static str, says: &'static str, tree: &Tree) {
    let case = Case {
        name,
        files: &[],
        at,
        says,
    };
    let ran = data(tree);
    assert_eq!(complaint(&ran, &case), None);
    assert_snapshot(&format!("errors/{name}.txt"), &ran.stderr);
}

#[test]
fn a_huge_file_is_refused_unread() {
    let tree = tree(&[]);
    let file = std::fs::File::options()
        .write(true)
        .open(tree.path().join(DEFAULTS))
        .unwrap();
    file.set_len(1 << 40).unwrap();
    made("huge-file", "r/f/parameters/defaults.yaml", "", &tree);
}

#[test]
fn a_huge_minion_is_refused() {
    let tree = tree(&[]);
    let file = std::fs::File::options()
        .write(true)
        .open(tree.path().join(MINION))
        .unwrap();
    file.set_len(1 << 40).unwrap();
    made("huge-minion", "minion.yaml", "64 MiB", &tree);
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut text = String::from("values:\n  l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let inner = vec![format!("*l{}", level - 1); 10].join(", ");
        text.push_str(&format!("  l{level}: &l{level} [{inner}]\n"));
    }
    made(
        "alias-bomb",
        "r/f/parameters/defaults.yaml:",
        "",
        &tree(&[(DEFAULTS, text.as_bytes())]),
    );
}

#[test]
fn deep_nesting_is_refused() {
    let text = format!(
        "values:\n  a: {}{}\n",
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    made(
        "deep-flow",
        "r/f/parameters/defaults.yaml:2:",
        "",
        &tree(&[(DEFAULTS, text.as_bytes())]),
    );
    let mut text = String::from("values:\n");
    for level in 1..3_000 {
        text.push_str(&format!("{}a:\n", " ".repeat(level)));
    }
    made(
        "deep-block",
        "r/f/parameters/defaults.yaml:",
        "",
        &tree(&[(DEFAULTS, text.as_bytes())]),
    );
    let text = format!(
        "values:\n  a: {{{{ {}1{} }}}}\n",
        "(".repeat(20_000),
        ")".repeat(20_000)
    );
    made(
        "deep-expression",
        "r/f/parameters/defaults.yaml:2:",
        "",
        &tree(&[(DEFAULTS, text.as_bytes())]),
    );
}

#[test]
fn deep_facts_are_refused() {
    let text = format!(
        "id: m\ngrains:\n  a: {}{}\n",
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    made(
        "deep-minion",
        "minion.yaml:3:",
        "",
        &tree(&[(MINION, text.as_bytes())]),
    );
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_an_error_and_no_miss() {
    use std::os::unix::fs::PermissionsExt;
    let tree = tree(&[]);
    let file = tree.path().join(DEFAULTS);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    let ran = data(&tree);
    if std::fs::read(&file).is_ok() {
        // A privileged user can read every file, and so can the command.
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    } else {
        made("unreadable-file", DEFAULTS, "denied", &tree);
    }
}

#[test]
fn a_missing_minion_file_is_named() {
    let ran = run(
        tree(&[]).path(),
        &["data", "f", "--root", "r", "--minion", "minoin.yaml"],
    );
    assert_eq!((ran.status, &*ran.stdout), (Some(1), ""));
    assert_snapshot("errors/missing-minion.txt", &ran.stderr);
}

#[test]
fn facts_from_standard_input_are_called_so() {
    let tree = tree(&[]);
    let ran = run_with_input(
        tree.path(),
        &["data", "f", "--root", "r", "--grains", "-"],
        "os: [Debian\n",
    );
    assert_eq!((ran.status, &*ran.stdout), (Some(1), ""));
    assert!(ran.stderr.contains("<stdin>"), "{}", ran.stderr);
    assert_snapshot("errors/stdin.txt", &ran.stderr);
}

#[test]
fn parse_points_into_the_definition() {
    for (name, definition) in [
        ("type", "Y!Q@os"),
        ("chain", "G@defs|G@a|roles"),
        ("after-file", "Y!P@a.yaml|G@os"),
        ("unicode", "Y!G@ü|Ö@os"),
    ] {
        let ran = run(tree(&[]).path(), &["parse", definition]);
        assert_eq!((ran.status, &*ran.stdout), (Some(1), ""), "{definition}");
        assert_snapshot(&format!("errors/parse-{name}.txt"), &ran.stderr);
    }
    let ran = run(tree(&[]).path(), &["parse", "--path", "Y!G@os"]);
    assert_eq!((ran.status, &*ran.stdout), (Some(1), ""));
    assert_snapshot("errors/parse-path.txt", &ran.stderr);
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let tree = tree(&[
        (MINION, b"id: m\ngrains: {os: \"\\e[31mred\"}\n"),
        (DEFAULTS, b"values:\n  a: {{ raise(grains.os) }}\n"),
    ]);
    let ran = data(&tree);
    assert_eq!(ran.status, Some(1));
    assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
}

#[test]
fn colour_is_only_for_who_wants_it() {
    let tree = tree(&[(DEFAULTS, b"valeus: {}\n")]);
    let colored = |when: &str| {
        let ran = run(
            tree.path(),
            &[
                "data", "f", "--root", "r", "--minion", MINION, "--color", when,
            ],
        );
        ran.stderr.contains('\u{1b}')
    };
    assert_eq!(
        ["auto", "never", "always"].map(colored),
        [false, false, true]
    );
}

// Inputs that look like trouble and are fine.

#[test]
fn crlf_files_are_read() {
    let tree = tree(&[(
        DEFAULTS,
        b"values:\r\n  a: {{ 1 + 1 }}\r\n  b: |\r\n    x\r\n    y\r\n",
    )]);
    let ran = run(
        tree.path(),
        &[
            "data", "f", "--root", "r", "--minion", MINION, "-o", "json", "--get", "b",
        ],
    );
    assert_eq!(
        (ran.status, &*ran.stderr, &*ran.stdout),
        (Some(0), "", "\"x\\ny\\n\"\n")
    );
}

#[test]
fn names_may_be_in_any_script() {
    let tree = tree(&[
        (MINION, "id: m\ngrains: {os: Größe 日本}\n".as_bytes()),
        (
            "r/f/parameters/os/Größe 日本.yaml",
            "values: {Ключ: é}\n".as_bytes(),
        ),
    ]);
    let ran = run(
        tree.path(),
        &[
            "data", "f", "--root", "r", "--minion", MINION, "--get", "Ключ",
        ],
    );
    assert_eq!(
        (ran.status, &*ran.stderr, &*ran.stdout),
        (Some(0), "", "é\n")
    );
}

#[test]
fn errors_point_at_characters_not_bytes() {
    let tree = tree(&[(DEFAULTS, "values:\n  日本: {{ grain.os }}\n".as_bytes())]);
    let ran = data(&tree);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr.contains("r/f/parameters/defaults.yaml:2:10"),
        "{}",
        ran.stderr
    );
    assert_snapshot("errors/wide-characters.txt", &ran.stderr);
}
