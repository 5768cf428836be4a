//! What became of a fleet: equal changes and failures, folded.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mapstack::minion::Minion;
use mapstack::value::{Key, Str, Value};
use mapstack::{Error, ErrorKind};
use mapstack_lineage::Spot;

use crate::census::{Census, Traits};
use crate::change::Change;
use crate::compare::{Compared, Comparison, Pair, Subject, What};
use crate::minions::Minions;
use crate::ordered::ordered;
use crate::origins::Origins;
use crate::pace::Pace;

/// Pairs of origins that are kept before starting over.
const MAX_ORIGINS: usize = 256;

/// The same change on some minions.
#[derive(Debug, Clone)]
pub struct Group {
    /// What changed.
    pub change: Change,
    /// Where the old value came from.
    pub old_origin: Option<Spot>,
    /// Where the new one comes from.
    pub new_origin: Option<Spot>,
    /// The paths of scalars in the old value that are secret.
    pub old_secret: HashSet<Vec<Key>>,
    /// The paths of scalars in the new one that are.
    pub new_secret: HashSet<Vec<Key>>,
    /// Texts that templates made of the example's secrets, in either state.
    pub secret_texts: Vec<Str>,
    /// What changed alike: formulas, or the pillar.
    pub subjects: Vec<Subject>,
    /// The minions, in order.
    pub minions: Vec<String>,
    /// One of them, in each state if its pillar is compared.
    pub examples: Vec<Minion>,
}

/// The same failure on some minions.
#[derive(Debug, Clone)]
pub struct Failing {
    /// What fails.
    pub subject: Subject,
    /// What it fails with, or failed with.
    pub error: Error,
    /// The minions, in order.
    pub minions: Vec<String>,
    /// One of them, in each state if its pillar is compared.
    pub examples: Vec<Minion>,
    /// What is secret on it, and what the formula's templates made of that, in either state.
    pub secret_texts: Vec<Str>,
}

/// What became of a fleet.
#[derive(Debug, Default)]
pub struct Differences {
    groups: Vec<Group>,
    by_key: HashMap<String, usize>,
    /// The groups of pairs that were seen, by their address; the pairs are kept, so that it stays theirs.
    by_pair: HashMap<usize, (Arc<Pair>, Vec<usize>)>,
    /// Where the values of outcomes come from that are alike, by the number of the earlier state.
    origins: HashMap<(usize, Subject, [u64; 2]), [Option<Origins>; 2]>,
    failing: Vec<(Turn, Failing)>,
    by_failure: HashMap<(Turn, Subject, String), usize>,
    /// The minions that were compared, as far as they are known.
    pub census: Census,
    /// Minions whose facts are of no use, with why.
    pub broken: Vec<(String, Error)>,
    /// How many were compared.
    pub minions: usize,
    /// How many of them have no difference at all.
    pub unaffected: usize,
    /// How many of them have a formula that fails in both states alike.
    pub fail_still: usize,
}

/// How failing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Turn {
    /// It works no longer.
    Broken,
    /// It works again.
    Fixed,
    /// It fails with something else.
    Otherwise,
    /// It fails as it did.
    Still,
}

/// So many ways of failing as before are kept; the others are only counted.
const MAX_STILL: usize = 100;

impl Differences {
    /// What becomes of some minions, worked on side by side.
    pub fn of(
        comparison: &Comparison<'_, '_>,
        minions: &dyn Minions,
        ids: &[String],
        pace: Pace,
    ) -> Self {
        let mut differences = Differences::default();
        std::thread::scope(|scope| {
            let done = ordered(scope, ids.iter(), pace, |id| {
                let minion = minions.read(id)?;
                Ok((comparison.compare(&minion), Traits::of(&minion)))
            });
            for (id, result) in ids.iter().zip(done) {
                match result {
                    Ok(Ok((compared, traits))) => {
                        if !matches!(compared, Compared::LeftOut) {
                            differences.census.add(id, traits);
                        }
                        differences.add(comparison, id, compared, || minions.read_or_name(id));
                    }
                    Ok(Err(error)) => differences.broken.push((id.clone(), error)),
                    Err(panicked) => differences.broken.push((id.clone(), panicked.into())),
                }
            }
        });
        differences
    }

