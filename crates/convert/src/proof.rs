//! The proof that a formula gives minions what it gave them.

use std::collections::HashMap;

use mapstack::minion::{Minion, Part};
use mapstack::value::{Key, Value};
use mapstack::{
    Configuration, ConfigurationMethod, DataOptions, Engine, Error, Result, SpentResource, sls_name,
};
use mapstack_fleet::{Change, Pace, changes, ordered};

use crate::leaves::{joined, sorted};
use crate::managed::ManagedComparison;
use crate::proposal::{FormulaKind, SharedValues};
use crate::states::{Compared, ConvertedSide, ConvertedStates, compared, kind_of};
use crate::{GivenPillar, Pillars, Proposal};

/// Two states of a formula, which are to be the same.
pub struct Proof<'e> {
    engines: [&'e Engine; 2],
    maps: [Configuration; 2],
    formula: String,
    saltenv: String,
    kind: FormulaKind,
    shared: Option<SharedValues>,
    /// True to accept that something which failed works now.
    allows_fixed: bool,
}

/// Something that is not what it was.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The key of the map, or the name of the sls.
    pub what: String,
    /// The value before, or the error.
    pub before: String,
    /// The value after, or the error.
    pub after: String,
    /// The minion on which it was seen first.
    pub minion: String,
    /// The pillar with which it was.
    pub pillar: String,
    /// The number of times it was seen.
    pub count: usize,
}

/// The numbers of comparisons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The minions.
    pub minions: usize,
    /// The given pillars, with the empty one: each for every minion.
    pub pillars: usize,
    /// The changed pillars.
    pub changed: usize,
    /// The minions for which there are the changed pillars, too: one for each family of systems.
    pub sampled: usize,
    /// The maps that were compared.
    pub maps: usize,
    /// Among them those that fail in the same way before and after.
    pub maps_fail: usize,
    /// Among them those that were nothing at all and are an empty mapping.
    pub maps_empty: usize,
    /// Among them those of systems without an entry, which get what all entries have.
    pub maps_added: usize,
    /// Among them those that failed and work, where that is allowed.
    pub maps_fixed: usize,
    /// The sls.
    pub sls: usize,
    /// The lists of states that were compared.
    pub states: usize,
    /// Among them those that fail in the same way before and after.
    pub states_fail: usize,
    /// Among them those that failed and work, where that is allowed.
    pub states_fixed: usize,
    /// Among them those with the same states in another order.
    pub states_reordered: usize,
    /// The managed files whose bytes were compared.
    pub files: usize,
    /// The managed files whose bytes the machine decides, before and after.
    pub files_unknown: usize,
    /// The managed files that fail in the same way before and after.
    pub files_fail: usize,
    /// The managed files that show the map, which is compared itself.
    pub files_of_map: usize,
}

/// The outcome of a proof.
#[derive(Debug, Clone, Default)]
pub struct ProofOutcome {
    /// The numbers of comparisons.
    pub counts: Counts,
    /// The differences, each once.
    pub differences: Vec<Difference>,
    /// The part of the budget of the whole run that was used up before all was compared.
    pub spent: Option<SpentResource>,
}

impl ProofOutcome {
    /// True if all is what it was, and something was compared that works.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.differences.is_empty() && self.spent.is_none() && self.works()
    }

    /// True if a map works somewhere.
    #[must_use]
    pub fn works(&self) -> bool {
        let counts = &self.counts;
        counts.maps > counts.maps_fail + counts.maps_empty + counts.maps_added
    }
}

/// The comparison of one map or of the states of one sls.
enum ProofStep {
    Same,
    FailsAlike,
    Empty,
    /// A system without an entry gets what all entries have.
    Added {
        was_nothing: bool,
    },
    Fixed,
    Reordered,
    Differs(Vec<[String; 3]>),
}

