//! The places from which changes of states and files come: what is edited is what is named.

use std::collections::BTreeSet;
use std::sync::Arc;

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack_fleet::states::{Cause, StateCauses, StatePlans, StatesGroup, WantedStates};
use mapstack_fleet::{Comparison, Differences, Fleet, Pillars};
use mapstack_pillar::Master;
use mapstack_salt_config::{Config, Kind};
use mapstack_states::TopOptions;

/// Files by path: those of the pillar are below `pillar/`.
const TREE: [(&str, &str); 9] = [
    ("top.sls", "base:\n  '*':\n    - ssh\n    - users\n"),
    (
        "ssh/init.sls",
        "{% from 'ssh/map.jinja' import ssh with context %}
packages:
  pkg.installed:
    - name: all
    - pkgs: {{ ssh.pkgs | tojson }}
config:
  file.managed:
    - name: /etc/ssh
    - source: salt://ssh/files/config
    - template: jinja
    - mode: {{ ssh.mode }}
    - port: {{ ssh.port }}
ssh:
  service.running:
    - enable: true
    - watch:
      - file: config
",
    ),
    (
        "ssh/map.jinja",
        "{% import_yaml 'ssh/defaults.yaml' as ssh %}\n{% do ssh.update(salt['pillar.get']('ssh', {})) %}\n",
    ),
    (
        "ssh/defaults.yaml",
        "mode: '0644'\npkgs:\n  - server\n  - client\n",
    ),
    (
        "ssh/files/config",
        "# managed
Port {{ port }} # {{ grains.id }}
{% for key, value in pillar.options.items() -%}
{{ key }} {{ value }}
{% endfor -%}
{% if pillar.x11 -%}
X11Forwarding yes
{% endif -%}
End
",
    ),
    (
        "users.sls",
        "{% for name, user in pillar.users.items() %}\n{{ name }}:\n  user.present:\n    - shell: {{ user.shell }}\n{% endfor %}\n",
    ),
    ("other.sls", "other: {test.nop: []}\n"),
    ("pillar/top.sls", "base: {'*': [all]}\n"),
    (
        "pillar/all.sls",
        "ssh:
  port: 22
options:
  UseDNS: 'no'
  PermitRootLogin: 'yes'
x11: true
users:
  tom:
    shell: /bin/sh
  ann:
    shell: /bin/sh
",
    ),
];

/// The files of a tree after an edit, and the numbers of the lines that the edit changes.
fn edited(file: &str, from: &str, to: &str) -> (Vec<(String, String)>, BTreeSet<usize>) {
    let mut lines = BTreeSet::new();
    let tree = TREE.iter().map(|(path, text)| {
        if *path != file {
            return ((*path).to_owned(), (*text).to_owned());
        }
        let at = text.find(from).unwrap();
        let new = text.replacen(from, to, 1);
        let first = text[..at].matches('\n').count() + 1;
        let height = |text: &str| text.trim_end_matches('\n').matches('\n').count();
        lines.extend(first..=first + height(from).max(height(to)));
        ((*path).to_owned(), new)
    });
    let tree = tree.collect();
    (tree, lines)
}

/// The causes of all changes on a minion: the title of each change, and the causes of each of its parts.
fn causes_of(new: &[(String, String)]) -> Vec<(String, Vec<Cause>)> {
    let old: Vec<(String, String)> = edited("", "", "").0;
    let served = |tree: &[(String, String)], is_pillar: bool| {
        tree.iter().fold(MemoryFiles::new(), |files, (path, text)| {
            let of_pillar = path.strip_prefix("pillar/");
            match (of_pillar, is_pillar) {
                (Some(path), true) => files.file("base", path, text),
                (None, false) => files.file("base", path, text),
                _ => files,
            }
        })
    };
    let engines = [&old[..], new].map(|tree| Engine::new(served(tree, false)));
    let fleet = |engine, tree| {
        let config = b"pillar_roots: {base: [/srv/pillar]}";
        let config = Config::parse(config, "master", Kind::Master).unwrap();
        let master = Master::new(config, Arc::new(served(tree, true)));
        let wanted = WantedStates::Top(Vec::new());
        Fleet::new(engine)
            .with_pillars(Pillars::new(master, engine))
            .with_states(StatePlans::new(engine, TopOptions::default(), wanted))
    };
    let (before, after) = (fleet(&engines[0], &old[..]), fleet(&engines[1], new));
    let comparison = Comparison::new(&before, &after);
    let mut differences = Differences::default();
    let minion = Minion::new("web1").complete();
    differences.add(&comparison, "web1", comparison.compare(&minion), || {
        minion.clone()
    });
    differences.explain_states(&comparison);
    let groups = differences.states.groups().iter();
    groups.flat_map(of_group).collect()
}

