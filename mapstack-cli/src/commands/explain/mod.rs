//! `mapstack explain`.

mod blame;
#[cfg(feature = "html")]
mod excerpts;
mod history;
#[cfg(feature = "html")]
mod html;
pub mod rows;
mod why_not;

use std::collections::HashSet;

use mapstack::lineage::{Ancestor, Ancestry, Layer, LayerKind, Lineage, Spot};
use mapstack::minion::{FactPlace, Minion};
use mapstack::secrets::Secrets;
use mapstack::value::{Extent, Key, Path as KeyPath, Value};
use mapstack::{DataOptions, Error, ErrorKind, Run};

use crate::cli::{Explain, ExplainFormat};
use crate::inputs::{Kwargs, Session};
use crate::masking::Masking;
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Explain, reporter: &Reporter) -> Result<(), Failure> {
    let kwargs = Kwargs::new(&args.input)?
        .layering(&args.layering)?
        .into_map();
    let options = DataOptions::from_kwargs(&kwargs)?;
    let session = Session::new(&args.input, reporter)?;
    let run = session.run();
    Masking::new(&args.secrets, reporter)?;
    reporter.knows(&session.minion);
    let warn = |run: &Run<'_>| {
        reporter.knows_texts(run.secret_texts());
        reporter.warn(&reporter.redact_all(&run.warnings()))
    };
    if let Some(path) = &args.why_not {
        let served = session.served_path(path);
        let answer = run.why_not(&args.formula, &options, &served);
        warn(&run)?;
        return output::write_listing(&why_not::text(
            &served,
            &answer?,
            &session.minion,
            &reporter.secrets(),
        ));
    }
    let explained = run.explain(&args.formula, &options);
    warn(&run)?;
    let (data, lineage) = explained?;
    let secrets = reporter.secrets();
    check_size(&data)?;
    let path = args
        .key
        .as_deref()
        .map(|key| path(&data, key))
        .transpose()?;
    let report = Report::new(&lineage, &secrets, &session.minion, &args.formula);
    #[cfg(feature = "html")]
    if let Some(file) = &args.html {
        let page = report.page(path.as_deref().unwrap_or_default());
        return html::write(&page, file);
    }
    let text = match (args.format, &path) {
        (ExplainFormat::Json, path) => {
            return output::write(&output::as_json(
                &report.rows(path.as_deref().unwrap_or_default()),
            )?);
        }
        (ExplainFormat::Text, Some(path)) => report.history(path, reporter.colors_output()),
        (ExplainFormat::Text | ExplainFormat::Blame, path) => report.blame(
            &data,
            path.as_deref().unwrap_or_default(),
            reporter.colors_output(),
        ),
    };
    output::write_styled(&text, reporter.colors_output())
}

/// More values than this are not gone through one by one.
const MOST_VALUES: usize = 100_000;

/// Refuse data of which a few lines of aliases make more than anybody reads.
fn check_size(data: &Value) -> Result<(), Failure> {
    let values = Extent::of(data).values;
    if values <= MOST_VALUES {
        return Ok(());
    }
    let message = format!(
        "the configuration stands for {values} keys and values, with what aliases repeat; \
         at most {MOST_VALUES} are explained (`mapstack data` prints all of it)"
    );
    Err(Failure::Data(Error::new(ErrorKind::DataSource, message)))
}

/// What is shown of a run.
struct Report<'r> {
    lineage: &'r Lineage,
    secrets: &'r Secrets,
    minion: &'r Minion,
    formula: &'r str,
    /// The paths of values that stand in the pillar, or may, and of those that templates made of secrets.
    secret: HashSet<Vec<Key>>,
}

impl<'r> Report<'r> {
    fn new(
        lineage: &'r Lineage,
        secrets: &'r Secrets,
        minion: &'r Minion,
        formula: &'r str,
    ) -> Self {
        Report {
            lineage,
            secrets,
            minion,
            formula,
            secret: lineage.secret_paths(&[]),
        }
    }

