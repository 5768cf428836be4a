//! Errors and warnings of `map.data`, with all that they say: place, notes and advice.
//!
//! The messages are in `errors.txt` and `warnings.txt`.

use std::fmt::Write as _;

use mapstack::loader::{FileServer, MemoryFiles, Roots};
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{DataOptions, Diagnostic, Engine, Result, yaml};

use crate::messages::{assert_recorded, told};

/// A name, and the files of the formula `f` and its minion, instead of those of [`outcome`].
type Case = (&'static str, &'static [(&'static str, &'static [u8])]);

const DEFAULTS: &str = "f/parameters/defaults.yaml";
const META: &str = "f/parameters/map_jinja.yaml";
const MINION: &str = "minion.yaml";

const ERRORS: &[Case] = &[
    // Source definitions
    ("unknown-matcher-type", &[(META, b"values:\n  sources:\n    - defaults.yaml\n    - Y!Q@os\n")]),
    ("yaml-matcher-inside-a-chain", &[(META, b"values:\n  sources: ['Y!G@os|roles']\n")]),
    ("chain-after-a-file", &[(META, b"values:\n  sources: ['Y!P@x.yaml|G@os']\n")]),
    ("a-path-is-no-data", &[(META, b"values:\n  sources: ['P@x']\n")]),
    // Meta configuration
    ("sources-null", &[(META, b"values:\n  sources: null\n")]),
    ("sources-text", &[(META, b"values:\n  sources: G@os\n")]),
    ("sources-of-numbers", &[(META, b"values:\n  sources: [5]\n")]),
    ("parameter-dirs-number", &[(META, b"values:\n  parameter_dirs: 5\n")]),
    ("parameter-dirs-of-numbers", &[(META, b"values:\n  parameter_dirs: [5]\n")]),
    ("post-map-engine-not-built-in", &[
            (META, b"values:\n  post_map_template: genshi\n"),
            ("f/post-map.jinja", b"<% mapdata['a'] = 1 %>\n"),
        ]),
    // The shape of data sources
    ("source-is-a-list", &[(DEFAULTS, b"# ports\n- 80\n- 443\n")]),
    ("source-is-a-list-behind-a-mark", &[(DEFAULTS, b"# c\n---\n- a\n")]),
    ("source-has-data-beside-its-values", &[(DEFAULTS, b"values:\n  a: 1\nstrategy: smart\nx_y: 1\n")]),
    ("source-has-an-unknown-key", &[(DEFAULTS, b"strategy: smart\nvaleus:\n  port: 80\n")]),
    ("source-has-a-number-as-key", &[(DEFAULTS, b"values: {}\n5: x\n")]),
    ("source-is-empty", &[(DEFAULTS, b"")]),
    ("source-is-comments", &[(DEFAULTS, b"# nothing yet\n")]),
    ("source-is-empty-after-its-template", &[(DEFAULTS, b"{% if grains.os == 'Plan9' %}\nvalues: {}\n{% endif %}\n")]),
    // YAML
    ("yaml-in-a-plain-file", &[(DEFAULTS, b"values:\n  port: 80\n  name: web: front\n")]),
    ("yaml-tab", &[(DEFAULTS, b"values:\n\tport: 80\n")]),
    ("yaml-duplicate-key", &[(DEFAULTS, b"values:\n  port: 80\n  host: a\n  port: 81\n")]),
    ("yaml-in-a-rendered-template", &[(
            DEFAULTS,
            b"{% for i in range(3) %}\n{# not in the text #}\n{% endfor %}\nvalues:\n{%- for i in range(3) %}\n  p{{ i }}: {{ i }}\n{%- endfor %}\n  name: web: {{ grains.os }}\n",
        )]),
    ("yaml-in-what-a-grain-holds", &[
            (DEFAULTS, b"values:\n  banner: {{ grains.banner }}\n"),
            (MINION, b"id: m\ngrains: {banner: 'a: b: c'}\n"),
        ]),
    ("yaml-two-documents", &[(DEFAULTS, b"values: {}\n---\nvalues: {}\n")]),
    ("yaml-unknown-alias", &[(DEFAULTS, b"values:\n  a: *nowhere\n")]),
    ("yaml-crlf", &[(DEFAULTS, b"values:\r\n  port: 80\r\n  name: web: front\r\n")]),
    ("no-utf-8", &[(DEFAULTS, b"values:\n  name: caf\xe9\n")]),
    ("yaml-recursive-anchor", &[(DEFAULTS, b"values: &v\n  itself: *v\n")]),
    // Templates
    ("jinja-syntax", &[(DEFAULTS, b"values:\n  port: {{ 80 + }}\n")]),
    ("jinja-unknown-tag", &[(DEFAULTS, b"values:\n{% iff grains.os %}\n{% endif %}\n")]),
    ("jinja-block-without-end", &[(DEFAULTS, b"values:\n{% if grains.os %}\n  a: 1\n")]),
    ("undefined-variable", &[(DEFAULTS, b"values:\n  os: {{ grain.os }}\n")]),
    ("undefined-grain", &[
            (DEFAULTS, b"values:\n  os: {{ grains.os_famly }}\n"),
            (MINION, b"id: m\ngrains: {os: Debian, os_family: Debian}\n"),
        ]),
    ("unknown-filter", &[(DEFAULTS, b"values:\n  os: {{ grains.os | uper }}\n")]),
    ("unknown-function", &[(DEFAULTS, b"values:\n  os: {{ salt['grains.gte']('os') }}\n")]),
    ("commands-are-not-run", &[(DEFAULTS, b"values:\n  who: {{ salt['cmd.run']('id') }}\n")]),
    ("raise", &[(DEFAULTS, b"values:\n  a: {{ raise('this formula needs a role') }}\n")]),
    ("wrong-types-in-an-expression", &[(DEFAULTS, b"values:\n  a: {{ grains.os + 1 }}\n")]),
    ("error-in-an-imported-macro", &[
            ("f/macros.jinja", b"{% macro port(name) %}\n{{ ports[name] }}\n{% endmacro %}\n"),
            (DEFAULTS, b"{% from 'f/macros.jinja' import port %}\nvalues:\n  a: {{ port('web') }}\n"),
        ]),
    ("import-of-nothing", &[(DEFAULTS, b"{% from 'f/nothing.jinja' import x %}\nvalues: {}\n")]),
    ("post-map-fails", &[
            (DEFAULTS, b"values: {a: 1}\n"),
            ("f/post-map.jinja", b"{% do mapdata.update({'b': mapdata.c + 1}) %}\n"),
        ]),
    // Merging
    ("values-are-a-list", &[(DEFAULTS, b"values:\n  - 80\n")]),
    ("values-are-nothing", &[(DEFAULTS, b"values:\n")]),
    ("pillar-of-the-formula-is-a-list", &[(DEFAULTS, b"values: {}\n"), (MINION, b"id: m\ngrains: {os: Debian}\npillar: {f: [1]}\n")]),
    ("aggregate-to-a-list", &[(DEFAULTS, b"strategy: aggregate\nvalues: [1]\n")]),
    // Running away
    ("cyclic-include", &[
            (DEFAULTS, b"values: {}\n{% include 'f/a.jinja' %}\n"),
            ("f/a.jinja", b"{% include 'f/b.jinja' %}\n"),
            ("f/b.jinja", b"# b\n{% include 'f/a.jinja' %}\n"),
        ]),
    ("endless-recursion", &[(DEFAULTS, b"{% macro deeper(n) %}\n{{ deeper(n + 1) }}\n{% endmacro %}\nvalues: {a: {{ deeper(0) }}}\n")]),
    ("endless-loop", &[(
            DEFAULTS,
            b"values:\n{% set s = 'x' * 1000000 %}{% for i in range(99999) %}{% set x = 'y' in s %}{% endfor %}\n",
        )]),
    ("endless-text", &[(DEFAULTS, b"values:\n  a: {{ 'mapstack' * 99999999999 }}\n")]),
    ("map-data-asks-for-itself", &[(DEFAULTS, b"values:\n  a: {{ salt['map.data']('f') | json }}\n")]),
    // Characters
    ("wide-characters", &[(DEFAULTS, "values:\n  日本: {{ grain.os }}\n".as_bytes())]),
];

