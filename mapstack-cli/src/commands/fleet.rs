//! `mapstack fleet`.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum, ValueHint};
use mapstack::loader::Snapshot;
use mapstack::{Error, ErrorKind};
use mapstack_fleet::MaskedFleet;
use mapstack_inputs::flags::{Input, Layering, ResultFlags, WorkFlags};
use mapstack_inputs::{Many, Plan, Served, formulas, selects_none};
use mapstack_outputs::{Sink, Written, write_fleet};
use mapstack_report::fleet::{Form, Format, What};

use crate::commands::{count_warnings, engine, pillars};
use crate::output::key_path;
use mapstack_console::{Failure, INTERRUPTED, Reporter, interrupted, progress};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack fleet users timesync --root examples/formulas --minions examples/pillars/minions
      a line of JSON for every minion and formula
  mapstack fleet users --root examples/formulas --platform all --get sudo:group --select \"grains.kernel == 'Linux'\"
      a table of one value, for the built-in platforms that run Linux
  mapstack fleet users --root examples/formulas --platform all --count sudo:group
      how many of the platforms have which value
  mapstack fleet users --config /etc/salt/master --directory out --shard 1/4
      a file for each of the minions in the master's cache that belong to the first of four parts

Minions come sorted by their ids. One that fails keeps no other from being done: failures are listed at
the end, and the exit status is 1. The id alone decides the --shard part, so a minion stays in its part.")]
pub struct FleetArgs {
    /// Formulas: their folders below a root [default: the only one there is]
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    #[command(flatten)]
    pub work: WorkFlags,
    /// About how much to remember of minions done, for others that have the same facts; 0 shares nothing
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32))]
    pub memory: u32,
    #[command(flatten)]
    pub result: ResultFlags,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
    /// How to print [default: jsonl; yaml with --directory, text with --get and --count]
    #[arg(
        short = 'o',
        long = "output",
        visible_alias = "format",
        value_enum,
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    pub format: Option<FleetFormat>,
    /// Write a file ID.yaml or ID.json for each minion into this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["get", "count"], help_heading = "Output")]
    pub directory: Option<PathBuf>,
    /// Print a table of the values under a key, with : between steps (repeatable)
    #[arg(
        long,
        value_name = "KEY",
        conflicts_with = "count",
        help_heading = "Output"
    )]
    pub get: Vec<String>,
    /// Print how many minions have which value under a key, and some of them (repeatable)
    #[arg(long, value_name = "KEY", help_heading = "Output")]
    pub count: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FleetFormat {
    /// A line of JSON for each minion and formula
    Jsonl,
    /// One document: minions, and their formulas in them
    Json,
    /// The same as YAML
    Yaml,
    /// Columns, with a tab between them
    Text,
    /// One page for a browser, with --get or --count
    #[cfg(feature = "html")]
    Html,
}

impl From<FleetFormat> for mapstack_report::fleet::Format {
    fn from(format: FleetFormat) -> Self {
        match format {
            FleetFormat::Jsonl => Self::Jsonl,
            FleetFormat::Json => Self::Json,
            FleetFormat::Yaml => Self::Yaml,
            FleetFormat::Text => Self::Text,
            #[cfg(feature = "html")]
            FleetFormat::Html => Self::Html,
        }
    }
}

