//! `mapstack platforms`.

use mapstack::minion::platforms::all;
use mapstack_inputs::{Choice, of_platforms};
use mapstack_report::platforms::{document, rows, text};
use mapstack_report::values::{as_json, as_yaml};

use crate::cli::{Listing, Platforms};
use crate::output;
use crate::report::Failure;

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
