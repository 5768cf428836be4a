//! `mapstack parse`.

use clap::Args;
use mapstack::matcher::Mode;
use mapstack_report::parse;

use crate::forms::ListingFormat;
use crate::output;
use mapstack_frontend::console::Failure;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack parse 'Y!G@os_family|I@roles'
  mapstack parse --path 'G@selinux:enabled' -o json")]
pub struct Parse {
    /// A source definition
    pub definition: String,
    /// Read it as a matcher of files_switch (map.tofs), which only builds paths
    #[arg(long)]
    pub path: bool,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = ListingFormat::Text, value_name = "FORMAT")]
    pub format: ListingFormat,
}

pub fn run(args: &Parse) -> Result<(), Failure> {
    let mode = if args.path { Mode::Path } else { Mode::Layer };
    let definition = mapstack::parse_definition(&args.definition, mode)?;
    match args.format {
        ListingFormat::Text => output::write_listing(&parse::text(&definition, mode)),
        ListingFormat::Json => output::write_json(&parse::DefinitionDocument::from(&definition)),
    }
}
