//! `file.accumulated`: texts that states before a file give its template.

use mapstack_value::{Map, Value};

use crate::arguments::Chunk;
use crate::file::{ManagedFile, ManagedKind};
use crate::plan::{ContentPlan, FragmentOrder};

/// The texts for each file, by the name of the accumulator.
#[derive(Default)]
pub(crate) struct Accumulators {
    files: Vec<(String, Vec<Accumulator>)>,
}

struct Accumulator {
    name: String,
    texts: Vec<Value>,
    /// The states that it is for.
    states: Vec<String>,
}

impl Accumulators {
    /// Take the texts of a state.
    pub fn add(&mut self, chunk: Chunk<'_>) -> ManagedFile {
        let path = chunk.text("filename").unwrap_or_default();
        let mut file = ManagedFile::of(chunk, ManagedKind::Fragment, ContentPlan::Nothing);
        let name = std::mem::replace(&mut file.path, path.clone());
        let states = states(chunk);
        let text = chunk.get("text");
        let is_iterable = matches!(
            text,
            Value::Str(_) | Value::Map(_) | Value::List(_) | Value::Tuple(_)
        );
        let wrong = match &states {
            _ if name.is_empty() => Some("the name is empty"),
            _ if text.is_none() => Some("'text' is missing"),
            _ if !is_iterable => Some("'text' is neither a text nor a list of some"),
            None => Some(
                "no state of the file is in 'require_in' or 'watch_in', so that Salt refuses it",
            ),
            Some(_) => None,
        };
        if let Some(wrong) = wrong {
            file.plan = ContentPlan::failed(wrong);
            return file;
        }
        let texts = match text {
            Value::List(texts) => texts.to_vec(),
            Value::Tuple(texts) => texts.to_vec(),
            one => vec![one.clone()],
        };
        let parts = texts
            .iter()
            .map(|text| ContentPlan::bytes(text.to_string()));
        file.plan = ContentPlan::Texts(parts.collect(), FragmentOrder::Lines);
        file.notes
            .push(format!("goes to the accumulator '{name}' of the file"));
        let known = self.of(&path, &name);
        known.states.extend(states.into_iter().flatten());
        for text in texts {
            if !known.texts.contains(&text) {
                known.texts.push(text);
            }
        }
        file
    }

    fn of(&mut self, path: &str, name: &str) -> &mut Accumulator {
        let at = self.files.iter().position(|(known, _)| known == path);
        let at = at.unwrap_or_else(|| {
            self.files.push((path.to_owned(), Vec::new()));
            self.files.len() - 1
        });
        let accumulators = &mut self.files[at].1;
        let at = accumulators.iter().position(|known| known.name == name);
        let at = at.unwrap_or_else(|| {
            accumulators.push(Accumulator {
                name: name.to_owned(),
                texts: Vec::new(),
                states: Vec::new(),
            });
            accumulators.len() - 1
        });
        &mut accumulators[at]
    }

    fn found(&self, path: &str) -> Option<&[Accumulator]> {
        let found = self.files.iter().find(|(known, _)| known == path);
        found.map(|(_, accumulators)| &accumulators[..])
    }

    /// The variable `accumulator` of a file's template.
    pub fn texts(&self, path: &str) -> Option<Value> {
        let entry = |one: &Accumulator| (one.name.clone(), Value::from(one.texts.clone()));
        let texts: Map = self.found(path)?.iter().map(entry).collect();
        Some(texts.into())
    }

    /// The texts for a state: of the accumulators that name it, or of all if none does.
    pub fn of_state(&self, path: &str, id: &str) -> Vec<Value> {
        let all = self.found(path).unwrap_or_default();
        let is_named = |one: &&Accumulator| one.states.iter().any(|state| state == id);
        let named: Vec<&Accumulator> = all.iter().filter(is_named).collect();
        let counted = match named.is_empty() {
            true => all.iter().collect(),
            false => named,
        };
        counted
            .iter()
            .flat_map(|one| one.texts.iter().cloned())
            .collect()
    }
}

/// The file states that a state names in `require_in` or `watch_in`; `None` if it names none.
fn states(chunk: Chunk<'_>) -> Option<Vec<String>> {
    let lists = ["require_in", "watch_in"];
    let lists = lists.iter().filter_map(|name| chunk.get(name).as_list());
    let entries: Vec<&Value> = lists.flatten().collect();
    let is_of_file = |entry: &&Value| match entry {
        Value::Map(entry) => entry.contains_key("file"),
        Value::Str(entry) => entry.contains("file"),
        _ => false,
    };
    entries.iter().copied().find(is_of_file)?;
    let names = entries.iter().flat_map(|entry| match entry {
        Value::Map(entry) => entry.values().map(ToString::to_string).collect(),
        _ => Vec::new(),
    });
    Some(names.collect())
}
