//! Every file that was looked for, and what asked for it.

use mapstack::trace::{Asked, Event, Outcome, Stage};
use mapstack::value::{Map, Value};

/// The look-ups for people.
pub fn text(events: &[Event]) -> String {
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

/// The look-ups for programs.
pub fn rows(events: &[Event]) -> Value {
    events.iter().map(|event| Value::from(row(event))).collect()
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
