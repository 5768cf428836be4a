//! The states and managed files that a formula gives a minion, as data.

use std::sync::Arc;

use mapstack::minion::Minion;
use mapstack::value::{Key, Map, Value};
use mapstack::{Engine, Error, ErrorKind};
use mapstack_files::{Content, FileOfMinion, SharedFiles};
use mapstack_states::{Gatherer, TopOptions};

use crate::subject::Actual;

/// True for parts of low data that say what a state is, or that only the other states decide.
fn is_internal(key: &Key) -> bool {
    let is_one =
        |key: &str| matches!(key, "state" | "fun" | "name" | "order") || key.starts_with("__");
    key.as_str().is_some_and(is_one)
}

/// The states and files of some sls; without any those of the formula itself.
pub(crate) fn actual(
    engine: &Engine,
    saltenv: &str,
    formula: &str,
    sls: &[String],
    minion: &Minion,
) -> Actual {
    let gatherer = Gatherer::new(engine, TopOptions::default()).keeping_low();
    let own = [formula.replace('/', ".")];
    let names = match sls {
        [] => &own[..],
        names => names,
    };
    let minion = engine.with_tree_grains(minion);
    let compiled = gatherer.compiled_sls(&minion, saltenv, names);
    let rendered = compiled.sls.iter().map(|sls| &sls.rendered);
    let mut made = Actual {
        result: Ok(Value::None),
        warnings: rendered.flat_map(|one| one.warnings.clone()).collect(),
        secret_texts: Vec::new(),
    };
    if let Some(error) = compiled.errors.first() {
        made.result = Err(error.clone());
        return made;
    }
    let files = SharedFiles::new(engine).of(&minion, &compiled);
    for file in &files {
        let texts = file.made.secret_texts.iter().cloned();
        made.secret_texts.extend(texts);
    }
    let data = [
        ("states", states(&compiled.low)),
        ("files", all_files(&files)),
    ];
    made.result = Ok(data.into_iter().collect::<Map>().into());
    made
}

/// The formula has states that can be compared.
///
/// # Errors
/// It has no sls of its own name.
pub(crate) fn check(engine: &Engine, saltenv: &str, formula: &str) -> Result<(), Error> {
    let gatherer = Gatherer::new(engine, TopOptions::default());
    let name = formula.replace('/', ".");
    match gatherer.path(saltenv, &name) {
        Some(_) => Ok(()),
        None => Err(Error::new(
            ErrorKind::File,
            format!("saltenv {saltenv} has no sls '{name}'"),
        )
        .help("name others in the document before the data, as in `sls: [web.server]`")),
    }
}

/// A name that no entry has yet.
fn free(map: &Map, name: &str) -> String {
    let mut numbers = 2..;
    let mut own = name.to_owned();
    while map.contains_key(&Key::from(&*own)) {
        own = format!("{name} ({})", numbers.next().unwrap_or(0));
    }
    own
}

/// The states by sls, ID and function, each with the one that runs before it.
fn states(low: &[Value]) -> Value {
    let mut all = Map::new();
    let mut before: Option<String> = None;
    for chunk in low.iter().filter_map(Value::as_map) {
        let text = |name: &str| chunk.get(name).map(ToString::to_string).unwrap_or_default();
        let function = format!("{}.{}", text("state"), text("fun"));
        let (sls, id) = (text("__sls__"), text("__id__"));
        let name = free(&all, &format!("{sls} {function} {id}"));
        let arguments = chunk.iter().filter(|(key, _)| !is_internal(key));
        let mut state = Map::new();
        state.insert("name", text("name"));
        if let Some(before) = before.replace(name.clone()) {
            state.insert("after", before);
        }
        state.extend(arguments.map(|(key, value)| (key.clone(), value.clone())));
        all.insert(Key::from(name), Value::Map(state));
    }
    all.into()
}

/// The bytes of a file, so that a person can review them: the lines of a text that ends in a line break.
fn written(bytes: &Arc<[u8]>) -> (&'static str, Value) {
    match std::str::from_utf8(bytes) {
        Ok(text) => match text.strip_suffix('\n') {
            Some(lines) => ("lines", lines.split('\n').collect()),
            None => ("text", text.into()),
        },
        Err(_) => ("bytes", Value::Bytes(Arc::clone(bytes))),
    }
}

/// The files by path: what is made, and the bytes or why they are not known.
fn all_files(files: &[FileOfMinion]) -> Value {
    let mut all = Map::new();
    for one in files {
        let file = &one.file;
        let mut entry = Map::new();
        entry.insert("kind", file.kind.name());
        let attributes = file.attributes.entries().into_iter();
        entry.extend(attributes.filter(|(_, value)| !value.is_none()));
        match &one.made.content {
            Content::Nothing => {}
            Content::Bytes(bytes) => {
                let (name, value) = written(bytes);
                entry.insert(name, value);
            }
            Content::Unknown(unknown) => {
                let why = format!("{}: {}", unknown.reason.described(), unknown.why);
                entry.insert("unknown", why);
            }
            Content::Failed(error) => {
                entry.insert("fails", error.diagnostic().message.clone());
            }
        }
        all.insert(Key::from(free(&all, &file.path)), Value::Map(entry));
    }
    all.into()
}
