//! `mapstack diff`.

mod markdown;
#[cfg(feature = "html")]
mod page;
mod rows;
mod sides;
pub mod text;

use std::collections::{BTreeSet, HashSet};

use mapstack::loader::{Backends, Snapshot};
use mapstack::minion::Minion;
use mapstack::secrets::Secrets;
use mapstack::value::{Key, Value};
use mapstack::{Engine, Error, ErrorKind};
use mapstack_fleet::{
    ChangedFiles, Comparison, Differences, Failing, Group, Ignored, Pace, Panicked, Turn, ordered,
};

use super::fleets::Plan;
use super::formulas;
use crate::cli::{Diff, DiffFormat};
use crate::configuration;
use crate::functions;
use crate::inputs::Many;
use crate::masking::Masking;
use crate::output;
use crate::report::{Failure, Reporter};
use sides::Sides;

/// The exit status of a comparison that could not be made.
const FAILED: u8 = 2;

pub fn run(args: &Diff, reporter: &Reporter) -> Result<(), Failure> {
    match compare(args, reporter) {
        Err(Failure::Data(error)) => {
            reporter.tell([reporter.redact(&error)]);
            Err(Failure::Incomplete {
                message: "nothing was compared".into(),
                status: FAILED,
            })
        }
        other => other,
    }
}

fn compare(args: &Diff, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let mut plan = Plan::new(input, &args.layering, args.work.select.as_deref())?;
    let config = configuration::read(&input.files, input.facts.id.as_deref(), None, reporter)?;
    let sides = Sides::new(args, config.as_ref())?;
    let engine =
        |files: Backends| functions::add(Engine::new(Snapshot::new(files)), &input.functions);
    let (before, after) = (engine(sides.before)?, engine(sides.after)?);
    plan.formulas = match args.formulas.is_empty() {
        false => formulas::named(&args.formulas),
        true => {
            let there = |engine: &Engine| formulas::layered(engine.files(), plan.saltenv());
            let all: BTreeSet<String> = there(&before)?.into_iter().chain(there(&after)?).collect();
            all.into_iter().collect()
        }
    };
    if plan.formulas.is_empty() {
        return Err(Failure::Usage(
            "no formula with parameters/ is in either state: give --root DIR".into(),
        ));
    }
    let changed = ChangedFiles::between(before.files(), after.files());
    let changed = changed.map_err(|e| {
        Error::new(
            ErrorKind::File,
            format!("the files cannot be compared: {e}"),
        )
    })?;
    let (before, after) = (plan.fleet(&before), plan.fleet(&after));
    let comparison = Comparison::new(&before, &after).reached_by(changed);
    let comparison = args.ignore.iter().fold(comparison, |comparison, path| {
        comparison.ignore(Ignored::new(path))
    });
    let others: Vec<_> = input
        .functions
        .stub
        .iter()
        .chain(&input.custom_data)
        .cloned()
        .collect();
    let minions = Many::list_or_platforms(
        (&input.facts, &args.work.target),
        config.as_ref(),
        &others,
        reporter,
    )?;
    let differences = all(
        &args.work.of(minions.ids()),
        args.work.pace(),
        &comparison,
        &minions,
    );
    let masking = Masking::new(&args.secrets, reporter)?;
    let told = Told {
        from: &args.from,
        to: &args.to,
        formulas: &plan.formulas,
        differences: &differences,
        masking: &masking,
    };
    match args.format {
        DiffFormat::Text => {
            output::write_styled(
                &text::text(&told, reporter.colors_output()),
                reporter.colors_output(),
            )?;
        }
        DiffFormat::Json => output::write(&output::as_json(&rows::rows(&told))?)?,
        DiffFormat::Markdown => output::write(&markdown::comment(&told))?,
        #[cfg(feature = "html")]
        DiffFormat::Html => output::write(&page::html(&told)?)?,
    }
    if let [(_, first), ..] = differences.broken.as_slice() {
        reporter.tell([reporter.redact(first)]);
        let message = format!("{} minions could not be compared", differences.broken.len());
        return Err(Failure::Incomplete {
            message,
            status: FAILED,
        });
    }
    if differences.is_empty() {
        Ok(())
    } else {
        Err(Failure::Found)
    }
}

