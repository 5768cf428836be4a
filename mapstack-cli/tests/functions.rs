//! Calls of functions that are not built in: stubs, permissions, and a Salt that is asked.
#![cfg(unix)]

use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use crate::common::{Ran, Tree, assert_snapshot, command, run};

const DEFAULTS: &str = "r/f/parameters/defaults.yaml";

/// A formula whose one layer has this text, and other files.
fn tree(layer: &str, more: &[(&str, &str)]) -> Tree {
    Tree::new(&[&[(DEFAULTS, layer)], more].concat())
}

/// `stack f defaults.yaml` with more flags.
fn stack(tree: &Tree, more: &[&str]) -> Ran {
    run(
        tree.path(),
        &[
            &["stack", "f", "defaults.yaml", "--root", "r", "--id", "web1"],
            more,
        ]
        .concat(),
    )
}

fn printed(ran: &Ran) -> &str {
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    &ran.stdout
}

const STUBS: &str = "\
cmd.run:
  - args: [hostname -f]
    return: web1.example.org
  - return: ''
grains.get: {return: stubbed}
pkg.version: {error: no such package}
which: {args: [bash], return: /stub/bash}
";

#[test]
fn stubs_answer_before_everything_else() {
    let layer = "values:
  known: {{ salt['cmd.run']('hostname -f') }}
  other: '{{ salt.cmd.run('id', python_shell=True) }}'
  built_in: {{ salt['grains.get']('os') }}
  filter: {{ 'bash'|which }}
  in: {{ 'cmd.run' in salt }} {{ 'pkg.version' in salt }} {{ 'which' in salt }} {{ 'cmd.shell' in salt }}
  get: {{ salt.get('cmd.run')('x') == '' }} {{ salt.get('cmd.shell') }}
";
    let tree = tree(layer, &[("stubs.yaml", STUBS)]);
    // A permission does not change what was written down.
    let ran = stack(
        &tree,
        &[
            "--stub",
            "stubs.yaml",
            "--allow",
            "cmd.*",
            "--allow",
            "which",
        ],
    );
    let expected = "known: web1.example.org\nother: ''\nbuilt_in: stubbed\nfilter: /stub/bash\n\
        in: True True False True\nget: True <function cmd.shell>\n";
    assert_eq!(printed(&ran), expected);
}

#[test]
fn unanswered_calls_say_how_to_answer_them() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "permissible",
            "{{ salt['cmd.run']('id -un', cwd='/', env=[{'A': \"it's\"}]) }}",
            &[],
        ),
        (
            "elsewhere",
            "{{ salt['pkg.version']('openssh-server') }}",
            &[],
        ),
        (
            "other-arguments",
            "{{ salt['cmd.run']('id') }}",
            &["--stub", "exact.yaml"],
        ),
        (
            "module",
            "{{ salt.cmd.run('id') }}",
            &["--stub", "exact.yaml"],
        ),
        ("slip", "{{ salt['grains.gte']('os') }}", &[]),
        (
            "stubbed-error",
            "{{ salt['pkg.version']('vim') }}",
            &["--stub", "stubs.yaml"],
        ),
        ("filter", "{{ 'bash'|which }}", &[]),
        (
            "late",
            "{% set f = salt['cmd.run'] %}{% if f is defined %}{{ f }}{% endif %}\n  b: {{ f('x') }}",
            &[],
        ),
    ];
    for (name, template, more) in cases {
        let exact = "cmd.run: {args: [hostname], return: web1}\n";
        let tree = tree(
            &format!("values:\n  a: {template}\n"),
            &[("stubs.yaml", STUBS), ("exact.yaml", exact)],
        );
        let ran = stack(&tree, more);
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(1), ""),
            "{name}: {}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains("r/f/parameters/defaults.yaml:"),
            "{name}: {}",
            ran.stderr
        );
        assert_snapshot(&format!("functions/{name}.txt"), &ran.stderr);
    }
}

