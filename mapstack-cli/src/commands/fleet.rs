//! `mapstack fleet`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use mapstack::loader::Snapshot;
use mapstack::{Error, ErrorKind};
use mapstack_fleet::{AnswerRecord, MaskedFleet, RecordingFileServer};
use mapstack_frontend::inputs::flags::{Input, Layering, PartName, ResultFlags, WorkFlags};
use mapstack_frontend::inputs::{
    Configured, ConfiguredPillars, ExplainedHighstate, FleetHighstate, MinionStates, MinionStream,
    Plan, Served, digest_of_options, formulas, names_of_grains, none_of, selects_none,
};
use mapstack_frontend::outputs::{Output, Sink, write_fleet};
use mapstack_frontend::parts::{End, PartError, PartSet, PartWriter, Run};
use mapstack_report::estate::{StatesRow, text};
use mapstack_report::fleet::{FleetForm, FleetParts, Format, MissingKey};
use mapstack_report::fleet_states::{FleetStates, ListedParts, MinionGroup};
use mapstack_report::words::count;

use crate::build;
use crate::memory;
use crate::output::{self, key_path};
use crate::wiring::{count_warnings, engine};
use mapstack_frontend::console::{
    Failure, ProgressLine, Reporter, WrittenFormat, interrupted, report_minions,
};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  mapstack fleet
      in a checkout with states and pillars: the minions, and the sls that each gets
  mapstack fleet users timesync --root examples/formulas --minions examples/pillars/minions
      a line of JSON for every minion and formula
  mapstack fleet users --root examples/formulas --platform all --get sudo:group --select \"grains.kernel == 'Linux'\"
      a table of one value, for the built-in platforms that run Linux
  mapstack fleet users --root examples/formulas --platform all --count sudo:group
      how many of the platforms have which value
  mapstack fleet highstate nginx
      the minions that get an sls, a state or a package called nginx, and those whose states do not compile
  mapstack fleet --only files
      the minions that get each managed file, by its owner, mode and text
  mapstack fleet users --config /etc/salt/master --directory out --shard 1/4
      a file for each of the minions in the master's cache that belong to the first of four parts

Minions are sorted by id. If some fail, the others are still computed; failures are listed at the
end, and the exit status is 1. Only the id decides the --shard part, so a minion stays in its part."
)]
pub struct FleetArgs {
    #[command(subcommand)]
    pub verb: Option<FleetVerb>,
    /// Formulas: their folders below a root [default: the only one there is]; or `highstate`
    ///
    /// `highstate` can be followed by the name of an sls, a state, a package or a file; sls:NAME, id:NAME, pkg:NAME and
    /// file:PATH restrict the kind.
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    #[command(flatten)]
    pub work: WorkFlags,
    /// About how much memory to use for results that minions with the same facts share; 0 shares nothing
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32))]
    pub memory: u32,
    /// List which minions get which states or files (of the formulas, if any are named), or print the data of formulas: states, files, maps
    #[arg(long,
        hide_short_help = true, value_enum, value_name = "PART", value_delimiter = ',', conflicts_with_all = ["get", "count", "directory", "parts"])]
    pub only: Vec<PartName>,
    #[command(flatten)]
    pub result: ResultFlags,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
    /// Output format [default: jsonl; yaml with --directory, text with --get and --count]
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
    /// Write the part that --shard names into this directory, as K-of-N.part, for `mapstack fleet merge`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "shard", conflicts_with = "directory", help_heading = "Output")]
    pub parts: Option<PathBuf>,
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

impl FleetArgs {
    /// True if the states of the current estate are meant: nothing says what else.
    fn is_about_estate(&self) -> bool {
        let has_form = !self.get.is_empty() || !self.count.is_empty();
        let is_written = self.directory.is_some() || self.parts.is_some();
        let is_all = self.formulas.is_empty() && self.only.is_empty();
        self.input.files.is_estate() && is_all && !has_form && !is_written
    }

