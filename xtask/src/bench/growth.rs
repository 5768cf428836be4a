//! The growth of work with its amount: instructions of whole commands for each unit of trees of five sizes.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use xshell::{Shell, cmd};

use super::measure::{collected, mapstack, verdict};
use crate::Result;

/// The smallest size of a tree, and how often it doubles.
const SMALLEST: usize = 250;
const DOUBLED: usize = 4;

/// The most that a unit of the largest tree may cost of what one of the smallest costs.
const GOAL: f64 = 1.3;

/// Files by their paths below the directory of a tree.
type Files = Vec<(String, String)>;

/// Trees of one kind, and the command that is asked about them.
struct TreeKind {
    name: &'static str,
    line: &'static str,
    files: fn(usize) -> Files,
}

const DATA: &str = "data f --root salt --minion web1.yaml";
const EXPLAIN: &str = "explain f --root salt --minion web1.yaml";
const LINT: &str = "lint f --root salt --platform debian-12";
const HIGHSTATE: &str = "highstate f --root salt --minion web1.yaml";
const MASTERS_HIGHSTATE: &str = "highstate --config master --config-kind master --minion web1.yaml";
const PILLAR: &str = "pillar --config master --config-kind master --minion web1.yaml";
const DIFF: &str = "diff --from before --to salt --minions minions";

const DEFAULTS: &str = "salt/f/parameters/defaults.yaml";
const LAYER: &str = "salt/f/parameters/os/Debian.yaml";
const MAP: &str = "salt/f/map.jinja";
const SLS: &str = "salt/f/init.sls";

