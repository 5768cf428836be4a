//! The minions that a file, a key or a fact reaches.

use mapstack::ConfigurationMethod;
use mapstack::minion::Part;
use mapstack_fleet::impact::{self, Impact, QuestionSubject};
use mapstack_fleet::{FileReach, ReachedFile, UnfollowedPlace};
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
pub struct ReachedMinions<'i> {
    /// The subject that was asked about.
    of: &'i str,
    /// The number of minions.
    minions: usize,
    /// The number of those that could not be looked at.
    minions_not_looked_at: usize,
    formulas: Vec<Formula<'i>>,
    /// The minions whose pillar is reached, for a file of the pillar.
    pillar: &'i [String],
    /// The minions whose states are reached, as an sls or a top file reads the file or the fact, or the pillar that the
    /// file is part of; left out where states are not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<&'i [String]>,
    /// The managed files that are reached, and the states that name the file; left out where states are not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<FileRow<'i>>>,
    /// The managed files for which the file is a source that does not count, or is left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_used: Vec<FileRow<'i>>,
    /// The minions that are not known to be reached and that have states which Salt refuses, so that some of
    /// their files are unknown.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    refused: &'i [String],
    /// The minions on which a template computes the value, so that the states with it are unknown.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    computed: &'i [String],
    /// The reason why the reach is unknown, if nothing that was looked at is reached.
    not_followed: Option<String>,
    /// The places in states and templates that are not followed, and that name the file or the fact.
    unfollowed: Vec<String>,
}

/// A managed file, or a state that names a file.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct FileRow<'i> {
    /// The path on the minion, or the name that the state has.
    path: &'i str,
    /// The function of the state, such as `file.managed`.
    function: &'i str,
    /// The ID of the state.
    id: &'i str,
    /// The sls of the state.
    sls: &'i str,
    /// The way in which it is reached: `source`, `read` by its template, a `pillar` that is read, `may read`, or `named` by the state; for a value, `printed` into it, or in an
    /// `argument` of the state. Of those that are not: a `candidate`, or `left out`.
    how: &'static str,
    /// The argument that has the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    argument: Option<&'i str>,
    /// The source that counts in place of a candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    used_instead: Option<&'i str>,
    /// The number of minions.
    count: usize,
    /// Their ids, sorted.
    minions: &'i [String],
}

impl<'i> FileRow<'i> {
    fn of(reached: &'i ReachedFile) -> Self {
        let file = &reached.file;
        let (how, used_instead) = match &file.how {
            FileReach::Source => ("source", None),
            FileReach::Read => ("read", None),
            FileReach::Pillar => ("pillar", None),
            FileReach::MayRead => ("may read", None),
            FileReach::Named => ("named", None),
            FileReach::Candidate(other) => ("candidate", other.as_deref()),
            FileReach::LeftOut => ("left out", None),
            FileReach::Printed => ("printed", None),
            FileReach::Argument(_) => ("argument", None),
        };
        let argument = match &file.how {
            FileReach::Argument(name) => Some(&**name),
            _ => None,
        };
        FileRow {
            path: &file.path,
            function: &file.function,
            id: &file.id,
            sls: &file.sls,
            how,
            argument,
            used_instead,
            count: reached.minions.len(),
            minions: &reached.minions,
        }
    }

    /// The file, its state and its minions, for people.
    fn text(&self) -> String {
        let how = match (self.how, self.used_instead) {
            ("candidate", Some(other)) => format!("could have it as its source, and has {other}"),
            ("candidate", None) => "could have it as its source, and no source is known".into(),
            ("left out", _) => "leaves it out of the folder of its source".into(),
            ("source", _) => "has it as its source".into(),
            ("pillar", _) => "reads the pillar".into(),
            ("may read", _) => "may read it".into(),
            ("named", _) => "names it".into(),
            ("printed", _) => "prints it".into(),
            ("argument", _) => {
                format!(
                    "has it in the argument {}",
                    self.argument.unwrap_or_default()
                )
            }
            _ => "reads it".into(),
        };
        let id = match self.id == self.path {
            true => String::new(),
            false => format!(" '{}'", self.id),
        };
        let (function, path, sls) = (self.function, self.path, self.sls);
        let minions = some(self.minions, NAMED);
        let count = count(self.count, "minion");
        format!("{function} {path} ({sls}{id}) {how}\n  {count}: {minions}\n")
    }
}

/// The states that are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatesOf {
    /// None.
    Nothing,
    /// Those that top files give.
    Top,
    /// Those of each sls, as there is no top file.
    Sls,
}

