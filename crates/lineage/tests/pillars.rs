//! The origins of pillars' values: every reported place has the value.

use crate::whole_pillar;
use std::sync::Arc;

use crate::common::{of_each, records};
use crate::disk::written;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::secrets::Policy;
use mapstack::value::json::{self, DumpOptions};
use mapstack::value::{Key, Map, Value};
use mapstack::yaml::{Limits, load, load_aggregating};
use mapstack::{Engine, Place};
use mapstack_lineage::{HistoryStep, LayerKind, Lineage, Reason, ValuePosition, explain_pillar};
use mapstack_pillar::{Master, PillarRequest, WholePillar};
use mapstack_salt_config::{Config, Kind};

/// The result of checking the places of some values.
#[derive(Debug, Default)]
struct Found {
    /// The number of values that are at their places.
    there: usize,
    /// Values that an expression or an external pillar computed.
    computed: usize,
    /// Values of the command that asks for the pillar.
    given: usize,
    /// Values of which it is not known.
    unknown: usize,
    /// The values that are not at their places.
    wrong: Vec<String>,
}

impl Found {
    fn with(mut self, other: Found) -> Self {
        self.there += other.there;
        self.computed += other.computed;
        self.given += other.given;
        self.unknown += other.unknown;
        self.wrong.extend(other.wrong);
        self
    }

    fn add(&mut self, lineage: &Lineage) {
        lineage.visit(&mut |path, known| {
            let places = known.past.iter().map(|past| (&past.value, &past.spot));
            for (value, spot) in places.chain([(&known.value, &known.spot)]) {
                if matches!(value, Value::Map(_) | Value::List(_) | Value::Tuple(_)) {
                    continue;
                }
                match spot {
                    ValuePosition::File { computed: true, .. } => self.computed += 1,
                    ValuePosition::File { place, .. } if is_at(place, value) => self.there += 1,
                    ValuePosition::File { place, .. } => {
                        let text = place.source.get(place.start..).unwrap_or_default();
                        let line = text.lines().next().unwrap_or_default();
                        self.wrong
                            .push(format!("{path:?}: {} at {place}: {line}", value.repr()));
                    }
                    ValuePosition::Argument => self.given += 1,
                    _ if is_of_the_master(path) => {}
                    _ => self.unknown += 1,
                }
            }
        });
    }
}

/// True if a value is one that the master adds: an error, or one of its options.
fn is_of_the_master(path: &[Key]) -> bool {
    let first = path.first().and_then(Key::as_str);
    matches!(first, Some("_errors" | "master"))
}

/// True if a scalar is at a place, as YAML reads the text that begins there.
fn is_at(place: &Place, value: &Value) -> bool {
    let text = place.source.get(place.start..).unwrap_or_default();
    if value.is_none() && text.trim_start().starts_with("{{") {
        // The expression there prints nothing.
        return true;
    }
    if let Some(encoded) = text.strip_prefix("!!binary ") {
        let encoded = encoded.split([',', '}', ']', '\n']).next();
        let read = load(&format!("!!binary {}", encoded.unwrap_or_default()));
        // A master sends bytes as text where they are UTF-8.
        let sent = match value {
            Value::Str(text) => Value::Bytes(text.as_bytes().into()),
            other => other.clone(),
        };
        return read.is_ok_and(|read| read.is_same(&sent));
    }
    if place.file.ends_with(".mako") {
        return value.as_str().is_some_and(|value| text.starts_with(value));
    }
    if text.starts_with(['|', '>']) {
        let first = value.to_string();
        let first = first.lines().find(|line| !line.trim().is_empty());
        return first.is_some_and(|line| text.contains(line.trim()));
    }
    if let Some(quoted) = text.strip_prefix(['\'', '"'])
        && let Some(quoted) = quoted.lines().next()
        && quoted.contains("{{")
    {
        // A part of the text is printed by an expression.
        return value.as_str().is_some();
    }
    let ends = text.char_indices().filter(|(_, c)| ",]}#:{\n".contains(*c));
    let ends = ends.map(|(at, _)| at).chain([text.len()]);
    ends.take(50).any(|end| {
        let text = text.get(..end).unwrap_or_default().trim_end();
        let joined = || match load_aggregating(text, &Limits::default()).ok()?.value {
            // A scalar with a tag is a list of one.
            Value::List(items) if items.is_aggregate() => items.first().cloned(),
            read => Some(read),
        };
        load(text).is_ok_and(|read| read.is_same(value))
            || joined().is_some_and(|read| read.is_same(value))
    })
}