    /// Take in what became of a minion, which is read for the first of each change: where values come from is
    /// asked for that one.
    pub fn add(
        &mut self,
        comparison: &Comparison<'_, '_>,
        id: &str,
        compared: Compared,
        read: impl Fn() -> Minion,
    ) {
        let pairs = match compared {
            Compared::LeftOut => return,
            Compared::Broken(error) => {
                self.minions += 1;
                self.broken.push((id.into(), error));
                return;
            }
            Compared::Formulas(pairs) => pairs,
        };
        self.minions += 1;
        let (mut affected, mut fails_still) = (false, false);
        for pair in pairs {
            match &pair.what {
                What::Same => continue,
                What::FailsStill(error) => {
                    fails_still = true;
                    self.failure(comparison, (Turn::Still, pair.subject, error), id, &read);
                    continue;
                }
                What::Changed(_) => self.changed(comparison, id, &pair, &read),
                What::Broken(error) => {
                    self.failure(comparison, (Turn::Broken, pair.subject, error), id, &read);
                }
                What::Fixed(error) => {
                    self.failure(comparison, (Turn::Fixed, pair.subject, error), id, &read);
                }
                What::FailsOtherwise(error) => {
                    self.failure(
                        comparison,
                        (Turn::Otherwise, pair.subject, error),
                        id,
                        &read,
                    );
                }
            }
            affected = true;
        }
        self.unaffected += usize::from(!affected);
        self.fail_still += usize::from(fails_still);
    }

    /// Take in how a result of a minion changed that [was added](Self::add) as one that works again.
    pub(crate) fn add_recovered(
        &mut self,
        comparison: &Comparison<'_, '_>,
        id: &str,
        pair: &Arc<Pair>,
        read: impl Fn() -> Minion,
    ) {
        self.changed(comparison, id, pair, &read);
    }

    /// Count a minion that no change reaches; `fails` if one of its formulas does, as it did.
    pub fn add_unreached(&mut self, fails: bool) {
        self.minions += 1;
        self.unaffected += 1;
        self.fail_still += usize::from(fails);
    }

    fn changed(
        &mut self,
        comparison: &Comparison<'_, '_>,
        id: &str,
        pair: &Arc<Pair>,
        read: &impl Fn() -> Minion,
    ) {
        for group in self.known_groups(comparison, pair, read) {
            let Some(group) = self.groups.get_mut(group) else {
                continue;
            };
            if !group.subjects.contains(&pair.subject) {
                group.subjects.push(pair.subject);
            }
            // Two formulas of one minion can change alike.
            if group.minions.last().is_none_or(|last| last != id) {
                group.minions.push(id.into());
            }
        }
    }

    /// The groups of a pair, found once for all minions that share it.
    fn known_groups(
        &mut self,
        comparison: &Comparison<'_, '_>,
        pair: &Arc<Pair>,
        read: &impl Fn() -> Minion,
    ) -> Vec<usize> {
        // Each minion has a pillar of its own: keeping all would fill the memory.
        if pair.subject == Subject::Pillar {
            return self.groups_of(comparison, pair, read);
        }
        let address = Arc::as_ptr(pair) as usize;
        if let Some((_, groups)) = self.by_pair.get(&address) {
            return groups.clone();
        }
        let groups = self.groups_of(comparison, pair, read);
        self.by_pair.insert(address, (pair.clone(), groups.clone()));
        groups
    }

