//! Explaining a run does not change its result, and each reported place contains the value.

use std::path::Path;

use crate::common::{map, minion, records};
use mapstack::loader::{MemoryFiles, Roots};
use mapstack::minion::{FactPlace, Minion, Part};
use mapstack::value::{Key, Map, Value};
use mapstack::{DataOptions, Engine, Place, yaml};
use mapstack_lineage::{Ancestry, Explain, HistoryStep, LayerKind, Lineage, ValuePosition};

/// True if the text at a place parses as the scalar: plain, quoted, or as a block.
fn stands_there(place: &Place, value: &Value) -> bool {
    let rest = &place.source[place.start..];
    let line = rest.lines().next().unwrap_or_default();
    let reads_as = |text: &str| yaml::load(text).is_ok_and(|found| found.is_same(value));
    let ends = line
        .char_indices()
        .filter(|(_, c)| matches!(c, ',' | ']' | '}' | ':' | ' '))
        .map(|(at, _)| at);
    if ends.chain([line.len()]).any(|end| reads_as(&line[..end])) {
        return true;
    }
    // For scalars of several lines, parse the whole file and compare the value at the place.
    let Ok((whole, marks)) = yaml::load_marked(&place.source, &yaml::Limits::default()) else {
        return (1..=rest.lines().count())
            .any(|n| reads_as(&rest.lines().take(n).collect::<Vec<_>>().join("\n")));
    };
    let wanted = yaml::Mark {
        line: u32::try_from(place.line()).unwrap(),
        column: u32::try_from(place.column()).unwrap(),
    };
    fn found(value: &Value, marks: &yaml::Marks, wanted: yaml::Mark, scalar: &Value) -> bool {
        if marks.mark() == wanted && value.is_same(scalar) {
            return true;
        }
        let inside: Vec<&Value> = match value {
            Value::Map(map) => map.values().collect(),
            Value::List(items) => items.iter().collect(),
            _ => return false,
        };
        inside.iter().enumerate().any(|(i, value)| {
            marks
                .child(i)
                .is_some_and(|marks| found(value, marks, wanted, scalar))
        })
    }
    found(&whole, &marks, wanted, value)
}

fn is_scalar(value: &Value) -> bool {
    !matches!(
        value,
        Value::Map(_) | Value::List(_) | Value::Tuple(_) | Value::Set(_)
    )
}

/// Counts of the scalars of some data by their origin.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    /// Scalars in files without template marks.
    plain: usize,
    /// Literal scalars in templates.
    literal: usize,
    items: usize,
    keys: usize,
    computed: usize,
    facts: usize,
    /// Facts and their keys whose places were checked.
    fact_places: usize,
    arguments: usize,
    minion: Option<String>,
}

impl Tally {
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of origin")]
    fn add(&mut self, path: &[Key], known: &Ancestry, minion: &Minion) {
        if !is_scalar(&known.value) {
            return;
        }
        match &known.spot {
            ValuePosition::File {
                place,
                computed: true,
                ..
            } => {
                let rest = &place.source[place.start..];
                let is_computing = ["{{", "{%"].iter().any(|mark| rest.starts_with(mark));
                // Templates in Python and of other engines may have the whole file as their place.
                let is_whole =
                    place.source.starts_with("#!") && (place.start == 0 || rest.starts_with("${"));
                assert!(
                    is_computing || is_whole,
                    "{path:?}: nothing is computed at {place}"
                );
                self.computed += 1;
            }
            ValuePosition::File { place, .. } => {
                assert!(
                    stands_there(place, &known.value),
                    "{path:?}: {} is not at {place}",
                    known.value.repr()
                );
                let is_plain = !["{{", "{%", "{#", "#!"]
                    .iter()
                    .any(|mark| place.source.contains(mark));
                *(if is_plain {
                    &mut self.plain
                } else {
                    &mut self.literal
                }) += 1;
                self.items +=
                    usize::from(path.last().is_some_and(|step| matches!(step, Key::Int(_))));
            }
            ValuePosition::Fact {
                part: Some(part),
                path: inside,
                place,
                ..
            } => {
                let facts = match part.name() {
                    "opts" => Value::from(minion.options()),
                    _ => Value::from(minion.part(*part).clone()),
                };
                let there = yaml::traverse(&facts, &inside.iter().cloned().collect());
                assert_eq!(
                    there.map(|v| v.repr()),
                    Some(known.value.repr()),
                    "{path:?}: {part} {inside:?}"
                );
                self.facts += 1;
                self.go_to(place.as_ref(), &known.value, path);
            }
            ValuePosition::Fact { part: None, .. } => self.facts += 1,
            ValuePosition::Argument => self.arguments += 1,
            ValuePosition::Unknown => panic!("a layer whose place is not known"),
        }
        if let Some(ValuePosition::File {
            place,
            computed: false,
            ..
        }) = &known.key
        {
            let key = path.last().unwrap().to_value();
            assert!(
                stands_there(place, &key),
                "{path:?}: the key {} is not at {place}",
                key.repr()
            );
            self.keys += 1;
        }
        if let Some(ValuePosition::Fact {
            part: Some(_),
            place,
            ..
        }) = &known.key
        {
            self.go_to(place.as_ref(), &path.last().unwrap().to_value(), path);
        }
    }

