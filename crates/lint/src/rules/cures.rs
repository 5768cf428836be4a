//! Cures of failures: facts that no minion here has, or the configuration itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use mapstack::loader::{Fetched, SaltPath};
use mapstack::secrets::Cipher;
use mapstack::value::{Map, Value};
use mapstack::{Error, ErrorKind, Means, Place, yaml};
use mapstack_salt_jinja::ast::StmtKind;

use super::failures::is_slip;
use crate::document::SourceFile;
use crate::origins::{Origins, Tracer, WantedValue, text_of};
use crate::pillar::PillarKeys;
use crate::subject::FormulaSubject;
use crate::suppress::promised;
use crate::templates::names;

/// The missing thing behind a failure.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cure {
    /// Facts that no minion of the run has, in a sentence.
    Facts(String),
    /// A value that an unread source gives, in a sentence: a pillar, as the formula says, or an external one.
    Promised(String),
    /// A value that no layer sets, or that is of no use as it is set.
    Unset(WantedValue),
    /// A key that the pillars of these minions lack, in a sentence, with its last name.
    NotInPillar { what: String, name: String },
    /// A data file that a variable is read from, and that is empty.
    Empty { variable: String, file: Place },
}

/// The facts of a run's minions, and what the formula says of facts.
pub(super) struct RunFacts<'s> {
    subject: &'s FormulaSubject<'s>,
    pillars: BTreeMap<String, GivenPillar<'s>>,
    promised: BTreeSet<String>,
    examples: Vec<(String, String)>,
}

/// The pillar of a minion.
struct GivenPillar<'s> {
    data: &'s Map,
    /// The keys of encrypted values, and of the collections that contain them; computed on demand.
    ciphertext: OnceLock<BTreeSet<String>>,
}

impl<'s> GivenPillar<'s> {
    fn of(data: &'s Map) -> Self {
        GivenPillar {
            data,
            ciphertext: OnceLock::new(),
        }
    }

    /// True if a text of the pillar, or one below it, is ciphertext.
    fn is_ciphertext(&self, key: &str) -> bool {
        let found = self.ciphertext.get_or_init(|| {
            let mut found = BTreeSet::new();
            for (name, value) in self.data {
                note_ciphertext(value, &name.to_string(), &mut found);
            }
            found
        });
        found.contains(key)
    }
}

/// Note the keys to ciphertext in a value, its own included; true if there is any.
fn note_ciphertext(value: &Value, key: &str, found: &mut BTreeSet<String>) -> bool {
    let mut is_in = |value: &Value, key: &str| note_ciphertext(value, key, found);
    let is_any = match value {
        // All of them are looked at, so that each is noted.
        Value::Map(map) => {
            let parts = map.iter();
            parts
                .filter(|(name, value)| is_in(value, &format!("{key}:{name}")))
                .count()
                > 0
        }
        Value::List(items) => items.iter().filter(|item| is_in(item, key)).count() > 0,
        text => [Cipher::Gpg, Cipher::Nacl]
            .iter()
            .any(|one| one.is_in(text)),
    };
    if is_any {
        found.insert(key.to_owned());
    }
    is_any
}

/// A failure, and where it happens.
pub(super) struct PlacedFailure<'f> {
    pub error: &'f Error,
    pub place: &'f Place,
    pub minions: &'f [String],
    /// True if it works for no minion.
    pub is_everywhere: bool,
}

impl<'s> RunFacts<'s> {
    pub fn of(subject: &'s FormulaSubject<'s>) -> Self {
        let minions = subject.runs.iter().map(|run| run.minion);
        RunFacts {
            subject,
            pillars: minions
                .map(|minion| (minion.id().to_string(), GivenPillar::of(&minion.pillar)))
                .collect(),
            promised: promised(subject.files.values().map(|file| &**file)),
            examples: examples(subject),
        }
    }