#[rustfmt::skip]
const KINDS: &[TreeKind] = &[
    TreeKind { name: "values", line: DATA, files: |n| one(DEFAULTS, values(n, |at| format!("k{at}: {{a: {at}}}"))) },
    TreeKind { name: "values with anchors", line: DATA, files: |n| one(DEFAULTS, values(n, |at| format!("k{at}: &a{at} [1, {at}]"))) },
    TreeKind { name: "values", line: EXPLAIN, files: |n| one(DEFAULTS, values(n, |at| format!("k{at}: {{a: {at}}}"))) },
    TreeKind { name: "rounds of a loop in a map", line: EXPLAIN, files: |n| one(MAP, rounds(n)) },
    TreeKind { name: "keys beside similar ones", line: LINT, files: similar_keys },
    TreeKind { name: "octal numbers", line: LINT, files: |n| one(DEFAULTS, values(n, |at| format!("k{at}: 0644"))) },
    TreeKind { name: "unread layers", line: LINT, files: |n| many(n, |at| (format!("salt/f/parameters/os/X{at}.yaml"), "values: {a: 2}\n".into())) },
    TreeKind { name: "unknown functions", line: LINT, files: |n| one(SLS, lines(n, |at| format!("{{% if false %}}{{{{ salt['test.pin{at}']() }}}}{{% endif %}}"))) },
    TreeKind { name: "formulas", line: "lint --root salt --platform debian-12", files: |n| many(n, |at| (format!("salt/f{at}/parameters/defaults.yaml"), "values: {a: 1}\n".into())) },
    TreeKind { name: "states in a chain", line: HIGHSTATE, files: |n| one(SLS, lines(n, |at| format!("a{at}: {{test.nop: [{{require: [{{test: a{}}}]}}]}}", (at + 1).min(n - 1)))) },
    TreeKind { name: "states that one requires", line: HIGHSTATE, files: |n| one(SLS, lines(n, |at| format!("a{at}: {{test.nop: [{{require_in: [{{test: a0}}]}}]}}"))) },
    TreeKind { name: "sls", line: HIGHSTATE, files: included },
    TreeKind { name: "sls", line: "explain highstate --root salt --minion web1.yaml", files: included },
    TreeKind { name: "states that use others", line: "explain highstate --root salt --minion web1.yaml", files: |n| one(SLS, lines(n, |at| format!("a{at}: {{test.nop: [{{x{at}: 1}}, {{use: [{{test: a{}}}]}}]}}", (at + 1) % n))) },
    TreeKind { name: "tags of a managed file", line: "explain file /etc/a --root salt --minion web1.yaml", files: managed_template },
    TreeKind { name: "managed files", line: "file --sls f --root salt --minion web1.yaml", files: |n| one(SLS, lines(n, |at| format!("/etc/f{at}: {{file.managed: [{{contents: 'x {at}'}}]}}"))) },
    TreeKind { name: "changed values", line: DIFF, files: |n| both(DEFAULTS, |side| values(n, |at| format!("k{at}: {side}{at}"))) },
    TreeKind { name: "changed states", line: DIFF, files: |n| both(SLS, |side| lines(n, |at| format!("a{at}: {{test.nop: [{{x: {side}}}]}}"))) },
    TreeKind { name: "renamed states", line: DIFF, files: |n| both(SLS, |side| lines(n, |at| format!("{side}{at}: {{test.nop: [{{x: {at}}}, {{name: {side}-{at}}}]}}"))) },
    TreeKind { name: "changed lines of a file", line: DIFF, files: changed_file },
    TreeKind { name: "minions", line: "fleet f --root salt --minions minions", files: |n| many(n, |at| (format!("minions/m{at}.yaml"), format!("id: m{at}\ngrains: {{os: X{at}}}\n"))) },
    TreeKind { name: "minions", line: "impact grains:os --root salt --minions minions", files: |n| many(n, |at| (format!("minions/m{at}.yaml"), format!("id: m{at}\ngrains: {{os: X{at}}}\n"))) },
    TreeKind { name: "warnings of a template", line: DATA, files: |n| one(DEFAULTS, values(n, |at| format!("k{at}: {{{{ salt['log.warning']('w{at}') }}}}"))) },
    TreeKind { name: "sections of other saltenvs", line: MASTERS_HIGHSTATE, files: ignored_sections },
    TreeKind { name: "sls of a pillar", line: PILLAR, files: pillar_sls },
    TreeKind { name: "sls of a pillar", line: "explain pillar --config master --config-kind master --minion web1.yaml", files: pillar_sls },
    TreeKind { name: "keys of a pillar", line: PILLAR, files: |n| one("pillar/p.sls", lines(n, |at| format!("k{at}: {{a: {at}}}"))) },
];

/// Measure every kind.
pub fn run(sh: &Shell) -> Result {
    let program = mapstack(sh)?;
    for kind in KINDS {
        let mut each = Vec::new();
        for doubled in 0..=DOUBLED {
            let n = SMALLEST << doubled;
            let directory = TempDir::new()?;
            write(directory.path(), &(kind.files)(n))?;
            let _inside = sh.push_dir(directory.path());
            let args = kind.line.split(' ');
            // Findings and differences end with 1.
            let counted = cmd!(
                sh,
                "valgrind --tool=callgrind --callgrind-out-file=/dev/null {program} {args...}"
            );
            let Some(instructions) = collected(counted.ignore_status()) else {
                return Err("valgrind counts nothing".into());
            };
            each.push(instructions / 1e3 / n as f64);
        }
        let growth = each[DOUBLED] / each[0];
        let shown: Vec<String> = each.iter().map(|each| format!("{each:8.1}")).collect();
        let verb = kind.line.split(' ').next().unwrap_or_default();
        println!(
            "  {verb:9} {:26} {} thousand instructions each: {growth:.2} times{}",
            kind.name,
            shown.join(" "),
            verdict(growth <= GOAL, &format!("<= {GOAL}"))
        );
    }
    Ok(())
}

