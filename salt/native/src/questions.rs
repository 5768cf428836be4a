//! Answers about a formula, where its values come from, and its mistakes: the documents of the commands `explain`,
//! `sources` and `lint`.

use mapstack::secrets::{Redact, Secrets};
use mapstack::value::{Path, Value, json};
use mapstack::{Configuration, DataOptions, Error, ErrorKind, Result, Run};
use mapstack_fleet::secrets_of;
use mapstack_lineage::Explain;
use mapstack_lint::Linter;
use mapstack_report::document::Document;
use mapstack_report::explain::{self, ExplainReport};
use mapstack_report::lint::{Findings, UncheckedSubjects};
use mapstack_report::sources::LookUps;

/// The origin of each value of a formula's configuration, at or below a path.
pub(crate) fn explain(run: &Run<'_>, formula: &str, path: &Path) -> Result<Value> {
    redacted(run, || {
        let configuration = configuration(run, formula)?;
        let (data, lineage) = run.explain_configuration(&configuration)?;
        explain::check_size(&data)?;
        let path = explain::path(&data, path)?;
        let (secrets, minion) = (secrets(run), run.minion());
        value_of(&ExplainReport::new(&lineage, &secrets, &minion, formula).rows(&path))
    })
}

/// The look-ups of a formula's configuration: files and values, with the outcome, in order.
pub(crate) fn sources(run: &Run<'_>, formula: &str) -> Result<Value> {
    redacted(run, || {
        configuration(run, formula)?.compute(run)?;
        value_of(&LookUps::new(&run.events()))
    })
}

/// The findings about a formula, on every platform that is built in.
pub(crate) fn lint(engine: &mapstack::Engine, formula: &str, saltenv: &str) -> Result<Value> {
    let report = Linter::new(engine).saltenv(saltenv).lint(formula)?;
    let reports = [(formula.to_owned(), report)];
    value_of(&Findings::new(&reports, &UncheckedSubjects::default()))
}

fn configuration(run: &Run<'_>, formula: &str) -> Result<Configuration> {
    Configuration::of(run.engine(), formula, run.saltenv(), DataOptions::default())
}

/// Work whose errors show no secrets: what a minion returns is kept in its master's cache of jobs.
fn redacted(run: &Run<'_>, work: impl FnOnce() -> Result<Value>) -> Result<Value> {
    run.follow_secrets();
    work().map_err(|e| e.redacted(&secrets(run)))
}

/// The secrets of a minion, and the texts that templates made of them so far.
fn secrets(run: &Run<'_>) -> Secrets {
    let secrets = Secrets::numbered().under(run.engine().policy().clone());
    secrets_of(secrets, &run.minion()).derived(run.secret_texts())
}

/// A document as data. It is JSON, so that it is what the command prints.
fn value_of(document: &impl Document) -> Result<Value> {
    let text = document.json_line()?;
    json::loads(&text).map_err(|e| Error::new(ErrorKind::Json, e.to_string()))
}