pub fn run(args: &FleetArgs, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let config = input.config(reporter)?;
    let memory = usize::try_from(args.memory)
        .unwrap_or(usize::MAX)
        .saturating_mul(1 << 20)
        / (args.formulas.len() + usize::from(config.is_some())).max(1);
    let mut plan = Plan::new(
        input,
        (&args.layering, &args.result),
        args.work.target.select.as_deref(),
    )?
    .with_memory(memory);
    let pillars = pillars((&input.files, &input.functions), config.as_ref(), reporter)?
        .map(|pillars| pillars.with_memory(memory));
    let minions = Many::of_work(
        (input, &args.work),
        (config.as_ref(), pillars.as_ref()),
        reporter,
    )?;
    let files = Served::new(&input.files, config.as_ref(), None, reporter)?.files;
    let engine = engine(Snapshot::new(files), &input.functions)?;
    plan.formulas = formulas::served(&engine, &args.formulas, input.files.saltenv.as_deref())?;
    let (form, format) = form(args, &plan.formulas)?;

    let fleet = plan.fleet(&engine)?;
    let ids = args.work.of(minions.ids());
    let sink = match &args.directory {
        Some(directory) => Sink::directory(&form, format, directory).map_err(|e| {
            let message = format!("cannot make the directory {}: {e}", directory.display());
            Error::new(ErrorKind::File, message)
        })?,
        None => Sink::stream(&form, io::stdout().lock())?,
    };
    let masking = reporter.masking();
    let fleet = MaskedFleet::new(&fleet, masking, reporter.is_strict());
    let bar = progress(ids.len(), reporter.shows_progress(args.directory.is_some()));
    let stop = interrupted();
    let goes_on = || {
        bar.inc(1);
        !stop.load(Ordering::Relaxed)
    };
    let all = (&*ids, args.work.pace());
    let written = write_fleet(&fleet, &minions, all, (&form, sink), goes_on);
    bar.finish_and_clear();
    count_warnings(pillars.as_ref(), reporter)?;
    let select = args.work.target.select.as_deref().unwrap_or_default();
    let none = || selects_none(select, &minions, &ids).into();
    report(written, none, reporter)?;
    match form.missing_keys().into_iter().next() {
        Some(missing) => {
            let of = (missing.minion.as_str(), missing.formula);
            let error = fleet.redacted_error(&missing.error, of, &minions);
            Err(error.note("on any of the minions").into())
        }
        None => Ok(()),
    }
}

/// What is printed of each minion, and how.
fn form(args: &FleetArgs, formulas: &[String]) -> Result<(Form, Format), Failure> {
    let keys = |keys: &[String]| -> Result<Vec<_>, Failure> {
        let path = |key: &String| Ok((key.clone(), key_path(key)?));
        keys.iter().map(path).collect()
    };
    let given = args.format.map(Format::from);
    let what = What::of(keys(&args.get)?, keys(&args.count)?, given);
    let apart = args.directory.is_some();
    let format = given.unwrap_or_else(|| what.usual_format(apart));
    let wrong = match (&what, format) {
        #[cfg(feature = "html")]
        (What::Data, Format::Html) => "-o html is for --get and --count",
        (What::Data, Format::Text) => "-o text is for --get and --count",
        (What::Data, Format::Jsonl) if apart => "--directory takes -o yaml or -o json",
        (What::Table(_) | What::Counts(..), Format::Yaml | Format::Json) => {
            "--get and --count take -o text or -o jsonl"
        }
        _ => {
            return Ok((Form::new(format, what, apart, formulas.to_vec()), format));
        }
    };
    Err(Failure::Usage(wrong.into()))
}

/// Report what went wrong; `none` is the failure where no minion was meant.
fn report(
    written: Written,
    none: impl Fn() -> Failure,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let summary = &written.summary;
    if let Some(e) = written
        .output
        .as_ref()
        .filter(|e| e.kind() == io::ErrorKind::BrokenPipe)
    {
        return Err(Failure::Output(e.kind().into()));
    }
    if !reporter.is_strict() {
        reporter.warn(&reporter.redact_all(&summary.warnings()))?;
    }
    reporter.report(reporter.redact_all(&summary.failures()));
    if summary.more_failures() > 0 {
        reporter.note(&format!(
            "{} more failures are not shown; -o jsonl has them all",
            summary.more_failures()
        ));
    }
    let looked_at = summary.done + summary.left_out;
    if let Some(e) = written.output {
        let message = format!(
            "cannot write the output: {e}; {} of {} minions were written",
            summary.done, summary.minions
        );
        return Err(Failure::Incomplete { message, status: 1 });
    }
    if written.interrupted && looked_at < summary.minions {
        let message = format!(
            "interrupted: {} of {} minions are done{}",
            looked_at,
            summary.minions,
            if summary.failed > 0 {
                format!(", {} of them failed", summary.failed)
            } else {
                String::new()
            }
        );
        return Err(Failure::Incomplete {
            message,
            status: INTERRUPTED,
        });
    }
    match summary.failed {
        0 if summary.done == 0 && summary.left_out > 0 => Err(none()),
        0 => Ok(()),
        failed => {
            let message = format!(
                "{failed} of {} minions failed; the others are done",
                summary.done
            );
            Err(Failure::Incomplete { message, status: 1 })
        }
    }
}
