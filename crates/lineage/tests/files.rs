//! The origins of the lines of managed files: what is edited at the place of a line, or of a value on it, changes the
//! line, and what is edited at a place that another overrides does not.

use std::collections::BTreeMap;

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Key, Path, Value};
use mapstack_files::{Content, ManagedFiles};
use mapstack_lineage::{Ancestry, FileLines, ValuePosition, explain_file};
use mapstack_states::{Gatherer, RequestedStates, TopOptions};

type Files = BTreeMap<String, String>;

const FACTS: &str = "\
id: web1
grains: {os: Debian, os_family: Debian, role: front}
pillar: {port: 8080, text: \"first\\nsecond\\n\", data: {a: one, b: {c: two}}, jobs: {j1: [same, x], j2: [same, x]}, web: {user: www, hosts: [x1, x2]}, pools: {p1: {size: 3, tags: [t1, t2]}, p2: {size: 3}}, tuned: {deep: {b: own}}, master: {conf: {of_master: m1, both: m2}}, conf: {both: m3}}
";

const TREE: &[(&str, &str)] = &[
    ("top.sls", "base: {'*': [web]}\n"),
    (
        "web/map.jinja",
        "{% import_yaml 'web/defaults.yaml' as web %}\n{% do web.update(pillar.get('web', {})) %}\n",
    ),
    (
        "web/defaults.yaml",
        "user: nobody\ngroup: adm\nlevel: warn\n",
    ),
    (
        "web/lib.jinja",
        "{% macro option(name, value) %}{{ name }} = {{ value }}\n{% endmacro %}\n",
    ),
    (
        "web/tables.jinja",
        "{% set table = {'kind': 'literal', 'list': ['one', 'two'], 'in': {'side': 'deep'}} %}\n\
         {% do table.update({'kind': 'updated'}) %}\n\
         {% set picked = salt['grains.filter_by']({'Debian': {'pkg': 'apt', 'old': 'o'}, 'RedHat': {'pkg': 'yum'}}, merge={'old': 'n'}, default='Debian') %}\n\
         {% set tuned = salt['pillar.get']('tuned', {'deep': {'a': 'first', 'b': 'second'}}, merge=True) %}\n\
         {% set merged = salt['slsutil.merge']({'a': 'under', 'b': 'kept'}, {'a': 'above'}) %}\n\
         {% set absent = salt['pillar.get']('absent', 'by default') %}\n\
         {% set conf = salt['config.get']('conf', merge='recurse') %}\n",
    ),
    (
        "web/files/tables.conf",
        "{% from 'web/tables.jinja' import table, picked, tuned, merged, absent, conf with context %}\n\
         {% macro line(name, value='none') %}{{ name }} = {{ value }}\n{% endmacro %}\n\
         {% macro all(name, of) %}[{{ name }}]\n{% for key, value in of.items() %}{% if value is mapping %}{{ all(key, value) }}{% else %}{{ line(key, value) }}{% endif %}{% endfor %}{% endmacro %}\n\
         {{ all('pools', pillar.pools) }}\n\
         {{ all('table', table) | indent(2) }}\n\
         {{ line('absent') ~ line('size', pillar.pools.p1.size) }}\n\
         {% set block %}{{ line('block', picked.pkg) }}and {{ picked.old }}{% endset %}{{ block }}\n\
         {{ table.list | join('\n') }}\n\
         {{ tuned | yaml(False) }}\n\
         {{ absent }} {{ merged.a }} {{ merged.b }} {{ pillar.nothing | default('otherwise') }}\n\
         {{ conf.of_master }} {{ conf.both }}\n\
         {% macro wrap(name) %}<{{ name }}>{{ caller('inner') }}{% endmacro %}{% call(x) wrap('outer') %}{{ x }}{% endcall %}\n\
         {% call(x) wrap(pillar.web.user) %}{{ x }} {{ pillar.port }}\nhost {{ pillar.web.hosts.1 }}{% endcall %}\n\
         {% filter indent(2) %}{{ grains.os }}\n{{ pillar.pools.p2.size }}{% endfilter %}\n",
    ),
    (
        "web/files/whole.conf",
        "{{ whole.name }}\n{{ whole.inner.key }}\n",
    ),
    ("web/files/plain.conf", "one\ntwo\n"),
    (
        "web/files/web.conf",
        "# managed\n{% from 'web/lib.jinja' import option %}user {{ web.user }};\ngroup {{ web.group }} {{ level }};\n\
         {% for host in web.hosts %}host {{ host }};\n{% endfor %}{{ option('port', port) }}role {{ grains.role }};\nmode {{ own }};\nend\n",
    ),
    (
        "web/files/job",
        "{% for item in job %}{{ item }}\n{% endfor %}",
    ),
    (
        "web/init.sls",
        "{% from 'web/map.jinja' import web with context %}\n\
         /etc/plain.conf:\n  file.managed:\n    - source: salt://web/files/plain.conf\n\
         /etc/web.conf:\n  file.managed:\n    - source:\n      - salt://web/files/{{ grains.role }}.conf\n      - salt://web/files/web.conf\n    - template: jinja\n\
         \x20   - defaults:\n        level: low\n        port: 1\n    - own: tight\n    - context:\n        web: {{ web | json }}\n        port: {{ pillar.port }}\n\
         /etc/contents:\n  file.managed:\n    - contents: |\n        port {{ pillar.port }}\n        fixed text\n        os {{ grains.os }}\n\
         /etc/list:\n  file.managed:\n    - contents:\n      - alpha\n      - beta {{ web.group }}\n\
         /etc/pillar:\n  file.managed:\n    - contents_pillar: text\n\
         /etc/data.yaml:\n  file.serialize:\n    - serializer: yaml\n    - dataset:\n        name: {{ web.user }}\n        deep: {er: fixed}\n        list: [l1, l2]\n\
         /etc/data.json:\n  file.serialize:\n    - serializer: json\n    - dataset_pillar: data\n\
         {% for name, job in pillar.jobs.items() %}\n/etc/{{ name }}:\n  file.managed:\n    - source: salt://web/files/job\n    - template: jinja\n    - context:\n        job: {{ job | json }}\n{% endfor %}\n\
         /etc/tables.conf:\n  file.managed:\n    - source: salt://web/files/tables.conf\n    - template: jinja\n\
         /etc/whole.conf:\n  file.managed:\n    - source: salt://web/files/whole.conf\n    - template: jinja\n    - context:\n        whole: {{ {'name': web.user, 'inner': {'key': 'literal'}} }}\n\
         /etc/more:\n  file.append:\n    - text: |\n        appended {{ grains.os }}\n\
         {% set both = 'one ' ~ pillar.port ~ '\\nsecond' %}\n\
         /etc/computed:\n  file.replace:\n    - pattern: x\n    - repl: {{ both | json }}\n\
         /etc/written:\n  file.replace:\n    - pattern: x\n    - repl: |\n        one 8080\n        second\n",
    ),
];

fn files() -> Files {
    let tree = TREE.iter();
    tree.map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect()
}

fn minion() -> Minion {
    Minion::parse(FACTS.as_bytes(), "m").unwrap().complete()
}

fn served(files: &Files) -> MemoryFiles {
    let files = files.iter();
    files.fold(MemoryFiles::new(), |served, (path, text)| {
        served.file("base", path, text)
    })
}

/// The lines of all files.
fn explained(files: &Files, minion: &Minion) -> Vec<FileLines> {
    let engine = Engine::new(served(files));
    let gatherer = Gatherer::new(&engine, TopOptions::default()).keeping_low();
    let low = gatherer.compiled(minion).unwrap();
    if !low.errors.is_empty() {
        return Vec::new();
    }
    let managed = ManagedFiles::new(&engine, minion, &low.low);
    let high = gatherer.high(minion, RequestedStates::Highstate);
    let settled = high.settled(minion).unwrap();
    let of = |file| explain_file(&engine, minion, &high, settled.clone(), &managed, file);
    managed.all().iter().map(|file| of(file).unwrap()).collect()
}

/// The text of a line, with the origins of that and of the values on it.
type Line = (String, Vec<(Key, Ancestry)>);

/// The lines by the path of their file and their number.
fn lines(files: &[FileLines]) -> BTreeMap<(String, i64), Line> {
    let mut lines: BTreeMap<(String, i64), Line> = BTreeMap::new();
    for file in files {
        let lineage = &file.explained.lineage;
        lineage.visit_below(&[Key::from(&*file.path)], &mut |path, known| {
            let [_, Key::Int(number), key] = path else {
                return;
            };
            let number = number.to_i64().unwrap();
            let line = lines.entry((file.path.clone(), number)).or_default();
            if key.as_str() == Some("text") {
                line.0 = known.value.to_string();
            }
            line.1.push((key.clone(), known.clone()));
        });
    }
    lines
}

/// The texts of the lines by the path of their file and their number.
fn texts(files: &Files, minion: &Minion) -> BTreeMap<(String, i64), String> {
    let engine = Engine::new(served(files));
    let gatherer = Gatherer::new(&engine, TopOptions::default()).keeping_low();
    let low = gatherer.compiled(minion).unwrap();
    let mut texts = BTreeMap::new();
    if !low.errors.is_empty() {
        return texts;
    }
    let managed = ManagedFiles::new(&engine, minion, &low.low);
    for file in &managed.all() {
        if let Content::Bytes(bytes) = managed.content(file) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            for (number, line) in (1..).zip(text.lines()) {
                texts.insert((file.path.clone(), number), line.to_owned());
            }
        }
    }
    texts
}

