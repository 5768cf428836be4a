//! The external pillar `git` beside the reference's, recorded; and its errors.
#![cfg(feature = "git")]

use std::path::Path;
use std::sync::Arc;

use crate::common::{assert_repeated, records};
use crate::whole_pillar;
use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Value, json};
use mapstack_pillar::{
    Master, PillarEvent, PillarLayer, PillarRequest, RecipeStep, WholeEvent, WholePillar,
};
use mapstack_salt_config::{Config, Kind};

/// Records whose result here differs on purpose, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[];

#[test]
fn every_recorded_git_pillar_is_as_the_reference_has_it() {
    let records = records(include_str!("data/git_pillars.json"));
    assert_repeated(&records, DIFFERENCES, whole_pillar::check);
}

/// Two repositories below a directory.
fn repositories(root: &Path) {
    let record = r#"{"repositories": {
        "one": {"branches": {"master": {"top.sls": "base: {'*': [a]}\n", "a.sls": "a: 1\ninclude: [s]\n"}}},
        "two": {"branches": {"master": {"top.sls": "{}\n", "s.sls": "s: {{ sls }}\n", "broken.sls": "x: {{ nosuch.y }}\n"},
                             "dev": {"top.sls": "base: {'*': [broken]}\n", "broken.sls": "x:\n  {{ nosuch.y }}\n"}}}}}"#;
    let record = json::loads(record).unwrap();
    whole_pillar::link(record.as_map().unwrap(), root);
}

fn compile(remotes: &str, explained: bool) -> WholePillar {
    compile_with("", remotes, explained)
}

/// The pillar of remotes, by a configuration with more options.
fn compile_with(more: &str, remotes: &str, explained: bool) -> WholePillar {
    let config =
        format!("pillar_roots: {{base: [/srv]}}\next_pillar: [{{git: [{remotes}]}}]\n{more}");
    let config = Config::parse(config.as_bytes(), "master", Kind::Master).unwrap();
    let master = Master::new(config, Arc::new(MemoryFiles::new()))
        .with_events(true)
        .with_mirrors("/nowhere/mirrors");
    let minion = Minion::parse(b"{id: web1}", "web1.yaml")
        .unwrap()
        .complete();
    let engine = Engine::new(MemoryFiles::new());
    match explained {
        true => master.explain(&engine, &minion, &PillarRequest::default()),
        false => master.compile(&engine, &minion, &PillarRequest::default()),
    }
    .unwrap()
}

#[test]
fn a_remote_that_was_not_fetched_says_how_to_get_it() {
    let pillar = compile("master https://me:secret@example.org/pillar.git", false);
    let text = pillar.errors[0].error.to_string();
    assert!(text.starts_with("master:2:15: "), "{text}");
    assert!(
        text.contains("https://example.org/pillar.git: it was not fetched yet"),
        "{text}"
    );
    assert!(
        text.contains("run a fetch of what the configuration names")
            || text.contains("or a fetch of what the configuration names")
    );
    assert!(!text.contains("secret"), "{text}");
}

/// The records show that Salt leaves it out; it does not say so.
#[test]
fn a_remote_that_pillarenv_from_saltenv_leaves_out_is_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    repositories(dir.path());
    let at = dir.path().display();
    let remotes = format!("master file://{at}/one, dev file://{at}/two");
    let pillar = compile_with("pillarenv_from_saltenv: true\n", &remotes, false);
    let texts: Vec<String> = pillar.warnings.iter().map(ToString::to_string).collect();
    let [text] = &texts[..] else {
        panic!("{texts:?}");
    };
    let says = format!(
        "the remote 'file://{at}/two' gives nothing: its environment is 'dev', and `pillarenv_from_saltenv` \
         leaves only 'base', that of the first remote"
    );
    assert!(text.contains(&says), "{text}");
    let without = compile(&remotes, false).warnings;
    let says_it = |text: String| text.contains("pillarenv_from_saltenv");
    assert!(!without.iter().map(ToString::to_string).any(says_it));
}

#[test]
fn what_the_reference_leaves_out_is_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    repositories(dir.path());
    let at = dir.path().display();
    let pillar = compile(
        &format!("nosuch file://{at}/one, {{master file://{at}/one: [{{root: sub}}]}}"),
        false,
    );
    assert!(pillar.errors.is_empty() && pillar.data.is_empty());
    let [branch, root] = &pillar.warnings[..] else {
        panic!("{:?}", pillar.warnings)
    };
    assert!(branch.message.contains("nothing to read at"), "{branch:?}");
    assert!(branch.message.contains("@nosuch"), "{branch:?}");
    assert!(root.message.contains("@master:sub"), "{root:?}");
    assert!(root.place.is_some());
}

#[test]
fn options_that_are_not_there_are_errors_with_their_place() {
    let dir = tempfile::tempdir().unwrap();
    repositories(dir.path());
    let at = dir.path().display();
    let pillar = compile(
        &format!("{{master file://{at}/one: [{{mountpiont: x}}]}}"),
        false,
    );
    let text = pillar.errors[0].error.to_string();
    assert!(text.starts_with("master:2:15: "), "{text}");
    assert!(text.contains("the option `mountpiont`"), "{text}");
    assert!(text.contains("did you mean `mountpoint`?"), "{text}");
}

#[test]
fn errors_of_a_remote_have_their_place_in_it() {
    let dir = tempfile::tempdir().unwrap();
    repositories(dir.path());
    let at = dir.path().display();
    let pillar = compile(&format!("{{dev file://{at}/two: [{{env: base}}]}}"), false);
    let text = pillar.errors[0].error.to_string();
    assert!(text.contains("two@dev:broken.sls:2:6"), "{text}");
    assert!(pillar.data.get("_errors").is_some());
}

#[test]
fn a_trace_and_an_explanation_go_on_into_the_remote() {
    let dir = tempfile::tempdir().unwrap();
    repositories(dir.path());
    let at = dir.path().display();
    let pillar = compile(
        &format!("master file://{at}/one, master file://{at}/two"),
        true,
    );
    assert_eq!(
        Value::from(pillar.data.clone()).to_string(),
        "{'s': 's', 'a': 1}"
    );
    let shown: Vec<String> = pillar
        .events
        .iter()
        .filter_map(|event| match event {
            PillarEvent::Whole(WholeEvent::Sls {
                sls,
                path: Some(path),
                ..
            }) => Some(format!("{sls} {path}")),
            PillarEvent::Whole(WholeEvent::External { name, .. }) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let first = format!("a file://{at}/one@master:a.sls");
    assert_eq!(
        shown,
        [
            first,
            format!("s file://{at}/two@master:s.sls"),
            "git".into()
        ]
    );
    let steps = pillar.recipe.unwrap().steps;
    let of_sls = |step: &RecipeStep| matches!(step, RecipeStep::Layer(layer) if matches!(&**layer, PillarLayer::Sls { sls, .. } if sls == "s"));
    assert!(steps.iter().any(of_sls));
}
