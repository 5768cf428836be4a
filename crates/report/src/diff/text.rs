//! Differences for people.

use std::fmt::Write;

use mapstack::secrets::Redacted;
use mapstack::value::Value;
use mapstack_fleet::Group;
use mapstack_lineage::Spot;

use super::{Report, turned};
use crate::terminal::Paint;
use crate::yaml_form::{Sign, lines};

/// The differences for people.
pub fn text(report: &Report<'_>, colored: bool) -> String {
    let paint = Paint { colored };
    let mut text = String::new();
    for group in report.differences.groups() {
        one(report, group, &paint, &mut text);
    }
    for (turn, failing) in report.differences.failures() {
        let formula = report.subjects(&[failing.subject]);
        // Writing to text does not fail.
        let _ = writeln!(text, "{} {}", paint.key(&formula), turned(turn));
        let _ = writeln!(text, "  {}", report.message(failing).replace('\n', "\n  "));
        let _ = writeln!(text, "  {}\n", report.minions(&failing.minions));
    }
    let _ = writeln!(text, "{}", report.summary());
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

fn one(report: &Report<'_>, group: &Group, paint: &Paint, text: &mut String) {
    let (old, new) = report.values(group);
    let key = format!(
        "{}: {}",
        report.subjects(&group.subjects),
        report.key(group)
    );
    let _ = writeln!(text, "{}", paint.key(&key));
    let places = [&group.old_origin, &group.new_origin].map(|origin| origin.as_ref().map(place));
    text.push_str(&changed(old.as_ref(), new.as_ref(), &places, paint));
    let _ = writeln!(text, "  {}\n", report.minions(&group.minions));
}

/// A change line by line, with where the old and the new value stand.
pub fn changed(
    old: Option<&Redacted<Value>>,
    new: Option<&Redacted<Value>>,
    places: &[Option<String>; 2],
    paint: &Paint,
) -> String {
    let mut text = String::new();
    for line in lines(old, new) {
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

/// Where a value comes from.
pub fn place(spot: &Spot) -> String {
    match spot {
        Spot::File { computed: true, .. } => format!("{spot} (computed)"),
        _ => spot.to_string(),
    }
}
