//! Values that the entries of tables have in common, and the files of states.

use std::collections::BTreeMap;

use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, platforms};
use mapstack::{Engine, Error};
use mapstack_convert::{Extent, Formula, Overlay, Pillars, Proof, ProofOutcome, Proposal};

const MAP: &str = "\
{% set ntp = salt['grains.filter_by']({
    'Debian': {'pkg': 'ntp', 'conf': '/etc/ntp.conf', 'dirs': {'log': '/var/log', 'run': '/run/ntp'}},
    'RedHat': {'pkg': 'chrony', 'conf': '/etc/ntp.conf', 'dirs': {'log': '/var/log', 'run': '/run/chrony'}},
}, merge=salt['pillar.get']('ntp:lookup', {})) %}
";

const INIT: &str = "\
{% from 'ntp/map.jinja' import ntp with context %}
ntp:
  pkg.installed: [{name: {{ ntp.pkg }}}]
{{ ntp.conf }}:
  file.managed: [{source: 'salt://ntp/files/ntp.conf'}, {template: jinja}]
";

const CONF: &str = "{% from 'ntp/map.jinja' import ntp with context %}log {{ ntp.dirs.log }}\n";

fn files(others: &[(&str, &str)]) -> MemoryFiles {
    let of_all = [
        ("map.jinja", MAP),
        ("init.sls", INIT),
        ("files/ntp.conf", CONF),
    ];
    // Later files take the place of earlier ones.
    let all: BTreeMap<&str, &str> = of_all.iter().chain(others).copied().collect();
    all.iter().fold(MemoryFiles::new(), |files, (path, text)| {
        files.file("base", &format!("ntp/{path}"), text)
    })
}

fn converted(others: &[(&str, &str)]) -> (Proposal, ProofOutcome) {
    let before = Engine::new(files(others));
    let formula = Formula::read(&before, "ntp", "base").unwrap();
    let minions: Vec<Minion> = ["debian-12", "rockylinux-9", "alpine-3.20"]
        .iter()
        .map(|name| platforms::find(name).unwrap().minion().complete())
        .collect();
    let proven = Proposal::proven::<Error>(&formula, Extent::Whole, |proposal| {
        let after = Engine::new(Overlay::new(files(others), &formula, proposal));
        let proof = Proof::new([&before, &after], "ntp", "base", proposal)?;
        let maps = proof.maps(&minions);
        let pillars = Pillars::of(Vec::new(), &proposal.keys, &maps, proposal.kind);
        proof.run(&minions, &pillars, Default::default())
    });
    proven.unwrap()
}

#[test]
fn values_of_all_entries_are_defaults() {
    let (proposal, proven) = converted(&[]);
    assert!(proven.is_equal(), "{:?}", proven.differences);
    let values = |path: &str| proposal.write[path].split_once("values:\n").unwrap().1;
    assert_eq!(
        values("parameters/defaults.yaml"),
        "  conf: /etc/ntp.conf\n  dirs:\n    log: /var/log\n"
    );
    assert_eq!(
        values("parameters/os_family/Debian.yaml"),
        "  pkg: ntp\n  dirs:\n    run: /run/ntp\n"
    );
    // A system without an entry gets them, which is said; its states fail as before.
    let counts = proven.counts;
    assert!(
        counts.maps_added > 0 && counts.maps_empty == 0,
        "{counts:?}"
    );
    assert_eq!((counts.states_fail, counts.files), (1, 2), "{counts:?}");
}

#[test]
fn values_stay_in_entries_if_states_show_them_elsewhere() {
    let sls = "{% from 'ntp/map.jinja' import ntp with context %}\n\
        show: {test.nop: [{name: '{{ ntp.conf | default(1) }}'}]}\n";
    let (proposal, proven) = converted(&[("show.sls", sls)]);
    assert!(proven.is_equal(), "{:?}", proven.differences);
    assert!(!proposal.write.contains_key("parameters/defaults.yaml"));
    let left: Vec<&str> = proposal.left.iter().map(|left| &*left.why).collect();
    assert!(
        matches!(&left[..], [one] if one.contains("the states of ntp.show") && one.contains("alpine-3.20")),
        "{left:?}"
    );
}

#[test]
fn the_bytes_of_files_are_compared() {
    let conf =
        "{% from 'ntp/map.jinja' import ntp with context %}# about\n{{ ntp | length }} keys\n";
    let (_, proven) = converted(&[("files/ntp.conf", conf)]);
    let seen: Vec<[&str; 3]> = proven
        .differences
        .iter()
        .map(|one| [&*one.what, &*one.before, &*one.after])
        .collect();
    assert_eq!(
        seen,
        [[
            "the file /etc/ntp.conf of ntp",
            "line 2: 3 keys",
            "line 2: 4 keys"
        ]]
    );
}

#[test]
fn what_a_layer_repeats_is_left_out() {
    let map = "{% import_yaml 'ntp/defaults.yaml' as defaults %}{% import_yaml 'ntp/osfamilymap.yaml' as families %}\
        {% import_yaml 'ntp/osmap.yaml' as systems %}\
        {% set ntp = salt['grains.filter_by'](defaults, default='ntp', merge=salt['grains.filter_by'](families, \
        merge=salt['grains.filter_by'](systems, grain='os', merge=salt['pillar.get']('ntp')))) %}";
    let defaults = "ntp:\n  pkg: ntp\n  conf: /etc/ntp.conf\n  dirs: {log: /var/log}\n";
    let families = "Debian:\n  pkg: ntp\n  # as ever\n  conf: /etc/ntp.conf\n  user: ntp\nRedHat:\n  dirs:\n    log: /var/log\n";
    let systems = "Ubuntu:\n  user: ntp\n  group: ntp\nGentoo: {pkg: net-misc/ntp}\n";
    let (proposal, proven) = converted(&[
        ("map.jinja", map),
        ("defaults.yaml", defaults),
        ("osfamilymap.yaml", families),
        ("osmap.yaml", systems),
    ]);
    assert!(proven.is_equal(), "{:?}", proven.differences);
    let layers = proposal
        .write
        .iter()
        .filter(|(path, _)| path.contains("/os"));
    let layers: Vec<(&str, &str)> = layers.map(|(path, text)| (&**path, &**text)).collect();
    assert_eq!(
        layers,
        [
            (
                "parameters/os/Gentoo.yaml",
                "---\nvalues:\n  pkg: net-misc/ntp\n"
            ),
            ("parameters/os/Ubuntu.yaml", "---\nvalues:\n  group: ntp\n"),
            (
                "parameters/os_family/Debian.yaml",
                "---\nvalues:\n  # as ever\n  conf: /etc/ntp.conf\n  user: ntp\n"
            ),
        ]
    );
}