fn minion(text: &[u8]) -> Minion {
    Minion::parse(text, MINION).unwrap().complete()
}

/// The data of a formula that has these files besides its defaults, and its warnings.
fn outcome(files: &[(&str, &[u8])], options: &str) -> (Result<Value>, Vec<Diagnostic>) {
    let facts = files.iter().find(|(path, _)| *path == MINION);
    let facts = facts.map_or(&b"id: web1\ngrains: {os: Debian}\n"[..], |(_, facts)| facts);
    let defaults = MemoryFiles::new().file("base", DEFAULTS, "values: {a: 1}\n");
    let served = files
        .iter()
        .fold(defaults, |all, (path, text)| all.file("base", path, text));
    data(served, &minion(facts), options)
}

fn data(
    served: impl FileServer + 'static,
    minion: &Minion,
    options: &str,
) -> (Result<Value>, Vec<Diagnostic>) {
    let engine = Engine::new(served);
    let run = engine.run(minion);
    let options = yaml::load(options).unwrap();
    let options = options.as_map().cloned().unwrap_or_default();
    let data = run.data("f", &DataOptions::from_kwargs(&options).unwrap());
    (data, run.warnings())
}

/// A case with its error.
fn refused(name: &str, result: Result<Value>) -> String {
    let error = result.expect_err(name);
    format!("## {name}\n{}", told(error.diagnostic()))
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    assert!(outcome(&[], "{}").0.is_ok());
    let mut all: String = ERRORS
        .iter()
        .map(|(name, files)| refused(name, outcome(files, "{}").0))
        .collect();
    for (name, text) in made() {
        all += &refused(name, outcome(&[(DEFAULTS, text.as_bytes())], "{}").0);
    }
    assert_recorded("errors.txt", &all);
}

