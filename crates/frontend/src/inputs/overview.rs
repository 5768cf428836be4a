//! The states that the minions of an estate get.

use mapstack::loader::Snapshot;
use mapstack::minion::Minion;
use mapstack::{Error, ErrorKind};
use mapstack_fleet::{Minions as _, ordered};
use mapstack_states::{GatheredStates, Gatherer, ProblemKind, TopOptions};

use crate::inputs::deployed::with_roots;
use crate::inputs::flags::{Input, WorkFlags};
use crate::inputs::functions::{MemoryOf, engine};
use crate::inputs::minions::MinionStream;
use crate::inputs::pillars::{Configured, ConfiguredPillars};
use crate::inputs::served::Served;
use crate::inputs::{InputError, WarningSink};

/// The states of a minion, and the problems that keep it from the rest.
#[derive(Debug, Clone)]
pub struct MinionStates {
    /// The id.
    pub id: String,
    /// The sls in the order in which Salt renders them.
    pub sls: Vec<String>,
    /// The number of errors of its pillar.
    pub pillar_errors: usize,
    /// The missing and failing parts, a line each.
    pub problems: Vec<String>,
}

/// The sls that each of the minions of flags gets by top files.
///
/// # Errors
/// Flags name no minion, or a file cannot be read.
pub fn overview(
    input: &Input,
    work: &WorkFlags,
    memory: MemoryOf,
    warn: &dyn WarningSink,
) -> Result<Vec<MinionStates>, InputError> {
    let config = input.config(warn)?;
    let flags = input.engine_flags();
    let pillars = ConfiguredPillars::of(config.as_ref(), flags, memory, warn)?;
    let by = Configured::later(config.as_ref());
    let minions = MinionStream::of_work(input, work, by, warn)?;
    let served = Served::new(&input.files, config.as_ref(), None, warn)?.files;
    let engine = engine(Snapshot::new(served), &input.functions, memory)?;
    let engine = with_roots(engine, &input.files, config.as_ref());
    let minions = minions.selected(&engine, &work.target)?;
    let ids = work.of(minions.ids());
    let options = config
        .as_ref()
        .map(|config| TopOptions::of(config.options()));
    let gatherer = Gatherer::new(&engine, options.unwrap_or_default());
    let states = |id: &String| -> Result<(MinionStates, Minion), Error> {
        let minion = engine.with_tree_grains(&minions.read(id)?).into_owned();
        Ok(states_of(minion, pillars.as_ref(), &gatherer))
    };
    let fault = |said: String| {
        Error::new(
            ErrorKind::Unsupported,
            format!("this is a fault of mapstack: {said}"),
        )
    };
    std::thread::scope(|scope| {
        let all = ordered(scope, ids.iter(), work.pace(), states);
        let all = all.map(|made| {
            let (states, minion) = made.map_err(|panicked| fault(panicked.0))??;
            warn.knows(&minion);
            Ok(states)
        });
        all.collect()
    })
}

fn states_of(
    mut minion: Minion,
    pillars: Option<&ConfiguredPillars>,
    gatherer: &Gatherer<'_>,
) -> (MinionStates, Minion) {
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
    let states = MinionStates {
        id: minion.id().to_string(),
        sls: gathered.sls.into_iter().map(|sls| sls.name).collect(),
        pillar_errors,
        problems,
    };
    (states, minion)
}

/// The problems that keep a minion from its states.
fn wrong(gathered: &GatheredStates) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some(Err(error)) = &gathered.top {
        wrong.push(format!("top file: {}", error.diagnostic().message));
    }
    if let Some(Ok(top)) = &gathered.top {
        let warnings = top.warnings.iter();
        wrong.extend(warnings.map(|warning| format!("top file: {}", warning.message)));
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