#[test]
fn the_entry_that_is_suggested_answers_the_call() {
    let tree = tree(
        "values:\n  a: '{{ salt['my.fn']('x: y', [1, none], k={'z': true}) }}'\n",
        &[],
    );
    let refused = stack(&tree, &[]);
    let lines = refused
        .stderr
        .lines()
        .skip_while(|line| !line.contains("--stub"))
        .skip(1);
    let entry: String = lines
        .map(|line| format!("{}\n", line.get(10..).unwrap_or_default()))
        .collect();
    tree.write(
        "pasted.yaml",
        entry.replace("return: ''", "return: it works").as_bytes(),
    );
    assert_eq!(
        printed(&stack(&tree, &["--stub", "pasted.yaml"])),
        "a: it works\n",
        "{entry}"
    );
}

#[test]
fn mistakes_in_stub_files_have_a_place() {
    let cases: &[(&str, &str)] = &[
        ("no-yaml", "cmd.run: {return: [}\n"),
        ("no-return", "cmd.run:\n  - args: [id]\n"),
        ("unknown-key", "cmd.run: {retrun: 1}\n"),
        ("args-no-list", "cmd.run: {args: id, return: 1}\n"),
    ];
    for (name, stubs) in cases {
        let tree = tree("values: {}\n", &[("stubs.yaml", stubs)]);
        let ran = stack(&tree, &["--stub", "stubs.yaml"]);
        assert_eq!((ran.status, &*ran.stdout), (Some(1), ""), "{name}");
        assert!(
            ran.stderr.contains(" stubs.yaml:"),
            "{name}: {}",
            ran.stderr
        );
        assert_snapshot(&format!("functions/stub-{name}.txt"), &ran.stderr);
    }
    assert!(
        stack(&tree("", &[]), &["--stub", "none.yaml"])
            .stderr
            .contains("cannot read none.yaml")
    );
}

#[test]
fn stubs_can_be_for_some_minions() {
    let stubs = "a.b: [{minions: 'db*', return: db}, {minions: ['app*', 'web*'], return: web}]\n";
    let tree = tree(
        "values: {a: {{ salt['a.b']() }}}\n",
        &[("stubs.yaml", stubs)],
    );
    assert_eq!(
        printed(&stack(&tree, &["--stub", "stubs.yaml"])),
        "a: web\n"
    );
}

#[test]
fn nothing_is_reached_without_permission() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let tree = tree("", &[("secret", "s3cret")]);
    let (secret, canary) = (tree.path().join("secret"), tree.path().join("canary"));
    let (secret, canary) = (secret.display(), canary.display());
    for expression in [
        format!("salt['cmd.run']('touch {canary}')"),
        format!("salt.cmd.shell('touch {canary}')"),
        format!("salt['file.read']('{secret}')"),
        format!("salt['file.file_exists']('{secret}')"),
        format!("salt['http.query']('{url}')"),
        format!("'{url}'|http_query"),
        format!(
            "'127.0.0.1'|dns_check({})",
            listener.local_addr().unwrap().port()
        ),
        format!("'{secret}'|file_hashsum"),
        format!("'{secret}'|is_empty"),
        format!("'{secret}'|is_text_file"),
        format!("'{secret}'|is_bin_file"),
        format!("'{}'|list_files", tree.path().display()),
        "'sh'|which".into(),
        "'root'|get_uid".into(),
        "salt['environ.get']('SECRET')".into(),
        "salt['environ.items']()".into(),
        "salt['network.interfaces']()".into(),
        "salt['user.info']('root')".into(),
        "salt['dnsutil.A']('localhost')".into(),
    ] {
        tree.write(
            DEFAULTS,
            format!("values:\n  a: {{{{ ({expression})|json }}}}\n").as_bytes(),
        );
        // A permission for something else does not count.
        for more in [&[][..], &["--allow", "network.get_hostname"]] {
            let args = [
                &["stack", "f", "defaults.yaml", "--root", "r", "--id", "web1"],
                more,
            ]
            .concat();
            let ran = command(tree.path())
                .args(args)
                .env("SECRET", "s3cret")
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&ran.stderr);
            assert!(
                ran.status.code() == Some(1) && ran.stdout.is_empty(),
                "{expression}: {said}"
            );
            assert!(
                said.contains("--allow ") && !said.contains("s3cret"),
                "{expression}: {said}"
            );
        }
    }
    assert!(!tree.path().join("canary").exists());
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn permitted_functions_look_at_this_machine() {
    let tree = tree("", &[("some file", "content")]);
    let file = tree.path().join("some file");
    let layer = format!(
        "values:\n  read: {{{{ salt['file.read']('{0}') }}}}\n  size: {{{{ '{0}'|is_empty }}}}\n  \
         ran: {{{{ salt['cmd.run']('cat \"{0}\"') }}}}\n  env: {{{{ salt['environ.get']('GIVEN') }}}}\n  \
         in: {{{{ 'file.find' in salt }}}} {{{{ 'cmd.shell' in salt }}}}\n",
        file.display()
    );
    tree.write(DEFAULTS, layer.as_bytes());
    let flags = [
        "--allow=file.*",
        "--allow=cmd.run",
        "--allow=is_empty",
        "--allow=environ.get",
    ];
    let args = [
        &["stack", "f", "defaults.yaml", "--root", "r", "--id", "web1"],
        &flags[..],
    ]
    .concat();
    let ran = command(tree.path())
        .args(args)
        .env("GIVEN", "by the caller")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(stderr.matches("warning: ").count(), 1, "{stderr}");
    assert!(stderr.contains("whether Salt has cmd.shell"), "{stderr}");
    let expected = "read: content\nsize: false\nran: content\nenv: by the caller\nin: True False\n";
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected);
}

