//! Minions share compiled states, and each gets what it gets alone.

use std::sync::Arc;

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, SaltVersion};
use mapstack_pyobject::{Budget, Limits, Obj};
use mapstack_states::compile::{CompileOptions, Compiler};
use mapstack_states::{Compiled, Gatherer, RequestedStates, TopOptions, watches};

fn engine() -> Engine {
    let files = MemoryFiles::new()
        .file(
            "base",
            "top.sls",
            "base:\n  '*': [common]\n  'os:Arch':\n    - match: grain\n    - arch\n",
        )
        .file(
            "base",
            "common.sls",
            "{% if grains.get('role') == 'web' %}\ninclude: [web]\n{% elif grains.get('role') == 'bad' %}\ninclude: [bad]\n{% endif %}\n\
             base-tools:\n  pkg.installed:\n    - pkgs: [vim, {curl: '8'}]\n    - require_in: [{test: last}]\n\
             last: {test.nop: [{order: last}]}\n",
        )
        .file("base", "web.sls", "nginx:\n  pkg.installed: []\n  service.running: [{watch: [{pkg: nginx}]}]\n")
        .file("base", "bad.sls", "x: {test.nop: [{require: [{test: nothing}]}]}\n")
        .file("base", "arch.sls", "{{ grains.id }}: test.nop\n");
    Engine::new(files)
}

fn minions() -> Vec<Minion> {
    let mut minions = Vec::new();
    for (number, role) in ["web", "db", "bad", "web", "db", "bad", "web"]
        .iter()
        .enumerate()
    {
        for os in ["Debian", "Arch"] {
            for disabled in ["[]", "['test.*']"] {
                let text = format!(
                    "{{id: {role}{number}, grains: {{os: {os}, role: {role}, state_runs_disabled: {disabled}}}}}"
                );
                minions.push(Minion::parse(text.as_bytes(), "m").unwrap().complete());
            }
        }
    }
    minions
}

fn said(compiled: &Compiled) -> String {
    let sls: Vec<&String> = compiled.sls.iter().map(|sls| &sls.name).collect();
    let errors: Vec<String> = compiled.errors.iter().map(ToString::to_string).collect();
    format!("{sls:?} {:?} {errors:?}", compiled.states)
}

#[test]
fn each_minion_gets_what_it_gets_alone() {
    let engine = engine();
    let shared = Gatherer::new(&engine, TopOptions::default());
    let mut all = Vec::new();
    for minion in minions() {
        let alone = Gatherer::new(&engine, TopOptions::default());
        let (ours, own) = (
            shared.compiled(&minion).unwrap(),
            alone.compiled(&minion).unwrap(),
        );
        assert_eq!(said(&ours), said(&own), "{}", minion.id());
        all.push(ours);
    }
    let is_shared =
        |one: &Arc<Compiled>| all.iter().filter(|other| Arc::ptr_eq(one, other)).count() > 1;
    assert_eq!(all.iter().filter(|one| is_shared(one)).count(), 14);
}

/// The same states in the same order as the low data of the high data that people see.
#[test]
fn the_states_are_those_of_the_low_data() {
    let engine = engine();
    let gatherer = Gatherer::new(&engine, TopOptions::default());
    for minion in minions() {
        let high = gatherer.high(&minion, RequestedStates::Highstate);
        let budget = Budget::new(Limits::default(), None);
        let options = CompileOptions {
            watches: &|module| watches(module, SaltVersion::default()),
            ..CompileOptions::of(&minion)
        };
        let compiler = Compiler::new(options, &budget).after(high.refusals.clone());
        let low = compiler
            .low(&Obj::from_shared(&high.data))
            .unwrap_or_default();
        let ids = low.iter().map(|state| {
            state
                .chunk
                .get_str("__id__")
                .unwrap()
                .as_str()
                .unwrap()
                .to_string()
        });
        let compiled = gatherer.compiled(&minion).unwrap();
        let ours = compiled.states.iter().map(|state| state.id.clone());
        assert!(ids.eq(ours), "{}", minion.id());
    }
}