fn write(directory: &Path, files: &Files) -> Result {
    let minion = "id: web1\ngrains: {os: Debian, os_family: Debian}\n";
    let usual = [
        ("web1.yaml", minion),
        ("minions/web1.yaml", minion),
        ("salt/top.sls", "base: {'*': [f]}\n"),
        ("before/top.sls", "base: {'*': [f]}\n"),
        (SLS, "a: {test.nop: []}\n"),
        ("before/f/init.sls", "a: {test.nop: []}\n"),
        (DEFAULTS, "values: {a: 1}\n"),
        ("before/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("pillar/top.sls", "base: {'*': [p]}\n"),
        (
            "master",
            "file_roots: {base: [salt]}\npillar_roots: {base: [pillar]}\n",
        ),
    ];
    let usual = usual.map(|(path, text)| (path.to_owned(), text.to_owned()));
    for (path, text) in usual.iter().chain(files) {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        fs::write(path, text)?;
    }
    Ok(())
}

fn one(path: &str, text: String) -> Files {
    vec![(path.to_owned(), text)]
}

fn many(n: usize, file: impl Fn(usize) -> (String, String)) -> Files {
    (0..n).map(file).collect()
}

/// A file of both states; each side has its letter.
fn both(path: &str, text: impl Fn(char) -> String) -> Files {
    let before = path.replacen("salt", "before", 1);
    vec![(path.to_owned(), text('n')), (before, text('o'))]
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(|at| line(at) + "\n").collect()
}

fn values(n: usize, line: impl Fn(usize) -> String) -> String {
    "values:\n".to_owned() + &lines(n, |at| format!("  {}", line(at)))
}

fn rounds(n: usize) -> String {
    format!(
        "{{% set f = {{}} %}}{{% for i in range({n}) %}}{{% do f.update({{'k%d' % i: {{'v': i}}}}) %}}{{% endfor %}}"
    )
}

fn similar_keys(n: usize) -> Files {
    let keys = |word: &str| values(n, |at| format!("{word}_{at:06}: 1"));
    vec![
        (DEFAULTS.to_owned(), keys("kay")),
        (LAYER.to_owned(), keys("key")),
    ]
}

fn included(n: usize) -> Files {
    let all = lines(n, |at| format!("  - f.s{at}"));
    let mut files = many(n, |at| {
        (
            format!("salt/f/s{at}.sls"),
            format!("a{at}: {{test.nop: []}}\n"),
        )
    });
    files.push((SLS.to_owned(), format!("include:\n{all}")));
    files
}

/// A top file of `dev` with sections of saltenvs that it does not speak for.
fn ignored_sections(n: usize) -> Files {
    let master = "file_roots: {base: [salt], dev: [dev]}\npillar_roots: {base: [pillar]}\n";
    let sections = lines(n, |at| format!("e{at}: {{'*': [f]}}"));
    vec![
        ("master".to_owned(), master.to_owned()),
        ("dev/top.sls".to_owned(), sections),
        ("pillar/p.sls".to_owned(), "k: 1\n".to_owned()),
    ]
}

fn pillar_sls(n: usize) -> Files {
    let all = lines(n, |at| format!("  - s{at}"));
    let mut files = many(n, |at| {
        let path = format!("pillar/s{at}.sls");
        (path, format!("k{at}: {{a: {at}}}\n"))
    });
    files.push(("pillar/p.sls".to_owned(), format!("include:\n{all}")));
    files
}

fn managed_template(n: usize) -> Files {
    let managed = "/etc/a: {file.managed: [{source: 'salt://f/a.j'}, {template: jinja}]}\n";
    vec![
        (SLS.to_owned(), managed.to_owned()),
        (
            "salt/f/a.j".to_owned(),
            lines(n, |at| format!("{{{{ grains.os }}}} {at}")),
        ),
    ]
}

fn changed_file(n: usize) -> Files {
    let managed = "/etc/a: {file.managed: [{source: 'salt://f/a.txt'}]}\n".to_owned();
    let mut files = both(SLS, |_| managed.clone());
    files.extend(both("salt/f/a.txt", |side| {
        lines(n, |at| format!("line {side} {}", at * 7919 % 100_003))
    }));
    files
}
