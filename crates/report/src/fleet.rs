//! The results of each minion of many, and how many have which value.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use mapstack::share::Outcome;
use mapstack::value::{Key, Map, Path as KeyPath, Value, json};
use mapstack::{Error, yaml};
use mapstack_fleet::{Report, Tally};
use serde::{Deserialize, Serialize};

use crate::document::{Document, Plain};
use crate::terminal::{printable, printable_json};
use crate::values::{as_json, as_yaml, pick};
#[cfg(feature = "html")]
use crate::yaml_form::flow;
use mapstack::value::is_acting;

/// The format of minions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A line of JSON for each minion and formula.
    Jsonl,
    /// One document: minions, and their formulas in them.
    Json,
    /// The same as YAML.
    Yaml,
    /// Columns, with a tab between them.
    Text,
    /// One page for a browser.
    #[cfg(feature = "html")]
    Html,
}

impl Format {
    /// True if it is a page, which is written at the end.
    fn is_page(self) -> bool {
        match self {
            #[cfg(feature = "html")]
            Format::Html => true,
            _ => false,
        }
    }
}

/// The parts of each minion that are shown.
pub struct FleetForm {
    format: Format,
    what: FleetParts,
    /// True if each minion has a separate document.
    apart: bool,
    formulas: Vec<String>,
    /// The text between a minion and the outcome of each formula, in a line of JSON.
    infixes: Vec<String>,
    /// The facts about each key of the table.
    sought: Vec<SoughtKey>,
}

/// A key that was requested.
#[derive(Default)]
struct SoughtKey {
    found: AtomicBool,
    /// Why the first result has nothing under it.
    missing: OnceLock<MissingKey>,
}

/// A form as data, for another process that is to print alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormDocument {
    /// The format of minions.
    pub format: Format,
    /// True to show how many minions have which value, in place of the values under the keys.
    pub counts: bool,
    /// The keys; none for whole configurations.
    pub keys: Vec<String>,
    /// The formulas of each minion.
    pub formulas: Vec<String>,
}

/// A key that a result does not have.
#[derive(Debug, Clone)]
pub struct MissingKey {
    /// The minion that the result is of.
    pub minion: String,
    /// The index of the formula.
    pub formula: usize,
    /// The error in place of the result. It may name keys that templates made of secrets.
    pub error: Error,
}

impl SoughtKey {
    fn note(&self, data: &Value, key: &str, path: &KeyPath, id: &str, formula: usize) {
        // Threads share this, and reading is cheaper than writing.
        if self.is_found() {
            return;
        }
        if yaml::traverse(data, path).is_some() {
            self.found.store(true, Ordering::Relaxed);
        } else if self.missing.get().is_none()
            && let Err(error) = pick(data, key, path)
        {
            // Another thread may have been first.
            let _ = self.missing.set(MissingKey {
                minion: id.into(),
                formula,
                error,
            });
        }
    }

    fn is_found(&self) -> bool {
        self.found.load(Ordering::Relaxed)
    }
}

/// The parts of each minion that are printed.
pub enum FleetParts {
    /// The configuration.
    Data,
    /// Values under keys.
    Table(Vec<(String, KeyPath)>),
    /// The counts of values under each key.
    Counts(Vec<(String, KeyPath)>),
}

impl FleetParts {
    /// A table of the values under some keys, or how many have which under some; a page has the counts of both. Without
    /// keys, the whole configuration.
    pub fn of(
        table: Vec<(String, KeyPath)>,
        counts: Vec<(String, KeyPath)>,
        format: Option<Format>,
    ) -> Self {
        match (table.is_empty(), counts.is_empty()) {
            (true, true) => FleetParts::Data,
            (false, _) if !format.is_some_and(Format::is_page) => FleetParts::Table(table),
            _ => FleetParts::Counts([table, counts].concat()),
        }
    }

    /// The format if none is given; `apart` is true if each minion has a separate document.
    pub fn usual_format(&self, apart: bool) -> Format {
        match self {
            FleetParts::Data if apart => Format::Yaml,
            FleetParts::Data => Format::Jsonl,
            FleetParts::Table(_) | FleetParts::Counts(_) => Format::Text,
        }
    }

