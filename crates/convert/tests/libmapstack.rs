//! Formulas of libmapstack: what becomes of their files, and that the proof sees what is lost.

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, platforms};
use mapstack_convert::{Formula, Overlay, Pillars, Proof, ProofOutcome, Proposal};

/// A library with the interface of libmapstack.jinja that merges a few kinds of sources.
const LIBRARY: &str = "\
{%- macro mapstack(matchers, defaults=None, dirs=[], log_prefix='') %}
{%-   set stack = {'values': defaults['values']} %}
{%-   for matcher in matchers %}
{%-     if matcher.startswith('C') %}
{%-       set query = matcher.split('@')[1] %}
{%-       set found = salt['config.get'](query, {}) or {} %}
{%-       set found = {query.split(':')[0]: found} if ':SUB' in matcher else found %}
{%-       do stack.update({'values': salt['slsutil.merge'](stack['values'], found)}) %}
{%-     else %}
{%-       set name = matcher.split('@')[1] if '@' in matcher else matcher %}
{%-       set file = name ~ '/' ~ grains.get(name) ~ '.yaml' if '@' in matcher else name %}
{%-       load_yaml as layer %}
{%-         include tpldir ~ '/parameters/' ~ file ignore missing %}
{%-       endload %}
{%-       if layer %}
{%-         set lists = layer.get('merge_lists', False) | to_bool %}
{%-         do stack.update({'values': salt['slsutil.merge'](stack['values'], layer['values'], merge_lists=lists)}) %}
{%-       endif %}
{%-     endif %}
{%-   endfor %}
{{ stack | yaml }}
{%- endmacro %}
";

const MAP: &str = "\
{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/libmapstack.jinja' import mapstack with context %}
{%- set map_sources = ['Y:G@os_family', 'C@' ~ tplroot ~ ':lookup', 'C@' ~ tplroot] %}
{%- set _settings = mapstack(matchers=['map_jinja.yaml'], defaults={'values': {'sources': map_sources}}) | load_yaml %}
{%- set map_sources = _settings['values']['sources'] %}
{%- set _formula = mapstack(matchers=['defaults.yaml'] + map_sources, defaults={'values': {}}) | load_yaml %}
{%- set mapdata = _formula['values'] %}
";

fn files(others: &[(&str, &str)]) -> MemoryFiles {
    let of_all = [
        ("map.jinja", MAP),
        ("libmapstack.jinja", LIBRARY),
        (
            "libmatchers.jinja",
            "{% from 'ssh/libsaltcli.jinja' import cli %}",
        ),
        ("libsaltcli.jinja", "{% set cli = 'minion' %}"),
        (
            "parameters/defaults.yaml",
            "# about\nvalues:\n  # first\n  port: 22\n  keys: [a]\n",
        ),
        (
            "parameters/os_family/Debian.yaml",
            "merge_lists: 'true'  # longer\nvalues:\n  keys: [b]\n",
        ),
        ("parameters/os_family/Suse.yaml", "# nothing\n"),
    ];
    let all = of_all.iter().chain(others);
    all.fold(MemoryFiles::new(), |files, (path, text)| {
        files.file("base", &format!("ssh/{path}"), text)
    })
}

fn converted(others: &[(&str, &str)]) -> (Proposal, ProofOutcome) {
    let before = Engine::new(files(others));
    let formula = Formula::read(&before, "ssh", "base").unwrap();
    let proposal = Proposal::of(&formula).unwrap();
    let after = Engine::new(Overlay::new(files(others), &formula, &proposal));
    let proven = prove([&before, &after], &proposal);
    (proposal, proven)
}

fn prove(engines: [&Engine; 2], proposal: &Proposal) -> ProofOutcome {
    let minions: Vec<Minion> = ["debian-12", "rockylinux-9", "opensuse-leap-15.6"]
        .iter()
        .map(|name| platforms::find(name).unwrap().minion().complete())
        .collect();
    let proof = Proof::new(engines, "ssh", "base", proposal).unwrap();
    let pillars = Pillars::of(
        Vec::new(),
        &proposal.keys,
        &proof.maps(&minions),
        proposal.kind,
    );
    // Its small library does not know the options in pillars.
    let changed = pillars.changed.into_iter();
    let changed = changed
        .filter(|pillar| !pillar.name.contains("strategy") && !pillar.name.contains("merge_lists"));
    let pillars = Pillars {
        given: pillars.given,
        changed: changed.collect(),
    };
    proof.run(&minions, &pillars, Default::default()).unwrap()
}

#[test]
fn the_sources_and_options_are_those_of_today() {
    let (proposal, proven) = converted(&[]);
    assert!(proven.is_equal(), "{:?}", proven.differences);
    let text = |path: &str| proposal.write[path].as_str();
    assert!(text("map.jinja").ends_with("{%- set mapdata = salt[\"map.data\"](tpldir) %}\n"));
    assert!(
        text("parameters/map_jinja.yaml").ends_with(
            "values:\n  sources:\n    - Y!G@os_family\n    - C@ssh:lookup\n    - C@ssh\n"
        )
    );
    assert_eq!(
        text("parameters/os_family/Debian.yaml"),
        "merge_lists: true  # longer\nvalues:\n  keys: [b]\n"
    );
    assert_eq!(
        text("parameters/os_family/Suse.yaml"),
        "# nothing\nvalues: {}\n"
    );
    let removed: Vec<&str> = proposal.remove.iter().map(String::as_str).collect();
    assert_eq!(
        removed,
        ["libmapstack.jinja", "libmatchers.jinja", "libsaltcli.jinja"]
    );
}

#[test]
fn a_file_of_sources_keeps_its_lines() {
    let meta = "# ours\nvalues:\n  sources:\n    - \"Y:G@os_family\"  # first\n    # then\n    - C:SUB@extra\n    - 'C@ssh'\n";
    let using = (
        "libtofs.jinja",
        "{% from 'ssh/libsaltcli.jinja' import cli %}",
    );
    let (proposal, proven) = converted(&[("parameters/map_jinja.yaml", meta), using]);
    assert!(proven.is_equal(), "{:?}", proven.differences);
    assert_eq!(
        proposal.write["parameters/map_jinja.yaml"],
        meta.replace("Y:G", "Y!G")
    );
    // libmapstack makes the key of a SUB source, whatever is found.
    assert_eq!(
        proposal.write["parameters/defaults.yaml"],
        "# about\nvalues:\n  extra: {}\n  # first\n  port: 22\n  keys: [a]\n"
    );
    assert!(!proposal.remove.contains("libsaltcli.jinja"));
}

#[test]
fn what_is_lost_is_seen() {
    let (proposal, _) = converted(&[]);
    let before = Engine::new(files(&[]));
    let formula = Formula::read(&before, "ssh", "base").unwrap();
    let without = proposal.writing(
        "parameters/map_jinja.yaml",
        "values: {sources: [Y!G@os_family, C@ssh]}\n",
    );
    let after = Engine::new(Overlay::new(files(&[]), &formula, &without));
    let proven = prove([&before, &after], &without);
    let seen = proven.differences.iter().find(|one| one.what == "port");
    assert!(
        seen.is_some_and(|one| one.pillar.contains("ssh:lookup")),
        "{proven:?}"
    );
}
