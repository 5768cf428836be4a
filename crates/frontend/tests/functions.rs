//! Calls of functions that are not built in: answers that are written down, permissions, and a Salt that is asked. What
//! is said where nothing answers is in `functions.txt`.
#![cfg(unix)]

use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use crate::messages::{assert_recorded, told};
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{Diagnostic, Engine, Means, Result, StackOptions, Stubs};
use mapstack_frontend::host::{Host, Permissions, SaltCall};
use mapstack_frontend::inputs::name_of;

const STUBS: &str = "\
cmd.run:
  - args: [hostname -f]
    return: web1.example.org
  - return: ''
grains.get: {return: stubbed}
pkg.version: {error: no such package}
which: {args: [bash], return: /stub/bash}
of.minion: [{minions: 'db*', return: db}, {minions: ['app*', 'web*'], return: web}]
";

/// An engine for a formula whose one layer has these values, with permissions.
fn engine(values: &str, allowed: &[&str]) -> Engine {
    Means::named_by(name_of);
    let layer = format!("values:\n  {values}\n");
    let files = MemoryFiles::new().file("base", "f/parameters/defaults.yaml", layer);
    let host = Host::new(Permissions::parse(allowed).unwrap());
    Engine::new(files).with_functions(host)
}

fn with_stubs(engine: Engine, stubs: &str) -> Engine {
    engine.with_stubs(Stubs::parse(stubs, "stubs.yaml").unwrap())
}

/// The data of the layer, and the warnings.
fn data(engine: &Engine) -> (Result<Value>, Vec<Diagnostic>) {
    let minion = Minion::new("web1").complete();
    let run = engine.run(&minion);
    let sources: Value = ["defaults.yaml"].into_iter().collect();
    let data = run.stack("f", &sources, &StackOptions::default());
    (data, run.warnings())
}

fn given(engine: &Engine) -> String {
    let (data, warnings) = data(engine);
    assert!(warnings.is_empty(), "{warnings:?}");
    data.unwrap().repr()
}

#[test]
fn stubs_answer_before_everything_else() {
    let values = "known: {{ salt['cmd.run']('hostname -f') }}
  other: '{{ salt.cmd.run('id', python_shell=True) }}'
  built_in: {{ salt['grains.get']('os') }}
  filter: {{ 'bash'|which }}
  in: {{ 'cmd.run' in salt }} {{ 'pkg.version' in salt }} {{ 'which' in salt }} {{ 'cmd.shell' in salt }}
  get: {{ salt.get('cmd.run')('x') == '' }} {{ salt.get('cmd.shell') }}
  minion: {{ salt['of.minion']() }}
";
    // A permission does not change what was written down.
    let engine = with_stubs(engine(values, &["cmd.*", "which"]), STUBS);
    let expected = "{'known': 'web1.example.org', 'other': '', 'built_in': 'stubbed', \
        'filter': '/stub/bash', 'in': 'True True False True', 'get': 'True <function cmd.shell>', 'minion': 'web'}";
    assert_eq!(given(&engine), expected);
}

#[test]
fn unanswered_calls_say_how_to_answer_them() {
    let exact = "cmd.run: {args: [hostname], return: web1}\n";
    let mut all = String::new();
    for (name, template, stubs) in [
        (
            "permissible",
            "{{ salt['cmd.run']('id -un', cwd='/', env=[{'A': \"it's\"}]) }}",
            "",
        ),
        (
            "elsewhere",
            "{{ salt['pkg.version']('openssh-server') }}",
            "",
        ),
        ("other-arguments", "{{ salt['cmd.run']('id') }}", exact),
        ("module", "{{ salt.cmd.run('id') }}", exact),
        ("slip", "{{ salt['grains.gte']('os') }}", ""),
        ("stubbed-error", "{{ salt['pkg.version']('vim') }}", STUBS),
        ("filter", "{{ 'bash'|which }}", ""),
        (
            "late",
            "{% set f = salt['cmd.run'] %}{% if f is defined %}{{ f }}{% endif %}\n  b: {{ f('x') }}",
            "",
        ),
    ] {
        let engine = with_stubs(engine(&format!("a: {template}"), &[]), stubs);
        let (refused, warnings) = data(&engine);
        all += &format!("## {name}\n");
        all.extend(warnings.iter().map(told));
        all += &told(refused.expect_err(name).diagnostic());
    }
    let failing = engine(
        "a: {{ salt['file.read']('/nonexistent/file') }}",
        &["file.read"],
    );
    all += "## permitted-and-fails\n";
    all += &told(data(&failing).0.unwrap_err().diagnostic());
    assert_recorded("functions.txt", &all);
}

#[test]
fn the_entry_that_is_suggested_answers_the_call() {
    let values = "a: '{{ salt['my.fn']('x: y', [1, none], k={'z': true}) }}'";
    let refused = data(&engine(values, &[])).0.unwrap_err();
    let help = refused.diagnostic().help.clone().unwrap();
    let (_, entry) = help.split_once("\n\n").unwrap();
    let stubs = entry.replace("return: ''", "return: it works");
    assert_eq!(
        given(&with_stubs(engine(values, &[]), &stubs)),
        "{'a': 'it works'}"
    );
}

