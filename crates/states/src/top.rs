//! Top files of states (Salt: `BaseHighState.get_tops`, `merge_tops` and `top_matches`).

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexMap;
use mapstack::loader::{Fetched, SaltPath};
use mapstack::minion::Minion;
use mapstack::share::{FactRead, MinionAnswers};
use mapstack::{Engine, Run, top_slips};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, KeyedText, Place, Result, nearest};
use mapstack_pillar::MasterTops;
use mapstack_value::{Key, Map, Value};

use crate::available::Available;
use crate::options::{Strategy, TopOptions};
use crate::render::{MinionRenders, SlsFile};
use crate::sections::Tops;

/// An sls that a target of a top file gives a minion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The sls, or a shell pattern of several.
    pub sls: String,
    /// The target.
    pub target: String,
    /// The matcher that reads the target.
    pub matcher: String,
}

/// The sls that top files give a minion: entries by saltenv, in the order of the targets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Top {
    /// The entries.
    pub entries: IndexMap<String, Vec<Entry>>,
    /// True if any top file was found.
    pub is_there: bool,
    /// The top files that were read, as people open them.
    pub files: Vec<String>,
    /// Mistakes in them, such as a misspelt matcher.
    pub warnings: Vec<Diagnostic>,
    /// The facts that decide what the minion gets; `None` if they are not known. A gatherer has to note them.
    pub facts: Option<Vec<FactRead>>,
    /// Their names and texts.
    texts: Vec<Arc<KeyedText>>,
}

impl Top {
    fn add_facts(&mut self, facts: Option<&[FactRead]>) {
        self.facts = self.facts.take().zip(facts).map(|(mut known, facts)| {
            known.extend_from_slice(facts);
            known
        });
    }

    /// The place of an entry of a saltenv: of the sls, or else of the target.
    #[must_use]
    pub fn place(&self, saltenv: &str, entry: &Entry) -> Option<Place> {
        place(&self.texts, &[saltenv, &entry.target, &entry.sls])
    }
}

/// The place of the last key in the top file that has most of the keys.
fn place(texts: &[Arc<KeyedText>], keys: &[&str]) -> Option<Place> {
    let places = texts
        .iter()
        .flat_map(|text| (1..=keys.len()).map(move |count| (count, text.place(&keys[..count]))));
    let found =
        places.filter(|(count, place)| &place.source[place.start..place.end] == keys[count - 1]);
    found
        .max_by_key(|(count, _)| *count)
        .map(|(_, place)| place)
}

/// The parts of a message between quotation marks, including those inside names.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    let marks = message.match_indices('\'').take(MOST_MARKS);
    let marks: Vec<usize> = marks.map(|(at, _)| at).collect();
    let pairs = marks.iter().enumerate().flat_map(|(number, open)| {
        let closing = marks.iter().skip(number + 1);
        closing.filter_map(move |close| message.get(open + 1..*close))
    });
    pairs.collect::<Vec<_>>().into_iter()
}

/// The quotation marks of a message that are looked at: a name can have thousands.
const MOST_MARKS: usize = 32;

/// Targets by saltenv, each with its body.
type Targets = IndexMap<Key, IndexMap<Key, Value>>;

/// Reads the top files for a minion.
pub(crate) struct TopReader<'t, 'e> {
    pub engine: &'e Engine,
    pub options: &'t TopOptions,
    pub available: &'t Available<'e>,
    pub minion: &'t Minion,
    pub master_tops: &'t MasterTops,
    /// Renders the files, which minions share.
    pub renders: RefCell<MinionRenders<'t, 'e>>,
    /// The names and texts of the top files that were read.
    pub texts: RefCell<Vec<Arc<KeyedText>>>,
    /// True if to note the facts that decide what the minion gets.
    pub notes_facts: bool,
}

