//! States as Salt 3006 and 3007 compile them.

use mapstack::minion::SaltVersion;
use mapstack::value::json;
use mapstack_pyobject::{Budget, Limits, Obj, to_str};
use mapstack_states::compile::{CompileOptions, Compiler, LowDataError, LowState, RefusalKind};
use mapstack_yaml::load;

use super::high_data::different;

#[test]
fn recorded_high_data_of_older_versions_gives_their_low_data_and_the_order_in_which_states_run() {
    let recorded = json::loads(include_str!("../data/older_high_data.json")).unwrap();
    let different = different(recorded.as_list().unwrap().iter());
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}

/// The form in which low data is requested.
#[derive(Clone, Copy)]
enum Form {
    Run,
    Shown,
}

/// The names of states in order, with a mark for a test; or the kinds of what is refused.
fn names(high: &str, form: Form) -> Result<Vec<String>, Vec<RefusalKind>> {
    let high = Obj::from_shared(&load(high).unwrap());
    let budget = Budget::new(Limits::default(), None);
    let options = CompileOptions {
        version: SaltVersion::V3007,
        rendered: vec!["empty".into()],
        ..CompileOptions::default()
    };
    let compiler = Compiler::new(options, &budget);
    let made = match form {
        Form::Run => compiler.low(&high),
        Form::Shown => compiler.shown_lowstate(&high),
    };
    let name = |state: &LowState| {
        let name = to_str(&state.chunk.get_str("name").unwrap()).unwrap();
        let mark = if state.is_test { "?" } else { "" };
        format!("{name}{mark}")
    };
    match made {
        Ok(low) => Ok(low.iter().map(name).collect()),
        Err(LowDataError::Refused(refusals)) => Err(refusals.iter().map(|one| one.kind).collect()),
        Err(failed) => panic!("{failed:?}"),
    }
}

#[test]
fn low_data_is_in_the_order_of_numbers_and_states_run_after_those_that_they_require() {
    let high = "\
a: {test: [nop, {require: [{test: c}]}], __sls__: s, __env__: base}
b: {test: [nop, {prereq: [{test: d}]}], __sls__: s, __env__: base}
c: {test: [nop], __sls__: s, __env__: base}
d: {test: [nop], __sls__: s, __env__: base}
e: {test: [nop, {require: [{sls: empty}]}], __sls__: s, __env__: base}
";
    let order = |form| names(high, form).unwrap().join(" ");
    assert_eq!(order(Form::Shown), "a b c d e");
    assert_eq!(order(Form::Run), "c a d? b d e");
}

#[test]
fn what_a_run_does_not_find_is_refused_in_a_run_alone() {
    let missing = "a: {test: [nop, {require: [{test: z}]}], __sls__: s, __env__: base}\n";
    let cycle = "\
a: {test: [nop, {require: [{test: b}]}], __sls__: s, __env__: base}
b: {test: [nop, {require: [{test: c}]}], __sls__: s, __env__: base}
c: {test: [nop, {require: [{test: a}]}], __sls__: s, __env__: base}
";
    let late = "\
a: {test: [nop, {onfail_all: [{test: b}]}], __sls__: s, __env__: base}
b: {test: [nop], __sls__: s, __env__: base}
";
    for (high, kind) in [
        (missing, RefusalKind::MissingRequisite),
        (cycle, RefusalKind::Cycle),
        (late, RefusalKind::Exception),
    ] {
        assert_eq!(names(high, Form::Run), Err(vec![kind]));
        assert!(names(high, Form::Shown).is_ok(), "{high}");
    }
}

#[test]
fn many_states_that_wait_for_each_other_end() {
    let state = |n: usize| {
        format!(
            "s{n}: {{test: [nop, {{require: [{{test: s{}}}]}}], __sls__: s, __env__: base}}\n",
            n + 1
        )
    };
    let high: String = (0..1_200).map(state).collect();
    assert_eq!(names(&high, Form::Run), Err(vec![RefusalKind::Exception]));
}