    /// Check the place of a fact, if it is in a file.
    fn go_to(&mut self, place: Option<&FactPlace>, value: &Value, path: &[Key]) {
        let Some(FactPlace::File(spot)) = place else {
            return;
        };
        let Some(mark) = spot.mark else { return };
        let text = self
            .minion
            .clone()
            .unwrap_or_else(|| std::fs::read_to_string(&spot.file).unwrap());
        let line: usize = text
            .split_inclusive('\n')
            .take(mark.line as usize - 1)
            .map(str::len)
            .sum();
        let column = text[line..]
            .char_indices()
            .nth(mark.column as usize - 1)
            .map_or(0, |(at, _)| at);
        let start = line + column;
        let place = Place {
            file: spot.file.clone(),
            source: text.into(),
            start,
            end: start,
        };
        assert!(
            stands_there(&place, value),
            "{path:?}: the fact {} is not at {spot}",
            value.repr()
        );
        self.fact_places += 1;
    }

    /// `text` is the text that the minion was parsed from, if it is not from a file.
    fn of(lineage: &Lineage, minion: &Minion, text: Option<String>) -> Self {
        let mut tally = Tally {
            minion: text,
            ..Tally::default()
        };
        lineage.visit(&mut |path, known| tally.add(path, known, minion));
        tally
    }
}

#[test]
fn explaining_changes_nothing_and_every_scalar_is_at_its_reported_place() {
    let (mut runs, mut all) = (0, Tally::default());
    for record in records(include_str!("../../mapstack/tests/data/map_scenarios.json")) {
        let arguments = record
            .get("args")
            .and_then(Value::as_list)
            .unwrap_or_default();
        let is_data = record.get("function").and_then(Value::as_str) == Some("map.data");
        let Some(formula) = arguments.first().filter(|_| is_data) else {
            continue;
        };
        let Ok(options) = DataOptions::from_kwargs(&map(&record, "kwargs")) else {
            continue;
        };
        let files = map(&record, "files");
        let files = || {
            let add = |files: MemoryFiles, (path, text): (&Key, &Value)| {
                files.file("base", &path.to_string(), text.to_string())
            };
            Engine::new(files.iter().fold(MemoryFiles::new(), add))
        };
        let (minion, text) = written(minion(&record));
        let (plain, formula) = (
            files().run(&minion).data(&formula.to_string(), &options),
            formula.to_string(),
        );
        let explained = files().run(&minion).explain(&formula, &options);
        match (plain, explained) {
            (Ok(plain), Ok((data, lineage))) => {
                assert_eq!(plain.repr(), data.repr(), "{:?}", record.get("name"));
                let tally = Tally::of(&lineage, &minion, text);
                all.plain += tally.plain;
                all.literal += tally.literal;
                all.items += tally.items;
                all.keys += tally.keys;
                all.computed += tally.computed;
                all.facts += tally.facts;
                all.fact_places += tally.fact_places;
                runs += 1;
            }
            (Err(plain), Err(explained)) => assert_eq!(plain.to_string(), explained.to_string()),
            (plain, explained) => panic!(
                "{:?}: {plain:?} {:?}",
                record.get("name"),
                explained.map(|(data, _)| data)
            ),
        }
    }
    // The places of all these were checked, in plain files and templates.
    assert!(
        runs > 70 && all.plain > 250 && all.literal > 2 && all.computed > 30,
        "{runs} {all:?}"
    );
    assert!(
        all.items > 70 && all.keys > 150 && all.fact_places > 0,
        "{runs} {all:?}"
    );
}