#[test]
fn places_in_recorded_pillars_have_the_values() {
    let all = records(include_str!("../../pillar/tests/data/whole_pillars.json"));
    let found = found_in(&all);
    assert!(found.there > 1600 && found.unknown < 40, "{found:?}");
}

#[test]
fn places_in_pillars_of_older_versions_have_the_values() {
    let all = records(include_str!("../../pillar/tests/data/whole_pillars.json"));
    let others = include_str!("../../pillar/tests/data/other_versions.json");
    let others = json::loads(others).unwrap();
    for (version, others) in others.as_map().unwrap() {
        let others = others.as_map().unwrap();
        let has_another = |record: &&Map| {
            let name = record.get("name").and_then(Value::as_str);
            others.contains_key(name.unwrap())
        };
        let of_version = |record: &Map| {
            let mut record = record.clone();
            record.insert("salt_version", version.to_string());
            record
        };
        let all: Vec<Map> = all.iter().filter(has_another).map(of_version).collect();
        let found = found_in(&all);
        assert!(
            found.there > 100 && found.unknown < 10,
            "{version}: {found:?}"
        );
    }
}

#[test]
fn places_in_recorded_classes_have_the_values() {
    let all = records(include_str!(
        "../../pillar/tests/data/saltclass_pillars.json"
    ));
    let found = found_in(&all);
    assert!(found.there > 500 && found.unknown < 5, "{found:?}");
}

#[test]
fn places_in_recorded_parameters_have_the_values() {
    let all = records(include_str!("../../pillar/tests/data/reclass_pillars.json"));
    let found = found_in(&all);
    assert!(found.there > 500 && found.unknown < 5, "{found:?}");
}

#[test]
fn places_in_recorded_stacks_have_the_values() {
    let all = [
        include_str!("../../pillar/tests/data/pillar_stacks.json"),
        include_str!("../../pillar/tests/data/stack_e2e.json"),
    ];
    let all: Vec<Map> = all
        .into_iter()
        .flat_map(records)
        .filter_map(|record| with_stack(&record))
        .collect();
    let found = found_in(&all);
    assert!(found.there > 900 && found.unknown < 5, "{found:?}");
}

/// A master whose pillar has the stack of a record, over what the record gives as the pillar.
fn with_stack(record: &Map) -> Option<Map> {
    let text = |value: &Value| json::dumps(value, &DumpOptions::default()).ok();
    let empty = |value: &Value| !value.truthy();
    let named = record.get("kwargs")?;
    let arguments = Some(named).filter(|named| !empty(named));
    let stack: Map = [("stack", arguments.or(record.get("args"))?.clone())]
        .into_iter()
        .collect();
    let roots: Map = [("base", Value::from_iter(["<DIR>/base"]))]
        .into_iter()
        .collect();
    let options: Map = [
        ("pillar_roots", Value::from(roots)),
        ("ext_pillar", Value::from_iter([Value::from(stack)])),
    ]
    .into_iter()
    .collect();
    let mut files = record.get("files")?.as_map()?.clone();
    files.insert("base/top.sls", "base: {'*': [given]}");
    files.insert("base/given.sls", text(record.get("pillar")?)?);
    let mut record = record.clone();
    record.insert("files", files);
    record.insert("master", text(&options.into())?);
    Some(record)
}

/// Check the places of the values of recorded pillars.
fn found_in(all: &[Map]) -> Found {
    let found = of_each(all, |record| {
        let mut found = Found::default();
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("here");
        whole_pillar::write(record, &root);
        let explained = |master: &Master, engine: &Engine, minion: &Minion, ask: &PillarRequest| {
            let plain = master.compile(engine, minion, ask);
            let made = master.explain(engine, minion, ask);
            // Explaining changes nothing.
            let data = |made: &mapstack::Result<WholePillar>| match made {
                Ok(made) => Value::Map(made.data.clone()).repr(),
                Err(error) => error.to_string(),
            };
            assert_eq!(data(&plain), data(&made), "{:?}", record.get("name"));
            assert!(plain.is_ok_and(|plain| plain.recipe.is_none()) || made.is_err());
            made.ok()
                .map(|made| explain_pillar(&made, minion, &Policy::default()).unwrap())
        };
        if let Some(lineage) = whole_pillar::with_master(record, &root, explained).unwrap() {
            found.add(&lineage);
        }
        found
    });
    let found = found.into_iter().fold(Found::default(), Found::with);
    assert!(found.wrong.is_empty(), "{found:#?}");
    found
}