impl TopReader<'_, '_> {
    /// Read the top files.
    pub fn read(&self) -> Result<Top> {
        let mut top = Top {
            facts: self.notes_facts.then(Vec::new),
            ..Top::default()
        };
        let tops = self.tops(&mut top)?;
        top.warnings.extend(self.ignored_sections(&tops));
        let merged = match self.options.strategy {
            Strategy::Merge => self.merged(tops)?,
            Strategy::Same => self.same(&tops)?,
            Strategy::MergeAll => self.all_merged(&tops)?,
        };
        self.verify(&merged)?;
        self.matches(&merged, &mut top)?;
        self.warn_of_slips(&merged, &mut top);
        self.add_master_tops(&mut top);
        top.texts = self.texts.take();
        Ok(top)
    }

    fn place(&self, keys: &[&str]) -> Option<Place> {
        place(&self.texts.borrow(), keys)
    }

    /// Warn of what top files probably do not mean.
    fn warn_of_slips(&self, merged: &Targets, top: &mut Top) {
        let groups = self.minion.opts.get("nodegroups").and_then(Value::as_map);
        let served = self.engine.files().envs();
        for (env, targets) in merged {
            let env = env.to_string();
            if !served.contains(&env) && !served.iter().any(|env| env == "__env__") {
                top.warnings.push(self.unserved(&env, &served));
            }
            for (target, listed) in targets {
                let items = listed.as_list().unwrap_or_default();
                for slip in top_slips(target, listed, groups) {
                    let item = slip.item.and_then(|index| items.get(index));
                    let word = item.map(|item| match item {
                        Value::Map(map) => map.keys().map(Key::to_string).collect(),
                        other => other.to_string(),
                    });
                    let target = target.to_string();
                    let keys = [Some(&*env), Some(&*target), word.as_deref()];
                    let keys: Vec<&str> = keys.into_iter().flatten().collect();
                    let warning = Diagnostic::warning(ErrorKind::Lookup, slip.message);
                    top.warnings.push(Diagnostic {
                        place: self.place(&keys),
                        ..warning.with_help(slip.help)
                    });
                }
            }
        }
    }

    /// Add the sls of master tops that no top file gives (Salt: `top_matches`).
    fn add_master_tops(&self, top: &mut Top) {
        let is_masterless =
            self.options.all.get("file_client").and_then(Value::as_str) == Some("local");
        let behaviour = self.engine.salt_version().behaviour();
        if is_masterless && !behaviour.masterless_minions_have_master_tops {
            return;
        }
        let given = self.master_tops.of(self.engine, self.minion);
        top.warnings.extend(given.warnings);
        top.is_there |= !given.sls.is_empty();
        for (env, names) in given.sls {
            let entry = |sls| Entry {
                sls,
                target: "master_tops".into(),
                matcher: "master_tops".into(),
            };
            let new = names.into_iter().map(entry).collect();
            let own = top.entries.entry(env).or_default();
            let (mut first, second) = match self.options.master_tops_first {
                true => (new, std::mem::take(own)),
                false => (std::mem::take(own), new),
            };
            let is_new = |entry: &Entry| first.iter().all(|known| known.sls != entry.sls);
            let others: Vec<Entry> = second.into_iter().filter(is_new).collect();
            first.extend(others);
            *own = first;
        }
    }

    fn unserved(&self, env: &str, served: &[String]) -> Diagnostic {
        let message = format!("the top file names the saltenv '{env}', which has no root");
        let warning = Diagnostic::warning(ErrorKind::File, message);
        let help = match nearest(env, served) {
            Some(near) => format!("did you mean '{near}'?"),
            None => "its directories belong into the option file_roots".into(),
        };
        Diagnostic {
            place: self.place(&[env]),
            ..warning.with_help(help)
        }
    }

