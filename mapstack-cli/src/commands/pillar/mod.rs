//! `mapstack pillar`.

mod keep_going;

use std::path::PathBuf;

use clap::{Args, ValueHint};
use mapstack::Error;
use mapstack::value::Map;
use mapstack_frontend::inputs::WarningSink as _;
use mapstack_frontend::inputs::flags::SiteFlags;
use mapstack_frontend::inputs::{PillarFlags, PillarJob, SelectedMinions, Stacks};
use mapstack_report::pillar::{TracedMinions, lost, of_one_or_many};

use crate::forms::{Format, Output};
use crate::memory;
use crate::output;
pub use keep_going::{must_go_on, refused};
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack pillar web1.example.org
      in a checkout with states and pillars: the whole pillar of one minion
  mapstack pillar --stack examples/pillars/stack/stack.cfg --minion examples/minions/web1.yaml
      what PillarStack gives for one minion
  mapstack pillar --config /etc/salt/master --minions /srv/minions --id web1 --merged
      all stacks of a master's ext_pillar, and the pillar they were given
  mapstack pillar --config /etc/salt/master
      the same for every minion in the master's cache, without the pillar they were given
  mapstack pillar --config /etc/salt/master --platform debian-12 --id web1 --trace
      with pillar_roots, the whole pillar: which targets of top files match the minion, and the sls they give
  mapstack pillar --stack examples/pillars/stack/stack.cfg --minion examples/minions/web1.yaml --trace
      the files, in order, and how each was merged")]
pub struct Pillar {
    /// The minion, by its id; the same as --id
    #[arg(value_name = "ID", conflicts_with = "id", value_parser = mapstack_frontend::inputs::IdParser)]
    pub minion_id: Option<String>,
    #[command(flatten)]
    pub stacks: Stacks,
    /// Also allow files below this directory, besides those of the config files (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub stack_root: Vec<PathBuf>,
    /// Always print a pillar, for a master to read: errors go to its list _errors, warnings to its
    /// list _warnings (unless --quiet), nothing to standard error
    #[arg(long, conflicts_with = "get")]
    pub keep_going: bool,
    /// Print the minion's pillar with the external ones merged into it
    #[arg(long)]
    pub merged: bool,
    /// Print the files instead, in order, and the outcome of each
    #[arg(long, conflicts_with_all = ["merged", "get"])]
    pub trace: bool,
    #[command(flatten)]
    pub site: SiteFlags,
    #[command(flatten)]
    pub output: Output,
}

pub fn run(args: &Pillar, reporter: &Reporter) -> Result<(), Failure> {
    match args.keep_going && !args.trace {
        true => keep_going::run(args, reporter),
        false => stopping(args, reporter),
    }
}

impl Pillar {
    /// The minions, and what compiles their pillars.
    fn job(&self, reporter: &Reporter) -> Result<PillarJob, Failure> {
        let flags = PillarFlags {
            stacks: &self.stacks,
            stack_root: &self.stack_root,
            keep_going: self.keep_going,
            merged: self.merged,
            trace: self.trace,
        };
        Ok(PillarJob::new(&flags, &self.site, memory::limit, reporter)?)
    }
}

/// Print the pillars, up to the first error of one that could be read.
fn stopping(args: &Pillar, reporter: &Reporter) -> Result<(), Failure> {
    let job = args.job(reporter)?;
    let SelectedMinions { minions, many } = &job.chosen;
    let broken: Vec<&Error> = minions
        .iter()
        .filter_map(|(_, minion)| minion.as_ref().err())
        .collect();
    if reporter.is_strict() {
        reporter.errors(reporter.redact_all(broken.iter().copied()))?;
    }
    let (mut all, mut traced, mut kept) = (Map::new(), TracedMinions::default(), Vec::new());
    for (id, minion) in minions
        .iter()
        .filter_map(|(id, minion)| Some((id, minion.as_ref().ok()?)))
    {
        let made = job.compile(minion);
        traced.add(many.then(|| id.clone()), made.events);
        // The events before a failure are the ones of interest then.
        if made.pillar.is_err() && args.trace {
            print_trace(&traced, args.output.format)?;
        }
        reporter.knows(minion);
        reporter.warn(&reporter.redact_all(&made.warnings))?;
        let noted = |e: Error| match many {
            true => e.note(format!("for the minion {id}")),
            false => e,
        };
        if made.is_whole {
            kept.extend(made.failures.into_iter().map(noted));
            kept.dedup();
        } else {
            reporter.report(reporter.redact_all(&made.failures));
        }
        let pillar = made.pillar.map_err(noted)?;
        if args.output.format == Format::Json && !args.trace {
            reporter.warn(&reporter.redact_all(&lost(&pillar)))?;
        }
        all.insert(id.as_str(), pillar);
    }
    if args.trace {
        print_trace(&traced, args.output.format)?;
        return reporter.errors(reporter.redact_all(broken.into_iter().chain(&kept)));
    }
    // If none can be read, nothing is printed.
    if !all.is_empty() || broken.is_empty() {
        output::print(&of_one_or_many(all, *many), &args.output)?;
    }
    reporter.errors(reporter.redact_all(broken.into_iter().chain(&kept)))
}

fn print_trace(traced: &TracedMinions, format: Format) -> Result<(), Failure> {
    match format {
        Format::Yaml => output::write_listing(&traced.text()),
        Format::Json => output::write_json(&traced.rows()),
    }
}
