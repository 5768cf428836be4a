//! Differences as a page for a browser.

use mapstack::{Error, ErrorKind};
use mapstack_fleet::{Failing, Group, Turn};
use mapstack_page::{Changed, Changes};

use super::text::{lines, place};
use super::{Told, turned};
use crate::commands::explain::joined;
use crate::report::Failure;

pub fn html(told: &Told<'_>) -> Result<String, Failure> {
    let changes = told
        .differences
        .groups()
        .iter()
        .map(|group| changed(told, group));
    let failing = told
        .differences
        .failing()
        .map(|(turn, failing)| failed(told, turn, failing));
    let page = Changes {
        from: told.from.into(),
        to: told.to.into(),
        summary: told.summary(),
        changes: changes.chain(failing).collect(),
    };
    page.to_html()
        .map_err(|e| Failure::Data(Error::new(ErrorKind::Template, e.to_string())))
}

fn changed(told: &Told<'_>, group: &Group) -> Changed {
    let (old, new) = told.values(group);
    let lines = lines(old.as_ref(), new.as_ref());
    let of = |sign: char| {
        lines
            .iter()
            .filter(|line| line.sign == sign)
            .map(|line| line.text.clone())
            .collect()
    };
    Changed {
        formulas: told.formulas(&group.formulas).join(", "),
        title: joined(&group.change.path),
        gone: of('-'),
        come: of('+'),
        was: group.old_origin.as_ref().map(place),
        is: group.new_origin.as_ref().map(place),
        minions: group.minions.clone(),
        ..Changed::default()
    }
}

fn failed(told: &Told<'_>, turn: Turn, failing: &Failing) -> Changed {
    Changed {
        formulas: told.formulas(&[failing.formula]).join(""),
        title: turned(turn).into(),
        message: Some(told.message(failing)),
        minions: failing.minions.clone(),
        ..Changed::default()
    }
}