    /// The part of states that is listed.
    ///
    /// # Errors
    /// Parts that cannot be listed beside each other.
    fn listed(&self) -> Result<ListedParts<'static>, Failure> {
        let has = |part| self.only.contains(&part);
        let (states, files) = (has(PartName::States), has(PartName::Files));
        match has(PartName::Maps) && (states || files) {
            true => Err(Failure::Usage(
                "--only maps prints the data of formulas: states and files are listed by another call".into(),
            )),
            false if has(PartName::Pillar) => Err(Failure::Usage(
                "--only pillar: `mapstack pillar` prints the pillar of a minion, and `mapstack diff` compares those of all"
                    .into(),
            )),
            false => Ok(ListedParts {
                states,
                files,
                ..ListedParts::default()
            }),
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum FleetVerb {
    /// Print what one run would have printed, from all parts of a fleet
    Merge {
        /// The directory with the parts
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
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

/// Print which states each minion of the current estate gets.
fn estate(
    input: &Input,
    work: &WorkFlags,
    is_json: bool,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let states = mapstack_frontend::inputs::overview(input, work, memory::limit, reporter)?;
    let row = |one: MinionStates| StatesRow {
        minion: one.id,
        sls: one.sls,
        pillar_errors: one.pillar_errors,
        problems: one.problems,
    };
    let rows: Vec<StatesRow> = states.into_iter().map(row).collect();
    match is_json {
        true => output::write_json(&rows)?,
        false => output::write_listing(&text(&rows))?,
    }
    let has_failed = |row: &&StatesRow| row.pillar_errors > 0 || !row.problems.is_empty();
    match rows.iter().filter(has_failed).count() {
        0 => Ok(()),
        failed => Err(failed_of(failed, rows.len())),
    }
}

fn failed_of(failed: usize, minions: usize) -> Failure {
    Failure::Incomplete {
        message: format!("{failed} of {} failed", count(minions, "minion")),
        status: 1,
    }
}

/// Print who gets which states.
fn highstate(
    args: &FleetArgs,
    listed: ListedParts<'_>,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let is_json = match args.format {
        Some(FleetFormat::Json | FleetFormat::Jsonl) => true,
        Some(FleetFormat::Text) | None => false,
        Some(_) => {
            let usage = "fleet highstate prints -o text or -o json";
            return Err(Failure::Usage(usage.into()));
        }
    };
    let masking = reporter.masking();
    let fleet = FleetHighstate::of(
        &args.input,
        &args.work,
        &masking,
        listed.has_files(),
        memory::limit,
        reporter,
    )?;
    let groups = fleet.groups.iter();
    let groups: Vec<MinionGroup<'_>> = groups.map(|(states, ids)| (&**states, &ids[..])).collect();
    let failed = fleet.failed.iter().map(|(error, ids)| (&**error, &ids[..]));
    let (states, missing) = FleetStates::new(&groups, failed, listed, &fleet.files, &fleet.census);
    match is_json {
        true => output::write_json(&states)?,
        false => output::write_listing(&states.text())?,
    }
    match (missing, states.failed()) {
        (Some(error), _) => Err(error.into()),
        (None, 0) if states.gives_none() => Err(Failure::Incomplete {
            message: "top files give no minion states, so none were compiled".to_owned(),
            status: 2,
        }),
        (None, 0) => Ok(()),
        (None, failed) => Err(failed_of(failed, fleet.minions)),
    }
}

#[expect(
    clippy::too_many_lines,
    reason = "the steps of one run in their order: most need what several before have made"
)]
pub fn run(args: &FleetArgs, reporter: &Reporter) -> Result<(), Failure> {
    if let Some(FleetVerb::Merge { directory }) = &args.verb {
        return merge(directory, reporter);
    }
    let input = &args.input;
    if args.is_about_estate() {
        let is_json = matches!(args.format, Some(FleetFormat::Json | FleetFormat::Jsonl));
        return estate(input, &args.work, is_json, reporter);
    }
    let listed = args.listed()?;
    if let [first, of @ ..] = &args.formulas[..]
        && first == ExplainedHighstate::NAME
    {
        let ([] | [_]) = of else {
            return Err(Failure::Usage("fleet highstate takes one name".into()));
        };
        let of = of.first().map(String::as_str);
        return highstate(args, ListedParts { of, ..listed }, reporter);
    }
    if listed.states || listed.files {
        let folders = &args.formulas[..];
        return highstate(args, ListedParts { folders, ..listed }, reporter);
    }
    let config = input.config(reporter)?;
    let memory = memory_each(args, config.is_some());
    let mut plan = Plan::new(
        input,
        &args.layering,
        &args.result,
        args.work.target.select.as_deref(),
    )?
    .with_memory(memory);
    let seen = args.parts.as_ref().map(|_| Arc::<AnswerRecord>::default());
    let flags = input.engine_flags();
    let pillars = ConfiguredPillars::noted(
        config.as_ref(),
        flags,
        memory::limit,
        reporter,
        seen.clone(),
    )?
    .map(|pillars| pillars.with_memory(memory));
    let minions = MinionStream::of_work(
        input,
        &args.work,
        Configured::new(config.as_ref(), pillars.as_ref()),
        reporter,
    )?;
    let files = Served::new(&input.files, config.as_ref(), None, reporter)?.files;
    let files = RecordingFileServer::new(files, "files", seen.clone());
    let engine = engine(Snapshot::new(files), &input.functions)?;
    let engine = mapstack_frontend::inputs::with_roots(engine, &input.files, config.as_ref());
    plan.formulas = formulas::served(&engine, &args.formulas, input.files.saltenv.as_deref())?;
    let (form, format) = form(args, &plan.formulas)?;

    let fleet = plan.fleet(&engine)?;
    let all = minions.ids();
    let ids = args.work.of(all.clone());
    let fleet = MaskedFleet::new(&fleet, reporter.masking(), reporter.is_strict());
    let select = args.work.target.select.as_deref();
    let end = |selects_any: bool| {
        let grains = match selects_any {
            true => Vec::new(),
            false => names_of_grains(&minions, &ids).into_iter().collect(),
        };
        let keys = form.known_keys().into_iter().map(|(found, missing)| {
            let masked = |missing| masked(missing, &fleet, &minions);
            (found, missing.map(masked))
        });
        End::new(
            keys.collect(),
            grains,
            seen.iter().flat_map(|seen| seen.digests()).collect(),
        )
    };
    let output: Box<dyn Output> = match (&args.parts, args.work.shard) {
        (Some(directory), Some(shard)) => {
            let run = part_run(args, config.as_ref(), &all, &form, reporter)?;
            let writer = PartWriter::new(directory, shard, run, &all, end);
            Box::new(writer.map_err(|e| cannot_make(directory, &e))?)
        }
        _ => Box::new(sink(&form, format, args.directory.as_deref())?),
    };
    let stop = interrupted();
    let counted = ProgressLine::new(ids.len());
    let goes_on = || {
        counted.add_one();
        !stop.load(Ordering::Relaxed)
    };
    let pace = args.work.pace();
    let shows = reporter.shows_progress(args.directory.is_some());
    let written = counted.shown_while(shows, || {
        write_fleet(&fleet, &minions, &ids, pace, &form, output, goes_on)
    });
    count_warnings(pillars.as_ref(), reporter)?;
    let none = || selects_none(select.unwrap_or_default(), &minions, &ids).into();
    let whole = args
        .parts
        .as_ref()
        .map_or(WrittenFormat::Fleet(&none), |_| WrittenFormat::Part);
    report_minions(written, &whole, reporter.is_strict(), reporter)?;
    let missing = form.missing_keys().into_iter().next();
    match missing.filter(|_| args.parts.is_none()) {
        Some(missing) => Err(missing_key_failure(masked(missing, &fleet, &minions))),
        None => Ok(()),
    }
}

/// The memory for each formula, and for a configured pillar.
fn memory_each(args: &FleetArgs, has_pillar: bool) -> usize {
    let whole = usize::try_from(args.memory).unwrap_or(usize::MAX);
    whole.saturating_mul(1 << 20) / (args.formulas.len() + usize::from(has_pillar)).max(1)
}

/// The run that the parts have in common.
fn part_run(
    args: &FleetArgs,
    config: Option<&mapstack_salt_config::Config>,
    all: &[String],
    form: &FleetForm,
    reporter: &Reporter,
) -> Result<Run, Failure> {
    let others = (
        &args.work.target,
        &args.layering,
        &args.result,
        reporter.shows_secrets(),
        reporter.secrets().policy().masks_pillar(),
    );
    Ok(Run {
        version: build::version(),
        minions: all.len(),
        ids: Run::digest_of(all),
        options: digest_of_options(&args.input, config, &format!("{others:?}"))?,
        select: args.work.target.select.clone(),
        strict: reporter.is_strict(),
        form: form.described(),
    })
}

/// Print what one run would have printed.
fn merge(directory: &Path, reporter: &Reporter) -> Result<(), Failure> {
    let failed = |e: PartError| Error::new(ErrorKind::File, e.to_string());
    let parts = PartSet::open(directory, &build::version()).map_err(failed)?;
    let form = parts.form();
    let (run, grains) = (parts.run.clone(), parts.grains.clone());
    let sink = Sink::stream(&form, io::stdout().lock())?;
    let stop = interrupted();
    let written = parts.write(&form, Box::new(sink), || !stop.load(Ordering::Relaxed));
    let select = run.select.unwrap_or_default();
    let none = || none_of(&select, run.minions, &grains).into();
    let whole = WrittenFormat::Fleet(&none);
    report_minions(written.map_err(failed)?, &whole, run.strict, reporter)?;
    match form.missing_keys().into_iter().next() {
        Some(missing) => Err(missing_key_failure(missing)),
        None => Ok(()),
    }
}

/// A key that a result lacks, without secrets.
fn masked(missing: MissingKey, fleet: &MaskedFleet<'_>, minions: &MinionStream<'_>) -> MissingKey {
    let (id, formula) = (&missing.minion, missing.formula);
    let error = fleet.redacted_error(&missing.error, id, formula, minions);
    MissingKey { error, ..missing }
}

/// The failure of a key that no result has.
fn missing_key_failure(missing: MissingKey) -> Failure {
    missing.error.note("on any of the minions").into()
}

/// The destination of minions that are not kept for a merge.
fn sink<'f>(
    form: &'f FleetForm,
    format: Format,
    directory: Option<&Path>,
) -> Result<Sink<'f>, Failure> {
    match directory {
        Some(directory) => {
            Sink::directory(form, format, directory).map_err(|e| cannot_make(directory, &e))
        }
        None => Ok(Sink::stream(form, io::stdout().lock())?),
    }
}

