//! `mapstack impact`.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use mapstack::lineage::Spot;
use mapstack::loader::Snapshot;
use mapstack::minion::{Minion, Part};
use mapstack::secrets::Redacted;
use mapstack::trace::FileReadKind;
use mapstack::value::{Key, Path as KeyPath, Value};
use mapstack::{Engine, Error, Outcome, yaml};
use mapstack_fleet::Fleet;

use super::diff::some;
use super::fleets::Plan;
use super::formulas;
use crate::cli::{Impact, Listing, SecretFlags};
use crate::configuration;
use crate::functions;
use crate::inputs::{self, Many};
use crate::masking::Masking;
use crate::output::{self, count, number, object};
use crate::report::{Failure, Reporter};

/// What is asked about.
enum What {
    /// A file, by its path from the file server's root.
    File(String),
    /// A key of a formula's data.
    Value(String, KeyPath),
    /// A fact.
    Fact(Part, Vec<Key>),
}

/// Minions that are named for each formula and value.
const NAMED: usize = 8;

pub fn run(args: &Impact, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let mut plan = Plan::new(input, &args.layering, args.select.as_deref())?;
    let config = configuration::read(&input.files, input.facts.id.as_deref(), None, reporter)?;
    let served = inputs::served(&input.files, config.as_ref(), None, reporter)?;
    let roots = served.directories(plan.saltenv());
    let engine = functions::add(Engine::new(Snapshot::new(served.files)), &input.functions)?;
    let known: Vec<String> = formulas::layered(engine.files(), plan.saltenv())?
        .into_iter()
        .collect();
    let what = What::read(&args.what, &known, &roots)?;
    plan.formulas = match (&what, args.formula.is_empty()) {
        (What::Value(formula, _), _) => vec![formula.clone()],
        (_, true) => known,
        (_, false) => formulas::named(&args.formula),
    };
    let fleet = plan.fleet(&engine);
    let others: Vec<_> = input
        .functions
        .stub
        .iter()
        .chain(&input.custom_data)
        .cloned()
        .collect();
    let minions = Many::list_or_platforms(
        (&input.facts, &args.target),
        config.as_ref(),
        &others,
        reporter,
    )?;
    let formulas = vec![OfFormula::default(); plan.formulas.len()];
    let mut reached = Reached {
        what: &what,
        fleet: &fleet,
        formulas,
        known: HashMap::new(),
        minions: 0,
    };
    let masking = Masking::new(&SecretFlags::default(), reporter)?;
    let mut broken: Vec<Redacted<Error>> = Vec::new();
    for id in minions.ids() {
        match minions.read(&id) {
            Ok(minion) => broken.extend(reached.look(&minion, &masking)),
            Err(error) => broken.push(reporter.redact(&error)),
        }
    }
    let rows = reached.rows(&plan.formulas, &masking);
    match args.format {
        Listing::Text => output::write_listing(&text(&args.what, &what, &rows, reached.minions))?,
        Listing::Json => {
            output::write(&output::as_json(&json(&args.what, &rows, reached.minions))?)?;
        }
    }
    reporter.errors(broken)
}

impl What {
    /// Of what is a file and a key, the file is meant.
    fn read(given: &str, formulas: &[String], roots: &[String]) -> Result<Self, Failure> {
        if let Some(path) = given.strip_prefix("salt://") {
            return Ok(What::File(path.into()));
        }
        if Path::new(given).is_file() {
            let path = inputs::below(roots, given).ok_or_else(|| {
                Failure::Usage(format!(
                    "{given} lies below none of the roots: {}",
                    roots.join(", ")
                ))
            })?;
            return Ok(What::File(path));
        }
        let usage = |what: &str| {
            Failure::Usage(format!(
                "{given}: {what}; write a file, FORMULA:KEY, grains:KEY, pillar:KEY or opts:KEY"
            ))
        };
        let (first, key) = given
            .split_once(':')
            .ok_or_else(|| usage("there is no such file"))?;
        let part = match first {
            "grains" => Some(Part::Grains),
            "pillar" => Some(Part::Pillar),
            "opts" => Some(Part::Opts),
            _ => None,
        };
        let path = KeyPath::split(key, ":").map_err(|e| Failure::Usage(e.to_string()))?;
        match part {
            Some(part) => Ok(What::Fact(part, key.split(':').map(Key::from).collect())),
            None if formulas.iter().any(|formula| formula == first) => {
                Ok(What::Value(first.into(), path))
            }
            None => Err(match mapstack::nearest(first, formulas) {
                Some(near) => usage(&format!(
                    "no formula '{first}' has parameter files; did you mean '{near}'?"
                )),
                None => usage(&format!("no formula '{first}' has parameter files")),
            }),
        }
    }