/// Explain the pillar that a master with these options and files gives `web1`.
fn explained(options: &str, files: &[(&str, &str)]) -> (Map, Lineage) {
    let text = format!("pillar_roots: {{base: [/srv/pillar]}}\n{options}");
    let config = Config::parse(text.as_bytes(), "master", Kind::Master).unwrap();
    let server = files.iter().fold(MemoryFiles::new(), |all, (path, text)| {
        all.file("base", path, *text)
    });
    let minion = Minion::parse(b"{id: web1, grains: {os: Debian}}", "m")
        .unwrap()
        .complete();
    let engine = Engine::new(MemoryFiles::new());
    let master = Master::new(config, Arc::new(server));
    let pillar = master
        .explain(&engine, &minion, &PillarRequest::default())
        .unwrap();
    let lineage = explain_pillar(&pillar, &minion, engine.policy()).unwrap();
    (pillar.data, lineage)
}

/// An sls for all minions, over which external pillars are merged.
const ONE_SLS: [(&str, &str); 2] = [
    ("top.sls", "base: {'*': [s]}"),
    ("s.sls", "port: 1\nown: 2"),
];

/// The place of a value, and its history with the layers that ended each part.
fn history(lineage: &Lineage, path: &[&str]) -> String {
    let path: Vec<Key> = path.iter().map(|step| Key::from(*step)).collect();
    let known = lineage.at(&path).unwrap();
    let mut lines = vec![known.spot.to_string()];
    lines.extend(known.past.iter().rev().map(|past| {
        let how = match past.how {
            HistoryStep::Replaced => "replaced",
            HistoryStep::Joined => "joined",
            HistoryStep::Removed => "removed",
            HistoryStep::Rejected => "rejected",
            _ => "ended",
        };
        format!("{} {how}", past.spot)
    }));
    lines.join(", ")
}

#[test]
fn the_history_is_that_of_the_merges() {
    let files = [
        (
            "top.sls",
            "base:\n  '*': [common]\n  'os:Debian':\n    - match: grain\n    - web\n    - last\n",
        ),
        ("common.sls", "port: 1\nlist: [a]\nmap: {a: 1, b: 2}\n"),
        ("web.sls", "include: [ports]\nmap: {a: 3}\n"),
        ("ports.sls", "port: 2\nlist: [b]\n"),
        ("last.sls", "{% set port = 3 %}\nport: {{ port }}\n"),
    ];
    for (options, port, list, a) in [
        (
            "",
            "last.sls:2:7, ports.sls:1:7 replaced, common.sls:1:7 replaced",
            "ports.sls:2:7, common.sls:2:7 replaced",
            "web.sls:2:10, common.sls:3:10 replaced",
        ),
        (
            "pillar_merge_lists: true",
            "last.sls:2:7, ports.sls:1:7 replaced, common.sls:1:7 replaced",
            "common.sls:2:7, common.sls:2:7 joined",
            "web.sls:2:10, common.sls:3:10 replaced",
        ),
        (
            "pillar_source_merging_strategy: overwrite",
            "last.sls:2:7, ports.sls:1:7 replaced, common.sls:1:7 replaced",
            "ports.sls:2:7, common.sls:2:7 replaced",
            "web.sls:2:10, common.sls:3:10 replaced",
        ),
    ] {
        let (data, lineage) = explained(options, &files);
        assert_eq!(data.get("port").unwrap(), &Value::from(3), "{options}");
        assert_eq!(history(&lineage, &["port"]), port, "{options}");
        assert_eq!(history(&lineage, &["list"]), list, "{options}");
        assert_eq!(history(&lineage, &["map", "a"]), a, "{options}");
    }
}

#[test]
fn layers_say_why_the_minion_has_them() {
    let files = [
        (
            "top.sls",
            "base:\n  'web*':\n    - roles.*\n  'db*': [common]\n",
        ),
        (
            "roles/web.sls",
            "include:\n  - common:\n      key: below:here\n",
        ),
        ("common.sls", "a: 1\n"),
    ];
    let (_, lineage) = explained("", &files);
    assert_eq!(history(&lineage, &["below", "here", "a"]), "common.sls:1:4");
    let path = ["below", "here", "a"].map(Key::from);
    let layer = lineage.at(&path).unwrap().layer;
    let LayerKind::Sls { sls, reasons, .. } = &lineage.layers()[layer].kind else {
        panic!("{:?}", lineage.layers())
    };
    assert_eq!(sls, "common");
    let [
        Reason::Include { sls: by, .. },
        Reason::Target { target, place, .. },
    ] = &reasons[..]
    else {
        panic!("{reasons:?}")
    };
    assert_eq!((by.as_str(), target.as_str()), ("roles.web", "web*"));
    assert_eq!(place.as_ref().unwrap().to_string(), "top.sls:2:3");
}

