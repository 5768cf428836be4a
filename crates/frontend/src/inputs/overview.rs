//! The states that the minions of an estate get.

use mapstack::loader::Snapshot;
use mapstack::minion::Minion;
use mapstack::{Diagnostic, Error, ErrorKind};
use mapstack_fleet::{Minions as _, ordered};
use mapstack_lint::GrainWarnings;
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
    let states = |id: &String| -> Result<Overviewed, Error> {
        let minion = engine.with_tree_grains(&minions.read(id)?).into_owned();
        let of_grains = engine.warnings_of_grains(&minion);
        Ok(states_of(minion, of_grains, pillars.as_ref(), &gatherer))
    };
    let mut grains = GrainWarnings::default();
    let fault = |said: String| {
        Error::new(
            ErrorKind::Unsupported,
            format!("this is a fault of mapstack: {said}"),
        )
    };
    let all = std::thread::scope(|scope| {
        let all = ordered(scope, ids.iter(), work.pace(), states);
        let all = all.map(|made| {
            let made = made.map_err(|panicked| fault(panicked.0))??;
            warn.knows(&made.minion);
            grains.add(&made.states.id, made.of_grains);
            Ok(made.states)
        });
        all.collect::<Result<Vec<_>, InputError>>()
    })?;
    warn.warn_of(&grains.of_minions(all.len()))?;
    Ok(all)
}

/// A minion, and the warnings about its grains.
struct Overviewed {
    states: MinionStates,
    minion: Minion,
    of_grains: Vec<Diagnostic>,
}

fn states_of(
    mut minion: Minion,
    of_grains: Vec<Diagnostic>,
    pillars: Option<&ConfiguredPillars>,
    gatherer: &Gatherer<'_>,
) -> Overviewed {
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
    problems.extend(wrong(&gathered, &of_grains));
    let states = MinionStates {
        id: minion.id().to_string(),
        sls: gathered.sls.into_iter().map(|sls| sls.name).collect(),
        pillar_errors,
        problems,
    };
    Overviewed {
        states,
        minion,
        of_grains,
    }
}

/// The problems that keep a minion from its states. Grains that are left out do not.
fn wrong(gathered: &GatheredStates, of_grains: &[Diagnostic]) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some(Err(error)) = &gathered.top {
        wrong.push(format!("top file: {}", error.diagnostic().message));
    }
    if let Some(Ok(top)) = &gathered.top {
        let is_of_top =
            |warning: &&Diagnostic| of_grains.iter().all(|one| one.message != warning.message);
        let warnings = top.warnings.iter().filter(is_of_top);
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