/// What becomes of all minions.
fn all(
    ids: &[String],
    pace: Pace,
    comparison: &Comparison<'_, '_>,
    minions: &Many<'_>,
) -> Differences {
    let mut differences = Differences::default();
    std::thread::scope(|scope| {
        let done = ordered(scope, ids.iter(), pace, |id| {
            Ok(comparison.compare(&minions.read(id)?))
        });
        for (id, result) in ids.iter().zip(done) {
            match result {
                Ok(Ok(compared)) => {
                    differences.add(comparison, id, compared, || minions.read_or_name(id));
                }
                Ok(Err(error)) => differences.broken.push((id.clone(), error)),
                Err(panicked) => differences.broken.push((id.clone(), fault(&panicked))),
            }
        }
    });
    differences
}

/// What is said of work that panicked.
pub fn fault(panicked: &Panicked) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("this is a fault of mapstack: {}", panicked.0),
    )
}

/// What is told.
pub struct Told<'t> {
    pub from: &'t str,
    pub to: &'t str,
    pub formulas: &'t [String],
    pub differences: &'t Differences,
    pub masking: &'t Masking,
}

impl Told<'_> {
    /// The old and the new value of a group, without secrets.
    fn values(&self, group: &Group) -> (Option<Value>, Option<Value>) {
        let secrets = self.secrets(&group.example);
        let shown = |value: &Option<Value>, secret: &HashSet<Vec<Key>>| {
            let path = &mut group.change.path.clone();
            value
                .as_ref()
                .map(|value| secrets.masked_where(path, value, &|path| secret.contains(path)))
        };
        (
            shown(&group.change.old, &group.old_secret),
            shown(&group.change.new, &group.new_secret),
        )
    }

    fn secrets(&self, minion: &Minion) -> Secrets {
        self.masking.of([minion])
    }

    fn formulas(&self, indices: &[usize]) -> Vec<&str> {
        indices
            .iter()
            .filter_map(|index| self.formulas.get(*index))
            .map(String::as_str)
            .collect()
    }

    /// A failure as a message without secrets.
    fn message(&self, failing: &Failing) -> String {
        let diagnostic = failing.error.diagnostic();
        let place = diagnostic
            .place
            .as_ref()
            .map(|place| format!("{place}: "))
            .unwrap_or_default();
        let secrets = self
            .secrets(&failing.example)
            .derived(&failing.secret_texts);
        format!("{place}{}", secrets.scrubbed(&diagnostic.message))
    }

    /// How many minions have a difference.
    fn affected(&self) -> usize {
        self.differences.minions - self.differences.unaffected
    }

    /// In a sentence.
    fn summary(&self) -> String {
        let (affected, all) = (self.affected(), self.differences.minions);
        let mut summary = match affected {
            0 => format!("no change on {}", output::count(all, "minion")),
            _ => format!(
                "{} on {affected} of {}; {} unaffected",
                output::count(self.differences.groups().len(), "change"),
                output::count(all, "minion"),
                self.differences.unaffected
            ),
        };
        let mut count = |n: usize, one: &str, many: &str| {
            if n > 0 {
                summary.push_str(&format!("; {n} {}", if n == 1 { one } else { many }));
            }
        };
        for (turn, one, many) in [
            (Turn::Broken, "fails now", "fail now"),
            (Turn::Mended, "works again", "work again"),
            (Turn::Otherwise, "fails otherwise", "fail otherwise"),
        ] {
            let of_turn = self.differences.failing().filter(|(own, _)| *own == turn);
            let minions: BTreeSet<&String> =
                of_turn.flat_map(|(_, failing)| &failing.minions).collect();
            count(minions.len(), one, many);
        }
        count(
            self.differences.fail_still,
            "fails in both states",
            "fail in both states",
        );
        summary
    }
}

/// What is said of a way of failing.
fn turned(turn: Turn) -> &'static str {
    match turn {
        Turn::Broken => "fails now",
        Turn::Mended => "works again",
        Turn::Otherwise => "fails with something else",
    }
}

/// Some names, and how many more there are.
pub fn some(names: &[String], most: usize) -> String {
    let shown = names
        .iter()
        .take(most)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
