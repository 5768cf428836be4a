//! The minions that a file, a key or a fact reaches.

use mapstack::Way;
use mapstack::minion::Part;
use mapstack_fleet::Unfollowed;
use mapstack_fleet::impact::{self, Impact, What};
use serde::Serialize;

use crate::diff::made_by;
use crate::document::Data;
use crate::words::{count, some};
use crate::yaml_form::inline;

/// Minions that are named for each formula and value.
const NAMED: usize = 8;

/// The minions that a value or a fact reaches.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Reach<'i> {
    /// The subject that was asked about.
    of: &'i str,
    /// The number of minions.
    minions: usize,
    /// The number of those that could not be looked at.
    minions_not_looked_at: usize,
    formulas: Vec<Formula<'i>>,
    /// The minions whose pillar is reached, for a file of the pillar.
    pillar: &'i [String],
    /// The minions whose states are reached, for a file that an sls reads; left out where states are not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<&'i [String]>,
    /// The reason why the reach is unknown, if nothing that was looked at is reached.
    not_followed: Option<String>,
    /// The places in states and templates that are not followed, and that name the file or the fact.
    unfollowed: Vec<String>,
}

/// The subjects that were looked at.
pub struct Followed<'f> {
    /// The file, fact or key in question.
    pub what: &'f What,
    /// The formulas, each with the way in which its configuration is made.
    pub configurations: Vec<(String, Way)>,
    /// True if pillars are compiled: facts that they look at are not followed.
    pub has_pillars: bool,
    /// True if the states that top files give are compiled.
    pub has_states: bool,
    /// True if external pillars read their files around the file that is asked about.
    pub is_external: bool,
    /// The places that name the file or the fact in what is not followed.
    pub unfollowed: Vec<Unfollowed>,
}

/// Places that a message names.
const PLACES: usize = 3;

