//! `mapstack test`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use mapstack::loader::Snapshot;
use mapstack::{ErrorKind, yaml};
use mapstack_expect::{
    Case, EngineOf, Expectation, ExpectationForm, ExpectationPlaces, ExpectationPlan, NoFile,
    RunDescription, Runs, Suite, missing, with_state,
};
use mapstack_frontend::inputs::flags::{Input, Layering, ResultFlags, ScopeFlags, WorkFlags};
use mapstack_frontend::inputs::{Configured, InputError, Kwargs, MinionStream, Served, formulas};
use mapstack_report::test::{self, TestReport};

use crate::memory;
use crate::output;
use crate::wiring::{count_warnings, engine, pillars};
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Expectations of a root R are looked for in two forms, below R and beside it (below R/..):
  test/integration/SUITE/files/_mapdata/PLATFORM.yaml   as formulas of the Salt project keep them; the
                                                        suite's pillar comes from kitchen.yml
  tests/mapstack/FORMULA/NAME.yaml                      what `mapstack data` prints for a platform or minion
  tests/mapstack/FORMULA/NAME.states.yaml               its states and managed files

Examples:
  mapstack test --root .
      all formulas that have expectations, in the repository of one
  mapstack test users timesync --root examples/formulas
      two formulas
  mapstack test users --root examples/formulas --expectations tests --update --platform debian-12 --platform freebsd-14
      record what two platforms get now, in tests/users/; with --states their states and managed files
  mapstack test --root . --format junit > report.xml
      for a server that runs tests

Exit status: 0 all as expected, 1 something differs or fails, 2 wrong usage, or nothing compared.")]
pub struct Test {
    /// Formulas: their folders below a root [default: all that have expectations]
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    /// A directory with expectations, in place of the usual ones: FORMULA/NAME.yaml, or a folder _mapdata (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub expectations: Vec<PathBuf>,
    /// Rewrite files that differ, and create missing ones for minions that are named, and for formulas that are named or
    /// the only one
    #[arg(long)]
    pub update: bool,
    /// With --update: record the states and managed files of the minions that are named, in NAME.states.yaml, and
    /// leave recorded maps as they are
    #[arg(long, requires = "update")]
    pub states: bool,
    #[command(flatten)]
    pub result: ResultFlags,
    #[command(flatten)]
    pub scope: ScopeFlags,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = TestFormat::Text, value_name = "FORMAT")]
    pub format: TestFormat,
    #[command(flatten)]
    pub work: WorkFlags,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TestFormat {
    /// For people
    Text,
    /// For servers that run tests, as XML
    Junit,
    /// For programs
    Json,
}

/// The exit status where nothing was compared.
const NOTHING: u8 = 2;

pub fn run(args: &Test, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let config = input.config(reporter)?;
    let saltenv = input.files.saltenv.as_deref().unwrap_or("base");
    let served = Served::new(&input.files, config.as_ref(), None, reporter)?;
    let roots: Vec<PathBuf> = served
        .directories(saltenv)
        .into_iter()
        .map(PathBuf::from)
        .collect();
    let engine = engine(Snapshot::new(served.files), &input.functions)?;
    let names = match args.formulas.is_empty() {
        true => formulas::all(&engine, saltenv)?.into_iter().collect(),
        false => formulas::named(&args.formulas),
    };
    let with_state = with_state(&engine, saltenv, &names)?;
    check_directories(args)?;
    let places = ExpectationPlaces {
        roots: &roots,
        named: &args.expectations,
        formulas: &names,
        every: args.formulas.is_empty(),
        with_state: &with_state,
    };
    let pillars = pillars(input.engine_flags(), config.as_ref(), reporter)?;
    let minions = MinionStream::of_work(
        input,
        &args.work,
        Configured::new(config.as_ref(), pillars.as_ref()),
        reporter,
    )?
    .selected(&engine, &args.work.target)?;
    let chosen = input.facts.name_minions() || args.work.names_some();
    let wanted = wanted(args, &places, chosen.then(|| args.work.of(minions.ids())))?;
    let engine_of = |suite: &Suite| {
        mapstack_frontend::inputs::engine(suite.files(), &input.functions, memory::limit)
            .map_err(|e| e.or_kind(ErrorKind::Facts))
    };
    let plan = plan(args, &minions, chosen, &engine_of)?;
    let runs = Runs::new(
        plan,
        &engine,
        saltenv,
        &minions,
        wanted.iter().map(|one| &one.0),
    );
    let masking = reporter.masking();
    let mut report = TestReport {
        cases: runs.cases(&wanted, args.work.pace()),
        masking,
    };
    count_warnings(pillars.as_ref(), reporter)?;
    if report.counts().fail == 0 {
        runs.check_keys().map_err(InputError::from)?;
    }
    if reporter.is_strict() {
        report.cases.iter_mut().for_each(Case::be_strict);
    }
    print(args, &report, reporter)
}

