//! Compares function calls in templates with the recorded results of the reference.

use std::collections::HashMap;
use std::sync::Arc;

use crate::common::{assert_repeated, map, minion};
use crate::serving::Intercepted;
use mapstack::loader::{Fetched, MemoryFiles};
use mapstack::value::{Map, Value, json};
use mapstack::{Engine, Error, ErrorKind, TemplateOptions};

/// Templates whose results differ deliberately, with the reason.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "{{ [salt['slsutil.deserialize']('yaml', 'a: 2020-01-01\\n')] }}",
        "data has no dates",
    ),
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
const HASHES: &str = "MD5, SHA-1 and SHA-2 are built in";
const KEYS: &str = "a template cannot list the functions there are, only ask for one";

/// The path of the template of a record.
fn path(at: usize) -> String {
    format!("recorded_{at}.jinja")
}

/// The first two words of a message, which show the class of the error ("Jinja variable", "Problem running").
fn class(message: &str) -> Vec<&str> {
    message.split(' ').take(2).collect()
}

/// Check that an error is of the reference's class and of the kind that belongs to it, and at a place in the template that
/// was called. The records have no places of their own.
fn same_error(error: &Error, wanted: &str, path: &str) -> Result<(), String> {
    let diagnostic = error.diagnostic();
    let got = &*diagnostic.message;
    let problem = |what: &str| Err(format!("{what}: got    {got}\n  wanted {wanted}"));
    let is_undefined = class(got) == ["Jinja", "variable"];
    if is_undefined != (error.kind() == ErrorKind::Undefined)
        || !is_undefined && error.kind() != ErrorKind::Template
    {
        return problem(&format!("a kind {:?}", error.kind()));
    }
    // If something undefined has a consequence in Python, our error names what is undefined.
    let is_consequence = is_undefined && class(wanted) != ["Jinja", "variable"];
    if !is_consequence && class(wanted) != class(got) {
        return problem("another class");
    }
    let Some(place) = &diagnostic.place else {
        return problem("without a place");
    };
    let is_call = place.file == path && place.start < place.end;
    match is_call || LOADED.contains(&&*place.file) {
        true => Ok(()),
        false => problem(&format!("at {place}")),
    }
}

/// Files that templates load, and in which their error is.
const LOADED: [&str; 1] = ["bad/defaults.yaml"];

fn check(got: Result<String, Error>, record: &Map, path: &str) -> Result<(), String> {
    match (got, record.get("output"), record.get("message")) {
        (Ok(got), Some(wanted), _) if wanted.as_str() == Some(&got) => Ok(()),
        (Ok(got), Some(wanted), _) => Err(format!("got    {got}\n  wanted {wanted}")),
        (Ok(got), None, message) => Err(format!("got    {got}\n  wanted {message:?}")),
        (Err(e), Some(wanted), _) => Err(format!("got    {e}\n  wanted {wanted}")),
        (Err(e), None, Some(message)) => same_error(&e, &message.to_string(), path),
        (Err(e), None, None) => Err(format!("no record, got {e}")),
    }
}

#[test]
fn every_recorded_call_is_repeated() {
    let recorded = json::loads(include_str!("data/functions.json")).unwrap();
    let recorded = recorded.as_map().unwrap();
    let cases = recorded.get("cases").and_then(Value::as_list).unwrap();
    // A record goes by the name of its template.
    let named = |(at, case): (usize, &Value)| {
        let mut case = case.as_map().unwrap().clone();
        let template = case.get("template").unwrap().clone();
        case.insert("name", template);
        case.insert("path", path(at));
        case
    };
    let cases: Vec<Map> = cases.iter().enumerate().map(named).collect();
    let files = map(recorded, "files")
        .iter()
        .fold(MemoryFiles::new(), |files, (path, text)| {
            files.file("base", &path.to_string(), text.as_str().unwrap())
        });
    // The templates are served and not listed: some of them list all files.
    let templates: HashMap<String, Arc<[u8]>> = cases
        .iter()
        .map(|case| {
            let [path, template] =
                ["path", "template"].map(|key| case.get(key).unwrap().to_string());
            (path, template.into_bytes().into())
        })
        .collect();
    let engine = Engine::new(Intercepted::new(files, move |path| {
        let bytes = templates.get(&path.to_string())?.clone();
        let on_disk = path.to_string().into();
        Some(Ok(Fetched::Found { on_disk, bytes }))
    }));
    let minion = minion(recorded);
    assert_repeated(&cases, DIFFERENT, |case| {
        let path = case.get("path").unwrap().to_string();
        let options = TemplateOptions::default();
        check(engine.run(&minion).template(&path, &options), case, &path)
    });
}