impl Followed<'_> {
    /// The reason why the reach is unknown, if nothing that was looked at is reached.
    #[must_use]
    pub fn gap(&self, impact: &Impact) -> Option<String> {
        let is_reached =
            !impact.formulas.is_empty() || !impact.pillar.is_empty() || !impact.states.is_empty();
        if is_reached || matches!(self.what, What::Value(..) | What::Pillar(..)) {
            return None;
        }
        if matches!(self.what, What::External(_)) {
            let why = "no pillar reads it, and no root serves it";
            return (!self.is_external).then(|| why.into());
        }
        let follows_states = self.follows_states();
        if self.configurations.is_empty() && !self.follows_pillars() && !follows_states {
            return Some(
                "no formula has parameters/ or a map.jinja, and states are not followed".into(),
            );
        }
        let configuration = match self.configurations.len() {
            _ if self.follows_pillars() && follows_states => {
                "no configuration, no pillar and no state reads it"
            }
            _ if follows_states => "no configuration and no state reads it",
            _ if self.follows_pillars() => "no configuration and no pillar reads it",
            1 => "the configuration followed does not read it",
            _ => "no configuration reads it",
        };
        let others = match self.has_pillars {
            true if !self.follows_pillars() => "states, managed files and pillars are not followed",
            _ if follows_states => "managed files are not followed",
            _ => "states and managed files are not followed",
        };
        let is_known = match self.what {
            What::File(path) => self.is_parameters(path),
            What::Fact(part, _) => *part == Part::Pillar || !self.has_pillars,
            _ => false,
        };
        match self.naming() {
            Some(naming) => Some(format!("{configuration}; {naming}, and {others}")),
            None => (!is_known).then(|| format!("{configuration}, and {others}")),
        }
    }

    /// The places of what is not followed, in words.
    fn naming(&self) -> Option<String> {
        let places = |is_computed| {
            let all = self.unfollowed.iter();
            let some_of = all.filter(move |one| one.is_computed == is_computed);
            some_of.map(|one| one.place.to_string()).collect()
        };
        let (named, computed): (Vec<String>, Vec<String>) = (places(false), places(true));
        match (named.len(), computed.len()) {
            (0, 0) => None,
            (0, 1) => Some(format!("{} computes the name of a file", computed[0])),
            (0, _) => Some(format!(
                "{} compute the names of files",
                some(&computed, PLACES)
            )),
            (1, _) => Some(format!("{} names it", named[0])),
            _ => Some(format!("{} name it", some(&named, PLACES))),
        }
    }

    /// The places that are known to name it.
    fn unfollowed_places(&self) -> impl Iterator<Item = String> {
        let named = self.unfollowed.iter().filter(|one| !one.is_computed);
        named.map(|one| one.place.to_string())
    }

    /// True if the files that pillars are made of are looked at.
    fn follows_pillars(&self) -> bool {
        self.is_about_a_file() && self.has_pillars
    }

    /// True if the files that states read are looked at.
    fn follows_states(&self) -> bool {
        matches!(self.what, What::File(_)) && self.has_states
    }

    /// True for a file that only configurations are made of.
    fn is_parameters(&self, path: &str) -> bool {
        let mut formulas = self.configurations.iter();
        formulas.any(|(formula, _)| {
            let below = path.strip_prefix(formula.as_str());
            below.is_some_and(|below| below.starts_with("/parameters/"))
        })
    }

    /// True if it is asked which pillars a file is read for.
    #[must_use]
    pub fn is_about_a_file(&self) -> bool {
        !matches!(self.what, What::Value(..) | What::Fact(..))
    }

    /// The followed subjects, as text.
    fn line(&self) -> String {
        match self.what {
            What::Pillar(..) | What::External(_) => "followed: pillars".into(),
            _ => {
                let pillars = self.follows_pillars().then(|| "pillars".into());
                let states = self.follows_states().then(|| "states".into());
                let all = made_by(&self.configurations).chain(pillars).chain(states);
                let all: Vec<String> = all.collect();
                format!("followed: {}", all.join("; "))
            }
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Formula<'i> {
    formula: &'i str,
    /// The number of minions that it reaches.
    count: usize,
    /// Their ids, sorted.
    minions: &'i [String],
    values: Vec<Holder<'i>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Holder<'i> {
    value: Data,
    /// The place, as file:line:column or in words.
    origin: Option<&'i str>,
    /// The number of minions that have it.
    count: usize,
    /// Their ids, sorted.
    minions: &'i [String],
}

impl<'i> Reach<'i> {
    /// The findings of `impact`; `given` is the question.
    pub fn new(given: &'i str, followed: &Followed<'_>, impact: &'i Impact) -> Self {
        Reach {
            of: given,
            minions: impact.minions,
            minions_not_looked_at: impact.not_looked_at,
            pillar: &impact.pillar,
            states: followed.follows_states().then_some(&impact.states),
            not_followed: followed.gap(impact),
            unfollowed: followed.unfollowed_places().collect(),
            formulas: impact.formulas.iter().map(Formula::of).collect(),
        }
    }

    /// For people.
    pub fn text(&self, followed: &Followed<'_>) -> String {
        let given = match followed.what {
            What::File(path) => format!("salt://{path}"),
            _ => self.of.to_owned(),
        };
        let count = |n: usize| count(n, "minion");
        let of_formulas = self.formulas.iter().flat_map(|row| row.minions);
        let of_states = self.states.unwrap_or_default();
        let mut reached: Vec<&String> = of_formulas.chain(self.pillar).chain(of_states).collect();
        reached.sort_unstable();
        reached.dedup();
        let not_looked_at = match self.minions_not_looked_at {
            0 => String::new(),
            n => format!("; {n} not looked at"),
        };
        let all = count(self.minions);
        let mut text = match &self.not_followed {
            Some(why) => format!("it is not known what {given} reaches on {all}: {why}\n"),
            None => format!(
                "{given} reaches {} of {all}{not_looked_at}\n",
                reached.len()
            ),
        };
        if !self.pillar.is_empty() {
            let minions = some(self.pillar, NAMED);
            text.push_str(&format!(
                "pillar: {}: {minions}\n",
                count(self.pillar.len())
            ));
        }
        if !of_states.is_empty() {
            let minions = some(of_states, NAMED);
            text.push_str(&format!("states: {}: {minions}\n", count(of_states.len())));
        }
        for row in &self.formulas {
            let minions = some(row.minions, NAMED);
            text.push_str(&format!(
                "{}: {}: {minions}\n",
                row.formula,
                count(row.count)
            ));
            for value in &row.values {
                let origin = value.origin.map(|origin| format!("  {origin}"));
                text.push_str(&format!(
                    "  {}{}\n    {}: {}\n",
                    inline(&value.value.0),
                    origin.unwrap_or_default(),
                    count(value.count),
                    some(value.minions, NAMED)
                ));
            }
        }
        text.push_str(&format!("{}\n", followed.line()));
        if self.not_followed.is_none() && !self.unfollowed.is_empty() {
            let places = some(&self.unfollowed, NAMED);
            text.push_str(&format!("not followed, and names it: {places}\n"));
        }
        text
    }
}

impl<'i> Formula<'i> {
    fn of(row: &'i impact::Reached) -> Self {
        let values = row.values.iter().map(|value| Holder {
            value: value.value.clone().into(),
            origin: value.origin.as_deref(),
            count: value.minions.len(),
            minions: &value.minions,
        });
        Formula {
            formula: &row.formula,
            count: row.minions.len(),
            minions: &row.minions,
            values: values.collect(),
        }
    }
}