    fn run(&self, saltenv: &str) -> Run<'_> {
        self.engine.run(self.minion).with_saltenv(saltenv)
    }

    /// The saltenvs in the order in which they are read (Salt: `_get_envs`).
    fn envs(&self) -> Vec<String> {
        let served = self.engine.files().envs();
        if !self.options.env_order.is_empty() {
            let mut seen = HashSet::new();
            let order = self
                .options
                .env_order
                .iter()
                .filter(|env| seen.insert(*env));
            return order.filter(|env| served.contains(env)).cloned().collect();
        }
        let roots = self.options.all.get("file_roots").and_then(Value::as_map);
        let roots = roots.into_iter().flat_map(Map::keys).map(Key::to_string);
        let roots: Vec<String> = roots.filter(|env| served.contains(env)).collect();
        let mut envs = vec!["base".to_owned()];
        for env in roots.into_iter().chain(served) {
            if !envs.contains(&env) {
                envs.push(env);
            }
        }
        envs
    }

    fn tops(&self, found: &mut Top) -> Result<Tops> {
        let mut tops = Tops::new();
        let is_same = self.options.strategy == Strategy::Same && self.options.saltenv.is_none();
        if is_same && self.options.default_top.is_none() {
            let message =
                "top_file_merging_strategy is 'same', and the option default_top is not set";
            return Err(Error::new(ErrorKind::Options, message));
        }
        let envs = match (&self.options.saltenv, &self.options.state_top_saltenv) {
            (Some(only), _) | (None, Some(only)) => vec![only.clone()],
            (None, None) => self.envs(),
        };
        for env in envs {
            let top = self.rendered(&env, &self.options.state_top, found)?;
            tops.insert(env, vec![top]);
        }
        let mut includes: Vec<(String, Vec<Value>)> = Vec::new();
        for (env, own) in &mut tops {
            for top in own {
                let Some(listed) = top.shift_remove("include") else {
                    continue;
                };
                includes.push((env.clone(), listed.as_list().unwrap_or_default().to_vec()));
            }
        }
        for (env, listed) in includes {
            let mut done = HashSet::new();
            let names = listed.iter().map(ToString::to_string);
            for name in names.flat_map(|name| self.available.matching(&env, &name)) {
                if !done.insert(name.clone()) {
                    continue;
                }
                if let Some(path) = self.available.path(&env, &name) {
                    let top = self.rendered(&env, &path, found)?;
                    tops.entry(env.clone()).or_default().push(top);
                }
            }
        }
        Ok(tops)
    }

    /// The rendered top file; `None` if it does not exist.
    fn rendered(&self, saltenv: &str, path: &str, found: &mut Top) -> Result<Map> {
        let fetched = self.engine.fetch(&SaltPath::from_relative(path), saltenv)?;
        let Fetched::Found { on_disk, bytes } = fetched else {
            return Ok(Map::new());
        };
        found.is_there = true;
        let shown = on_disk.display().to_string();
        let text = KeyedText::new(shown.clone(), String::from_utf8_lossy(&bytes));
        self.texts.borrow_mut().push(Arc::new(text));
        if !found.files.contains(&shown) {
            found.files.push(shown.clone());
        }
        let file = SlsFile::of_top(saltenv, path);
        let rendered = self.renders.borrow_mut().rendered(&file);
        found.add_facts(rendered.facts());
        match rendered.data.clone()? {
            Value::Map(top) => Ok(top),
            other if !other.truthy() => Ok(Map::new()),
            other => {
                let what = other.kind().described();
                let message = format!("{shown} renders to {what}, not a mapping");
                let error = Error::new(ErrorKind::DataSource, message);
                Err(error
                    .help("a top file maps saltenvs to targets, as in `base: {'*': [common]}`"))
            }
        }
    }

    /// Each saltenv's own top file (Salt: `_merge_tops_same`).
    fn same(&self, tops: &Tops) -> Result<Targets> {
        let mut all = Targets::new();
        let is_empty = |tops: &[Map]| tops.iter().all(Map::is_empty);
        for (env, own) in tops {
            let own = match is_empty(own) {
                false => own,
                true => {
                    let default = self.options.default_top.as_ref();
                    match default.and_then(|env| tops.get(env)) {
                        Some(default) => default,
                        None => continue,
                    }
                }
            };
            for top in own {
                for (name, targets) in top.iter().filter(|(name, _)| name.as_str() == Some(env)) {
                    self.add(&mut all, name, targets)?;
                }
            }
        }
        Ok(all)
    }

    /// The entries of the targets that match the minion (Salt: `top_matches`).
    fn matches(&self, merged: &Targets, top: &mut Top) -> Result<()> {
        let run = self.run("base");
        if !self.notes_facts {
            return self.matches_in(&run, merged, top);
        }
        let answers = MinionAnswers::default();
        let (matched, facts) = answers.noting(&run, |run| self.matches_in(run, merged, top));
        top.add_facts(facts.as_deref());
        matched
    }

    fn matches_in(&self, run: &Run<'_>, merged: &Targets, top: &mut Top) -> Result<()> {
        let id = self.minion.id().to_string();
        let matched = run.with_targets(&id, |is_match| {
            for (env, targets) in merged {
                let env = env.to_string();
                if self
                    .options
                    .saltenv
                    .as_ref()
                    .is_some_and(|only| *only != env)
                {
                    continue;
                }
                for (target, listed) in targets {
                    self.entries(top, &env, target, listed, is_match)?;
                }
            }
            Ok(())
        });
        top.warnings.extend(self.placed(run.warnings(), merged));
        matched
    }

    /// Warnings of matchers, each at the first target that it names in quotation marks.
    fn placed(&self, mut warnings: Vec<Diagnostic>, merged: &Targets) -> Vec<Diagnostic> {
        if warnings.is_empty() {
            return warnings;
        }
        let mut targets: IndexMap<String, String> = IndexMap::new();
        for (env, of_env) in merged {
            for target in of_env.keys().map(Key::to_string) {
                targets.entry(target).or_insert_with(|| env.to_string());
            }
        }
        for warning in warnings.iter_mut().filter(|one| one.place.is_none()) {
            let named = quoted(&warning.message).filter_map(|text| targets.get_index_of(text));
            let named = named.min().and_then(|first| targets.get_index(first));
            warning.place = named.and_then(|(target, env)| self.place(&[env, target]));
        }
        warnings
    }

    fn entries(
        &self,
        top: &mut Top,
        env: &str,
        target: &Key,
        listed: &Value,
        is_match: &dyn Fn(&Key, Option<&Value>) -> Result<bool>,
    ) -> Result<()> {
        let items = listed.as_list().unwrap_or_default();
        let mut maps = items.iter().rev().filter_map(Value::as_map);
        let matcher = maps.find_map(|map| map.get("match"));
        let noted = |e: Error| {
            let e = e.note(format!("for the target '{target}' of '{env}'"));
            e.at(self.place(&[env, &target.to_string()]))
        };
        if !is_match(target, matcher).map_err(noted)? {
            return Ok(());
        }
        top.entries.entry(env.to_owned()).or_default();
        for item in items {
            let entry = |sls: &str| Entry {
                sls: sls.to_owned(),
                target: target.to_string(),
                matcher: matcher.map_or_else(|| "compound".into(), ToString::to_string),
            };
            match item {
                Value::Str(sls) => top
                    .entries
                    .entry(env.to_owned())
                    .or_default()
                    .push(entry(sls)),
                Value::Map(map) => {
                    // Salt takes it out of the item, and then fails for lack of another key.
                    if map.contains_key("subfilter") {
                        let message = format!("the target '{target}' of '{env}' has a `subfilter`");
                        let error = Error::new(ErrorKind::DataSource, message);
                        return Err(error.help("Salt ends on it: write a target of its own"));
                    }
                    // The last key that is a saltenv has an sls of it.
                    if let Some((other, Value::Str(sls))) = map.iter().next_back()
                        && self.available.has_env(&other.to_string())
                    {
                        let entries = top.entries.entry(other.to_string()).or_default();
                        entries.push(entry(sls));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl TopReader<'_, '_> {
    /// Check merged top files as a state run does (Salt: `verify_tops`).
    fn verify(&self, targets: &Targets) -> Result<()> {
        for (env, targets) in targets {
            for (target, listed) in targets {
                if listed.as_list().is_none() {
                    let what = listed.kind().described();
                    let message =
                        format!("expected a list of sls below '{target}' of '{env}', found {what}");
                    let error = Error::new(ErrorKind::DataSource, message);
                    return Err(error
                        .at(self.place(&[&env.to_string(), &target.to_string()]))
                        .help("write each sls on a line of its own, behind a dash"));
                }
            }
        }
        Ok(())
    }

    /// Add the targets of a saltenv; an equal one is replaced.
    fn add(&self, all: &mut Targets, env: &Key, targets: &Value) -> Result<()> {
        let of_env = all.entry(env.clone()).or_default();
        match targets {
            Value::Map(targets) => {
                of_env.extend(
                    targets
                        .iter()
                        .map(|(key, value)| (key.clone(), value.clone())),
                );
                Ok(())
            }
            other if other.as_list().is_some_and(<[Value]>::is_empty) => Ok(()),
            _ => Err(self.no_targets(env, targets)),
        }
    }

    fn no_targets(&self, env: &Key, found: &Value) -> Error {
        let what = found.kind().described();
        let message = format!("expected targets below '{env}' in the top file, found {what}");
        Error::new(ErrorKind::DataSource, message)
            .at(self.place(&[&env.to_string()]))
            .help("below a saltenv are targets, and below a target a list of sls")
    }

    /// An error about a target of several top files with an empty list in one of them.
    fn nothing_listed(&self, env: &Key, target: &Key) -> Error {
        let message = format!(
            "several top files have the target '{target}' of '{env}', and one has no list of sls for it"
        );
        Error::new(ErrorKind::DataSource, message)
            .at(self.place(&[&env.to_string(), &target.to_string()]))
            .help("below a target is a list of sls; the option top_file_merging_strategy joins these lists")
    }

    /// Base first, then the entries of the other saltenvs from their own top files (Salt:
    /// `_merge_tops_merge`).
    fn merged(&self, mut tops: Tops) -> Result<Targets> {
        let mut all = Targets::new();
        for top in tops.shift_remove("base").unwrap_or_default() {
            for (env, targets) in &top {
                self.add(&mut all, env, targets)?;
            }
        }
        for (own, tops) in &tops {
            for top in tops {
                for (env, targets) in top.iter().filter(|(env, _)| env.as_str() == Some(own)) {
                    if !all.contains_key(env) {
                        self.add(&mut all, env, targets)?;
                    }
                }
            }
        }
        Ok(all)
    }

    /// All targets, the sls of equal ones one after the other (Salt: `_merge_tops_merge_all`).
    fn all_merged(&self, tops: &Tops) -> Result<Targets> {
        let mut all = Targets::new();
        for top in tops.values().flatten() {
            for (env, targets) in top {
                let Value::Map(targets) = targets else {
                    self.add(&mut all, env, targets)?;
                    continue;
                };
                let of_env = all.entry(env.clone()).or_default();
                for (target, listed) in targets {
                    match of_env.get_mut(target) {
                        None => drop(of_env.insert(target.clone(), listed.clone())),
                        Some(known) => match joined(known, listed) {
                            Some(both) => *known = both,
                            None => return Err(self.nothing_listed(env, target)),
                        },
                    }
                }
            }
        }
        Ok(all)
    }
}

/// The entries of two equal targets: their matcher, then the sls of both; `None` if Python cannot loop over
/// one of them.
fn joined(one: &Value, other: &Value) -> Option<Value> {
    let [one, other] = [entries(one)?, entries(other)?];
    let matcher = |entries: &[Value]| {
        let mut maps = entries.iter().rev();
        maps.find(|item| item.as_map().is_some()).cloned()
    };
    let sls = |entries: &[Value]| -> Vec<Value> {
        let names = entries.iter().filter(|item| item.as_str().is_some());
        names.cloned().collect()
    };
    let mut all: Vec<Value> = matcher(&other)
        .filter(Value::truthy)
        .or_else(|| matcher(&one))
        .into_iter()
        .collect();
    all.extend(sls(&one));
    // A name that only the second list has stays as often as it occurs.
    let is_new = |name: &Value| !all.iter().any(|known| known.is_same(name));
    let more: Vec<Value> = sls(&other).into_iter().filter(is_new).collect();
    all.extend(more);
    Some(all.into_iter().collect())
}

/// The entries of a target, as Python loops over a value.
fn entries(listed: &Value) -> Option<Vec<Value>> {
    match listed {
        Value::Map(map) => Some(map.keys().cloned().map(Value::from).collect()),
        Value::Str(text) => Some(text.chars().map(|c| c.to_string().into()).collect()),
        other => other.as_list().map(<[Value]>::to_vec),
    }
}