    /// The keys that are looked at, with their paths.
    fn keys(&self) -> &[(String, KeyPath)] {
        match self {
            FleetParts::Data => &[],
            FleetParts::Table(keys) | FleetParts::Counts(keys) => keys,
        }
    }
}

/// One minion, ready to be written.
pub enum ShownMinion {
    /// As a text.
    Text(String),
    /// The value of each formula that has a result.
    Values(Vec<(usize, Option<Value>)>),
}

/// Minions that are named for each value.
const EXAMPLES: usize = 5;

impl FleetForm {
    /// `apart` is true if each minion has a separate document.
    pub fn new(format: Format, what: FleetParts, apart: bool, formulas: Vec<String>) -> Self {
        let infix =
            |formula: &String| format!(", \"formula\": {}, ", json_text(&formula.as_str().into()));
        let infixes = formulas.iter().map(infix).collect();
        let sought = what.keys().iter().map(|_| SoughtKey::default()).collect();
        FleetForm {
            format,
            what,
            apart,
            formulas,
            infixes,
            sought,
        }
    }

    /// The form as data.
    pub fn described(&self) -> FormDocument {
        FormDocument {
            format: self.format,
            counts: matches!(self.what, FleetParts::Counts(_)),
            keys: self
                .what
                .keys()
                .iter()
                .map(|(key, _)| key.clone())
                .collect(),
            formulas: self.formulas.clone(),
        }
    }

    /// An output form, with a record of the keys that results have and the reasons for missing ones.
    pub fn of(described: &FormDocument, known: Vec<(bool, Option<MissingKey>)>) -> Self {
        let path = |key: &String| (key.clone(), key.split(':').map(Key::from).collect());
        let keys: Vec<(String, KeyPath)> = described.keys.iter().map(path).collect();
        let what = match described.counts {
            _ if keys.is_empty() => FleetParts::Data,
            true => FleetParts::Counts(keys),
            false => FleetParts::Table(keys),
        };
        let formulas = described.formulas.clone();
        let mut form = FleetForm::new(described.format, what, false, formulas);
        for (sought, (found, missing)) in form.sought.iter_mut().zip(known) {
            sought.found = found.into();
            sought.missing = missing.map_or_else(OnceLock::new, OnceLock::from);
        }
        form
    }

    /// Of each key, whether a result so far has it, and why the first that lacks it does.
    pub fn known_keys(&self) -> Vec<(bool, Option<MissingKey>)> {
        let known = |sought: &SoughtKey| (sought.is_found(), sought.missing.get().cloned());
        self.sought.iter().map(known).collect()
    }

    /// The keys that were requested and that no result so far has.
    pub fn missing_keys(&self) -> Vec<MissingKey> {
        let missing = |sought: &SoughtKey| match sought.is_found() {
            true => None,
            false => sought.missing.get().cloned(),
        };
        self.sought.iter().filter_map(missing).collect()
    }

    /// True if this is a table of the values under keys.
    pub fn is_table(&self) -> bool {
        matches!(self.what, FleetParts::Table(_))
    }

    /// True if this is a table, and no result so far has any of its keys.
    pub fn is_blank(&self) -> bool {
        self.is_table() && self.missing_keys().len() == self.sought.len()
    }

    /// True if a result so far has any of the keys.
    pub fn has_any_key(&self) -> bool {
        self.sought.iter().any(SoughtKey::is_found)
    }

    /// Note which keys a minion's results have.
    fn note_keys(&self, report: &Report) {
        if self.sought.iter().all(SoughtKey::is_found) {
            return;
        }
        for (formula, outcome) in report.outcomes.iter().flatten().enumerate() {
            let Ok(data) = &outcome.result else { continue };
            for (sought, (key, path)) in self.sought.iter().zip(self.what.keys()) {
                sought.note(data, key, path, &report.id, formula);
            }
        }
    }

    /// The formulas of each minion.
    pub fn formulas(&self) -> impl Iterator<Item = &str> {
        self.formulas.iter().map(String::as_str)
    }

