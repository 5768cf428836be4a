//! Findings as a page for a browser.

use crate::page::{Item, Listing, Quoted};
use mapstack::{Error, ErrorKind};
use mapstack_lint::{Finding, Level, Report};

use super::{Aside, Text, counts};
use crate::words::count;

/// Lines before and behind a finding.
const AROUND: usize = 2;

/// The findings as a page for a browser, errors first.
///
/// # Errors
/// The page's template fails, which no content makes it do.
pub fn html(reports: &[(String, Report)], aside: &Aside) -> Result<String, Error> {
    let mut found: Vec<(&str, &Report, &Finding)> = Vec::new();
    for (formula, report) in reports {
        found.extend(
            report
                .findings
                .iter()
                .map(|one| (formula.as_str(), report, one)),
        );
    }
    found.sort_by_key(|(_, _, finding)| std::cmp::Reverse(finding.level));
    let counts = counts(reports).into_iter().filter(|(_, n)| *n > 0);
    let counts: Vec<String> = counts.map(|(level, n)| count(n, level.name())).collect();
    let formulas: Vec<&str> = reports
        .iter()
        .map(|(formula, _)| formula.as_str())
        .collect();
    let page = Listing {
        verb: "lint".into(),
        title: formulas.join(", "),
        summary: match counts.is_empty() {
            true => "nothing found".into(),
            false => counts.join(", "),
        },
        notes: Text::new(reports, aside).notes(),
        items: found.into_iter().map(item).collect(),
        ..Listing::default()
    };
    page.to_html()
        .map_err(|e| Error::new(ErrorKind::Template, e.to_string()))
}

fn item((formula, report, finding): (&str, &Report, &Finding)) -> Item {
    let place = &finding.place;
    let mut quoted = Quoted {
        text: place.file.clone(),
        file: place.file.clone(),
        ..Quoted::default()
    };
    if !finding.whole_file {
        let line = place.line();
        let numbered = report.starred(&place.source);
        let first = line.saturating_sub(AROUND).max(1);
        let lines = numbered.lines().enumerate().skip(first - 1);
        quoted.lines = lines
            .take(line + AROUND + 1 - first)
            .map(|(at, text)| (at + 1, text.to_owned()))
            .collect();
        (quoted.text, quoted.line) = (place.to_string(), line);
    }
    let related = finding.related.iter();
    let related = related.map(|step| format!("{}: {}", step.what, step.place));
    let help = finding.help.iter().map(|help| format!("help: {help}"));
    Item {
        level: finding.level.name().into(),
        bad: finding.level == Level::Error,
        rule: finding.rule.name().into(),
        formula: formula.into(),
        title: finding.message.clone(),
        place: quoted,
        notes: finding
            .notes
            .iter()
            .cloned()
            .chain(related)
            .chain(help)
            .collect(),
    }
}
