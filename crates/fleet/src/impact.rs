//! The minions and formulas that a file, a key or a fact reaches.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use mapstack::minion::{Minion, Part};
use mapstack::secrets::{Redacted, Secrets};
use mapstack::share::{FactRead, Outcome};
use mapstack::trace::FileReadKind;
use mapstack::value::{Key, Str, Value};
use mapstack::{Engine, Error, ErrorKind, nearest, yaml};
use mapstack_lineage::ValuePosition;

use crate::reached_file::{ReachedFile, ReachedFiles};
use crate::read_by_pillar::ByPillars;
use crate::read_by_states::{ByStates, ReachedStates};
use crate::unfollowed::{UnfollowedPlace, unfollowed};
use crate::used_by_states::PlaceOfValue;
pub use crate::what::QuestionSubject;
use crate::{Fleet, Masking, Minions, Pace, ordered};

/// The pillars and the states of minions that are looked at, too.
#[derive(Clone, Copy, Default)]
pub struct AlsoSearched<'b> {
    /// The pillars.
    pub pillars: Option<&'b ByPillars<'b>>,
    /// The states.
    pub states: Option<&'b ByStates<'b>>,
}

/// Looks at minions, on several threads.
struct ImpactSearch<'r, 'e> {
    what: &'r QuestionSubject,
    fleet: &'r Fleet<'e>,
    by_pillars: Option<&'r ByPillars<'r>>,
    by_states: Option<&'r ByStates<'r>>,
    /// The reached ones of the outcomes that minions share; they are kept, so that their addresses stay theirs.
    known: Mutex<HashMap<(usize, usize), Arc<SharedOutcome>>>,
}

/// The facts about an outcome that minions share.
struct SharedOutcome {
    outcome: Arc<Outcome>,
    is_reached: bool,
    origin: Arc<ValueOrigin>,
}

/// The facts about a minion.
struct FactsOfMinion {
    minion: Minion,
    /// By formula.
    outcomes: Vec<Arc<SharedOutcome>>,
    /// True if its pillar is reached.
    by_pillar: bool,
    /// Its states, as far as they are reached.
    by_states: ReachedStates,
    failed: Vec<Redacted<Error>>,
}

/// The facts about all minions so far.
struct ReachSoFar<'r> {
    what: &'r QuestionSubject,
    formulas: Vec<OfFormula>,
    /// The minions whose pillar is reached.
    by_pillar: Vec<String>,
    /// The minions whose states are reached.
    by_states: Vec<String>,
    files: ReachedFiles,
    /// The minions of which states are refused.
    refused: Vec<String>,
    /// The minions on which a template computes the value.
    computed: Vec<String>,
    minions: usize,
    not_looked_at: usize,
    /// True if any minion has what is asked about.
    is_there: bool,
    /// The names of facts of the first minion.
    names: Vec<String>,
    /// The first result, with the index of its formula and its minion.
    sample: Option<(Value, usize, Minion)>,
    failed: Vec<(String, Redacted<Error>)>,
}

/// The origin of a value, and the secrets in it.
#[derive(Debug, Default)]
struct ValueOrigin {
    spot: Option<ValuePosition>,
    /// The places of the value and of all values in it.
    places: Vec<PlaceOfValue>,
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
    origin: Arc<ValueOrigin>,
    minions: Vec<String>,
    /// One of them.
    example: Minion,
}

impl<'r, 'e> ImpactSearch<'r, 'e> {
    /// Nothing was looked at so far.
    fn new(what: &'r QuestionSubject, fleet: &'r Fleet<'e>, also: AlsoSearched<'r>) -> Self {
        ImpactSearch {
            what,
            fleet,
            by_pillars: also.pillars,
            by_states: also.states,
            known: Mutex::default(),
        }
    }

