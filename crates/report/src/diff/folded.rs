//! Changes and failures as they are shown: those that differ only in each minion's own names are one entry.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use mapstack::Means;
use mapstack::yaml::{DumpOptions, dump};
use mapstack_fleet::{ChangeGroup, ComparedResult, ErrorTurn, SharedFailure};

use super::renames::renames;
use super::states::{StatesEntry, entries};
use super::{DiffReport, NAMED};
use crate::words::{count, some};

/// A change, and everyone who has it.
pub(super) struct ShownChange<'d> {
    /// As the first of them has it.
    pub group: &'d ChangeGroup,
    /// The same value under another name, if it has one now.
    pub renamed: Option<&'d ChangeGroup>,
    pub minions: Minions<'d>,
}

/// Errors that came, went or stayed on the same minions.
pub(super) struct ShownFailure<'d> {
    pub subject: ComparedResult,
    /// Each as the first minion has it.
    pub errors: Vec<(ErrorTurn, &'d SharedFailure)>,
    pub minions: Minions<'d>,
    /// The values that are missing because of it.
    lost: Vec<&'d ChangeGroup>,
}

/// Minions that have something in common.
#[derive(Clone)]
pub(super) struct Minions<'d> {
    pub ids: Cow<'d, [String]>,
    /// True if each has a different form of it.
    pub is_own: bool,
}

/// The shown part of a comparison.
pub(super) struct ShownDifferences<'d> {
    /// The failures that are new or gone, the worst first.
    pub failures: Vec<ShownFailure<'d>>,
    pub changes: Vec<ShownChange<'d>>,
    /// The changes of what states do.
    pub states: Vec<StatesEntry<'d>>,
    /// The failures that stay.
    pub still: Vec<ShownFailure<'d>>,
}

impl<'d> ShownDifferences<'d> {
    pub fn of(report: &DiffReport<'d>) -> Self {
        let differences = report.differences;
        let each = report.each;
        let folded = fold(differences.failures(), |(turn, failing)| {
            let alike = (!each).then(|| format!("{turn:?}{}", failing.alike()));
            (alike, &failing.minions)
        });
        let (still, mut failures): (Vec<_>, Vec<_>) = together(folded)
            .into_iter()
            .partition(|failure| failure.turn() == ErrorTurn::Still);
        failures.sort_by_key(ShownFailure::turn);
        let mut groups = Vec::new();
        for group in differences.groups() {
            match cause(&mut failures, group).filter(|_| !each) {
                Some(failure) => failure.lost.push(group),
                None => groups.push(group),
            }
        }
        let changes = fold(with_renames(&groups), |(group, renamed)| {
            let alike = |group: &ChangeGroup| match group.change.is_of_whole() {
                true => format!("{:?}{}", group.subjects, group.change.old.is_none()),
                false => group.alike(),
            };
            let both = || format!("{}{:?}", alike(group), renamed.map(alike));
            ((!each).then(both), &group.minions)
        });
        let changes = changes
            .into_iter()
            .map(|((group, renamed), minions)| ShownChange {
                group,
                renamed,
                minions,
            });
        ShownDifferences {
            failures,
            changes: changes.collect(),
            states: entries(report),
            still,
        }
    }

    /// True if anything is listed.
    pub fn has_entries(&self) -> bool {
        let failures = self.failures.len() + self.still.len();
        failures + self.changes.len() + self.states.len() > 0
    }

    /// All failures, in the order in which a list of them has them.
    #[cfg(feature = "html")]
    pub fn all_failures(&self) -> impl Iterator<Item = &ShownFailure<'d>> {
        self.failures.iter().chain(&self.still)
    }
}

/// Groups, each with the one that has its value under another name.
fn with_renames<'d>(
    groups: &[&'d ChangeGroup],
) -> impl Iterator<Item = (&'d ChangeGroup, Option<&'d ChangeGroup>)> {
    let found = renames(groups);
    let news: HashSet<usize> = found.values().copied().collect();
    let shown = groups.iter().enumerate();
    let shown = shown.filter(move |(at, _)| !news.contains(at));
    shown.map(move |(at, group)| {
        let new = found.get(&at).and_then(|new| groups.get(*new));
        (*group, new.copied())
    })
}

