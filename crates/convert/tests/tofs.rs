//! `files_switch` of `libtofs.jinja`, and `map.tofs` in its place.

use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, platforms};
use mapstack::{Engine, Error};
use mapstack_convert::{Extent, Formula, Overlay, Pillars, Proof, ProofOutcome, Proposal};

const MAP: &str = "\
{% set ntp = salt['grains.filter_by']({'default': {'conf': '/etc/ntp.conf'}}, merge=salt['config.get']('ntp', {})) %}
";

const INIT: &str = "\
{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/map.jinja' import ntp with context %}
{%- from tplroot ~ '/libtofs.jinja' import files_switch with context %}
ntp-conf:
  file.managed:
    - name: {{ ntp.conf }}
    - source: {{ files_switch(['ntp.conf', '/x/ntp.conf.jinja'],
                              lookup='ntp-conf'
                 )
              }}
";

/// A library with the interface of libtofs.jinja.
const LIBRARY: &str = "\
{% macro files_switch(source_files, lookup=None) %}
{%- set root = tpldir.split('/')[0] %}
{%- set names = salt['config.get'](root ~ ':tofs:source_files:' ~ lookup, []) + source_files %}
{%- set prefix = salt['config.get'](root ~ ':tofs:path_prefix', root) %}
{%- set files = salt['config.get'](root ~ ':tofs:dirs:files', 'files') %}
{%- for switch in salt['config.get'](root ~ ':tofs:files_switch', ['id', 'os_family']) + [''] %}
{%- set default = salt['config.get'](root ~ ':tofs:dirs:default', 'default') %}
{%- set dirs = salt['config.get'](switch, switch) if switch else default %}
{%- set dirs = [dirs] if dirs is string else dirs %}
{%- for name in names %}{% for dir in dirs %}
      - salt://{{ prefix }}/{{ files }}/{{ dir }}/{{ name.strip('/') }}
{%- endfor %}{% endfor %}{% endfor %}
{%- endmacro %}
";

fn files(library: &str) -> MemoryFiles {
    let all = [
        ("map.jinja", MAP),
        ("init.sls", INIT),
        ("libtofs.jinja", library),
        ("files/default/ntp.conf", "server a\n"),
    ];
    all.iter().fold(MemoryFiles::new(), |files, (path, text)| {
        files.file("base", &format!("ntp/{path}"), text)
    })
}

fn converted(library: &str) -> (Proposal, ProofOutcome) {
    let before = Engine::new(files(library));
    let formula = Formula::read(&before, "ntp", "base").unwrap();
    let minions: Vec<Minion> = ["debian-12", "freebsd-14"]
        .iter()
        .map(|name| platforms::find(name).unwrap().minion().complete())
        .collect();
    let proven = Proposal::proven::<Error>(&formula, Extent::Whole, |proposal| {
        let after = Engine::new(Overlay::new(files(library), &formula, proposal));
        let proof = Proof::new([&before, &after], "ntp", "base", proposal)?;
        let maps = proof.maps(&minions);
        let pillars = Pillars::of(Vec::new(), &proposal.keys, &maps, proposal.kind)
            .choosing_files("ntp", proposal.tofs.as_deref());
        proof.run(&minions, &pillars, Default::default())
    });
    proven.unwrap()
}

#[test]
fn the_library_goes_if_sources_stay_the_same() {
    let (proposal, proven) = converted(LIBRARY);
    assert!(proven.is_equal(), "{:?}", proven.differences);
    assert!(proposal.left.is_empty(), "{:?}", proposal.left);
    let source = "    - source: {{ salt['map.tofs'](tpldir, ['ntp.conf', '/x/ntp.conf.jinja'], lookup='ntp-conf', \
        include_query=False) | json }}\n";
    let states = &proposal.write["init.sls"];
    assert!(states.ends_with(source), "{states}");
    assert!(!states.contains("libtofs"), "{states}");
    assert!(proposal.remove.contains("libtofs.jinja"));
    assert_eq!(proven.counts.pillars, 3);
}

#[test]
fn the_library_stays_if_a_pillar_would_choose_another_file() {
    let own = LIBRARY.replace(":tofs:path_prefix", ":tofs:own_prefix");
    let (proposal, proven) = converted(&own);
    assert!(proven.is_equal(), "{:?}", proven.differences);
    assert!(!proposal.touches("init.sls") && !proposal.touches("libtofs.jinja"));
    let left: Vec<String> = proposal
        .left
        .iter()
        .map(|one| format!("{}: {}", one.what, one.why))
        .collect();
    assert!(
        matches!(&left[..], [library, calls]
            if library == "libtofs.jinja: 1 of the formula's templates use its files_switch"
            && calls.starts_with("calls of files_switch: map.tofs would change the states of ntp")),
        "{left:?}"
    );
}
