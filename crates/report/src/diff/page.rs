//! Differences as a page for a browser.

use crate::page::{Changed, ChangedLine, Changes, QuotedPlace};
use mapstack::secrets::Secrets;
use mapstack::value::Value;
use mapstack::{Error, ErrorKind};
use mapstack_diagnostic::redact::Excerpts;
use mapstack_lineage::ValuePosition;

use super::folded::{Minions, ShownChange, ShownDifferences, ShownFailure};
use super::states::StatesEntry;
use super::{DiffReport, STATES};
use crate::origin::place;
use crate::room::Room;
use crate::words::count;
use crate::yaml_form::{Sign, YamlChangeLine};

/// The differences as a page for a browser.
///
/// # Errors
/// The page's template fails, which no content makes it do.
pub fn html(report: &DiffReport<'_>) -> Result<String, Error> {
    let shown = ShownDifferences::of(report);
    let mut room = Room::default();
    let (mut bad, mut changes) = (Vec::new(), Vec::new());
    let mut quotes = Quotes::default();
    let mut show = |list: &mut Vec<Changed>, one: &mut dyn FnMut() -> Changed| {
        room.show(|| {
            let one = one();
            let bytes = one.bytes();
            list.push(one);
            bytes
        });
    };
    for failure in shown.all_failures() {
        show(&mut bad, &mut || failed(report, failure));
    }
    for broken in report.not_compared() {
        show(&mut bad, &mut || not_compared(&broken));
    }
    for change in &shown.changes {
        show(&mut changes, &mut || changed(report, change, &mut quotes));
    }
    for entry in &shown.states {
        show(&mut changes, &mut || of_states(report, entry));
    }
    let left_out = room.left_out("change").into_iter().chain(quotes.left_out());
    let [from, to] = report.sides();
    let page = Changes {
        from,
        to,
        summary: report.summary(&shown),
        notes: left_out.chain(report.closing()).collect(),
        failures: bad,
        changes,
    };
    page.to_html()
        .map_err(|e| Error::new(ErrorKind::Template, e.to_string()))
}

fn changed(report: &DiffReport<'_>, change: &ShownChange<'_>, quotes: &mut Quotes) -> Changed {
    let group = change.group;
    let (old, new) = report.values(group);
    let (of, title) = report.heading(change);
    let secrets = report.masking.of_example(&group.example);
    let mut quoted =
        |spot: &Option<ValuePosition>, value: &Option<Value>, shown: Option<&Value>| {
            let masked = value
                .as_ref()
                .zip(shown)
                .is_some_and(|(a, b)| !a.is_same(b));
            let hidden = value.as_ref().filter(|_| masked);
            spot.as_ref()
                .map(|spot| quotes.quoted(spot, hidden, &secrets))
        };
    Changed {
        formulas: of,
        title,
        was: quoted(&group.old_origin, &group.change.old, old.as_deref()),
        is: match change.renamed {
            None => quoted(&group.new_origin, &group.change.new, new.as_deref()),
            Some(renamed) => {
                let new = report.values(renamed).1;
                quoted(&renamed.new_origin, &renamed.change.new, new.as_deref())
            }
        },
        lines: report.lines(change).into_iter().map(changed_line).collect(),
        common: common(report, &change.minions),
        minions: change.minions.ids.to_vec(),
        ..Changed::default()
    }
}

fn changed_line(line: YamlChangeLine) -> ChangedLine {
    ChangedLine {
        sign: match line.sign {
            Sign::Same => "same",
            Sign::Gone => "gone",
            Sign::New => "new",
            Sign::Omitted => "omitted",
        }
        .into(),
        text: line.text,
        from: line.from,
    }
}

fn of_states(report: &DiffReport<'_>, entry: &StatesEntry<'_>) -> Changed {
    let place = (!entry.place.is_empty()).then(|| QuotedPlace {
        text: entry.place.clone(),
        ..QuotedPlace::default()
    });
    let title = match entry.reactions.is_empty() {
        true => entry.title.clone(),
        false => format!("{} ({})", entry.title, entry.reactions),
    };
    Changed {
        formulas: STATES.into(),
        title,
        from: entry.from.clone(),
        is: place,
        lines: entry.lines.iter().cloned().map(changed_line).collect(),
        common: common(report, &entry.minions),
        minions: entry.minions.ids.to_vec(),
        ..Changed::default()
    }
}

/// Limit on the bytes of all files that lines are quoted of: each is searched for secrets as a whole.
const MOST_SEARCHED: usize = 256 << 20;

/// The lines that a page quotes.
#[derive(Default)]
struct Quotes {
    searched: usize,
    left_out: usize,
}

impl Quotes {
    /// A place with lines of its file, without a value that is to be hidden.
    fn quoted(
        &mut self,
        spot: &ValuePosition,
        hidden: Option<&Value>,
        secrets: &Secrets,
    ) -> QuotedPlace {
        let mut quoted = QuotedPlace {
            text: place(spot),
            ..QuotedPlace::default()
        };
        let ValuePosition::File { place, .. } = spot else {
            return quoted;
        };
        quoted.file.clone_from(&place.file);
        quoted.line = place.line();
        if self.searched >= MOST_SEARCHED {
            self.left_out += 1;
            return quoted;
        }
        self.searched += place.source.len();
        let mut excerpts = Excerpts::new(secrets);
        if let Some(value) = hidden {
            excerpts.hide_text(value);
            excerpts.hide_at(&place.file, &place.source, place.start);
        }
        excerpts.want(&place.file, &place.source, place.line());
        let of_file = excerpts.into_files().into_values().next();
        quoted.lines = of_file.unwrap_or_default().into_iter().collect();
        quoted
    }

    /// The number of places without lines, in a sentence.
    fn left_out(&self) -> Option<String> {
        let places = count(self.left_out, "place");
        (self.left_out > 0).then(|| format!("{places} without lines of large files"))
    }
}

fn failed(report: &DiffReport<'_>, failure: &ShownFailure<'_>) -> Changed {
    let lines = failure.lines(report).into_iter();
    let lines = lines.map(|(sign, message)| match sign {
        ' ' => message,
        _ => format!("{sign} {message}"),
    });
    let lines: Vec<String> = lines.chain(failure.missing(report)).collect();
    Changed {
        formulas: failure.of(report),
        title: failure.title(),
        message: Some(lines.join("\n")),
        bad: failure.is_worse(),
        common: common(report, &failure.minions),
        minions: failure.minions.ids.to_vec(),
        ..Changed::default()
    }
}

fn not_compared((message, ids): &(String, Vec<&str>)) -> Changed {
    Changed {
        title: "not compared".into(),
        message: Some(message.clone()),
        bad: true,
        minions: ids.iter().map(|id| (*id).to_owned()).collect(),
        ..Changed::default()
    }
}

/// The common facts of the minions of a change, marked if each has a different form.
fn common(report: &DiffReport<'_>, minions: &Minions<'_>) -> Option<String> {
    match (report.common(&minions.ids), minions.is_own) {
        (common, false) => common,
        (Some(common), true) => Some(format!("{common}, each with its own value")),
        (None, true) => Some("these, each with its own value".into()),
    }
}
