//! `mapstack watch`.

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use mapstack::{Error, ErrorKind};
use mapstack_fleet::Masking;
use mapstack_frontend::budget::RUN;
use mapstack_frontend::inputs::flags::{
    Input, Layering, PartFlags, ResultFlags, ScopeFlags, WorkFlags,
};
use mapstack_frontend::inputs::{
    FollowedChange, FollowedMinions, FollowedWork, InputError, MinionStream, Plan, WantedParts,
    WatchedDirectories, top_options,
};
use mapstack_report::diff::{self, Accounting};
use mapstack_report::words::count;
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Event, Watcher as _};

use crate::memory;
use crate::output;
use crate::wiring::{count_warnings, pillars};
use mapstack_frontend::console::{Failure, Reporter, report_not_compared};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mapstack watch --root salt --minions minions/
      until Ctrl-C: the effects of each change below the roots

watch compares the same parts as `mapstack diff`.")]
pub struct Watch {
    /// Formulas: their folders below a root [default: all that have parameters/ or a map.jinja]
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    #[command(flatten)]
    pub parts: PartFlags,
    #[command(flatten)]
    pub scope: ScopeFlags,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = WatchFormat::Text, value_name = "FORMAT")]
    pub format: WatchFormat,
    /// Show every minion's value by itself, where values differ only in names and addresses
    #[arg(long, help_heading = "Output")]
    pub each: bool,
    #[command(flatten)]
    pub work: WorkFlags,
    #[command(flatten)]
    pub result: ResultFlags,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WatchFormat {
    /// For people
    Text,
    /// For programs: a line for each change
    #[value(alias = "json")]
    Jsonl,
}

/// Files that are written in one go come as one change.
const SETTLE: Duration = Duration::from_millis(100);

/// Files that are written all the time are looked at nevertheless.
const MOST_SETTLING: Duration = Duration::from_secs(2);

pub fn run(args: &Watch, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let plan = Plan::new(
        input,
        &args.layering,
        &args.result,
        args.work.target.select.as_deref(),
    )?;
    let config = input.config(reporter)?;
    let watched = WatchedDirectories::new(input, config.as_ref(), memory::limit)?;
    let pillars = match watched.has_pillars() || input.facts.pillar.is_some() {
        true => None,
        false => pillars(input.engine_flags(), config.as_ref(), reporter)?,
    };
    let minions = MinionStream::of_work(
        input,
        &args.work,
        watched.minions_by(config.as_ref(), pillars.as_ref()),
        reporter,
    )?;
    let ids = args.work.of(minions.ids());
    let directories = watched.directories(plan.saltenv(), reporter)?;
    let (_watcher, changes) = changes_in(&directories)?;
    let (scope, masking) = (args.scope.scope(), reporter.masking());
    let work = FollowedWork {
        plan,
        given: &args.formulas,
        wanted: WantedParts {
            parts: args.parts.parts(),
            top_options: top_options(config.as_ref(), &input.files),
        },
        scope: &scope,
        minions: &minions,
        ids: &ids,
        pace: args.work.pace(),
    };
    let mut following = FollowedMinions::new(&watched, work)?;
    report_broken(&following, reporter);
    count_warnings(pillars.as_ref(), reporter)?;
    let minions_watched = count(ids.len(), "minion");
    reporter.say(&format!(
        "watching {} for {minions_watched}; Ctrl-C ends",
        directories.join(", ")
    ));
    // Each change has the whole budget, and no change costs nothing.
    while let Ok(change) = RUN.wait(|| settled(&changes)) {
        RUN.renew();
        reporter.renew();
        if let Err(e) = change {
            reporter.report([reporter.redact(&unwatched("files", &e))]);
        }
        let started = Instant::now();
        match following.step() {
            Ok(Some(step)) => print(args, &step, &masking, started, reporter)?,
            Ok(None) => {}
            // A file that is being replaced is there again in a moment.
            Err(InputError::Data(error)) => reporter.report([reporter.redact(&error)]),
            Err(other) => return Err(other.into()),
        }
    }
    Ok(())
}

/// True if an event says that something is different.
fn is_change(event: &Event) -> bool {
    let is_written = EventKind::Access(AccessKind::Close(AccessMode::Write));
    !event.kind.is_access() || event.kind == is_written
}

/// The next change, once no more of them come; the first that failed, if one did.
fn settled(changes: &Changes) -> Result<notify::Result<()>, mpsc::RecvError> {
    let mut change = changes.recv()?;
    let from = Instant::now();
    while from.elapsed() < MOST_SETTLING
        && let Ok(more) = changes.recv_timeout(SETTLE)
    {
        change = change.and(more);
    }
    Ok(change)
}

/// Says that something changed, or that it could not be watched.
type Changes = mpsc::Receiver<notify::Result<()>>;

/// The changes of files below directories, until the watcher is dropped.
fn changes_in(directories: &[String]) -> Result<(notify::RecommendedWatcher, Changes), Failure> {
    let (sender, changes) = mpsc::channel();
    let notify = move |result: notify::Result<Event>| {
        // Reading a file does not change it. The receiver is gone when the program ends.
        if result.as_ref().map_or(true, is_change) {
            let _ = sender.send(result.map(drop));
        }
    };
    let mut watcher = notify::recommended_watcher(notify).map_err(|e| unwatched("files", &e))?;
    for directory in directories {
        let mode = notify::RecursiveMode::Recursive;
        let watching = watcher.watch(Path::new(directory), mode);
        watching.map_err(|e| unwatched(directory, &e))?;
    }
    Ok((watcher, changes))
}

fn report_broken(following: &FollowedMinions<'_>, reporter: &Reporter) {
    let mut reported: Vec<String> = Vec::new();
    for error in following.broken() {
        // A mistake in a pillar is that of many minions.
        if !reported.contains(&error.to_string()) {
            reporter.report([reporter.redact(error)]);
            reported.push(error.to_string());
        }
    }
}

fn print(
    args: &Watch,
    step: &FollowedChange,
    masking: &Masking,
    started: Instant,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let counted = &step.counted;
    let accounting = Accounting::new(
        step.ways.clone(),
        counted.changed,
        counted.unread.clone(),
        !args.formulas.is_empty(),
    )
    .with_pillars(counted.changed_of_pillar, counted.unread_of_pillar.clone())
    .with_unrelated(counted.unrelated.clone())
    .with_states(step.states)
    .listing_pillars(args.parts.parts().pillar);
    let report = diff::DiffReport {
        accounting: &accounting,
        from: "before",
        to: "now",
        formulas: &step.formulas,
        differences: &step.differences,
        masking,
        each: args.each,
    };
    // Changes of git's files are not reported unless a result changes.
    if !step.files.is_empty() || !step.differences.is_empty() {
        match args.format {
            WatchFormat::Text => {
                let colored = reporter.colors_output();
                let text = diff::text_of_step(&report, &step.files);
                output::write_styled(&text, colored)?;
            }
            WatchFormat::Jsonl => output::write(&diff::line(&report, &step.files)?)?,
        }
        reporter.say(&format!("after {} ms", started.elapsed().as_millis()));
    }
    report_not_compared(&step.differences, reporter);
    Ok(())
}

fn unwatched(what: &str, e: &notify::Error) -> Error {
    Error::new(ErrorKind::File, format!("{what} cannot be watched: {e}"))
}