/// The tree and the minion with a letter more at a place.
fn edited(spot: &ValuePosition, value: &Value) -> Option<(Files, Minion)> {
    let (mut files, mut minion) = (files(), minion());
    match spot {
        ValuePosition::File { computed: true, .. } => return None,
        ValuePosition::File { place, .. } => {
            let text = files.get_mut(place.file.trim_start_matches("salt://"))?;
            if text[place.start..].starts_with(['{', '[']) {
                return None;
            }
            let quote = usize::from(text[place.start..].starts_with(['\'', '"']));
            text.insert(place.start + quote, 'Z');
        }
        ValuePosition::Fact { part, path, .. } => {
            let steps: Vec<String> = path.iter().map(ToString::to_string).collect();
            let given = format!("{}.{}", (*part)?.name(), steps.join("."));
            let parsed = Path::split(&steps.join(":"), ":").ok()?;
            assert!(!parsed.steps().is_empty());
            minion.set(&given, format!("Z{value}")).ok()?;
        }
        _ => return None,
    }
    Some((files, minion))
}

/// The places of a value on a line, of what was printed there, and of those that it overrode.
fn places(known: &Ancestry) -> [Vec<(ValuePosition, Value)>; 2] {
    let (mut own, mut past) = (Vec::new(), Vec::new());
    let mut add = |known: &Ancestry| {
        let is_leaf = !matches!(known.value, Value::Map(_) | Value::List(_));
        if is_leaf {
            own.push((known.spot.clone(), known.value.clone()));
        }
        let before = known.past.iter().filter(|_| is_leaf);
        past.extend(before.map(|past| (past.spot.clone(), past.value.clone())));
    };
    add(known);
    known.printed.iter().for_each(add);
    [own, past]
}

