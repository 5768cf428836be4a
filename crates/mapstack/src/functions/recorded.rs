//! Compares function calls in templates with the recorded results of the reference.

use mapstack_loader::MemoryFiles;
use mapstack_minion::Minion;
use mapstack_render::jinja::{Names, render, request};
use mapstack_value::{Map, Value, json};

use crate::engine::{Engine, Run};
use crate::host::RunHost;

/// Templates whose results differ deliberately, with the reason.
const DIFFERENT: &[(&str, &str)] = &[
    ("{{ [salt['config.get']('role', omit_master=u)] }}", OMITTED),
    (
        "{{ [salt['config.option']('txt', omit_grains=u)] }}",
        OMITTED,
    ),
    (
        "{{ [salt['config.option']('txt', omit_pillar=u)] }}",
        OMITTED,
    ),
    (
        "{{ [salt['config.option']('txt', omit_master=u)] }}",
        OMITTED,
    ),
    (
        "{% set r = salt['map.data']('f', post_map_template=u) %}ok",
        OF_MAP,
    ),
    (
        "{% set r = salt['map.data']('f', custom_data=u) %}ok",
        OF_MAP,
    ),
    (
        "{% set r = salt['map.stack']('f', ['defaults.yaml'], default_merge_lists=u) %}ok",
        OF_MAP,
    ),
    (
        "{% set r = salt['map.stack']('f', ['defaults.yaml'], config_get_strategy=u) %}ok",
        OF_MAP,
    ),
    (
        "{{ [salt['slsutil.serialize']('yaml', {'a': {'b': [1, {'c': 1}]}}, indent=4, default_flow_style=false)] }}",
        YAML_OPTIONS,
    ),
    (
        "{{ [salt['slsutil.serialize']('yaml', {'a': 1}, explicit_start=true)] }}",
        YAML_OPTIONS,
    ),
    (
        "{{ [salt['cp.hash_file']('nosuch')] }}",
        "files of the machine are not read, so none is looked for",
    ),
    ("{{ [salt['random.hash']('x', 'sha3_256')] }}", HASHES),
    ("{{ [salt['random.hash']('x', 'blake2b')] }}", HASHES),
    (
        "{{ [salt['state.sls_exists']('broken')] }}",
        "a state exists where its file does, whatever is in it",
    ),
    ("{{ [salt.keys() is iterable] }}", KEYS),
    ("{{ ['grains.get' in salt.keys()] }}", KEYS),
    ("{{ [salt.items() is iterable] }}", KEYS),
    (
        "{% do grains.update(fresh='yes') %}{{ salt['grains.get']('fresh') }}{{ salt['match.grain']('fresh:yes') }}{{ 'fresh' in salt['grains.ls']() }}",
        GRAINS,
    ),
];

/// The reference recorded these with a loader whose options have separate grains. In a state run they are the grains
/// of the template, as recorded in `tests/data/state_runs.json`.
const GRAINS: &str = "in a state run matchers see the grains that the template changed";

const OMITTED: &str = "what is left out is settled before anything is looked at";
const OF_MAP: &str = "an undefined argument is refused before anything is read";
const YAML_OPTIONS: &str = "the layout of YAML has four options here";
const HASHES: &str = "MD5, SHA-1 and SHA-2 are built in";
const KEYS: &str = "a template cannot list the functions there are, only ask for one";

/// Render the template of a record with the variables of a run. Returns the text, or the message of the error.
fn rendered(run: &Run<'_>, template: &str) -> Result<String, Box<mapstack_render::Error>> {
    let host = RunHost::new(run);
    let mut request = request(template, &host);
    let variables = [
        ("salt", run.live.salt.clone()),
        ("grains", run.live.grains.clone()),
        ("pillar", run.live.pillar.clone()),
        ("opts", run.live_opts()),
        ("saltenv", "base".into()),
    ];
    request.variables = variables
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect::<Names>();
    request.fuel = Some(&run.fuel);
    render(request).map(|rendered| rendered.text)
}

fn map(recorded: &Map, key: &str) -> Map {
    recorded
        .get(key)
        .and_then(Value::as_map)
        .cloned()
        .unwrap_or_default()
}

/// The first two words of a message, which show the class of the error ("Jinja variable", "Problem running").
fn class(message: &str) -> Vec<&str> {
    message.split(' ').take(2).collect()
}

fn check(engine: &Engine, minion: &Minion, record: &Map) -> Result<(), String> {
    let template = record.get("template").and_then(Value::as_str).unwrap();
    let run = engine.run(minion);
    match (
        rendered(&run, template),
        record.get("output"),
        record.get("message"),
    ) {
        (Ok(got), Some(wanted), _) if wanted.as_str() == Some(&got) => Ok(()),
        (Ok(got), Some(wanted), _) => Err(format!("got    {got}\n  wanted {wanted}")),
        (Ok(got), None, message) => Err(format!("got    {got}\n  wanted {message:?}")),
        (Err(e), Some(wanted), _) => Err(format!("got    {e}\n  wanted {wanted}")),
        (Err(e), None, Some(message)) => {
            let (got, wanted) = (e.to_string(), message.to_string());
            // Our messages have other words, and report an undefined variable where Python reports a consequence.
            let same = class(&wanted) == class(&got) || class(&got) == ["Jinja", "variable"];
            if same {
                Ok(())
            } else {
                Err(format!("got    {got}\n  wanted {wanted}"))
            }
        }
        (Err(e), None, None) => Err(format!("no record, got {e}")),
    }
}

#[test]
fn every_recorded_call_is_repeated() {
    let recorded = json::loads(include_str!("../../tests/data/functions.json")).unwrap();
    let recorded = recorded.as_map().unwrap();
    let files = map(recorded, "files")
        .iter()
        .fold(MemoryFiles::new(), |files, (path, text)| {
            files.file("base", &path.to_string(), text.as_str().unwrap())
        });
    let engine = Engine::new(files);
    let minion = Minion {
        grains: map(recorded, "grains"),
        pillar: map(recorded, "pillar"),
        opts: map(recorded, "opts"),
        ..Minion::default()
    }
    .complete();
    let cases = recorded.get("cases").and_then(Value::as_list).unwrap();
    assert!(cases.len() > 1000);
    let mut problems = Vec::new();
    for case in cases {
        let case = case.as_map().unwrap();
        let template = case.get("template").unwrap().to_string();
        let expected = DIFFERENT.iter().any(|(known, _)| *known == template);
        match check(&engine, &minion, case) {
            Ok(()) if expected => {
                problems.push(format!("{template}: is equal now; strike it from the list"));
            }
            Err(problem) if !expected => problems.push(format!("{template}\n  {problem}")),
            _ => {}
        }
    }
    assert!(
        problems.is_empty(),
        "{} of {} differ:\n{}",
        problems.len(),
        cases.len(),
        problems.join("\n")
    );
}
