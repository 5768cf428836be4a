//! The origins of states: what is edited at the place of an argument changes it.

use std::collections::BTreeMap;

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Key, Value};
use mapstack_lineage::{ExplainedStates, Reason, ValuePosition, explain_states};
use mapstack_states::{Gatherer, RequestedStates, TopOptions};

type Files = BTreeMap<&'static str, String>;

const FACTS: &str = "\
id: web1
grains: {os: Debian, os_family: Debian}
pillar: {port: '80', ctx: {a: one, b: [x, y]}, users: {tom: {shell: bash}, ann: {shell: zsh}}}
";

const TREE: &[(&str, &str)] = &[
    (
        "top.sls",
        "base:\n  '*':\n    - web\n  'os:Debian':\n    - match: grain\n    - extra\n",
    ),
    (
        "web/map.jinja",
        "{% import_yaml 'web/os.yaml' as os %}\n{% set web = salt['grains.filter_by'](os, merge={'own': 'mine'}, default='Debian') %}\n",
    ),
    ("web/os.yaml", "Debian:\n  pkg: apache2\n  user: www\n"),
    (
        "web/parameters/defaults.yaml",
        "values:\n  dir: srv\n  mode: low\n",
    ),
    (
        "web/parameters/os_family/Debian.yaml",
        "values:\n  mode: high\n",
    ),
    (
        "web/macros.jinja",
        "{% macro line(name, text) %}line-{{ name }}:\n  file.append:\n    - name: {{ name }}\n    - text: {{ text }}\n    - source: fixed\n{% endmacro %}\n",
    ),
    (
        "web/init.sls",
        "{% from 'web/map.jinja' import web with context %}{% from 'web/macros.jinja' import line %}\n\
         {%- set data = salt['map.data']('web') %}\n\
         include:\n  - .conf\n\n\
         web-pkg:\n  pkg.installed:\n    - name: {{ web.pkg }}\n    - version: '{{ web.own }}-x'\n    - refresh: sometimes\n\n\
         {% for user, options in pillar.users.items() %}\n\
         user-{{ user }}:\n  user.present:\n    - name: {{ user }}\n    - shell: {{ options.shell }}\n    - home: /home/{{ user }}\n    - groups: [wheel, {{ web.user }}]\n\
         {% endfor %}\n\
         {{ line('motd', 'hello') }}\n\
         data:\n  file.directory:\n    - name: {{ data.dir }}\n    - mode: {{ data.mode }}\n",
    ),
    (
        "web/conf.sls",
        "/etc/web.conf:\n  file.managed:\n    - mode: '0644'\n    - contents: |\n        port = {{ pillar.get('port') }}\n        os = {{ grains.os }}\n\
         \x20   - require:\n      - pkg: web-pkg\n    - watch_in:\n      - service: web-svc\n    - context: {{ salt['pillar.get']('ctx') | json }}\n\
         short: test.nop\nused:\n  cmd.run: [{cwd: here}, {env: there}]\nuser:\n  cmd.run: [{use: [{cmd: used}]}, {runas: me}]\n\
         {% for port in ['a1', 'b2'] %}\nopen-{{ port }}:\n  firewalld.present:\n    - zone: public\n    - ports: [{{ port }}/tcp, {{ port }}/udp]\n    - rich: {port: {{ port }}, os: {{ grains.os }}}\n{% endfor %}\n",
    ),
    (
        "extra.sls",
        "include: [web]\nextend:\n  /etc/web.conf:\n    file:\n      - mode: '0600'\n      - require:\n        - test: nop\n\
         nop:\n  test.nop\n\
         web-svc:\n  service.running:\n    - names: [httpd, nginx]\n    - enable: always\n",
    ),
];

fn files() -> Files {
    TREE.iter()
        .map(|(path, text)| (*path, (*text).to_owned()))
        .collect()
}

fn explained(files: &Files, facts: &str) -> ExplainedStates {
    let served = files
        .iter()
        .fold(MemoryFiles::new(), |served, (path, text)| {
            served.file("base", path, text)
        });
    let engine = Engine::new(served);
    let minion = Minion::parse(facts.as_bytes(), "m").unwrap().complete();
    let gatherer = Gatherer::new(&engine, TopOptions::default());
    let high = gatherer.high(&minion, RequestedStates::Highstate);
    let settled = high.settled(&minion).unwrap();
    explain_states(&engine, &minion, &high, settled, &[])
}

fn at<'v>(data: &'v Value, path: &[Key]) -> Option<&'v Value> {
    path.iter().try_fold(data, |value, step| match value {
        Value::Map(map) => map.get(step),
        Value::List(items) => items.get(step.to_string().parse::<usize>().ok()?),
        _ => None,
    })
}

