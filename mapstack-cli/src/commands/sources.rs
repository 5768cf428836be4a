//! `mapstack sources`.

use mapstack::DataOptions;
use mapstack_inputs::Kwargs;
use mapstack_report::sources;

use crate::cli::{Listing, Sources};
use crate::commands::session;
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Sources, reporter: &Reporter) -> Result<(), Failure> {
    let kwargs = Kwargs::new(&args.input)?
        .layering(&args.layering)?
        .into_map();
    let options = DataOptions::from_kwargs(&kwargs)?;
    let session = session(&args.input, reporter)?;
    let run = session.run();
    let result = run.data(&args.formula, &options);
    // What was asked before a failure is what one wants to see then.
    let events = run.events();
    match args.format {
        Listing::Text => output::write_listing(&sources::text(&events))?,
        Listing::Json => output::write_json(&sources::rows(&events))?,
    }
    reporter.knows_texts(run.secret_texts());
    reporter.warn(&reporter.redact_all(&run.warnings()))?;
    result.map(|_| ()).map_err(Failure::from)
}
