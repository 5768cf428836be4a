//! `mapstack sources`.

use clap::Args;
use mapstack_inputs::Kwargs;
use mapstack_inputs::flags::{Input, Layering};
use mapstack_report::sources::LookUps;

use crate::forms::Listing;
use crate::output;
use crate::wiring::session;
use mapstack_console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mapstack sources users --root examples/site --root examples/formulas --minion examples/minions/web1.yaml")]
pub struct Sources {
    /// The formula: its folder below a root [default: the only one there is]
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