#[test]
fn nothing_is_reached_without_permission() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path().display();
    std::fs::write(directory.path().join("secret"), "s3cret").unwrap();
    let of_environment = std::env::var("PATH").unwrap();
    for expression in [
        format!("salt['cmd.run']('touch {here}/canary')"),
        format!("salt.cmd.shell('touch {here}/canary')"),
        format!("salt['file.read']('{here}/secret')"),
        format!("salt['file.file_exists']('{here}/secret')"),
        format!("salt['http.query']('http://{address}/')"),
        format!("'http://{address}/'|http_query"),
        format!("'127.0.0.1'|dns_check({})", address.port()),
        format!("'{here}/secret'|file_hashsum"),
        format!("'{here}/secret'|is_empty"),
        format!("'{here}/secret'|is_text_file"),
        format!("'{here}/secret'|is_bin_file"),
        format!("'{here}'|list_files"),
        "'sh'|which".into(),
        "'root'|get_uid".into(),
        "salt['environ.get']('PATH')".into(),
        "salt['environ.items']()".into(),
        "salt['network.interfaces']()".into(),
        "salt['user.info']('root')".into(),
        "salt['dnsutil.A']('localhost')".into(),
    ] {
        let values = format!("a: {{{{ ({expression})|json }}}}");
        // A permission for something else does not count.
        for allowed in [&[][..], &["network.get_hostname"]] {
            let refused = data(&engine(&values, allowed)).0.expect_err(&expression);
            let said = told(refused.diagnostic());
            assert!(said.contains("--allow "), "{expression}: {said}");
            for secret in ["s3cret", &of_environment] {
                assert!(!said.contains(secret), "{expression}: {said}");
            }
        }
    }
    assert!(!directory.path().join("canary").exists());
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn permitted_functions_look_at_this_machine() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("some file");
    std::fs::write(&file, "content").unwrap();
    let values = format!(
        "read: {{{{ salt['file.read']('{0}') }}}}
  size: {{{{ '{0}'|is_empty }}}}
  ran: {{{{ salt['cmd.run']('cat \"{0}\"') }}}}
  env: {{{{ salt['environ.get']('PATH') == '{1}' }}}}
  in: {{{{ 'file.find' in salt }}}} {{{{ 'cmd.shell' in salt }}}}\n",
        file.display(),
        std::env::var("PATH").unwrap()
    );
    let (data, warnings) = data(&engine(
        &values,
        &["file.*", "cmd.run", "is_empty", "environ.get"],
    ));
    let expected =
        "{'read': 'content', 'size': False, 'ran': 'content', 'env': True, 'in': 'True False'}";
    assert_eq!(data.unwrap().repr(), expected);
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!(
        warning.message.contains("whether Salt has cmd.shell"),
        "{warning}"
    );
}

/// A program in place of `salt-call`: it writes down how it was called.
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
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("my salt");
    std::fs::write(&program, SALT).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let command = format!("'{}' --local", program.display());
    let asking = |values: &str, command: &str| {
        let salt = SaltCall::new(command).unwrap();
        with_stubs(engine(values, &[]), "cmd.run: {return: stubbed}\n").with_functions(salt)
    };
    let values = "version: {{ salt['pkg.version']('openssh', x='a=b') }}
  again: {{ salt.pkg.version('openssh', x='a=b') }}
  data: {{ salt['test.data']()|json }}
  here: {{ salt['test.echo']('built in') }}
  stub: {{ salt['cmd.run']('id') }}
  in: {{ 'any.thing' in salt }}
";
    let expected = "{'version': '1:9.2 ü', 'again': '1:9.2 ü', 'data': {'a': [1, None, True]}, \
        'here': 'built in', 'stub': 'stubbed', 'in': True}";
    assert_eq!(given(&asking(values, &command)), expected);
    let log = std::fs::read_to_string(directory.path().join("my salt.log")).unwrap();
    assert_eq!(
        log,
        "--local --out=json pkg.version -- \"openssh\" x=\"a\\u003db\"\n--local --out=json test.data --\n"
    );
    for (function, command, says) in [
        ("no.such", &*command, "'no.such' is not available."),
        ("no.json", &command, "a reason"),
        ("no.local", &command, "without the one key 'local'"),
        ("any.one", "/nonexistent/salt-call --local", "cannot be run"),
    ] {
        let values = format!("a: {{{{ salt['{function}']() }}}}");
        let refused = data(&asking(&values, command)).0.unwrap_err().to_string();
        assert!(refused.contains(says), "{function}: {refused}");
        assert!(
            refused.starts_with("f/parameters/defaults.yaml:2:"),
            "{refused}"
        );
    }
}
