//! Compares functions of modules that a tree ships with recorded results of the reference, and shows what such calls
//! leave behind.

use crate::common::{assert_repeated, map, minion, records};
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Map, Value};
use mapstack::{Engine, Limits, Run, TemplateOptions};

/// Records whose results differ deliberately, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[];

/// Makes a call, and prints the result with the arguments as they are afterwards, as Python prints them.
const CALL: &str = "{% set made = salt[name](*args, **kwargs) %}{{ '%r' % [made, args] }}";
const HAS: &str = "{{ '%r' % [name in salt] }}";

fn engine(record: &Map) -> Engine {
    let files = map(record, "files");
    let files = files.iter().fold(
        MemoryFiles::new()
            .file("base", "call.jinja", CALL)
            .file("base", "has.jinja", HAS),
        |files, (path, text)| files.file("base", &path.to_string(), text.to_string()),
    );
    Engine::new(files)
}

/// The printed text of a recorded call, or its error.
fn made(run: &Run<'_>, call: &Map) -> Result<String, mapstack::Error> {
    let mut context = Map::new();
    for (name, default) in [
        ("name", Value::None),
        ("args", Value::from_iter::<[Value; 0]>([])),
        ("kwargs", Value::map()),
    ] {
        context.insert(name, call.get(name).cloned().unwrap_or(default));
    }
    let options = TemplateOptions {
        context,
        ..TemplateOptions::default()
    };
    let template = match call.contains_key("args") {
        true => "call.jinja",
        false => "has.jinja",
    };
    run.template(template, &options)
}

fn check(record: &Map) -> Result<(), String> {
    let engine = engine(record);
    let minion = minion(record);
    let calls = record.get("calls").and_then(Value::as_list).unwrap();
    let outcomes = record.get("outcomes").and_then(Value::as_list).unwrap();
    assert_eq!(calls.len(), outcomes.len(), "every call has an outcome");
    for (call, wanted) in calls.iter().zip(outcomes) {
        let (call, wanted) = (call.as_map().unwrap(), wanted.as_map().unwrap());
        let got = made(&engine.run(&minion), call);
        let is_same = match (&got, wanted.get("result"), wanted.get("error")) {
            (Ok(got), Some(wanted), _) => *got == wanted.to_string(),
            // The class of an error, which the message names; a missing function has none here.
            (Err(error), _, Some(class)) => {
                let (message, class) = (error.to_string(), class.to_string());
                message.contains(&class) || (class == "KeyError" && message.contains("undefined"))
            }
            _ => false,
        };
        if !is_same {
            let call = Value::from(call.clone()).repr();
            let wanted = Value::from(wanted.clone()).repr();
            return Err(format!("{call}\n    got    {got:?}\n    wanted {wanted}"));
        }
    }
    Ok(())
}

#[test]
fn every_recorded_call_is_repeated() {
    let records = records(include_str!("data/tree_modules.json"));
    assert_repeated(&records, DIFFERENCES, check);
}

const FACTS: &str = "{id: web1, grains: {os: Debian, kernel: Linux}, pillar: {token: s3cret}}";

fn web1() -> Minion {
    Minion::parse(FACTS.as_bytes(), "web1.yaml")
        .unwrap()
        .complete()
}

/// The result of an expression in a tree with one module, `salt://_modules/m.py`, and the warnings and reads.
fn evaluated(module: &str, expression: &str) -> (Result<String, mapstack::Error>, Vec<String>) {
    let files = MemoryFiles::new()
        .file("base", "_modules/m.py", module)
        .file("base", "t.jinja", format!("{{{{ {expression} }}}}"))
        .file("base", "inner.jinja", "{{ salt['m.outer']() }}");
    let limits = Limits {
        fuel: 200_000,
        ..Limits::default()
    };
    let engine = Engine::new(files).with_limits(limits);
    let minion = web1();
    let run = engine.run(&minion);
    let made = run.template("t.jinja", &TemplateOptions::default());
    let reads = run.file_reads();
    let reads = reads
        .iter()
        .map(|read| format!("{:?} {}", read.kind, read.path));
    (made, reads.collect())
}