/// Special things about a map on a minion with a pillar.
#[derive(Debug, Clone, Copy, Default)]
struct Special {
    /// It was nothing and is a mapping: an empty one is the same in states, too.
    was_nothing: bool,
    /// It has values that the entries of other systems had.
    is_added: bool,
}

impl Special {
    fn of(seen: &ProofStep) -> Option<Self> {
        let (was_nothing, is_added) = match seen {
            ProofStep::Empty => (true, false),
            ProofStep::Added { was_nothing } => (*was_nothing, true),
            _ => return None,
        };
        Some(Special {
            was_nothing,
            is_added,
        })
    }
}

impl<'e> Proof<'e> {
    /// The formula before and after a proposal.
    ///
    /// # Errors
    /// The formula's files cannot be listed.
    pub fn new(
        engines: [&'e Engine; 2],
        formula: &str,
        saltenv: &str,
        proposal: &Proposal,
    ) -> Result<Self> {
        let map = |engine: &Engine| -> Result<Configuration> {
            let of = Configuration::of(engine, formula, saltenv, DataOptions::default())?;
            let of = of.made(engine, ConfigurationMethod::Map)?;
            Ok(of.with_variable(Some(&proposal.variable)))
        };
        let [before, after] = engines;
        Ok(Proof {
            engines,
            maps: [map(before)?, map(after)?],
            formula: formula.into(),
            saltenv: saltenv.into(),
            kind: proposal.kind,
            shared: proposal.shared.clone(),
            allows_fixed: false,
        })
    }

    /// Accept that something which failed works now.
    #[must_use]
    pub fn allowing_fixed(mut self, allows: bool) -> Self {
        self.allows_fixed = allows;
        self
    }

    /// The maps of minions as they are now, where they work.
    #[must_use]
    pub fn maps(&self, minions: &[Minion]) -> Vec<Value> {
        let computed = |minion| self.map(0, minion).ok();
        one_per_family(minions)
            .into_iter()
            .filter_map(computed)
            .collect()
    }

    /// Compare maps and states for minions and pillars.
    ///
    /// # Errors
    /// The formula's files cannot be listed.
    pub fn run(&self, minions: &[Minion], pillars: &Pillars, pace: Pace) -> Result<ProofOutcome> {
        let sampled = one_per_family(minions);
        let mut work: Vec<(&Minion, &GivenPillar)> = Vec::new();
        for pillar in &pillars.given {
            work.extend(minions.iter().map(|minion| (minion, pillar)));
        }
        for pillar in &pillars.changed {
            work.extend(sampled.iter().map(|minion| (*minion, pillar)));
        }
        let mut proven = ProofOutcome {
            counts: Counts {
                minions: minions.len(),
                pillars: pillars.given.len(),
                changed: pillars.changed.len(),
                sampled: sampled.len(),
                ..Counts::default()
            },
            ..ProofOutcome::default()
        };
        let seen = side_by_side(&work, pace, |(minion, pillar)| {
            let minion = Minion::clone(minion).with(Part::Pillar, pillar.data.clone());
            self.compare_map(&minion)
        });
        let mut special: HashMap<Case<'_>, Special> = HashMap::new();
        for (of, seen) in work.iter().zip(seen) {
            let seen = seen?;
            proven.counts.maps += 1;
            if let Some(of_map) = Special::of(&seen) {
                special.insert(case(of.0, of.1), of_map);
            }
            proven.add(seen, of.0, of.1, None);
        }
        if proven.differences.is_empty() {
            self.states(minions, pillars, &special, pace, &mut proven)?;
        }
        proven.spent = self.engines.iter().find_map(|engine| engine.spent());
        Ok(proven)
    }

    fn map(&self, side: usize, minion: &Minion) -> Result<Value> {
        let run = self.engines[side]
            .run(minion)
            .with_saltenv(self.saltenv.as_str());
        self.maps[side].compute(&run)
    }

    fn compare_map(&self, minion: &Minion) -> ProofStep {
        match (self.map(0, minion), self.map(1, minion)) {
            (Ok(before), Ok(after)) => {
                let shared = self.shared.as_ref();
                let shared = shared.filter(|shared| shared.is_new_for(minion));
                self.compare_values(&before, &after, shared)
            }
            (Err(before), Err(after)) if kind_of(&before) == kind_of(&after) => {
                ProofStep::FailsAlike
            }
            (Err(_), Ok(_)) if self.allows_fixed => ProofStep::Fixed,
            (before, after) => {
                let [before, after] = [before, after].map(|one| match one {
                    Ok(_) => "works".to_owned(),
                    Err(error) => one_line(&error),
                });
                ProofStep::Differs(vec![["the map".into(), before, after]])
            }
        }
    }

    fn compare_values(
        &self,
        before: &Value,
        after: &Value,
        shared: Option<&SharedValues>,
    ) -> ProofStep {
        let is_own = |path: &[Key], gone: bool| {
            let name = |key: &Key, name: &str| matches!(key, Key::Str(key) if &**key == name);
            let is_meta = path.first().is_some_and(|key| name(key, "map_jinja"));
            // map.data takes the options of merging out of what it merges.
            let is_option = gone
                && path.len() <= 2
                && path
                    .last()
                    .is_some_and(|key| name(key, "strategy") || name(key, "merge_lists"));
            is_meta || (self.kind == FormulaKind::Libmapstack && is_option)
        };
        let nothing = Value::map();
        let (before, was_nothing) = match (before, after) {
            (Value::None, Value::Map(_)) => (&nothing, true),
            _ => (before, false),
        };
        // libmapstack sorts keys, and map.data keeps their order.
        let found = match self.kind {
            FormulaKind::Libmapstack => changes(&sorted(before), &sorted(after)),
            FormulaKind::Tables => changes(before, after),
        };
        let found = found.iter();
        let found = found.filter(|change| !is_own(&change.path, change.new.is_none()));
        let is_added = |change: &&Change| shared.is_some_and(|shared| shared.adds(change));
        let (added, found): (Vec<&Change>, Vec<&Change>) = found.partition(is_added);
        let found: Vec<[String; 3]> = found
            .into_iter()
            .map(|change| {
                let what = match change.path.is_empty() {
                    true => "the map".into(),
                    false => joined(&change.path),
                };
                [what, shown(change.old.as_ref()), shown(change.new.as_ref())]
            })
            .collect();
        match (found.is_empty(), added.is_empty()) {
            (true, true) if was_nothing => ProofStep::Empty,
            (true, true) => ProofStep::Same,
            (true, false) => ProofStep::Added { was_nothing },
            (false, _) if was_nothing => {
                ProofStep::Differs(vec![["the map".into(), shown(None), after.repr()]])
            }
            (false, _) => ProofStep::Differs(found),
        }
    }

    fn states(
        &self,
        minions: &[Minion],
        pillars: &Pillars,
        special: &HashMap<Case<'_>, Special>,
        pace: Pace,
        proven: &mut ProofOutcome,
    ) -> Result<()> {
        let listed = self.engines[0].list(&self.saltenv, &format!("{}/", self.formula))?;
        let names: Vec<String> = listed.iter().filter_map(|path| sls_name(path)).collect();
        proven.counts.sls = names.len();
        // A formula with very many sls is compared on fewer minions.
        let sampled = one_per_family(minions);
        let is_large = names.len() * minions.len() * pillars.given.len() > MAX_STATES;
        let on: Vec<&Minion> = match is_large {
            true => sampled,
            false => minions.iter().collect(),
        };
        let mut work: Vec<(&Minion, &GivenPillar)> = Vec::new();
        for pillar in &pillars.given {
            work.extend(on.iter().map(|minion| (*minion, pillar)));
        }
        let sides = self.engines.map(ConvertedSide::new);
        let shown = self.shown();
        let seen = side_by_side(&work, pace, |of| {
            let (minion, pillar) = *of;
            let special = special
                .get(&case(minion, pillar))
                .copied()
                .unwrap_or_default();
            // A state that shows the whole map shows what was compared before.
            let is_seen = |sls: &&String| **sls == shown && special.is_added;
            let minion = Minion::clone(minion).with(Part::Pillar, pillar.data.clone());
            let compared = names.iter().filter(|sls| !is_seen(sls)).map(|sls| {
                (
                    sls,
                    self.compare_states(&sides, &minion, special.was_nothing, sls),
                )
            });
            compared.collect::<Vec<_>>()
        });
        for (of, seen) in work.iter().zip(seen) {
            for (sls, (seen, files)) in seen? {
                proven.counts.states += 1;
                proven.add(seen, of.0, of.1, Some(sls));
                proven.add_files(files, of.0, of.1, sls);
            }
        }
        Ok(())
    }

    fn compared(&self, before: &[Value], after: &[Value]) -> Compared {
        let all = |states: &[Value]| states.iter().map(sorted).collect::<Vec<_>>();
        match self.kind {
            FormulaKind::Libmapstack => compared(&all(before), &all(after)),
            FormulaKind::Tables => compared(before, after),
        }
    }

    fn compare_states(
        &self,
        sides: &[ConvertedSide<'_>; 2],
        minion: &Minion,
        is_empty: bool,
        sls: &str,
    ) -> (ProofStep, ManagedComparison) {
        let given = |side: &ConvertedSide<'_>| side.given(minion, &self.saltenv, sls, is_empty);
        let [before, after] = sides.each_ref().map(given);
        let failed = |low: &ConvertedStates| match low {
            ConvertedStates::States(_) => "works".to_owned(),
            ConvertedStates::Fails { message, .. } => {
                message.lines().next().unwrap_or_default().to_owned()
            }
        };
        let seen = match (&before.low, &after.low) {
            (ConvertedStates::States(low), ConvertedStates::States(then)) => {
                match self.compared(low, then) {
                    Compared::Same => ProofStep::Same,
                    Compared::Reordered => ProofStep::Reordered,
                    Compared::Differ(states) => ProofStep::Differs(vec![of_states(sls, &states)]),
                }
            }
            (ConvertedStates::Fails { kind: a, .. }, ConvertedStates::Fails { kind: b, .. })
                if is_empty || a == b =>
            {
                ProofStep::FailsAlike
            }
            (ConvertedStates::Fails { .. }, ConvertedStates::States(_)) if self.allows_fixed => {
                ProofStep::Fixed
            }
            (low, then) => ProofStep::Differs(vec![[
                format!("the states of {sls}"),
                failed(low),
                failed(then),
            ]]),
        };
        let files = match &seen {
            ProofStep::Same | ProofStep::Reordered if sls == self.shown() => {
                ManagedComparison::of_map(&before.files)
            }
            ProofStep::Same | ProofStep::Reordered => {
                ManagedComparison::of(&before.files, &after.files, &|| self.metas(minion))
            }
            _ => ManagedComparison::default(),
        };
        (seen, files)
    }

    /// The values of the key `map_jinja` of a minion's maps.
    fn metas(&self, minion: &Minion) -> [Value; 2] {
        [0, 1].map(|side| {
            let map = self.map(side, minion).unwrap_or_default();
            let meta = map.as_map().and_then(|map| map.get("map_jinja"));
            meta.cloned().unwrap_or_default()
        })
    }

    /// The sls that shows the whole map, as formulas of the Salt project have it for their tests.
    fn shown(&self) -> String {
        format!("{}._mapdata", self.formula)
    }
}

/// A value in a difference.
fn shown(value: Option<&Value>) -> String {
    value.map_or("nothing".into(), Value::repr)
}

/// A state that differs: what of it, before and after.
fn of_states(sls: &str, states: &[Option<Value>; 2]) -> [String; 3] {
    let what = format!("the states of {sls}");
    let [Some(before), Some(after)] = states else {
        let shown = |state: &Option<Value>| state.as_ref().map_or("no state".into(), Value::repr);
        return [what, shown(&states[0]), shown(&states[1])];
    };
    let id = |state: &Value| state.as_map()?.get("__id__").map(ToString::to_string);
    match (id(before), changes(before, after).first()) {
        (Some(of), Some(change)) if id(after).as_ref() == Some(&of) => [
            format!("{what}: {of}: {}", joined(&change.path)),
            shown(change.old.as_ref()),
            shown(change.new.as_ref()),
        ],
        _ => [what, before.repr(), after.repr()],
    }
}

/// Lists of states that are compared on every minion.
const MAX_STATES: usize = 3_000;

/// Differences that are told apart.
const MAX_DIFFERENCES: usize = 200;

impl ProofOutcome {
    fn add(&mut self, seen: ProofStep, minion: &Minion, pillar: &GivenPillar, sls: Option<&str>) {
        let counts = &mut self.counts;
        match (seen, sls) {
            (ProofStep::Same, _) => {}
            (ProofStep::FailsAlike, None) => counts.maps_fail += 1,
            (ProofStep::FailsAlike, Some(_)) => counts.states_fail += 1,
            (ProofStep::Empty, _) => counts.maps_empty += 1,
            (ProofStep::Added { .. }, _) => counts.maps_added += 1,
            (ProofStep::Fixed, None) => counts.maps_fixed += 1,
            (ProofStep::Fixed, Some(_)) => counts.states_fixed += 1,
            (ProofStep::Reordered, _) => counts.states_reordered += 1,
            (ProofStep::Differs(found), _) => {
                for [what, before, after] in found {
                    self.differ(Difference {
                        what,
                        before,
                        after,
                        minion: minion.id().to_string(),
                        pillar: pillar.name.clone(),
                        count: 1,
                    });
                }
            }
        }
    }

    fn add_files(
        &mut self,
        files: ManagedComparison,
        minion: &Minion,
        pillar: &GivenPillar,
        sls: &str,
    ) {
        let counts = &mut self.counts;
        counts.files += files.same + files.differ.len();
        counts.files_unknown += files.unknown;
        counts.files_fail += files.fail;
        counts.files_of_map += files.of_map;
        for [what, before, after] in files.differ {
            self.differ(Difference {
                what: format!("{what} of {sls}"),
                before,
                after,
                minion: minion.id().to_string(),
                pillar: pillar.name.clone(),
                count: 1,
            });
        }
    }

    fn differ(&mut self, new: Difference) {
        let known = self
            .differences
            .iter()
            .position(|known| known.what == new.what);
        match known {
            Some(at) => self.differences[at].count += 1,
            None if self.differences.len() < MAX_DIFFERENCES => self.differences.push(new),
            None => {}
        }
    }
}

/// The identity of a minion with a pillar.
type Case<'c> = (String, &'c str);

fn case<'c>(minion: &Minion, pillar: &'c GivenPillar) -> Case<'c> {
    (minion.id().to_string(), &pillar.name)
}

/// Do work for each item on several threads.
fn side_by_side<I: Sync, T: Send>(
    items: &[I],
    pace: Pace,
    work: impl Fn(&I) -> T + Send + Sync,
) -> Vec<Result<T>> {
    std::thread::scope(|scope| {
        let done = ordered(scope, items.iter(), pace, work);
        done.map(|result| result.map_err(Error::from)).collect()
    })
}

/// The first minion of each family of systems.
fn one_per_family(minions: &[Minion]) -> Vec<&Minion> {
    let mut families: Vec<Option<&Value>> = Vec::new();
    let mut found = Vec::new();
    for minion in minions {
        let family = minion.grains.get("os_family");
        if !families.contains(&family) {
            families.push(family);
            found.push(minion);
        }
    }
    found
}

/// The first line of an error, with its place.
fn one_line(error: &Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    match &error.diagnostic().place {
        Some(place) => format!("{place}: {line}"),
        None => line.to_owned(),
    }
}
