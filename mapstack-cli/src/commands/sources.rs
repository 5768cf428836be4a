//! `mapstack sources`.

use mapstack::DataOptions;
use mapstack::trace::{Asked, Event, Outcome, Stage};
use mapstack::value::{Map, Value};

use crate::cli::{Listing, Sources};
use crate::inputs::{Kwargs, Session};
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Sources, reporter: &Reporter) -> Result<(), Failure> {
    let kwargs = Kwargs::new(&args.input)?
        .layering(&args.layering)?
        .into_map();
    let options = DataOptions::from_kwargs(&kwargs)?;
    let session = Session::new(&args.input, reporter)?;
    let run = session.run();
    let result = run.data(&args.formula, &options);
    // What was asked before a failure is what one wants to see then.
    let events = run.events();
    match args.format {
        Listing::Text => output::write_listing(&text(&events))?,
        Listing::Json => output::write(&as_json(&events)?)?,
    }
    reporter.knows_texts(run.secret_texts());
    reporter.warn(&reporter.redact_all(&run.warnings()))?;
    result.map(|_| ()).map_err(Failure::from)
}

fn text(events: &[Event]) -> String {
    let mut lines = Vec::new();
    let mut heading = None;
    for event in events {
        let own = (event.stage, event.definition.clone());
        if heading.as_ref() != Some(&own) {
            lines.push(match &event.definition {
                Some(definition) if event.stage == Stage::Meta => {
                    format!("{definition} (meta configuration)")
                }
                Some(definition) => definition.to_string(),
                None => stage_name(event.stage).to_string(),
            });
            heading = Some(own);
        }
        lines.push(match &event.asked {
            Asked::File {
                path,
                outcome: Outcome::Hit(on_disk),
            } => {
                format!("  hit   salt://{path}  {}", on_disk.display())
            }
            Asked::File {
                path,
                outcome: Outcome::Miss,
            } => format!("  miss  salt://{path}"),
            Asked::File {
                path,
                outcome: Outcome::Refused(why),
            } => format!("  no    salt://{path}  {why}"),
            Asked::Value { found: true } => "  hit   a value".into(),
            Asked::Value { found: false } => "  miss  no value".into(),
            Asked::NoPaths { query: Some(query) } => format!("  miss  nothing under '{query}'"),
            Asked::NoPaths { query: None } => "  miss  an empty value leads to no path".into(),
        });
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Meta => "meta",
        Stage::Layers => "layers",
        Stage::PostMap => "post-map",
    }
}

fn as_json(events: &[Event]) -> Result<String, Failure> {
    let rows: Value = events.iter().map(|event| Value::from(row(event))).collect();
    output::as_json(&rows)
}

fn row(event: &Event) -> Map {
    let mut row = Map::new();
    row.insert("stage", stage_name(event.stage));
    row.insert("definition", event.definition.clone());
    match &event.asked {
        Asked::File { path, outcome } => {
            row.insert("path", format!("salt://{path}"));
            match outcome {
                Outcome::Hit(on_disk) => {
                    row.insert("outcome", "hit");
                    row.insert("file", on_disk.display().to_string());
                }
                Outcome::Miss => {
                    row.insert("outcome", "miss");
                }
                Outcome::Refused(why) => {
                    row.insert("outcome", "refused");
                    row.insert("reason", why);
                }
            }
        }
        Asked::Value { found } => {
            row.insert("outcome", if *found { "hit" } else { "miss" });
        }
        Asked::NoPaths { query } => {
            row.insert("outcome", "miss");
            row.insert("query", query.clone());
        }
    }
    row
}