fn error_of(module: &str, expression: &str) -> String {
    let (made, _) = evaluated(module, expression);
    made.unwrap_err().to_string()
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each thing that is not there"
)]
fn what_the_sandbox_lacks_makes_a_call_unanswered() {
    for (body, says) in [
        (
            "import requests\ndef f():\n    return requests.get('u')",
            "'requests.get'",
        ),
        (
            "import subprocess\ndef f():\n    return subprocess.call(['id'])",
            "'subprocess.call'",
        ),
        (
            "import os\ndef f():\n    return os.path.exists('/')",
            "'os.path.exists'",
        ),
        (
            "import os\ndef f():\n    return os.environ.get('HOME')",
            "'os.environ.get'",
        ),
        (
            "import os\ndef f():\n    if os.environ:\n        return 1",
            "'os.environ'",
        ),
        ("def f():\n    return open('/etc/passwd').read()", "'open'"),
        (
            "import salt.utils.files\ndef f():\n    return salt.utils.files.fopen('x')",
            "'salt.utils.files.fopen'",
        ),
        ("import boto3\ndef f():\n    return boto3", "'boto3'"),
        (
            "import boto3\ndef f():\n    return [boto3.x]",
            "is not data",
        ),
        // A result that a handler swallows is not an answer either.
        (
            "import requests\ndef f():\n    try:\n        return requests.get('u')\n    except:\n        return 1",
            "'requests.get'",
        ),
        (
            "def f():\n    try:\n        return __salt__['cmd.run']('id')\n    except Exception:\n        return 1",
            "salt['cmd.run']('id')",
        ),
        (
            "def f():\n    try:\n        return __utils__['files.fopen']('x')\n    except Exception:\n        return 1",
            "files.fopen",
        ),
        ("def f():\n    return sorted(__salt__)", "__salt__"),
        ("from . import other\ndef f():\n    return 1", "relative"),
        ("def f():\n    return lambda: 1", "is not data"),
    ] {
        let error = error_of(&format!("{body}\n"), "salt['m.f']()");
        assert!(error.contains(says), "{body}\n{error}");
        let is_unanswered = ["salt['m.f'] has no answer", "salt['cmd.run'] is undefined"]
            .iter()
            .any(|words| error.contains(words));
        assert!(is_unanswered, "{body}\n{error}");
        // The returned value is checked when the function has ended.
        let is_of_result = matches!(says, "'boto3'" | "is not data");
        let place = if is_of_result {
            "t.jinja:"
        } else {
            "_modules/m.py:"
        };
        assert!(error.starts_with(place), "{body}\n{error}");
    }
}

#[test]
fn functions_that_do_not_touch_what_is_missing_answer() {
    let module = "import requests, os, subprocess\nimport salt.utils.files\nfrom boto3.session import Session\n\
        class S(requests.Session):\n    pass\n\
        @salt.utils.decorators.which('git')\ndef g():\n    return 1\n\
        def f():\n    return os.path.join('a', 'b')\n";
    assert_eq!(evaluated(module, "salt['m.f']()").0.unwrap(), "a/b");
    let error = error_of(module, "salt['m.g']()");
    assert!(error.contains("salt['m.g'] has no answer"), "{error}");
}

#[test]
fn errors_point_into_the_module() {
    let (made, _) = evaluated("def f():\n    return 1 / 0\n", "salt['m.f']()");
    let error = made.unwrap_err();
    let place = error.diagnostic().place.as_ref().unwrap();
    assert_eq!((&*place.file, place.line()), ("_modules/m.py", 2));
    let error = error_of("import nosuch_py2\nimport urllib2\n", "salt['m.f']()");
    assert!(
        error.contains("salt://_modules/m.py:2 does not load: ModuleNotFoundError"),
        "{error}"
    );
    let error = error_of(
        "def __virtual__():\n    return False, 'not today'\n",
        "salt['m.f']()",
    );
    assert!(
        error.contains("returns a false value: not today"),
        "{error}"
    );
    let error = error_of("def g():\n    return 1\n", "salt['m.f']()");
    assert!(
        error.contains("the tree's module 'm' has no function 'f'"),
        "{error}"
    );
}

#[test]
fn modules_that_were_read_and_those_that_would_answer_are_recorded() {
    let reads = |expression| evaluated("def f():\n    return 1\n", expression).1;
    let own = reads("salt['m.f']()");
    assert!(own.contains(&"Found _modules/m.py".to_owned()), "{own:?}");
    // A file of that name would replace Salt's module.
    let built_in = reads("salt['grains.get']('os')");
    assert!(
        built_in.contains(&"Absent _modules/grains.py".to_owned()),
        "{built_in:?}"
    );
    let unknown = reads("'x.f' in salt");
    assert!(
        unknown.contains(&"List _modules/".to_owned()),
        "{unknown:?}"
    );
}

#[test]
fn a_file_of_the_tree_replaces_a_module_of_salt() {
    let files = |own: &str| {
        MemoryFiles::new()
            .file("base", "_modules/grains.py", own)
            .file("base", "t.jinja", "{{ salt['grains.get']('os') }}")
    };
    let engine = Engine::new(files("def get(key):\n    return 'mine ' + key\n"));
    let made = |engine: &Engine| {
        engine
            .run(&web1())
            .template("t.jinja", &TemplateOptions::default())
    };
    assert_eq!(made(&engine).unwrap(), "mine os");
    let engine = Engine::new(files("def other():\n    return 1\n"));
    let error = made(&engine).unwrap_err().to_string();
    assert!(error.contains("has no function 'get'"), "{error}");
}

