//! The table of what state modules have.

use mapstack::loader::MemoryFiles;
use mapstack::{Engine, minion::Minion};
use mapstack_states::{
    Gatherer, Home, RequestedStates, StateFunction, TopOptions, functions_of, state_modules,
};

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
    // Extensions have a version; what none is known to have has what it took before.
    let (package, version) = of("mysql_grants", "present").extension().unwrap();
    assert!(package == "saltext-mysql" && version.contains('.'));
    assert_eq!(of("alternatives", "install").extension(), None);
    assert!(of("alternatives", "install").takes("priority"));
    // What is defined by a loop or set at run time takes any argument.
    assert!(of("ansible", "call").takes("anything"));
    // Required arguments without a default, whatever comes behind them.
    let needed: Vec<&str> = of("sysctl", "present").required().collect();
    assert_eq!(needed, ["name", "value"]);
}

#[test]
fn modules_of_the_tree_watch_if_their_source_says_so() {
    let files = MemoryFiles::new()
        .file(
            "base",
            "_states/web.py",
            "def mod_watch(name, **kwargs):\n    return {}\n",
        )
        .file(
            "base",
            "_states/db.py",
            "def running(name):\n    return {}\n",
        )
        .file(
            "base",
            "_states/service.py",
            "__virtualname__ = 'service'\n",
        )
        .file(
            "base",
            "all.sls",
            "{% for module in ['web', 'db', 'service', 'cmd', 'file'] %}\n\
             {{ module }}:\n  {{ module }}.running:\n    - watch: [{test: one}]\n\
             {% endfor %}\n\
             one: test.nop\n",
        );
    let engine = Engine::new(files);
    let gatherer = Gatherer::new(&engine, TopOptions::default());
    let minion = Minion::new("web1").complete();
    let names = ["all".to_owned()];
    let wanted = RequestedStates::Sls {
        saltenv: "base",
        names: &names,
    };
    let low = gatherer
        .high(&minion, wanted)
        .low(&minion)
        .unwrap()
        .unwrap();
    let watching = low
        .iter()
        .filter(|state| state.chunk.get_str("watch").is_some());
    let watching: Vec<String> = watching
        .filter_map(|state| Some(state.chunk.get_str("state")?.as_str()?.to_string()))
        .collect();
    // `service` of the tree takes the place of Salt's.
    assert_eq!(watching, ["web", "cmd"]);
}
