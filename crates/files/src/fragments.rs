//! States that change part of a file; only that part is known.

use mapstack_value::{Map, Value};

use crate::accumulators::Accumulators;
use crate::arguments::Chunk;
use crate::file::{ManagedFile, ManagedKind};
use crate::managed::{context, known, slot};
use crate::plan::{ContentPlan, FragmentOrder, From, Marks, Template};
use crate::source::FileSource;
use crate::source::served;
use crate::texts::parts;

/// The fragment of a state with this function; nothing if the function makes none.
pub(crate) fn file(
    chunk: Chunk<'_>,
    name: &str,
    accumulators: &Accumulators,
) -> Option<ManagedFile> {
    let text = |name| {
        chunk
            .map
            .get(name)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    let (mut plan, note) = match name {
        "append" | "prepend" => {
            let mut texts = sources(chunk);
            if texts.is_empty() {
                texts = parts(chunk.get("text"))
                    .iter()
                    .map(ContentPlan::bytes)
                    .collect();
            }
            let place = if name == "append" { "end" } else { "beginning" };
            (
                ContentPlan::Texts(texts, FragmentOrder::Lines),
                format!("added at the {place} of the file unless already present"),
            )
        }
        "blockreplace" => (
            block(chunk, accumulators),
            "stands between the two marks".to_owned(),
        ),
        "replace" => (ContentPlan::bytes(text("repl")), replaces(chunk)),
        "line" => (line(chunk), line_note(chunk)),
        "keyvalue" => (
            key_values(chunk),
            "replaces the lines of these keys".to_owned(),
        ),
        "comment" => (
            ContentPlan::bytes(text("regex")),
            format!(
                "lines that match become comments with '{}'",
                chunk.text("char").unwrap_or_else(|| "#".into())
            ),
        ),
        "uncomment" => (
            ContentPlan::bytes(text("regex")),
            "matching lines are uncommented".to_owned(),
        ),
        _ => return None,
    };
    if chunk.path().is_empty() {
        plan = ContentPlan::failed("the name is empty");
    }
    let mut file = ManagedFile::of(chunk, ManagedKind::Fragment, slot(chunk).unwrap_or(plan));
    file.notes.push(note);
    file.template =
        has_source(chunk).then(|| chunk.text("template").unwrap_or_else(|| "jinja".into()));
    if let Some(url) = chunk.text("source").filter(|_| chunk.is_on("source")) {
        file.source = Some(FileSource {
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
fn sources(chunk: Chunk<'_>) -> Vec<ContentPlan> {
    let (source, sources) = (chunk.get("source"), chunk.get("sources"));
    if source.truthy() && sources.truthy() {
        return vec![ContentPlan::failed(
            "'source' and 'sources' exclude each other",
        )];
    }
    let of_url = |value: &Value| match value {
        Value::Str(url) => template(chunk, url),
        _ => ContentPlan::failed("a source is not a URL"),
    };
    match sources {
        _ if source.truthy() => vec![of_url(source)],
        Value::List(urls) => urls.iter().map(of_url).collect(),
        other if other.truthy() => vec![ContentPlan::failed("'sources' is not a list")],
        _ => Vec::new(),
    }
}

fn template(chunk: Chunk<'_>, url: &str) -> ContentPlan {
    let plain = served(url, true);
    if !matches!(plain, ContentPlan::Served(_)) {
        return plain;
    }
    let engine = chunk.text("template").unwrap_or_else(|| "jinja".into());
    if let Err(plan) = known(&engine) {
        return plan;
    }
    ContentPlan::Template(Box::new(Template {
        engine,
        from: From::Url(url.to_owned()),
        shown: String::new(),
        variables: Map::new(),
        context: context(chunk),
        encoding: None,
    }))
}

/// The part of a file that a text replaces.
fn replaces(chunk: Chunk<'_>) -> String {
    let pattern = chunk.text("pattern").unwrap_or_default();
    let mut note = format!("replaces what matches '{pattern}'");
    let added = [
        ("append_if_not_found", "end"),
        ("prepend_if_not_found", "beginning"),
    ];
    if let Some((_, place)) = added.iter().find(|(name, _)| chunk.is_on(name)) {
        let what = match chunk.text("not_found_content") {
            Some(text) => format!("'{text}'"),
            None => "it".to_owned(),
        };
        note.push_str(&format!(
            "; if nothing does, {what} is added at the {place} of the file"
        ));
    }
    note
}

/// The block between its marks, with the texts of accumulators.
fn block(chunk: Chunk<'_>, accumulators: &Accumulators) -> ContentPlan {
    let mut content = match chunk.map.get("content") {
        None => String::new(),
        Some(Value::Str(text)) => text.to_string(),
        Some(_) => return ContentPlan::failed("'content' is not text"),
    };
    let id = chunk.text("__id__").unwrap_or_default();
    for text in accumulators.of_state(&chunk.path(), &id) {
        let Value::Str(text) = text else {
            return ContentPlan::failed("an accumulator holds something other than text");
        };
        if !content.is_empty() {
            content.push('\n');
        }
        content.push_str(&text);
    }
    let mut texts = vec![ContentPlan::bytes(content)];
    texts.append(&mut sources(chunk));
    let mark = |name, default: &str| chunk.text(name).unwrap_or_else(|| default.into());
    let newline = chunk.get("append_newline");
    ContentPlan::Texts(
        texts,
        FragmentOrder::Between(Marks {
            start: mark("marker_start", "#-- start managed zone --"),
            end: mark("marker_end", "#-- end managed zone --"),
            newline: (!newline.is_none()).then(|| newline.truthy()),
        }),
    )
}

/// The line that gets into a file, or that is taken out of it.
fn line(chunk: Chunk<'_>) -> ContentPlan {
    let is_given = |name: &str| !chunk.get(name).is_none();
    let is_near = is_given("before") || is_given("after");
    let content = chunk.get("content");
    let mode = chunk.text("mode").unwrap_or_default().to_lowercase();
    let wrong = match &*mode {
        "" => "'mode' is missing",
        "insert" | "ensure" | "replace" if content.is_none() => "'content' is missing",
        _ if !matches!(content, Value::Str(_) | Value::None) => "'content' is not text",
        "insert" if !is_near && !is_given("location") => {
            "the mode 'insert' needs 'location', 'before' or 'after'"
        }
        "ensure" if !is_near => "the mode 'ensure' needs 'before' or 'after'",
        "insert" | "ensure" | "replace" | "delete" => "",
        _ => return ContentPlan::failed(format!("unknown mode '{mode}'")),
    };
    if !wrong.is_empty() {
        return ContentPlan::failed(wrong);
    }
    let content = chunk.text("content").unwrap_or_default();
    let text = match &*mode {
        "delete" if chunk.is_on("match") => chunk.text("match").unwrap_or_default(),
        "delete" => content,
        mode => match indentation(chunk, mode) {
            Some(blanks) => format!("{blanks}{}", content.trim_start()),
            None => content,
        },
    };
    ContentPlan::Texts(vec![ContentPlan::bytes(text)], FragmentOrder::Lines)
}

/// The blanks before a line, if the pattern of the line beside it says them.
fn indentation(chunk: Chunk<'_>, mode: &str) -> Option<String> {
    let beside = match mode {
        "replace" => chunk.text("match"),
        _ if chunk.is_on("location") => None,
        "insert" => chunk.text("after").or_else(|| chunk.text("before")),
        _ => chunk.text("after"),
    };
    let beside = beside.filter(|_| is_indented(chunk))?;
    let pattern = beside.strip_prefix('^').unwrap_or(&beside);
    let rest = pattern.trim_start_matches([' ', '\t']);
    let blanks = &pattern[..pattern.len() - rest.len()];
    let is_start = pattern.len() < beside.len() && rest.starts_with(char::is_alphanumeric);
    (!blanks.is_empty() || is_start).then(|| blanks.to_owned())
}

/// True if a line is indented as the one beside it.
fn is_indented(chunk: Chunk<'_>) -> bool {
    let location = chunk.text("location").unwrap_or_default();
    chunk.is_not_off("indent") && location != "start"
}

/// The way in which a line gets into a file.
fn line_note(chunk: Chunk<'_>) -> String {
    let mode = chunk.text("mode").unwrap_or_default();
    let near = ["match", "before", "after", "location"].into_iter();
    let near = near.filter_map(|name| Some(format!("{name} '{}'", chunk.text(name)?)));
    let mut all: Vec<String> = std::iter::once(format!("the mode is '{mode}'"))
        .chain(near)
        .collect();
    if mode.to_lowercase() != "delete" && is_indented(chunk) {
        all.push("indented as the line beside it".to_owned());
    }
    all.join(", ")
}

/// The lines of keys and values.
fn key_values(chunk: Chunk<'_>) -> ContentPlan {
    let separator = match chunk.map.get("separator") {
        None => "=".into(),
        Some(Value::Str(text)) if !text.is_empty() => text.clone(),
        Some(_) => return ContentPlan::failed("'separator' is empty or not text"),
    };
    let line = |key: &str, value: &Value| format!("{key}{separator}{value}\n");
    let lines: String = match (
        chunk.text("key"),
        chunk.get("value"),
        chunk.get("key_values"),
    ) {
        (Some(_), value, Value::Map(_)) if !value.is_none() => {
            return ContentPlan::failed("'key_values' and 'key' with 'value' exclude each other");
        }
        (Some(key), value, _) if !value.is_none() => line(&key, value),
        (_, _, Value::Map(all)) if all.keys().any(|key| key.as_str().is_none()) => {
            return ContentPlan::failed("a key of 'key_values' is not text");
        }
        (_, _, Value::Map(all)) if !all.is_empty() => all
            .iter()
            .map(|(key, value)| line(&key.to_string(), value))
            .collect(),
        _ => {
            return ContentPlan::failed("there is neither a 'key' with a 'value' nor 'key_values'");
        }
    };
    ContentPlan::bytes(lines)
}