fn cannot_make(directory: &Path, e: &io::Error) -> Failure {
    let message = format!("cannot make the directory {}: {e}", directory.display());
    Error::new(ErrorKind::File, message).into()
}

/// The parts of each minion that are printed, and their format.
fn form(args: &FleetArgs, formulas: &[String]) -> Result<(FleetForm, Format), Failure> {
    let keys = |keys: &[String]| -> Result<Vec<_>, Failure> {
        let path = |key: &String| Ok((key.clone(), key_path(key)?));
        keys.iter().map(path).collect()
    };
    let given = args.format.map(Format::from);
    let what = FleetParts::of(keys(&args.get)?, keys(&args.count)?, given);
    let apart = args.directory.is_some();
    let format = given.unwrap_or_else(|| what.usual_format(apart));
    let wrong = match (&what, format) {
        #[cfg(feature = "html")]
        (FleetParts::Data, Format::Html) => "-o html is for --get and --count",
        (FleetParts::Data, Format::Text) => "-o text is for --get and --count",
        (FleetParts::Data, Format::Jsonl) if apart => "--directory takes -o yaml or -o json",
        (FleetParts::Table(_) | FleetParts::Counts(..), Format::Yaml | Format::Json) => {
            "--get and --count take -o text or -o jsonl"
        }
        _ => {
            return Ok((
                FleetForm::new(format, what, apart, formulas.to_vec()),
                format,
            ));
        }
    };
    Err(Failure::Usage(wrong.into()))
}