fn of_group(group: &StatesGroup) -> Vec<(String, Vec<Cause>)> {
    let change = group.state().unwrap();
    let nothing = StateCauses::default();
    let causes = group.causes.as_ref().unwrap_or(&nothing);
    let name = change.new.as_ref().or(change.old.as_ref()).unwrap();
    let mut all = vec![(name.id.to_string(), causes.state.concat())];
    for (argument, causes) in change.arguments.iter().zip(&causes.arguments) {
        all.push((format!("{}:{}", name.id, argument.path[0]), causes.concat()));
    }
    for file in &causes.files {
        let attributes = file.attributes.iter().flatten().flatten();
        all.push((
            format!("{} attributes", name.id),
            attributes.cloned().collect(),
        ));
        let lines = file.lines.iter().flat_map(|side| side.values().flatten());
        all.push((format!("{} text", name.id), lines.cloned().collect()));
    }
    all
}

fn shown(causes: &[Cause]) -> Vec<String> {
    let shown = causes.iter().map(|cause| match &cause.expression {
        Some(expression) => format!("{expression} <- {}", cause.spot),
        None => cause.spot.to_string(),
    });
    shown.collect()
}

#[test]
fn the_line_that_was_edited_is_named() {
    let edits = [
        ("pillar/all.sls", "port: 22", "port: 2222", "config text"),
        ("pillar/all.sls", "port: 22", "port: 2222", "config:port"),
        (
            "pillar/all.sls",
            "Login: 'yes'",
            "Login: 'no'",
            "config text",
        ),
        ("pillar/all.sls", "  UseDNS: 'no'\n", "", "config text"),
        ("pillar/all.sls", "  tom:\n", "  tim:\n", "tim"),
        ("pillar/all.sls", "  tom:\n", "  tim:\n", "tom"),
        ("ssh/defaults.yaml", "0644", "0600", "config attributes"),
        ("ssh/defaults.yaml", "- client", "- mosh", "packages:pkgs"),
        ("ssh/files/config", "# managed", "# by salt", "config text"),
        ("ssh/files/config", "# {{", "// {{", "config text"),
        (
            "ssh/files/config",
            "if pillar.x11",
            "if not pillar.x11",
            "config text",
        ),
        (
            "ssh/init.sls",
            "enable: true",
            "enable: false",
            "ssh:enable",
        ),
        (
            "ssh/init.sls",
            "pkg.installed",
            "pkg.latest",
            "packages:function",
        ),
        ("ssh/init.sls", "packages:", "pkgs:", "pkgs:ID"),
        ("ssh/init.sls", "    - enable: true\n", "", "ssh:enable"),
        (
            "top.sls",
            "    - users\n",
            "    - users\n    - other\n",
            "other",
        ),
        ("top.sls", "    - users\n", "", "tom"),
    ];
    for (file, from, to, part) in edits {
        let (tree, lines) = edited(file, from, to);
        let all = causes_of(&tree);
        let found = all.iter().find(|(of, _)| of == part);
        let (_, causes) = found.unwrap_or_else(|| panic!("{part}: {all:?}"));
        assert!(!causes.is_empty(), "{file} {from}: nothing for {part}");
        let path = file.strip_prefix("pillar/").unwrap_or(file);
        for cause in shown(causes) {
            let is_it = |line: &usize| cause.contains(&format!("{path}:{line}:"));
            assert!(lines.iter().any(is_it), "{file} {from}: {cause} {lines:?}");
        }
    }
}

#[test]
fn a_line_that_stayed_is_there_by_the_condition_around_it() {
    let (tree, _) = edited("pillar/all.sls", "x11: true", "x11: false");
    let all = causes_of(&tree);
    let (_, causes) = all.iter().find(|(of, _)| of == "config text").unwrap();
    assert_eq!(shown(causes), ["if pillar.x11 <- ssh/files/config:6:1"]);
}

#[test]
fn the_source_that_counts_has_the_place_of_its_item() {
    let (mut tree, _) = edited(
        "ssh/init.sls",
        "    - source: salt://ssh/files/config\n",
        "    - source:\n      - salt://ssh/files/{{ grains.id }}\n      - salt://ssh/files/other\n",
    );
    tree.push(("ssh/files/other".to_owned(), "Port 22\n".to_owned()));
    let all = causes_of(&tree);
    let (_, causes) = all.iter().find(|(of, _)| of == "config:source").unwrap();
    let [old, new] = &shown(causes)[..] else {
        panic!("{causes:?}");
    };
    assert!(old.starts_with("ssh/init.sls:9:"), "{old}");
    assert!(new.starts_with("ssh/init.sls:11:"), "{new}");
}
