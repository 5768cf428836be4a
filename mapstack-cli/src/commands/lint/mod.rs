//! `mapstack lint`.

mod calls;
mod fixing;
mod github;
mod roots;
mod rows;
mod sarif;
mod text;

use mapstack::minion::Minion;
use mapstack::{Engine, Error, ErrorKind, nearest};
use mapstack_lint::{Level, Linter, Report, Rule, SchemaFrom};

use super::formulas;
use crate::cli::{Findings, Lint, SecretFlags};
use crate::configuration;
use crate::functions;
use crate::inputs::{self, Many};
use crate::masking::Masking;
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Lint, reporter: &Reporter) -> Result<(), Failure> {
    if args.rules {
        return output::write(&text::rules());
    }
    let config = configuration::read(&args.files, None, None, reporter)?;
    let engine = functions::add(
        Engine::new(inputs::served(&args.files, config.as_ref(), None, reporter)?.files),
        &args.functions,
    )?;
    let saltenv = args.files.saltenv.as_deref().unwrap_or("base");
    let formulas = formulas(args, &engine, saltenv)?;
    if args.calls {
        return calls::run(args, &engine, &formulas, reporter);
    }
    let minions = minions(args, config.as_ref(), reporter)?;
    let schema = match &args.schema {
        None => SchemaFrom::Nowhere,
        Some(None) => SchemaFrom::Formula,
        Some(Some(file)) => {
            let (text, name) = inputs::text_file(file)?;
            SchemaFrom::File { name, text }
        }
    };
    let linter = linter(args, &engine, minions, reporter)?
        .saltenv(saltenv)
        .schema(schema);
    let check = || -> Result<Vec<(String, Report)>, Error> {
        formulas
            .iter()
            .map(|formula| linter.lint(formula).map(|report| (formula.clone(), report)))
            .collect()
    };
    let mut reports = check()?;
    if args.fix {
        fixing::run(&reports, args.diff, reporter)?;
        if args.diff {
            return Ok(());
        }
        // What was mended may show what is behind it.
        reports = check()?;
    }
    match args.format {
        Findings::Text => text::print(&reports, reporter)?,
        Findings::Json => output::write(&output::as_json(&rows::all(&reports))?)?,
        Findings::Sarif => output::write(&output::as_json(&sarif::log(&reports))?)?,
        Findings::Github => output::write(&github::commands(&reports))?,
    }
    let least = if reporter.is_strict() {
        Level::Warning
    } else {
        Level::Error
    };
    let found = reports
        .iter()
        .flat_map(|(_, report)| &report.findings)
        .any(|finding| finding.level >= least);
    if found { Err(Failure::Found) } else { Ok(()) }
}

/// The formulas that are meant: those named, or all there are.
fn formulas(args: &Lint, engine: &Engine, saltenv: &str) -> Result<Vec<String>, Failure> {
    let found = formulas::all(engine.files(), saltenv)?;
    if args.formulas.is_empty() {
        roots::check(engine, saltenv)?;
        if found.is_empty() {
            let error = Error::new(
                ErrorKind::File,
                format!("no folder in saltenv {saltenv} is a formula"),
            );
            return Err(error
                .note("a formula has parameters/, a map.jinja or an init.sls")
                .into());
        }
        return Ok(found.into_iter().collect());
    }
    let named = formulas::named(&args.formulas);
    let listed = |name: &String| {
        engine
            .files()
            .list(saltenv, &format!("{name}/"))
            .is_ok_and(|files| !files.is_empty())
    };
    for name in named.iter().filter(|name| is_folder(name)) {
        if !found.contains(name) && !listed(name) {
            roots::check(engine, saltenv)?;
            let error = Error::new(
                ErrorKind::File,
                format!("no root has a formula '{name}' in saltenv {saltenv}"),
            );
            return Err(match nearest(name, found.iter()) {
                Some(near) => error.note(format!("did you mean '{near}'?")),
                None if found.is_empty() => {
                    error.note("no folder below the roots is a formula: check --root")
                }
                None => error.note(format!(
                    "there are {}",
                    found.iter().cloned().collect::<Vec<_>>().join(", ")
                )),
            }
            .into());
        }
    }
    Ok(named)
}

/// Whether a name can be a formula's; the linter says what is wrong with others.
fn is_folder(name: &str) -> bool {
    !name.trim_start_matches("./").contains('/')
        && !matches!(name, "" | "." | "..")
        && !name.starts_with("./")
}

/// The minions that formulas run for: those given, or one of each platform.
fn minions(
    args: &Lint,
    config: Option<&mapstack_salt_config::Config>,
    reporter: &Reporter,
) -> Result<Vec<Minion>, Failure> {
    let minions = Many::list_or_platforms(
        (&args.facts, &args.target),
        config,
        &args.functions.stub,
        reporter,
    )?;
    Ok(minions
        .ids()
        .iter()
        .map(|id| minions.read(id))
        .collect::<Result<_, Error>>()?)
}

fn linter<'e>(
    args: &Lint,
    engine: &'e Engine,
    minions: Vec<Minion>,
    reporter: &Reporter,
) -> Result<Linter<'e>, Failure> {
    let secrets = Masking::new(&SecretFlags::default(), reporter)?.of(&minions);
    reporter.mask_with(&secrets);
    let mut linter = Linter::new(engine).minions(minions).secrets(secrets);
    for name in &args.ignore {
        linter = linter.level(rule(name)?, None);
    }
    for change in &args.level {
        let usage = || {
            Failure::Usage(format!(
                "--level {change}: write RULE=error, RULE=warning, RULE=note or RULE=off"
            ))
        };
        let (name, level) = change.split_once('=').ok_or_else(usage)?;
        let level = match level {
            "error" => Some(Level::Error),
            "warning" => Some(Level::Warning),
            "note" => Some(Level::Note),
            "off" => None,
            _ => return Err(usage()),
        };
        linter = linter.level(rule(name)?, level);
    }
    Ok(linter)
}

fn rule(name: &str) -> Result<Rule, Failure> {
    name.parse()
        .map_err(|error| Failure::Usage(format!("{error}; `mapstack lint --rules` lists them")))
}

/// How many findings of each level there are.
fn counts(reports: &[(String, Report)]) -> [(Level, usize); 3] {
    [Level::Error, Level::Warning, Level::Note].map(|level| {
        let findings = reports.iter().flat_map(|(_, report)| &report.findings);
        (
            level,
            findings.filter(|finding| finding.level == level).count(),
        )
    })
}