/// The subjects that were looked at.
pub struct ExaminedSubjects<'f> {
    /// The file, fact or key in question.
    pub what: &'f QuestionSubject,
    /// The formulas, each with the way in which its configuration is made.
    pub configurations: Vec<(String, ConfigurationMethod)>,
    /// True if pillars are compiled: facts that they look at are not followed.
    pub has_pillars: bool,
    /// The states that are compiled.
    pub states: StatesOf,
    /// True if external pillars read their files around the file that is asked about.
    pub is_external: bool,
    /// The places that name the file or the fact in what is not followed.
    pub unfollowed: Vec<UnfollowedPlace>,
}

/// Files that the text lists.
const FILES: usize = 40;

/// Places that a message names.
const PLACES: usize = 3;

impl ExaminedSubjects<'_> {
    /// The reason why the reach is unknown, if nothing that was looked at is reached.
    #[must_use]
    pub fn gap(&self, impact: &Impact) -> Option<String> {
        let is_reached = !impact.formulas.is_empty()
            || !impact.pillar.is_empty()
            || !impact.states.is_empty()
            || impact.files.iter().any(|one| one.file.how.is_reach());
        if is_reached
            || matches!(
                self.what,
                QuestionSubject::Value(..) | QuestionSubject::Pillar(..)
            )
        {
            return None;
        }
        if matches!(self.what, QuestionSubject::External(_)) {
            let why = "no pillar reads it, and no root serves it";
            return (!self.is_external).then(|| why.into());
        }
        let follows_states = self.follows_states();
        if self.configurations.is_empty() && !self.follows_pillars() && !follows_states {
            return Some(
                "no formula has parameters/ or a map.jinja, and states are not followed".into(),
            );
        }
        let configuration = self.unread();
        let others = self.unfollowed_kinds();
        let also = match others {
            Some(others) => format!(", and {others}"),
            None => String::new(),
        };
        if let Some(naming) = self.naming() {
            return Some(format!("{configuration}; {naming}{also}"));
        }
        if let Some(refused) = self.refused(impact) {
            return Some(format!("{configuration}, and {refused}"));
        }
        let is_known = match self.what {
            QuestionSubject::File(path) => {
                self.is_parameters(path) || follows_states && !is_plugin(path)
            }
            QuestionSubject::Fact(part, _) => *part == Part::Pillar || !self.has_pillars,
            _ => false,
        };
        let of_plugins = "what plugins of Salt do is not followed";
        (!is_known).then(|| format!("{configuration}, and {}", others.unwrap_or(of_plugins)))
    }

    /// The things that were searched and do not read it, in words.
    fn unread(&self) -> &'static str {
        match (self.follows_states(), self.follows_pillars()) {
            (true, true) => "no configuration, no pillar, no state and no managed file reads it",
            (true, false) => "no configuration, no state and no managed file reads it",
            (false, true) => "no configuration and no pillar reads it",
            _ if self.configurations.len() == 1 => "the configuration followed does not read it",
            _ => "no configuration reads it",
        }
    }

    /// The kinds of readers that are not followed, in words.
    fn unfollowed_kinds(&self) -> Option<&'static str> {
        let leaves_pillars = self.has_pillars && !self.follows_pillars();
        match (leaves_pillars, self.follows_states()) {
            (true, false) => Some("states, managed files and pillars are not followed"),
            (true, true) => Some("pillars are not followed"),
            (false, false) => Some("states and managed files are not followed"),
            (false, true) => None,
        }
    }

    /// The states that Salt refuses, in words.
    fn refused(&self, impact: &Impact) -> Option<String> {
        let is_settled =
            matches!(self.what, QuestionSubject::File(path) if self.is_parameters(path));
        if is_settled || impact.refused.is_empty() {
            return None;
        }
        let minions = count(impact.refused.len(), "minion");
        let some = some(&impact.refused, PLACES);
        Some(format!(
            "of {minions} states do not compile, so that their files are not known: {some}"
        ))
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

    /// True if states and their files are looked at.
    #[must_use]
    pub fn follows_states(&self) -> bool {
        self.states != StatesOf::Nothing
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
        !matches!(
            self.what,
            QuestionSubject::Value(..) | QuestionSubject::Fact(..)
        )
    }

    /// The followed subjects, as text.
    fn line(&self) -> String {
        let is_of_pillar = matches!(
            self.what,
            QuestionSubject::Pillar(..) | QuestionSubject::External(_)
        );
        let configurations = made_by(&self.configurations).filter(|_| !is_of_pillar);
        let pillars = (is_of_pillar || self.follows_pillars()).then(|| "pillars".into());
        let states = match self.states {
            _ if !self.follows_states() => None,
            StatesOf::Nothing => None,
            StatesOf::Top => Some("states that top files give and their managed files".into()),
            StatesOf::Sls => Some("states of each sls alone and their managed files".into()),
        };
        let is_value = matches!(self.what, QuestionSubject::Value(..)) && self.follows_states();
        let all: Vec<String> = configurations.chain(pillars).chain(states).collect();
        let but = match is_value {
            true => "; not followed: conditions, and what templates compute from the value",
            false => "",
        };
        format!("followed: {}{but}", all.join("; "))
    }
}

