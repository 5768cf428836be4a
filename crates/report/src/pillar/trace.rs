//! The files of stacked pillars, in order, and the outcome of each.

use std::fmt;

use mapstack_pillar::{FileOutcome, PillarEvent, StackEvent};
use serde::Serialize;

use super::reasons::{WholeStep, before};

/// The events, by minion where there are several.
#[derive(Default)]
pub struct TracedMinions(Vec<(Option<String>, Vec<PillarEvent>)>);

impl TracedMinions {
    /// Add the events of a minion, which is named where there are several.
    pub fn add(&mut self, minion: Option<String>, events: Vec<PillarEvent>) {
        self.0.push((minion, events));
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        for (minion, events) in &self.0 {
            lines.extend(minion.clone());
            lines.extend(events.iter().map(|event| EventRow::of(event).to_string()));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// For programs.
    pub fn rows(&self) -> Trace<'_> {
        let rows = self.0.iter().flat_map(|(minion, events)| {
            let minion = minion.as_deref();
            events.iter().map(move |event| TraceRow {
                minion,
                step: EventRow::of(event),
            })
        });
        Trace(rows.collect())
    }
}

/// The files that pillars are made of, in order, and the outcome of each.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Trace<'e>(Vec<TraceRow<'e>>);

/// A step of compiling a pillar.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct TraceRow<'e> {
    /// The minion's id, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    minion: Option<&'e str>,
    #[serde(flatten)]
    step: EventRow<'e>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(inline))]
#[serde(untagged)]
enum EventRow<'e> {
    Whole(WholeStep<'e>),
    Stack(StackStep<'e>),
}

impl<'e> EventRow<'e> {
    fn of(event: &'e PillarEvent) -> Self {
        match event {
            PillarEvent::Whole(event) => EventRow::Whole(WholeStep::of(event)),
            PillarEvent::Stack(event) => EventRow::Stack(StackStep::of(event)),
        }
    }
}

impl fmt::Display for EventRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventRow::Whole(step) => step.fmt(f),
            EventRow::Stack(step) => step.fmt(f),
        }
    }
}

/// A step of a stacked pillar.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(inline))]
#[serde(untagged)]
pub(super) enum StackStep<'e> {
    /// A configuration file was looked for.
    Config {
        /// The name of the external pillar.
        pillar: &'e str,
        config: &'e str,
        /// The condition that selected it, for the minion.
        selected_by: Option<&'e str>,
        /// The key below which its data goes.
        graft: Option<&'e str>,
        found: bool,
    },
    /// A file of data was looked for.
    File {
        /// The entry of the configuration file.
        item: &'e str,
        file: Option<&'e str>,
        /// The strategy it was merged by, or `miss`, `ignored`, `left out` or `failed`.
        outcome: &'static str,
        /// Why it was not merged.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'e str>,
    },
    /// A class or a node was merged.
    Class {
        /// The name of the external pillar.
        pillar: &'e str,
        /// The name of the class, or the id of the node.
        class: &'e str,
        file: &'e str,
    },
}

impl<'e> StackStep<'e> {
    pub(super) fn of(event: &'e StackEvent) -> Self {
        match event {
            StackEvent::Config {
                kind,
                path,
                selected_by,
                graft,
                found,
            } => StackStep::Config {
                pillar: kind.name(),
                config: path,
                selected_by: selected_by.as_deref(),
                graft: graft.as_deref(),
                found: *found,
            },
            StackEvent::File {
                item,
                path,
                outcome,
            } => StackStep::File {
                item,
                file: path.as_deref(),
                outcome: word(outcome),
                reason: reason(outcome),
            },
            StackEvent::Class {
                external,
                name,
                path,
            } => StackStep::Class {
                pillar: external,
                class: name,
                file: path,
            },
        }
    }
}

/// The step in a line of text.
impl fmt::Display for StackStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StackStep::Config {
                pillar,
                config,
                selected_by,
                graft,
                found,
            } => {
                let (by, graft) = (before("  ", *selected_by), before("  below ", *graft));
                let miss = if *found { "" } else { "  no such file" };
                write!(f, "{pillar}  {config}{by}{graft}{miss}")
            }
            StackStep::File {
                item,
                file,
                outcome,
                reason,
            } => {
                let (file, why) = (file.unwrap_or(item), before("  ", *reason));
                write!(f, "  {outcome:<11}  {file}{why}")
            }
            StackStep::Class { class, file, .. } => write!(f, "  class  {class}  {file}"),
        }
    }
}

/// Why a file was not merged.
fn reason(outcome: &FileOutcome) -> Option<&str> {
    match outcome {
        FileOutcome::Missing | FileOutcome::Merged(_) => None,
        FileOutcome::NoMapping(what) => Some(what),
        FileOutcome::Dropped(why) | FileOutcome::Failed(why) => Some(why),
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