/// The work on expectations.
fn plan<'r>(
    args: &Test,
    minions: &MinionStream<'_>,
    chosen: bool,
    engine_of: &'r EngineOf<'r>,
) -> Result<ExpectationPlan<'r>, Failure> {
    let facts = &args.input.facts;
    // Minions were changed by the same flags before.
    let set = facts.set.iter().filter_map(|change| change.split_once('='));
    let set = set.map(|(path, text)| (path.to_owned(), yaml::load(text).unwrap_or_default()));
    Ok(ExpectationPlan {
        options: Kwargs::data_options(&args.input, &args.layering)?,
        way: args.result.way(),
        variable: args.result.var.clone(),
        scope: args.scope.scope(),
        update: args.update,
        ids: args.work.of(minions.ids()).into_iter().collect(),
        chosen,
        has_pillar: facts.pillar.is_some(),
        given: RunDescription {
            minion: facts.minion.clone(),
            pillar: facts.pillar.clone(),
            set: set.collect(),
        },
        engine_of,
        write: &mapstack_frontend::outputs::replace,
    })
}

fn check_directories(args: &Test) -> Result<(), Failure> {
    let mut missing = args.expectations.iter();
    match missing.find(|directory| !args.update && !directory.is_dir()) {
        Some(directory) => Err(Failure::Usage(format!(
            "--expectations {}: the directory does not exist",
            directory.display()
        ))),
        None => Ok(()),
    }
}

/// The expectations, each with true if it is new: the existing ones, and with `--update` those that the
/// chosen minions lack. With `--states`, recorded maps are left out, since their minions can have
/// other facts.
fn wanted(
    args: &Test,
    places: &ExpectationPlaces<'_>,
    chosen: Option<Vec<String>>,
) -> Result<Vec<(Expectation, bool)>, Failure> {
    let mut wanted: Vec<(Expectation, bool)> =
        places.find()?.into_iter().map(|one| (one, false)).collect();
    if args.states {
        wanted.retain(|(one, _)| one.form == ExpectationForm::States);
    }
    let has_formula = !args.formulas.is_empty() || places.formulas.len() == 1;
    if let Some(ids) = chosen.filter(|_| args.update && has_formula) {
        let new = |is_of_states| {
            let new = missing(places, &wanted, &ids, is_of_states);
            new.map_err(|why| no_file(&why))
        };
        let of_states = match args.states {
            true => new(true)?,
            false => Vec::new(),
        };
        let of_maps = match args.states {
            true => Vec::new(),
            false => new(false)?,
        };
        let all = of_maps.into_iter().chain(of_states);
        wanted.extend(all.map(|one| (one, true)));
    }
    if wanted.is_empty() {
        return Err(nothing(args, places));
    }
    Ok(wanted)
}

/// The failure to make a new file, with advice.
fn no_file(why: &NoFile) -> Failure {
    Failure::Usage(match why {
        NoFile::Folder(_) => {
            format!("--update: {why}; say where to with --expectations DIR")
        }
        NoFile::Name(_) => format!("--update: {why}"),
    })
}

fn nothing(args: &Test, places: &ExpectationPlaces<'_>) -> Failure {
    let advice = match args.update {
        true => {
            "say for which: name formulas, and --platform NAME (or all), --minion FILE or --minions DIR"
        }
        false => {
            "record some: mapstack test FORMULA --update --platform debian-12; `mapstack test --help` shows where they are stored"
        }
    };
    Failure::Usage(format!(
        "nothing to test: no expectations of {places}\n{advice}"
    ))
}

fn print(args: &Test, report: &TestReport, reporter: &Reporter) -> Result<(), Failure> {
    match args.format {
        TestFormat::Text => {
            let colored = reporter.colors_output();
            output::write_styled(&test::text(report), colored)?;
            reporter.report(report.failures());
        }
        TestFormat::Json => output::write_json(&test::Results::from(report))?,
        TestFormat::Junit => {
            let xml = test::junit(report);
            output::write(&xml)?;
        }
    }
    reporter.warn(&report.warnings())?;
    let counts = report.counts();
    if counts.differ + counts.fail > 0 {
        return Err(Failure::Found);
    }
    if counts.same + counts.written == 0 {
        let message = "nothing was compared: the expectations are all of other minions".into();
        return Err(Failure::Incomplete {
            message,
            status: NOTHING,
        });
    }
    Ok(())
}
