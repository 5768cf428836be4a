//! Differences for programs.

use mapstack::secrets::Redacted;
use mapstack::value::{Map, Value};
use mapstack::{Error, Way};
use mapstack_fleet::{Failing, Group, Subject, Turn};
use mapstack_lineage::Spot;

use super::{PILLAR, Report};
use crate::explain::rows::origin;
use crate::values::{as_json_line, number, object};

/// The differences for programs.
pub fn rows(report: &Report<'_>) -> Value {
    let differences = report.differences;
    let changes: Value = differences
        .groups()
        .iter()
        .map(|group| change(report, group))
        .collect();
    let failing: Value = differences
        .failing()
        .map(|(turn, failing)| failure(report, turn, failing))
        .collect();
    let broken: Value = differences
        .broken
        .iter()
        .map(|(minion, error)| {
            object([
                ("minion", minion.as_str().into()),
                ("error", error.to_string().into()),
            ])
        })
        .collect();
    object([
        ("from", report.from.into()),
        ("to", report.to.into()),
        ("formulas", report.names().into_iter().collect()),
        ("configurations", configurations(report)),
        ("files_changed", number(report.accounting.changed)),
        (
            "not_compared",
            report.accounting.not_compared.iter().collect(),
        ),
        ("pillars", report.accounting.pillars.is_some().into()),
        (
            "not_compared_of_pillar",
            report.accounting.unread_pillar().iter().collect(),
        ),
        (
            "not_compared_elsewhere",
            number(report.accounting.elsewhere),
        ),
        (
            "not_compared_outside",
            report.accounting.outside.iter().collect(),
        ),
        (
            "not_looked_at",
            report
                .accounting
                .unknown_outside
                .as_deref()
                .map_or(Value::None, Value::from),
        ),
        (
            "pillars_not_compared",
            report
                .accounting
                .no_pillars
                .as_deref()
                .map_or(Value::None, Value::from),
        ),
        ("minions", number(differences.minions)),
        ("affected", number(report.affected())),
        ("unaffected", number(differences.unaffected)),
        ("fail_in_both", number(differences.fail_still)),
        ("changes", changes),
        ("failing", failing),
        ("broken", broken),
    ])
}

/// The differences of one change among several on one line of JSON, with the files that are different.
///
/// # Errors
/// As [`as_json`](crate::values::as_json).
pub fn line(report: &Report<'_>, files: &[String]) -> Result<String, Error> {
    let mut step = Map::new();
    step.insert("files", files.iter().collect::<Value>());
    step.extend(rows(report).as_map().cloned().into_iter().flatten());
    as_json_line(&step.into())
}

/// How each formula's configuration is made.
fn configurations(report: &Report<'_>) -> Value {
    let configurations = &report.accounting.configurations;
    let row = |(formula, way): &(String, Way)| {
        let of = match way {
            Way::Data => "data",
            Way::Map => "map",
        };
        object([("formula", formula.as_str().into()), ("of", of.into())])
    };
    configurations.iter().map(row).collect()
}

fn change(report: &Report<'_>, group: &Group) -> Value {
    let (old, new) = report.values(group);
    let what = match (&old, &new) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    let spot = |spot: &Option<Spot>| spot.as_ref().map_or(Value::None, origin);
    object([
        ("key", report.key(group).into()),
        ("path", report.path(group)),
        ("what", what.into()),
        ("old", old.map_or(Value::None, Redacted::into_inner)),
        ("new", new.map_or(Value::None, Redacted::into_inner)),
        ("old_origin", spot(&group.old_origin)),
        ("new_origin", spot(&group.new_origin)),
        ("of", of(&group.subjects)),
        ("formulas", formulas(report, &group.subjects).collect()),
        ("count", number(group.minions.len())),
        ("minions", group.minions.iter().collect()),
    ])
}

/// Whether something is of the pillar or of formulas.
fn of(subjects: &[Subject]) -> Value {
    match subjects.contains(&Subject::Pillar) {
        true => PILLAR.into(),
        false => "formula".into(),
    }
}

/// The formulas among what changed.
fn formulas<'r>(report: &'r Report<'_>, subjects: &'r [Subject]) -> impl Iterator<Item = &'r str> {
    subjects.iter().filter_map(|subject| match subject {
        Subject::Formula(index) => report.formulas.get(*index).map(String::as_str),
        Subject::Pillar => None,
    })
}

fn failure(report: &Report<'_>, turn: Turn, failing: &Failing) -> Value {
    let turned = match turn {
        Turn::Broken => "broken",
        Turn::Fixed => "fixed",
        Turn::Otherwise => "otherwise",
    };
    object([
        ("turn", turned.into()),
        ("of", of(&[failing.subject])),
        (
            "formula",
            formulas(report, &[failing.subject])
                .next()
                .map_or(Value::None, Value::from),
        ),
        ("error", report.message(failing).into()),
        ("count", number(failing.minions.len())),
        ("minions", failing.minions.iter().collect()),
    ])
}
