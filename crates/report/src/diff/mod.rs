//! The effects of a change of the files on a fleet.

mod accounting;
mod causes;
mod departed;
mod folded;
mod markdown;
#[cfg(feature = "html")]
mod page;
mod renames;
mod rows;
mod state_rows;
mod states;
mod text;

use std::collections::{BTreeSet, HashSet};

use mapstack::message_text;
use mapstack::secrets::{Redacted, Secrets};
use mapstack::value::{Key, Value};
use mapstack_fleet::{ChangeGroup, ComparedResult, Differences, Masking, SharedFailure};

pub use accounting::Accounting;
pub(crate) use accounting::made_by;
pub use markdown::comment;
#[cfg(feature = "html")]
pub use page::html;
pub use rows::{Differences as Rows, line};
pub(crate) use text::changed;
pub use text::{text, text_of_step};

use self::folded::{ShownChange, ShownDifferences};
use crate::document::Steps;
use crate::words::{count, joined, shown_path, some};
use crate::yaml_form::{Sign, YamlChangeLine, line as plain_line, lines};

/// The name of the pillar beside formulas.
const PILLAR: &str = "pillar";
/// The name of what states do.
const STATES: &str = "states";

/// Minions that are named with each change; more are described by what they have in common.
const NAMED: usize = 8;

/// Differences between two states of the files.
pub struct DiffReport<'t> {
    /// The state before.
    pub from: &'t str,
    /// The state after.
    pub to: &'t str,
    /// The formulas that were compared, by their indices.
    pub formulas: &'t [String],
    /// The results that were compared, and the files that were not.
    pub accounting: &'t Accounting,
    /// The differences.
    pub differences: &'t Differences,
    /// The values that are kept back.
    pub masking: &'t Masking,
    /// True to show apart what differs only in what is each minion's own.
    pub each: bool,
}

/// The keys of data that came or went, on a line.
fn named_keys(value: &Value, sign: Sign) -> YamlChangeLine {
    let keys = value.as_map().into_iter().flat_map(|map| map.keys());
    let keys: Vec<String> = keys.map(ToString::to_string).collect();
    let text = match &keys[..] {
        [] => "no key".to_owned(),
        keys => format!("{}: {}", count(keys.len(), "key"), some(keys, NAMED)),
    };
    YamlChangeLine {
        is_last: true,
        ..plain_line(sign, text)
    }
}

