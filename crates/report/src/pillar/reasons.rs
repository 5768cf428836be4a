//! Why a pillar has what it has: top files, targets, sls and external pillars, one line or row each.

use mapstack::Place;
use mapstack::value::Value;
use mapstack_pillar::{SlsOutcome, WholeEvent};

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

/// For programs.
pub(super) fn entries(event: &WholeEvent) -> Vec<(&'static str, Value)> {
    match event {
        WholeEvent::Top {
            saltenv,
            path,
            included,
        } => vec![
            ("top", path.as_deref().into()),
            ("saltenv", saltenv.into()),
            ("included_as", included.as_deref().into()),
        ],
        WholeEvent::Target {
            saltenv,
            target,
            matcher,
            place,
            sls,
            is_meant,
        } => vec![
            ("target", target.into()),
            ("saltenv", saltenv.into()),
            ("matcher", matcher.into()),
            ("matches", (*is_meant).into()),
            ("place", place_row(place.as_ref())),
            ("sls", sls.iter().map(String::as_str).collect()),
        ],
        WholeEvent::Sls {
            sls,
            saltenv,
            path,
            included_by,
            outcome,
        } => vec![
            ("sls", sls.into()),
            ("saltenv", saltenv.into()),
            ("file", path.as_deref().into()),
            ("included_by", included_by.as_deref().into()),
            ("outcome", word(outcome).into()),
        ],
        WholeEvent::External {
            name,
            place,
            problem,
        } => vec![
            ("external", name.into()),
            ("place", place_row(place.as_ref())),
            ("problem", problem.as_deref().into()),
        ],
    }
}

fn place_row(place: Option<&Place>) -> Value {
    place.map(position).into()
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