    fn groups_of(
        &mut self,
        comparison: &Comparison<'_, '_>,
        pair: &Pair,
        read: &impl Fn() -> Minion,
    ) -> Vec<usize> {
        let What::Changed(changes) = &pair.what else {
            return Vec::new();
        };
        if self.origins.len() >= MAX_ORIGINS {
            self.origins.clear();
        }
        let key = (comparison.state(), pair.subject, pair.kinds);
        let origins = self.origins.entry(key);
        let [before, after] = origins
            .or_insert_with(|| comparison.origins(pair.subject, &comparison.examples(read())));
        let origin = |origins: &Option<Origins>, path: &[Key], value: &Option<Value>| {
            origins.as_ref()?.at(path, value.as_ref()?)
        };
        let groups = changes.iter().map(|change| {
            let old_origin = origin(before, &change.path, &change.old);
            let new_origin = origin(after, &change.path, &change.new);
            let origins = [old_origin.as_ref(), new_origin.as_ref()];
            let key = key_of(pair.subject, change, origins);
            *self.by_key.entry(key).or_insert_with(|| {
                let change = change.clone();
                let secret = |origins: &Option<Origins>, value: &Option<Value>| {
                    let both = origins.as_ref().zip(value.as_ref());
                    both.map(|(origins, value)| origins.secret_paths(&change.path, value))
                        .unwrap_or_default()
                };
                let old_secret = secret(before, &change.old);
                let new_secret = secret(after, &change.new);
                let secret_texts = [&*before, &*after].into_iter().flatten();
                let secret_texts = secret_texts
                    .flat_map(|origins| origins.secret_texts().to_vec())
                    .collect();
                let (subjects, minions) = (Vec::new(), Vec::new());
                let examples = comparison.examples(read());
                self.groups.push(Group {
                    change,
                    old_origin,
                    new_origin,
                    old_secret,
                    new_secret,
                    secret_texts,
                    subjects,
                    minions,
                    examples,
                });
                self.groups.len() - 1
            })
        });
        groups.collect()
    }

    fn failure(
        &mut self,
        comparison: &Comparison<'_, '_>,
        (turn, subject, error): (Turn, Subject, &Error),
        id: &str,
        read: &impl Fn() -> Minion,
    ) {
        let key = (turn, subject, error.to_string());
        let is_new = turn == Turn::Still && !self.by_failure.contains_key(&key);
        if is_new && self.still_failing(true).count() >= MAX_STILL {
            return;
        }
        let index = *self.by_failure.entry(key).or_insert_with(|| {
            let examples = comparison.examples(read());
            // A limit says nothing of what templates made, and is a long way to go.
            let secret_texts = match error.kind() {
                ErrorKind::Limit => Vec::new(),
                _ => comparison.secret_texts(subject, &examples),
            };
            let failing = Failing {
                subject,
                error: error.clone(),
                minions: Vec::new(),
                examples,
                secret_texts,
            };
            self.failing.push((turn, failing));
            self.failing.len() - 1
        });
        if let Some((_, failing)) = self.failing.get_mut(index) {
            failing.minions.push(id.into());
        }
    }

    /// The changes, in the order they were first seen.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The failures that began, ended or changed, in the order they were first seen.
    pub fn failing(&self) -> impl Iterator<Item = (Turn, &Failing)> {
        self.still_failing(false)
    }

    /// The same, then what fails in both states alike; of a fleet that fails in many ways, the first hundred.
    pub fn failures(&self) -> impl Iterator<Item = (Turn, &Failing)> {
        self.failing().chain(self.still_failing(true))
    }

    fn still_failing(&self, still: bool) -> impl Iterator<Item = (Turn, &Failing)> {
        let all = self.failing.iter().map(|(turn, failing)| (*turn, failing));
        all.filter(move |(turn, _)| (*turn == Turn::Still) == still)
    }

    /// True if nothing is different.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.failing().next().is_none()
    }
}

/// What changes have in common that are reported once.
fn key_of(subject: Subject, change: &Change, origins: [Option<&Spot>; 2]) -> String {
    let text = |value: &Option<Value>| value.as_ref().map(Value::repr);
    format!(
        "{:?}",
        (
            subject == Subject::Pillar,
            &change.path,
            text(&change.old),
            text(&change.new),
            origins.map(shown)
        )
    )
}

fn shown(spot: Option<&Spot>) -> String {
    spot.map(ToString::to_string).unwrap_or_default()
}
