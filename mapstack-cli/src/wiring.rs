//! The common parts of verbs: an engine, pillars, and the messages about a run.

use mapstack::loader::FileServer;
use mapstack::{Engine, Run};
use mapstack_frontend::inputs::flags::{EngineFlags, Functions, Input};
use mapstack_frontend::inputs::{ConfiguredPillars, Session};
use mapstack_salt_config::Config;

use crate::memory;
use mapstack_frontend::console::{Failure, Reporter};

/// One minion, and an engine for it.
pub fn session(input: &Input, reporter: &Reporter) -> Result<Session, Failure> {
    Ok(Session::new(input, reporter, memory::limit)?)
}

/// The pillars that a configuration compiles.
pub fn pillars(
    flags: EngineFlags<'_>,
    config: Option<&Config>,
    reporter: &Reporter,
) -> Result<Option<ConfiguredPillars>, Failure> {
    Ok(ConfiguredPillars::of(
        config,
        flags,
        memory::limit,
        reporter,
    )?)
}

/// Report how many warnings there were about the pillars of many minions.
pub fn count_warnings(
    pillars: Option<&ConfiguredPillars>,
    reporter: &Reporter,
) -> Result<(), Failure> {
    Ok(pillars.map_or(Ok(()), |pillars| pillars.count_warnings(reporter))?)
}

/// An engine for files.
pub fn engine(files: impl FileServer + 'static, functions: &Functions) -> Result<Engine, Failure> {
    Ok(mapstack_frontend::inputs::engine(
        files,
        functions,
        memory::limit,
    )?)
}

/// Do the work of a run, and report what it was warned of, whether it worked or not.
pub fn reported<T>(
    run: &Run<'_>,
    reporter: &Reporter,
    work: impl FnOnce(&Run<'_>) -> mapstack::Result<T>,
) -> Result<T, Failure> {
    let result = work(run);
    reporter.knows_texts(run.secret_texts());
    reporter.warn(&reporter.redact_all(&run.warnings()))?;
    Ok(result?)
}

/// Name the flag that shows a part of states that are refused.
pub fn advise(has_parts: bool, reporter: &Reporter) {
    if has_parts {
        reporter.note("--keep-going shows the states of the sls that compile");
    }
}
