//! States with `names`.

use mapstack_pyobject::{Budget, Limits, Obj};
use mapstack_states::compile::{CompileOptions, Compiler};

/// The names of the chunks of a state.
fn names_of(names: &str, limits: Limits) -> Vec<String> {
    let high = format!("x: {{test: [nop, {{names: {names}}}], __sls__: a, __env__: base}}");
    let high = Obj::from_shared(&mapstack_yaml::load(&high).unwrap());
    let budget = Budget::new(limits, None);
    let low = Compiler::new(CompileOptions::default(), &budget).low(&high);
    let name = |chunk: &mapstack_pyobject::DictRef| format!("{:?}", chunk.get_str("name").unwrap());
    low.unwrap()
        .iter()
        .map(|state| name(&state.chunk))
        .collect()
}

#[test]
fn names_that_are_equal_in_python_are_there_once() {
    let names = "[a, 1, true, 1.0, {c: [k: v]}, b, {c: [k: v]}, a]";
    assert_eq!(
        names_of(names, Limits::default()),
        ["'a'", "1", "'c'", "'b'"]
    );
}

#[test]
fn many_names_take_few_steps() {
    let names: Vec<String> = (0..10_000).map(|name| format!("n{name}")).collect();
    let limits = Limits {
        fuel: 1_000_000,
        ..Limits::default()
    };
    assert_eq!(
        names_of(&format!("[{}]", names.join(", ")), limits).len(),
        10_000
    );
}
