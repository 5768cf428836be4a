//! `mapstack platforms`.

use clap::Args;
use mapstack::minion::platforms::all;
use mapstack_frontend::inputs::{Choice, of_platforms};
use mapstack_report::platforms::{document, rows, text};

use crate::forms::{Format, ListingFormat, Output};
use crate::output;
use mapstack_frontend::console::Failure;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack platforms
  mapstack platforms debian-12 > debian.yaml
      a minion to go on from, as a document for --minion")]
pub struct Platforms {
    /// The platform whose minion is printed
    pub name: Option<String>,
    /// Print only the value under a key of it, with : between steps
    #[arg(long, value_name = "KEY", requires = "name")]
    pub get: Option<String>,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = ListingFormat::Text, value_name = "FORMAT")]
    pub format: ListingFormat,
}

pub fn run(args: &Platforms) -> Result<(), Failure> {
    if let Some(name) = &args.name {
        let mut chosen = of_platforms(std::slice::from_ref(name), Choice::All)?;
        if chosen.len() > 1 {
            let message = format!("'{name}' names {} platforms: give one", chosen.len());
            return Err(Failure::Usage(message));
        }
        let output = Output {
            format: match args.format {
                ListingFormat::Text => Format::Yaml,
                ListingFormat::Json => Format::Json,
            },
            get: args.get.clone(),
        };
        return output::print(&chosen.pop().map(document).unwrap_or_default(), &output);
    }
    match args.format {
        ListingFormat::Text => output::write_listing(&text(&rows(all()))),
        ListingFormat::Json => output::write_json(&rows(all())),
    }
}
