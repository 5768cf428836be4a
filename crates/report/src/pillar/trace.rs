//! The files of stacked pillars, in order, and what came of each.

use mapstack::value::{Map, Value};
use mapstack_pillar::{FileOutcome, PillarEvent, StackEvent};

use super::reasons;

/// What happened, by minion where there are several.
#[derive(Default)]
pub struct Traced(Vec<(Option<String>, Vec<PillarEvent>)>);

impl Traced {
    /// What happened for a minion, which is named where there are several.
    pub fn add(&mut self, minion: Option<String>, events: Vec<PillarEvent>) {
        self.0.push((minion, events));
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        for (minion, events) in &self.0 {
            lines.extend(minion.clone());
            lines.extend(events.iter().map(line));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// For programs.
    pub fn rows(&self) -> Value {
        let rows = self.0.iter().flat_map(|(minion, events)| {
            events.iter().map(move |event| {
                let mut row = Map::new();
                if let Some(minion) = minion {
                    row.insert("minion", minion.as_str());
                }
                row.extend(entries(event));
                Value::from(row)
            })
        });
        rows.collect()
    }
}

fn line(event: &PillarEvent) -> String {
    match event {
        PillarEvent::Whole(event) => reasons::line(event),
        PillarEvent::Stack(event) => stack_line(event),
    }
}

fn stack_line(event: &StackEvent) -> String {
    match event {
        StackEvent::Config {
            kind,
            path,
            selected_by,
            graft,
            found,
        } => {
            let by = selected_by
                .as_ref()
                .map(|by| format!("  {by}"))
                .unwrap_or_default();
            let graft = graft
                .as_ref()
                .map(|graft| format!("  below {graft}"))
                .unwrap_or_default();
            let miss = if *found { "" } else { "  no such file" };
            format!("{}  {path}{by}{graft}{miss}", kind.name())
        }
        StackEvent::File {
            item,
            path,
            outcome,
        } => {
            let why = match outcome {
                FileOutcome::Missing | FileOutcome::Merged(_) => String::new(),
                FileOutcome::NoMapping(what) => format!("  {what}"),
                FileOutcome::Dropped(why) | FileOutcome::Failed(why) => format!("  {why}"),
            };
            format!(
                "  {:<11}  {}{why}",
                word(outcome),
                path.as_ref().unwrap_or(item)
            )
        }
    }
}

fn entries(event: &PillarEvent) -> Vec<(&'static str, Value)> {
    match event {
        PillarEvent::Whole(event) => reasons::entries(event),
        PillarEvent::Stack(event) => stack_entries(event),
    }
}

fn stack_entries(event: &StackEvent) -> Vec<(&'static str, Value)> {
    match event {
        StackEvent::Config {
            kind,
            path,
            selected_by,
            graft,
            found,
        } => vec![
            ("pillar", kind.name().into()),
            ("config", path.into()),
            ("selected_by", selected_by.as_deref().into()),
            ("graft", graft.as_deref().into()),
            ("found", (*found).into()),
        ],
        StackEvent::File {
            item,
            path,
            outcome,
        } => {
            let mut entries = vec![
                ("item", item.into()),
                ("file", path.as_deref().into()),
                ("outcome", word(outcome).into()),
            ];
            match outcome {
                FileOutcome::NoMapping(what) => entries.push(("reason", (*what).into())),
                FileOutcome::Dropped(why) | FileOutcome::Failed(why) => {
                    entries.push(("reason", why.into()));
                }
                FileOutcome::Missing | FileOutcome::Merged(_) => {}
            }
            entries
        }
    }
}

fn word(outcome: &FileOutcome) -> &'static str {
    match outcome {
        FileOutcome::Merged(strategy) => strategy.name(),
        FileOutcome::Missing => "miss",
        FileOutcome::NoMapping(_) => "ignored",
        FileOutcome::Dropped(_) => "left out",
        FileOutcome::Failed(_) => "failed",
    }
}
