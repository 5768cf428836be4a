//! `mapstack parse`.

use mapstack::matcher::Mode;
use mapstack_report::parse;

use crate::cli::{Listing, Parse};
use crate::output;
use crate::report::Failure;

pub fn run(args: &Parse) -> Result<(), Failure> {
    let mode = if args.path { Mode::Path } else { Mode::Layer };
    let definition = mapstack::parse_definition(&args.definition, mode)?;
    match args.format {
        Listing::Text => output::write_listing(&parse::text(&definition, mode)),
        Listing::Json => output::write_json(&parse::row(&definition)),
    }
}