#[test]
fn a_failing_function_is_reported_with_its_place() {
    let tree = tree(
        "values:\n  a: {{ salt['file.read']('/nonexistent/file') }}\n",
        &[],
    );
    let ran = stack(&tree, &["--allow", "file.read"]);
    assert_eq!(ran.status, Some(1));
    assert_snapshot("functions/missing-file.txt", &ran.stderr);
}

#[test]
fn unknown_permissions_and_commands_are_usage_errors() {
    let tree = tree("values: {}\n", &[]);
    for (flags, says) in [
        (&["--allow", "cmd.runn"][..], "did you mean 'cmd.run'?"),
        (&["--allow", "*"], "there are cmd.*"),
        (&["--salt-call", "salt-call 'x"], "No closing quotation"),
        (&["--stub", "-", "--grains", "-"], "only one file may be -"),
    ] {
        let ran = stack(&tree, flags);
        assert!(
            ran.status == Some(2) && ran.stderr.contains(says),
            "{flags:?}: {}",
            ran.stderr
        );
    }
}

#[test]
fn the_mine_of_a_master_answers_minions_and_pillars() {
    let cache = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../crates/frontend/tests/data/cache"
    );
    let layer = "values: {ips: {{ salt['mine.get']('web*', 'network.ip_addrs') | json }}}";
    let pillar = "a: {{ salt['saltutil.runner']('mine.get', tgt='web2', fun='plain') | json }}";
    let own = "a: {{ salt['mine.get']('web2', 'plain') | json }}";
    let tree = tree(
        layer,
        &[
            ("master", "pillar_roots: {base: [pillar]}\n"),
            ("pillar/top.sls", "base: {'*': [a], 'db*': [own]}"),
            ("pillar/a.sls", pillar),
            ("pillar/own.sls", own),
        ],
    );
    let ran = stack(&tree, &["--mine", cache, "-o", "json"]);
    let made: serde_json::Value = serde_json::from_str(printed(&ran)).unwrap();
    let wanted = serde_json::json!({"web1": ["10.1.0.1"], "web2": ["10.1.0.2"]});
    assert_eq!(made["ips"], wanted, "{made}");
    let without = stack(&tree, &[]);
    assert_eq!(without.status, Some(1));
    assert!(without.stderr.contains("mine.get"), "{}", without.stderr);
    let wrong = stack(&tree, &["--mine", "r"]);
    assert!(
        wrong.stderr.contains("not a master's cache"),
        "{}",
        wrong.stderr
    );
    let compiled = |id: &str| {
        let flags = [
            "pillar",
            "--config",
            "master",
            "--minions",
            cache,
            "--id",
            id,
        ];
        run(tree.path(), &flags)
    };
    assert_eq!(printed(&compiled("web1")), "a:\n  web2: text\n");
    let refused = compiled("db1");
    assert_eq!(refused.status, Some(1));
    let says = "mine.get gives nothing in a pillar";
    assert!(refused.stderr.contains(says), "{}", refused.stderr);
}

