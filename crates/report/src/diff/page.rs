//! Differences as a page for a browser.

use mapstack::secrets::Secrets;
use mapstack::value::Value;
use mapstack::{Error, ErrorKind};
use mapstack_fleet::{Failing, Group, Turn};
use mapstack_lineage::Spot;
use mapstack_page::{Changed, ChangedLine, Changes, Quoted};
use mapstack_redact::Excerpts;

use super::text::place;
use super::{Report, turned};
use crate::yaml_form::{Sign, lines};

/// The differences as a page for a browser.
///
/// # Errors
/// The page's template fails, which no content makes it do.
pub fn html(report: &Report<'_>) -> Result<String, Error> {
    let groups = report.differences.groups().iter();
    let failing = report.differences.failures();
    let page = Changes {
        from: report.from.into(),
        to: report.to.into(),
        summary: report.summary(),
        notes: report.accounting.lines(),
        failures: failing
            .map(|(turn, one)| failed(report, turn, one))
            .collect(),
        changes: groups.map(|group| changed(report, group)).collect(),
    };
    page.to_html()
        .map_err(|e| Error::new(ErrorKind::Template, e.to_string()))
}

fn changed(report: &Report<'_>, group: &Group) -> Changed {
    let (old, new) = report.values(group);
    let line = |line: crate::yaml_form::Line| ChangedLine {
        sign: match line.sign {
            Sign::Same => "same",
            Sign::Gone => "gone",
            Sign::New => "new",
            Sign::Omitted => "omitted",
        }
        .into(),
        text: line.text,
    };
    let secrets = report.secrets(&group.examples).derived(&group.secret_texts);
    let quoted = |spot: &Option<Spot>, value: &Option<Value>, shown: Option<&Value>| {
        let masked = value
            .as_ref()
            .zip(shown)
            .is_some_and(|(a, b)| !a.is_same(b));
        let hidden = value.as_ref().filter(|_| masked);
        spot.as_ref().map(|spot| quoted(spot, hidden, &secrets))
    };
    Changed {
        formulas: report.subjects(&group.subjects),
        title: report.key(group),
        was: quoted(&group.old_origin, &group.change.old, old.as_deref()),
        is: quoted(&group.new_origin, &group.change.new, new.as_deref()),
        lines: lines(old.as_ref(), new.as_ref())
            .into_iter()
            .map(line)
            .collect(),
        common: report.common(&group.minions),
        minions: group.minions.clone(),
        ..Changed::default()
    }
}

/// A place with lines of its file, without a value that is to be hidden.
fn quoted(spot: &Spot, hidden: Option<&Value>, secrets: &Secrets) -> Quoted {
    let mut quoted = Quoted {
        text: place(spot),
        ..Quoted::default()
    };
    let Spot::File { place, .. } = spot else {
        return quoted;
    };
    let mut excerpts = Excerpts::new(secrets);
    if let Some(value) = hidden {
        excerpts.hide_text(value);
        excerpts.hide_at(&place.file, &place.source, place.start);
    }
    excerpts.want(&place.file, &place.source, place.line());
    let of_file = excerpts.into_files().into_values().next();
    quoted.lines = of_file.unwrap_or_default().into_iter().collect();
    quoted.file.clone_from(&place.file);
    quoted.line = place.line();
    quoted
}

fn failed(report: &Report<'_>, turn: Turn, failing: &Failing) -> Changed {
    Changed {
        formulas: report.subjects(&[failing.subject]),
        title: turned(turn).into(),
        message: Some(report.message(failing)),
        bad: !matches!(turn, Turn::Fixed | Turn::Still),
        common: report.common(&failing.minions),
        minions: failing.minions.clone(),
        ..Changed::default()
    }
}
