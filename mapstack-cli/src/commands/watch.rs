//! `mapstack watch`.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use mapstack::config::Config;
use mapstack::loader::{Backends, Frozen};
use mapstack::{Engine, Error, ErrorKind};
use mapstack_fleet::{ChangedFiles, Comparison, Pace};
use notify_debouncer_mini::{DebounceEventResult, new_debouncer, notify};

use super::diff::{Told, all, text};
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
    let others: Vec<_> = input.functions.stub.iter().chain(&input.custom_data).cloned().collect();
    let minions = Many::list_or_platforms(&input.facts, config.as_ref(), &others, reporter)?;
    let ids = minions.ids();
    let masking = Masking::new(&SecretFlags::default())?;
    let (sender, changes) = mpsc::channel();
    let tell = move |result: DebounceEventResult| {
        // Nobody listens any more when the program ends.
        let _ = sender.send(result);
    };
    let mut debouncer = new_debouncer(SETTLE, tell).map_err(|e| unwatched("files", &e))?;
    let served = inputs::served(&input.files, config.as_ref(), None, reporter)?;
    let directories = served.directories(plan.saltenv());
    for directory in &directories {
        let watched = debouncer.watcher().watch(Path::new(directory), notify::RecursiveMode::Recursive);
        watched.map_err(|e| unwatched(directory, &e))?;
    }
    let mut before = state(args, config.as_ref(), reporter)?;
    let minions_watched = output::count(ids.len(), "minion");
    reporter.say(&format!("watching {} for {minions_watched}; Ctrl-C ends", directories.join(", ")));
    for change in changes {
        if let Err(e) = change {
            reporter.tell([&unwatched("files", &e)]);
        }
        let after = match state(args, config.as_ref(), reporter) {
            Ok(after) => after,
            // A file that is being replaced is there again in a moment.
            Err(Failure::Data(error)) => {
                reporter.tell([&error]);
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
        plan.formulas = match args.formulas.is_empty() {
            true => formulas::layered(after.files(), plan.saltenv())?.into_iter().collect(),
            false => formulas::named(&args.formulas),
        };
        let (older, newer) = (plan.fleet(&before), plan.fleet(&after));
        let comparison = Comparison::new(&older, &newer).reached_by(changed);
        let differences = all(&ids, Pace::default(), &comparison, &minions);
        let told =
            Told { from: "before", to: "now", formulas: &plan.formulas, differences: &differences, masking: &masking };
        output::write(&format!("# {paths}\n{}\n", text::text(&told, reporter.colors_output())))?;
        reporter.tell(differences.broken.iter().map(|(_, error)| error));
        drop((older, newer));
        before = after;
    }
    Ok(())
}

/// The files as they are now.
fn state(args: &Watch, config: Option<&Config>, reporter: &Reporter) -> Result<Engine, Failure> {
    let served = inputs::served(&args.input.files, config, None, reporter)?;
    let frozen = Frozen::of(&served.files).map_err(|e| Error::new(ErrorKind::File, e.to_string()))?;
    functions::add(Engine::new(Backends::new(vec![Box::new(frozen)])), &args.input.functions)
}

fn unwatched(what: &str, e: &notify::Error) -> Error {
    Error::new(ErrorKind::File, format!("{what} cannot be watched: {e}"))
}
