//! Why a pillar has what it has: top files, targets, sls and external pillars, one line or row each.

use mapstack::Place;
use mapstack_pillar::{SlsOutcome, WholeEvent};
use serde::Serialize;

/// For people.
pub(super) fn line(event: &WholeEvent) -> String {
    match event {
        WholeEvent::Top {
            saltenv,
            path,
            included,
        } => {
            let path = path.as_deref().unwrap_or("no such file");
            let included = included
                .as_ref()
                .map(|name| format!("  included as {name}"))
                .unwrap_or_default();
            format!("top  {saltenv}  {path}{included}")
        }
        WholeEvent::Target {
            saltenv,
            target,
            matcher,
            place,
            sls,
            is_meant,
        } => format!(
            "  {:<3}  {saltenv}  '{target}'  {matcher}  {}{}",
            if *is_meant { "yes" } else { "no" },
            shown(place.as_ref()),
            sls.join(", ")
        ),
        WholeEvent::Sls {
            sls,
            saltenv,
            path,
            included_by,
            outcome,
        } => {
            let path = path
                .as_ref()
                .map(|path| format!("  {path}"))
                .unwrap_or_default();
            let by = included_by
                .as_ref()
                .map(|by| format!("  included by {by}"))
                .unwrap_or_default();
            format!("sls  {saltenv}  {sls}{path}{by}  {}", words(outcome))
        }
        WholeEvent::External {
            name,
            place,
            problem,
        } => {
            let problem = problem.as_deref().unwrap_or("merged");
            format!("external  {name}  {}{problem}", shown(place.as_ref()))
        }
    }
}

/// A step of compiling a whole pillar, for programs.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(inline))]
#[serde(untagged)]
pub(super) enum WholeStep<'e> {
    /// A top file was looked for.
    Top {
        top: Option<&'e str>,
        saltenv: &'e str,
        /// The name by which another top file includes it.
        included_as: Option<&'e str>,
    },
    /// A target of a top file.
    Target {
        target: &'e str,
        saltenv: &'e str,
        matcher: &'e str,
        /// Whether it means the minion.
        matches: bool,
        /// file:line:column
        place: Option<String>,
        /// The sls below it.
        sls: Vec<&'e str>,
    },
    /// An sls.
    Sls {
        sls: &'e str,
        saltenv: &'e str,
        file: Option<&'e str>,
        included_by: Option<&'e str>,
        /// `read`, `again`, `missing`, `missing, as it may be`, `not a mapping` or `failed`.
        outcome: &'static str,
    },
    /// An external pillar.
    External {
        external: &'e str,
        /// Where the configuration names it, as file:line:column.
        place: Option<String>,
        /// Why it is not merged.
        problem: Option<&'e str>,
    },
}

impl<'e> WholeStep<'e> {
    pub(super) fn of(event: &'e WholeEvent) -> Self {
        match event {
            WholeEvent::Top {
                saltenv,
                path,
                included,
            } => WholeStep::Top {
                top: path.as_deref(),
                saltenv,
                included_as: included.as_deref(),
            },
            WholeEvent::Target {
                saltenv,
                target,
                matcher,
                place,
                sls,
                is_meant,
            } => WholeStep::Target {
                target,
                saltenv,
                matcher,
                matches: *is_meant,
                place: place.as_ref().map(position),
                sls: sls.iter().map(String::as_str).collect(),
            },
            WholeEvent::Sls {
                sls,
                saltenv,
                path,
                included_by,
                outcome,
            } => WholeStep::Sls {
                sls,
                saltenv,
                file: path.as_deref(),
                included_by: included_by.as_deref(),
                outcome: word(outcome),
            },
            WholeEvent::External {
                name,
                place,
                problem,
            } => WholeStep::External {
                external: name,
                place: place.as_ref().map(position),
                problem: problem.as_deref(),
            },
        }
    }
}

fn position(place: &Place) -> String {
    format!("{}:{}:{}", place.file, place.line(), place.column())
}

fn shown(place: Option<&Place>) -> String {
    place
        .map(|place| format!("{}  ", position(place)))
        .unwrap_or_default()
}

fn words(outcome: &SlsOutcome) -> String {
    match outcome {
        SlsOutcome::Read(1) => "1 key".into(),
        SlsOutcome::Read(keys) => format!("{keys} keys"),
        SlsOutcome::NoMapping(what) => format!("not a mapping but {what}"),
        outcome => word(outcome).into(),
    }
}

fn word(outcome: &SlsOutcome) -> &'static str {
    match outcome {
        SlsOutcome::Read(_) => "read",
        SlsOutcome::Again => "again",
        SlsOutcome::Missing => "missing",
        SlsOutcome::MayMiss => "missing, as it may be",
        SlsOutcome::NoMapping(_) => "not a mapping",
        SlsOutcome::Failed => "failed",
    }
}