/// True for Python that Salt loads.
fn is_plugin(path: &str) -> bool {
    path.starts_with('_') && path.contains('/')
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

fn rows(impact: &Impact, is_reached: bool) -> Vec<FileRow<'_>> {
    let files = impact.files.iter();
    let files = files.filter(|one| one.file.how.is_reach() == is_reached);
    files.map(FileRow::of).collect()
}

impl<'i> ReachedMinions<'i> {
    /// The findings of `impact`; `given` is the question.
    pub fn new(given: &'i str, followed: &ExaminedSubjects<'_>, impact: &'i Impact) -> Self {
        ReachedMinions {
            of: given,
            minions: impact.minions,
            minions_not_looked_at: impact.not_looked_at,
            pillar: &impact.pillar,
            states: followed.follows_states().then_some(&impact.states),
            files: followed.follows_states().then(|| rows(impact, true)),
            not_used: rows(impact, false),
            refused: &impact.refused,
            computed: match followed.follows_states() {
                true => &impact.computed,
                false => &[],
            },
            not_followed: followed.gap(impact),
            unfollowed: followed.unfollowed_places().collect(),
            formulas: impact.formulas.iter().map(Formula::of).collect(),
        }
    }

    /// For people.
    pub fn text(&self, followed: &ExaminedSubjects<'_>) -> String {
        let given = match followed.what {
            QuestionSubject::File(path) => format!("salt://{path}"),
            _ => self.of.to_owned(),
        };
        let all = count(self.minions, "minion");
        let mut text = match &self.not_followed {
            Some(why) => format!("it is not known what {given} reaches on {all}: {why}\n"),
            None => {
                let not_looked_at = match self.minions_not_looked_at {
                    0 => String::new(),
                    n => format!("; {n} not looked at"),
                };
                let reached = self.reached();
                format!("{given} reaches {reached} of {all}{not_looked_at}\n")
            }
        };
        text.push_str(&line("pillar", self.pillar));
        let through = match self.pillar.is_empty() {
            true => "states",
            false => "states that read the pillar",
        };
        text.push_str(&line(through, self.states.unwrap_or_default()));
        text.push_str(&self.text_of_files());
        text.extend(self.formulas.iter().map(Formula::text));
        if self.not_followed.is_none() {
            text.push_str(&line("states do not compile", self.refused));
        }
        let computed = "a template computes the value, and the states that have it are not known";
        text.push_str(&line(computed, self.computed));
        text.push_str(&format!("{}\n", followed.line()));
        if self.not_followed.is_none() && !self.unfollowed.is_empty() {
            let places = some(&self.unfollowed, NAMED);
            text.push_str(&format!("not followed, and names it: {places}\n"));
        }
        text
    }

    /// The number of minions that are reached.
    fn reached(&self) -> usize {
        let of_formulas = self.formulas.iter().flat_map(|row| row.minions);
        let of_files = self.files.iter().flatten().flat_map(|row| row.minions);
        let of_states = self.states.unwrap_or_default();
        let all = of_formulas.chain(self.pillar).chain(of_states);
        let mut reached: Vec<&String> = all.chain(of_files).collect();
        reached.sort_unstable();
        reached.dedup();
        reached.len()
    }

    fn text_of_files(&self) -> String {
        let all = || self.files.iter().flatten().chain(&self.not_used);
        let mut text: String = all().take(FILES).map(FileRow::text).collect();
        if let Some(left) = all().count().checked_sub(FILES).filter(|left| *left > 0) {
            text.push_str(&format!("and {left} more files: -o json lists all\n"));
        }
        text
    }
}

/// A line with minions; nothing without any.
fn line(what: &str, minions: &[String]) -> String {
    match minions.is_empty() {
        true => String::new(),
        false => {
            let named = some(minions, NAMED);
            format!("{what}: {}: {named}\n", count(minions.len(), "minion"))
        }
    }
}

impl<'i> Formula<'i> {
    /// For people.
    fn text(&self) -> String {
        let mut text = line(self.formula, self.minions);
        for value in &self.values {
            let origin = value.origin.map(|origin| format!("  {origin}"));
            text.push_str(&format!(
                "  {}{}\n    {}: {}\n",
                inline(&value.value.0),
                origin.unwrap_or_default(),
                count(value.count, "minion"),
                some(value.minions, NAMED)
            ));
        }
        text
    }

    fn of(row: &'i impact::ReachedFormula) -> Self {
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
