//! Which minions and formulas a file, a key or a fact reaches.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mapstack::minion::{Minion, Part};
use mapstack::secrets::Redacted;
use mapstack::trace::FileReadKind;
use mapstack::value::{Key, Path as KeyPath, Value};
use mapstack::{Error, yaml};
use mapstack_lineage::Spot;
use mapstack_share::Outcome;

use crate::{Fleet, Masking};

/// What is asked about.
#[derive(Debug, Clone)]
pub enum What {
    /// A file, by its path from the file server's root.
    File(String),
    /// A key of a formula's data.
    Value(String, KeyPath),
    /// A fact.
    Fact(Part, Vec<Key>),
}

impl What {
    /// The keys to a value.
    fn keys(&self) -> Vec<Key> {
        match self {
            What::Value(_, path) => path.steps().iter().map(|step| step.0.clone()).collect(),
            _ => Vec::new(),
        }
    }
}

/// What is known of each formula so far.
pub struct Reach<'r, 'e> {
    what: &'r What,
    fleet: &'r Fleet<'e>,
    formulas: Vec<OfFormula>,
    /// Whether outcomes that minions share are reached; they are kept, so that their addresses stay theirs.
    known: HashMap<(usize, usize), Known>,
    minions: usize,
}

/// What is known of an outcome that minions share.
struct Known {
    outcome: Arc<Outcome>,
    is_reached: bool,
    /// Where the value comes from, and which paths in it are secret.
    spot: Option<(Spot, Arc<HashSet<Vec<Key>>>)>,
}

#[derive(Debug, Clone, Default)]
struct OfFormula {
    minions: Vec<String>,
    values: Vec<OfValue>,
}

/// Minions with the same value of the same origin.
#[derive(Debug, Clone)]
struct OfValue {
    value: Value,
    spot: Option<Spot>,
    /// The paths in it that are secret.
    secret: Arc<HashSet<Vec<Key>>>,
    minions: Vec<String>,
    /// One of them.
    example: Minion,
}

impl<'r, 'e> Reach<'r, 'e> {
    /// Nothing was looked at so far.
    pub fn new(what: &'r What, fleet: &'r Fleet<'e>) -> Self {
        Reach {
            what,
            fleet,
            formulas: vec![OfFormula::default(); fleet.formulas().count()],
            known: HashMap::new(),
            minions: 0,
        }
    }

    /// Look at a minion, and return what fails on it.
    pub fn look(&mut self, minion: &Minion, masking: &Masking) -> Vec<Redacted<Error>> {
        let Some(report) = self.fleet.report(minion) else {
            return Vec::new();
        };
        self.minions += 1;
        for (index, outcome) in report.outcomes.iter().flatten().enumerate() {
            let key = (index, Arc::as_ptr(outcome) as usize);
            if !self.known.contains_key(&key) {
                let is_reached = self.is_reached(index, outcome, minion);
                let spot = if is_reached {
                    self.spot(index, minion)
                } else {
                    None
                };
                self.known.insert(
                    key,
                    Known {
                        outcome: outcome.clone(),
                        is_reached,
                        spot,
                    },
                );
            }
            if let Some(known) = self.known.get(&key).filter(|known| known.is_reached) {
                let (outcome, spot) = (known.outcome.clone(), known.spot.clone());
                self.add(index, &outcome, spot, minion);
            }
        }
        let failed = report.errors().map(|(formula, error)| {
            let secrets = masking.of_formula(minion, self.fleet, formula, Some(error));
            secrets.redact(&error.clone().note(format!("for the minion {}", report.id)))
        });
        failed.collect()
    }

    fn is_reached(&self, index: usize, outcome: &Outcome, minion: &Minion) -> bool {
        match self.what {
            What::File(path) => outcome
                .files
                .iter()
                .any(|read| read.kind == FileReadKind::Found && *read.path == **path),
            What::Value(_, path) => outcome
                .result
                .as_ref()
                .is_ok_and(|data| yaml::traverse(data, path).is_some()),
            // Where it is not known, it may be looked at.
            What::Fact(part, path) => self.fleet.facts(index, minion).is_none_or(|reads| {
                reads
                    .iter()
                    .any(|read| !read.path.is_empty() && read.sees(*part, path))
            }),
        }
    }

    /// Where the value that is asked about comes from.
    fn spot(&self, index: usize, minion: &Minion) -> Option<(Spot, Arc<HashSet<Vec<Key>>>)> {
        let What::Value(..) = self.what else {
            return None;
        };
        let (lineage, keys) = (self.fleet.explain(index, minion)?, self.what.keys());
        Some((lineage.at(&keys)?.spot, lineage.secret_paths(&keys).into()))
    }

    fn add(
        &mut self,
        index: usize,
        outcome: &Outcome,
        spot: Option<(Spot, Arc<HashSet<Vec<Key>>>)>,
        minion: &Minion,
    ) {
        let (spot, secret) = spot.map_or((None, Arc::default()), |(spot, secret)| {
            (Some(spot), secret)
        });
        let id = minion.id().to_string();
        let value = match (self.what, &outcome.result) {
            (What::Value(_, path), Ok(data)) => yaml::traverse(data, path),
            _ => None,
        };
        let Some(of) = self.formulas.get_mut(index) else {
            return;
        };
        of.minions.push(id.clone());
        let Some(value) = value else { return };
        if let Some(known) = of
            .values
            .iter_mut()
            .find(|known| known.value.is_same(&value) && known.spot == spot)
        {
            known.minions.push(id);
            return;
        }
        of.values.push(OfValue {
            value,
            spot,
            secret,
            minions: vec![id],
            example: minion.clone(),
        });
    }

    /// What was found, without secrets.
    pub fn impact(&self, masking: &Masking) -> Impact {
        let keys = self.what.keys();
        let shown = |known: &OfValue| {
            let is_secret = |path: &[Key]| known.secret.contains(path);
            ReachedValue {
                value: masking.of([&known.example]).masked_where(
                    &mut keys.clone(),
                    &known.value,
                    &is_secret,
                ),
                origin: known.spot.as_ref().map(ToString::to_string),
                minions: known.minions.clone(),
            }
        };
        let row = |(name, of): (&str, &OfFormula)| {
            let mut values: Vec<ReachedValue> = of.values.iter().map(shown).collect();
            values.sort_by_key(|value| std::cmp::Reverse(value.minions.len()));
            Reached {
                formula: name.into(),
                minions: of.minions.clone(),
                values,
            }
        };
        let formulas = self
            .fleet
            .formulas()
            .zip(&self.formulas)
            .map(row)
            .filter(|row| !row.minions.is_empty())
            .collect();
        Impact {
            minions: self.minions,
            formulas,
        }
    }
}

/// What is reached.
#[derive(Debug)]
pub struct Impact {
    /// How many minions were looked at.
    pub minions: usize,
    /// The formulas that are reached.
    pub formulas: Vec<Reached>,
}

/// A formula that is reached.
#[derive(Debug)]
pub struct Reached {
    /// Its name.
    pub formula: String,
    /// The minions on which it is reached.
    pub minions: Vec<String>,
    /// The values that it has there under the key that was asked for.
    pub values: Vec<ReachedValue>,
}

/// A value of some minions.
#[derive(Debug)]
pub struct ReachedValue {
    /// The value, without secrets.
    pub value: Value,
    /// Where it comes from, if that is known.
    pub origin: Option<String>,
    /// Who has it.
    pub minions: Vec<String>,
}