    /// A text as it is printed: escaped by the grammar of its format.
    #[must_use]
    pub fn printed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.format {
            Format::Text => printable(text),
            Format::Jsonl | Format::Json => printable_json(text),
            _ => Cow::Borrowed(text),
        }
    }

    /// The text before the first minion.
    pub fn head(&self) -> String {
        match (&self.what, self.format) {
            (FleetParts::Table(keys), Format::Text) => {
                let one = |formula: &String| {
                    keys.iter()
                        .map(|(key, _)| cell_text(&format!("{formula}:{key}")))
                        .collect()
                };
                let columns: Vec<Vec<String>> = self.formulas.iter().map(one).collect();
                format!("minion\t{}\n", columns.concat().join("\t"))
            }
            _ => String::new(),
        }
    }

    /// One minion.
    pub fn show(&self, report: &Report) -> ShownMinion {
        self.note_keys(report);
        let formulas = &*self.formulas;
        match &self.what {
            FleetParts::Data => ShownMinion::Text(match (self.format, results(formulas, report)) {
                (Format::Jsonl | Format::Text, _) => self.lines(report),
                (_, results) if results.is_empty() => String::new(),
                (Format::Json, results) if self.apart => json_document(&results),
                (Format::Json, results) => json_entry(&below(&report.id, results)),
                (Format::Yaml, results) if self.apart => as_yaml(&results.into()),
                (_, results) => as_yaml(&below(&report.id, results).into()),
            }),
            FleetParts::Table(keys) => ShownMinion::Text(match self.format {
                Format::Text => row(keys, formulas, report),
                _ => self.entries(keys, report),
            }),
            FleetParts::Counts(keys) => {
                let results = report.outcomes.iter().flatten().enumerate();
                let results = results.filter_map(|(formula, outcome)| {
                    Some((formula, outcome.result.as_ref().ok()?))
                });
                let values = results.flat_map(|(formula, data)| {
                    let numbered = keys.iter().enumerate();
                    numbered.map(move |(number, (_, path))| {
                        (formula * keys.len() + number, yaml::traverse(data, path))
                    })
                });
                ShownMinion::Values(values.collect())
            }
        }
    }

    /// The text between the last minion and the next.
    pub fn between(&self, is_first: bool) -> &'static str {
        match (&self.what, self.format) {
            (FleetParts::Data, Format::Json) if is_first => "{\n",
            (FleetParts::Data, Format::Json) => ",\n",
            _ => "",
        }
    }

    /// The text behind the last minion, of which there was none if `is_empty`.
    pub fn tail(&self, tallies: &[Tally], is_empty: bool) -> String {
        match (&self.what, self.format) {
            #[cfg(feature = "html")]
            (FleetParts::Counts(_), Format::Html) => self.page(tallies),
            (FleetParts::Counts(_), format) => self.counts(tallies, format),
            (FleetParts::Data, Format::Json | Format::Yaml) if is_empty => "{}\n".into(),
            (FleetParts::Data, Format::Json) => "\n}\n".into(),
            _ => String::new(),
        }
    }

    /// The formulas with each key.
    fn sought_of_formulas(&self) -> impl Iterator<Item = (&str, &str)> {
        let keys = self.what.keys();
        self.formulas
            .iter()
            .flat_map(move |formula| keys.iter().map(move |(key, _)| (&**formula, &**key)))
    }

    /// The tallies of values, for each key of each formula.
    pub fn tallies(&self) -> Vec<Tally> {
        let examples = match self.format {
            #[cfg(feature = "html")]
            Format::Html => usize::MAX,
            _ => EXAMPLES,
        };
        let sought = self.sought_of_formulas();
        sought.map(|_| Tally::new(examples)).collect()
    }

    /// The page: how many minions have which value, and which.
    #[cfg(feature = "html")]
    fn page(&self, tallies: &[Tally]) -> String {
        use crate::page::{Bar, Chart, ListingPage};
        let chart = |((formula, key), tally): ((&str, &str), &Tally)| {
            let bar = |count: &mapstack_fleet::Count| Bar {
                label: count.value.as_ref().map_or_else(|| "(absent)".into(), flow),
                members: count.minions.clone(),
            };
            Chart {
                title: format!("{formula}:{key}"),
                bars: tally.counts().into_iter().map(bar).collect(),
            }
        };
        let keys: Vec<&str> = self.what.keys().iter().map(|(key, _)| &**key).collect();
        let page = ListingPage {
            verb: "fleet".into(),
            title: keys.join(", "),
            charts: self.sought_of_formulas().zip(tallies).map(chart).collect(),
            ..ListingPage::default()
        };
        // No content makes the template fail.
        page.to_html().unwrap_or_else(|e| e.to_string())
    }

    fn counts(&self, tallies: &[Tally], format: Format) -> String {
        let mut text = String::new();
        for ((formula, key), tally) in self.sought_of_formulas().zip(tallies) {
            if format == Format::Text {
                text.push_str(&format!("{}\n", cell_text(&format!("{formula}:{key}"))));
            }
            for count in tally.counts() {
                let minions = count.minions.join(", ");
                text.push_str(&match format {
                    Format::Text => {
                        let value = count.value.as_ref().map_or_else(|| "(absent)".into(), cell);
                        let more = if count.count > count.minions.len() {
                            ", …"
                        } else {
                            ""
                        };
                        format!("{}\t{value}\t{}{more}\n", count.count, cell_text(&minions))
                    }
                    _ => {
                        let mut line = FleetLine::Count {
                            formula,
                            key,
                            value: count.value.clone().map(Plain),
                            count: count.count,
                            minions: &count.minions,
                            error: None,
                        };
                        line.print()
                    }
                });
            }
        }
        text
    }
}

