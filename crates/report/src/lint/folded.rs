//! Findings of one cause, shown once.

use std::collections::HashMap;

use mapstack::Means;
use mapstack_lint::{Finding, Level, Rule};

/// A finding, and the findings with the same message at other places, or at the same place on other minions.
pub struct Folded<'f> {
    /// The first.
    pub first: &'f Finding,
    /// The others.
    pub others: Vec<&'f Finding>,
}

/// The number of findings with one message that are shown separately.
const SHOWN: usize = 2;

/// The number of places that are named.
const NAMED: usize = 5;

/// The largest length of a text that is named with its place.
const LONGEST: usize = 48;

/// Findings of reports by their causes: those at one place, even with different messages, and those with one
/// message. A formula that no root has is one cause in all reports, and is with the first.
///
/// ```
/// use mapstack::Place;
/// use mapstack_lint::{Finding, Rule};
/// use mapstack_report::lint::folded;
/// let at = |line: usize| Place { file: "a.sls".into(), source: "\n\n\nx".into(), start: line, end: line };
/// let one = |line| Finding::new(Rule::MissingImport, at(line), "no root has 'users'");
/// let findings = [one(0), one(1), one(2)];
/// let folded = folded([&findings[..]]);
/// assert_eq!((folded[0].len(), folded[0][0].others.len()), (1, 2));
/// ```
pub fn folded<'f>(reports: impl IntoIterator<Item = &'f [Finding]>) -> Vec<Vec<Folded<'f>>> {
    let reports: Vec<&[Finding]> = reports.into_iter().collect();
    let findings = || {
        let numbered = reports.iter().enumerate();
        numbered.flat_map(|(number, findings)| findings.iter().map(move |one| (number, one)))
    };
    let mut by_message: HashMap<Cause<'_>, usize> = HashMap::new();
    for (report, finding) in findings() {
        *by_message.entry(cause(report, finding)).or_default() += 1;
    }
    let mut all: Vec<Vec<Folded<'_>>> = reports.iter().map(|_| Vec::new()).collect();
    let mut places: HashMap<(usize, Rule, &str, usize), usize> = HashMap::new();
    let mut messages: HashMap<Cause<'_>, (usize, usize)> = HashMap::new();
    for (report, finding) in findings() {
        let message = cause(report, finding);
        let place = (
            report,
            finding.rule,
            &*finding.place.file,
            finding.place.start,
        );
        let is_said_often = by_message.get(&message).is_some_and(|count| *count > SHOWN);
        let known = match messages.get(&message).filter(|_| is_said_often) {
            Some(known) => Some(*known),
            // Several findings about a file as a whole have the same place, and are different.
            None if finding.of_run && !finding.whole_file => {
                places.get(&place).map(|known| (report, *known))
            }
            None => None,
        };
        match known {
            Some((report, known)) => all[report][known].others.push(finding),
            None => {
                messages.insert(message, (report, all[report].len()));
                places.insert(place, all[report].len());
                all[report].push(Folded {
                    first: finding,
                    others: Vec::new(),
                });
            }
        }
    }
    all
}

/// The key that findings of one cause share: the number of their report, unless that does not matter, and their text.
type Cause<'f> = (Option<usize>, Rule, Level, &'f str);

fn cause(report: usize, finding: &Finding) -> Cause<'_> {
    let is_anywhere = finding.rule == Rule::MissingInclude && finding.level == Level::Note;
    let report = (!is_anywhere).then_some(report);
    (report, finding.rule, finding.level, &finding.message)
}

impl Folded<'_> {
    /// The first finding, with a note about the others.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let finding = self.first.clone();
        if self.others.is_empty() {
            return finding;
        }
        let is_here = |other: &&&Finding| {
            other.place.file == self.first.place.file && other.place.start == self.first.place.start
        };
        let (here, elsewhere): (Vec<&&Finding>, Vec<&&Finding>) =
            self.others.iter().partition(|other| is_here(other));
        let mut finding = finding;
        if !here.is_empty() {
            finding.notes.push(format!(
                "and {} more here, each with its own text: {} shows them",
                here.len(),
                Means::Each
            ));
        }
        if !elsewhere.is_empty() {
            let named: Vec<String> = elsewhere.iter().take(NAMED).map(|one| named(one)).collect();
            let more = match elsewhere.len().checked_sub(NAMED) {
                Some(more) if more > 0 => format!(" and {more} more; {} shows them", Means::Each),
                _ => String::new(),
            };
            finding
                .notes
                .push(format!("also at {}{more}", named.join(", ")));
        }
        finding
    }
}

/// The place of a finding, with the text there if it is short.
fn named(finding: &Finding) -> String {
    let place = &finding.place;
    let text = place.source.get(place.start..place.end);
    let text = text.filter(|text| {
        !text.is_empty() && text.len() <= LONGEST && !text.contains(char::is_control)
    });
    match text.filter(|_| !finding.whole_file) {
        Some(text) => format!("{} {text}", finding.position()),
        None => finding.position(),
    }
}
