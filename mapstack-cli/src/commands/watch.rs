//! `mapstack watch`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use clap::Args;
use mapstack::loader::{Backends, Frozen};
use mapstack::{Engine, Error, ErrorKind};
use mapstack_fleet::{ChangedFiles, Comparison, Standing};
use mapstack_inputs::flags::{Input, Layering, ResultFlags, ScopeFlags, Target};
use mapstack_inputs::{InputError, Many, Plan, Served, formulas};
use mapstack_report::diff::{self, Accounting};
use mapstack_report::words::count;
use mapstack_salt_config::Config;
use notify_debouncer_mini::{DebounceEventResult, new_debouncer, notify};

use crate::commands::{count_warnings, engine, pillars};
use crate::output;
use mapstack_console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mapstack watch --root salt --minions minions/
      until Ctrl-C: after each change below the roots, what is different on which minions")]
pub struct Watch {
    /// Formulas: their folders below a root [default: all that have parameters/ or a map.jinja]
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    #[command(flatten)]
    pub scope: ScopeFlags,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub result: ResultFlags,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
}

/// What is written in one go comes as one change.
const SETTLE: Duration = Duration::from_millis(100);

pub fn run(args: &Watch, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let mut plan = Plan::new(
        input,
        (&args.layering, &args.result),
        args.target.select.as_deref(),
    )?;
    let config = input.config(reporter)?;
    let others = input.other_files();
    let pillars = pillars((&input.files, &input.functions), config.as_ref(), reporter)?;
    let minions = Many::list_or_platforms(
        (&input.facts, &args.target),
        (config.as_ref(), pillars.as_ref()),
        &others,
        reporter,
    )?;
    let ids = minions.ids();
    let masking = reporter.masking();
    let (sender, changes) = mpsc::channel();
    let notify = move |result: DebounceEventResult| {
        // The receiver is gone when the program ends.
        let _ = sender.send(result);
    };
    let mut debouncer = new_debouncer(SETTLE, notify).map_err(|e| unwatched("files", &e))?;
    let served = Served::new(&input.files, config.as_ref(), None, reporter)?;
    let directories = served.directories(plan.saltenv());
    for directory in &directories {
        let watched = debouncer
            .watcher()
            .watch(Path::new(directory), notify::RecursiveMode::Recursive);
        watched.map_err(|e| unwatched(directory, &e))?;
    }
    let fresh = || state(args, config.as_ref(), reporter);
    let mut before = fresh()?;
    plan.formulas = layered(args, &before, plan.saltenv())?;
    let mut standing = Standing::of(&plan.fleet(&before)?, &minions, &ids);
    let scope = args.scope.scope();
    standing.results().for_each(|data| scope.look(data));
    scope.check().map_err(InputError::from)?;
    reporter.report(standing.broken().map(|error| reporter.redact(error)));
    count_warnings(pillars.as_ref(), reporter)?;
    let minions_watched = count(ids.len(), "minion");
    reporter.say(&format!(
        "watching {} for {minions_watched}; Ctrl-C ends",
        directories.join(", ")
    ));
    for change in changes {
        if let Err(e) = change {
            reporter.report([reporter.redact(&unwatched("files", &e))]);
        }
        let started = Instant::now();
        let after = match fresh() {
            Ok(after) => after,
            // A file that is being replaced is there again in a moment.
            Err(Failure::Data(error)) => {
                reporter.report([reporter.redact(&error)]);
                continue;
            }
            Err(other) => return Err(other),
        };
        let changed = ChangedFiles::between(before.files(), after.files())
            .map_err(|e| Error::new(ErrorKind::File, e.to_string()))?;
        if changed.is_empty() {
            continue;
        }
        let changed_paths: Vec<&str> = changed.project_paths().collect();
        let (mut paths, files_changed) = (changed_paths.join(", "), changed_paths.len());
        if files_changed == 0 {
            paths = ".git".into();
        }
        let formulas = layered(args, &after, plan.saltenv())?;
        // A formula that goes is compared for a last time.
        let either: BTreeSet<String> = plan.formulas.iter().chain(&formulas).cloned().collect();
        if either.len() != plan.formulas.len() {
            plan.formulas = either.into_iter().collect();
            standing = Standing::of(&plan.fleet(&before)?, &minions, &ids);
        }
        let (older, newer) = (plan.fleet(&before)?, plan.fleet(&after)?);
        let comparison = Comparison::new(&older, &newer).reached_by(changed);
        let comparison = comparison.within(&scope);
        let differences = standing.advance(&comparison, &minions, &ids);
        let unread = comparison.not_compared().unwrap_or_default();
        let accounting = Accounting::new(
            plan.ways([&older, &newer]),
            (files_changed, unread),
            !args.formulas.is_empty(),
        );
        let report = diff::Report {
            accounting: &accounting,
            from: "before",
            to: "now",
            formulas: &plan.formulas,
            differences: &differences,
            masking: &masking,
        };
        let colored = reporter.colors_output();
        // What git keeps for itself is not reported unless a result changes.
        if files_changed > 0 || !differences.is_empty() {
            let text = format!("# {paths}\n{}\n", diff::text(&report, colored));
            output::write_styled(&text, colored)?;
            reporter.say(&format!("after {} ms", started.elapsed().as_millis()));
        }
        reporter.report(
            differences
                .broken
                .iter()
                .map(|(_, error)| reporter.redact(error)),
        );
        drop((older, newer));
        before = after;
        if plan.formulas.len() != formulas.len() {
            plan.formulas = formulas;
            standing = Standing::of(&plan.fleet(&before)?, &minions, &ids);
            reporter.report(standing.broken().map(|error| reporter.redact(error)));
        }
    }
    Ok(())
}

/// The formulas that are watched.
fn layered(args: &Watch, engine: &Engine, saltenv: &str) -> Result<Vec<String>, Failure> {
    Ok(match args.formulas.is_empty() {
        true => formulas::configured(engine, saltenv)?.into_iter().collect(),
        false => formulas::named(&args.formulas),
    })
}

/// The files as they are now.
fn state(args: &Watch, config: Option<&Config>, reporter: &Reporter) -> Result<Engine, Failure> {
    let served = Served::new(&args.input.files, config, None, reporter)?;
    let frozen =
        Frozen::of(&served.files).map_err(|e| Error::new(ErrorKind::File, e.to_string()))?;
    let files = Backends::new(vec![Box::new(frozen)]);
    engine(files, &args.input.functions)
}

fn unwatched(what: &str, e: &notify::Error) -> Error {
    Error::new(ErrorKind::File, format!("{what} cannot be watched: {e}"))
}
