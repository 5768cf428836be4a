//! The levels of failures: a failure that facts could mend is a warning that names them.

use mapstack::{Engine, loader::MemoryFiles};
use mapstack_lint::{Level, Linter};

/// The level of the only finding, and its notes but for the last, which names the minions.
fn only(files: &[(&str, &str)]) -> (Level, String, String) {
    let files = files.iter().fold(MemoryFiles::new(), |all, (path, text)| {
        all.file("base", path, text)
    });
    let engine = Engine::new(files);
    let report = Linter::new(&engine).lint("web").unwrap();
    let [finding] = &report.findings[..] else {
        panic!("{:#?}", report.findings)
    };
    let (minions, notes) = finding.notes.split_last().unwrap();
    (finding.level, notes.join("; "), minions.clone())
}

#[test]
fn what_a_pillar_could_mend_is_a_warning_that_names_its_key() {
    for (template, named) in [
        (
            "{{ pillar['web']['port'] }}: {test.nop: []}",
            "looks up 'web' in the pillar",
        ),
        (
            "{{ pillar.web.port }}: {test.nop: []}",
            "looks up 'web' in the pillar",
        ),
        (
            "{{ salt['pillar.get']('web', {}).port }}: {test.nop: []}",
            "looks up 'web:port' in the pillar",
        ),
        (
            "{% set web = salt.pillar.get('web', {}) %}{{ web.port }}: {test.nop: []}",
            "looks up 'web:port' in the pillar",
        ),
        (
            "{% macro m(of) %}{{ of.port }}: {test.nop: []}{% endmacro %}{{ m(salt['config.get']('web', {})) }}",
            "looks up 'web:port' in the pillar",
        ),
        (
            "{{ grains.datacenter }}: {test.nop: []}",
            "has the grain 'datacenter'",
        ),
        (
            "{{ opts.own_option }}: {test.nop: []}",
            "has the option 'own_option'",
        ),
    ] {
        let (level, notes, minions) = only(&[("web/init.sls", template)]);
        assert_eq!(
            (level, &*minions),
            (Level::Warning, "on all 47 minions"),
            "{template}"
        );
        assert!(notes.contains(named), "{template}: {notes}");
    }
}

#[test]
fn what_nothing_could_mend_is_an_error() {
    for (files, minions) in [
        (
            &[("web/init.sls", "{{ nothing.at_all }}: {test.nop: []}")][..],
            "on all 47 minions",
        ),
        // The value under the pillar could set the key, and no layer does.
        (
            &[(
                "web/init.sls",
                "{% set web = salt['grains.filter_by']({'default': {}}, merge=salt['pillar.get']('web:lookup')) %}\
                 {{ web.port }}: {test.nop: []}",
            )],
            "on all 47 minions",
        ),
        // A slip in the name of a key.
        (
            &[(
                "web/init.sls",
                "{% set web = {'port': 1} %}{% do web.update(salt['pillar.get']('web', {})) %}{{ web.prot }}: {test.nop: []}",
            )],
            "on all 47 minions",
        ),
        // A key that the map has for other families.
        (
            &[
                (
                    "web/map.jinja",
                    "{% set web = salt['grains.filter_by']({'Debian': {'pkg': 'a'}, 'default': {}}) %}",
                ),
                (
                    "web/init.sls",
                    "{% from 'web/map.jinja' import web %}{{ web.pkg }}: {test.nop: []}",
                ),
            ],
            "on 39 of 47 minions: almalinux-8, almalinux-9, almalinux-10, alpine-3.20, alpine-3.21 and 34 more",
        ),
        // The same if a function without an answer ends the runs of the others.
        (
            &[(
                "web/init.sls",
                "{% set web = salt['grains.filter_by']({'Suse': {}, 'default': {'pkg': 'a'}}, \
                 merge=salt['pillar.get']('web:lookup')) %}{{ web.pkg }}: {test.nop: []}\n{{ salt['cmd.run']('id') }}",
            )],
            "on 4 of 47 minions: opensuse-leap-15.5, opensuse-leap-15.6, opensuse-tumbleweed, sles-15",
        ),
        // A map that loads nothing.
        (
            &[
                (
                    "web/map.jinja",
                    "{% import_yaml 'web/defauls.yaml' as defaults %}{% set web = defaults %}",
                ),
                (
                    "web/init.sls",
                    "{% from 'web/map.jinja' import web %}{{ web.pkg }}: {test.nop: []}",
                ),
            ],
            "on all 47 minions",
        ),
    ] {
        let (level, _, on) = only(files);
        assert_eq!((level, &*on), (Level::Error, minions), "{files:?}");
    }
}