    /// The keys to a value.
    fn keys(&self) -> Vec<Key> {
        match self {
            What::Value(_, path) => path.steps().iter().map(|step| step.0.clone()).collect(),
            _ => Vec::new(),
        }
    }
}

/// What is known of each formula so far.
struct Reached<'r, 'e> {
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

impl Reached<'_, '_> {
    /// Look at a minion, and return what fails on it.
    fn look(&mut self, minion: &Minion, masking: &Masking) -> Vec<Redacted<Error>> {
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
            // Where nobody knows, it may be looked at.
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

    /// What is told of each formula that is reached.
    fn rows(&self, names: &[String], masking: &Masking) -> Vec<Row> {
        let keys = self.what.keys();
        let shown = |known: &OfValue| {
            let is_secret = |path: &[Key]| known.secret.contains(path);
            RowValue {
                value: masking.of([&known.example]).masked_where(
                    &mut keys.clone(),
                    &known.value,
                    &is_secret,
                ),
                origin: known.spot.as_ref().map(ToString::to_string),
                minions: known.minions.clone(),
            }
        };
        let row = |(name, of): (&String, &OfFormula)| {
            let mut values: Vec<RowValue> = of.values.iter().map(shown).collect();
            values.sort_by_key(|value| std::cmp::Reverse(value.minions.len()));
            Row {
                formula: name.clone(),
                minions: of.minions.clone(),
                values,
            }
        };
        names
            .iter()
            .zip(&self.formulas)
            .map(row)
            .filter(|row| !row.minions.is_empty())
            .collect()
    }
}

/// A formula that is reached.
struct Row {
    formula: String,
    minions: Vec<String>,
    values: Vec<RowValue>,
}

struct RowValue {
    value: Value,
    origin: Option<String>,
    minions: Vec<String>,
}

fn text(given: &str, what: &What, rows: &[Row], all: usize) -> String {
    let given = match what {
        What::File(path) => format!("salt://{path}"),
        _ => given.to_owned(),
    };
    let count = |n: usize| count(n, "minion");
    let mut reached: Vec<&String> = rows.iter().flat_map(|row| &row.minions).collect();
    reached.sort_unstable();
    reached.dedup();
    let mut text = format!("{given} reaches {} of {}\n", reached.len(), count(all));
    for row in rows {
        text.push_str(&format!(
            "{}: {}: {}\n",
            row.formula,
            count(row.minions.len()),
            some(&row.minions, NAMED)
        ));
        for value in &row.values {
            let origin = value
                .origin
                .as_ref()
                .map(|origin| format!("  {origin}"))
                .unwrap_or_default();
            let minions = format!(
                "{}: {}",
                count(value.minions.len()),
                some(&value.minions, NAMED)
            );
            text.push_str(&format!(
                "  {}{origin}\n    {minions}\n",
                value.value.repr()
            ));
        }
    }
    text
}

fn json(given: &str, rows: &[Row], all: usize) -> Value {
    let formulas = rows.iter().map(|row| {
        let values = row.values.iter().map(|value| {
            object([
                ("value", value.value.clone()),
                (
                    "origin",
                    value.origin.as_deref().map_or(Value::None, Value::from),
                ),
                ("count", number(value.minions.len())),
                ("minions", value.minions.iter().collect()),
            ])
        });
        object([
            ("formula", row.formula.as_str().into()),
            ("count", number(row.minions.len())),
            ("minions", row.minions.iter().collect()),
            ("values", values.collect()),
        ])
    });
    object([
        ("of", given.into()),
        ("minions", number(all)),
        ("formulas", formulas.collect()),
    ])
}