impl DiffReport<'_> {
    /// The names of the states before and after, with the versions of Salt where these differ.
    fn sides(&self) -> [String; 2] {
        let names = [self.from, self.to];
        match self.accounting.versions {
            Some(versions) => {
                [0, 1].map(|side| format!("{}, Salt {}", names[side], versions[side]))
            }
            None => names.map(str::to_owned),
        }
    }

    /// The old and the new value of a group, without secrets.
    fn values(&self, group: &ChangeGroup) -> (Option<Redacted<Value>>, Option<Redacted<Value>>) {
        let secrets = self.masking.of_example(&group.example);
        let is_all =
            secrets.policy().masks_pillar() && group.subjects.contains(&ComparedResult::Pillar);
        let shown = |value: &Option<Value>, secret: &HashSet<Vec<Key>>| {
            let redacted = |value| {
                let path = &group.change.path;
                secrets.redact_data(path, value, &|path| is_all || secret.contains(path))
            };
            value.as_ref().map(redacted)
        };
        (
            shown(&group.change.old, &group.old_secret),
            shown(&group.change.new, &group.new_secret),
        )
    }

    /// The path of a group's value, whose keys templates may have made of secrets.
    fn key(&self, group: &ChangeGroup) -> String {
        let secrets = self.masking.of_example(&group.example);
        joined(&shown_path(&group.change.path, &secrets))
    }

    /// The title of a group: its key, or that it is all there is.
    fn title(&self, group: &ChangeGroup) -> String {
        let change = &group.change;
        match (change.path.is_empty(), &change.old, &change.new) {
            (false, ..) => self.key(group),
            (true, None, _) => "has map data now".into(),
            (true, _, None) => "no longer has map data".into(),
            _ => "the whole result".into(),
        }
    }

    /// The heading of a change: what it is of, and its key.
    fn heading(&self, change: &ShownChange<'_>) -> (String, String) {
        let group = change.group;
        let of = self.subjects(&group.subjects);
        match change.renamed {
            None => (of, self.title(group)),
            Some(new) if group.change.is_of_whole() => {
                let new = self.subjects(&new.subjects);
                let title = "all its data (renamed? the value is the same)";
                (format!("{of} → {new}"), title.into())
            }
            Some(new) => {
                let keys = format!("{} → {}", self.title(group), self.title(new));
                (of, format!("{keys} (renamed? the value is the same)"))
            }
        }
    }

    /// The lines of a change.
    fn lines(&self, change: &ShownChange<'_>) -> Vec<YamlChangeLine> {
        let group = change.group;
        let (old, new) = self.values(group);
        let new = match change.renamed {
            Some(renamed) => self.values(renamed).1,
            None => new,
        };
        if group.change.is_of_whole() {
            let gone = old.as_deref().map(|value| named_keys(value, Sign::Gone));
            let new = new.as_deref().map(|value| named_keys(value, Sign::New));
            return gone.into_iter().chain(new).collect();
        }
        match change.renamed {
            Some(_) => [lines(old.as_ref(), None), lines(None, new.as_ref())].concat(),
            None => lines(old.as_ref(), new.as_ref()),
        }
    }

    /// The key of a group as a list; the unchanged path if nothing in it is secret.
    fn path(&self, group: &ChangeGroup) -> Steps {
        let (keys, shown) = (&group.change.path, self.key(group));
        match shown == joined(keys) {
            true => keys.iter().collect(),
            false => [Key::from(shown)].iter().collect(),
        }
    }

    fn secrets(&self) -> Secrets {
        self.masking.of([])
    }

    /// The formulas, each once.
    fn names(&self) -> BTreeSet<&str> {
        self.formulas.iter().map(String::as_str).collect()
    }

    /// The formulas among what changed, and `pillar` for the pillar.
    fn subjects(&self, subjects: &[ComparedResult]) -> String {
        let name = |subject: &ComparedResult| match subject {
            ComparedResult::Formula(index) => self.formulas.get(*index).map(String::as_str),
            ComparedResult::Pillar => Some(PILLAR),
            ComparedResult::States => Some(STATES),
        };
        let mut names: Vec<&str> = subjects.iter().filter_map(name).collect();
        names.dedup();
        names.join(", ")
    }

    /// The description of minions that are too many to be named.
    fn common(&self, ids: &[String]) -> Option<String> {
        let common = (ids.len() > NAMED).then(|| self.differences.census.common(ids));
        common.flatten().map(|common| common.to_string())
    }

    /// A few minions by a name that people gave them, and by theirs.
    fn named(&self, ids: &[String]) -> Option<String> {
        let named = (ids.len() <= NAMED).then(|| self.differences.census.named(ids));
        Some(format!("{}: {}", named.flatten()?, ids.join(", ")))
    }

    /// The same, with the advice.
    fn advised(&self, failing: &SharedFailure) -> String {
        let secrets = self.masking.of_example(&failing.example);
        let help = failing.error.diagnostic().help.as_deref();
        let help = help.map(|help| format!("\nhelp: {}", message_text(help, &secrets)));
        format!("{}{}", self.message(failing), help.unwrap_or_default())
    }

    /// A failure as a message without secrets.
    fn message(&self, failing: &SharedFailure) -> String {
        let diagnostic = failing.error.diagnostic();
        let secrets = self.masking.of_example(&failing.example);
        let message = message_text(&diagnostic.message, &secrets);
        match &diagnostic.place {
            Some(place) => {
                let rest = message.strip_prefix(&place.file).unwrap_or(&message);
                format!("{place}: {}", rest.trim_start_matches([':', ' ']))
            }
            None => message,
        }
    }

    /// In a sentence.
    fn summary(&self, shown: &ShownDifferences<'_>) -> String {
        let differences = self.differences;
        let (affected, all) = (differences.affected(), count(differences.minions, "minion"));
        let failing = differences.failing_minions;
        let unaffected = differences.unaffected.saturating_sub(failing.unaffected);
        let mut summary = match affected {
            0 if differences.not_compared == 0 && failing.unaffected == 0 => {
                format!("no change on {all}")
            }
            0 => format!("no change on {unaffected} of {all}"),
            _ if shown.changes.is_empty() && shown.states.is_empty() => {
                format!("{affected} of {all} affected; {unaffected} unaffected")
            }
            _ => {
                let changes = shown.changes.len() + shown.states.len();
                let changes = count(changes, "change");
                format!("{changes} on {affected} of {all}; {unaffected} unaffected")
            }
        };
        let mut add = |n: usize, one: &str, many: &str| {
            if n > 0 {
                summary.push_str(&format!("; {n} {}", if n == 1 { one } else { many }));
            }
        };
        add(differences.not_compared, "not compared", "not compared");
        add(failing.now, "fails now", "fail now");
        add(failing.again, "works again", "work again");
        add(failing.both, "fails in both states", "fail in both states");
        match failing.otherwise {
            0 => {}
            all if all == failing.both => summary.push_str(", with other errors"),
            some => summary.push_str(&format!(", {some} of them with other errors")),
        }
        let departed = departed::in_short(&self.differences.states);
        for more in departed.into_iter().chain(states::unknown_in_short(self)) {
            summary.push_str(&format!("; {more}"));
        }
        summary
    }

    /// Sentences at the end: the compared parts, the parts that were not compared, and unknown results.
    fn closing(&self) -> Vec<String> {
        let unknown = states::closing(self).into_iter();
        self.accounting.lines().into_iter().chain(unknown).collect()
    }

    /// The minions that could not be compared, by why.
    fn not_compared(&self) -> Vec<(String, Vec<&str>)> {
        let secrets = self.secrets();
        let reasons = self.differences.broken_by_reason().into_iter();
        reasons
            .map(|(error, ids)| (message_text(&error.to_string(), &secrets), ids))
            .collect()
    }
}