impl FleetForm {
    /// A line for each formula. What minions share is written once.
    fn lines(&self, report: &Report) -> String {
        let minion = json_text(&report.id.as_str().into());
        match &report.outcomes {
            Err(error) => {
                let mut line = FleetLine::Minion {
                    minion: &report.id,
                    formula: None,
                    key: None,
                    found: Some(FleetResult::error(error)),
                };
                line.print()
            }
            Ok(outcomes) => {
                let rests: Vec<&str> = outcomes
                    .iter()
                    .map(|outcome| outcome.text(rest_of_line))
                    .collect();
                let length =
                    |(infix, rest): (&String, &&str)| minion.len() + infix.len() + rest.len() + 16;
                let mut lines =
                    String::with_capacity(self.infixes.iter().zip(&rests).map(length).sum());
                for (infix, rest) in self.infixes.iter().zip(rests) {
                    lines.extend(["{\"minion\": ", &minion, infix, rest, "}\n"]);
                }
                lines
            }
        }
    }

    /// A line for each formula and key.
    fn entries(&self, keys: &[(String, KeyPath)], report: &Report) -> String {
        let Ok(outcomes) = &report.outcomes else {
            return self.lines(report);
        };
        let mut text = String::new();
        for (formula, outcome) in self.formulas.iter().zip(outcomes) {
            for (key, path) in keys {
                let mut line = FleetLine::Minion {
                    minion: &report.id,
                    formula: Some(formula),
                    key: Some(key),
                    found: match &outcome.result {
                        Ok(data) => yaml::traverse(data, path).map(FleetResult::value),
                        Err(error) => Some(FleetResult::error(error)),
                    },
                };
                text.push_str(&line.print());
            }
        }
        text
    }
}

/// A line about a minion, or about the minions that have a value.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FleetLine<'l> {
    /// Of a minion and a formula; of the minion alone, if its facts cannot be read.
    Minion {
        /// Its id.
        minion: &'l str,
        /// The formula.
        #[serde(skip_serializing_if = "Option::is_none")]
        formula: Option<&'l str>,
        /// The key that was requested.
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<&'l str>,
        /// The value; nothing if the formula has nothing under the key.
        #[serde(flatten)]
        found: Option<FleetResult>,
    },
    /// Of the minions that have a value.
    Count {
        /// The formula.
        formula: &'l str,
        /// The key that was requested.
        key: &'l str,
        /// The value; nothing for the minions that have none.
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<Plain>,
        /// The number of minions that have it.
        count: usize,
        /// The ids of the first of them.
        minions: &'l [String],
        /// Why the value cannot be printed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

/// The result of a minion.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FleetResult {
    /// Its configuration.
    Data {
        /// The data.
        data: Plain,
    },
    /// A value under a key.
    Value {
        /// The value.
        value: Plain,
    },
    /// No result.
    Error {
        /// Why.
        error: String,
    },
}

