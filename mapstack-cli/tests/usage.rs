//! The command line: its help, its version and its streams.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::Stdio;

use crate::common::{Tree, assert_snapshot, command, repository, run};

const VERBS: &[&str] = &[
    "data",
    "stack",
    "tofs",
    "map",
    "pillar",
    "file",
    "highstate",
    "render",
    "sources",
    "explain",
    "parse",
    "platforms",
    "lint",
    "schema",
    "fleet",
    "diff",
    "impact",
    "watch",
    "test",
    "config",
    #[cfg(feature = "fetch")]
    "fetch",
    "completions",
];

#[test]
fn every_verb_has_help_with_an_example_and_completions() {
    let overall = run(&repository(), &["--help"]);
    assert_eq!((overall.status, &*overall.stderr), (Some(0), ""));
    assert_snapshot("help/mapstack.txt", &overall.stdout);
    assert_fits_a_screen("", &run(&repository(), &["-h"]).stdout);
    let mut helps = BTreeMap::new();
    for &verb in VERBS {
        assert!(overall.stdout.contains(&format!("\n  {verb} ")), "{verb}");
        let ran = run(&repository(), &[verb, "--help"]);
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{verb}");
        let long = ran.stdout;
        let example = format!("  mapstack {verb} ");
        assert!(long.contains(&example), "{verb} has no example");
        assert_snapshot(&format!("help/{verb}.txt"), &long);
        // Verbs that print answers have one name for their form.
        if !["completions", "fetch", "watch"].contains(&verb) {
            assert!(long.contains("  -o, --output <FORMAT>"), "{verb}");
            assert!(long.contains("[alias: --format]"), "{verb}");
        }
        let has_many = long.contains("--minion-glob");
        assert_eq!(has_many, long.contains("--select"), "{verb}");
        assert_fits_a_screen(verb, &run(&repository(), &[verb, "-h"]).stdout);
        helps.insert(verb, long);
    }
    assert_messages_name_what_there_is(&helps);
    for (shell, word) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef mapstack"),
        ("fish", "complete -c mapstack"),
    ] {
        let ran = run(&repository(), &["completions", shell]);
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{shell}");
        assert!(ran.stdout.contains(word), "{shell}");
        for &verb in VERBS {
            assert!(ran.stdout.contains(verb), "{shell} does not know {verb}");
        }
    }
}

/// Short help fits a screen and refers to the long one.
fn assert_fits_a_screen(verb: &str, text: &str) {
    let lines = text.lines().count();
    assert!(lines <= 42, "mapstack {verb} -h has {lines} lines\n{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    assert!(text.contains("--help"), "{text}");
}

/// Messages name flags and verbs that there are.
fn assert_messages_name_what_there_is(helps: &BTreeMap<&str, String>) {
    use mapstack::Means;
    for (means, verb) in [
        (Means::Fact, "data"),
        (Means::Minions, "lint"),
        (Means::Pillar, "data"),
        (Means::Root(None), "data"),
        (Means::Roots, "data"),
        (Means::StackRoot, "pillar"),
        (Means::Stub, "data"),
        (Means::Deployed, "pillar"),
        (Means::Permission(Some("cmd.run")), "data"),
        (Means::MaxTime, "fleet"),
        (Means::MaxMemory, "fleet"),
        (Means::StrictSandbox, "data"),
        (Means::ShowSecrets, "explain"),
        (Means::Level("x"), "lint"),
        (Means::Rules, "lint"),
        (Means::Schema, "schema"),
        (Means::Map("f"), "map"),
        (Means::Sources, "sources"),
        (Means::Data, "data"),
        (Means::Diff, "diff"),
        (Means::Blame("f", "k"), "explain"),
        (Means::Fetch, "fetch"),
        (Means::FetchConfigured, "fetch"),
        (Means::FetchOne("url"), "fetch"),
    ] {
        let name = mapstack_frontend::inputs::name_of(means);
        let words: Vec<&str> = name.split([' ', '`']).collect();
        let call = words.iter().position(|word| *word == "mapstack");
        if let Some(at) = call {
            assert_eq!(words[at + 1], verb, "{name}");
        }
        let help = &helps[verb];
        for flag in words.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(flag), "{name}: {verb} has no {flag}");
        }
    }
}

#[test]
fn the_version_says_what_the_program_is() {
    let short = run(&repository(), &["--version"]);
    let expected = format!("mapstack {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((short.status, short.stdout), (Some(0), expected));
    for flags in [["--version", "-v"], ["-V", "--verbose"]] {
        let long = run(&repository(), &flags).stdout;
        for part in [
            "commit: ",
            "features: fetch, git, html, http, json-schema, tera\nleft out: jemalloc (--features full has all)",
            "equals: Salt 3008.",
            "mapstack-python",
        ] {
            assert!(long.contains(part), "{part}: {long}");
        }
    }
}

#[test]
fn yaml_output_reads_back_to_the_same_output() {
    let minion = "--minion=examples/minions/bsd1.yaml";
    let args = [
        "users",
        "--root=examples/site",
        "--root=examples/formulas",
        minion,
    ];
    let first = run(&repository(), &[&["data"], &args[..]].concat());
    let tree = Tree::new(&[("values.yaml", &first.stdout)]);
    let again = format!(
        "--default-values={}",
        tree.path().join("values.yaml").display()
    );
    let second = run(
        &repository(),
        &[&["stack"], &args[..], &["G@nothing", &again]].concat(),
    );
    assert_eq!((second.status, &*second.stderr), (Some(0), ""));
    assert_eq!(second.stdout, first.stdout);
}

#[test]
fn a_reader_that_stops_early_is_not_an_error() {
    let mut child = command(&repository())
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The script is larger than a pipe holds, or it is written after this; either way the pipe breaks.
    drop(child.stdout.take());
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), &*stderr), (Some(0), ""));
}
