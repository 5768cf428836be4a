//! `mapstack minions`.

use clap::Args;
use mapstack::minion::platforms;
use mapstack_frontend::inputs::{Project, Warn as _};
use mapstack_report::minions::{Row, text};

use crate::forms::Listing;
use crate::output;
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Minions come from a roster, from pillars with a file for each (pillar/id/*.sls), from nodes of reclass
and saltclass, and from ids in top files and nodegroups. Where a target names none, a minion is made up for
it. `minions` in .mapstack.yaml says others, and `mapstack init` writes that file.

Examples:
  mapstack minions
      the minions of this checkout, what names them, and what is assumed of them
  mapstack minions -o json

Exit status: 0 done, 2 there is no estate here.")]
pub struct Minions {
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = Listing::Text, value_name = "FORMAT")]
    pub format: Listing,
}

pub fn run(args: &Minions, reporter: &Reporter) -> Result<(), Failure> {
    let project = Project::find()?;
    let Some(project) = project else {
        return Err(Failure::Usage(
            "no estate here: no folder has a top.sls, or sls in a folder such as salt/ or states/"
                .into(),
        ));
    };
    let found = project.find_minions().unwrap_or_default();
    let of_estate = found.all.iter().map(|one| Row {
        id: one.minion.id().to_string(),
        platform: one.platform.into(),
        grains: one.grains.clone(),
        from: one.from.clone(),
        made_up: one.is_made_up,
    });
    let mut rows: Vec<Row> = of_estate.collect();
    if rows.is_empty() {
        reporter.note_of(
            "the checkout names no minion, and its targets ask for none in particular, so one of each built-in platform \
             stands for all; `minions` in .mapstack.yaml names others",
        );
        rows.extend(platforms::all().iter().map(Row::of_platform));
    }
    match args.format {
        Listing::Text => output::write(&text(&rows))?,
        Listing::Json => output::write_json(&rows)?,
    }
    for target in &found.targets_left {
        reporter.note_of(&format!("no minion was made up for the target '{target}'"));
    }
    if found.is_cut {
        reporter.note_of("the checkout names more minions, which were left out");
    }
    Ok(())
}
