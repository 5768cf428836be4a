//! Answer questions in bulk: JSON lines on stdin, one answer a line on stdout.
//!
//! ```text
//! {"op": "yaml", "text": "mode: 0644"}             {"ok": "{'mode': 644}"}
//! {"op": "parse", "definition": "X@os"}            {"error": "…"}
//! ```
//!
//! | `op` | asks for | fields |
//! |---|---|---|
//! | `yaml` | the value of a text | `text` |
//! | `merge` | a merge by a strategy | `base`, `overlay`, `strategy`, `merge_lists` |
//! | `yamlex` | the value of a text whose repeated keys are joined | `text` |
//! | `toml` | the value of a text | `text` |
//! | `version` | the order of two versions of packages | `packages`, `first`, `second` |
//! | `syntax` | the words and the line of a template's syntax error, if it has one | `template` |
//! | `parse` | how a source definition is understood | `definition`, `for_paths` |
//! | `data` | a formula's configuration | `files`, `formula`, `grains`, `pillar`, `opts` |
//! | `pillar` | what a master compiles | `files`, `master`, `minion_id`, `grains`, `saltenv`, `pillarenv`, `override`, `ext` |
//! | `stack`, `makostack` | what an external pillar returns | `files`, `args`, `kwargs`, `minion_id`, `grains`, `pillar`, `opts` |
//!
//! The files of an external pillar are written to `here` in the directory that the argument names; the question and the
//! answer say `<DIR>` for it.
//!
//! Results are written as Python's `repr` writes them, which shows types and the order of keys.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::Path;

use mapstack::loader::MemoryFiles;
use mapstack::matcher::{Definition, MatcherKind, Mode, has_file_suffix};
use mapstack::minion::Minion;
use mapstack::value::{Key, Map, Value, json};
use mapstack::{DataOptions, Engine, yaml};
use mapstack_merge::{Options, merge};
use mapstack_pillar::{Compiler, ExtPillars, StackKind};
use mapstack_salt_jinja::Syntax;

#[path = "../../yaml/tests/common/marked.rs"]
mod marked;
#[path = "../tests/common/whole_pillar.rs"]
mod whole_pillar;

type Answer = Result<Value, String>;

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let (name, text) = match answer(&line?) {
            Ok(value) => ("ok", value.repr()),
            Err(message) => ("error", message),
        };
        let answer: Map = [(name, text)].into_iter().collect();
        let line =
            json::dumps(&answer.into(), &json::DumpOptions::default()).map_err(io::Error::other)?;
        writeln!(out, "{line}")?;
    }
    out.flush()
}

fn answer(line: &str) -> Answer {
    let Ok(Value::Map(question)) = json::loads(line) else {
        return Err(format!("not a JSON object: {line}"));
    };
    match field(&question, "op").as_str() {
        Some("yaml") => yaml::load(&text(&question, "text")).map_err(|e| e.to_string()),
        Some("yamlex") => yamlex(&text(&question, "text")),
        Some("toml") => mapstack_functions::formats::toml::read(&text(&question, "text"))
            .map(|value| marked::marked(&value).into())
            .map_err(|e| e.to_string()),
        Some("version") => Ok(version(&question)),
        Some("merge") => merged(&question),
        Some("parse") => parsed(&question),
        Some("syntax") => Ok(syntax(&text(&question, "template"))),
        Some("data") => data(&question),
        Some("pillar" | "joined" | "external" | "git" | "reclass" | "saltclass" | "stateconf") => whole_pillar(&question),
        Some("stack") => stack(&question, StackKind::PillarStack),
        Some("makostack") => stack(&question, StackKind::MakoStack),
        _ => Err(
            "`op` is not one of yaml, yamlex, toml, version, merge, syntax, parse, data, pillar, joined, external, git, reclass, saltclass, stateconf, stack, makostack"
                .into(),
        ),
    }
}

fn version(question: &Map) -> Value {
    use mapstack_functions::versions::{dpkg, rpm};

    let (first, second) = (text(question, "first"), text(question, "second"));
    let order = match field(question, "packages").as_str() {
        Some("dpkg") => dpkg::compare(&first, &second),
        _ => rpm::compare(&first, &second),
    };
    order.map(|order| order as i64).into()
}

fn yamlex(text: &str) -> Answer {
    let loaded =
        yaml::load_aggregating(text, &yaml::Limits::default()).map_err(|e| e.to_string())?;
    let value = match loaded.value {
        value if value.truthy() => value,
        _ => Value::map(),
    };
    Ok(marked::marked(&value).into())
}

fn merged(question: &Map) -> Answer {
    let options = Options::new(
        &field(question, "strategy"),
        &field(question, "merge_lists"),
    );
    merge(
        field(question, "base"),
        &field(question, "overlay"),
        &options,
    )
    .map_err(|e| e.to_string())
}

