//! Changes of what states do, as entries that each format prints.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use mapstack::secrets::{Redacted, Secrets};
use mapstack::value::{Key, Value};
use mapstack_fleet::states::{
    FileCauses, FileChange, PlanChange, PlannedFile, PlannedText, StateCauses, StateChange,
    StateName, StatesGroup,
};
use mapstack_fleet::{Change, Departed};

use super::causes::{after_argument, after_lines, in_words, is_at};
use super::departed;
use super::folded::{Minions, fold};
use super::{DiffReport, NAMED};
use crate::words::{count, joined, shown_path, some};
use crate::yaml_form::{Sign, YamlChangeLine, line, lines, note, text_lines};

/// A shown change of states.
pub(super) struct StatesEntry<'d> {
    /// The change, as the first minion has it.
    pub group: Option<&'d StatesGroup>,
    /// The subject of the change, such as `file /etc/motd`.
    pub title: String,
    /// The place of the state, and the source of its file.
    pub place: String,
    /// The places from which a state is new or gone.
    pub from: String,
    /// The states that react.
    pub reactions: String,
    pub lines: Vec<YamlChangeLine>,
    pub minions: Minions<'d>,
}

/// Files of one state that are shown.
const MAX_FILES: usize = 20;
/// Lines of a file that is new, or of one file among several.
const MAX_NEW: usize = 20;
/// Reactions that are named.
const MAX_REACTIONS: usize = 4;

/// The entries of all changes: changes that differ only in each minion's own names are one entry, unless each
/// is shown.
pub(super) fn entries<'d>(report: &DiffReport<'d>) -> Vec<StatesEntry<'d>> {
    let groups = report.differences.states.groups();
    let folded = fold(groups.iter(), |group| {
        ((!report.each).then(|| group.alike()), &group.minions)
    });
    let (order, states): (Vec<_>, Vec<_>) = folded
        .into_iter()
        .partition(|(group, _)| matches!(group.change, PlanChange::Order(_)));
    let states = states.into_iter().filter_map(|(group, minions)| {
        let PlanChange::State(change) = &group.change else {
            return None;
        };
        Some(of_state(report, group, change, minions))
    });
    let states = with_moves(report, states.collect());
    let states = states.into_iter().chain(of_order(report, order));
    let departed = report.differences.states.departed();
    states.chain(departed.map(of_departed)).collect()
}

/// The entry of something that Salt no longer has.
fn of_departed(departed: &Departed) -> StatesEntry<'_> {
    let (title, lines) = departed::sentence(departed);
    StatesEntry {
        group: None,
        title,
        place: String::new(),
        from: String::new(),
        reactions: String::new(),
        lines,
        minions: Minions {
            ids: Cow::Borrowed(&departed.minions),
            is_own: false,
        },
    }
}

