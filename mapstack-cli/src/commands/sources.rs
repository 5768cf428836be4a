//! `mapstack sources`.

use clap::Args;
use mapstack::value::Value;
use mapstack::{ConfigurationMethod, DataOptions, Run};
use mapstack_frontend::inputs::flags::{Input, Layering, ResultFlags};
use mapstack_frontend::inputs::{ExplainedPillar, Kwargs, Session};
use mapstack_report::pillar::PillarSources;
use mapstack_report::sources::LookUps;

use crate::forms::ListingFormat;
use crate::memory;
use crate::output;
use crate::wiring::session;
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack sources users --root examples/site --root examples/formulas --minion examples/minions/web1.yaml
  mapstack sources pillar --config examples/pillars/tree/master.yaml --platform debian-12 --id web1
      which entries of top files match the minion, the sls in the order in which they are read, and the external pillars")]
pub struct Sources {
    /// The formula: its folder below a root [default: the only one there is]; or `pillar`, where pillars are compiled
    pub formula: Option<String>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = ListingFormat::Text, value_name = "FORMAT")]
    pub format: ListingFormat,
}

pub fn run(args: &Sources, reporter: &Reporter) -> Result<(), Failure> {
    if args.formula.as_deref() == Some(ExplainedPillar::NAME)
        && let Some(made) = ExplainedPillar::of(&args.input, memory::limit, reporter)?
    {
        return pillar(args, &made, reporter);
    }
    let options = Kwargs::data_options(&args.input, &args.layering)?;
    let elsewhere = args.layering.is_elsewhere() || args.input.kwargs.is_some();
    let session = session(&args.input, reporter)?;
    let formula = session.existing_formula(args.formula.as_ref(), elsewhere)?;
    let (run, result) = looked_up(&session, &formula, &options, elsewhere, reporter)?;
    // The events before a failure are the ones of interest then.
    let events = run.events();
    match args.format {
        ListingFormat::Text => output::write_listing(&LookUps::new(&events).text())?,
        ListingFormat::Json => output::write_json(&LookUps::new(&events))?,
    }
    reporter.knows_texts(run.secret_texts());
    reporter.warn(&reporter.redact_all(&run.warnings()))?;
    result.map(|_| ()).map_err(Failure::from)
}

/// The sources of a minion's pillar.
/// A run that looks for what a formula's states use: by way of its `map.jinja` if that asks for layers, and else for the
/// formula's own layers.
fn looked_up<'s>(
    session: &'s Session,
    formula: &str,
    options: &DataOptions,
    elsewhere: bool,
    reporter: &Reporter,
) -> Result<(Run<'s>, mapstack::Result<Value>), Failure> {
    let configuration = session.configuration(formula, options.clone(), &ResultFlags::default())?;
    if configuration.way() == ConfigurationMethod::Map && !elsewhere {
        let run = session.run();
        let result = configuration.compute(&run);
        if run.events().iter().any(|event| event.definition.is_some()) {
            return Ok((run, result));
        }
        reporter.note(&format!(
            "these are the layers of map.data; {formula}/map.jinja does not use them: see `mapstack explain {formula}`"
        ));
    }
    let run = session.run();
    let result = run.data(formula, options);
    Ok((run, result))
}

fn pillar(args: &Sources, made: &ExplainedPillar, reporter: &Reporter) -> Result<(), Failure> {
    let secrets = reporter.secrets();
    let sources = PillarSources::new(&made.minion, &made.pillar.events, &secrets);
    match args.format {
        ListingFormat::Text => output::write_listing(&sources.text())?,
        ListingFormat::Json => output::write_json(&sources)?,
    }
    reporter.warn(&reporter.redact_all(&made.pillar.warnings))?;
    reporter.errors(reporter.redact_all(&made.errors()))
}
