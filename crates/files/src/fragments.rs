//! States that change part of a file; only that part is known.

use mapstack_value::{Map, Value};

use crate::accumulators::Accumulators;
use crate::arguments::Chunk;
use crate::file::{Kind, ManagedFile};
use crate::managed::{context, known, slot};
use crate::plan::{From, Joined, Plan, Template};
use crate::source::Source;
use crate::source::served;
use crate::texts::parts;

/// The fragment of a state with this function; nothing if the function makes none.
pub(crate) fn file(
    chunk: Chunk<'_>,
    (name, accumulators): (&str, &Accumulators),
) -> Option<ManagedFile> {
    let text = |name| chunk.text(name).unwrap_or_default();
    let (plan, note) = match name {
        "append" | "prepend" => {
            let mut texts = sources(chunk);
            if texts.is_empty() {
                texts = parts(chunk.get("text")).iter().map(Plan::bytes).collect();
            }
            let place = if name == "append" { "end" } else { "beginning" };
            (
                Plan::Texts(texts, Joined::Lines),
                format!("added at the {place} of the file unless already present"),
            )
        }
        "blockreplace" => (
            block(chunk, accumulators),
            "stands between the two marks".to_owned(),
        ),
        "replace" => (
            Plan::bytes(text("repl")),
            format!("replaces what matches '{}'", text("pattern")),
        ),
        "line" => (
            Plan::Texts(vec![Plan::bytes(text("content"))], Joined::Lines),
            line(chunk),
        ),
        "keyvalue" => (
            key_values(chunk),
            "replaces the lines of these keys".to_owned(),
        ),
        "comment" => (
            Plan::bytes(text("regex")),
            format!(
                "lines that match become comments with '{}'",
                chunk.text("char").unwrap_or_else(|| "#".into())
            ),
        ),
        "uncomment" => (
            Plan::bytes(text("regex")),
            "matching lines are uncommented".to_owned(),
        ),
        _ => return None,
    };
    let mut file = ManagedFile::of(chunk, Kind::Fragment, slot(chunk).unwrap_or(plan));
    file.notes.push(note);
    file.template =
        has_source(chunk).then(|| chunk.text("template").unwrap_or_else(|| "jinja".into()));
    if let Some(url) = chunk.text("source").filter(|_| chunk.is_on("source")) {
        file.source = Some(Source {
            url: Some(url),
            candidates: Vec::new(),
        });
    }
    Some(file)
}

fn has_source(chunk: Chunk<'_>) -> bool {
    chunk.is_on("source") || chunk.is_on("sources")
}

/// The texts of `source` or of `sources`, each a template (Salt: `_get_template_texts`).
fn sources(chunk: Chunk<'_>) -> Vec<Plan> {
    let given = [chunk.get("source"), chunk.get("sources")];
    if given.iter().all(|value| value.truthy()) {
        return vec![Plan::failed("'source' and 'sources' exclude each other")];
    }
    let urls = given
        .into_iter()
        .filter(|value| value.truthy())
        .flat_map(parts);
    urls.map(|url| template(chunk, &url)).collect()
}

fn template(chunk: Chunk<'_>, url: &str) -> Plan {
    let plain = served(url, true);
    if !matches!(plain, Plan::Served(_)) {
        return plain;
    }
    let engine = chunk.text("template").unwrap_or_else(|| "jinja".into());
    if let Err(plan) = known(&engine) {
        return plan;
    }
    Plan::Template(Box::new(Template {
        engine,
        from: From::Url(url.to_owned()),
        shown: String::new(),
        variables: Map::new(),
        context: context(chunk),
        encoding: None,
    }))
}

/// The block between its marks, with the texts of accumulators.
fn block(chunk: Chunk<'_>, accumulators: &Accumulators) -> Plan {
    let mut content = chunk.text("content").unwrap_or_default();
    let id = chunk.text("__id__").unwrap_or_default();
    for text in accumulators.of_state(&chunk.path(), &id) {
        if !content.is_empty() {
            content.push('\n');
        }
        content.push_str(&text.to_string());
    }
    let mut texts = vec![Plan::bytes(content)];
    texts.append(&mut sources(chunk));
    let mark = |name, default: &str| chunk.text(name).unwrap_or_else(|| default.into());
    let start = mark("marker_start", "#-- start managed zone --");
    let end = mark("marker_end", "#-- end managed zone --");
    Plan::Texts(texts, Joined::Between(start, end))
}

/// The way in which a line gets into a file.
fn line(chunk: Chunk<'_>) -> String {
    let mode = chunk.text("mode").unwrap_or_default();
    let near = ["match", "before", "after", "location"].into_iter();
    let near = near.filter_map(|name| Some(format!("{name} '{}'", chunk.text(name)?)));
    let all: Vec<String> = std::iter::once(format!("the mode is '{mode}'"))
        .chain(near)
        .collect();
    all.join(", ")
}

/// The lines of keys and values.
fn key_values(chunk: Chunk<'_>) -> Plan {
    let separator = chunk.text("separator").unwrap_or_else(|| "=".into());
    let line = |key: &str, value: &Value| format!("{key}{separator}{value}\n");
    let lines: String = match (
        chunk.text("key"),
        chunk.get("value"),
        chunk.get("key_values"),
    ) {
        (Some(_), value, Value::Map(_)) if !value.is_none() => {
            return Plan::failed("'key_values' and 'key' with 'value' exclude each other");
        }
        (Some(key), value, _) if !value.is_none() => line(&key, value),
        (_, _, Value::Map(all)) if !all.is_empty() => all
            .iter()
            .map(|(key, value)| line(&key.to_string(), value))
            .collect(),
        _ => return Plan::failed("there is neither a 'key' with a 'value' nor 'key_values'"),
    };
    Plan::bytes(lines)
}