/// The entries. States that only moved from one sls to another on the same minions are one entry.
fn with_moves<'d>(report: &DiffReport<'d>, entries: Vec<StatesEntry<'d>>) -> Vec<StatesEntry<'d>> {
    let mut known: BTreeMap<(String, Vec<String>), usize> = BTreeMap::new();
    let mut all: Vec<(StatesEntry<'d>, Vec<String>)> = Vec::new();
    for entry in entries {
        let Some((group, change)) = entry.group.and_then(|group| Some((group, group.state()?)))
        else {
            continue;
        };
        let key = is_move(change).then(|| {
            let sls = |name: &Option<StateName>| name.as_ref().map(|name| name.sls.clone());
            let both = (sls(&change.old), sls(&change.new));
            (format!("{both:?}"), entry.minions.ids.to_vec())
        });
        let next = all.len();
        let at = key.map(|key| *known.entry(key).or_insert(next));
        let secrets = secrets(report, group);
        let state = change.new.as_ref().map(|name| called(name, &secrets));
        match at.and_then(|at| all.get_mut(at)) {
            Some((_, states)) => states.extend(state),
            None => all.push((entry, state.into_iter().collect())),
        }
    }
    let titled = all.into_iter().map(|(entry, states)| match &states[..] {
        [_, _, ..] => StatesEntry {
            title: format!("{}: sls", some(&states, NAMED)),
            ..entry
        },
        _ => entry,
    });
    titled.collect()
}

/// True if a state moved to another sls, and is the same otherwise.
fn is_move(change: &StateChange) -> bool {
    let is_sls = |change: &Change| change.path == [Key::from("sls")];
    change.files.is_empty() && matches!(&change.arguments[..], [one] if is_sls(one))
}

/// The name of a state for people.
pub(super) fn called(name: &StateName, secrets: &Secrets) -> String {
    let StateName {
        module,
        function,
        id,
        name,
        ..
    } = name;
    let shown = |text: &str| on_a_line(&secrets.scrubbed(text));
    match id == name || name.is_empty() {
        true => format!("{module}.{function} '{}'", shown(id)),
        false => format!("{module}.{function} '{}' ({})", shown(id), shown(name)),
    }
}

/// The most of a name that is shown.
const MAX_NAME: usize = 120;

/// The beginning of a name, such as a command of several lines.
fn on_a_line(name: &str) -> String {
    let line = name.lines().next().unwrap_or_default();
    let line: String = line.chars().take(MAX_NAME).collect();
    match line.len() == name.len() {
        true => line,
        false => format!("{line}…"),
    }
}

fn of_state<'d>(
    report: &DiffReport<'d>,
    group: &'d StatesGroup,
    change: &'d StateChange,
    minions: Minions<'d>,
) -> StatesEntry<'d> {
    let secrets = secrets(report, group);
    let (title, is_only) = title(change, &secrets);
    let nothing = StateCauses::default();
    let causes = group.causes.as_ref().unwrap_or(&nothing);
    let mut all = Vec::new();
    for (at, argument) in change.arguments.iter().enumerate() {
        let lines = argument_lines(argument, is_only, &secrets);
        let of = causes.arguments.get(at).cloned().unwrap_or_default();
        all.extend(after_argument(lines, &of, &secrets));
    }
    for (at, file) in change.files.iter().take(MAX_FILES).enumerate() {
        let of = causes.files.get(at).cloned().unwrap_or_default();
        all.extend(file_lines(file, &of, change, &secrets));
    }
    let more = change.files.len().saturating_sub(MAX_FILES);
    if more > 0 {
        all.push(note(format!("… {} more", count(more, "changed file"))));
    }
    let reactions: Vec<String> = change
        .reactions
        .iter()
        .map(|reaction| on_a_line(&secrets.scrubbed(&reaction.to_string())))
        .collect();
    let place = place(group, change);
    let from = causes.state.concat();
    let is_said = matches!(&from[..], [one] if is_at(one, &place));
    StatesEntry {
        from: if is_said {
            String::new()
        } else {
            in_words(&from, &secrets)
        },
        place,
        reactions: some(&reactions, MAX_REACTIONS),
        group: Some(group),
        title,
        lines: all,
        minions,
    }
}

pub(super) fn secrets(report: &DiffReport<'_>, group: &StatesGroup) -> Arc<Secrets> {
    report.masking.of_example(&group.example)
}

/// The subject of a change; true if it includes the only argument that changed.
fn title(change: &StateChange, secrets: &Secrets) -> (String, bool) {
    let both = (&change.old, &change.new);
    let Some(name) = change.new.as_ref().or(change.old.as_ref()) else {
        return (String::new(), false);
    };
    let file = match &change.files[..] {
        [file] => file.new.as_ref().or(file.old.as_ref()),
        _ => None,
    };
    let of = match file {
        Some(file) => format!("{} {}", kind(file), secrets.scrubbed(&file.path)),
        None => called(name, secrets),
    };
    let argument = |change: &Change| joined(&shown_path(&change.path, secrets));
    match (both, &change.arguments[..], &change.files[..]) {
        ((None, _), ..) => (format!("{of} is new"), false),
        ((_, None), ..) => (format!("{of} is gone"), false),
        (_, [one], []) => (format!("{of}: {}", argument(one)), true),
        _ => (of, false),
    }
}

/// The name of a file.
pub(super) fn kind(file: &PlannedFile) -> &'static str {
    match file.kind.name() {
        "fragment" => "part of file",
        "absent" => "absent file",
        "other" => "file",
        kind => kind,
    }
}

fn place(group: &StatesGroup, change: &StateChange) -> String {
    let [old, new] = &group.places;
    let mut place = new.as_ref().or(old.as_ref()).cloned().unwrap_or_default();
    let source = match &change.files[..] {
        [file] => file.new.as_ref().and_then(|file| file.source.as_ref()),
        _ => None,
    };
    if let Some(source) = source.filter(|source| source.starts_with("salt://")) {
        let source = source.split('?').next().unwrap_or(source);
        place = format!("{place}, {source}");
    }
    place
}