    /// The lack that a failure is for, if it can be for one.
    pub fn cure(&self, failure: &PlacedFailure<'_>, tracer: &mut Tracer<'_>) -> Option<Cure> {
        if !could_lack_facts(failure.error) {
            return None;
        }
        let origins = tracer.at(failure.place);
        let is_given = |key: &&String| {
            let mut pillars = failure.minions.iter().map(|id| self.pillars.get(id));
            pillars.all(|pillar| pillar.is_some_and(|pillar| has(pillar.data, key)))
        };
        let lacking: Vec<&String> = origins.pillar.iter().filter(|key| !is_given(key)).collect();
        let is_cipher = |key: &&String| {
            let mut pillars = failure.minions.iter().map(|id| self.pillars.get(id));
            pillars.all(|pillar| pillar.is_some_and(|pillar| pillar.is_ciphertext(key)))
        };
        let encrypted: Vec<&String> = origins.pillar.iter().filter(is_cipher).collect();
        if !encrypted.is_empty() {
            return Some(Cure::Promised(format!(
                "{} of the pillar stays ciphertext here, which is not the value that Salt gives",
                listed(encrypted)
            )));
        }
        let estate = self.subject.estate.as_ref();
        let left_out = estate.map_or(&[][..], |estate| &estate.left_out);
        if !lacking.is_empty() && !left_out.is_empty() {
            return Some(Cure::Promised(format!(
                "it looks up {} in the pillar, and external pillars that may give it were left out: {}",
                listed(lacking),
                listed(left_out)
            )));
        }
        if !lacking.is_empty() {
            return Some(self.not_in_pillar(failure, &origins, &lacking));
        }
        if !failure.is_everywhere {
            return None;
        }
        if let Some(empty) = self.empty(failure.place) {
            return Some(empty);
        }
        let merged: Vec<&String> = origins.merged.iter().filter(|key| !is_given(key)).collect();
        match (merged.is_empty(), origins.merged.is_empty()) {
            (false, _) => Some(self.unset(failure, &merged, tracer)),
            (true, false) => {
                let all: Vec<&String> = origins.merged.iter().collect();
                self.unset_by_all(failure, &all, tracer)
            }
            (true, true) => other_facts(&origins).map(Cure::Facts),
        }
    }

    /// The keys that are looked up in pillars without them.
    fn not_in_pillar(
        &self,
        failure: &PlacedFailure<'_>,
        origins: &Origins,
        lacking: &[&String],
    ) -> Cure {
        let names = || lacking.iter().map(|key| last(key));
        if let Some(name) = names().find(|name| self.promised.contains(*name)) {
            return promised_by(name);
        }
        let is_literal = |key: &&&String| !origins.computed.contains(**key);
        let is_unset = failure.is_everywhere
            && lacking.iter().all(|key| is_literal(&key))
            && self.is_unset(failure, |pillar| {
                lacking.iter().any(|key| pillar.can_have(key))
            });
        let keys = listed(lacking.iter().copied());
        match names().next().filter(|_| is_unset) {
            Some(name) => Cure::NotInPillar {
                what: format!(
                    "it looks up {keys} in the pillar, and no sls of the pillar sets it for these minions"
                ),
                name: name.to_owned(),
            },
            None => Cure::Facts(format!(
                "it looks up {keys} in the pillar, which is missing: give one by {}",
                Means::Pillar
            )),
        }
    }

    /// True if all of an estate's pillar is here and does not give what these minions lack: neither to them, nor to any
    /// if other grains than those that are assumed could choose more of it.
    fn is_unset(
        &self,
        failure: &PlacedFailure<'_>,
        can_have: impl Fn(&PillarKeys) -> bool,
    ) -> bool {
        let Some(estate) = &self.subject.estate else {
            return false;
        };
        estate.pillar.as_ref().is_some_and(|pillar| {
            let is_real = !estate.assumes(failure.minions);
            is_real || estate.broken.is_empty() && !can_have(pillar)
        })
    }

    /// The value that neither layers nor the pillars over them set.
    fn unset_by_all(
        &self,
        failure: &PlacedFailure<'_>,
        merged: &[&String],
        tracer: &Tracer<'_>,
    ) -> Option<Cure> {
        let wanted = self.wanted(failure, tracer)?;
        if self.promised.contains(&wanted.key) {
            return Some(promised_by(&wanted.key));
        }
        let is_unset = wanted.is_absent && self.is_unset_by_layers(failure, merged, &wanted.key);
        is_unset.then_some(Cure::Unset(wanted))
    }

    /// True if other grains than those that are assumed would not lead to a layer with a name, or a pillar over them.
    fn is_unset_by_layers(
        &self,
        failure: &PlacedFailure<'_>,
        merged: &[&String],
        name: &str,
    ) -> bool {
        if !self.are_assumed(failure.minions) {
            return true;
        }
        let is_said = |pillar: &PillarKeys| merged.iter().any(|key| pillar.can_name(key, name));
        self.is_unset(failure, is_said) && !self.is_said_near(failure.place, name)
    }

