//! Which minions and formulas a file, a key or a fact reaches.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mapstack::minion::{Minion, Part};
use mapstack::secrets::{Redacted, Secrets};
use mapstack::trace::FileReadKind;
use mapstack::value::{Key, Path as KeyPath, Str, Value};
use mapstack::{Error, ErrorKind, nearest, yaml};
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
    /// Whether any minion has what is asked about.
    is_there: bool,
    /// The names of facts of the first minion.
    names: Vec<String>,
    /// The first result, with the index of its formula and its minion.
    sample: Option<(Value, usize, Minion)>,
}

/// What is known of an outcome that minions share.
struct Known {
    outcome: Arc<Outcome>,
    is_reached: bool,
    origin: Arc<Origin>,
}

/// Where a value comes from, and what in it is secret.
#[derive(Debug, Default)]
struct Origin {
    spot: Option<Spot>,
    secret_paths: HashSet<Vec<Key>>,
    secret_texts: Vec<Str>,
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
    origin: Arc<Origin>,
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
            is_there: false,
            names: Vec::new(),
            sample: None,
        }
    }

    /// Look at a minion, and return what fails on it.
    pub fn look(&mut self, minion: &Minion, masking: &Masking) -> Vec<Redacted<Error>> {
        let Some(report) = self.fleet.report(minion) else {
            return Vec::new();
        };
        self.minions += 1;
        self.note_fact(minion);
        if self.sample.is_none() {
            let mut results = report.outcomes.iter().flatten().enumerate();
            let first = results
                .find_map(|(index, outcome)| Some((outcome.result.as_ref().ok()?.clone(), index)));
            self.sample = first.map(|(value, index)| (value, index, minion.clone()));
        }
        for (index, outcome) in report.outcomes.iter().flatten().enumerate() {
            let key = (index, Arc::as_ptr(outcome) as usize);
            if !self.known.contains_key(&key) {
                let is_reached = self.is_reached(index, outcome, minion);
                let origin = is_reached.then(|| self.origin(index, outcome, minion));
                let origin = origin.flatten().unwrap_or_default().into();
                self.known.insert(
                    key,
                    Known {
                        outcome: outcome.clone(),
                        is_reached,
                        origin,
                    },
                );
            }
            if let Some(known) = self.known.get(&key).filter(|known| known.is_reached) {
                let (outcome, origin) = (known.outcome.clone(), known.origin.clone());
                self.add(index, &outcome, origin, minion);
            }
        }
        let failed = report.errors().map(|(formula, error)| {
            let secrets = masking.of_formula(minion, self.fleet, formula, Some(error));
            secrets.redact(&error.clone().note(format!("for the minion {}", report.id)))
        });
        failed.collect()
    }

    /// Note whether a minion has the fact that is asked about.
    fn note_fact(&mut self, minion: &Minion) {
        let What::Fact(part, path) = self.what else {
            return;
        };
        let facts = match part {
            Part::Grains => &minion.grains,
            Part::Pillar => &minion.pillar,
            Part::Opts => &minion.opts,
        };
        if self.names.is_empty() {
            self.names = facts.keys().map(ToString::to_string).collect();
        }
        let (Some((first, rest)), false) = (path.split_first(), self.is_there) else {
            return;
        };
        let found = rest.iter().try_fold(facts.get(first), |value, key| {
            Some(value?.as_map()?.get(key))
        });
        self.is_there = found.flatten().is_some();
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

    /// The value of an outcome that is asked about.
    fn value(&self, outcome: &Outcome) -> Option<Value> {
        match (self.what, &outcome.result) {
            (What::Value(_, path), Ok(data)) => yaml::traverse(data, path),
            _ => None,
        }
    }

    /// Where the value that is asked about comes from.
    fn origin(&self, index: usize, outcome: &Outcome, minion: &Minion) -> Option<Origin> {
        let (value, keys) = (self.value(outcome)?, self.what.keys());
        let origins = self.fleet.origins(index, minion)?;
        Some(Origin {
            spot: origins.at(&keys, &value),
            secret_paths: origins.secret_paths(&keys, &value),
            secret_texts: origins.secret_texts().to_vec(),
        })
    }

    fn add(&mut self, index: usize, outcome: &Outcome, origin: Arc<Origin>, minion: &Minion) {
        let id = minion.id().to_string();
        let value = self.value(outcome);
        let Some(of) = self.formulas.get_mut(index) else {
            return;
        };
        of.minions.push(id.clone());
        let Some(value) = value else { return };
        if let Some(known) = of
            .values
            .iter_mut()
            .find(|known| known.value.is_same(&value) && known.origin.spot == origin.spot)
        {
            known.minions.push(id);
            return;
        }
        of.values.push(OfValue {
            value,
            origin,
            minions: vec![id],
            example: minion.clone(),
        });
    }

    fn sample(&self, masking: &Masking) -> Option<(Value, Secrets)> {
        let (value, index, minion) = self.sample.as_ref()?;
        let secrets = masking.of_formula(minion, self.fleet, Some(*index), None);
        Some((value.clone(), secrets))
    }

    /// Of a grain that no minion has, the failure to find it.
    fn unknown(&self) -> Option<Error> {
        let What::Fact(Part::Grains, path) = self.what else {
            return None;
        };
        let name = path.first()?.to_string();
        let message = format!("no minion has a grain '{name}', and no formula asks for it");
        let error = Error::new(ErrorKind::Lookup, message);
        Some(match nearest(&name, &self.names) {
            Some(near) => error.note(format!("did you mean '{near}'?")),
            None => error,
        })
    }

    /// What was found, without secrets.
    pub fn impact(&self, masking: &Masking) -> Impact {
        let keys = self.what.keys();
        let shown = |known: &OfValue| {
            let is_secret = |path: &[Key]| known.origin.secret_paths.contains(path);
            let secrets = masking.of([&known.example]);
            let secrets = secrets.derived(&known.origin.secret_texts);
            ReachedValue {
                value: secrets.redact_value(&keys, &known.value, &is_secret),
                origin: known.origin.spot.as_ref().map(ToString::to_string),
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
        let (unknown, sample) = match formulas {
            _ if self.is_there || !Vec::is_empty(&formulas) => (None, None),
            _ => (self.unknown(), self.sample(masking)),
        };
        Impact {
            minions: self.minions,
            formulas,
            unknown,
            sample,
        }
    }
}

/// What is reached.
#[derive(Debug)]
pub struct Impact {
    /// Why nothing can be reached: no minion has such a grain.
    pub unknown: Option<Error>,
    /// Where nothing is reached: a result, for a key that none has, and what is secret in it.
    pub sample: Option<(Value, Secrets)>,
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
    pub value: Redacted<Value>,
    /// Where it comes from, if that is known.
    pub origin: Option<String>,
    /// The minions that have it.
    pub minions: Vec<String>,
}
