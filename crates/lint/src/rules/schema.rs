//! Values against a JSON Schema: every layer's, and the merged ones of every minion.

use std::collections::BTreeMap;

use crate::schema::{Schema, SchemaError, Violation};
use mapstack::secrets::Secrets;
use mapstack::value::{Key, Map, Value};
use mapstack::yaml::{self, Limits, Marks};
use mapstack::{Means, Place};
use mapstack_lineage::{Lineage, ValuePosition};

use super::failures::on;
use crate::Rule;
use crate::document::{Document, SourceFile};
use crate::finding::Finding;
use crate::subject::{ExaminedMinion, FormulaSubject};

/// Check a formula by a schema.
pub(crate) fn check(subject: &FormulaSubject<'_>, file: &SourceFile) -> Vec<Finding> {
    let schema = match read_schema(file) {
        Ok(schema) => schema,
        Err(finding) => return vec![*finding],
    };
    let mut found = Violations::new(file, subject.secrets, "the configuration");
    for document in subject.layers() {
        layer(&mut found, &schema, document);
    }
    for run in &subject.runs {
        of_run(&mut found, &schema, run);
    }
    found.finish(subject.runs.len())
}

/// The message about a schema in a program that cannot check it.
#[must_use]
pub fn not_checked() -> String {
    let feature = Means::Feature("json-schema");
    format!(
        "JSON Schemas are not checked by this build: packages check them, and so does a build with {feature}"
    )
}

/// Read a file with a schema.
///
/// # Errors
/// The file is not a schema: the finding says why.
///
/// ```
/// use mapstack_lint::{SourceFile, read_schema};
/// let file = SourceFile::new("schema.yaml", "schema.yaml", "type: int\n");
/// let finding = read_schema(&file).unwrap_err();
/// assert!(finding.to_string().starts_with("schema.yaml:1:7: error: this is not a JSON Schema"));
/// ```
pub fn read_schema(file: &SourceFile) -> Result<Schema, Box<Finding>> {
    if !crate::schema::CHECKS {
        return Err(Box::new(Finding::new(
            Rule::Schema,
            file.place(0, 0),
            not_checked(),
        )));
    }
    let (value, marks) = match yaml::load_marked(&file.text, &Limits::default()) {
        Ok(loaded) => loaded,
        Err(error) => {
            // Tabs may indent JSON.
            if let Ok(value) = mapstack::value::json::loads(&file.text) {
                (value, Marks::default())
            } else {
                let at = error.mark().map_or(0, |mark| mark.offset(&file.text));
                return Err(Box::new(Finding::new(
                    Rule::Schema,
                    file.place(at, at),
                    error.kind().to_string(),
                )));
            }
        }
    };
    Schema::of_value(&value).map_err(|error| Box::new(no_schema(file, &value, &marks, &error)))
}

fn no_schema(file: &SourceFile, value: &Value, marks: &Marks, error: &SchemaError) -> Finding {
    let mut here = Some((value, marks));
    let mut mark = marks.mark();
    for step in &error.at {
        here = here.and_then(|(value, marks)| inside(value, marks, step));
        mark = here.map_or(mark, |(_, marks)| marks.mark());
    }
    let at = mark.offset(&file.text);
    Finding::new(
        Rule::Schema,
        file.place(at, at),
        format!("this is not a JSON Schema: {}", error.message),
    )
}

fn inside<'v>(value: &'v Value, marks: &'v Marks, step: &str) -> Option<(&'v Value, &'v Marks)> {
    let index = match value {
        Value::Map(map) => map.keys().position(|key| key.to_string() == step)?,
        _ => step.parse().ok()?,
    };
    let value = match value {
        Value::Map(map) => map.entry_at(index)?.1,
        Value::List(items) => items.get(index)?,
        _ => return None,
    };
    Some((value, marks.child(index)?))
}