fn parsed(question: &Map) -> Answer {
    let mode = if field(question, "for_paths").truthy() {
        Mode::Path
    } else {
        Mode::Layer
    };
    let definition =
        Definition::parse(&text(question, "definition"), mode).map_err(|e| e.to_string())?;
    let matcher = |m: &mapstack::matcher::Matcher| -> Value {
        let options: Value = m.options().iter().map(String::as_str).collect();
        [
            Value::from(m.kind().letter().to_string()),
            m.query().into(),
            options,
            m.delimiter().into(),
        ]
        .into_iter()
        .collect()
    };
    let finished = |m: &mapstack::matcher::Matcher| {
        m.kind() == MatcherKind::Static && has_file_suffix(m.query())
    };
    let matchers: Value = definition.matchers().iter().map(matcher).collect();
    let finished = definition.matchers().last().is_some_and(finished);
    Ok([
        definition.leads_to_files().into(),
        matchers,
        finished.into(),
    ]
    .into_iter()
    .collect())
}

fn syntax(template: &str) -> Value {
    match mapstack_salt_jinja::parse(template, None, &Syntax::default()) {
        Ok(_) => "a template".into(),
        Err(error) => [Value::from(error.message), i64::from(error.line).into()]
            .into_iter()
            .collect(),
    }
}

fn data(question: &Map) -> Answer {
    let files = map(question, "files")
        .iter()
        .fold(MemoryFiles::new(), |files, (path, text)| {
            files.file("base", &path.to_string(), text.to_string())
        });
    let (grains, pillar, opts) = (
        map(question, "grains"),
        map(question, "pillar"),
        map(question, "opts"),
    );
    let minion = Minion {
        grains,
        pillar,
        opts,
        ..Minion::default()
    }
    .complete();
    let engine = Engine::new(files);
    engine
        .run(&minion)
        .data(&text(question, "formula"), &DataOptions::default())
        .map_err(|e| e.to_string())
}

fn stack(question: &Map, kind: StackKind) -> Answer {
    with_files(question, |root| stacked(question, kind, root))
}

fn whole_pillar(question: &Map) -> Answer {
    let mut question = question.clone();
    if let Some(version) = std::env::args().nth(2) {
        question.insert("salt_version", version);
    }
    with_files(&question, |root| {
        whole_pillar::link(&question, root);
        whole_pillar::compiled(&question, root)
    })
}

/// Work with the files of a question in a directory.
fn with_files(question: &Map, work: impl FnOnce(&Path) -> Answer) -> Answer {
    let above = std::env::args_os()
        .nth(1)
        .ok_or("the argument is missing: a directory for files")?;
    let root = Path::new(&above).join("here");
    let shown = root.display().to_string();
    for (name, text) in &map(question, "files") {
        write(
            &root.join(name.to_string()),
            &text.to_string().replace(DIR, &shown),
        )
        .map_err(|e| e.to_string())?;
    }
    let answer = work(&root);
    if root.exists() {
        fs::remove_dir_all(&root).map_err(|e| e.to_string())?;
    }
    answer
}

fn stacked(question: &Map, kind: StackKind, root: &Path) -> Answer {
    let shown = root.display().to_string();
    let tables = map(question, "kwargs");
    let arguments = if tables.is_empty() {
        field(question, "args")
    } else {
        selectors(&tables)?
    };
    let minion = Minion {
        id: field(question, "minion_id"),
        grains: map(question, "grains"),
        pillar: map(question, "pillar"),
        ..Minion::default()
    };
    let pillars = ExtPillars::new().with(kind, put(&arguments, DIR, &shown));
    let pillars = pillars
        .with_opts(map(question, "opts"))
        .with_directory(root.parent().unwrap_or(root));
    let compiled = Compiler::new(pillars)
        .run(&Engine::new(MemoryFiles::new()), &minion)
        .compile();
    let external = compiled
        .map_err(|e| e.to_string().replace(&shown, DIR))?
        .external;
    Ok(put(&external.into(), &shown, DIR))
}

/// Stands for the directory that a tree is in.
const DIR: &str = "<DIR>";

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, text)
}

/// The tables of selectors, which are lists of pairs, as JSON's keys are text.
fn selectors(tables: &Map) -> Answer {
    let pair = |pair: &Value| match pair.as_list() {
        Some([key, paths]) => Ok((
            Key::try_from(key).map_err(|e| e.to_string())?,
            paths.clone(),
        )),
        _ => Err(format!("not a pair: {}", pair.repr())),
    };
    let table = |table: &Value| -> Answer {
        let pairs = table.as_list().unwrap_or_default().iter().map(pair);
        pairs.collect::<Result<Map, String>>().map(Value::Map)
    };
    let tables = tables
        .iter()
        .map(|(selector, pairs)| Ok((selector.clone(), table(pairs)?)));
    tables.collect::<Result<Map, String>>().map(Value::Map)
}

/// A value with one text for another in all its texts.
fn put(value: &Value, old: &str, new: &str) -> Value {
    match value {
        Value::Str(text) => text.replace(old, new).into(),
        Value::List(members) => members.iter().map(|member| put(member, old, new)).collect(),
        Value::Map(map) => {
            let key = |key: &Key| {
                key.as_str()
                    .map_or_else(|| key.clone(), |text| Key::from(text.replace(old, new)))
            };
            Value::Map(
                map.iter()
                    .map(|(name, inner)| (key(name), put(inner, old, new)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

fn field(question: &Map, name: &str) -> Value {
    question.get(name).cloned().unwrap_or_default()
}

fn text(question: &Map, name: &str) -> String {
    field(question, name).to_string()
}

fn map(question: &Map, name: &str) -> Map {
    question
        .get(name)
        .and_then(Value::as_map)
        .cloned()
        .unwrap_or_default()
}
