//! The states and files that have a value of a configuration.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::secrets::Secrets;
use mapstack::share::SharedFormula;
use mapstack::value::Path;
use mapstack::{Configuration, DataOptions, Engine, Error};
use mapstack_fleet::impact::{AlsoSearched, QuestionSubject};
use mapstack_fleet::{ByStates, Fleet, Impact, Masking, Minions, Pace};
use mapstack_states::{Gatherer, TopOptions};

struct OneMinion;

impl Minions for OneMinion {
    fn read(&self, id: &str) -> Result<Minion, Error> {
        let text = format!("{{id: {id}, grains: {{os: Debian}}, pillar: {{ssh: {{port: 22}}}}}}");
        Ok(Minion::parse(text.as_bytes(), id).unwrap().complete())
    }
}

/// The ways in which states have a key of the map, and the minions on which a template computes it.
fn reached(key: &str, sls: Option<Vec<(String, String)>>) -> (Vec<String>, Vec<String>) {
    let files = MemoryFiles::new()
        .file("base", "top.sls", "base: {'*': [ssh]}")
        .file("base", "ssh/defaults.yaml", "pkgs: [a, b]\nmode: '0600'\nuser: root\n")
        .file("base", "ssh/conf", "Port {{ port }}\n")
        .file(
            "base",
            "ssh/map.jinja",
            "{% import_yaml 'ssh/defaults.yaml' as ssh %}{% do ssh.update({'port': salt['pillar.get']('ssh:port'), 'long': grains.os ~ 'x'}) %}",
        )
        .file(
            "base",
            "ssh/init.sls",
            "{% from 'ssh/map.jinja' import ssh with context %}
pkgs: {pkg.installed: [{pkgs: {{ ssh.pkgs | tojson }}}]}
conf: {file.managed: [{name: /etc/ssh}, {source: 'salt://ssh/conf'}, {template: jinja}, {mode: '{{ ssh.mode }}'}, {context: {port: {{ ssh.port }}}}]}
long: {test.nop: [{name: {{ ssh.long }}}]}
",
        );
    let engine = Engine::new(files);
    let configuration = Configuration::of(&engine, "ssh", "base", DataOptions::default());
    let fleet =
        Fleet::new(&engine).shared_formula(SharedFormula::of(&engine, configuration.unwrap()));
    let gatherer = Gatherer::new(&engine, TopOptions::default());
    let gatherer = gatherer.keeping_low().noting_facts();
    let by_states = ByStates::new(&gatherer, sls);
    let what = QuestionSubject::Value("ssh".into(), Path::split(key, ":").unwrap());
    let masking = Masking::new(Secrets::without_digests());
    let also = AlsoSearched {
        states: Some(&by_states),
        ..AlsoSearched::default()
    };
    let ids = ["web1".to_owned(), "web2".to_owned()];
    let impact = Impact::of(
        &what,
        &fleet,
        also,
        &OneMinion,
        &ids,
        Pace::default(),
        &masking,
    );
    let shown = impact.files.iter().map(|reached| {
        let (file, ids) = (&reached.file, reached.minions.join(" "));
        format!("{} {} {:?} {ids}", file.function, file.path, file.how)
    });
    (shown.collect(), impact.computed)
}

#[test]
fn states_that_have_a_value_are_found_by_its_place() {
    let port = ["file.managed /etc/ssh Printed web1 web2"];
    let mode = ["file.managed /etc/ssh Argument(\"mode\") web1 web2"];
    let pkgs = ["pkg.installed pkgs Argument(\"pkgs\") web1 web2"];
    let sls = || Some(vec![("base".into(), "ssh".into())]);
    assert_eq!(reached("port", None).0, port);
    assert_eq!(reached("port", sls()).0, port);
    assert_eq!(reached("mode", None).0, mode);
    assert_eq!(reached("pkgs", None).0, pkgs);
    assert_eq!(reached("pkgs", sls()).0, pkgs);
}

#[test]
fn a_value_that_nothing_has_or_that_is_computed_reaches_no_state() {
    let none: [&str; 0] = [];
    assert_eq!(reached("user", None), (vec![], vec![]));
    let (files, computed) = reached("long", None);
    assert_eq!(files, none);
    assert_eq!(computed, ["web1", "web2"]);
}