/// Things that are alike as one, with the minions of all. Without a text of what they have in common, each stays.
pub(super) fn fold<'d, T>(
    things: impl Iterator<Item = T>,
    of: impl Fn(&T) -> (Option<String>, &'d Vec<String>),
) -> Vec<(T, Minions<'d>)> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut folded: Vec<(T, Minions<'d>)> = Vec::new();
    for thing in things {
        let (alike, ids) = of(&thing);
        let first = alike.and_then(|alike| {
            let index = *known.entry(alike).or_insert(folded.len());
            folded.get_mut(index)
        });
        match first {
            Some((_, minions)) => {
                minions.ids.to_mut().extend(ids.iter().cloned());
                minions.is_own = true;
            }
            None => {
                let ids = Cow::Borrowed(&ids[..]);
                let minions = Minions { ids, is_own: false };
                folded.push((thing, minions));
            }
        }
    }
    folded
}

/// Failures of the same minions, as one entry. Failures that stay are separate.
fn together<'d>(
    failures: Vec<((ErrorTurn, &'d SharedFailure), Minions<'d>)>,
) -> Vec<ShownFailure<'d>> {
    let mut known: HashMap<(ComparedResult, bool, Cow<'d, [String]>), usize> = HashMap::new();
    let mut all: Vec<ShownFailure<'d>> = Vec::new();
    for ((turn, failing), minions) in failures {
        let key = (
            failing.subject,
            turn == ErrorTurn::Still,
            minions.ids.clone(),
        );
        let index = *known.entry(key).or_insert(all.len());
        match all.get_mut(index) {
            Some(failure) => {
                failure.errors.push((turn, failing));
                failure.minions.is_own |= minions.is_own;
            }
            None => all.push(ShownFailure {
                subject: failing.subject,
                errors: vec![(turn, failing)],
                minions,
                lost: Vec::new(),
            }),
        }
    }
    all
}

/// The failure because of which values are lost.
fn cause<'f, 'd>(
    failures: &'f mut [ShownFailure<'d>],
    group: &ChangeGroup,
) -> Option<&'f mut ShownFailure<'d>> {
    if !group.is_lost {
        return None;
    }
    failures.iter_mut().find(|failure| {
        let has_new = |turn| matches!(turn, ErrorTurn::Broken | ErrorTurn::Otherwise);
        let is_new = failure.errors.iter().any(|(turn, _)| has_new(*turn));
        is_new
            && failure.subject == ComparedResult::Pillar
            && failure.minions.has_all(&group.minions)
    })
}

impl Minions<'_> {
    /// The number of them, and which they are: by what they have in common, if that is shorter than their names.
    pub fn text(&self, report: &DiffReport<'_>) -> String {
        let own = match self.is_own {
            true => ", each with its own value",
            false => "",
        };
        let each = match self.is_own {
            true => format!("; {} shows them", Means::Each),
            false => String::new(),
        };
        if self.ids.is_empty() {
            return "in templates; the minions that call it are not known".into();
        }
        match report.common(&self.ids).or_else(|| report.named(&self.ids)) {
            Some(common) => format!("on {common}{own}{each}"),
            None => {
                let (number, names) = (count(self.ids.len(), "minion"), some(&self.ids, NAMED));
                format!("on {number}{own}: {names}{each}")
            }
        }
    }

    fn has_all(&self, others: &[String]) -> bool {
        // Both are in the order of minions as a rule.
        if *self.ids == *others {
            return true;
        }
        let known: HashSet<&String> = self.ids.iter().collect();
        others.iter().all(|other| known.contains(other))
    }
}

/// The turn of the refusal of states.
fn of_states(turn: ErrorTurn) -> &'static str {
    match turn {
        ErrorTurn::Broken => "states are refused now",
        ErrorTurn::Fixed => "states are no longer refused",
        ErrorTurn::Otherwise | ErrorTurn::Less => "states are refused, and with other errors",
        ErrorTurn::Still => {
            "states do not compile, before and after; each sls that compiles alone is compared"
        }
    }
}