#[test]
fn a_master_that_limits_who_asks_the_mine_is_warned_of() {
    let limited = "pillar_roots: {base: [pillar]}\nmine_get: {'web*': [plain]}\n";
    let tree = tree(
        "values: {}\n",
        &[
            ("master", limited),
            ("pillar/top.sls", "base: {'*': [a]}"),
            ("pillar/a.sls", "a: 1"),
            ("grains", "id: web1\n"),
        ],
    );
    let flags = ["pillar", "--config", "master", "--grains", "grains"];
    let ran = run(tree.path(), &flags);
    assert_eq!((ran.status, &*ran.stdout), (Some(0), "a: 1\n"));
    for says in ["the option mine_get is not followed", "master:2:1"] {
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
}

/// Stands for `salt-call`: it writes down how it was called.
const SALT: &str = r#"#!/bin/sh
echo "$@" >> "$0.log"
case "$3" in
  pkg.version) echo '{"local": "1:9.2 ü"}' ;;
  test.data) echo '{"local": {"a": [1, null, true]}}' ;;
  no.json) echo 'nothing to see'; echo 'a reason' >&2 ;;
  no.local) echo '{"web1": 1}' ;;
  *) echo "'$3' is not available." >&2; exit 1 ;;
esac
"#;

#[test]
fn an_installed_salt_is_asked_last_and_once() {
    let layer = "values:
  version: {{ salt['pkg.version']('openssh', x='a=b') }}
  again: {{ salt.pkg.version('openssh', x='a=b') }}
  data: {{ salt['test.data']()|json }}
  here: {{ salt['test.echo']('built in') }}
  stub: {{ salt['cmd.run']('id') }}
  in: {{ 'any.thing' in salt }}
";
    let tree = tree(
        layer,
        &[
            ("my salt", SALT),
            ("stubs.yaml", "cmd.run: {return: stubbed}\n"),
        ],
    );
    let program = tree.path().join("my salt");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let salt = format!("--salt-call='{}' --local", program.display());
    let ran = stack(&tree, &[&salt, "--stub=stubs.yaml"]);
    let expected = "version: 1:9.2 ü\nagain: 1:9.2 ü\ndata:\n  a:\n  - 1\n  - null\n  - true\n\
        here: built in\nstub: stubbed\nin: true\n";
    assert_eq!(printed(&ran), expected);
    let log = std::fs::read_to_string(tree.path().join("my salt.log")).unwrap();
    assert_eq!(
        log,
        "--local --out=json pkg.version -- \"openssh\" x=\"a\\u003db\"\n--local --out=json test.data --\n"
    );
    for (function, says) in [
        ("no.such", "'no.such' is not available."),
        ("no.json", "a reason"),
        ("no.local", "without the one key 'local'"),
    ] {
        tree.write(
            DEFAULTS,
            format!("values:\n  a: {{{{ salt['{function}']() }}}}\n").as_bytes(),
        );
        let ran = stack(&tree, &[&salt]);
        assert!(
            ran.status == Some(1) && ran.stderr.contains(says),
            "{function}: {}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains("defaults.yaml:2:"),
            "{function}: {}",
            ran.stderr
        );
    }
    let ran = stack(&tree, &["--salt-call", "/nonexistent/salt-call --local"]);
    assert!(
        ran.status == Some(1) && ran.stderr.contains("cannot be run"),
        "{}",
        ran.stderr
    );
}
