//! `mapstack platforms`.

use clap::Args;
use mapstack::minion::platforms::all;
use mapstack_inputs::{Choice, of_platforms};
use mapstack_report::platforms::{document, rows, text};
use mapstack_report::values::{as_json, as_yaml};

use crate::cli::Listing;
use crate::output;
use mapstack_console::Failure;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack platforms
  mapstack platforms debian-12 > debian.yaml
      a minion to go on from, as a document for --minion")]
pub struct Platforms {
    /// The platform whose minion is printed
    pub name: Option<String>,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Listing::Text, value_name = "FORMAT")]
    pub format: Listing,
}

pub fn run(args: &Platforms) -> Result<(), Failure> {
    if let Some(name) = &args.name {
        let chosen = of_platforms(std::slice::from_ref(name), Choice::All)?;
        let document = chosen.into_iter().next().map(document).unwrap_or_default();
        return output::write(&match args.format {
            Listing::Text => as_yaml(&document),
            Listing::Json => as_json(&document)?,
        });
    }
    match args.format {
        Listing::Text => output::write(&text(all())),
        Listing::Json => output::write_json(&rows(all())),
    }
}
