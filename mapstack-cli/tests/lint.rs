//! `mapstack lint` and `mapstack schema`.

use crate::common::{Tree, assert_line, assert_snapshot, run, run_line};

/// A formula with one mistake of many kinds.
fn mistakes() -> Tree {
    Tree::new(&[
        (
            "r/ssh/parameters/map_jinja.yaml",
            "values:\n  sources:\n    - defaults.yaml\n    - 'Y:G@os_family'\n    - Y!G@osfinger\n  parameter_dir: []\n",
        ),
        (
            "r/ssh/parameters/defaults.yaml",
            "values:\n  mode: 0644\n  at: 22:22\n  admins: {root: 1}\n  password: 0777\n  shell: /bin/sh\n",
        ),
        (
            "r/ssh/parameters/os_family/Debian.yaml",
            "values:\n  shell: /bin/sh\n  admins: [root]\n  api_token: hunter2\n",
        ),
        (
            "r/ssh/parameters/os_family/Redhat.yaml",
            "strategy: recursive\nvalues: {}\n",
        ),
        (
            "r/ssh/parameters/osfinger/Debian-12.yaml",
            "values:\n\tshell: /bin/bash\n",
        ),
        ("r/ssh/init.sls", "{{ salt['cmd.runn']('id') }}\n"),
        ("r/plain/init.sls", "nothing: {test.nop: []}\n"),
        ("r/g/init.sls", "x:\n  {{ 1 | uper }}\n"),
        ("r/g/two.jinja", "{% if x %}\n\n"),
        ("r/h/readme.txt", "no formula"),
        (
            "r/called/init.sls",
            "{% from tplroot ~ '/lib.jinja' import a %}\n{{ salt['grains.get']('os') }}\n",
        ),
        (
            "r/called/lib.jinja",
            "{% set a = salt.cmd.run('id') %}{{ salt['grains.get']('os') }}\n{{ salt[a ~ '.b']() }}\n",
        ),
    ])
}

fn read(tree: &Tree, path: &str) -> String {
    std::fs::read_to_string(tree.path().join(path)).unwrap()
}

#[test]
fn findings_are_reported_in_every_format() {
    let tree = mistakes();
    for (name, format) in [
        ("text.txt", "text"),
        ("findings.json", "json"),
        ("findings.sarif", "sarif"),
        ("github.txt", "github"),
    ] {
        let ran = run_line(tree.path(), &format!("lint ssh --root r --format {format}"));
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        assert_snapshot(&format!("lint/{name}"), &ran.stdout);
        for secret in ["hunter2", "0777"] {
            assert!(
                !ran.stdout.contains(secret),
                "{format} prints a secret:\n{}",
                ran.stdout
            );
        }
    }
    let ran = run_line(tree.path(), "lint ssh --root r --color always");
    assert_snapshot("lint/colored.txt", &ran.stdout);
    assert_snapshot("lint/summary.txt", &ran.stderr);
}