#[test]
fn hostile_modules_are_bounded() {
    for (body, says) in [
        ("def f():\n    while True:\n        pass", "too many steps"),
        (
            "while True:\n    pass\ndef f():\n    return 1",
            "too many steps",
        ),
        (
            "def __virtual__():\n    while True:\n        pass\ndef f():\n    return 1",
            "too many steps",
        ),
        ("def f():\n    return f()", "RecursionError"),
        ("def f():\n    return 'x' * (1 << 40)", "memory"),
        (
            "def f():\n    x = []\n    x.append(x)\n    return x",
            "nested too deeply",
        ),
        (
            "def f():\n    try:\n        while True:\n            pass\n    except BaseException:\n        return 1",
            "too many steps",
        ),
        // Through a template that calls the module again.
        (
            "def outer():\n    return __salt__['slsutil.renderer']('salt://inner.jinja', default_renderer='jinja')\n\
          def f():\n    return outer()",
            "too deeply",
        ),
    ] {
        let error = error_of(&format!("{body}\n"), "salt['m.f']()");
        assert!(error.contains(says), "{body}\n{error}");
    }
}

/// The text that a template prints in a saltenv over some files.
fn printed(files: MemoryFiles, saltenv: &str, template: &str) -> String {
    let engine = Engine::new(files.file(saltenv, "t.jinja", template));
    let run = engine.run(&web1()).with_saltenv(saltenv);
    run.template("t.jinja", &TemplateOptions::default())
        .unwrap()
}

#[test]
fn saltenvs_are_searched_in_order() {
    let module = |env: &str| format!("def f():\n    return '{env}'\n");
    let files = || {
        MemoryFiles::new()
            .file("base", "_modules/a.py", module("base"))
            .file("dev", "_modules/a.py", module("dev"))
            .file("dev", "_modules/b.py", module("dev"))
            .file("base", "_modules/c.py", module("base"))
            .file("dev", "_modules/test.py", "def ping():\n    return 'dev'\n")
    };
    let template = "{{ [salt['a.f'](), salt['b.f'](), salt['c.f'](), salt['test.ping']()] }}";
    // A file of another saltenv replaces no module of Salt.
    assert_eq!(
        printed(files(), "base", template),
        "['base', 'dev', 'base', True]"
    );
    assert_eq!(
        printed(files(), "dev", template),
        "['dev', 'dev', 'base', 'dev']"
    );
}

#[test]
fn calls_do_not_see_each_other() {
    let module = "COUNT = []\n\
        def count():\n    COUNT.append(1)\n    __context__['n'] = __context__.get('n', 0) + 1\n\
        \x20   __grains__['os'] = 'changed'\n    __pillar__['token'] = 'changed'\n    return [len(COUNT), __context__['n']]\n";
    let files = MemoryFiles::new().file("base", "_modules/m.py", module);
    let template =
        "{{ salt['m.count']() }}{{ salt['m.count']() }}{{ grains.os }}{{ pillar.token }}";
    assert_eq!(printed(files, "base", template), "[1, 1][1, 1]Debians3cret");
}

#[test]
fn stubs_answer_before_modules() {
    let stubs = mapstack::Stubs::parse("m.f: {return: stubbed}", "stubs.yaml").unwrap();
    let files = MemoryFiles::new()
        .file(
            "base",
            "_modules/m.py",
            "def f():\n    return 'module'\ndef g():\n    return __salt__['m.f']()\n",
        )
        .file("base", "t.jinja", "{{ salt['m.f']() }} {{ salt['m.g']() }}");
    let engine = Engine::new(files).with_stubs(stubs);
    let made = engine
        .run(&web1())
        .template("t.jinja", &TemplateOptions::default());
    assert_eq!(made.unwrap(), "stubbed stubbed");
}

#[test]
fn what_would_be_copied_is_listed() {
    let files = MemoryFiles::new()
        .file("base", "_modules/b.py", "")
        .file("base", "_modules/sub/c.py", "")
        .file("base", "_modules/README.md", "")
        .file("dev", "_modules/a.py", "")
        .file("dev", "_grains/g.py", "");
    let template =
        "{% set all = salt['saltutil.list_extmods']() %}{{ [all.modules, all.grains, all.utils] }}";
    assert_eq!(
        printed(files, "base", template),
        "[['a', 'b', 'c'], ['g'], []]"
    );
}
