//! Differences for people.

use std::fmt::Write;

use mapstack::secrets::Redacted;
use mapstack::value::Value;

use super::DiffReport;
use super::folded::{ShownChange, ShownDifferences, ShownFailure};
use super::states::StatesEntry;
use crate::origin::place;
use crate::room::Room;
use crate::terminal::{KEY, ORIGIN, Styled, of_sign};
use crate::yaml_form::{Sign, YamlChangeLine, lines};

/// The differences for people.
#[must_use]
pub fn text(report: &DiffReport<'_>) -> Styled {
    text_in(report, Room::default())
}

fn text_in(report: &DiffReport<'_>, mut room: Room) -> Styled {
    let shown = ShownDifferences::of(report);
    let mut text = Styled::default();
    // Writing to text does not fail.
    let _ = writeln!(text, "{}", report.summary(&shown));
    if shown.has_entries() {
        text.plain("\n");
    }
    for failure in &shown.failures {
        text.in_room(&mut room, |text| failed(report, failure, text));
    }
    for change in &shown.changes {
        text.in_room(&mut room, |text| one(report, change, text));
    }
    for entry in &shown.states {
        text.in_room(&mut room, |text| of_states(report, entry, text));
    }
    for failure in &shown.still {
        text.in_room(&mut room, |text| failed(report, failure, text));
    }
    for line in room.left_out("change").into_iter().chain(report.closing()) {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The same of one change among several, with the files that are different.
#[must_use]
pub fn text_of_step(report: &DiffReport<'_>, files: &[String]) -> Styled {
    let files = match files.is_empty() {
        true => "files outside the roots, such as those of stacks",
        false => &files.join(", "),
    };
    let mut step = Styled::default();
    step.plain(&format!("# {files}\n"));
    step.append(&text(report));
    step.plain("\n");
    step
}

fn failed(report: &DiffReport<'_>, failure: &ShownFailure<'_>, text: &mut Styled) {
    match failure.of(report) {
        of if of.is_empty() => text.add(KEY, &failure.title()),
        of => {
            text.add(KEY, &of);
            text.plain(&format!(" {}", failure.title()));
        }
    }
    text.plain("\n");
    for (sign, message) in failure.lines(report) {
        match sign {
            ' ' => text.plain(&format!("  {}", message.replace('\n', "\n  "))),
            _ => {
                let message = message.replace('\n', "\n    ");
                text.plain("  ");
                text.add(of_sign(sign), &format!("{sign} {message}"));
            }
        }
        text.plain("\n");
    }
    // Writing to text does not fail.
    if let Some(missing) = failure.missing(report) {
        let _ = writeln!(text, "  {missing}");
    }
    let _ = writeln!(text, "  {}\n", failure.minions.text(report));
}

fn one(report: &DiffReport<'_>, change: &ShownChange<'_>, text: &mut Styled) {
    let group = change.group;
    let (of, title) = report.heading(change);
    text.add(KEY, &format!("{of}: {title}"));
    text.plain("\n");
    let new_origin = &change.renamed.unwrap_or(group).new_origin;
    let places = [&group.old_origin, new_origin].map(|origin| origin.as_ref().map(place));
    painted(report.lines(change), &places, "  ", text);
    // Writing to text does not fail.
    let _ = writeln!(text, "  {}\n", change.minions.text(report));
}

fn of_states(report: &DiffReport<'_>, entry: &StatesEntry<'_>, text: &mut Styled) {
    text.add(KEY, &entry.title);
    if !entry.place.is_empty() {
        text.plain("  ");
        text.add(ORIGIN, &format!("({})", entry.place));
    }
    if !entry.from.is_empty() {
        text.plain("  ");
        text.add(ORIGIN, &entry.from);
    }
    if !entry.reactions.is_empty() {
        text.plain(&format!("  {}", entry.reactions));
    }
    text.plain("\n");
    painted(entry.lines.clone(), &[None, None], "  ", text);
    // Writing to text does not fail.
    let _ = writeln!(text, "  {}\n", entry.minions.text(report));
}

/// Add a change line by line, with the places of the old and the new value.
pub(crate) fn changed(
    old: Option<&Redacted<Value>>,
    new: Option<&Redacted<Value>>,
    places: &[Option<String>; 2],
    text: &mut Styled,
) {
    painted(lines(old, new), places, "    ", text);
}

fn painted(
    lines: Vec<YamlChangeLine>,
    places: &[Option<String>; 2],
    indent: &str,
    text: &mut Styled,
) {
    for line in lines {
        let place = places[usize::from(line.sign != Sign::Gone)]
            .as_deref()
            .filter(|_| line.is_last);
        let place = place.or(Some(&*line.from).filter(|from| !from.is_empty()));
        text.plain(indent);
        match line.sign {
            Sign::Omitted => text.add(ORIGIN, &format!("  {}", line.text)),
            sign => {
                let sign = sign.as_char();
                text.add(of_sign(sign), &format!("{sign} {}", line.text));
            }
        }
        if let Some(place) = place {
            text.plain("  ");
            text.add(ORIGIN, place);
        }
        text.plain("\n");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mapstack::Engine;
    use mapstack::loader::MemoryFiles;
    use mapstack::minion::Minion;
    use mapstack::secrets::Secrets;
    use mapstack_fleet::{Comparison, Differences, Fleet, Masking};

    use super::*;
    use crate::diff::Accounting;

    #[test]
    fn changes_without_room_are_counted_and_those_of_a_minion_share_its_secrets() {
        let engine = |values: &str| {
            let path = "users/parameters/defaults.yaml";
            Engine::new(MemoryFiles::new().file("base", path, values))
        };
        let both = [engine("values: {}"), engine("values: {a: 1, b: 2, c: 3}")];
        let fleets = both
            .each_ref()
            .map(|engine| Fleet::new(engine).formula("users"));
        let comparison = Comparison::new(&fleets[0], &fleets[1]);
        let minion = Minion::new("web1").complete();
        let mut differences = Differences::default();
        let compared = comparison.compare(&minion);
        differences.add(&comparison, "web1", compared, || minion.clone());
        let masking = Masking::new(Secrets::without_digests());
        let report = DiffReport {
            accounting: &Accounting::default(),
            from: "before",
            to: "now",
            formulas: &["users".to_owned()],
            differences: &differences,
            masking: &masking,
            each: false,
        };
        assert_eq!(
            text_in(&report, Room::of(1)).shown(false),
            "\
3 changes on 1 of 1 minion; 0 unaffected

users: a
  + 1  users/parameters/defaults.yaml:1:13
  on 1 minion: web1

2 more changes not shown; -o json has all
nothing was compared
no file's content differs
"
        );
        let [a, b, _] = differences.groups() else {
            panic!("three changes");
        };
        let secrets = masking.of_example(&a.example);
        assert!(Arc::ptr_eq(&secrets, &masking.of_example(&b.example)));
    }
}
