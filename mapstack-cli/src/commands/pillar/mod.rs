//! `mapstack pillar`.

mod keep_going;

use std::path::PathBuf;

use clap::{Args, ValueHint};
use mapstack::loader::Backends;
use mapstack::minion::Minion;
use mapstack::value::{Map, Value};
use mapstack::{Engine, Error};
use mapstack_inputs::Warn as _;
use mapstack_inputs::flags::{Facts, Files, Functions, Target};
use mapstack_inputs::{Chosen, Served, Stacks, ext_pillars};
use mapstack_pillar::{Compiler, PillarRun};
use mapstack_report::pillar::{Traced, lost};
use mapstack_salt_config::Kind;

use crate::cli::{Format, Output};
use crate::commands::engine;
use crate::output;
pub use keep_going::{must_go_on, refused};
use mapstack_console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack pillar --stack examples/pillars/stack/stack.cfg --minion examples/minions/web1.yaml
      what PillarStack gives for one minion
  mapstack pillar --config /etc/salt/master --minions /srv/minions --id web1 --merged
      all stacks of a master's ext_pillar, and the pillar they were given
  mapstack pillar --config /etc/salt/master
      the same for every minion in the master's cache, without the pillar they were given
  mapstack pillar --stack examples/pillars/stack/stack.cfg --minion examples/minions/web1.yaml --trace
      the files, in order, and how each was merged")]
pub struct Pillar {
    #[command(flatten)]
    pub stacks: Stacks,
    /// Let files lie below this directory, too; those of the config files count anyway (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub stack_root: Vec<PathBuf>,
    /// Print a pillar whatever happens, for a master to take: errors go to its list _errors, warnings to its
    /// list _warnings (unless --quiet), nothing to standard error
    #[arg(long, conflicts_with = "get")]
    pub keep_going: bool,
    /// Print the minion's pillar with the external ones merged into it
    #[arg(long)]
    pub merged: bool,
    /// Print the files instead, in order, and what came of each
    #[arg(long, conflicts_with_all = ["merged", "get"])]
    pub trace: bool,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub facts: Facts,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub functions: Functions,
    #[command(flatten)]
    pub output: Output,
}

pub fn run(args: &Pillar, reporter: &Reporter) -> Result<(), Failure> {
    match args.keep_going && !args.trace {
        true => keep_going::run(args, reporter),
        false => stopping(args, reporter),
    }
}

/// What the pillars of some minions are made of.
struct Work {
    engine: Engine,
    compiler: Compiler,
    chosen: Chosen,
}

impl Work {
    fn new(args: &Pillar, reporter: &Reporter) -> Result<Self, Failure> {
        let config = mapstack_inputs::configuration::read(
            &args.files,
            args.facts.id.as_deref(),
            Some(Kind::Master),
            reporter,
        )?;
        let pillars = ext_pillars(&args.stacks, &args.stack_root, config.as_ref())?
            .keep_going(args.keep_going);
        let (whose, stubs) = ((&args.facts, &args.target), &args.functions.stub);
        let chosen =
            mapstack_inputs::minions(whose, config.as_ref(), pillars.pillarenv(), stubs, reporter)?;
        // Few stacks look at files of the file server.
        let files = match args.files.root.is_empty()
            && !mapstack_inputs::configuration::has_own_roots(config.as_ref())
        {
            true => Backends::default(),
            false => Served::new(&args.files, config.as_ref(), None, reporter)?.files,
        };
        let engine = engine(files, &args.functions)?;
        let chosen = chosen.selected(&engine, &args.target)?;
        Ok(Work {
            engine,
            compiler: Compiler::new(pillars),
            chosen,
        })
    }

    fn run_for(&self, minion: &Minion) -> PillarRun<'_> {
        self.compiler.run(&self.engine, minion)
    }
}

/// Print the pillars, up to the first error of one that could be read.
fn stopping(args: &Pillar, reporter: &Reporter) -> Result<(), Failure> {
    let work = Work::new(args, reporter)?;
    let Chosen { minions, many } = &work.chosen;
    let broken: Vec<&Error> = minions
        .iter()
        .filter_map(|(_, minion)| minion.as_ref().err())
        .collect();
    if reporter.is_strict() {
        reporter.errors(reporter.redact_all(broken.iter().copied()))?;
    }
    let (mut all, mut traced) = (Map::new(), Traced::default());
    for (id, minion) in minions
        .iter()
        .filter_map(|(id, minion)| Some((id, minion.as_ref().ok()?)))
    {
        let run = work.run_for(minion);
        let compiled = run.compile();
        traced.add(many.then(|| id.clone()), run.events());
        // What was done before a failure is what one wants to see then.
        if compiled.is_err() && args.trace {
            print_trace(&traced, args.output.format)?;
        }
        reporter.knows(minion);
        reporter.warn(&reporter.redact_all(&run.warnings()))?;
        reporter.report(reporter.redact_all(&run.failures()));
        let compiled = compiled.map_err(|e| {
            if *many {
                e.note(format!("for the minion {id}"))
            } else {
                e
            }
        })?;
        let pillar = if args.merged {
            compiled.merged
        } else {
            compiled.external
        };
        if args.output.format == Format::Json && !args.trace {
            reporter.warn(&reporter.redact_all(&lost(&pillar)))?;
        }
        all.insert(id.as_str(), pillar);
    }
    if args.trace {
        print_trace(&traced, args.output.format)?;
        return reporter.errors(reporter.redact_all(broken));
    }
    // Where none can be read, there is nothing to print.
    if !all.is_empty() || broken.is_empty() {
        output::print(&of_one_or_many(all, *many), &args.output)?;
    }
    reporter.errors(reporter.redact_all(broken))
}

fn print_trace(traced: &Traced, format: Format) -> Result<(), Failure> {
    match format {
        Format::Yaml => output::write(&traced.text()),
        Format::Json => output::write_json(&traced.rows()),
    }
}

/// The pillar of the only minion that is meant, or those of many by their ids.
fn of_one_or_many(mut all: Map, many: bool) -> Value {
    match all.pop() {
        Some((_, one)) if !many => one,
        Some((id, last)) => {
            all.insert(id, last);
            all.into()
        }
        None => Value::map(),
    }
}