#[test]
fn without_a_name_all_formulas_are_looked_at() {
    let tree = mistakes();
    let ran = run_line(tree.path(), "lint --root r -o json --platform debian-12");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let formulas = ran
        .stdout
        .lines()
        .skip_while(|line| !line.contains("\"formulas\""))
        .take(6)
        .collect::<Vec<_>>();
    assert_eq!(
        formulas.join(" ").split_whitespace().collect::<String>(),
        "\"formulas\":[\"called\",\"g\",\"plain\",\"ssh\"],"
    );
    let ran = run_line(tree.path(), "lint plain --root r");
    assert_eq!((ran.status, &*ran.stdout), (Some(0), ""));
    assert_eq!(
        ran.stderr,
        "nothing found in 1 formula (1 file: 1 sls file), on 47 minions\n"
    );
    for (line, status, said) in [
        ("lint nope --root r", 1, "no root has a formula 'nope'"),
        ("lint shh --root r", 1, "did you mean 'ssh'?"),
        ("lint --root r/ssh", 1, "did you mean --root r?"),
        ("lint ssh --root r/ssh", 1, "holds a formula's own init.sls"),
        (
            "lint --root r/h",
            1,
            "no folder in saltenv base is a formula",
        ),
        (
            "lint ssh --root r --ignore yaml-octals",
            2,
            "did you mean yaml-octal?",
        ),
        ("lint ssh --root r --level yaml-octal=loud", 2, "RULE=error"),
        ("lint ssh --root r --diff", 2, "--fix"),
        ("lint ssh --root r --schema", 1, "has no schema.yaml"),
        (
            "lint ssh --root r --calls -o sarif",
            2,
            "text, json or yaml",
        ),
    ] {
        let ran = run_line(tree.path(), line);
        assert_eq!(ran.status, Some(status), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
}

#[test]
fn rules_can_be_weighed_and_switched_off() {
    let tree = Tree::new(&[(
        "r/f/parameters/defaults.yaml",
        "values:\n  mode: 0644\n  since: 2020-01-01\n",
    )]);
    for (flags, status, found) in [
        ("", 0, "yaml-octal yaml-date"),
        ("--strict", 1, "yaml-octal yaml-date"),
        ("--quiet", 0, ""),
        ("--ignore yaml-octal", 0, "yaml-date"),
        ("--ignore yaml-octal --strict", 0, "yaml-date"),
        ("--level yaml-date=error", 1, "yaml-octal yaml-date"),
        (
            "--level yaml-date=off --level yaml-octal=note",
            0,
            "yaml-octal",
        ),
    ] {
        let ran = run_line(tree.path(), &format!("lint f --root r {flags}"));
        assert_eq!(ran.status, Some(status), "{flags}: {}", ran.stderr);
        let rules: Vec<&str> = ran
            .stdout
            .lines()
            .filter_map(|line| line.split_once("]: ")?.0.split_once('['))
            .map(|(_, rule)| rule)
            .collect();
        assert_eq!(rules.join(" "), found, "{flags}");
    }
}

#[test]
fn what_is_safe_is_fixed_and_nothing_else() {
    let tree = mistakes();
    let before = read(&tree, "r/ssh/parameters/map_jinja.yaml");
    let ran = run_line(tree.path(), "lint ssh --root r --fix --diff");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_snapshot("lint/fix.diff", &ran.stdout);
    assert_eq!(
        read(&tree, "r/ssh/parameters/map_jinja.yaml"),
        before,
        "--diff changed a file"
    );
    let ran = run_line(
        tree.path(),
        "lint ssh --root r --fix --level unknown-function=warning",
    );
    assert_eq!(ran.status, Some(0), "no error is left");
    assert!(
        ran.stdout.contains("yaml-octal") && !ran.stdout.contains("yaml-tab"),
        "{}",
        ran.stdout
    );
    assert_snapshot("lint/fixed.txt", &ran.stderr);
    assert_eq!(
        read(&tree, "r/ssh/parameters/osfinger/Debian-12.yaml"),
        "values:\n  shell: /bin/bash\n"
    );
    assert!(read(&tree, "r/ssh/parameters/map_jinja.yaml").contains("'Y!G@os_family'"));
    let again = run_line(tree.path(), "lint ssh --root r --fix --diff");
    assert_eq!(again.stdout, "", "a second time there is nothing to fix");
}

#[test]
fn a_schema_is_made_and_checked() {
    let tree = mistakes();
    tree.write(
        "r/ssh/parameters/osfinger/Debian-12.yaml",
        b"values: {shell: null}\n",
    );
    let ran = run_line(tree.path(), "schema ssh --root r");
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    assert_snapshot("lint/schema.json", &ran.stdout);
    tree.write("r/ssh/schema.json", ran.stdout.as_bytes());
    // A schema inferred from the layers accepts them.
    let ran = run_line(tree.path(), "lint ssh --root r --schema -o json");
    assert!(!ran.stdout.contains("\"schema\""), "{}", ran.stdout);
    tree.write(
        "strict.yaml",
        b"properties:\n  shell: {type: string}\n  password: {type: string}\n",
    );
    let ran = run_line(tree.path(), "lint ssh --root r --schema=strict.yaml");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let of_schema: Vec<&str> = ran
        .stdout
        .split("\n\n")
        .filter(|one| one.contains("[schema]"))
        .collect();
    assert_snapshot("lint/violations.txt", &of_schema.join("\n\n"));
    assert!(!of_schema.join("").contains("777"));
}

#[test]
fn calls_are_listed_with_their_places_and_who_answers() {
    let tree = mistakes();
    let ran = run_line(tree.path(), "lint called --root r --calls");
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    assert_snapshot("lint/calls.txt", &ran.stdout);
    let ran = run_line(tree.path(), "lint called called --root r --calls -o json");
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    assert_snapshot("lint/calls.json", &ran.stdout);
    // A listing does not hide what could not be read.
    let ran = run_line(tree.path(), "lint called g --root r --calls");
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stdout.contains("cmd.run") && ran.stderr.contains("uper"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn what_no_run_could_follow_is_said() {
    let tree = Tree::new(&[(
        "r/f/parameters/defaults.yaml",
        "values: {a: {{ salt['cmd.run']('id') }}}\n",
    )]);
    let ran = run_line(tree.path(), "lint f --root r --platform debian-12");
    assert_eq!((ran.status, &*ran.stdout), (Some(0), ""));
    assert!(
        ran.stderr.starts_with(
            "f was not followed beyond cmd.run in r/f/parameters/defaults.yaml on debian-12: "
        ),
        "{}",
        ran.stderr
    );
    tree.write("stubs.yaml", b"cmd.run: {return: x}");
    let ran = run_line(
        tree.path(),
        "lint f --root r --platform debian-12 --stub stubs.yaml",
    );
    assert_eq!(
        (ran.status, &*ran.stderr),
        (
            Some(0),
            "nothing found in 1 formula (1 file: 1 parameter file), on 1 minion\n"
        )
    );
}

#[test]
fn what_nothing_looked_into_is_said() {
    let tree = Tree::new(&[
        (
            "r/f/init.sls",
            "{{ salt['cmd.run']('id') }}: {test.nop: []}\n",
        ),
        ("r/f/python.sls", "#!pydsl\n"),
        ("r/f/files/a.conf", "no template\n"),
        ("r/f/reactor/start.sls", "{{ data.id }}: {}\n"),
    ]);
    let ran = run_line(tree.path(), "lint f --root r --platform debian-12");
    assert_eq!((ran.status, &*ran.stdout), (Some(0), ""), "{}", ran.stderr);
    for said in [
        "f was not followed beyond cmd.run in r/f/init.sls on debian-12: ",
        "f: not looked at: f/files/a.conf (it is not a template, and no template names it as data)",
        "f: not looked at: f/reactor/start.sls (reactors and orchestration run on the master",
        "f: not looked at: f/python.sls (",
        "nothing found in 1 formula (4 files: 1 sls file), on 1 minion; \
         3 files not looked at, 1 file not followed to the end\n",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    let ran = run_line(tree.path(), "lint f --root r --platform debian-12 -o json");
    assert_eq!(ran.stdout.matches("\"why\":").count(), 3, "{}", ran.stdout);
}

#[test]
fn what_lacks_facts_and_folders_left_out_are_said() {
    let tree = Tree::new(&[
        (
            "r/f/init.sls",
            "{% for name in pillar['users'] %}\n{{ name }}: {user.present: []}\n{% endfor %}\n",
        ),
        ("r/tools/agent/init.sls", "agent: {test.nop: []}\n"),
        ("r/docs/conf.py", "x = 1\n"),
    ]);
    let ran = run_line(tree.path(), "lint --root r --ignore undefined-variable");
    assert_eq!((ran.status, &*ran.stdout), (Some(0), ""), "{}", ran.stderr);
    assert_eq!(
        ran.stderr,
        "not looked at: tools (no parameters/, map.jinja or init.sls; name it to have it checked)\n\
         nothing found in 1 formula (1 file: 1 sls file), on 47 minions; \
         1 file that needs facts of other minions\n"
    );
    let ran = run_line(tree.path(), "lint --root r -o json");
    assert!(
        ran.stdout.contains("\"lacking_facts\": [\n    {"),
        "{}",
        ran.stdout
    );
    let ran = run_line(tree.path(), "lint tools --root r");
    assert_eq!((ran.status, &*ran.stdout), (Some(0), ""), "{}", ran.stderr);
}

#[test]
fn what_fails_everywhere_is_an_error_and_a_root_too_deep_is_named() {
    let tree = Tree::new(&[
        (
            "r/f/map.jinja",
            "{% import_yaml tpldir ~ '/nope.yaml' as data %}\n\
             {% set f = salt['pillar.get']('f', data, merge=True) %}\n",
        ),
        ("r/f/defaults.yaml", "pkg: f\n"),
        (
            "r/f/agent/init.sls",
            "{% from 'f/map.jinja' import f with context %}\n{{ f.pkg }}: {pkg.installed: []}\n",
        ),
    ]);
    let ran = run_line(tree.path(), "lint f --root r --format github");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(
        ran.stdout
            .starts_with("::error file=r/f/map.jinja,line=1,endLine=1,col=1,")
            && ran.stdout.contains("%0Aon all 47 minions"),
        "{}",
        ran.stdout
    );
    std::fs::remove_file(tree.path().join("r/f/map.jinja")).unwrap();
    let ran = run_line(tree.path(), "lint --root r/f");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(
        ran.stdout
            .contains("the root is the folder of that name: did you mean --root r?"),
        "{}",
        ran.stdout
    );
}

#[test]
fn hostile_trees_are_reported_and_survived() {
    let deep = format!("values: {}{}\n", "[".repeat(5000), "]".repeat(5000));
    let tree = Tree::new(&[
        (
            "r/f/parameters/defaults.yaml",
            "values:\r\n  a: 0644\r\n  ü: 2020-01-01\r\n",
        ),
        ("r/f/parameters/os/Debian.yaml", &deep),
        ("r/f/parameters/os/\u{202e}x.yaml", "values: {}\n"),
        (
            "r/f/parameters/os_family/Debian.yaml",
            "values: {{ (range(99999999) | list) }}\n",
        ),
        ("r/f/parameters/os_family/RedHat.yaml", ""),
        ("r/f/schema.yaml", "$ref: http://127.0.0.1:1/none.json\n"),
    ]);
    tree.write("r/f/binary.yaml", b"\xff\xfe\x00");
    let ran = run_line(tree.path(), "lint f --root r --schema");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert_snapshot("lint/hostile.txt", &ran.stdout);
}

#[test]
fn secrets_are_starred_where_nothing_is_parsed() {
    let tree = Tree::new(&[
        (
            "r/f/parameters/defaults.yaml",
            "values:\n  password: hunter2\n  password: hunter3\n",
        ),
        (
            "r/f/parameters/os/Debian.yaml",
            "values:\n\tapi_token: hunter4\n",
        ),
        (
            "r/f/parameters/os/Ubuntu.yaml.jinja",
            "values: {secret: hunter5, a: {{ nope }}}\n",
        ),
        (
            "r/f/parameters/os/Rocky.yaml",
            "stratgy: recurse\nvalues:\n  passphrase: |\n    hunter6\n    hunter7\n",
        ),
    ]);
    for format in ["text", "json", "sarif", "github"] {
        let ran = run_line(tree.path(), &format!("lint f --root r -o {format}"));
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        assert!(
            !format!("{}{}", ran.stdout, ran.stderr).contains("hunter"),
            "{format}: {}",
            ran.stdout
        );
    }
    let ran = run_line(tree.path(), "lint f --root r --fix --diff");
    assert!(
        ran.stdout.contains("+strategy: recurse") && !ran.stdout.contains("hunter"),
        "{}",
        ran.stdout
    );
}

#[test]
#[cfg(unix)]
fn a_file_with_two_names_is_fixed_once() {
    let tree = Tree::new(&[(
        "r/f/parameters/os/Debian.yaml",
        "stratgy: recurse\nvalues: {a: 1}\n",
    )]);
    std::os::unix::fs::symlink(
        "Debian.yaml",
        tree.path().join("r/f/parameters/os/Ubuntu.yaml"),
    )
    .unwrap();
    let ran = run_line(tree.path(), "lint f --root r --fix");
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(
        read(&tree, "r/f/parameters/os/Debian.yaml"),
        "strategy: recurse\nvalues: {a: 1}\n"
    );
    assert!(
        tree.path()
            .join("r/f/parameters/os/Ubuntu.yaml")
            .is_symlink()
    );
}

/// GitHub shows a finding beside a line only if the file is named as the repository has it.
#[test]
fn github_gets_paths_as_the_repository_has_them() {
    let files = [
        ("f/parameters/defaults.yaml", "values: {a: yes, a: no}\n"),
        ("sub/.keep", ""),
    ];
    let tree = Tree::new(&files);
    for root in [".", "./", "sub/..", "././."] {
        let ran = run(
            tree.path(),
            &["lint", "f", "--root", root, "--format", "github"],
        );
        assert!(
            ran.stdout
                .starts_with("::error file=f/parameters/defaults.yaml,line=1,"),
            "{root}: {}",
            ran.stdout
        );
    }
}

/// A pillar with mistakes, a formula that reads it, and two minions.
fn pillar() -> Tree {
    Tree::new(&[
        (
            "p/top.sls",
            "base:\n  '*': [web, common]\n  'bd*': [db]\n  'db*': [gone]\n",
        ),
        ("p/web.sls", "web:\n  port: 80\n  password: hunter2\n"),
        ("p/common.sls", "web:\n  port: 443\n"),
        ("p/db.sls", "size: 1\n"),
        (
            "master",
            "pillar_roots: {base: [p]}\nfile_roots: {base: [r]}\n",
        ),
        (
            "r/web/init.sls",
            "{{ pillar.web.port }}: {test.nop: []}\n{{ pillar.web.prot }}: {test.nop: []}\n",
        ),
        ("m/web1.yaml", "grains: {os: Debian}\n"),
        ("m/db1.yaml", "grains: {os: Debian}\n"),
    ])
}

#[test]
fn a_pillar_is_checked_beside_formulas() {
    let tree = pillar();
    let flags = "--config master --config-kind master --minions m";
    for (name, format) in [
        ("pillar.txt", "text"),
        ("pillar.json", "json"),
        ("pillar.sarif", "sarif"),
        ("pillar-github.txt", "github"),
    ] {
        let ran = run_line(tree.path(), &format!("lint {flags} --format {format}"));
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        assert!(!ran.stdout.contains("hunter2"), "{}", ran.stdout);
        assert_snapshot(&format!("lint/{name}"), &ran.stdout);
        if format == "text" {
            assert_snapshot("lint/pillar-summary.txt", &ran.stderr);
        }
    }
    let html = run_line(tree.path(), &format!("lint {flags} -o html"));
    assert!(
        html.stdout.contains("plain-secret") && !html.stdout.contains("hunter2"),
        "{}",
        html.stdout
    );
}

#[test]
fn files_that_a_stack_reads_are_used_and_checked() {
    let stack = "pillar_roots: {base: [p]}\next_pillar: [{stack: p/stack.cfg}]\n";
    let files = [
        ("master", stack),
        ("p/top.sls", "base: {'*': [a]}\n"),
        ("p/a.sls", "a: 1\n"),
        ("p/stack.cfg", "*/init.sls\n"),
        ("p/git/init.sls", "git: {password: hunter2}\n"),
        ("p/old.sls", "git: 2\n"),
        ("minions/web1.yaml", "id: web1\n"),
    ];
    let line = "lint pillar --config master --config-kind master --minions minions";
    let tree = Tree::new(&files);
    let ran = run_line(tree.path(), line);
    let unused = "no minion gets the sls 'old'";
    let secret = "the secret 'git:password' is in plain text\n --> p/git/init.sls:1:17\n";
    assert!(
        ran.stdout.contains(unused) && ran.stdout.contains(secret),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("the sls 'git'"), "{}", ran.stdout);
    // The values of a failing stack are not known.
    tree.write("p/git/init.sls", b"git: [\n");
    let ran = run_line(tree.path(), line);
    assert!(!ran.stdout.contains("no minion gets"), "{}", ran.stdout);
}

#[test]
fn strategies_of_a_stack_that_are_misspelt_or_misplaced_are_found() {
    let stacked = "users: {__: owerwrite, b: 1}\nlist:\n  - z\n  - __: remove\nother:\n  - __: overwrite\n    name: x\n\
        deep: {_: merge_last, '-': x, name: merge-last}\nright: {__: remove}\nmode: 0644\n";
    let files = [
        (
            "master",
            "pillar_roots: {base: [p]}\next_pillar: [{stack: p/stack.cfg}]\n",
        ),
        ("p/top.sls", "base: {'*': [a]}\n"),
        ("p/a.sls", "a: 1\n"),
        ("p/stack.cfg", "a.yml\n"),
        ("p/a.yml", stacked),
        ("minions/web1.yaml", "id: web1\n"),
    ];
    let line = "lint pillar --config master --config-kind master --minions minions -o github";
    let ran = run_line(Tree::new(&files).path(), line);
    let found = [
        "error file=p/a.yml,line=1,endLine=1,col=13,endColumn=22,title=mapstack unknown-strategy",
        "warning file=p/a.yml,line=4,endLine=4,col=5,endColumn=7,title=mapstack misplaced-option",
        "warning file=p/a.yml,line=6,endLine=6,col=5,endColumn=5,title=mapstack misplaced-option",
        "warning file=p/a.yml,line=8,endLine=8,col=8,endColumn=9,title=mapstack unknown-strategy",
        "warning file=p/a.yml,line=10,endLine=10,col=7,endColumn=11,title=mapstack yaml-octal",
    ];
    for found in found {
        assert!(ran.stdout.contains(found), "{found}: {}", ran.stdout);
    }
    assert_eq!(ran.stdout.lines().count(), found.len(), "{}", ran.stdout);
}

#[test]
fn the_pillar_alone_or_a_formula_alone_can_be_named() {
    let tree = pillar();
    let flags = "--config master --config-kind master --minions m";
    let rules = |line: &str| {
        let ran = run_line(tree.path(), &format!("{line} -o github"));
        let titles = ran.stdout.lines().filter_map(|line| {
            let (_, rest) = line.split_once("title=mapstack ")?;
            rest.split_once("::").map(|(rule, _)| rule.to_owned())
        });
        (ran.status, titles.collect::<Vec<_>>().join(" "))
    };
    let of_pillar = "unmatched-target missing-include merge-order plain-secret";
    let mut of_pillar: Vec<&str> = of_pillar.split(' ').collect();
    of_pillar.sort_unstable();
    let (status, found) = rules(&format!("lint pillar {flags}"));
    let mut found: Vec<&str> = found.split(' ').collect();
    found.sort_unstable();
    assert_eq!((status, found), (Some(1), of_pillar));
    let (status, found) = rules(&format!("lint web {flags} --id web1"));
    assert_eq!((status, &*found), (Some(1), "undefined-variable"));
    let (status, found) = rules(&format!(
        "lint pillar {flags} --ignore missing-include --ignore unmatched-target --level merge-order=off"
    ));
    assert_eq!((status, &*found), (Some(0), "plain-secret"));
    for (line, said) in [
        (
            "lint pillar --root r",
            "nothing says what compiles the pillar",
        ),
        (
            "lint pillar --config master --pillar p/web.sls --minions m",
            "--pillar gives the pillar",
        ),
    ] {
        let ran = run_line(tree.path(), line);
        assert_eq!(ran.status, Some(2), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
}

#[test]
fn a_schema_is_made_of_pillars_and_checked_through_templates() {
    let tree = Tree::new(&[
        ("p/top.sls", "base:\n  '*': [web]\n  'db*': [db]\n"),
        (
            "p/web.sls",
            "{% set port = 80 %}\nweb:\n  port: {{ port }}\n  names: [a]\n",
        ),
        ("p/db.sls", "db: {password: hunter2, size: 1.5}\n"),
        (
            "master",
            "pillar_roots: {base: [p]}\nfile_roots: {base: [r]}\n",
        ),
        ("r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("m/web1.yaml", "grains: {os: Debian}\n"),
        ("m/db1.yaml", "grains: {os: Debian}\n"),
    ]);
    let flags = "--config master --config-kind master --minions m";
    let made = run_line(tree.path(), &format!("schema pillar {flags} -o yaml"));
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    assert_snapshot("lint/pillar-schema.yaml", &made.stdout);
    std::fs::write(tree.path().join("p/schema.yaml"), &made.stdout).unwrap();
    let ran = run_line(
        tree.path(),
        &format!("lint pillar {flags} --schema --ignore plain-secret --strict"),
    );
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    std::fs::write(
        tree.path().join("p/web.sls"),
        "{% set port = '80a' %}\nweb:\n  port: {{ port }}\n",
    )
    .unwrap();
    for schema in ["--schema", "--schema=p/schema.yaml"] {
        let ran = run_line(
            tree.path(),
            &format!("lint pillar {flags} {schema} -o github"),
        );
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        let wrong = "::error file=p/web.sls,line=3,endLine=3,col=9,endColumn=19,title=mapstack schema::'web:port'";
        assert!(ran.stdout.contains(wrong), "{}", ran.stdout);
    }
    let ran = run_line(tree.path(), &format!("lint {flags} --schema=p/schema.yaml"));
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("name what to check"), "{}", ran.stderr);
    std::fs::write(tree.path().join("p/db.sls"), "db: [\n").unwrap();
    let ran = run_line(tree.path(), &format!("schema pillar {flags} -o yaml"));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let said = "the pillars of 1 of 2 minions have errors and were left out";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    std::fs::remove_file(tree.path().join("p/schema.yaml")).unwrap();
    let ran = run_line(tree.path(), &format!("lint pillar {flags} --schema"));
    assert_eq!(ran.status, Some(1));
    let said = "the pillar has no schema.yaml";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

fn with_broken_minions() -> Tree {
    Tree::new(&[
        ("r/web/parameters/defaults.yaml", "values: {country: NO}\n"),
        ("minions/good.yaml", "id: good\ngrains: {os: Debian}\n"),
        ("minions/one.yaml", "grains: [\n"),
        ("minions/three.yaml", "- a\n"),
        ("minions/two.yaml", "id: two\ngrains: 3\n"),
        (
            "all.yaml",
            "id: good\ngrains: {os: Debian}\n---\n- a\n---\nid: two\ngrains: 3\n---\nid: one\ngrains: [\n",
        ),
    ])
}

#[test]
fn minions_that_cannot_be_read_are_named_and_the_others_looked_at() {
    let tree = with_broken_minions();
    for minions in ["minions", "all.yaml"] {
        let ran = run_line(tree.path(), &format!("lint --root r --minions {minions}"));
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        assert!(ran.stdout.contains("warning[yaml-bool]"), "{}", ran.stdout);
        for said in [
            "on 1 minion; 3 minions not looked at",
            "the `[` opened here is never closed",
            "grains must be a mapping, not an integer",
            "holds no minions, but a list",
            "error: 3 minions could not be read; the others were looked at",
        ] {
            assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
        }
        let line = format!("lint --root r --minions {minions} -o json");
        let out = run_line(tree.path(), &line).stdout;
        let document: serde_json::Value = serde_json::from_str(&out).unwrap();
        let summary = &document["summary"];
        let counted = (&summary["minions"], &summary["minions_not_looked_at"]);
        assert_eq!(counted, (&1.into(), &3.into()), "{minions}");
        let broken = document["minions_not_looked_at"].as_array().unwrap();
        assert_eq!(broken.len(), 3, "{broken:?}");
        let line = format!("lint --root r --minions {minions} --format github");
        let out = run_line(tree.path(), &line).stdout;
        assert_eq!(out.matches("was not looked at").count(), 3, "{out}");
    }
    for line in ["schema web --root r", "lint --calls -o yaml --root r"] {
        let line = format!("{line} --minions minions");
        assert_line(tree.path(), &line, 1, "", "3 minions could not be read");
    }
    tree.replace("minions/good.yaml", b"id: [\n");
    let ran = run_line(tree.path(), "lint --root r --minions minions");
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr.contains("error: 4 minions could not be read\n"),
        "{}",
        ran.stderr
    );
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_not_served_is_said() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    let tree = Tree::new(&[
        ("r/web/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("r/web/init.sls", "a: {test.nop: []}\n"),
    ]);
    let web = tree.path().join("r/web");
    symlink("nowhere.yaml", web.join("parameters/os.yaml")).unwrap();
    symlink("loop.sls", web.join("loop.sls")).unwrap();
    std::fs::write(web.join(OsStr::from_bytes(b"caf\xe9.sls")), "a: 1\n").unwrap();
    let said = [
        "web/parameters/os.yaml (a link to nothing)",
        "web/loop.sls (a link in a circle)",
        r"web/caf\xe9.sls (its name is not UTF-8)",
    ];
    for (line, status) in [
        ("lint --root r", 0),
        ("lint web --root r", 0),
        ("data web --root r --platform debian-12", 0),
        ("diff --from r --to r", 0),
    ] {
        let ran = run_line(tree.path(), line);
        assert_eq!(ran.status, Some(status), "{line}: {}", ran.stderr);
        for said in said {
            let all = format!("{}{}", ran.stdout, ran.stderr);
            assert!(all.contains(said), "{line}: {said}: {all}");
        }
    }
    let out = run_line(tree.path(), "lint --root r -o json").stdout;
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["summary"]["not_served"], 3);
    // Another state of one of them is a change that nothing compared.
    tree.write("s/web/parameters/defaults.yaml", b"values: {a: 1}\n");
    tree.write("s/web/init.sls", b"a: {test.nop: []}\n");
    let ran = run_line(tree.path(), "diff --from r --to s");
    assert_eq!(ran.status, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains(&format!("not served, and not compared: {}", said[0]))
            && !ran.stdout.contains("no file's content differs"),
        "{}",
        ran.stdout
    );
    for n in 0..10_000 {
        symlink("nowhere", web.join(format!("link{n}.sls"))).unwrap();
    }
    let ran = run_line(tree.path(), "lint --root r");
    assert!(
        ran.stderr.contains("and 9998 more (a link to nothing)") && ran.stderr.len() < 2000,
        "{}",
        ran.stderr
    );
}

#[test]
#[cfg(feature = "git")]
fn only_what_is_new_since_a_revision_is_shown() {
    let tree = Tree::new(&[
        (
            "salt/web/parameters/defaults.yaml",
            "values:\n  mode: 0644\n  country: NO\n",
        ),
        ("salt/web/init.sls", "a: {test.nop: []}\n"),
        ("pillar/top.sls", "base: {'*': [a]}\n"),
        ("pillar/a.sls", "at: 12:30:00\n"),
        (
            "master",
            "pillar_roots: {base: [pillar]}\nfile_roots: {base: [salt]}\n",
        ),
    ]);
    let in_git = |args: &[&str]| crate::common::git(tree.path(), args);
    in_git(&["init", "-q"]);
    in_git(&["add", "."]);
    in_git(&["commit", "-qm", "first"]);
    let lint = |more: &str, status: i32, said: &str| {
        let line = format!("lint {more} --config master --platform debian-12 --since HEAD");
        let ran = run_line(tree.path(), &line);
        assert_eq!(ran.status, Some(status), "{line}: {}", ran.stderr);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains(said), "{line}: {said}: {all}");
        ran.stdout
    };
    let out = lint("", 0, "3 findings that HEAD has as well are not shown");
    assert_eq!(out, "");
    assert_eq!(lint("--strict", 0, "nothing found"), "");
    // Lines that move are not new, nor is a changed line that has the mistake that it had.
    tree.replace(
        "salt/web/parameters/defaults.yaml",
        b"values:\n  # more\n  other: 1\n  mode: 0644\n  country: NO  # or not\n  release: 1.10\n",
    );
    tree.replace("pillar/a.sls", b"# more\nat: 12:30:00\nrelease: 1.20\n");
    let out = lint("--strict", 1, "2 warnings");
    assert_eq!(out.matches("yaml-float").count(), 2, "{out}");
    assert!(
        !out.contains("yaml-octal") && !out.contains("yaml-bool"),
        "{out}"
    );
    let out = lint("web --strict -o json", 1, "");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["summary"]["old"], 2);
    // A second mistake of the same kind is new.
    tree.replace("pillar/a.sls", b"at: 12:30:00\nto: 12:30:00\n");
    let out = lint(
        "pillar --strict",
        1,
        "1 finding that HEAD has as well is not shown",
    );
    assert!(out.contains("pillar/a.sls:2"), "{out}");
    // So is all of a formula that did not exist.
    tree.write(
        "salt/db/parameters/defaults.yaml",
        b"values: {mode: 0600}\n",
    );
    let out = lint("db --strict", 1, "0 findings that HEAD has");
    assert!(out.contains("yaml-octal"), "{out}");
    let line = "lint --config master --platform debian-12 --since nope";
    assert_line(tree.path(), line, 1, "", "has no revision 'nope'");
}

#[test]
fn a_rule_explains_itself() {
    let tree = Tree::new::<&str>(&[]);
    let line = |rule: &str| format!("lint --explain {rule}");
    let expected =
        "## yaml-octal\n\nA number with a leading zero, which is lost.\n\nLevel: warning\n";
    assert_line(tree.path(), &line("yaml-octal"), 0, expected, "");
    let cure = "Quote it: `mode: '0644'`.\n\nTo switch it off";
    assert_line(tree.path(), &line("yaml-octal"), 0, cure, "");
    let near = "unknown rule 'yaml-octals'; did you mean yaml-octal?";
    assert_line(tree.path(), &line("yaml-octals"), 2, "", near);
}
