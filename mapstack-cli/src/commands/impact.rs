//! `mapstack impact`.

use std::path::Path;

use clap::{Args, ValueHint};
use mapstack::Engine;
use mapstack::loader::{Fetched, SaltPath, Snapshot};
use mapstack_fleet::impact::{AlsoSearched, QuestionSubject};
use mapstack_fleet::{ByPillars, ByStates, Fleet, NamedSls, by_reason};
use mapstack_frontend::inputs::flags::{Input, Layering, ResultFlags, WorkFlags};
use mapstack_frontend::inputs::{
    Configured, ConfiguredPillars, MinionStream, PillarPlaces, Plan, Served, formulas,
    pillar_changes, question_subject, selects_none,
};
use mapstack_report::impact::{ExaminedSubjects, ReachedMinions, StatesOf};
use mapstack_report::values::pick;
use mapstack_report::words::count;
use mapstack_salt_config::Config;
use mapstack_states::{Gatherer, TopOptions};

use crate::forms::ListingFormat;
use crate::output;
use crate::wiring::{count_warnings, engine, pillars};
use mapstack_frontend::console::{Failure, Reporter, report_reasons};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack impact salt/users/parameters/os_family/Debian.yaml --root salt --minions minions/
      the minions whose configuration uses a file, such as a layer or a template
  mapstack impact users:default_shell --root salt --minions minions/
      who has which value under a key of the formula users, and which file sets it
  mapstack impact grains:os_family --root salt --minions minions/
      the formulas and minions that a grain decides about; pillar:KEY and opts:KEY do the same
  mapstack impact pillar/web.sls --config master
      the minions whose pillar uses a file, of an sls or an external pillar

impact follows configurations, pillars, states and managed files. The states are those that top
files give or, without a top file, those of each sls alone.

Exit status: 0 done, 1 an error, 2 nothing that was followed is affected, but something else may be.")]
pub struct Impact {
    /// A file of formulas or of the pillar, on disk or as salt://PATH; FORMULA:KEY; or grains:KEY, pillar:KEY, opts:KEY
    #[arg(value_name = "FILE|FORMULA:KEY|FACT", value_hint = ValueHint::AnyPath)]
    pub what: String,
    /// Formulas to look at (repeatable) [default: all that have parameters/ or a map.jinja]
    #[arg(long, value_name = "FORMULA")]
    pub formula: Vec<String>,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = ListingFormat::Text, value_name = "FORMAT")]
    pub format: ListingFormat,
    #[command(flatten)]
    pub work: WorkFlags,
    #[command(flatten)]
    pub result: ResultFlags,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
}

pub fn run(args: &Impact, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let mut plan = Plan::new(
        input,
        &args.layering,
        &args.result,
        args.work.target.select.as_deref(),
    )?;
    let config = input.config(reporter)?;
    let config = config.as_ref();
    let served = Served::new(&input.files, config, None, reporter)?;
    let roots = served.directories(plan.saltenv());
    let engine = engine(Snapshot::new(served.files), &input.functions)?;
    let engine = mapstack_frontend::inputs::with_roots(engine, &input.files, config);
    let of_pillar = PillarPlaces::of(config, &input.files, &input.facts, engine.deployed())?;
    let known: Vec<String> = formulas::configured(&engine, plan.saltenv())?
        .into_iter()
        .collect();
    let what = question_subject(&args.what, &known, &roots, &of_pillar)?;
    plan.formulas = looked_at(args, &what, known);
    let fleet = plan.fleet(&engine)?;
    let sls = match has_top(&engine, config) {
        true => None,
        false => Some(sls_of(&engine, plan.saltenv(), &args.formula)?),
    };
    let mut followed = ExaminedSubjects {
        what: &what,
        configurations: plan.ways([&fleet, &fleet]),
        has_pillars: of_pillar.are_compiled,
        states: match &sls {
            None => StatesOf::Top,
            Some(sls) if sls.is_empty() => StatesOf::Nothing,
            Some(_) => StatesOf::Sls,
        },
        is_external: of_pillar.have_around(Path::new(&args.what)),
        unfollowed: Vec::new(),
    };
    let impact = reached(args, &followed, &fleet, &engine, config, sls, reporter)?;
    if let Some(error) = &impact.unknown {
        return Err(error.clone().into());
    }
    has_value(&args.what, &what, &impact)?;
    followed.unfollowed = impact.unfollowed(&engine, plan.saltenv(), &what)?;
    print(args, &followed, &impact)?;
    let gap = followed.gap(&impact).map(|why| match &what {
        QuestionSubject::File(path) if !is_there(&engine, plan.saltenv(), path) => {
            "there is no such file".into()
        }
        _ => why,
    });
    ended(&args.what, gap, failure(&impact, reporter))
}

/// The formulas whose configurations are looked at.
fn looked_at(args: &Impact, what: &QuestionSubject, known: Vec<String>) -> Vec<String> {
    match (what, args.formula.is_empty()) {
        (QuestionSubject::Pillar(..) | QuestionSubject::External(_), _) => Vec::new(),
        (QuestionSubject::Value(formula, _), _) => vec![formula.clone()],
        (_, true) => known,
        (_, false) => formulas::named(&args.formula),
    }
}

