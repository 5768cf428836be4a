//! `mapstack watch`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use mapstack::loader::{Backends, FileServer, Frozen};
use mapstack::minion::Minion;
use mapstack::{Engine, Error, ErrorKind, Outcome};
use mapstack_fleet::{
    Advanced, ChangedFiles, Compared, Comparison, Differences, Fleet, Pace, Panicked, ordered,
};
use mapstack_salt_config::Config;
use notify_debouncer_mini::{DebounceEventResult, new_debouncer, notify};

use super::diff::{Told, fault, text};
use super::fleets::Plan;
use super::formulas;
use crate::cli::{SecretFlags, Watch};
use crate::configuration;
use crate::functions;
use crate::inputs::{self, Many};
use crate::masking::Masking;
use crate::output;
use crate::report::{Failure, Reporter};

/// What is written in one go comes as one change.
const SETTLE: Duration = Duration::from_millis(100);

pub fn run(args: &Watch, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let mut plan = Plan::new(input, &args.layering, args.select.as_deref())?;
    let config = configuration::read(&input.files, input.facts.id.as_deref(), None, reporter)?;
    let others: Vec<_> = input
        .functions
        .stub
        .iter()
        .chain(&input.custom_data)
        .cloned()
        .collect();
    let minions = Many::list_or_platforms(
        (&input.facts, &args.target),
        config.as_ref(),
        &others,
        reporter,
    )?;
    let ids = minions.ids();
    let masking = Masking::new(&SecretFlags::default(), reporter)?;
    let (sender, changes) = mpsc::channel();
    let tell = move |result: DebounceEventResult| {
        // Nobody listens any more when the program ends.
        let _ = sender.send(result);
    };
    let mut debouncer = new_debouncer(SETTLE, tell).map_err(|e| unwatched("files", &e))?;
    let served = inputs::served(&input.files, config.as_ref(), None, reporter)?;
    let directories = served.directories(plan.saltenv());
    for directory in &directories {
        let watched = debouncer
            .watcher()
            .watch(Path::new(directory), notify::RecursiveMode::Recursive);
        watched.map_err(|e| unwatched(directory, &e))?;
    }
    let fresh = || state(args, config.as_ref(), reporter);
    let mut before = fresh()?;
    plan.formulas = layered(args, before.files(), plan.saltenv())?;
    let mut standing = Standing::of(&plan.fleet(&before), &minions, &ids);
    reporter.tell(standing.broken().map(|error| reporter.redact(error)));
    let minions_watched = output::count(ids.len(), "minion");
    reporter.say(&format!(
        "watching {} for {minions_watched}; Ctrl-C ends",
        directories.join(", ")
    ));
    for change in changes {
        if let Err(e) = change {
            reporter.tell([reporter.redact(&unwatched("files", &e))]);
        }
        let started = Instant::now();
        let after = match fresh() {
            Ok(after) => after,
            // A file that is being replaced is there again in a moment.
            Err(Failure::Data(error)) => {
                reporter.tell([reporter.redact(&error)]);
                continue;
            }
            Err(other) => return Err(other),
        };
        let changed = ChangedFiles::between(before.files(), after.files())
            .map_err(|e| Error::new(ErrorKind::File, e.to_string()))?;
        if changed.is_empty() {
            continue;
        }
        let paths = changed.paths().collect::<Vec<_>>().join(", ");
        let formulas = layered(args, after.files(), plan.saltenv())?;
        // A formula that goes is compared for a last time.
        let either: BTreeSet<String> = plan.formulas.iter().chain(&formulas).cloned().collect();
        if either.len() != plan.formulas.len() {
            plan.formulas = either.into_iter().collect();
            standing = Standing::of(&plan.fleet(&before), &minions, &ids);
        }
        let (older, newer) = (plan.fleet(&before), plan.fleet(&after));
        let comparison = Comparison::new(&older, &newer).reached_by(changed);
        let differences = standing.advance(&comparison, &minions, &ids);
        let told = Told {
            from: "before",
            to: "now",
            formulas: &plan.formulas,
            differences: &differences,
            masking: &masking,
        };
        let colored = reporter.colors_output();
        output::write_styled(
            &format!("# {paths}\n{}\n", text::text(&told, colored)),
            colored,
        )?;
        reporter.tell(
            differences
                .broken
                .iter()
                .map(|(_, error)| reporter.redact(error)),
        );
        reporter.say(&format!("after {} ms", started.elapsed().as_millis()));
        drop((older, newer));
        before = after;
        if plan.formulas.len() != formulas.len() {
            plan.formulas = formulas;
            standing = Standing::of(&plan.fleet(&before), &minions, &ids);
            reporter.tell(standing.broken().map(|error| reporter.redact(error)));
        }
    }
    Ok(())
}