fn layer(found: &mut Violations<'_>, schema: &Schema, document: &Document) {
    let Some((values, marks)) = document.at(&["values"]) else {
        return;
    };
    for violation in schema
        .check(values)
        .into_iter()
        .filter(|violation| !violation.needs_whole)
    {
        let path = full(&violation);
        let mark = path
            .iter()
            .try_fold((values, marks), |(value, marks), key| {
                inside(value, marks, &key.to_string())
            });
        let Some((_, marks)) = mark else { continue };
        let (place, _) = document.content.place(marks.mark(), 0);
        found.add(&violation, place, None);
    }
}

fn of_run(found: &mut Violations<'_>, schema: &Schema, run: &ExaminedMinion<'_>) {
    let Some((Value::Map(data), lineage)) = run.data() else {
        return;
    };
    let values: Map = data
        .iter()
        .filter(|(key, _)| key.as_str() != Some("map_jinja"))
        .map(own)
        .collect();
    for violation in schema.check(&values.into()) {
        let id = run.minion.id.to_string();
        match origin(lineage, &violation) {
            Some(place) => found.add(&violation, place, Some(id)),
            None => found.add_nowhere(&violation, id),
        }
    }
}

/// The violations of a schema: findings by place and message, with the minions they are about.
pub struct Violations<'f> {
    /// The schema's file.
    file: &'f SourceFile,
    secrets: &'f Secrets,
    /// The name of the whole.
    whole: &'static str,
    findings: BTreeMap<(String, usize, String), (Finding, Vec<String>)>,
}

impl<'f> Violations<'f> {
    /// None so far, of the schema in a file. `whole` is what the data is called.
    #[must_use]
    pub fn new(file: &'f SourceFile, secrets: &'f Secrets, whole: &'static str) -> Self {
        Violations {
            file,
            secrets,
            whole,
            findings: BTreeMap::new(),
        }
    }

    /// Add a violation of the value at a place, on a minion or on all.
    pub fn add(&mut self, violation: &Violation, place: Place, minion: Option<String>) {
        let path = full(violation);
        let is_secret = self.secrets.hide(&path, false, &Value::from("text"));
        let message = if is_secret {
            &violation.masked
        } else {
            &violation.message
        };
        let keys = violation
            .path
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(":");
        let at = if keys.is_empty() {
            self.whole.to_owned()
        } else {
            format!("'{keys}'")
        };
        let message = format!("{at}: {message}");
        let key = (place.file.clone(), place.start, message.clone());
        let help = format!("see the schema in {}", self.file.shown);
        let finding = || {
            (
                Finding::new(Rule::Schema, place, message).help(help),
                vec![],
            )
        };
        let known = self.findings.entry(key).or_insert_with(finding);
        known.1.extend(minion);
    }

    /// Add one of a value whose place is not known, on a minion.
    pub fn add_nowhere(&mut self, violation: &Violation, minion: String) {
        self.add(violation, self.file.place(0, 0), Some(minion));
    }

    /// The findings, each with the minions it is about, of how many.
    #[must_use]
    pub fn finish(self, all: usize) -> Vec<Finding> {
        let of = |(finding, minions): (Finding, Vec<String>)| match minions.is_empty() {
            true => finding,
            false => finding.note(on(&minions, all)),
        };
        self.findings.into_values().map(of).collect()
    }
}

fn own((key, value): (&Key, &Value)) -> (Key, Value) {
    (key.clone(), value.clone())
}

/// The path to what is wrong, a key that should not be there included.
fn full(violation: &Violation) -> Vec<Key> {
    let unexpected = violation.unexpected.as_deref().map(Key::from);
    violation.path.iter().cloned().chain(unexpected).collect()
}

/// The place of the value that violates a schema, or of the nearest one above it.
#[must_use]
pub fn origin(lineage: &Lineage, violation: &Violation) -> Option<Place> {
    let path = full(violation);
    let spots = (0..=path.len())
        .rev()
        .filter_map(|length| lineage.at(path.get(..length)?));
    let mut places = spots.filter_map(|known| match known.spot {
        ValuePosition::File { place, .. } => Some(place),
        _ => None,
    });
    places.next()
}