    /// True if a file of the formulas that a template reads says a key.
    fn is_said_near(&self, place: &Place, key: &str) -> bool {
        let folder = |path: &str| path.split_once('/').map(|(folder, _)| folder.to_owned());
        let (templates, imports) = (&self.subject.templates, &self.subject.survey.imports);
        let first = templates.at(place);
        let read = first.map(|first| templates.read_from(&first.path, imports, |_| false));
        let read = read.into_iter().flatten();
        let folders: BTreeSet<_> = read.map(|parsed| folder(&parsed.path)).collect();
        let mut files = self.subject.files.values();
        files.any(|file| folders.contains(&folder(&file.path)) && says_key(&file.text, key))
    }

    /// The value that a failure lacks, unless it is a fact, since facts read no layer.
    fn wanted(&self, failure: &PlacedFailure<'_>, tracer: &Tracer<'_>) -> Option<WantedValue> {
        let message = &failure.error.diagnostic().message;
        let is_of_layers =
            |wanted: &WantedValue| !["pillar", "grains", "opts"].contains(&&*wanted.object);
        tracer.wanted(failure.place, message).filter(is_of_layers)
    }

    /// The value that layers set, and that the pillar is merged over, but which lacks the key.
    fn unset(&self, failure: &PlacedFailure<'_>, merged: &[&String], tracer: &Tracer<'_>) -> Cure {
        let could = Cure::Facts(format!(
            "a pillar with {} could set it: give one by {}",
            listed(merged.iter().copied()),
            Means::Pillar
        ));
        let Some(wanted) = self.wanted(failure, tracer) else {
            return could;
        };
        if self.promised.contains(&wanted.key) {
            return promised_by(&wanted.key);
        }
        let sets = |(_, text): &&(String, String)| says_key(text, &wanted.key);
        match self.examples.iter().find(sets) {
            Some((path, _)) => Cure::Facts(format!(
                "{path} sets `{}`, so a pillar could: give one by {}",
                wanted.key,
                Means::Pillar
            )),
            None if self.is_unset_by_layers(failure, merged, &wanted.key) => Cure::Unset(wanted),
            // Their grains choose the pillar that they get.
            None => could,
        }
    }

    fn are_assumed(&self, minions: &[String]) -> bool {
        let estate = self.subject.estate.as_ref();
        estate.is_some_and(|estate| estate.assumes(minions))
    }

    /// The variable of an expression that an empty file was read into.
    fn empty(&self, place: &Place) -> Option<Cure> {
        let parsed = self.subject.templates.at(place)?;
        let said = place.source.get(place.start..place.end)?;
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let words: BTreeSet<&str> = said.split(|c| !is_part(c)).collect();
        parsed.statements().into_iter().find_map(|stmt| {
            let StmtKind::ImportData {
                template, target, ..
            } = &stmt.kind
            else {
                return None;
            };
            let mut bound = std::collections::HashSet::new();
            names(target, &mut bound);
            let variable = bound.into_iter().find(|name| words.contains(name))?;
            let path = parsed.beside(&text_of(parsed, template)?);
            let file = self.subject.files.get(&path)?;
            is_empty(file).then(|| Cure::Empty {
                variable: variable.to_owned(),
                file: file.place(0, 0),
            })
        })
    }
}

/// The last part of a key.
fn last(key: &str) -> &str {
    key.rsplit(':').next().unwrap_or(key)
}

fn promised_by(key: &str) -> Cure {
    Cure::Promised(format!("`from-pillar={key}` says that the pillar sets it"))
}

fn is_empty(file: &SourceFile) -> bool {
    !file.is_template() && yaml::load(&file.text).is_ok_and(|value| value.is_none())
}

fn has(pillar: &Map, key: &str) -> bool {
    value(pillar, key).is_some()
}

fn value<'p>(pillar: &'p Map, key: &str) -> Option<&'p Value> {
    let mut parts = key.split(':');
    let first = parts.next().and_then(|part| pillar.get(part));
    parts.fold(first, |value, part| value?.as_map()?.get(part))
}

/// The grains or options that a failure everywhere lacks.
fn other_facts(origins: &Origins) -> Option<String> {
    if !origins.grains.is_empty() {
        let grains = listed(&origins.grains);
        return Some(format!(
            "no minion of this run has the grain {grains}: set it by {}, or give {}",
            Means::Fact,
            Means::Minions
        ));
    }
    let options = listed(&origins.options);
    (!origins.options.is_empty()).then(|| {
        format!(
            "no minion of this run has the option {options}: give some that have it by {}",
            Means::Minions
        )
    })
}