    /// Look at a minion; `None` for one that is left out.
    fn inspect(&self, minion: &Minion, masking: &Masking) -> Option<FactsOfMinion> {
        let minion = self.fleet.engine().with_tree_grains(minion).into_owned();
        let (minion, by_pillar, errors) = self.with_pillar(minion);
        if !errors.is_empty() {
            let secrets = masking.of([&minion]);
            return Some(FactsOfMinion {
                minion,
                outcomes: Vec::new(),
                by_pillar,
                by_states: ReachedStates::default(),
                failed: secrets.redact_all(&errors),
            });
        }
        let report = self.fleet.report(&minion)?;
        let outcomes = report.outcomes.iter().flatten().enumerate();
        let outcomes = outcomes.map(|(index, outcome)| self.known(index, outcome, &minion));
        let outcomes: Vec<Arc<SharedOutcome>> = outcomes.collect();
        let failed = report.errors().map(|(formula, error)| {
            let secrets = masking.of_formula(&minion, self.fleet, formula, Some(error));
            secrets.redact(error)
        });
        let mut failed: Vec<Redacted<Error>> = failed.collect();
        let by_states = self.by_states.map(|by| match self.what {
            QuestionSubject::Value(..) => by.look_for(&minion, &places_of(&outcomes)),
            _ => by.inspect(&minion, self.what, by_pillar),
        });
        let by_states = by_states.unwrap_or(Ok(ReachedStates::default()));
        let by_states = by_states.unwrap_or_else(|error| {
            failed.push(masking.of([&minion]).redact(&error));
            ReachedStates::default()
        });
        Some(FactsOfMinion {
            minion,
            outcomes,
            by_pillar,
            by_states,
            failed,
        })
    }

    /// The minion with its pillar, true if that is reached, and its errors.
    fn with_pillar(&self, minion: Minion) -> (Minion, bool, Vec<Error>) {
        match self.by_pillars {
            None => (minion, false, Vec::new()),
            Some(by) => {
                let (noted, is_reached) = by.inspect(&minion, self.what);
                (noted.minion, is_reached, noted.errors)
            }
        }
    }

    /// The facts about an outcome; the first minion that has it is asked.
    fn known(&self, index: usize, outcome: &Arc<Outcome>, minion: &Minion) -> Arc<SharedOutcome> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (index, Arc::as_ptr(outcome) as usize);
        if let Some(known) = known().get(&key) {
            return known.clone();
        }
        let is_reached = self.is_reached(index, outcome, minion);
        let origin = is_reached.then(|| self.origin(index, outcome, minion));
        let fresh = Arc::new(SharedOutcome {
            outcome: outcome.clone(),
            is_reached,
            origin: origin.flatten().unwrap_or_default().into(),
        });
        known().entry(key).or_insert(fresh).clone()
    }

    fn is_reached(&self, index: usize, outcome: &Outcome, minion: &Minion) -> bool {
        match self.what {
            QuestionSubject::Pillar(..) | QuestionSubject::External(..) => false,
            QuestionSubject::File(path) => outcome
                .files
                .iter()
                .any(|read| read.kind == FileReadKind::Found && *read.path == **path),
            QuestionSubject::Value(_, path) => outcome
                .result
                .as_ref()
                .is_ok_and(|data| yaml::traverse(data, path).is_some()),
            // An unknown file may be read. The template of a layer is asked for what it looks at.
            QuestionSubject::Fact(part, path) => {
                self.fleet.facts(index, minion).is_none_or(|reads| {
                    reads
                        .iter()
                        .any(|read| is_known(read) && read.sees(*part, path))
                })
            }
        }
    }

    /// The files that were read for the outcomes and for states.
    fn read(self) -> BTreeSet<String> {
        let known = self.known.into_inner();
        let known = known.unwrap_or_else(PoisonError::into_inner);
        let files = known.values().flat_map(|known| known.outcome.files.iter());
        let found = files.filter(|read| read.kind == FileReadKind::Found);
        let of_states = self.by_states.map(ByStates::read).unwrap_or_default();
        let found = found.map(|read| read.path.to_string());
        found.chain(of_states).collect()
    }

    /// The origin of the value in question.
    fn origin(&self, index: usize, outcome: &Outcome, minion: &Minion) -> Option<ValueOrigin> {
        let (value, keys) = (self.what.value(outcome)?, self.what.keys());
        let origins = self.fleet.origins(index, minion)?;
        Some(ValueOrigin {
            spot: origins.at(&keys, &value),
            places: origins.places_below(&keys),
            secret_paths: origins.secret_paths(&keys, &value),
            secret_texts: origins.secret_texts().to_vec(),
        })
    }
}

/// The places of the values in question.
fn places_of(outcomes: &[Arc<SharedOutcome>]) -> Vec<PlaceOfValue> {
    let places = outcomes.iter().flat_map(|known| &known.origin.places);
    places.cloned().collect()
}

/// True if it is known what a read looks at: a part of the facts, or a path.
fn is_known(read: &FactRead) -> bool {
    read.part.is_some() || !read.path.is_empty()
}

impl<'r> ReachSoFar<'r> {
    fn new(what: &'r QuestionSubject, formulas: usize) -> Self {
        ReachSoFar {
            what,
            formulas: vec![OfFormula::default(); formulas],
            by_pillar: Vec::new(),
            by_states: Vec::new(),
            files: ReachedFiles::default(),
            refused: Vec::new(),
            computed: Vec::new(),
            minions: 0,
            not_looked_at: 0,
            is_there: false,
            names: Vec::new(),
            sample: None,
            failed: Vec::new(),
        }
    }

