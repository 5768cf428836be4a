//! `mapstack minions`.

use std::sync::Arc;

use clap::{Args, Parser};
use mapstack::Severity;
use mapstack::minion::platforms;
use mapstack_frontend::console::{Failure, Reporter};
use mapstack_frontend::inputs::estate::{FoundMinions, give_grains};
use mapstack_frontend::inputs::flags::{SiteFlags, complete};
use mapstack_frontend::inputs::{NoWarnings, Project, WarningSink as _};
use mapstack_report::minions::{MinionRow, text};

use crate::forms::ListingFormat;
use crate::{memory, output};

#[derive(Debug, Args)]
#[command(after_help = "\
Minions come from a roster, from pillars with a file for each (pillar/id/*.sls), from nodes of
reclass and saltclass, and from ids in top files and nodegroups. A target without such a minion gets
a made-up one. `minions` in .mapstack.yaml replaces them; `mapstack init` writes that file.

Examples:
  mapstack minions
      the minions of this checkout, what names them, and what is assumed of them
  mapstack minions -o json

Exit status: 0 done, 2 there is no estate here.")]
pub struct Minions {
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = ListingFormat::Text, value_name = "FORMAT")]
    pub format: ListingFormat,
}

/// All flags of other verbs, as they are where none is given.
#[derive(Debug, Parser)]
struct NoFlags {
    #[command(flatten)]
    site: SiteFlags,
}

/// The minions of a project. Where their pillars give them grains, these are compiled as verbs without flags compile them.
fn found(project: &Project) -> Result<FoundMinions, Failure> {
    let mut flags = NoFlags::parse_from(["mapstack"]).site;
    if project.grains_of_pillar().is_some() {
        let SiteFlags {
            files,
            facts,
            functions,
            ..
        } = &mut flags;
        complete(files, Some(facts), functions, &NoWarnings)?;
        give_grains(files, facts, functions, memory::limit)?;
    }
    let found = flags.facts.found.map(Arc::unwrap_or_clone);
    Ok(found.or_else(|| project.find_minions()).unwrap_or_default())
}

pub fn run(args: &Minions, reporter: &Reporter) -> Result<(), Failure> {
    let project = Project::find()?;
    let Some(project) = project else {
        return Err(Failure::Usage(
            "no estate here: no folder has a top.sls, or sls in a folder such as salt/ or states/"
                .into(),
        ));
    };
    let found = found(&project)?;
    let mut failed = Vec::new();
    let mut rows: Vec<MinionRow> = Vec::new();
    for one in &found.all {
        let grains = found.names_of_grains(one).unwrap_or_else(|error| {
            failed.push(error);
            one.grains.clone()
        });
        rows.push(MinionRow {
            id: one.minion.id().to_string(),
            platform: one.platform.into(),
            grains,
            from: one.from.clone(),
            made_up: one.is_made_up,
        });
    }
    if rows.is_empty() {
        reporter.note_of(
            "the checkout names no minion, and its targets ask for none in particular, so one of each built-in platform \
             represents them all; `minions` in .mapstack.yaml names others",
        );
        rows.extend(platforms::all().iter().map(MinionRow::of_platform));
    }
    match args.format {
        ListingFormat::Text => output::write_listing(&text(&rows))?,
        ListingFormat::Json => output::write_json(&rows)?,
    }
    if let Some(first) = failed.first() {
        let mut warning = first.diagnostic().clone();
        warning.severity = Severity::Warning;
        warning.notes.push(format!(
            "grains that come from the pillar are left out for {} of {} minions",
            failed.len(),
            found.all.len()
        ));
        reporter.warn_of(&[warning])?;
    }
    for target in &found.targets_left {
        reporter.note_of(&format!("no minion was made up for the target '{target}'"));
    }
    if found.is_cut {
        reporter.note_of("the checkout names more minions, which were left out");
    }
    Ok(())
}