/// The minion as parsed from a text, with the text; without a text if YAML cannot represent it.
fn written(minion: Minion) -> (Minion, Option<String>) {
    let parts = [Part::Grains, Part::Pillar, Part::Opts]
        .map(|part| (part.name(), minion.part(part).clone()));
    let mut document: Map = parts.into_iter().collect();
    document.insert("id", minion.id.clone());
    let text = yaml::dump(&document.into(), &yaml::DumpOptions::output());
    let same = |read: &Minion| {
        read.id.is_same(&minion.id)
            && [Part::Grains, Part::Pillar, Part::Opts].iter().all(|part| {
                Value::from(read.part(*part).clone()).repr()
                    == Value::from(minion.part(*part).clone()).repr()
            })
    };
    match Minion::parse(text.as_bytes(), "<minion>") {
        Ok(read) if same(&read) => (read.complete(), Some(text)),
        _ => (minion, None),
    }
}

#[test]
fn every_scalar_of_the_examples_has_a_place() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples");
    let files = Roots::new()
        .root("base", examples.join("site"))
        .root("base", examples.join("formulas"));
    let engine = Engine::new(files);
    for (name, expected) in [("web1", 0), ("db1", 0), ("bsd1", 0)] {
        let minion = Minion::from_path(examples.join(format!("minions/{name}.yaml"))).unwrap();
        let (_, lineage) = engine
            .run(&minion)
            .explain("users", &DataOptions::default())
            .unwrap();
        let mut without = Vec::new();
        lineage.visit(&mut |path, known| {
            let own = path
                .first()
                .is_some_and(|key| key.as_str() != Some("map_jinja"));
            if own && is_scalar(&known.value) && known.spot == ValuePosition::Argument {
                without.push(path.to_vec());
            }
        });
        assert_eq!(without.len(), expected, "{name}: {without:?}");
        let tally = Tally::of(&lineage, &minion, None);
        assert!(
            tally.plain > 20 && tally.items > 5 && tally.fact_places > 3,
            "{name}: {tally:?}"
        );
    }
}

#[test]
fn every_kind_of_fact_is_found_in_its_file() {
    let text = "id: m\ngrains:\n  f: &f {a: 1, 'b c': \"x\\ty\", l: [0644, 1:30, {k: yes}]}\n  1: one\npillar:\n  f:\n    \
                a: 2\n    folded: >-\n      of two\n      lines\n    long: on\n      two lines\n    none:\n    7: [[a], []]\n  \
                other: *f\n  list:\n  - a: {b: 1.5}\nopts:\n  f: {ü: 'it''s', é: ~}\n";
    let minion = Minion::parse(text.as_bytes(), "<minion>")
        .unwrap()
        .complete();
    let sources = ["G@f", "I@f", "I:SUB@other", "I:SUB@list", "C:SUB@f"];
    let options = DataOptions {
        sources: Some(sources.into_iter().collect()),
        ..DataOptions::default()
    };
    let engine = Engine::new(MemoryFiles::new());
    let (_, lineage) = engine.run(&minion).explain("f", &options).unwrap();
    let tally = Tally::of(&lineage, &minion, Some(text.into()));
    assert!(tally.facts > 15 && tally.fact_places > 25, "{tally:?}");
}

