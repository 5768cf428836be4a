//! Differences as a page for a browser.

use mapstack::{Error, ErrorKind};
use mapstack_fleet::{Failing, Group, Turn};
use mapstack_page::{Changed, Changes};

use super::text::place;
use super::{Report, turned};
use crate::yaml_form::{Sign, lines};

/// The differences as a page for a browser.
///
/// # Errors
/// The page's template fails, which no content makes it do.
pub fn html(report: &Report<'_>) -> Result<String, Error> {
    let changes = report
        .differences
        .groups()
        .iter()
        .map(|group| changed(report, group));
    let failing = report
        .differences
        .failing()
        .map(|(turn, failing)| failed(report, turn, failing));
    let page = Changes {
        from: report.from.into(),
        to: report.to.into(),
        summary: report.summary(),
        notes: report.accounting.lines(),
        changes: changes.chain(failing).collect(),
    };
    page.to_html()
        .map_err(|e| Error::new(ErrorKind::Template, e.to_string()))
}

fn changed(report: &Report<'_>, group: &Group) -> Changed {
    let (old, new) = report.values(group);
    let lines = lines(old.as_ref(), new.as_ref());
    let of = |sign: Sign| {
        lines
            .iter()
            .filter(|line| line.sign == sign)
            .map(|line| line.text.clone())
            .collect()
    };
    Changed {
        formulas: report.formulas(&group.formulas).join(", "),
        title: report.key(group),
        gone: of(Sign::Gone),
        come: of(Sign::New),
        was: group.old_origin.as_ref().map(place),
        is: group.new_origin.as_ref().map(place),
        common: report.common(&group.minions),
        minions: group.minions.clone(),
        ..Changed::default()
    }
}

fn failed(report: &Report<'_>, turn: Turn, failing: &Failing) -> Changed {
    Changed {
        formulas: report.formulas(&[failing.formula]).join(""),
        title: turned(turn).into(),
        message: Some(report.message(failing)),
        common: report.common(&failing.minions),
        minions: failing.minions.clone(),
        ..Changed::default()
    }
}