/// Layers that are too much of something.
fn made() -> [(&'static str, String); 4] {
    let mut bomb = String::from("values:\n  l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let inner = vec![format!("*l{}", level - 1); 10].join(", ");
        let _ = writeln!(bomb, "  l{level}: &l{level} [{inner}]");
    }
    let mut block = String::from("values:\n");
    for level in 1..3_000 {
        let _ = writeln!(block, "{}a:", " ".repeat(level));
    }
    let [open, close, left, right] = ["[", "]", "(", ")"].map(|mark| mark.repeat(20_000));
    [
        ("alias-bomb", bomb),
        ("deep-flow", format!("values:\n  a: {open}{close}\n")),
        ("deep-block", block),
        (
            "deep-expression",
            format!("values:\n  a: {{{{ {left}1{right} }}}}\n"),
        ),
    ]
}

/// A root on the disk with the defaults, to which a change is made.
fn on_disk(change: impl FnOnce(&std::path::Path)) -> Result<Value> {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join(DEFAULTS);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "values: {a: 1}\n").unwrap();
    change(&file);
    let served = Roots::new().root("base", root.path());
    data(served, &Minion::new("web1").complete(), "{}").0
}

#[test]
fn a_huge_layer_is_refused_unread() {
    let error = on_disk(|file| {
        let file = std::fs::File::options().write(true).open(file).unwrap();
        file.set_len(1 << 40).unwrap();
    });
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("cannot read salt://f/parameters/defaults.yaml: ")
            && error.contains("more than the 33554432 that are read"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn a_layer_without_permission_is_an_error_and_not_missing() {
    use std::os::unix::fs::PermissionsExt;
    let mut is_privileged = false;
    let result = on_disk(|file| {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o000)).unwrap();
        is_privileged = std::fs::read(file).is_ok();
    });
    match result {
        // A privileged user can read every file, and so can the run.
        Ok(_) => assert!(is_privileged),
        Err(error) => assert!(error.to_string().contains("denied"), "{error}"),
    }
}

#[test]
fn files_may_end_lines_as_windows_does_and_have_names_in_any_script() {
    for (files, expected) in [
        (
            &[(
                DEFAULTS,
                &b"values:\r\n  a: {{ 1 + 1 }}\r\n  b: |\r\n    x\r\n    y\r\n"[..],
            )][..],
            "{'a': 2, 'b': 'x\\ny\\n', ",
        ),
        (
            &[
                (MINION, "id: m\ngrains: {os: Größe 日本}\n".as_bytes()),
                (
                    "f/parameters/os/Größe 日本.yaml",
                    "values: {Ключ: é}\n".as_bytes(),
                ),
            ],
            "{'a': 1, 'Ключ': 'é', ",
        ),
    ] {
        let (data, warnings) = outcome(files, "{}");
        let data = data.unwrap().repr();
        assert!(data.starts_with(expected) && warnings.is_empty(), "{data}");
    }
}

