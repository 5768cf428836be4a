//! `mapstack impact`.

use clap::{Args, ValueHint};
use mapstack::loader::Snapshot;
use mapstack_fleet::impact::What;
use mapstack_inputs::flags::{Input, Layering, ResultFlags, WorkFlags};
use mapstack_inputs::{Many, Plan, Served, asked, formulas, selects_none};
use mapstack_report::impact::Reach;
use mapstack_report::values::pick;

use crate::forms::Listing;
use crate::output;
use crate::wiring::{count_warnings, engine, pillars};
use mapstack_console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack impact salt/users/parameters/os_family/Debian.yaml --root salt --minions minions/
      the minions whose configuration is made of a file, a template that is loaded included
  mapstack impact users:default_shell --root salt --minions minions/
      who has which value under a key of the formula users, and which file sets it
  mapstack impact grains:os_family --root salt --minions minions/
      the formulas and minions that a grain decides about; pillar:KEY and opts:KEY do the same")]
pub struct Impact {
    /// A file on disk or as salt://PATH; FORMULA:KEY; or grains:KEY, pillar:KEY, opts:KEY
    #[arg(value_name = "FILE|FORMULA:KEY|FACT", value_hint = ValueHint::AnyPath)]
    pub what: String,
    /// Formulas that are looked at (repeatable) [default: all that have parameters/ or a map.jinja]
    #[arg(long, value_name = "FORMULA")]
    pub formula: Vec<String>,
    /// How to print
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = Listing::Text, value_name = "FORMAT")]
    pub format: Listing,
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
        (&args.layering, &args.result),
        args.work.target.select.as_deref(),
    )?;
    let config = input.config(reporter)?;
    let served = Served::new(&input.files, config.as_ref(), None, reporter)?;
    let roots = served.directories(plan.saltenv());
    let engine = engine(Snapshot::new(served.files), &input.functions)?;
    let engine = mapstack_inputs::with_roots(engine, &input.files, config.as_ref());
    let known: Vec<String> = formulas::configured(&engine, plan.saltenv())?
        .into_iter()
        .collect();
    let what = asked(&args.what, &known, &roots)?;
    plan.formulas = match (&what, args.formula.is_empty()) {
        (What::Value(formula, _), _) => vec![formula.clone()],
        (_, true) => known,
        (_, false) => formulas::named(&args.formula),
    };
    let fleet = plan.fleet(&engine)?;
    let pillars = pillars((&input.files, &input.functions), config.as_ref(), reporter)?;
    let minions = Many::of_work(
        (input, &args.work),
        (config.as_ref(), pillars.as_ref()),
        reporter,
    )?;
    let ids = args.work.of(minions.ids());
    let masking = reporter.masking();
    let about = (&what, &fleet);
    let impact = mapstack_fleet::Impact::of(about, &minions, &ids, args.work.pace(), &masking);
    count_warnings(pillars.as_ref(), reporter)?;
    if impact.minions == 0 && impact.failed.is_empty() && !ids.is_empty() {
        let select = args.work.target.select.as_deref().unwrap_or_default();
        return Err(selects_none(select, &minions, &ids).into());
    }
    if let Some(error) = &impact.unknown {
        return Err(error.clone().into());
    }
    if let (What::Value(_, path), Some((sample, secrets))) = (&what, &impact.sample) {
        let key = args.what.split_once(':').map_or("", |(_, key)| key);
        pick(sample, key, path).map_err(|error| {
            let error = secrets.redact(&error).into_inner();
            error.note("on any of the minions")
        })?;
    }
    match args.format {
        Listing::Text => output::write_listing(&Reach::new(&args.what, &impact).text(&what))?,
        Listing::Json => output::write_json(&Reach::new(&args.what, &impact))?,
    }
    reporter.errors(impact.failed)
}