    /// A value of the data, without secrets: each part of it stands somewhere else.
    fn now(&self, path: &[Key], value: &Value) -> Value {
        self.secrets
            .masked_where(&mut path.to_vec(), value, &|path| {
                self.secret.contains(path)
            })
    }

    /// A value that was there before, without secrets. Of what is in it nobody knows where it stood, so
    /// it may come from any layer up to then.
    fn past(&self, path: &[Key], past: &Ancestor) -> Value {
        let is_whole = !matches!(past.value, Value::Map(_) | Value::List(_));
        let before = || self.lineage.layers().iter().take(past.by);
        let mixed =
            || before().any(|layer| layer.kind == LayerKind::Value && !is_of_own_facts(layer));
        self.secrets.masked(
            path,
            past.spot.is_secret() || (!is_whole && mixed()),
            &past.value,
        )
    }

    /// What is known of a value that there is.
    fn at(&self, path: &[Key]) -> Option<Ancestry> {
        self.lineage.at(path)
    }
}

/// The step to an item.
fn index(at: usize) -> Key {
    Key::from(i64::try_from(at).unwrap_or(i64::MAX))
}

/// Whether a matcher looks into grains, which are no secrets.
fn is_of_grains(matcher: &str) -> bool {
    matcher.starts_with("G@") || matcher.starts_with("G:")
}

/// Whether a matcher looks into the pillar and nowhere else.
fn is_of_the_pillar(matcher: &str) -> bool {
    ["I@", "I:", "J@", "J:"]
        .iter()
        .any(|kind| matcher.starts_with(kind))
}

/// Whether a layer's value cannot come from the pillar.
fn is_of_own_facts(layer: &Layer) -> bool {
    layer
        .because
        .iter()
        .all(|because| is_of_grains(&because.matcher))
}

/// A place, as flags name what gave a fact.
fn shown(spot: &Spot) -> String {
    match spot {
        Spot::Fact {
            part,
            path,
            place: Some(FactPlace::Set),
        } => {
            let fact = Spot::Fact {
                part: *part,
                path: path.clone(),
                place: None,
            };
            format!("{fact} (--set)")
        }
        spot => spot.to_string(),
    }
}

/// Whether a value has entries or items.
fn is_branch(value: &Value) -> bool {
    match value {
        Value::Map(map) => !map.is_empty(),
        Value::List(items) => !items.is_empty(),
        _ => false,
    }
}

/// A text that fits on a line.
fn short(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

/// A path as keys are written: joined by colons.
pub fn joined(path: &[Key]) -> String {
    path.iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(":")
}

/// The exact path of a key, which may name keys that are no text and count from the end of lists.
fn path(data: &Value, key: &str) -> Result<Vec<Key>, Failure> {
    let given = KeyPath::split(key, ":").map_err(|e| Failure::Usage(e.to_string()))?;
    let (mut here, mut path) = (data, Vec::new());
    for step in given.steps() {
        let found = exact(here, &step.0)
            .ok_or_else(|| output::nothing_under(here, &step.0.to_string(), &joined(&path)))?;
        here = found.1;
        path.push(found.0);
    }
    Ok(path)
}

fn exact<'v>(value: &'v Value, step: &Key) -> Option<(Key, &'v Value)> {
    match value {
        Value::Map(map) => {
            let as_written = step.to_string();
            let loose = || map.iter().find(|(key, _)| key.to_string() == as_written);
            let own = map.index_of(step).and_then(|index| map.entry_at(index));
            own.or_else(loose).map(|(key, value)| (key.clone(), value))
        }
        Value::List(items) => {
            let index: i64 = step.to_string().parse().ok()?;
            let index = if index < 0 {
                index.checked_add(i64::try_from(items.len()).ok()?)?
            } else {
                index
            };
            Some((Key::from(index), items.get(usize::try_from(index).ok()?)?))
        }
        _ => None,
    }
}