/// What each minion has of each formula as it is now: what no change reaches is not worked out again.
struct Standing(Vec<Stand>);

struct Stand {
    /// None for a minion that is left out.
    outcomes: Option<Result<Vec<Arc<Outcome>>, Error>>,
    /// The minion, of as many as are kept.
    minion: Option<Minion>,
}

/// Minions whose facts are kept, at some ten kilobytes each; others are read again.
const MOST_KEPT: usize = 20_000;

impl Standing {
    fn of(fleet: &Fleet<'_>, minions: &Many<'_>, ids: &[String]) -> Self {
        let stand = |(at, id): (usize, &String)| match minions.read(id) {
            Ok(minion) => Stand {
                outcomes: fleet.report(&minion).map(|report| report.outcomes),
                minion: (at < MOST_KEPT).then_some(minion),
            },
            Err(error) => Stand {
                outcomes: Some(Err(error)),
                minion: None,
            },
        };
        Standing(std::thread::scope(|scope| {
            let done = ordered(scope, ids.iter().enumerate(), Pace::default(), stand);
            let whole = |result: Result<Stand, Panicked>| {
                result.unwrap_or_else(|panicked| Stand {
                    outcomes: Some(Err(fault(&panicked))),
                    minion: None,
                })
            };
            done.map(whole).collect()
        }))
    }

    /// What is wrong with facts.
    fn broken(&self) -> impl Iterator<Item = &Error> {
        self.0
            .iter()
            .filter_map(|stand| stand.outcomes.as_ref()?.as_ref().err())
    }

    /// What a change does to each minion, which is what it has from now on.
    fn advance(
        &mut self,
        comparison: &Comparison<'_, '_>,
        minions: &Many<'_>,
        ids: &[String],
    ) -> Differences {
        let mut differences = Differences::default();
        let mut now = Vec::new();
        std::thread::scope(|scope| {
            let known = ids.iter().zip(&self.0);
            let done = ordered(scope, known, Pace::default(), |(id, stand)| {
                let read = || stand.minion.clone().map_or_else(|| minions.read(id), Ok);
                match stand.outcomes.as_ref()? {
                    Ok(outcomes) => Some(comparison.advance(outcomes, read)),
                    // It was told to be broken, and is told nothing of until it is not.
                    Err(_) => {
                        let (compared, outcomes) = comparison.begin(&read().ok()?);
                        Some(Ok(Advanced::Reached(compared, outcomes)))
                    }
                }
            });
            for (at, ((id, stand), result)) in ids.iter().zip(&self.0).zip(done).enumerate() {
                let read = || {
                    stand
                        .minion
                        .clone()
                        .unwrap_or_else(|| minions.read_or_name(id))
                };
                match result.map_err(|panicked| fault(&panicked)) {
                    Ok(None) => {}
                    Ok(Some(Ok(Advanced::Unreached { fails }))) => differences.add_unreached(fails),
                    Ok(Some(Ok(Advanced::Reached(compared, outcomes)))) => {
                        let is_whole = matches!(compared, Compared::Formulas(_));
                        differences.add(comparison, id, compared, read);
                        if is_whole {
                            now.push((at, Ok(outcomes)));
                        }
                    }
                    // What it has now is worked out anew as soon as it can be read.
                    Ok(Some(Err(error))) | Err(error) => {
                        differences.broken.push((id.clone(), error.clone()));
                        now.push((at, Err(error)));
                    }
                }
            }
        });
        for (at, outcomes) in now {
            if let Some(place) = self.0.get_mut(at) {
                place.outcomes = Some(outcomes);
            }
        }
        differences
    }
}

/// The formulas that are watched.
fn layered(args: &Watch, files: &dyn FileServer, saltenv: &str) -> Result<Vec<String>, Failure> {
    Ok(match args.formulas.is_empty() {
        true => formulas::layered(files, saltenv)?.into_iter().collect(),
        false => formulas::named(&args.formulas),
    })
}

/// The files as they are now.
fn state(args: &Watch, config: Option<&Config>, reporter: &Reporter) -> Result<Engine, Failure> {
    let served = inputs::served(&args.input.files, config, None, reporter)?;
    let frozen =
        Frozen::of(&served.files).map_err(|e| Error::new(ErrorKind::File, e.to_string()))?;
    functions::add(
        Engine::new(Backends::new(vec![Box::new(frozen)])),
        &args.input.functions,
    )
}

fn unwatched(what: &str, e: &notify::Error) -> Error {
    Error::new(ErrorKind::File, format!("{what} cannot be watched: {e}"))
}