/// The old and the new value of an argument, without secrets.
pub(super) fn shown_values(change: &Change, secrets: &Secrets) -> [Option<Redacted<Value>>; 2] {
    [&change.old, &change.new].map(|value| {
        let value = value.as_ref()?;
        Some(secrets.redact_data(&change.path, value, &|_| false))
    })
}

/// The lines of an argument, below its name unless the title has it.
fn argument_lines(change: &Change, is_only: bool, secrets: &Secrets) -> Vec<YamlChangeLine> {
    let [old, new] = shown_values(change, secrets);
    let found = lines(old.as_ref(), new.as_ref());
    if is_only {
        return found;
    }
    let name = joined(&shown_path(&change.path, secrets));
    let is_short = |line: &YamlChangeLine| {
        let is_signed = matches!(line.sign, Sign::Gone | Sign::New);
        is_signed && !line.text.starts_with("- ")
    };
    if found.len() <= 2 && found.iter().all(is_short) {
        let named = found.into_iter().map(|line| YamlChangeLine {
            text: format!("{name}: {}", line.text),
            ..line
        });
        return named.collect();
    }
    let inside = found.into_iter().map(|line| YamlChangeLine {
        text: format!("  {}", line.text),
        ..line
    });
    [note(format!("{name}:"))]
        .into_iter()
        .chain(inside)
        .collect()
}

/// The lines of a file, below its path unless it is the only one.
fn file_lines(
    file: &FileChange,
    causes: &FileCauses,
    of: &StateChange,
    secrets: &Secrets,
) -> Vec<YamlChangeLine> {
    let is_only = of.files.len() == 1;
    let mut all = Vec::new();
    if !is_only {
        let path = file.new.as_ref().or(file.old.as_ref());
        let path = path.map(|file| secrets.scrubbed(&file.path));
        let path = path.unwrap_or_default();
        let said = match (&file.old, &file.new) {
            (None, _) if of.old.is_some() => format!("{path} is new"),
            (_, None) => format!("{path} is no longer managed"),
            _ => path,
        };
        all.push(note(said));
    }
    for (at, attribute) in file.attributes.iter().enumerate() {
        // The title has the kind of a new file.
        if file.old.is_some() || attribute.path != [Key::from("kind")] {
            let lines = argument_lines(attribute, false, secrets);
            let of = causes.attributes.get(at).cloned().unwrap_or_default();
            all.extend(after_argument(lines, &of, secrets));
        }
    }
    if file.has_text {
        let most = match is_only && file.old.is_some() {
            true => None,
            false => Some(MAX_NEW),
        };
        all.extend(after_lines(texts(file, most, secrets), causes, secrets));
    }
    all
}

/// The lines of the text of a file that changed.
pub(super) fn texts(
    file: &FileChange,
    most: Option<usize>,
    secrets: &Secrets,
) -> Vec<YamlChangeLine> {
    let sides = [&file.old, &file.new];
    let sides = sides.map(|side| {
        side.as_ref()
            .map_or(&PlannedText::Nothing, |side| &side.text)
    });
    let is_binary = |text: &PlannedText| match text {
        PlannedText::Bytes(bytes) => std::str::from_utf8(bytes).is_err() || bytes.contains(&0),
        _ => false,
    };
    if sides.iter().any(|text| is_binary(text)) {
        return signed(sides, |text| match text {
            PlannedText::Bytes(bytes) => format!("binary, {}", count(bytes.len(), "byte")),
            other => described(other, secrets),
        });
    }
    match sides {
        [PlannedText::Bytes(old), PlannedText::Bytes(new)] => {
            let [old, new] = [old, new].map(|bytes| String::from_utf8_lossy(bytes));
            let [before, after] = [&old, &new].map(|text| secrets.scrubbed(text));
            let count = |text: &str| text.matches('\n').count();
            // A secret of several lines is shown on one.
            let is_numbered = count(&before) == count(&old) && count(&after) == count(&new);
            let mut lines = match before == after {
                true => vec![note("the text differs in secrets alone".into())],
                false => text_lines(Some(&before), Some(&after), most),
            };
            if !is_numbered {
                lines.iter_mut().for_each(|line| line.number = None);
            }
            lines
        }
        [PlannedText::Nothing, PlannedText::Bytes(new)] => {
            let shown = secrets.scrubbed(&String::from_utf8_lossy(new));
            text_lines(None, Some(&shown), most)
        }
        [PlannedText::Bytes(old), PlannedText::Nothing] => {
            let shown = secrets.scrubbed(&String::from_utf8_lossy(old));
            text_lines(Some(&shown), None, most)
        }
        sides => signed(sides, |text| described(text, secrets)),
    }
}