#[test]
fn edits_prove_the_places_of_lines() {
    let before = lines(&explained(&files(), &minion()));
    assert!(!before.is_empty());
    let (mut proved, mut overridden) = (0, 0);
    for (at, (text, known)) in &before {
        let mut count = 0;
        for (key, known) in known {
            let [own, past] = places(known);
            let is_text = key.as_str() == Some("text");
            for (spot, value) in own {
                // The place of a line that is made of a scalar with tags is that of its literal text.
                let is_fact_line = is_text && matches!(spot, ValuePosition::Fact { .. });
                let Some((files, minion)) = edited(&spot, &value).filter(|_| !is_fact_line) else {
                    continue;
                };
                let after = texts(&files, &minion);
                let new = after.get(at);
                assert!(new != Some(text), "{at:?} {key:?}: {text:?} at {spot}");
                count += 1;
            }
            for (spot, value) in past {
                let Some((files, minion)) = edited(&spot, &value) else {
                    continue;
                };
                let after = texts(&files, &minion);
                let new = after.get(at);
                assert_eq!(new, Some(text), "{at:?} {key:?} over {spot}");
                overridden += 1;
            }
        }
        proved += usize::from(count > 0);
    }
    assert!(proved >= 50 && overridden >= 3, "{proved}, {overridden}");
}

#[test]
fn lines_have_their_places_and_values() {
    let all = lines(&explained(&files(), &minion()));
    let mut shown = String::new();
    for ((path, number), (text, known)) in &all {
        shown.push_str(&format!("{path}:{number}: {text}\n"));
        for (key, known) in known {
            shown.push_str(&format!("  {key}: {} {}", known.value.repr(), known.spot));
            let printed = known.printed.iter();
            let printed = printed.map(|one| format!(" from {} {}", one.value.repr(), one.spot));
            shown.extend(printed);
            let past = known.past.iter();
            shown.extend(past.map(|one| format!(" over {} {}", one.value.repr(), one.spot)));
            shown.push('\n');
        }
    }
    let expected = include_str!("files.txt");
    if std::env::var("SNAPSHOTS").is_ok_and(|how| how == "overwrite") {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files.txt");
        std::fs::write(file, &shown).unwrap();
    }
    assert_eq!(shown, expected, "SNAPSHOTS=overwrite writes it again");
}