#[test]
fn values_of_classes_name_their_files() {
    let directory = written(&[
        (
            "nodes/web1.yml",
            "classes: [default, web]\npillars:\n  port: 443\n  url: 'x ${name}'\n",
        ),
        (
            "classes/default.yml",
            "pillars:\n  port: 80\n  name: none\n  list: [a]\n",
        ),
        (
            "classes/web.yml",
            "# web\npillars:\n  name: {{ minion_id }}\n  list: [b]\n",
        ),
    ]);
    let root = directory.path().display();
    let options = format!("ext_pillar: [{{saltclass: [{{path: {root}}}]}}]");
    let (data, lineage) = explained(&options, &ONE_SLS);
    assert_eq!(data.get("name").unwrap().to_string(), "web1");
    let place = |path: &[&str]| {
        history(&lineage, path)
            .split(", ")
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(place(&["port"]), format!("{root}/nodes/web1.yml:3:9"));
    assert_eq!(place(&["url"]), format!("{root}/nodes/web1.yml:4:8"));
    assert_eq!(place(&["name"]), format!("{root}/classes/web.yml:3:9"));
    assert_eq!(place(&["list"]), format!("{root}/classes/default.yml:4:9"));
    assert_eq!(
        place(&["list", "0"]),
        format!("{root}/classes/default.yml:4:10")
    );
    assert_eq!(
        place(&["list", "1"]),
        format!("{root}/classes/web.yml:4:10")
    );
    assert_eq!(place(&["own"]), "s.sls:2:6");
    assert!(
        history(&lineage, &["port"]).contains("s.sls:1:7 replaced"),
        "{}",
        history(&lineage, &["port"])
    );
    let known = lineage.at(&["name".into()]).unwrap();
    let LayerKind::External {
        name, class, shown, ..
    } = &lineage.layers()[known.layer].kind
    else {
        panic!("{:?}", lineage.layers()[known.layer])
    };
    assert_eq!((&**name, class.as_deref()), ("saltclass", Some("web")));
    assert_eq!(shown.as_deref(), Some(&*format!("{root}/classes/web.yml")));
}

#[test]
fn parameters_of_reclass_are_the_files_that_set_them() {
    let directory = written(&[
        (
            "nodes/web1.yml",
            "classes: [web]\nparameters:\n  peers: $[ exports:port ]\n  d: {own: 1}\n",
        ),
        ("nodes/db.yml", "exports: {port: 81}\n"),
        (
            "classes/web.yml",
            "classes: [all]\nparameters:\n  d: {web: 1}\n  url: ${port}/\nexports: {port: 80}\n",
        ),
        (
            "classes/all.yml",
            "parameters:\n  port: 8\n  d:\n    all: 1\n",
        ),
    ]);
    let root = directory.path().display();
    let options = format!("ext_pillar: [{{reclass: {{inventory_base_uri: {root}}}}}]");
    let (_, lineage) = explained(&options, &[("top.sls", "base: {}")]);
    let at = |path: &[&str]| history(&lineage, path).replace(&format!("{root}/"), "");
    // The answer of a query is computed at its place, and is in no layer before.
    assert_eq!(at(&["peers"]), "nodes/web1.yml:3:10");
    assert_eq!(at(&["peers", "db"]), "nodes/web1.yml:3:10");
    assert_eq!(at(&["url"]), "classes/web.yml:4:8");
    // A mapping is the first file's that has it, in the order of the merge.
    assert_eq!(at(&["d"]), "classes/all.yml:4:5");
    assert_eq!(at(&["d", "web"]), "classes/web.yml:3:12");
    assert_eq!(at(&["d", "own"]), "nodes/web1.yml:4:12");
    // No file sets what the external pillar adds.
    assert_eq!(at(&["__reclass__", "nodename"]), "master:2:15");
}

/// The strategies by which layers that are known are merged into the pillar.
fn strategies(lineage: &Lineage) -> Vec<String> {
    let known = lineage.layers().iter();
    let known = known.filter(|layer| !matches!(layer.kind, LayerKind::Unknown));
    let merged = known.map(|layer| layer.merged.as_ref());
    merged
        .map(|merged| merged.map_or_else(String::new, |merged| merged.strategy.to_string()))
        .collect()
}

#[test]
fn stacked_files_are_layers_with_the_history_of_their_strategies() {
    let directory = written(&[
        ("stack.cfg", "core.yml\nrole.yml\nhost.yml\nedit.yml\n"),
        (
            "core.yml",
            "port: 80\nlog: low\nusers: [tom]\ndns: [a, b]\ntree:\n  left: 1\n  right: 2\nold: x\n",
        ),
        (
            "role.yml",
            "__: merge-first\nport: 81\nnew: {{ minion_id }}\nusers: [ann]\n",
        ),
        (
            "host.yml",
            "log: high\nusers:\n  - __: merge-first\n  - joe\ndns:\n  - __: overwrite\n  - c\ntree: {__: remove, left: 0}\n",
        ),
        ("edit.yml", "{% do stack.update({'old': 'y'}) %}\nend: 1\n"),
    ]);
    let root = directory.path().display();
    let options = format!("ext_pillar: [{{stack: {root}/stack.cfg}}]");
    let (data, lineage) = explained(&options, &ONE_SLS);
    assert_eq!(
        Value::from(data).repr(),
        "{'port': 80, 'own': 2, 'log': 'high', 'users': ['joe', 'ann', 'tom'], 'dns': ['c'], \
         'tree': {'right': 2}, 'old': 'y', 'new': 'web1', 'end': 1}"
    );
    let at = |path: &[&str]| history(&lineage, path).replace(&format!("{root}/"), "");
    assert_eq!(
        at(&["port"]),
        "core.yml:1:7, role.yml:2:7 rejected, s.sls:1:7 replaced"
    );
    assert_eq!(at(&["log"]), "host.yml:1:6, core.yml:2:6 replaced");
    assert_eq!(at(&["new"]), "role.yml:3:6");
    assert_eq!(at(&["users", "0"]), "host.yml:4:5");
    assert_eq!(at(&["users", "1"]), "role.yml:4:9");
    assert_eq!(at(&["users", "2"]), "core.yml:3:9");
    assert_eq!(at(&["dns", "0"]), "host.yml:7:5, core.yml:4:7 replaced");
    assert_eq!(at(&["tree", "right"]), "core.yml:7:10");
    // A template's change has a place near its file.
    assert_eq!(at(&["old"]), "edit.yml:1:1, core.yml:8:6 replaced");
    assert_eq!(at(&["end"]), "edit.yml:2:6");
    assert_eq!(at(&["own"]), "s.sls:2:6");
    let known = lineage.at(&["log".into()]).unwrap();
    let LayerKind::External {
        name, class, shown, ..
    } = &lineage.layers()[known.layer].kind
    else {
        panic!("{:?}", lineage.layers()[known.layer])
    };
    assert_eq!((&**name, class.as_deref()), ("stack", None));
    // The merges of the stack into the pillar, of its files, and of changes by templates.
    assert_eq!(strategies(&lineage), ["smart"; 6]);
    assert_eq!(shown.as_deref(), Some(&*format!("{root}/host.yml")));
}

#[test]
fn what_an_included_template_prints_is_in_its_file() {
    let files = [
        ("top.sls", "base: {'*': [web]}\n"),
        ("web.sls", "{% include 'lib.jinja' %}\n"),
        ("lib.jinja", "# ports\nport: 80\n"),
    ];
    let directory = written(&files);
    let text = format!("pillar_roots: {{base: ['{}']}}", directory.path().display());
    let config = Config::parse(text.as_bytes(), "master", Kind::Master).unwrap();
    let roots = mapstack::loader::Roots::new().root("base", directory.path());
    let engine = Engine::new(MemoryFiles::new());
    let minion = Minion::new("web1").complete();
    let master = Master::new(config, Arc::new(roots));
    let pillar = master
        .explain(&engine, &minion, &PillarRequest::default())
        .unwrap();
    let lineage = explain_pillar(&pillar, &minion, engine.policy()).unwrap();
    let lib = directory.path().join("lib.jinja");
    assert_eq!(
        history(&lineage, &["port"]),
        format!("{}:2:7", lib.display())
    );
}