fn listed<'k>(keys: impl IntoIterator<Item = &'k String>) -> String {
    let quoted = keys.into_iter().map(|key| format!("'{key}'"));
    quoted.collect::<Vec<_>>().join(", ")
}

/// True if a failure can be for lack of a fact.
pub(super) fn could_lack_facts(error: &Error) -> bool {
    let diagnostic = error.diagnostic();
    is_lack(error) && !is_slip(diagnostic) && of_python_2(&diagnostic.message).is_none()
}

/// True if an error is one that a missing value leads to.
pub(super) fn is_lack(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Undefined | ErrorKind::Yaml => true,
        ErrorKind::Template => {
            let message = &error.diagnostic().message;
            TYPE_ERRORS.iter().any(|part| message.contains(part))
        }
        _ => false,
    }
}

/// Parts of Python's messages about values of another type than expected, `None` above all.
const TYPE_ERRORS: [&str; 8] = [
    "Undefined)",
    "object is not iterable",
    "not iterable",
    "has no len()",
    "is not subscriptable",
    "object has no attribute",
    "unsupported operand",
    "must be str, not",
];

/// Methods that Python 2 had, with what is written in their place.
const PYTHON_2: [(&str, &str); 8] = [
    ("iteritems", ".items()"),
    ("iterkeys", ".keys()"),
    ("itervalues", ".values()"),
    ("viewitems", ".items()"),
    ("viewkeys", ".keys()"),
    ("viewvalues", ".values()"),
    ("has_key", "`key in mapping`"),
    ("decode", "the text as it is"),
];

/// The replacement for a method of Python 2 that a message reports as missing.
pub(super) fn of_python_2(message: &str) -> Option<(&'static str, &'static str)> {
    let (of, rest) = message.split_once("' has no attribute '")?;
    let is_old = of.ends_with("dict object") || of.ends_with("'dict") || of.ends_with("str object");
    let name = rest.strip_suffix('\'')?;
    let known = PYTHON_2.iter().find(|(old, _)| *old == name);
    known.copied().filter(|_| is_old)
}

/// The files that show what a pillar of the formula can have, with their texts.
fn examples(subject: &FormulaSubject<'_>) -> Vec<(String, String)> {
    let own = format!("{}/", subject.formula);
    let is_example = |path: &&String| {
        let is_near = path.starts_with(&own)
            || !path.contains('/')
            || path.starts_with("test/")
            || path.starts_with("tests/")
            || path.starts_with("_pillar/");
        let is_data = [".jinja", ".py", ".rb", ".md", ".rst"]
            .iter()
            .all(|suffix| !path.ends_with(suffix));
        is_near && is_data && path.to_lowercase().contains("pillar")
    };
    let listed = subject.engine.list(&subject.saltenv, "");
    let listed = listed.unwrap_or_default();
    let read = |path: &String| {
        let fetched = subject
            .engine
            .fetch(&SaltPath::from_relative(path), &subject.saltenv);
        let Ok(Fetched::Found { bytes, .. }) = fetched else {
            return None;
        };
        Some((path.clone(), String::from_utf8(bytes.to_vec()).ok()?))
    };
    listed.iter().filter(is_example).filter_map(read).collect()
}

/// True if a line of a text has a key, also behind a dash, or in a comment as examples have them.
fn says_key(text: &str, key: &str) -> bool {
    let says = |part: &str| {
        let part = part.trim_start_matches(['#', '-', ' ', '\t', '\'', '"']);
        let rest = part.strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start_matches(['\'', '"']).starts_with(':'))
    };
    text.lines().any(|line| line.split([',', '{']).any(says))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_examples_are_found_in_comments_and_lists_too() {
        for text in [
            "web:\n  pkg: x",
            "# pkg: x",
            "  - pkg:\n",
            "web: {pkg: 1, port: 2}",
        ] {
            assert!(says_key(text, "pkg"), "{text}");
        }
        for text in ["pkgs: x", "my_pkg: 1", "a pkg: 1", "pkg"] {
            assert!(!says_key(text, "pkg"), "{text}");
        }
    }

    #[test]
    fn methods_of_python_2_are_those_of_mappings_and_texts() {
        assert!(of_python_2("'dict object' has no attribute 'iteritems'").is_some());
        assert!(of_python_2("'list object' has no attribute 'iteritems'").is_none());
        assert!(of_python_2("'dict object' has no attribute 'items'").is_none());
    }
}