/// The places that an argument has: the one in its sls if a person wrote it there, and those of what tags printed.
fn places(explained: &ExplainedStates) -> Vec<(Vec<Key>, ValuePosition)> {
    let mut places = Vec::new();
    explained.lineage.visit(&mut |path, known| {
        if matches!(known.value, Value::Map(_) | Value::List(_)) {
            return;
        }
        let own = Some(&known.spot).filter(|_| known.printed.is_empty());
        let printed = known.printed.iter().map(|printed| &printed.spot);
        for spot in own.into_iter().chain(printed) {
            places.push((path.to_vec(), spot.clone()));
        }
    });
    places
}

/// The files, or the facts, with a letter more at a place.
fn edited(spot: &ValuePosition) -> Option<(Files, String)> {
    let (mut files, mut facts) = (files(), FACTS.to_owned());
    let insert = |text: &mut String, offset: usize| {
        let quote = usize::from(text[offset..].starts_with(['\'', '"']));
        text.insert(offset + quote, 'Z');
    };
    match spot {
        ValuePosition::File { computed: true, .. } => return None,
        ValuePosition::File { place, .. } => {
            let file = place.file.trim_start_matches("salt://");
            insert(files.get_mut(file)?, place.start);
        }
        ValuePosition::Fact { path, .. } => {
            // Facts of one line: the value is behind its key, or an item of the only list.
            let last = path.last()?.to_string();
            let find = |text: &str| facts.find(text).map(|at| at + text.len());
            let offset = match &*last {
                "0" => find("b: ["),
                "1" => find("b: [x, "),
                "tom" | "ann" => find(&format!("{last}: ")).map(|at| at - last.len() - 2),
                "shell" => find(&format!("{}: {{shell: ", path[path.len() - 2])),
                key => find(&format!("{key}: ")),
            };
            insert(&mut facts, offset?);
        }
        _ => return None,
    }
    Some((files, facts))
}

#[test]
fn edits_prove_the_places_of_arguments() {
    let before = explained(&files(), FACTS);
    let mut proved = 0;
    for (path, spot) in places(&before) {
        let is_requisite = |key: &Key| {
            ["require", "watch", "watch_in", "use"]
                .map(Key::from)
                .contains(key)
        };
        let Some((files, facts)) = edited(&spot).filter(|_| !path.iter().any(is_requisite)) else {
            continue;
        };
        let after = explained(&files, &facts);
        let (old, new) = (at(&before.data, &path), at(&after.data, &path));
        assert!(old.is_some() && old != new, "{path:?} at {spot}: {new:?}");
        proved += 1;
    }
    assert!(proved >= 40, "{proved}");
}

#[test]
fn each_argument_has_a_place() {
    let explained = explained(&files(), FACTS);
    assert!(explained.refusals.is_empty(), "{:?}", explained.refusals);
    let unknown: Vec<_> = places(&explained)
        .into_iter()
        .filter(|(_, spot)| *spot == ValuePosition::Unknown)
        .collect();
    assert_eq!(unknown, []);
}

#[test]
fn requisites_of_others_have_their_place_and_their_giver() {
    let explained = explained(&files(), FACTS);
    let state = |id: &str| {
        let mut states = explained.states.iter();
        states.find(|state| state.id.as_str() == Some(id)).unwrap()
    };
    let said = |id| -> Vec<String> {
        let requisites = state(id).requisites.iter().map(|requisite| {
            let (module, name) = &requisite.state;
            let place = requisite
                .place
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            let by = requisite
                .given_by
                .as_ref()
                .map(|(id, argument)| format!(" {argument} of {id}"));
            format!(
                "{} {module}: {name} {place}{}",
                requisite.argument,
                by.unwrap_or_default()
            )
        });
        requisites.collect()
    };
    assert_eq!(
        said("web-svc"),
        ["watch file: /etc/web.conf web/conf.sls:10:9 watch_in of /etc/web.conf"]
    );
    assert_eq!(
        said("/etc/web.conf"),
        [
            "require pkg: web-pkg web/conf.sls:8:9",
            "require test: nop extra.sls:7:11"
        ]
    );
}

#[test]
fn a_state_has_the_way_to_its_sls() {
    let explained = explained(&files(), FACTS);
    let state = explained
        .states
        .iter()
        .find(|state| state.sls == "web.conf")
        .unwrap();
    let [
        Reason::Include { sls, place },
        Reason::Target {
            target,
            matcher,
            place: top,
            ..
        },
    ] = &state.reasons[..]
    else {
        panic!("{:?}", state.reasons);
    };
    let shown = |place: &Option<_>| {
        place
            .as_ref()
            .map(|place: &mapstack::Place| place.to_string())
    };
    assert_eq!(
        (&**sls, shown(place).as_deref()),
        ("web", Some("web/init.sls:4:5"))
    );
    assert_eq!(
        (&**target, &**matcher, shown(top).as_deref()),
        ("*", "compound", Some("top.sls:3:7"))
    );
}