impl ShownFailure<'_> {
    /// The worst turn.
    pub fn turn(&self) -> ErrorTurn {
        let turns = self.errors.iter().map(|(turn, _)| *turn);
        turns.min().unwrap_or(ErrorTurn::Still)
    }

    /// True if something is worse than before.
    #[cfg(feature = "html")]
    pub fn is_worse(&self) -> bool {
        matches!(self.turn(), ErrorTurn::Broken | ErrorTurn::Otherwise)
    }

    /// The turn, without the subject.
    pub fn title(&self) -> String {
        let (turn, is_pillar) = (self.turn(), self.subject == ComparedResult::Pillar);
        match turn {
            _ if self.subject == ComparedResult::States => of_states(turn).into(),
            ErrorTurn::Broken if !is_pillar => "fails now".into(),
            ErrorTurn::Fixed if !is_pillar => "works again".into(),
            ErrorTurn::Otherwise | ErrorTurn::Less if !is_pillar => {
                "fails with something else".into()
            }
            ErrorTurn::Still => "fails in both states".into(),
            _ => self.of_pillar(turn),
        }
    }

    /// The change of pillars, which decides if minions get states.
    fn of_pillar(&self, turn: ErrorTurn) -> String {
        let of = |wanted: &[ErrorTurn]| {
            let of_turn = self.errors.iter().filter(|(own, _)| wanted.contains(own));
            of_turn.count()
        };
        let number = |n: usize| match n {
            1 => "one error".to_owned(),
            n => format!("{n} errors"),
        };
        let fresh = match of(&[ErrorTurn::Broken, ErrorTurn::Otherwise]) {
            1 => "a new error".to_owned(),
            n => format!("{n} new errors"),
        };
        let gone = of(&[ErrorTurn::Less]);
        let minions = count(self.minions.ids.len(), "minion");
        let (get, have, their) = match self.minions.ids.len() {
            1 => ("gets", "has", "its"),
            _ => ("get", "have", "their"),
        };
        match turn {
            ErrorTurn::Broken => {
                format!("{minions} {get} no states: {their} pillar has {fresh}")
            }
            ErrorTurn::Fixed => {
                format!("{minions} {get} states again: {their} pillar has no error")
            }
            ErrorTurn::Less => format!("{minions} {have} {} less", number(gone)),
            _ if gone == 0 => {
                format!("{minions} still {get} no states: {their} pillar has {fresh}")
            }
            _ => format!(
                "{minions} still {get} no states: {their} pillar has {fresh}, and {} less",
                number(gone)
            ),
        }
    }

    /// The subject of the change, if the title does not name it.
    pub fn of(&self, report: &DiffReport<'_>) -> String {
        let is_said = match self.subject {
            ComparedResult::Pillar => self.turn() != ErrorTurn::Still,
            ComparedResult::States => true,
            ComparedResult::Formula(_) => false,
        };
        match is_said {
            true => String::new(),
            false => report.subjects(&[self.subject]),
        }
    }

    /// The errors, each with the sign of its turn.
    pub fn lines(&self, report: &DiffReport<'_>) -> Vec<(char, String)> {
        let lines = self.errors.iter().map(|(turn, failing)| match turn {
            ErrorTurn::Broken | ErrorTurn::Otherwise => ('+', report.advised(failing)),
            ErrorTurn::Less | ErrorTurn::Fixed => ('-', report.message(failing)),
            ErrorTurn::Still => (' ', report.message(failing)),
        });
        lines.collect()
    }

    /// The values that are missing because of it.
    pub fn missing(&self, report: &DiffReport<'_>) -> Option<String> {
        let mut keys: Vec<String> = self.lost.iter().map(|group| report.key(group)).collect();
        keys.dedup();
        let lines = |group: &&ChangeGroup| {
            let old = group.change.old.as_ref();
            old.map_or(0, |old| dump(old, &DumpOptions::lines()).lines().count())
        };
        let lines: usize = self.lost.iter().map(lines).sum();
        (!keys.is_empty()).then(|| {
            let keys = some(&keys, NAMED);
            format!("missing because of it: {keys} ({})", count(lines, "line"))
        })
    }
}
