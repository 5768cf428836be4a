//! The states of whole estates.

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, platforms};
use mapstack_lint::{Estate, Linter, Rule};

/// The places and messages of what is found of a rule, in an estate with the minions `web1` and `db1`.
fn found(rule: Rule, files: &[(&str, &str)]) -> Vec<String> {
    let files = files
        .iter()
        .fold(MemoryFiles::new(), |files, (path, text)| {
            files.file("base", path, *text)
        });
    let engine = Engine::new(files);
    let minions = ["web1", "db1"].map(|id| Minion::new(id).complete());
    let linter = Linter::new(&engine).minions(minions.to_vec());
    let report = linter.lint_estate(&Estate::default()).unwrap();
    let findings = report
        .findings
        .iter()
        .filter(|finding| finding.rule == rule);
    findings.map(ToString::to_string).collect()
}

const TOP: (&str, &str) = (
    "top.sls",
    "base:\n  '*': [common]\n  'web*': [web]\n  'mail*': [mail]\n",
);

#[test]
fn sls_that_nothing_names_are_notes() {
    let state = "x{{ sls }}: {test.nop: []}\n";
    let files = [
        TOP,
        ("common.sls", "include: [deep.one]\na: {test.nop: []}\n"),
        (
            "web.sls",
            "pkgs:\n  pkg.installed:\n    - pkgs:\n      - {{ 'a' }}\n",
        ),
        // No minion gets these, but they are named.
        ("mail.sls", "include: [.role]\n"),
        (
            "deep/one.sls",
            "{% if grains.get('rare') %}\ninclude:\n  - .two\n{% endif %}\nb: {test.nop: []}\n",
        ),
        ("deep/two.sls", state),
        ("role/db.sls", state),
        (
            "site.jinja",
            "{% set roles %}\n- role.{{ grains.get('role') }}\n{% endset %}\n",
        ),
        ("by_script.sls", state),
        ("deploy.yaml", "sls: by_script\n"),
        // Nothing names these.
        ("old.sls", state),
        ("deep/three.sls", state),
        ("deep/three/part.sls", "# old is\n"),
        // The sls of a formula are there to be named.
        ("nginx/map.jinja", ""),
        ("nginx/certificates.sls", state),
    ];
    let expected = [
        "deep/three.sls: note: no top file and no sls names the sls 'deep.three' [unused-sls]",
        "deep/three/part.sls: note: no top file and no sls names the sls 'deep.three.part' [unused-sls]",
        "old.sls: note: no top file and no sls names the sls 'old' [unused-sls]",
    ];
    assert_eq!(found(Rule::UnusedSls, &files), expected);
}

#[test]
fn without_top_files_that_work_no_sls_is_said_to_be_unused() {
    let old = ("old.sls", "a: {test.nop: []}\n");
    let none: [String; 0] = [];
    assert_eq!(found(Rule::UnusedSls, &[old]), none);
    assert_eq!(
        found(Rule::UnusedSls, &[("top.sls", "base: {{ nope }}\n"), old]),
        none
    );
    assert_eq!(
        found(
            Rule::UnusedSls,
            &[("top.sls", "base: {'mail*': [mail]}\n"), old]
        ),
        none
    );
}

#[test]
fn each_sls_is_looked_at_in_its_saltenv() {
    let broken = "d: {test.nop: [{require: [{test: gone}]}]}\n";
    let files = MemoryFiles::new()
        .file(
            "base",
            "top.sls",
            "base: {'*': [a]}\ndev:\n  'web*': [d, e]\n  'db*':\n    - e.lost\n  'mail*': [mail]\n",
        )
        .file("dev", "mail.sls", "m: {test.nop: []}\n")
        .file("base", "a.sls", "a:\n  file.tuch: []\n")
        .file("base", "d.sls", "# not this one; dev has it\n")
        .file("dev", "d.sls", broken)
        .file("dev", "e/init.sls", "e:\n  file.tuch: []\n");
    let engine = Engine::new(files);
    let minions = ["web1", "db1"].map(|id| Minion::new(id).complete());
    let linter = Linter::new(&engine).minions(minions.to_vec());
    let saltenvs = ["base".to_owned(), "dev".to_owned()];
    let estate = Estate::default();
    let reports = linter.lint_saltenvs(&saltenvs, &estate);
    let found = reports.map(|report| {
        let report = report.unwrap();
        assert_eq!(report.remarks, [""; 0]);
        let found = report.findings.into_iter();
        let said = found.map(|one| format!("{}: {}", one.place, one.message));
        said.collect::<Vec<_>>()
    });
    let expected = [
        vec!["a.sls:2:3: the state module 'file' has no function 'tuch'"],
        vec![
            "d.sls:1:28: 'require' names 'test: gone', which does not exist (in 'd')",
            "e/init.sls:2:3: the state module 'file' has no function 'tuch'",
            "top.sls:5:7: the sls 'e.lost' does not exist in the saltenv 'dev'",
        ],
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn sls_of_other_saltenvs_are_said_to_be_left_out() {
    let files = MemoryFiles::new()
        .file("base", "top.sls", "base: {'*': [a]}\ndev: {'web*': [d]}\n")
        .file("base", "a.sls", "a: {test.nop: []}\n")
        .file(
            "dev",
            "d.sls",
            "d: {test.nop: [{require: [{test: gone}]}]}\n",
        );
    let engine = Engine::new(files);
    let minions = ["web1", "db1"].map(|id| Minion::new(id).complete());
    let remarks = |saltenv: &str| {
        let linter = Linter::new(&engine).minions(minions.to_vec());
        let report = linter.saltenv(saltenv).lint_estate(&Estate::default());
        report.unwrap().remarks
    };
    assert_eq!(
        remarks("base"),
        ["not looked at: 1 sls of the saltenv 'dev' that minions get (this run looks at 'base')"]
    );
    assert_eq!(
        remarks("dev"),
        ["not looked at: 1 sls of the saltenv 'base' that minions get (this run looks at 'dev')"]
    );
}

#[test]
fn grains_that_are_left_out_are_a_warning_of_the_minions_and_not_of_the_top_file() {
    let files = MemoryFiles::new()
        .file("base", "top.sls", "base: {'*': [common]}\n")
        .file("base", "common.sls", "a: {test.nop: []}\n")
        .file("base", "_grains/rack.py", "import urllib2\n");
    let engine = Engine::new(files);
    let minion = platforms::find("debian-12").unwrap().minion();
    let linter = Linter::new(&engine).minions(vec![minion]);
    let report = linter.lint_estate(&Estate::default()).unwrap();
    assert_eq!(report.findings, []);
    let warnings = linter.warnings_of_grains();
    let said: Vec<_> = warnings.iter().map(|one| &*one.message).collect();
    let left_out = "salt://_grains/rack.py:1 does not load: ModuleNotFoundError: No module named 'urllib2'; \
                    its grains are left out";
    assert_eq!(said, [left_out]);
}

#[test]
fn a_warning_of_the_top_file_is_one_finding_for_all_minions() {
    let top = "base:\n  '*': [a]\nold:\n  '*': [a]\nolder:\n  'web*': [a]\n";
    let files = [("top.sls", top), ("a.sls", "a: {test.nop: []}\n")];
    let expected = [
        "top.sls:3:1: note: the top file names the saltenv 'old', which has no root [top-file]",
        "top.sls:5:1: note: the top file names the saltenv 'older', which has no root [top-file]",
    ];
    let found = found(Rule::TopFile, &files);
    let heads = found
        .iter()
        .map(|text| text.lines().next().unwrap_or_default());
    assert_eq!(heads.collect::<Vec<_>>(), expected);
}