/// Cases, and options of `map.data`.
const WARNINGS: &[(Case, &str)] = &[
    (("unknown-strategy", &[(DEFAULTS, b"strategy: recurs\nvalues: {a: 1}\n")]), "{}"),
    (("text-for-merge-lists", &[(DEFAULTS, b"merge_lists: 'false'\nvalues: {a: 1}\n")]), "{}"),
    (("unknown-strategy-of-an-argument", &[]), "default_merge_strategy: overwite"),
    (("refused-path", &[
            (MINION, b"id: m\ngrains: {os: ../../../../etc}\n"),
            ("etc.yaml", b"values: {a: 2}\n"),
        ]), "{}"),
    (("unknown-meta-key", &[(META, b"values: {source: [Y!G@os]}\n")]), "{}"),
    (("unknown-post-map-engine", &[("f/post-map.jinja", b"")]), "post_map_template: jina"),
    (("custom-data", &[]), "custom_data: {tier: front}"),
    (("function-that-nothing-answers", &[(
            DEFAULTS,
            b"values:\n  a: 1\n  upgrades: {{ 'pkg.list_upgrades' in salt }}\n  own: {{ 'mine.own' in salt }}\n",
        )]), "{}"),
    (("function-asked-for-by-get", &[(
            DEFAULTS,
            b"values:\n  a: 1\n  b: {{ salt.get('pkg.list_upgrades') is none }}\n",
        )]), "{}"),
    (("function-tested-for-being-defined", &[(
            DEFAULTS,
            b"values:\n  a: 1\n  b: {{ salt['pkg.list_upgrades'] is defined }}\n  c: {{ salt.grains.append | default('none') }}\n",
        )]), "{}"),
];

/// The answer is the reference's, and probably not what was meant.
#[test]
fn warnings_come_with_the_answer() {
    let mut all = String::new();
    for ((name, files), options) in WARNINGS {
        let (data, warnings) = outcome(files, options);
        let data = data.unwrap().repr();
        assert!(data.starts_with("{'a': 1"), "{name}: {data}");
        let _ = writeln!(all, "## {name}");
        all.extend(warnings.iter().map(told));
    }
    assert_recorded("warnings.txt", &all);
}

#[test]
fn no_grain_leads_out_of_a_root() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("r");
    std::fs::create_dir_all(root.join("f/parameters/os")).unwrap();
    std::fs::write(root.join(DEFAULTS), "values: {a: 1}\n").unwrap();
    std::fs::write(directory.path().join("outside.yaml"), "values: {a: 2}\n").unwrap();
    let outside = directory.path().join("outside").display().to_string();
    for grain in [
        "../../../../outside",
        "x/../../../../../outside",
        &*outside,
        "..\\..\\..\\..\\outside",
        "..",
    ] {
        let mut minion = minion(b"id: web1");
        minion.grains.insert("os", grain);
        let data = data(Roots::new().root("base", &root), &minion, "{}").0;
        let data = data.unwrap().repr();
        assert!(data.starts_with("{'a': 1, "), "{grain}: {data}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_a_root_is_named_unless_it_is_followed() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("r");
    std::fs::create_dir_all(root.join("f/parameters/os")).unwrap();
    std::fs::write(root.join(DEFAULTS), "values: {a: 1}\n").unwrap();
    let outside = directory.path().join("outside.yaml");
    std::fs::write(&outside, "values: {a: 2}\n").unwrap();
    let link = root.join("f/parameters/os/Debian.yaml");
    std::os::unix::fs::symlink("../../../../outside.yaml", &link).unwrap();
    let data = |follow: bool| {
        let roots = Roots::new()
            .root("base", &root)
            .follow_outside_links(follow);
        let (data, warnings) = data(roots, &minion(b"{id: m, grains: {os: Debian}}"), "{}");
        (data.unwrap().repr(), warnings)
    };
    let (refused, warnings) = data(false);
    assert!(refused.starts_with("{'a': 1, "), "{refused}");
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    let expected = format!(
        "salt://f/parameters/os/Debian.yaml is not served: {} is a link out of the root {}, to {}",
        link.display(),
        root.display(),
        outside.canonicalize().unwrap().display()
    );
    assert_eq!(warning.message, expected);
    let (followed, warnings) = data(true);
    assert!(followed.starts_with("{'a': 2, "), "{followed}");
    assert!(warnings.is_empty(), "{warnings:?}");
}
