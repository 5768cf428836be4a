//! Differences for people.

use std::fmt::Write;

use mapstack::secrets::Redacted;
use mapstack::value::Value;
use mapstack_lineage::Spot;

use super::Report;
use super::folded::{Shown, ShownChange, ShownFailure};
use crate::terminal::Paint;
use crate::yaml_form::{Line, Sign, lines};

/// The differences for people.
pub fn text(report: &Report<'_>, colored: bool) -> String {
    let paint = Paint { colored };
    let shown = Shown::of(report);
    let mut text = String::new();
    for failure in &shown.failures {
        failed(report, failure, &paint, &mut text);
    }
    for change in &shown.changes {
        one(report, change, &paint, &mut text);
    }
    for failure in &shown.still {
        failed(report, failure, &paint, &mut text);
    }
    // Writing to text does not fail.
    let _ = writeln!(text, "{}", report.summary(&shown));
    for line in report.accounting.lines() {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The same of one change among several, with the files that are different.
pub fn text_of_step(report: &Report<'_>, files: &[String], colored: bool) -> String {
    let files = match files.is_empty() {
        true => "files outside the roots, such as those of stacks",
        false => &files.join(", "),
    };
    format!("# {files}\n{}\n", text(report, colored))
}

fn failed(report: &Report<'_>, failure: &ShownFailure<'_>, paint: &Paint, text: &mut String) {
    let title = match failure.of(report) {
        of if of.is_empty() => paint.key(&failure.title()),
        of => format!("{} {}", paint.key(&of), failure.title()),
    };
    // Writing to text does not fail.
    let _ = writeln!(text, "{title}");
    for (sign, message) in failure.lines(report) {
        match sign {
            ' ' => {
                let _ = writeln!(text, "  {}", message.replace('\n', "\n  "));
            }
            _ => {
                let message = message.replace('\n', "\n    ");
                let _ = writeln!(text, "  {}", paint.line(sign, &message));
            }
        }
    }
    if let Some(missing) = failure.missing(report) {
        let _ = writeln!(text, "  {missing}");
    }
    let _ = writeln!(text, "  {}\n", failure.minions.text(report));
}

fn one(report: &Report<'_>, change: &ShownChange<'_>, paint: &Paint, text: &mut String) {
    let group = change.group;
    let (of, title) = report.heading(change);
    let _ = writeln!(text, "{}", paint.key(&format!("{of}: {title}")));
    let new_origin = &change.renamed.unwrap_or(group).new_origin;
    let places = [&group.old_origin, new_origin].map(|origin| origin.as_ref().map(place));
    text.push_str(&painted(report.lines(change), &places, paint));
    let _ = writeln!(text, "  {}\n", change.minions.text(report));
}

/// A change line by line, with the places of the old and the new value.
pub fn changed(
    old: Option<&Redacted<Value>>,
    new: Option<&Redacted<Value>>,
    places: &[Option<String>; 2],
    paint: &Paint,
) -> String {
    painted(lines(old, new), places, paint)
}

fn painted(lines: Vec<Line>, places: &[Option<String>; 2], paint: &Paint) -> String {
    let mut text = String::new();
    for line in lines {
        let place = places[usize::from(line.sign != Sign::Gone)]
            .as_deref()
            .filter(|_| line.is_last);
        let place = place
            .map(|place| format!("  {}", paint.origin(place)))
            .unwrap_or_default();
        let line = match line.sign {
            Sign::Omitted => paint.origin(&format!("  {}", line.text)),
            sign => paint.line(sign.as_char(), &line.text),
        };
        // Writing to text does not fail.
        let _ = writeln!(text, "  {line}{place}");
    }
    text
}

/// The origin of a value.
pub fn place(spot: &Spot) -> String {
    match spot {
        Spot::File { computed: true, .. } => format!("{spot} (computed)"),
        _ => spot.to_string(),
    }
}
