//! Rendered sls and managed files: what they print, and errors and warnings with all that they say, which are in
//! `rendered.txt`.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{Diagnostic, Engine, Result, Run, TemplateOptions, yaml};

use crate::messages::{assert_recorded, told};

const FILES: &[(&str, &str)] = &[
    (
        "f/init.sls",
        "{% for n in [1, 2] %}\n{{ sls }}-{{ n }}:\n  test.nop: []\n{% endfor %}",
    ),
    ("f/plain.sls", "#!yaml\na: '{{ 1 }}'\n"),
    (
        "f/json.sls",
        "#!jinja|json\n{\"a\": {{ grains.os | json }},\n \"b\": {{ slspath }}}\n",
    ),
    (
        "f/tera.sls",
        "#!tera|yaml\n{% for r in grains.roles %}\n{{ r }}: {{ salt(fn='grains.get', args=['os']) }}\n{% endfor %}",
    ),
    (
        "f/tera-bad.sls",
        "#!tera|yaml\n{% for r in grains.role %}\n{{ r }}: 1\n{% endfor %}",
    ),
    (
        "f/tera-bad-yaml.sls",
        "#!tera|yaml\n{% set a = 'b: c' %}\na: {{ a }}\n",
    ),
    ("f/mako2.sls", "#!mako|yaml\na: 1\nb: ${nope}\n"),
    (
        "f/mako-yaml.sls",
        "#!mako|yaml\n% for n in range(2):\n${n}: [\n% endfor\n",
    ),
    ("f/py.sls", "#!py\ndef run():\n    return {}['x']\n"),
    (
        "f/host.sls",
        "#!py\nimport subprocess\ndef run():\n    return {'a': subprocess.run(['id'])}\n",
    ),
    ("f/typo.sls", "#!jinja|ymal\na: 1\n"),
    ("f/list.sls", "- 1\n"),
    ("f/text.sls", "#!jinja\na\n"),
    ("f/bad.sls", "a: 1\nb: {{ nope }}\n"),
    ("f/bad-yaml.sls", "a:\n  {{ 'b: c: d' }}\n"),
    (
        "f/twice.sls",
        "#!jinja|jinja|yaml\na: 1\n{% raw %}b: {{ nope }}{% endraw %}\n",
    ),
    (
        "f/itself.sls",
        "{% set d = salt['slsutil.renderer']('salt://f/itself.sls') %}a: 1\n",
    ),
    (
        "f/files/x.conf",
        "#!jinja|yaml\n{{ source }} {{ name|default('-') }} {{ a|default('-') }}{{ b|default('-') }} {{ grains.os }}\n",
    ),
    (
        "f/files/x.tera",
        "{{ source }} {{ a | default(value='-') }} {{ grains.os }}\n",
    ),
];

fn engine() -> Engine {
    let files = FILES.iter().fold(MemoryFiles::new(), |all, (path, text)| {
        all.file("base", path, text)
    });
    Engine::new(files.file("dev", "f/files/x.conf", "{{ saltenv }}\n"))
}

