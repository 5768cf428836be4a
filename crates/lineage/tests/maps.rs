//! Small formulas that compute their configuration in `map.jinja`, in the style of public ones: a directory for each
//! idiom, with the origins of all values in `expected.txt`.
//!
//! `SNAPSHOTS=overwrite cargo test --workspace --test all maps` writes the expected origins again.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Key, Value};
use mapstack::{Configuration, DataOptions, Engine};
use mapstack_lineage::{Explain, HistoryStep, Lineage, ValuePosition};
use mapstack_salt_jinja::Limits;

fn cases() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps");
    let entries = fs::read_dir(directory).unwrap();
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

fn explained(case: &Path, engine: &Engine) -> (Value, Lineage) {
    let facts = case.join("minion.yaml");
    let text = fs::read(&facts).unwrap();
    let minion = Minion::parse(&text, "minion.yaml").unwrap().complete();
    let configuration = Configuration::of(engine, "f", "base", DataOptions::default()).unwrap();
    let run = engine.run(&minion);
    run.explain_configuration(&configuration)
        .unwrap_or_else(|e| panic!("{}: {e}", case.display()))
}

fn is_branch(value: &Value) -> bool {
    match value {
        Value::Map(map) => !map.is_empty(),
        Value::List(items) => !items.is_empty(),
        _ => false,
    }
}

fn shown(spot: &ValuePosition) -> String {
    let text = spot.to_string();
    match spot {
        ValuePosition::File { computed: true, .. } => format!("{text} (computed)"),
        _ => text,
    }
}

fn how(how: HistoryStep) -> String {
    format!("{how:?}").to_lowercase()
}

/// All leaves with their origins, and the layers.
fn described(lineage: &Lineage) -> String {
    let mut text = String::new();
    for (number, layer) in lineage.layers().iter().enumerate() {
        let kind = format!("{:?}", layer.kind);
        let because = layer.because.iter();
        let because: Vec<String> = because
            .map(|because| format!("{} = {}", because.matcher, because.found.repr()))
            .collect();
        writeln!(text, "layer {number}: {kind} {}", because.join(", ")).unwrap();
    }
    lineage.visit(&mut |path, known| {
        if is_branch(&known.value) {
            return;
        }
        let path: Vec<String> = path.iter().map(Key::to_string).collect();
        let origin = shown(&known.spot);
        let value = known.value.repr();
        writeln!(
            text,
            "{} = {value}  {origin}, layer {}",
            path.join(":"),
            known.layer
        )
        .unwrap();
        for input in &known.inputs {
            writeln!(text, "    from {}", shown(input)).unwrap();
        }
        for past in known.past.iter().rev() {
            let (value, origin) = (past.value.repr(), shown(&past.spot));
            writeln!(
                text,
                "    {value}  {origin}, {} by layer {}",
                how(past.how),
                past.by
            )
            .unwrap();
        }
    });
    text
}