/// The origin of a value in a formula with these files.
fn explain(files: &[(&str, &str)], path: &[&str]) -> (Lineage, Ancestry) {
    let files = files
        .iter()
        .fold(MemoryFiles::new(), |files, (path, text)| {
            files.file("base", path, *text)
        });
    let minion = Minion::parse(
        b"id: web1\ngrains: {os: Debian, os_family: Debian}\npillar: {f: {c: 9}}\n",
        "<m>",
    )
    .unwrap();
    let engine = Engine::new(files);
    let (_, lineage) = engine
        .run(&minion.complete())
        .explain("f", &DataOptions::default())
        .unwrap();
    let path: Vec<Key> = path
        .iter()
        .map(|step| {
            step.parse::<i64>()
                .map_or_else(|_| Key::from(*step), Key::from)
        })
        .collect();
    let known = lineage.at(&path).unwrap();
    (lineage, known)
}

/// The place of a value, followed by its history: how each earlier value ended, and its place.
fn history(files: &[(&str, &str)], path: &[&str]) -> Vec<String> {
    let (_, known) = explain(files, path);
    let past = known
        .past
        .iter()
        .rev()
        .map(|past| format!("{:?} {} {}", past.how, past.value.repr(), past.spot));
    std::iter::once(format!("{} {}", known.value.repr(), known.spot))
        .chain(past)
        .collect()
}

const FILES: &[(&str, &str)] = &[
    (
        "f/parameters/map_jinja.yaml",
        "values:\n  sources: [Y!G@os_family, Y!G@os, C@f]\n",
    ),
    (
        "f/parameters/defaults.yaml",
        "values:\n  a: 1\n  l: [x, y]\n  m:\n    p: 1\n    q: {r: 2}\n  c: 3\n",
    ),
    (
        "f/parameters/os_family/Debian.yaml",
        "merge_lists: true\nvalues:\n  a: 2\n  l: [z]\n  m: {q: {r: 3, s: 4}}\n",
    ),
    (
        "f/parameters/os/Debian.yaml",
        "values:\n  a: {{ 1 + 2 }}\n  m: 7\n",
    ),
    (
        "f/post-map.jinja",
        "{% do mapdata.l.append('w') %}\n{% do mapdata.update({'n': 5}) %}\n",
    ),
];

#[test]
fn overrides_are_reported_from_the_last_to_the_first() {
    let debian = "f/parameters/os_family/Debian.yaml";
    let expected = [
        "3 f/parameters/os/Debian.yaml:2:6".to_string(),
        format!("Replaced 2 {debian}:3:6"),
        "Replaced 1 f/parameters/defaults.yaml:2:6".into(),
    ];
    assert_eq!(history(FILES, &["a"]), expected);
    assert_eq!(
        history(FILES, &["c"]),
        [
            "9 pillar:f:c (<m>:3:17)",
            "Replaced 3 f/parameters/defaults.yaml:7:6"
        ]
    );
    let (lineage, known) = explain(FILES, &["m"]);
    assert_eq!((known.value.repr(), known.past.len()), ("7".into(), 1));
    let LayerKind::File { path, .. } = &lineage.layers()[known.layer].kind else {
        panic!("a file")
    };
    assert_eq!(
        (&**path, known.past[0].how),
        ("f/parameters/os/Debian.yaml", HistoryStep::Replaced)
    );
    assert_eq!(lineage.layers()[known.layer].because[0].matcher, "G@os");
}

#[test]
fn each_item_of_a_list_has_its_own_place() {
    assert_eq!(
        history(FILES, &["l", "0"]),
        ["'x' f/parameters/defaults.yaml:3:7"]
    );
    assert_eq!(
        history(FILES, &["l", "2"]),
        ["'z' f/parameters/os_family/Debian.yaml:4:7"]
    );
    assert_eq!(history(FILES, &["l", "3"]), ["'w' f/post-map.jinja:1:1"]);
    assert_eq!(history(FILES, &["n"]), ["5 f/post-map.jinja:2:1"]);
}