fn print(
    args: &Impact,
    followed: &ExaminedSubjects<'_>,
    impact: &mapstack_fleet::Impact,
) -> Result<(), Failure> {
    let reach = ReachedMinions::new(&args.what, followed, impact);
    match args.format {
        ListingFormat::Text => output::write_listing(&reach.text(followed)),
        ListingFormat::Json => output::write_json(&reach),
    }
}

/// The end of a run: what is not known of the question counts before the minions that failed.
fn ended(asked: &str, gap: Option<String>, failed: Result<(), Failure>) -> Result<(), Failure> {
    match gap {
        Some(why) => Err(Failure::Incomplete {
            message: format!("{asked}: {why}"),
            status: UNKNOWN,
        }),
        None => failed,
    }
}

/// An error where the value that is requested is on none of the minions.
fn has_value(
    asked: &str,
    what: &QuestionSubject,
    impact: &mapstack_fleet::Impact,
) -> Result<(), Failure> {
    if let (QuestionSubject::Value(_, path), Some((sample, secrets))) = (what, &impact.sample) {
        let key = asked.split_once(':').map_or("", |(_, key)| key);
        pick(sample, key, path).map_err(|error| {
            let error = secrets.redact(&error).into_inner();
            error.note("on any of the minions")
        })?;
    }
    Ok(())
}

fn is_there(engine: &Engine, saltenv: &str, path: &str) -> bool {
    let path = SaltPath::from_relative(path);
    !matches!(engine.files().fetch(&path, saltenv), Ok(Fetched::Missing))
}

/// The failure of the minions that could not be looked at, whose errors are printed.
fn failure(impact: &mapstack_fleet::Impact, reporter: &Reporter) -> Result<(), Failure> {
    if impact.failed.is_empty() {
        return Ok(());
    }
    let failed = impact.failed.iter();
    let reasons = by_reason(failed.map(|(id, error)| (&**id, error)));
    report_reasons(reasons, reporter);
    let mut ids: Vec<&String> = impact.failed.iter().map(|(id, _)| id).collect();
    ids.dedup();
    let message = format!(
        "{} of {} failed",
        ids.len(),
        count(impact.minions, "minion")
    );
    Err(Failure::Incomplete { message, status: 1 })
}

fn top_options(config: Option<&Config>) -> TopOptions {
    config.map_or_else(TopOptions::default, |config| {
        TopOptions::of(config.options())
    })
}

/// True if a saltenv has a top file of states.
fn has_top(engine: &Engine, config: Option<&Config>) -> bool {
    let top = top_options(config).state_top;
    let mut envs = engine.files().envs().into_iter();
    envs.any(|env| is_there(engine, &env, &top))
}

/// The sls of formulas: those that are named, or all.
fn sls_of(engine: &Engine, saltenv: &str, named: &[String]) -> Result<NamedSls, Failure> {
    let folders = match named.is_empty() {
        true => {
            let all = formulas::all(engine, saltenv)?;
            &all | &formulas::others(engine, saltenv)?
        }
        false => formulas::named(named).into_iter().collect(),
    };
    let gatherer = Gatherer::new(engine, TopOptions::default());
    let is_of = |name: &str| folders.contains(name.split('.').next().unwrap_or_default());
    let all = gatherer.all().into_iter();
    Ok(all
        .filter(|(env, name)| env == saltenv && is_of(name))
        .collect())
}

/// The exit status where nothing that could be reached was followed.
const UNKNOWN: u8 = 2;

/// The reach on the minions that flags choose.
fn reached(
    args: &Impact,
    followed: &ExaminedSubjects<'_>,
    fleet: &Fleet<'_>,
    engine: &Engine,
    config: Option<&Config>,
    sls: Option<NamedSls>,
    reporter: &Reporter,
) -> Result<mapstack_fleet::Impact, Failure> {
    let input = &args.input;
    let pillars = pillars(input.engine_flags(), config, reporter)?;
    let (pillars, is_later) = match followed.is_about_a_file() {
        true => (pillars.map(ConfiguredPillars::noting_paths), true),
        false => (pillars, false),
    };
    let by = match is_later && pillars.is_some() {
        true => Configured::later(config),
        false => Configured::new(config, pillars.as_ref()),
    };
    let minions = MinionStream::of_work(input, &args.work, by, reporter)?;
    let ids = args.work.of(minions.ids());
    let noting = match pillars.as_ref().filter(|_| is_later) {
        Some(pillars) => Some(pillars.noting(pillar_changes(&input.facts)?)),
        None => None,
    };
    let on_disk = Some(Path::new(&args.what));
    let by_pillars = noting
        .as_ref()
        .map(|noting| ByPillars::new(noting, on_disk));
    let gatherer = Gatherer::new(engine, top_options(config));
    let gatherer = gatherer.keeping_low().noting_facts();
    let by_states = followed
        .follows_states()
        .then(|| ByStates::new(&gatherer, sls));
    let also = AlsoSearched {
        pillars: by_pillars.as_ref(),
        states: by_states.as_ref(),
    };
    let (masking, pace) = (reporter.masking(), args.work.pace());
    let what = followed.what;
    let impact = mapstack_fleet::Impact::of(what, fleet, also, &minions, &ids, pace, &masking);
    count_warnings(pillars.as_ref(), reporter)?;
    match impact.minions == 0 && impact.failed.is_empty() && !ids.is_empty() {
        true => {
            let select = args.work.target.select.as_deref().unwrap_or_default();
            Err(selects_none(select, &minions, &ids).into())
        }
        false => Ok(impact),
    }
}