#[test]
fn each_idiom_has_the_expected_origins() {
    let mut wrong = Vec::new();
    for case in cases() {
        let (_, lineage) = explained(&case, &engine(&files(&case)));
        let (file, text) = (case.join("expected.txt"), described(&lineage));
        if std::env::var("SNAPSHOTS").is_ok_and(|how| how == "overwrite") {
            fs::write(&file, &text).unwrap();
        }
        if fs::read_to_string(&file).unwrap_or_default() != text {
            wrong.push(format!("{}:\n{text}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The files of a case with their paths on the file server.
fn files(case: &Path) -> Vec<(String, String)> {
    fn walk(directory: &Path, prefix: &str, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{prefix}{}", path.file_name().unwrap().to_string_lossy());
            match path.is_dir() {
                true => walk(&path, &format!("{name}/"), found),
                false => found.push((name, fs::read_to_string(&path).unwrap())),
            }
        }
    }
    let mut found = Vec::new();
    walk(case, "", &mut found);
    found
}

fn engine(files: &[(String, String)]) -> Engine {
    let served = files
        .iter()
        .fold(MemoryFiles::new(), |served, (path, text)| {
            served.file("base", path, text)
        });
    Engine::new(served)
}

/// The counterfactual: change a text at its reported place, and the value is the changed text.
#[test]
fn a_value_follows_its_literal() {
    let mut checked = 0;
    for case in cases() {
        let all = files(&case);
        let (_, lineage) = explained(&case, &engine(&all));
        let mut literals = Vec::new();
        lineage.visit(&mut |path, known| {
            if let (
                Value::Str(text),
                ValuePosition::File {
                    place,
                    computed: false,
                    ..
                },
            ) = (&known.value, &known.spot)
            {
                literals.push((path.to_vec(), text.to_string(), place.clone()));
            }
        });
        for (path, text, place) in literals {
            let mut changed = all.clone();
            let file = place.file.trim_start_matches("salt://");
            let (_, source) = changed.iter_mut().find(|(path, _)| path == file).unwrap();
            let rest = &source[place.start..];
            // A text that a template continues is not there as a whole.
            if rest.lines().next().is_some_and(|line| line.contains("{{")) {
                continue;
            }
            let Some(at) = rest.find(&*text).filter(|at| *at <= 1) else {
                panic!("{}: {text:?} is not at {place}", case.display());
            };
            let end = place.start + at + text.len();
            source.insert(end, 'X');
            let (data, _) = explained(&case, &engine(&changed));
            let value = path.iter().try_fold(&data, |value, step| match value {
                Value::Map(map) => map.get(step),
                Value::List(items) => items.get(step.to_string().parse::<usize>().ok()?),
                _ => None,
            });
            let changed = Value::from(format!("{text}X"));
            assert_eq!(
                value,
                Some(&changed),
                "{}: {path:?} at {place}",
                case.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 80, "only {checked} literals were changed");
}

/// The configuration of a map, explained within this many steps, and the warnings about it.
fn explained_within(map: &str, fuel: u64) -> (Value, Vec<String>) {
    let files = MemoryFiles::new().file("base", "f/map.jinja", map);
    let engine = Engine::new(files).with_limits(Limits {
        fuel,
        ..Limits::default()
    });
    let minion = Minion::parse(b"id: m", "m").unwrap().complete();
    let configuration = Configuration::of(&engine, "f", "base", DataOptions::default()).unwrap();
    let run = engine.run(&minion);
    let (data, _) = run.explain_configuration(&configuration).unwrap();
    let warnings = run.warnings().into_iter();
    (data, warnings.map(|warning| warning.message).collect())
}

#[test]
fn following_a_loop_costs_as_much_for_each_round() {
    let filled = "{% set big = {} %}{% for i in range(N) %}\
                  {% do big.update({'k%d' % i: {'name': 'n%d' % i}}) %}{% endfor %}";
    let loops = [
        "{% set f = {} %}{% for i in range(N) %}{% do f.update({'k%d' % i: {'v': i}}) %}{% endfor %}",
        "{% set f = [] %}{% for i in range(N) %}{% do f.append({'v': i}) %}{% endfor %}{% set f = {'a': f} %}",
        &format!(
            "{filled}{{% set f = {{'names': []}} %}}{{% for k in big %}}{{% do f.names.append(big[k].name) %}}{{% endfor %}}"
        ),
        &format!(
            "{filled}{{% set f = {{}} %}}{{% for k, v in big.items() %}}{{% do f.update({{k: v}}) %}}{{% endfor %}}"
        ),
    ];
    for map in loops {
        for rounds in [250, 500, 1000, 2000, 4000] {
            let map = map.replace('N', &rounds.to_string());
            let (_, warnings) = explained_within(&map, 500 + 400 * rounds);
            assert_eq!(warnings, [""; 0], "{rounds} rounds of {map}");
        }
    }
}

#[test]
fn a_value_that_doubles_and_is_not_part_of_the_result_is_not_followed() {
    let doubled = "{% set ns = namespace(x=[1]) %}{% for j in range(100) %}\
                   {% set ns.x = {'a': ns.x, 'b': ns.x} %}{% endfor %}{% set f = {'ok': 1} %}";
    let (data, warnings) = explained_within(doubled, 1 << 20);
    assert_eq!((data.repr().as_str(), warnings.len()), ("{'ok': 1}", 0));
}

#[test]
fn following_ends_with_the_steps_for_it_and_says_so() {
    let doubled = "{% set ns = namespace(x=[1]) %}{% for j in range(18) %}\
                   {% set ns.x = {'a': ns.x, 'b': ns.x} %}{% endfor %}\
                   {% set f = {'x': ns.x} %}{% do f.update({'x': 2}) %}";
    let (data, warnings) = explained_within(doubled, 50_000_000);
    assert_eq!(data.repr(), "{'x': 2}");
    assert_eq!(
        warnings,
        [
            "the values of the formula 'f' could not be followed: its values have more than 2000000 origins"
        ]
    );
}
