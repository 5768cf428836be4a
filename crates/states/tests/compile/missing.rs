//! Requisites that states give to states that do not exist.

use mapstack_pyobject::{Budget, Limits, Obj};
use mapstack_states::compile::{CompileOptions, Compiler, LowDataError, RefusalKind};

#[test]
fn a_requisite_for_a_missing_state_names_the_state_that_gives_it() {
    let high = "
        a: {cmd: [run, {watch_in: [{service: gone}]}], __sls__: web, __env__: base}
        b: {cmd: [run, {require_in: {pkg: lost}}], __sls__: db, __env__: base}";
    let high = Obj::from_shared(&mapstack_yaml::load(high).unwrap());
    let budget = Budget::new(Limits::default(), None);
    let low = Compiler::new(CompileOptions::default(), &budget).low(&high);
    let Err(LowDataError::Refused(refused)) = low else {
        panic!("not refused: {low:?}");
    };
    let said: Vec<_> = refused
        .iter()
        .map(|one| {
            assert_eq!(one.kind, RefusalKind::ExtendOfNothing);
            let path: Vec<_> = one.path.iter().map(ToString::to_string).collect();
            let sls = one.sls.as_deref().unwrap_or_default();
            format!("{sls} {}: {}", path.join(":"), one.message)
        })
        .collect();
    assert_eq!(
        said,
        [
            "web a:cmd: 'a' gives 'watch' to 'service: gone', which is in no sls of the minion",
            "db b:cmd: 'b' gives 'require' to 'pkg: lost', which is in no sls of the minion",
        ]
    );
}

#[test]
fn an_extension_by_the_name_of_several_states_names_two_of_them() {
    let high = "
        a: {cmd: [run, {name: n}], __sls__: web, __env__: base}
        b: {cmd: [run, {name: n}], __sls__: web, __env__: base}
        __extend__: [{n: {cmd: [{shell: sh}], __sls__: db, __env__: base}}]";
    let high = Obj::from_shared(&mapstack_yaml::load(high).unwrap());
    let budget = Budget::new(Limits::default(), None);
    let low = Compiler::new(CompileOptions::default(), &budget).low(&high);
    let Err(LowDataError::Refused(refused)) = low else {
        panic!("not refused: {low:?}");
    };
    let said: Vec<&str> = refused.iter().map(|one| &*one.message).collect();
    let expected = "'n' is extended, and is the name of several states: 'a' and 'b'";
    assert_eq!(said, [expected]);
    assert_eq!(
        (refused[0].kind, &refused[0].missing),
        (RefusalKind::ExtendOfNothing, &None)
    );
}
