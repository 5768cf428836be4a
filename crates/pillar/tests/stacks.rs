//! Stacks of files: errors, and warnings about mistakes that the reference accepts silently, with all that they say,
//! which are in `stacks.txt`; and the files that are read.

use std::path::Path;

use crate::disk::{write, written};
use crate::messages::{assert_recorded, told};
use crate::tables::{Row, rows};
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{Diagnostic, Engine, Result};
use mapstack_pillar::{Compiled, Compiler, ExtPillars, StackKind};

/// The external pillars of a case.
#[derive(Clone, Copy)]
enum Of {
    /// One PillarStack with these config files.
    Stack(&'static [&'static str]),
    /// One MakoStack with these config files.
    MakoStack(&'static [&'static str]),
    /// Those of the file `master`.
    Master,
}

/// A name, files, and what is compiled. `<DIR>` is the directory of the files, and `m.yaml` the minion.
type Case = (&'static str, &'static [(&'static str, &'static str)], Of);

const STACK: Of = Of::Stack(&["s.cfg"]);
const MAKO_STACK: Of = Of::MakoStack(&["s.cfg"]);
const MINION: &str = "{id: web1, grains: {os: Debian, roles: [a]}, pillar: {p: 1}}";

/// Errors, in the reference as well unless DIFFERENCES.md says otherwise.
const ERRORS: &[Case] = &[
    (
        "config-template",
        &[("s.cfg", "a.yml\n{{ __grains__.nope.nope }}\n")],
        STACK,
    ),
    ("config-syntax", &[("s.cfg", "{% for r in x %}\n")], STACK),
    (
        "data-template",
        &[("s.cfg", "a.yml\n"), ("a.yml", "a: 1\nb: {{ 1 / 0 }}\n")],
        STACK,
    ),
    (
        "data-yaml-through-a-template",
        &[
            ("s.cfg", "a.yml\n"),
            ("a.yml", "a: {{ 1 }}\nb: {{ 'x: y: z' }}\n"),
        ],
        STACK,
    ),
    (
        "data-yaml-in-an-include",
        &[
            ("s.cfg", "d/a.yml\n"),
            ("d/a.yml", "{% include 'd/part.txt' %}\n"),
            ("d/part.txt", "a: 1\nb: [1\n"),
        ],
        STACK,
    ),
    (
        "error-in-a-macro",
        &[
            ("s.cfg", "a.yml\n"),
            ("a.yml", "{% import 'lib.j2' as lib %}\na: {{ lib.f() }}\n"),
            (
                "lib.j2",
                "{% macro f() %}\n{{ nope.nope }}\n{% endmacro %}\n",
            ),
        ],
        STACK,
    ),
    (
        "import-of-nothing",
        &[("s.cfg", "a.yml"), ("a.yml", "{% import 'x' as x %}")],
        STACK,
    ),
    (
        "unknown-strategy",
        &[
            ("s.cfg", "a.yml\nb.yml"),
            ("a.yml", "u: {x: 1}"),
            ("b.yml", "u:\n  y: 2\n  __: merge-lst\n"),
        ],
        STACK,
    ),
    (
        "unknown-strategy-of-a-list",
        &[
            ("s.cfg", "a.yml\nb.yml"),
            ("a.yml", "u: [1]"),
            ("b.yml", "u:\n  - __: 5\n  - 2\n"),
        ],
        STACK,
    ),
    (
        "item-is-a-number",
        &[("s.cfg", "- a.yml\n- 5\n"), ("a.yml", "a: 1")],
        STACK,
    ),
    (
        "item-is-a-directory",
        &[("s.cfg", "d*\n"), ("d/a.yml", "a: 1")],
        STACK,
    ),
    (
        "item-leads-up",
        &[
            ("c/s.cfg", "a.yml\n{{ __grains__['os'] }}.yml\n"),
            ("secret.yml", "a: 1"),
            ("m.yaml", "{id: web1, grains: {os: ../secret}}"),
        ],
        Of::Stack(&["c/s.cfg"]),
    ),
    ("item-is-absolute", &[("s.cfg", "/etc/passwd\n")], STACK),
    (
        "pattern-leads-up",
        &[("c/s.cfg", "../*.yml\n")],
        Of::Stack(&["c/s.cfg"]),
    ),
    (
        "mako-leads-out",
        &[("s.cfg", "core.yml\n/etc/passwd\n")],
        MAKO_STACK,
    ),
    (
        "functions-run-no-commands",
        &[("s.cfg", "{{ __salt__['cmd.run']('id') }}\n")],
        STACK,
    ),
    (
        "endless-include",
        &[("s.cfg", "a.yml"), ("a.yml", "{% include 'a.yml' %}")],
        STACK,
    ),
    ("master-is-a-list", &[("master", "- 1\n")], Of::Master),
    (
        "master-ext-pillar-is-a-mapping",
        &[("master", "ext_pillar:\n  stack: s.cfg\n")],
        Of::Master,
    ),
    (
        "master-item-is-text",
        &[("master", "ext_pillar:\n  - stack: s.cfg\n  - stack\n")],
        Of::Master,
    ),
    (
        "master-no-yaml",
        &[("master", "ext_pillar:\n  - stack: [s.cfg\n")],
        Of::Master,
    ),
    (
        "selector-unknown",
        &[(
            "master",
            "ext_pillar:\n  - stack:\n      grain:os: {Debian: s.cfg}\n",
        )],
        Of::Master,
    ),
    (
        "selector-of-a-list",
        &[(
            "master",
            "ext_pillar:\n  - stack:\n      grains:roles: {a: s.cfg}\n",
        )],
        Of::Master,
    ),
    (
        "selector-without-a-table",
        &[(
            "master",
            "ext_pillar:\n  - stack:\n      grains:os: s.cfg\n",
        )],
        Of::Master,
    ),
    (
        "config-file-is-a-number",
        &[("master", "ext_pillar:\n  - stack: [s.cfg, 5]\n")],
        Of::Master,
    ),
    (
        "environment-leads-up",
        &[
            (
                "master",
                "ext_pillar:\n  - stack:\n      grains:os: {Debian: __env__/s.cfg}\n",
            ),
            (
                "m.yaml",
                "{id: web1, grains: {os: Debian}, opts: {pillarenv: ../other}}",
            ),
        ],
        Of::Master,
    ),
    (
        "makostack-config-raises",
        &[("s.cfg", "a.yml\n${__grains__['nope']}.yml\n")],
        MAKO_STACK,
    ),
    (
        "makostack-config-syntax",
        &[("s.cfg", "% for r in x:\na.yml\n")],
        MAKO_STACK,
    ),
    (
        "makostack-config-undefined",
        &[("s.cfg", "a.yml\n\nr-${role}.yml\n")],
        MAKO_STACK,
    ),
    (
        "templates-are-sandboxed",
        &[("s.cfg", "{{ ().__class__.__mro__ }}")],
        STACK,
    ),
];

