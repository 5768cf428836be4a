//! `mapstack sources`.

use clap::Args;
use mapstack_inputs::flags::{Input, Layering};
use mapstack_inputs::{ExplainedPillar, Kwargs};
use mapstack_report::pillar::PillarSources;
use mapstack_report::sources::LookUps;

use crate::forms::Listing;
use crate::memory;
use crate::output;
use crate::wiring::session;
use mapstack_console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack sources users --root examples/site --root examples/formulas --minion examples/minions/web1.yaml
  mapstack sources pillar --config examples/pillars/tree/master.yaml --platform debian-12 --id web1
      which top entries mean the minion, the sls in the order in which they are read, and the external pillars")]
pub struct Sources {
    /// The formula: its folder below a root [default: the only one there is]; or `pillar`, where pillars are compiled
    pub formula: Option<String>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
    /// How to print
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = Listing::Text, value_name = "FORMAT")]
    pub format: Listing,
}

pub fn run(args: &Sources, reporter: &Reporter) -> Result<(), Failure> {
    if args.formula.as_deref() == Some(ExplainedPillar::NAME)
        && let Some(made) = ExplainedPillar::of(&args.input, memory::limit, reporter)?
    {
        return pillar(args, &made, reporter);
    }
    let options = Kwargs::data_options(&args.input, &args.layering)?;
    let session = session(&args.input, reporter)?;
    let formula = session.formula(args.formula.as_ref())?;
    let run = session.run();
    let result = run.data(&formula, &options);
    // What was asked before a failure is what one wants to see then.
    let events = run.events();
    match args.format {
        Listing::Text => output::write_listing(&LookUps::new(&events).text())?,
        Listing::Json => output::write_json(&LookUps::new(&events))?,
    }
    reporter.knows_texts(run.secret_texts());
    reporter.warn(&reporter.redact_all(&run.warnings()))?;
    result.map(|_| ()).map_err(Failure::from)
}

/// The sources of a minion's pillar.
fn pillar(args: &Sources, made: &ExplainedPillar, reporter: &Reporter) -> Result<(), Failure> {
    let secrets = reporter.secrets();
    let sources = PillarSources::new(&made.minion, &made.pillar.events, &secrets);
    match args.format {
        Listing::Text => output::write_listing(&sources.text())?,
        Listing::Json => output::write_json(&sources)?,
    }
    reporter.warn(&reporter.redact_all(&made.pillar.warnings))?;
    reporter.errors(reporter.redact_all(&made.errors()))
}