    /// Take in what is known about a minion.
    fn take_in(&mut self, looked: FactsOfMinion) {
        let minion = &looked.minion;
        self.minions += 1;
        let states = looked.by_states;
        let is_looked_at = looked.by_pillar
            || states.is_reached
            || !states.files.is_empty()
            || !looked.outcomes.is_empty();
        self.not_looked_at += usize::from(!is_looked_at && !looked.failed.is_empty());
        if looked.by_pillar {
            self.by_pillar.push(minion.id().to_string());
        }
        self.take_in_states(states, &minion.id().to_string());
        self.note_fact(minion);
        if self.sample.is_none() {
            let mut results = looked.outcomes.iter().enumerate();
            let first = results.find_map(|(index, known)| {
                let value = known.outcome.result.as_ref().ok()?;
                Some((value.clone(), index, minion.clone()))
            });
            self.sample = first;
        }
        let all = looked.outcomes.iter().enumerate();
        for (index, known) in all.filter(|(_, known)| known.is_reached) {
            if matches!(self.what, QuestionSubject::Value(..)) && known.origin.places.is_empty() {
                self.computed.push(minion.id().to_string());
            }
            self.add(index, known, minion);
        }
        let id = minion.id().to_string();
        let failed = looked.failed.into_iter();
        self.failed.extend(failed.map(|error| (id.clone(), error)));
    }

    fn take_in_states(&mut self, states: ReachedStates, id: &str) {
        if states.is_reached {
            self.by_states.push(id.to_owned());
        }
        let has_file = states.files.iter().any(|file| file.how.is_reach());
        if states.is_refused && !states.is_reached && !has_file {
            self.refused.push(id.to_owned());
        }
        for file in states.files {
            self.files.add(file, id);
        }
    }

    /// Count a minion that cannot be looked at.
    fn fail(&mut self, id: &str, error: Redacted<Error>) {
        self.minions += 1;
        self.not_looked_at += 1;
        self.failed.push((id.into(), error));
    }

    /// Note whether a minion has the fact that is asked about.
    fn note_fact(&mut self, minion: &Minion) {
        let QuestionSubject::Fact(part, path) = self.what else {
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

    fn add(&mut self, index: usize, known: &SharedOutcome, minion: &Minion) {
        let id = minion.id().to_string();
        let (value, origin) = (self.what.value(&known.outcome), &known.origin);
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
            origin: origin.clone(),
            minions: vec![id],
            example: minion.clone(),
        });
    }

    fn sample(&self, fleet: &Fleet<'_>, masking: &Masking) -> Option<(Value, Secrets)> {
        let (value, index, minion) = self.sample.as_ref()?;
        let secrets = masking.of_formula(minion, fleet, Some(*index), None);
        Some((value.clone(), secrets))
    }