/// Mistakes that the reference accepts silently.
const WARNINGS: &[Case] = &[
    (
        "no-config-file",
        &[("s.cfg", "")],
        Of::Stack(&["nope.cfg", "s.cfg"]),
    ),
    (
        "blanks-around-a-name",
        &[
            ("s.cfg", "  a.yml\nb.yml # note\n"),
            ("a.yml", "a: 1"),
            ("b.yml", "b: 1"),
        ],
        STACK,
    ),
    (
        "a-list-is-no-mapping",
        &[
            ("s.cfg", "a.yml\nb.yml"),
            ("a.yml", "- 1"),
            ("b.yml", "b: 1"),
        ],
        STACK,
    ),
    (
        "others-are-left-out",
        &[
            (
                "master",
                "ext_pillar:\n  - svn: [x]\n  - stack: <DIR>/s.cfg\n",
            ),
            ("s.cfg", "b.yml"),
            ("b.yml", "b: 1"),
        ],
        Of::Master,
    ),
    (
        "two-in-one-item",
        &[
            (
                "master",
                "ext_pillar:\n  - stack: <DIR>/s.cfg\n    makostack: <DIR>/s.cfg\n",
            ),
            ("s.cfg", "b.yml"),
            ("b.yml", "b: 1"),
        ],
        Of::Master,
    ),
    (
        "unknown-merging-strategy",
        &[
            (
                "master",
                "ext_pillar: [{stack: <DIR>/s.cfg}]\npillar_source_merging_strategy: smrt\n",
            ),
            ("s.cfg", "b.yml"),
            ("b.yml", "b: 1"),
        ],
        Of::Master,
    ),
    (
        "undefined-in-stack",
        &[
            ("s.cfg", "{% do stack.update({'u': nope}) %}b.yml"),
            ("b.yml", "b: 1"),
        ],
        STACK,
    ),
    (
        "makostack-drops-what-fails",
        &[
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
        Of::MakoStack(&["c/s.cfg", "c/s.cfg"]),
    ),
    (
        "makostack-drops-templates-that-fail",
        &[
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
        MAKO_STACK,
    ),
    (
        "makostack-runs-no-commands",
        &[
            ("s.cfg", "a.yml\n"),
            ("a.yml", "a: ${__salt__['cmd.run']('id')}\n"),
        ],
        MAKO_STACK,
    ),
];

/// The external pillars of a case whose files are below a directory.
fn pillars(of: Of, directory: &Path) -> Result<ExtPillars> {
    let stack = |kind, configs: &[&str]| {
        let configs = configs
            .iter()
            .map(|config| directory.join(config).display().to_string());
        ExtPillars::new().with_stack(kind, configs)
    };
    match of {
        Of::Stack(configs) => Ok(stack(StackKind::PillarStack, configs)),
        Of::MakoStack(configs) => Ok(stack(StackKind::MakoStack, configs)),
        Of::Master => {
            let master = std::fs::read_to_string(directory.join("master")).unwrap();
            ExtPillars::from_master_config(master.as_bytes(), "master")
        }
    }
}

/// The pillar that external pillars give the minion of a directory, and the warnings.
fn compiled(pillars: ExtPillars, directory: &Path) -> (Result<Compiled>, Vec<Diagnostic>) {
    let facts = std::fs::read(directory.join("m.yaml")).unwrap_or_else(|_| MINION.into());
    let minion = Minion::parse(&facts, "m.yaml").unwrap().complete();
    let (compiler, engine) = (Compiler::new(pillars), Engine::new(MemoryFiles::new()));
    let run = compiler.run(&engine, &minion);
    (run.compile(), run.warnings())
}

/// A directory with the files of a case.
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let name = directory.path().display().to_string();
    for (path, text) in files {
        write(directory.path(), &[(path, text.replace("<DIR>", &name))]);
    }
    directory
}

/// Messages as they are for files in the working directory.
fn here(text: &str, directory: &Path) -> String {
    let real = directory.canonicalize().unwrap();
    [directory, &real]
        .iter()
        .fold(text.to_owned(), |text, directory| {
            let name = directory.display();
            text.replace(&format!("{name}/"), "")
                .replace(&name.to_string(), "<DIR>")
        })
}

#[test]
fn errors_say_what_where_and_why_and_warnings_what_was_dropped() {
    let mut all = String::new();
    for (name, files, of) in ERRORS {
        let tree = tree(files);
        let made = pillars(*of, tree.path()).and_then(|pillars| compiled(pillars, tree.path()).0);
        let error = told(made.expect_err(name).diagnostic());
        all += &format!("## {name}\n{}", here(&error, tree.path()));
    }
    for (name, files, of) in WARNINGS {
        let tree = tree(files);
        let (made, warnings) = compiled(pillars(*of, tree.path()).unwrap(), tree.path());
        let given = Value::from(made.expect(name).external).repr();
        assert!(!warnings.is_empty(), "{name}: {given}");
        let warnings: String = warnings.iter().map(told).collect();
        all += &format!("## {name}\n{given}\n{}", here(&warnings, tree.path()));
    }
    assert_recorded("stacks.txt", &all);
}

/// The data that the stacks of a directory give, and the warnings.
fn given(of: Of, directory: &Path) -> (String, Vec<Diagnostic>) {
    let (made, warnings) = compiled(pillars(of, directory).unwrap(), directory);
    (Value::from(made.unwrap().external).repr(), warnings)
}

#[test]
fn text_that_is_not_utf_8_is_refused_by_pillarstack_and_dropped_by_makostack() {
    let tree = written(&[("s.cfg", "a.yml\nb.yml\n"), ("b.yml", "b: 1\n")]);
    std::fs::write(tree.path().join("a.yml"), b"a: 1\nb: \xff\n").unwrap();
    let (made, _) = compiled(pillars(STACK, tree.path()).unwrap(), tree.path());
    let error = made.unwrap_err().to_string();
    assert!(error.contains("a.yml:2:4"), "{error}");
    let (data, warnings) = given(MAKO_STACK, tree.path());
    assert_eq!(data, "{'b': 1}");
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    let warning = here(&warning.to_string(), tree.path());
    assert!(warning.contains("MakoStack leaves a.yml out"), "{warning}");
    assert!(warning.contains("a.yml:2:4"), "{warning}");
}

#[cfg(unix)]
#[test]
fn no_file_outside_is_read_unless_its_directory_is_allowed() {
    let tree = tree(&[
        ("c/s.cfg", "l.yml\n"),
        ("c/m.cfg", "<DIR>/shared/x.yml\n"),
        ("shared/x.yml", "x: 1\n"),
    ]);
    let shared = tree.path().join("shared");
    std::os::unix::fs::symlink(shared.join("x.yml"), tree.path().join("c/l.yml")).unwrap();
    for of in [Of::Stack(&["c/s.cfg"]), Of::MakoStack(&["c/m.cfg"])] {
        let pillars = pillars(of, tree.path()).unwrap();
        let (refused, _) = compiled(pillars.clone(), tree.path());
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("is outside of the directories"), "{error}");
        let (allowed, warnings) = compiled(pillars.with_directory(&shared), tree.path());
        assert_eq!(Value::from(allowed.unwrap().external).repr(), "{'x': 1}");
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}

/// The way to each of a template's own templates is bounded by the same directories.
#[test]
fn templates_of_makostack_come_from_allowed_directories_alone() {
    let tree = tree(&[
        ("c/m.cfg", "<DIR>/shared/x.yml\n"),
        ("shared/x.yml", "<%include file='<DIR>/other/y.mako'/>\n"),
        ("other/y.mako", "y: 2\n"),
    ]);
    let pillars = pillars(Of::MakoStack(&["c/m.cfg"]), tree.path()).unwrap();
    let pillars = pillars.with_directory(tree.path().join("shared"));
    let (refused, warnings) = compiled(pillars.clone(), tree.path());
    assert_eq!(Value::from(refused.unwrap().external).repr(), "{}");
    let says = "is outside of the directories";
    assert!(warnings[0].to_string().contains(says), "{warnings:?}");
    let pillars = pillars.with_directory(tree.path().join("other"));
    let (allowed, warnings) = compiled(pillars, tree.path());
    assert_eq!(Value::from(allowed.unwrap().external).repr(), "{'y': 2}");
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn going_on_after_a_failure_leaves_it_in_the_pillar() {
    let tree = tree(&[
        (
            "master",
            "ext_pillar: [{stack: <DIR>/bad.cfg}, {stack: <DIR>/s.cfg}]",
        ),
        ("bad.cfg", "{{ nope.nope }}"),
        ("s.cfg", "b.yml"),
        ("b.yml", "b: 1"),
    ]);
    let pillars = pillars(Of::Master, tree.path()).unwrap();
    assert!(compiled(pillars.clone(), tree.path()).0.is_err());
    let (went_on, _) = compiled(pillars.keep_going(true), tree.path());
    let merged = Value::from(went_on.unwrap().merged).repr();
    let said = "Failed to load ext_pillar stack: bad.cfg:1:4: Jinja variable 'nope' is undefined";
    let expected = format!("{{'p': 1, 'b': 1, '_errors': [\"{said} (");
    let merged = here(&merged, tree.path());
    assert!(
        merged.starts_with(&expected) && merged.ends_with("stack)\"]}"),
        "{merged}"
    );
}

/// Values are values: the reference changes both spellings.
#[test]
fn anchors_are_not_shared_between_data_files() {
    let tree = tree(&[
        ("s.cfg", "a.yml\nb.yml"),
        ("a.yml", "base: &b {x: 1}\nk: *b\n"),
        ("b.yml", "base: {y: 2}"),
    ]);
    let (data, warnings) = given(STACK, tree.path());
    assert_eq!(data, "{'base': {'x': 1, 'y': 2}, 'k': {'x': 1}}");
    let said = "b.yml changes 'base', which a YAML anchor makes one mapping with 'k'";
    assert!(warnings[0].message.contains(said), "{warnings:?}");
}

#[test]
fn options_of_the_master_are_seen_as_opts() {
    let tree = tree(&[
        (
            "master",
            "ext_pillar: [{stack: {'opts:site': {here: <DIR>/s.cfg}}}]\nsite: here\nid: salt_master\n",
        ),
        ("s.cfg", "a.yml"),
        (
            "a.yml",
            "seen: {{ __opts__.site }} {{ __opts__['id'] }} {{ __opts__.minion_id }} {{ pillarenv }}",
        ),
        ("m.yaml", "{id: web1, opts: {pillarenv: qa}}"),
    ]);
    let (data, _) = given(Of::Master, tree.path());
    assert_eq!(data, "{'seen': 'here salt_master web1 qa'}");
}

/// The tables of the page about definitions, whose rows hold for both kinds of stacks.
#[test]
fn every_documented_strategy_gives_what_its_row_says() {
    let page = include_str!("../../../docs/definitions.md");
    let all = rows(page, "| strategy | file | result |");
    assert_eq!(all.len(), 10);
    for Row { above, cells } in all {
        let (base, layer) = (above.last().unwrap(), &cells[1][0]);
        let tree = written(&[
            ("s.cfg", "before.yml\nafter.yml\n"),
            ("before.yml", &format!("it: {base}")),
            ("after.yml", &format!("it: {layer}")),
        ]);
        let result = mapstack::yaml::load(&cells[2][0]).unwrap().repr();
        for of in [STACK, MAKO_STACK] {
            let (data, _) = given(of, tree.path());
            assert_eq!(data, format!("{{'it': {result}}}"), "{cells:?}");
        }
    }
}