/// The outcome of some work, with a minion, and the warnings.
fn run<T>(
    engine: &Engine,
    work: impl FnOnce(&Run<'_>) -> Result<T>,
) -> (Result<T>, Vec<Diagnostic>) {
    let minion = Minion::parse(
        b"{id: m, grains: {os: Debian, roles: [web, db]}}",
        "minion.yaml",
    );
    let run = engine.run(&minion.unwrap().complete());
    (work(&run), run.warnings())
}

/// The settings of a managed file, in YAML.
fn managed(
    name: Option<&str>,
    engine: Option<&str>,
    context: &str,
    defaults: &str,
) -> TemplateOptions {
    let map = |text: &str| yaml::load(text).unwrap().as_map().cloned().unwrap();
    TemplateOptions {
        engine: engine.map(Into::into),
        name: name.map(Into::into),
        context: map(context),
        defaults: map(defaults),
    }
}

#[test]
fn sls_are_text_and_data() {
    let engine = engine();
    for (path, text) in [
        (
            "f/init.sls",
            "\nf-1:\n  test.nop: []\n\nf-2:\n  test.nop: []\n",
        ),
        ("f/plain.sls", "#!yaml\na: '{{ 1 }}'\n"),
        ("f/text.sls", "#!jinja\na\n"),
    ] {
        let (printed, warnings) = run(&engine, |run| run.sls_text(path));
        assert_eq!(
            (&*printed.unwrap(), &warnings[..]),
            (text, &[][..]),
            "{path}"
        );
    }
    for (path, data) in [
        (
            "salt://f/init.sls",
            "{'f-1': {'test.nop': []}, 'f-2': {'test.nop': []}}",
        ),
        ("f/plain.sls", "{'a': '{{ 1 }}'}"),
        ("f/tera.sls", "{'web': 'Debian', 'db': 'Debian'}"),
    ] {
        let (given, warnings) = run(&engine, |run| run.sls(path));
        assert_eq!(
            (given.unwrap().repr().as_str(), &warnings[..]),
            (data, &[][..]),
            "{path}"
        );
    }
}

#[test]
fn managed_files_have_their_variables() {
    let engine = engine();
    let conf = "f/files/x.conf";
    for (path, options, text) in [
        (
            conf,
            managed(None, None, "{}", "{}"),
            "#!jinja|yaml\nsalt://f/files/x.conf - -- Debian\n",
        ),
        (
            conf,
            managed(Some("/etc/x"), None, "{a: 1}", "{a: 2, b: 5}"),
            "#!jinja|yaml\nsalt://f/files/x.conf /etc/x 15 Debian\n",
        ),
        (
            "f/files/x.tera",
            managed(None, Some("tera"), "{a: [1, b]}", "{}"),
            "salt://f/files/x.tera [1, b] Debian\n",
        ),
        (
            "salt://f/files/x.conf?saltenv=dev",
            managed(None, None, "{}", "{}"),
            "dev\n",
        ),
        (
            "f/plain.sls",
            managed(None, Some("jinja"), "{}", "{}"),
            "#!yaml\na: '1'\n",
        ),
    ] {
        let (printed, warnings) = run(&engine, |run| run.template(path, &options));
        assert_eq!(
            (&*printed.unwrap(), &warnings[..]),
            (text, &[][..]),
            "{path}"
        );
    }
    let (printed, _) = run(&engine, |_| {
        let minion = Minion::new("m").complete();
        let run = engine.run(&minion).with_saltenv("dev");
        run.template(conf, &TemplateOptions::default())
    });
    assert_eq!(printed.unwrap(), "dev\n");
}

#[test]
fn what_goes_wrong_has_a_place() {
    let engine = engine();
    let mut all = String::new();
    let mut add = |name: &str, result: Result<String>| {
        let error = result.expect_err(name);
        all += &format!("## {name}\n{}", told(error.diagnostic()));
    };
    for path in [
        "f/bad.sls",
        "f/tera-bad.sls",
        "f/twice.sls",
        "f/mako2.sls",
        "f/itself.sls",
        "f/inti.sls",
    ] {
        add(path, run(&engine, |run| run.sls_text(path)).0);
    }
    for path in [
        "f/bad-yaml.sls",
        "f/json.sls",
        "f/tera-bad-yaml.sls",
        "f/mako-yaml.sls",
        "f/py.sls",
        "f/host.sls",
        "f/text.sls",
        "salt://f",
    ] {
        add(
            path,
            run(&engine, |run| run.sls(path).map(|data| data.repr())).0,
        );
    }
    for name in ["jinj", "genshi"] {
        let options = managed(None, Some(name), "{}", "{}");
        add(
            name,
            run(&engine, |run| run.template("f/files/x.conf", &options)).0,
        );
    }
    assert_recorded("rendered.txt", &all);
}

#[test]
fn what_was_probably_not_meant_is_a_warning() {
    let engine = engine();
    for (path, data, says) in [
        (
            "f/typo.sls",
            "{}",
            "  f/typo.sls:1:1 \"#!jinja|ymal\"\n  help: did you mean 'yaml'?",
        ),
        (
            "f/list.sls",
            "[1]",
            "f/list.sls renders to a list, not a mapping\n  help: a state run refuses it: states are a mapping from id to state",
        ),
    ] {
        let (given, warnings) = run(&engine, |run| run.sls(path));
        assert_eq!(given.map(|data: Value| data.repr()).unwrap(), data);
        let [warning] = &warnings[..] else {
            panic!("{path}: {warnings:?}")
        };
        assert!(told(warning).contains(says), "{}", told(warning));
    }
}

#[test]
fn python_that_asks_for_a_function_that_nothing_answers_is_warned_of_once() {
    for text in [
        "#!mako|yaml\nupgrades: ${'pkg.list_upgrades' in salt}\nown: ${'mine.own' in salt}\n",
        "#!py\ndef run():\n    return {'upgrades': 'pkg.list_upgrades' in __salt__, 'own': 'mine.own' in __salt__}\n",
    ] {
        let engine = Engine::new(MemoryFiles::new().file("base", "x.sls", text));
        let (given, warnings) = run(&engine, |run| run.sls("x.sls"));
        assert_eq!(given.unwrap().repr(), "{'upgrades': False, 'own': False}");
        let [warning] = &warnings[..] else {
            panic!("{text}: {warnings:?}")
        };
        let says = "asks whether Salt has pkg.list_upgrades";
        assert!(warning.message.contains(says), "{warning}");
    }
}
