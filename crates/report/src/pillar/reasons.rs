//! Why a pillar has what it has: top files, targets, sls and external pillars, one line or row each.

use std::fmt;

use mapstack::Place;
use mapstack_pillar::{SlsOutcome, WholeEvent};
use serde::Serialize;

/// A step of compiling a whole pillar.
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
        /// True if it matches the minion.
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
        /// The outcome with what is only for people: the number of keys, or what there is in place of a mapping.
        #[serde(skip)]
        words: String,
    },
    /// An external pillar.
    External {
        external: &'e str,
        /// The place in the configuration that names it, as file:line:column.
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
                is_match,
            } => WholeStep::Target {
                target,
                saltenv,
                matcher,
                matches: *is_match,
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
                words: words(outcome),
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

/// The step in a line of text.
impl fmt::Display for WholeStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WholeStep::Top {
                top,
                saltenv,
                included_as,
            } => {
                let top = top.unwrap_or("no such file");
                write!(
                    f,
                    "top  {saltenv}  {top}{}",
                    before("  included as ", *included_as)
                )
            }
            WholeStep::Target {
                target,
                saltenv,
                matcher,
                matches,
                place,
                sls,
            } => {
                let answer = if *matches { "yes" } else { "no" };
                let (at, sls) = (behind(place.as_deref()), sls.join(", "));
                write!(
                    f,
                    "  {answer:<3}  {saltenv}  '{target}'  {matcher}  {at}{sls}"
                )
            }
            WholeStep::Sls {
                sls,
                saltenv,
                file,
                included_by,
                words,
                ..
            } => {
                let (file, by) = (before("  ", *file), before("  included by ", *included_by));
                write!(f, "sls  {saltenv}  {sls}{file}{by}  {words}")
            }
            WholeStep::External {
                external,
                place,
                problem,
            } => {
                let problem = problem.unwrap_or("merged");
                write!(
                    f,
                    "external  {external}  {}{problem}",
                    behind(place.as_deref())
                )
            }
        }
    }
}

/// The value, after a word for its kind.
pub(super) fn before(word: &str, there: Option<&str>) -> String {
    there
        .map(|there| format!("{word}{there}"))
        .unwrap_or_default()
}

/// A place before something else.
fn behind(place: Option<&str>) -> String {
    place.map(|place| format!("{place}  ")).unwrap_or_default()
}

pub(super) fn position(place: &Place) -> String {
    format!("{}:{}:{}", place.file, place.line(), place.column())
}

pub(super) fn words(outcome: &SlsOutcome) -> String {
    match outcome {
        SlsOutcome::Read(1) => "1 key".into(),
        SlsOutcome::Read(keys) => format!("{keys} keys"),
        SlsOutcome::NoMapping(what) => format!("not a mapping but {what}"),
        outcome => word(outcome).into(),
    }
}

pub(super) fn word(outcome: &SlsOutcome) -> &'static str {
    match outcome {
        SlsOutcome::Read(_) => "read",
        SlsOutcome::Again => "again",
        SlsOutcome::Missing => "missing",
        SlsOutcome::MayMiss => "missing, as it may be",
        SlsOutcome::NoMapping(_) => "not a mapping",
        SlsOutcome::Failed => "failed",
    }
}
