//! `mapstack lint`.

mod fixing;
mod roots;

use mapstack::minion::Minion;
use mapstack::{Engine, Error, ErrorKind, Survey, nearest};
use mapstack_fleet::Minions as _;
use mapstack_inputs::flags::SecretFlags;
use mapstack_inputs::{Many, Served, formulas};
use mapstack_lint::{Level, Linter, Report, Rule, SchemaFrom};
use mapstack_report::lint;

use crate::cli::{Findings, Lint};
use crate::commands::engine;
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Lint, reporter: &Reporter) -> Result<(), Failure> {
    if args.rules {
        return output::write(&lint::rules());
    }
    let config = mapstack_inputs::configuration::read(&args.files, None, None, reporter)?;
    let engine = engine(
        Served::new(&args.files, config.as_ref(), None, reporter)?.files,
        &args.functions,
    )?;
    let saltenv = args.files.saltenv.as_deref().unwrap_or("base");
    let formulas = formulas(args, &engine, saltenv)?;
    if args.calls {
        return calls(args, &engine, &formulas, reporter);
    }
    let minions = minions(args, config.as_ref(), reporter)?;
    let schema = match &args.schema {
        None => SchemaFrom::Nowhere,
        Some(None) => SchemaFrom::Formula,
        Some(Some(file)) => {
            let (text, name) = mapstack_inputs::text_file(file)?;
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
        // What was fixed may show what is behind it.
        reports = check()?;
    }
    match args.format {
        Findings::Text => text(&reports, reporter)?,
        Findings::Json => output::write_json(&lint::rows(&reports))?,
        Findings::Sarif => output::write_json(&lint::log(&reports))?,
        Findings::Github => output::write(&lint::commands(&reports))?,
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
    let secrets = reporter.masking(&SecretFlags::default())?.of(&minions);
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

/// Print findings with excerpts, and count them on standard error.
fn text(reports: &[(String, Report)], reporter: &Reporter) -> Result<(), Failure> {
    let finding = |report: &Report, finding: &_| reporter.finding(report, finding);
    output::write(&lint::findings(reports, reporter.is_quiet(), finding))?;
    lint::notes(reports)
        .iter()
        .for_each(|note| reporter.say(note));
    Ok(())
}

/// Print the functions that templates can call.
fn calls(
    args: &Lint,
    engine: &Engine,
    formulas: &[String],
    reporter: &Reporter,
) -> Result<(), Failure> {
    let saltenv = args.files.saltenv.as_deref().unwrap_or("base");
    let surveys: Vec<Survey> = formulas
        .iter()
        .map(|formula| engine.survey(formula, saltenv))
        .collect::<Result<_, Error>>()?;
    let calls = lint::Calls::new(engine, &surveys);
    match args.format {
        Findings::Text => output::write_listing(&calls.text())?,
        Findings::Json => output::write_json(&calls.rows())?,
        Findings::Sarif | Findings::Github => {
            return Err(Failure::Usage("--calls prints text or json".into()));
        }
    }
    reporter.errors(reporter.redact_all(surveys.iter().flat_map(|survey| &survey.errors)))
}
