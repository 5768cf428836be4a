//! What is printed for each minion, and where it goes.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mapstack::value::{Key, Map, Path as KeyPath, Value, json};
use mapstack::{Error, ErrorKind, Outcome, yaml};
use mapstack_fleet::{Report, Tally};

use crate::cli::{self, FleetFormat};
use crate::output::{self, as_json, as_yaml};
use crate::report::Failure;

/// What is shown of each minion.
pub struct Form {
    format: FleetFormat,
    what: What,
    /// Whether each minion has a document of its own.
    apart: bool,
    formulas: Vec<String>,
    /// What stands between a minion and the outcome of each formula, in a line of JSON.
    infixes: Vec<String>,
}

enum What {
    /// The configuration.
    Data,
    /// Values under keys.
    Table(Vec<(String, KeyPath)>),
    /// How many have which value under a key.
    Counts(String, KeyPath),
}

/// One minion, ready to be written.
pub enum Shown {
    Text(String),
    /// The value of each formula that has a result.
    Values(Vec<(usize, Option<Value>)>),
}

/// Minions that are named for each value.
const EXAMPLES: usize = 5;

impl Form {
    pub fn new(args: &cli::Fleet) -> Result<Self, Failure> {
        let path = |key: &String| -> Result<(String, KeyPath), Failure> {
            Ok((
                key.clone(),
                KeyPath::split(key, ":").map_err(|e| Failure::Usage(e.to_string()))?,
            ))
        };
        let what = match &args.count {
            Some(key) => {
                let (key, path) = path(key)?;
                What::Counts(key, path)
            }
            None if !args.get.is_empty() => {
                What::Table(args.get.iter().map(path).collect::<Result<_, _>>()?)
            }
            None => What::Data,
        };
        let default = match what {
            What::Data if args.directory.is_some() => FleetFormat::Yaml,
            What::Data => FleetFormat::Jsonl,
            What::Table(_) | What::Counts(..) => FleetFormat::Text,
        };
        let format = args.format.unwrap_or(default);
        let wrong = match (&what, format) {
            (What::Data, FleetFormat::Text) => "-o text is for --get and --count",
            (What::Data, FleetFormat::Jsonl) if args.directory.is_some() => {
                "--directory takes -o yaml or -o json"
            }
            (What::Table(_) | What::Counts(..), FleetFormat::Yaml | FleetFormat::Json) => {
                "--get and --count take -o text or -o jsonl"
            }
            _ => {
                let formulas = args.formulas.clone();
                let infix = |formula: &String| {
                    format!(", \"formula\": {}, ", json_text(&formula.as_str().into()))
                };
                let infixes = formulas.iter().map(infix).collect();
                return Ok(Form {
                    format,
                    what,
                    apart: args.directory.is_some(),
                    formulas,
                    infixes,
                });
            }
        };
        Err(Failure::Usage(wrong.into()))
    }

