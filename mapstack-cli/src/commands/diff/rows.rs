//! Differences for programs.

use mapstack::lineage::Spot;
use mapstack::value::Value;
use mapstack_fleet::{Failing, Group, Turn};

use super::Told;
use crate::commands::explain::joined;
use crate::commands::explain::rows::origin;
use crate::output::{number, object};

pub fn rows(told: &Told<'_>) -> Value {
    let differences = told.differences;
    let changes: Value = differences
        .groups()
        .iter()
        .map(|group| change(told, group))
        .collect();
    let failing: Value = differences
        .failing()
        .map(|(turn, failing)| failure(told, turn, failing))
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
        ("from", told.from.into()),
        ("to", told.to.into()),
        ("formulas", told.formulas.iter().collect()),
        ("minions", number(differences.minions)),
        ("affected", number(told.affected())),
        ("unaffected", number(differences.unaffected)),
        ("fail_in_both", number(differences.fail_still)),
        ("changes", changes),
        ("failing", failing),
        ("broken", broken),
    ])
}

fn change(told: &Told<'_>, group: &Group) -> Value {
    let (old, new) = told.values(group);
    let what = match (&old, &new) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    let spot = |spot: &Option<Spot>| spot.as_ref().map_or(Value::None, origin);
    object([
        ("key", joined(&group.change.path).into()),
        (
            "path",
            group
                .change
                .path
                .iter()
                .map(mapstack::value::Key::to_value)
                .collect(),
        ),
        ("what", what.into()),
        ("old", old.unwrap_or_default()),
        ("new", new.unwrap_or_default()),
        ("old_origin", spot(&group.old_origin)),
        ("new_origin", spot(&group.new_origin)),
        (
            "formulas",
            told.formulas(&group.formulas).into_iter().collect(),
        ),
        ("count", number(group.minions.len())),
        ("minions", group.minions.iter().collect()),
    ])
}

fn failure(told: &Told<'_>, turn: Turn, failing: &Failing) -> Value {
    let turned = match turn {
        Turn::Broken => "broken",
        Turn::Mended => "mended",
        Turn::Otherwise => "otherwise",
    };
    object([
        ("turn", turned.into()),
        ("formula", told.formulas(&[failing.formula]).join("").into()),
        ("error", told.message(failing).into()),
        ("count", number(failing.minions.len())),
        ("minions", failing.minions.iter().collect()),
    ])
}
