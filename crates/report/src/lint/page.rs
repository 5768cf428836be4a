//! Findings as a page for a browser.

use std::collections::HashMap;
use std::sync::Arc;

use mapstack::value::cut;
use mapstack::{Error, ErrorKind};
use mapstack_lint::{Finding, Level, LintReport};

use super::most::ShownFindings;
use super::{LintText, UncheckedSubjects, counts};
use crate::page::{ListingItem, ListingPage, QuotedPlace};
use crate::words::count;

/// Lines before and behind a finding.
const AROUND: usize = 2;

/// The findings as a page for a browser, errors first.
///
/// # Errors
/// The page's template fails, which no content makes it do.
pub fn html(reports: &[(String, LintReport)], aside: &UncheckedSubjects) -> Result<String, Error> {
    let mut found: Vec<(&str, &LintReport, &Finding)> = Vec::new();
    for (formula, report) in reports {
        found.extend(
            report
                .findings
                .iter()
                .map(|one| (formula.as_str(), report, one)),
        );
    }
    found.sort_by_key(|(_, _, finding)| std::cmp::Reverse(finding.level));
    let mut quotes = Quotes::default();
    let (mut items, mut most) = (Vec::new(), ShownFindings::default());
    for (formula, report, finding) in found {
        most.show(finding.rule, || {
            let item = item((formula, report, finding), &mut quotes);
            let lines = item.place.lines.iter().map(|(_, line)| line.len());
            let texts = item.notes.iter().map(String::len);
            let bytes = item.title.len() + lines.chain(texts).sum::<usize>();
            items.push(item);
            bytes
        });
    }
    let counts = counts(reports).into_iter().filter(|(_, n)| *n > 0);
    let counts: Vec<String> = counts.map(|(level, n)| count(n, level.name())).collect();
    let formulas: Vec<&str> = reports
        .iter()
        .map(|(formula, _)| formula.as_str())
        .collect();
    let page = ListingPage {
        verb: "lint".into(),
        title: formulas.join(", "),
        summary: match counts.is_empty() {
            true => "nothing found".into(),
            false => counts.join(", "),
        },
        notes: most
            .left_out()
            .chain(LintText::new(reports, aside).notes())
            .collect(),
        items,
        ..ListingPage::default()
    };
    page.to_html()
        .map_err(|e| Error::new(ErrorKind::Template, e.to_string()))
}

/// Files without their secrets, and where their lines begin: many findings are about the same ones.
#[derive(Default)]
struct Quotes(HashMap<usize, (String, Vec<usize>)>);

impl Quotes {
    /// The lines of a report's file around one.
    fn around(
        &mut self,
        report: &LintReport,
        source: &Arc<str>,
        line: usize,
    ) -> Vec<(usize, String)> {
        let known = Arc::as_ptr(source).addr();
        let (text, starts) = self.0.entry(known).or_insert_with(|| {
            let starred = report.starred(source);
            let ends = starred.match_indices('\n').map(|(at, _)| at + 1);
            let starts = std::iter::once(0).chain(ends).collect();
            (starred, starts)
        });
        let first = line.saturating_sub(AROUND).max(1);
        let lines = (first..=line + AROUND).filter_map(|number| {
            let start = *starts.get(number - 1)?;
            let text = text.get(start..).filter(|rest| !rest.is_empty())?;
            let text = text.lines().next().unwrap_or_default();
            Some((number, cut(text).into_owned()))
        });
        lines.collect()
    }
}

fn item(
    (formula, report, finding): (&str, &LintReport, &Finding),
    quotes: &mut Quotes,
) -> ListingItem {
    let place = &finding.place;
    let mut quoted = QuotedPlace {
        text: place.file.clone(),
        file: place.file.clone(),
        ..QuotedPlace::default()
    };
    if !finding.whole_file {
        let line = place.line();
        quoted.lines = quotes.around(report, &place.source, line);
        (quoted.text, quoted.line) = (place.to_string(), line);
    }
    let related = finding.related.iter();
    let related = related.map(|step| format!("{}: {}", step.what, step.place));
    let help = finding.help.iter().map(|help| format!("help: {help}"));
    ListingItem {
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