#[test]
fn entries_of_a_replaced_mapping_are_in_the_history_of_the_same_entries() {
    let files = [
        ("f/parameters/defaults.yaml", "values:\n  m: {p: 1}\n"),
        (
            "f/parameters/os/Debian.yaml",
            "strategy: overwrite\nvalues:\n  m: {p: 2}\n",
        ),
    ];
    let expected = [
        "2 f/parameters/os/Debian.yaml:3:10",
        "Replaced 1 f/parameters/defaults.yaml:2:10",
    ];
    assert_eq!(history(&files, &["m", "p"]), expected);
}

#[test]
fn sources_from_the_data_itself_and_nested_calls_have_their_own_places() {
    let files = [
        (
            "f/parameters/map_jinja.yaml",
            "values:\n  sources: [M@n, Y!G@os]\n",
        ),
        (
            "f/parameters/defaults.yaml",
            "values:\n  n: {port: 10}\n  l: [a]\n",
        ),
        (
            "f/parameters/os/Debian.yaml",
            "values:\n  b: {{ salt['map.data']('b').p }}\n  l: [c]\n",
        ),
        (
            "f/post-map.jinja",
            "{% set other = salt['map.data']('b') %}\n{% do mapdata.l.append(other.p) %}\n",
        ),
        ("b/parameters/defaults.yaml", "values:\n  p: 5\n  l: [b]\n"),
        ("b/post-map.jinja", "{% do mapdata.l.append('of b') %}"),
    ];
    assert_eq!(
        history(&files, &["port"]),
        ["10 f/parameters/defaults.yaml:2:13"]
    );
    assert_eq!(
        history(&files, &["b"]),
        ["5 f/parameters/os/Debian.yaml:2:6"]
    );
    let expected = [
        "'c' f/parameters/os/Debian.yaml:3:7",
        "Replaced 'a' f/parameters/defaults.yaml:3:7",
    ];
    assert_eq!(history(&files, &["l", "0"]), expected);
    assert_eq!(history(&files, &["l", "1"]), ["5 f/post-map.jinja:2:1"]);
    let past: Vec<String> = history(&files, &["l"]);
    assert!(past.iter().all(|line| !line.contains("b/")), "{past:?}");
    let (lineage, known) = explain(&files, &["b"]);
    assert_eq!(
        lineage.layers()[known.layer].definition.as_deref(),
        Some("Y!G@os")
    );
}

#[test]
fn a_loop_that_changes_the_data_is_one_edit() {
    let template = "{% for i in range(3000) %}{% do mapdata.l.append(i) %}{% endfor %}";
    let files = [
        ("f/parameters/defaults.yaml", "values: {l: []}"),
        ("f/post-map.jinja", template),
    ];
    let (_, known) = explain(&files, &["l"]);
    assert!(known.past.len() <= 2, "{}", known.past.len());
    let (_, last) = explain(&files, &["l", "2999"]);
    assert_eq!(
        (last.value.repr(), last.spot.to_string()),
        ("2999".into(), "f/post-map.jinja:1:27".into())
    );
}

#[test]
fn explaining_looks_up_nothing_that_the_run_does_not() {
    let files = MemoryFiles::new().file(
        "base",
        "f/parameters/map_jinja.yaml",
        "values: {config_get_strategy: bogus, sources: ['I@absent|C@x']}",
    );
    let minion = Minion::parse(b"id: m\n", "m").unwrap().complete();
    let engine = Engine::new(files);
    let (plain, explained) = (engine.run(&minion), engine.run(&minion));
    plain.data("f", &DataOptions::default()).unwrap();
    explained.explain("f", &DataOptions::default()).unwrap();
    assert_eq!(plain.warnings(), explained.warnings());
}

#[test]
fn a_post_map_template_that_calls_its_own_formula_is_stopped() {
    let files = MemoryFiles::new()
        .file("base", "f/parameters/defaults.yaml", "values: {}")
        .file(
            "base",
            "f/post-map.jinja",
            "{% do mapdata.update({'x': salt['map.data']('f')}) %}",
        );
    let engine = Engine::new(files);
    let error = engine
        .run(&Minion::new("m").complete())
        .data("f", &DataOptions::default())
        .unwrap_err();
    assert!(
        error.to_string().contains("more than 32 levels deep"),
        "{error}"
    );
}
