//! `mapstack fleet` in an estate, without a formula: the minions and the sls that they get.

use mapstack::minion::Minion;
use mapstack::{Error, ErrorKind};
use mapstack_fleet::{Minions as _, Pace, ordered};
use mapstack_inputs::flags::{Input, WorkFlags};
use mapstack_inputs::{Configured, ConfiguredPillars, Many, Served, Warn as _};
use mapstack_report::estate::{Row, text};
use mapstack_states::{Gathered, Gatherer, ProblemKind, TopOptions};

use crate::memory;
use crate::output;
use crate::wiring::engine;
use mapstack_console::{Failure, Reporter};

/// Print which sls each minion gets.
pub fn run(
    (input, work): (&Input, &WorkFlags),
    as_json: bool,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let config = input.config(reporter)?;
    let flags = (&input.files, &input.functions);
    let pillars = ConfiguredPillars::of(config.as_ref(), flags, memory::limit, reporter)?;
    let by = Configured::later(config.as_ref());
    let minions = Many::of_work((input, work), by, reporter)?;
    let served = Served::new(&input.files, config.as_ref(), None, reporter)?.files;
    let engine = engine(served, &input.functions)?;
    let engine = mapstack_inputs::with_roots(engine, &input.files, config.as_ref());
    let minions = minions.selected(&engine, &work.target)?;
    let ids = work.of(minions.ids());
    let options = config
        .as_ref()
        .map(|config| TopOptions::of(config.options()));
    let gatherer = Gatherer::new(&engine, options.unwrap_or_default());
    let row = |id: &String| -> Result<(Row, Minion), Error> {
        let minion = engine.with_tree_grains(&minions.read(id)?).into_owned();
        Ok(row(minion, pillars.as_ref(), &gatherer))
    };
    let mut rows = Vec::new();
    std::thread::scope(|scope| -> Result<(), Failure> {
        for made in ordered(scope, ids.iter(), Pace::default(), row) {
            let made = made.map_err(|panicked| {
                Error::new(
                    ErrorKind::Unsupported,
                    format!("this is a fault of mapstack: {}", panicked.0),
                )
            })?;
            let (row, minion) = made?;
            reporter.knows(&minion);
            rows.push(row);
        }
        Ok(())
    })?;
    match as_json {
        true => output::write_json(&rows),
        false => output::write(&text(&rows)),
    }
}

fn row(
    mut minion: Minion,
    pillars: Option<&ConfiguredPillars>,
    gatherer: &Gatherer<'_>,
) -> (Row, Minion) {
    let mut pillar_errors = 0;
    let mut problems = Vec::new();
    if let Some(pillars) = pillars.filter(|_| minion.pillar.is_empty()) {
        match pillars.compile(&minion) {
            Ok(whole) => {
                pillar_errors = whole.failures().len();
                minion.pillar = whole.data;
            }
            Err(error) => {
                pillar_errors = 1;
                problems.push(format!("pillar: {}", error.diagnostic().message));
            }
        }
    }
    let gathered = gatherer.gather(&minion);
    problems.extend(wrong(&gathered));
    let row = Row {
        minion: minion.id().to_string(),
        sls: gathered.sls.into_iter().map(|sls| sls.name).collect(),
        pillar_errors,
        problems,
    };
    (row, minion)
}

/// What keeps a minion from its states.
fn wrong(gathered: &Gathered) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some(Err(error)) = &gathered.top {
        wrong.push(format!("top file: {}", error.diagnostic().message));
    }
    wrong.extend(gathered.problems.iter().map(|problem| match problem.kind {
        ProblemKind::MissingOfTop => format!("no sls '{}'", problem.sls),
        ProblemKind::MissingInclude => {
            format!(
                "no sls '{}', which '{}' includes",
                problem.sls, problem.named_by
            )
        }
    }));
    let failed = gathered.sls.iter().filter_map(|sls| {
        let error = sls.rendered.data.as_ref().err()?;
        let diagnostic = error.diagnostic();
        let place = diagnostic.place.as_ref().map(|place| format!("{place}: "));
        Some(format!(
            "{}{}",
            place.unwrap_or_default(),
            diagnostic.message
        ))
    });
    wrong.extend(failed);
    wrong
}