    /// What stands before the first minion.
    fn head(&self) -> String {
        match (&self.what, self.format) {
            (What::Table(keys), FleetFormat::Text) => {
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

    pub fn show(&self, report: &Report) -> Shown {
        let formulas = &*self.formulas;
        match &self.what {
            What::Data => Shown::Text(match (self.format, results(formulas, report)) {
                (FleetFormat::Jsonl | FleetFormat::Text, _) => self.lines(report),
                (_, results) if results.is_empty() => String::new(),
                (FleetFormat::Json, results) if self.apart => json_document(&results),
                (FleetFormat::Json, results) => json_entry(&below(&report.id, results)),
                (FleetFormat::Yaml, results) if self.apart => as_yaml(&results.into()),
                (FleetFormat::Yaml, results) => as_yaml(&below(&report.id, results).into()),
            }),
            What::Table(keys) => Shown::Text(match self.format {
                FleetFormat::Text => row(keys, formulas, report),
                _ => self.entries(keys, report),
            }),
            What::Counts(_, path) => {
                let results = report.outcomes.iter().flatten().enumerate();
                let values = results.filter_map(|(task, outcome)| {
                    Some((task, yaml::traverse(outcome.result.as_ref().ok()?, path)))
                });
                Shown::Values(values.collect())
            }
        }
    }
}

impl Form {
    /// A line for each formula. What minions share is written once.
    fn lines(&self, report: &Report) -> String {
        let minion = json_text(&report.id.as_str().into());
        match &report.outcomes {
            Err(error) => format!(
                "{{\"minion\": {minion}, \"error\": {}}}\n",
                json_text(&error.to_string().into())
            ),
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
                let mut line = Map::new();
                line.insert("minion", report.id.as_str());
                line.insert("formula", formula.as_str());
                line.insert("key", key.as_str());
                match &outcome.result {
                    Ok(data) => {
                        line.extend(yaml::traverse(data, path).map(|value| ("value", value)));
                    }
                    Err(error) => line.extend([("error", error.to_string())]),
                }
                text.push_str(&json_line(&line));
            }
        }
        text
    }
}

/// The last entry of a line of JSON.
fn rest_of_line(outcome: &Outcome) -> String {
    let options = json::DumpOptions {
        ensure_ascii: false,
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

/// A line of JSON; data that has no form in JSON is an error in its place.
fn json_line(line: &Map) -> String {
    let options = json::DumpOptions {
        ensure_ascii: false,
        ..json::DumpOptions::default()
    };
    let text = json::dumps(&line.clone().into(), &options).unwrap_or_else(|e| {
        let mut told = line.clone();
        told.shift_remove("data");
        told.shift_remove("value");
        told.insert("error", format!("the result has no JSON form: {e}"));
        json::dumps(&told.into(), &options).unwrap_or_default()
    });
    text + "\n"
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
        let told = |key: &Key| (key.clone(), Map::from_iter([("error", e.to_string())]));
        as_json(&map.keys().map(told).collect::<Map>().into()).unwrap_or_default()
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

/// A value in a cell: text as it is, everything else as JSON, or as Python shows it where there is no JSON for it.
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
fn cell_text(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' => "\\n".into(),
        '\t' => "\\t".into(),
        '\r' => "\\r".into(),
        c if c.is_control() => "\u{fffd}".into(),
        c => c.to_string(),
    };
    text.chars().map(shown).collect()
}

/// Where minions are written.
pub struct Sink<'f> {
    form: &'f Form,
    to: To,
    tallies: Vec<Tally>,
    is_empty: bool,
}

enum To {
    Output {
        out: BufWriter<io::StdoutLock<'static>>,
        flushed: Instant,
    },
    Directory(PathBuf),
}

/// Whoever waits for the output waits no longer than this.
const PATIENCE: Duration = Duration::from_millis(200);

impl<'f> Sink<'f> {
    pub fn new(form: &'f Form, directory: Option<&Path>) -> Result<Self, Failure> {
        let to = match directory {
            Some(directory) => {
                fs::create_dir_all(directory).map_err(|e| {
                    Error::new(
                        ErrorKind::File,
                        format!("cannot make the directory {}: {e}", directory.display()),
                    )
                })?;
                To::Directory(directory.to_owned())
            }
            None => {
                let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
                To::Output {
                    out,
                    flushed: Instant::now(),
                }
            }
        };
        let mut sink = Sink {
            form,
            to,
            tallies: Vec::new(),
            is_empty: true,
        };
        sink.tallies
            .resize_with(form.formulas.len(), || Tally::new(EXAMPLES));
        sink.write(&form.head())?;
        Ok(sink)
    }

    /// Write one minion.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn put(&mut self, id: &str, shown: Shown) -> io::Result<()> {
        match shown {
            Shown::Values(values) => {
                for (task, value) in values {
                    if let Some(tally) = self.tallies.get_mut(task) {
                        tally.add(id, value.as_ref());
                    }
                }
                Ok(())
            }
            Shown::Text(text) => match &self.to {
                To::Directory(directory) => put_file(directory, id, self.form.format, &text),
                To::Output { .. } if text.is_empty() => Ok(()),
                To::Output { .. } => {
                    let is_first = std::mem::take(&mut self.is_empty);
                    if matches!(
                        (&self.form.what, self.form.format),
                        (What::Data, FleetFormat::Json)
                    ) {
                        self.write(if is_first { "{\n" } else { ",\n" })?;
                    }
                    self.write(&text)
                }
            },
        }
    }

    /// Write what stands behind the last minion.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        let end = match (&self.form.what, self.form.format) {
            (What::Counts(key, _), format) => self.counts(key, format),
            (What::Data, FleetFormat::Json | FleetFormat::Yaml) if self.is_empty => "{}\n".into(),
            (What::Data, FleetFormat::Json) => "\n}\n".into(),
            _ => String::new(),
        };
        self.write(&end)?;
        match &mut self.to {
            To::Output { out, .. } => out.flush(),
            To::Directory(_) => Ok(()),
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let To::Output { out, flushed } = &mut self.to else {
            return Ok(());
        };
        out.write_all(text.as_bytes())?;
        if flushed.elapsed() > PATIENCE {
            out.flush()?;
            *flushed = Instant::now();
        }
        Ok(())
    }

    fn counts(&self, key: &str, format: FleetFormat) -> String {
        let mut text = String::new();
        for (formula, tally) in self.form.formulas.iter().zip(&self.tallies) {
            if format == FleetFormat::Text {
                text.push_str(&format!("{}\n", cell_text(&format!("{formula}:{key}"))));
            }
            for count in tally.counts() {
                let minions = count.minions.join(", ");
                text.push_str(&match format {
                    FleetFormat::Text => {
                        let value = count.value.as_ref().map_or_else(|| "(absent)".into(), cell);
                        let more = if count.count > count.minions.len() {
                            ", …"
                        } else {
                            ""
                        };
                        format!("{}\t{value}\t{}{more}\n", count.count, cell_text(&minions))
                    }
                    _ => {
                        let mut line =
                            Map::from_iter([("formula", formula.as_str()), ("key", key)]);
                        line.extend(count.value.clone().map(|value| ("value", value)));
                        line.insert("count", u64::try_from(count.count).unwrap_or(u64::MAX));
                        line.insert("minions", count.minions.iter().collect::<Value>());
                        json_line(&line)
                    }
                });
            }
        }
        text
    }
}

/// Write the file of a minion: whole, or as it was before. One that has no result has no file.
fn put_file(directory: &Path, id: &str, format: FleetFormat, text: &str) -> io::Result<()> {
    let end = if format == FleetFormat::Json {
        "json"
    } else {
        "yaml"
    };
    if id.is_empty() || id.starts_with('.') || id.contains(['/', '\\', '\0']) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("'{}' can be no name of a file", cell_text(id)),
        ));
    }
    let file = directory.join(format!("{id}.{end}"));
    if text.is_empty() {
        return match fs::remove_file(&file) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        };
    }
    output::put_file(&file, text)
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", file.display())))
}