/// A line for each side.
fn signed(sides: [&PlannedText; 2], said: impl Fn(&PlannedText) -> String) -> Vec<YamlChangeLine> {
    let both = [Sign::Gone, Sign::New].into_iter().zip(sides);
    let both = both.filter(|(_, text)| **text != PlannedText::Nothing);
    both.map(|(sign, text)| YamlChangeLine {
        is_last: true,
        ..line(sign, said(text))
    })
    .collect()
}

/// A text that is not shown, in words.
fn described(text: &PlannedText, secrets: &Secrets) -> String {
    match text {
        PlannedText::Nothing => "no text".into(),
        PlannedText::Bytes(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            format!("known text of {}", count(text.lines().count(), "line"))
        }
        PlannedText::Unknown { why, .. } => format!("unknown: {}", secrets.scrubbed(why)),
        PlannedText::Failed { error, .. } => {
            format!("refused: {}", secrets.scrubbed(&error.to_string()))
        }
    }
}

/// The entries of states that moved: those of the same minions that moved to the same place are one.
fn of_order<'d>(
    report: &DiffReport<'d>,
    order: Vec<(&'d StatesGroup, Minions<'d>)>,
) -> Vec<StatesEntry<'d>> {
    let mut known: BTreeMap<(bool, String, Vec<String>), usize> = BTreeMap::new();
    let mut all: Vec<(bool, StatesEntry<'d>, (String, Vec<String>))> = Vec::new();
    for (group, minions) in order {
        let PlanChange::Order(change) = &group.change else {
            continue;
        };
        let secrets = secrets(report, group);
        let moved = called(&change.state, &secrets);
        let other = called(&change.other, &secrets);
        let key = (change.is_before, other.clone(), minions.ids.to_vec());
        let at = *known.entry(key).or_insert(all.len());
        match all.get_mut(at) {
            Some((_, _, (_, states))) => states.push(moved),
            None => {
                let entry = StatesEntry {
                    group: Some(group),
                    title: String::new(),
                    place: group.places[1].clone().unwrap_or_default(),
                    from: String::new(),
                    reactions: String::new(),
                    lines: Vec::new(),
                    minions,
                };
                all.push((change.is_before, entry, (other, vec![moved])));
            }
        }
    }
    let titled = all.into_iter().map(|(is_before, entry, (other, states))| {
        let runs = if states.len() == 1 { "runs" } else { "run" };
        let word = if is_before { "before" } else { "after" };
        let title = format!("order: {} now {runs} {word} {other}", some(&states, NAMED),);
        StatesEntry { title, ..entry }
    });
    titled.collect()
}

/// The unknown outcomes in both states, each kind of reason with the number of states.
pub(super) fn unknown<'d>(report: &'d DiffReport<'_>) -> BTreeMap<&'d str, Vec<&'d StateName>> {
    let mut all: BTreeMap<&str, Vec<&StateName>> = BTreeMap::new();
    for group in report.differences.states.unknown() {
        let known = all.entry(&group.cause.reason).or_default();
        known.push(&group.cause.state);
    }
    all
}

/// The unknown outcomes in both states, in a few words; nothing if all is known.
pub(super) fn unknown_in_short(report: &DiffReport<'_>) -> Option<String> {
    let all = unknown(report);
    let all = all
        .iter()
        .map(|(reason, states)| format!("{reason} ({})", states.len()));
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| format!("unknown in both states: {}", all.join(", ")))
}

/// Lines at the end about what is unknown, and about sources that do not count.
pub(super) fn closing(report: &DiffReport<'_>) -> Vec<String> {
    let secrets = report.secrets();
    let unknown = unknown(report).into_iter().map(|(reason, states)| {
        let named: Vec<String> = states.iter().map(|state| called(state, &secrets)).collect();
        format!(
            "unknown in both states for {reason}: {} ({})",
            count(states.len(), "state"),
            some(&named, 3)
        )
    });
    let relisted = report.differences.states.relisted();
    let relisted = (relisted > 0).then(|| {
        format!(
            "{} {} for a source elsewhere, and {} the same",
            count(relisted, "state"),
            if relisted == 1 { "looks" } else { "look" },
            if relisted == 1 { "finds" } else { "find" },
        )
    });
    let unexplained = match report.differences.states.unexplained() {
        0 => None,
        n => Some(format!(
            "{} of states without the places that they come from: there are too many",
            count(n, "change")
        )),
    };
    unknown.chain(relisted).chain(unexplained).collect()
}
