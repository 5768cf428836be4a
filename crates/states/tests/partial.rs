//! The states of the sls that compile, where Salt refuses the whole.

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack_states::{Gatherer, RequestedStates, TopOptions};

/// The IDs that are left, and the sls that are left out.
fn partial(sls: &[(&str, &str)]) -> (String, String) {
    let given: Vec<String> = sls.iter().map(|(name, _)| (*name).to_owned()).collect();
    partial_of(sls, &given)
}

fn partial_of(sls: &[(&str, &str)], given: &[String]) -> (String, String) {
    let mut files = MemoryFiles::new().file("base", "top.sls", "base: {'*': [web]}");
    for (name, text) in sls {
        files = files.file("base", &format!("{name}.sls"), *text);
    }
    let engine = Engine::new(files);
    let gatherer = Gatherer::new(&engine, TopOptions::default());
    let wanted = RequestedStates::Sls {
        saltenv: "base",
        names: given,
    };
    let minion = Minion::new("m").complete();
    let partial = gatherer.partial(&minion, wanted);
    assert!(partial.high.low(&minion).unwrap().is_ok());
    for one in &partial.left_out {
        assert!(!one.errors.is_empty(), "{}", one.name);
    }
    let ids = partial.high.data.as_map().unwrap().keys();
    let ids = ids
        .map(ToString::to_string)
        .filter(|id| id != "__extend__")
        .collect::<Vec<_>>();
    let left_out = partial.left_out.iter().map(|one| one.name.as_str());
    (ids.join(" "), left_out.collect::<Vec<_>>().join(" "))
}

fn is(ids: &str, left_out: &str) -> (String, String) {
    (ids.to_owned(), left_out.to_owned())
}

const BROKEN: (&str, &str) = ("broken", "x: {{ salt['nosuch.f']() }}");

#[test]
fn states_that_compile_are_whole() {
    assert_eq!(
        partial(&[("a", "x: test.nop"), ("b", "y: test.nop")]),
        is("x y", "")
    );
}

#[test]
fn an_sls_that_does_not_render_is_left_out() {
    assert_eq!(partial(&[BROKEN, ("a", "y: test.nop")]), is("y", "broken"));
    assert_eq!(partial(&[BROKEN]), is("", "broken"));
}

#[test]
fn what_a_left_out_sls_includes_takes_its_place() {
    let role = ("role", "include: [broken, inner, last]\nz: test.nop");
    let inner = ("inner", "include: [broken]\ny: test.nop");
    let last = ("last", "x: test.nop");
    let given = ["role".to_owned()];
    assert_eq!(
        partial_of(&[role, inner, BROKEN, last], &given),
        is("x", "role broken inner")
    );
}

#[test]
fn an_sls_that_needs_states_of_another_keeps_them() {
    let needs = ("a", "x: {test.nop: [{require: [{test: y}]}]}");
    let extends = (
        "b",
        "extend: {y: {test: [{require: [{test: z}]}]}}\nz: test.nop",
    );
    let has = ("c", "y: test.nop");
    assert_eq!(
        partial(&[needs, extends, has, BROKEN]),
        is("x z y", "broken")
    );
    // Without it they are left out, too.
    assert_eq!(partial(&[needs, BROKEN]), is("", "a broken"));
}

#[test]
fn of_sls_that_exclude_each_other_the_earlier_stays() {
    let sls = [
        ("a", "x: test.nop"),
        ("b", "x: pkg.installed"),
        ("c", "y: test.nop"),
        BROKEN,
    ];
    assert_eq!(partial(&sls), is("x y", "b broken"));
    let circle = [
        ("a", "x: {test.nop: [{require: [{test: y}]}]}"),
        ("b", "y: {test.nop: [{require: [{test: x}]}]}"),
    ];
    // Neither compiles without the other, nor with it.
    assert_eq!(partial(&circle), is("", "a b"));
}

#[test]
fn an_sls_that_is_not_there_is_left_out() {
    let given = ["a", "nosuch"].map(str::to_owned);
    assert_eq!(
        partial_of(&[("a", "x: test.nop")], &given),
        is("x", "nosuch")
    );
}