impl FleetResult {
    fn value(value: Value) -> Self {
        let value = Plain(value);
        FleetResult::Value { value }
    }

    fn error(error: &Error) -> Self {
        let error = error.to_string();
        FleetResult::Error { error }
    }
}

impl FleetLine<'_> {
    /// The line; a value that has no form in JSON is an error in its place.
    fn print(&mut self) -> String {
        self.json_line().unwrap_or_else(|e| {
            let why = e.diagnostic().message.clone();
            match self {
                FleetLine::Minion { found, .. } => *found = Some(FleetResult::Error { error: why }),
                FleetLine::Count { value, error, .. } => (*value, *error) = (None, Some(why)),
            }
            self.json_line().unwrap_or_default()
        })
    }
}

/// The last entry of a line of JSON.
fn rest_of_line(outcome: &Outcome) -> String {
    let options = json::DumpOptions {
        ensure_ascii: false,
        distinct_keys: true,
        shows_others: true,
        ..json::DumpOptions::default()
    };
    let error = match &outcome.result {
        Ok(data) => match json::dumps(data, &options) {
            Ok(text) => return format!("\"data\": {text}"),
            Err(e) => format!("the result has no JSON form: {e}"),
        },
        Err(e) => e.to_string(),
    };
    format!("\"error\": {}", json_text(&error.into()))
}

/// Text as JSON.
fn json_text(text: &Value) -> String {
    let options = json::DumpOptions {
        ensure_ascii: false,
        ..json::DumpOptions::default()
    };
    json::dumps(text, &options).unwrap_or_default()
}

/// A minion's formulas that have a result.
fn results(formulas: &[String], report: &Report) -> Map {
    let outcomes = formulas.iter().zip(report.outcomes.iter().flatten());
    outcomes
        .filter_map(|(formula, outcome)| {
            Some((formula.as_str(), outcome.result.as_ref().ok()?.clone()))
        })
        .collect()
}

fn below(id: &str, results: Map) -> Map {
    Map::from_iter([(id, results)])
}

/// An object; what has no form in JSON is an error in its place.
fn json_document(map: &Map) -> String {
    as_json(&map.clone().into()).unwrap_or_else(|e| {
        let failed = |key: &Key| (key.clone(), Map::from_iter([("error", e.to_string())]));
        as_json(&map.keys().map(failed).collect::<Map>().into()).unwrap_or_default()
    })
}

/// The entry of an object, without its braces.
fn json_entry(map: &Map) -> String {
    let text = json_document(map);
    let inside = text
        .strip_prefix("{\n")
        .and_then(|text| text.strip_suffix("\n}\n"));
    inside.unwrap_or_default().to_owned()
}

fn row(keys: &[(String, KeyPath)], formulas: &[String], report: &Report) -> String {
    let mut cells = vec![cell_text(&report.id)];
    for at in 0..formulas.len() {
        let result = report
            .outcomes
            .as_ref()
            .ok()
            .and_then(|outcomes| outcomes.get(at)?.result.as_ref().ok());
        for (_, path) in keys {
            cells.push(match result {
                None => "(failed)".into(),
                Some(data) => {
                    yaml::traverse(data, path).map_or_else(String::new, |value| cell(&value))
                }
            });
        }
    }
    cells.join("\t") + "\n"
}

/// A value in a cell: text as it is, everything else as JSON, or as Python shows it where JSON cannot express it.
fn cell(value: &Value) -> String {
    match value {
        Value::Str(text) => cell_text(text),
        other => {
            let options = json::DumpOptions {
                ensure_ascii: false,
                ..json::DumpOptions::default()
            };
            cell_text(&json::dumps(other, &options).unwrap_or_else(|_| other.repr()))
        }
    }
}

/// A cell is on one line and has no tab; nothing in it moves a terminal's cursor.
pub fn cell_text(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' => "\\n".into(),
        '\t' => "\\t".into(),
        '\r' => "\\r".into(),
        c if is_acting(c) => "\u{fffd}".into(),
        c => c.to_string(),
    };
    text.chars().map(shown).collect()
}
