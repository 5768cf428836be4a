//! Differences for people.

use std::fmt::Write;

use mapstack::value::Value;
use mapstack_fleet::Group;
use mapstack_lineage::Spot;

use super::{Report, turned};
use crate::terminal::Paint;

/// The differences for people.
pub fn text(report: &Report<'_>, colored: bool) -> String {
    let paint = Paint { colored };
    let mut text = String::new();
    for group in report.differences.groups() {
        one(report, group, &paint, &mut text);
    }
    for (turn, failing) in report.differences.failing() {
        let formula = report.formulas(&[failing.formula]).join("");
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

fn one(report: &Report<'_>, group: &Group, paint: &Paint, text: &mut String) {
    let (old, new) = report.values(group);
    let key = format!(
        "{}: {}",
        report.formulas(&group.formulas).join(", "),
        report.key(group)
    );
    let _ = writeln!(text, "{}", paint.key(&key));
    let places = [&group.old_origin, &group.new_origin].map(|origin| origin.as_ref().map(place));
    text.push_str(&changed(old.as_ref(), new.as_ref(), &places, paint));
    let _ = writeln!(text, "  {}\n", report.minions(&group.minions));
}

/// A change line by line, with where the old and the new value stand.
pub fn changed(
    old: Option<&Value>,
    new: Option<&Value>,
    places: &[Option<String>; 2],
    paint: &Paint,
) -> String {
    let mut text = String::new();
    for line in lines(old, new) {
        let place = places[usize::from(line.sign != '-')]
            .as_deref()
            .filter(|_| line.is_last);
        let place = place
            .map(|place| format!("  {}", paint.origin(place)))
            .unwrap_or_default();
        // Writing to text does not fail.
        let _ = writeln!(text, "  {}{place}", paint.line(line.sign, &line.text));
    }
    text
}

/// A line of a change.
pub struct Line {
    pub sign: char,
    pub text: String,
    /// Whether no other line of its sign follows.
    pub is_last: bool,
}

/// What goes and what comes: of lists the items, of other values all of them.
pub fn lines(old: Option<&Value>, new: Option<&Value>) -> Vec<Line> {
    let of = |sign: char, values: Vec<String>| {
        let last = values.len().saturating_sub(1);
        values
            .into_iter()
            .enumerate()
            .map(move |(at, text)| Line {
                sign,
                text,
                is_last: at == last,
            })
            .collect::<Vec<_>>()
    };
    if let (Some(Value::List(before)), Some(Value::List(after))) = (old, new) {
        let gone = without(before, after);
        let come = without(after, before);
        if gone.len() + come.len() > 0 {
            let items = |sign, items: Vec<String>| {
                of(
                    sign,
                    items
                        .into_iter()
                        .map(|item| format!("item {item}"))
                        .collect(),
                )
            };
            return items('-', gone)
                .into_iter()
                .chain(items('+', come))
                .collect();
        }
    }
    let whole = |value: Option<&Value>| value.map(Value::repr).into_iter().collect();
    of('-', whole(old))
        .into_iter()
        .chain(of('+', whole(new)))
        .collect()
}

/// The items of a list that another one does not have, as often as it has them more.
fn without(items: &[Value], others: &[Value]) -> Vec<String> {
    let mut left: Vec<String> = others.iter().map(Value::repr).collect();
    let mut only = Vec::new();
    for item in items.iter().map(Value::repr) {
        match left.iter().position(|other| *other == item) {
            Some(at) => drop(left.swap_remove(at)),
            None => only.push(item),
        }
    }
    only
}

/// Where a value comes from.
pub fn place(spot: &Spot) -> String {
    match spot {
        Spot::File { computed: true, .. } => format!("{spot} (computed)"),
        _ => spot.to_string(),
    }
}
