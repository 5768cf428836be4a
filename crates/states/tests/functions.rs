//! The table of what state modules have.

use mapstack_states::{Home, StateFunction, functions_of, state_modules};

#[test]
fn the_table_is_read_whole_and_is_small() {
    let text = include_str!("../src/functions.txt");
    assert!(text.len() < 300_000, "{} bytes", text.len());
    let sections = text.lines().filter(|line| line.starts_with('[')).count();
    let homes: usize = state_modules().map(|(_, homes)| homes.count()).sum();
    assert_eq!(homes, sections);
    for (module, _) in state_modules() {
        for function in functions_of(module) {
            let found = StateFunction::named(module, function).unwrap();
            assert!(
                found.required().all(|one| found.takes(one)),
                "{module}.{function}"
            );
        }
    }
}

#[test]
fn functions_have_salts_signatures_and_homes() {
    let of = |module, function| StateFunction::named(module, function).unwrap();
    // Several modules of one name take what any of them takes.
    assert!(of("x509", "certificate_managed").takes("ca_server"));
    // The name of the file is not always that of the module, nor the name of the function.
    assert!(StateFunction::named("virtualenv_mod", "managed").is_none());
    assert_eq!(of("virtualenv", "managed").home, Home::Salt);
    assert_eq!(of("stateconf", "set").home, Home::Salt);
    assert_eq!(of("alternatives", "install").home, Home::Gone);
    // What is defined by a loop or set at run time takes any argument.
    assert!(of("ansible", "call").takes("anything"));
    // Required arguments without a default, whatever comes behind them.
    let needed: Vec<&str> = of("sysctl", "present").required().collect();
    assert_eq!(needed, ["name", "value"]);
}