    /// Of a grain that no minion has, the failure to find it.
    fn unknown(&self) -> Option<Error> {
        let QuestionSubject::Fact(Part::Grains, path) = self.what else {
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

    /// The findings, without secrets.
    fn impact(self, fleet: &Fleet<'_>, masking: &Masking) -> Impact {
        let keys = self.what.keys();
        let shown = |known: &OfValue| {
            let is_secret = |path: &[Key]| known.origin.secret_paths.contains(path);
            let secrets = masking.of([&known.example]);
            let secrets = secrets.derived(&known.origin.secret_texts);
            ReachedValue {
                value: secrets.redact_data(&keys, &known.value, &is_secret),
                origin: known.origin.spot.as_ref().map(ToString::to_string),
                minions: known.minions.clone(),
            }
        };
        let row = |(name, of): (&str, &OfFormula)| {
            let mut values: Vec<ReachedValue> = of.values.iter().map(shown).collect();
            values.sort_by_key(|value| std::cmp::Reverse(value.minions.len()));
            ReachedFormula {
                formula: name.into(),
                minions: of.minions.clone(),
                values,
            }
        };
        let formulas = fleet
            .formulas()
            .zip(&self.formulas)
            .map(row)
            .filter(|row| !row.minions.is_empty())
            .collect();
        let is_reached = !Vec::is_empty(&formulas) || !self.by_states.is_empty();
        let (unknown, sample) = match formulas {
            _ if self.is_there || is_reached => (None, None),
            _ => (self.unknown(), self.sample(fleet, masking)),
        };
        Impact {
            minions: self.minions,
            not_looked_at: self.not_looked_at,
            pillar: self.by_pillar,
            states: self.by_states,
            files: self.files.into_all(),
            refused: self.refused,
            computed: self.computed,
            formulas,
            failed: self.failed,
            unknown,
            sample,
            read: BTreeSet::new(),
        }
    }
}

/// The minions and values that a subject reaches.
#[derive(Debug, Default)]
pub struct Impact {
    /// Why nothing can be reached: no minion has such a grain.
    pub unknown: Option<Error>,
    /// If nothing is reached: a sample result, for a missing key, and the secrets in it.
    pub sample: Option<(Value, Secrets)>,
    /// The number of minions.
    pub minions: usize,
    /// The number of those that could not be looked at.
    pub not_looked_at: usize,
    /// The formulas that are reached.
    pub formulas: Vec<ReachedFormula>,
    /// The minions whose pillar is reached.
    pub pillar: Vec<String>,
    /// The minions whose states are reached, if they are looked at.
    pub states: Vec<String>,
    /// The files of states and the states that are reached, and those that are not though they could be.
    pub files: Vec<ReachedFile>,
    /// The minions that are not reached, and of which states are refused, so that their files are not known.
    pub refused: Vec<String>,
    /// The minions on which a template computes the value, so that the states with it are unknown.
    pub computed: Vec<String>,
    /// The errors of minions, with their ids.
    pub failed: Vec<(String, Redacted<Error>)>,
    /// The files that the followed configurations read.
    pub read: BTreeSet<String>,
}

impl Impact {
    /// The places in states and templates that were not followed, and that name a file or a fact.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn unfollowed(
        &self,
        engine: &Engine,
        saltenv: &str,
        what: &QuestionSubject,
    ) -> Result<Vec<UnfollowedPlace>, Error> {
        unfollowed(engine, saltenv, what, &self.read)
    }

    /// Find what is reached on some minions, side by side; in their pillars and their states as well, if these are
    /// compiled here.
    ///
    /// ```
    /// use mapstack::{Engine, Error, loader::MemoryFiles, minion::Minion, secrets::Secrets};
    /// use mapstack_fleet::{Fleet, Impact, Masking, Minions, Pace, impact::{AlsoSearched, QuestionSubject}};
    ///
    /// struct Named;
    /// impl Minions for Named {
    ///     fn read(&self, id: &str) -> Result<Minion, Error> {
    ///         Ok(Minion::new(id).complete())
    ///     }
    /// }
    /// let files = MemoryFiles::new().file("base", "ssh/parameters/defaults.yaml", "values: {port: 22}");
    /// let engine = Engine::new(files);
    /// let fleet = Fleet::new(&engine).formula("ssh");
    /// let (what, ids) = (QuestionSubject::File("ssh/parameters/defaults.yaml".into()), ["web1".into(), "web2".into()]);
    /// let masking = Masking::new(Secrets::without_digests());
    /// let impact = Impact::of(&what, &fleet, AlsoSearched::default(), &Named, &ids, Pace::default(), &masking);
    /// assert_eq!(impact.formulas[0].minions, ["web1", "web2"]);
    /// ```
    #[must_use]
    pub fn of(
        what: &QuestionSubject,
        fleet: &Fleet<'_>,
        also: AlsoSearched<'_>,
        minions: &dyn Minions,
        ids: &[String],
        pace: Pace,
        masking: &Masking,
    ) -> Self {
        let reach = ImpactSearch::new(what, fleet, also);
        let mut found = ReachSoFar::new(what, fleet.formulas().count());
        std::thread::scope(|scope| {
            let work = |id: &String| Ok(reach.inspect(&minions.read(id)?, masking));
            for (id, looked) in ids.iter().zip(ordered(scope, ids.iter(), pace, work)) {
                match looked.map_err(Error::from).flatten() {
                    Ok(Some(looked)) => found.take_in(looked),
                    Ok(None) => {}
                    Err(error) => found.fail(id, masking.of([]).redact(&error)),
                }
            }
        });
        Impact {
            read: reach.read(),
            ..found.impact(fleet, masking)
        }
    }
}

/// A formula that is reached.
#[derive(Debug)]
pub struct ReachedFormula {
    /// Its name.
    pub formula: String,
    /// The minions on which it is reached.
    pub minions: Vec<String>,
    /// The values that it has there under the key that was requested.
    pub values: Vec<ReachedValue>,
}

/// A value of some minions.
#[derive(Debug)]
pub struct ReachedValue {
    /// The value, without secrets.
    pub value: Redacted<Value>,
    /// Its origin, if that is known.
    pub origin: Option<String>,
    /// The minions that have it.
    pub minions: Vec<String>,
}
