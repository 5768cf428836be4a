//! The states of a formula, rendered for many minions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use mapstack::minion::Minion;
use mapstack::secrets::{Redact, Secrets};
use mapstack::value::{Key, Map, Value};
use mapstack::{CallSite, Diagnostic, Engine, Error, ErrorKind, ImportSite, sls_name};
use mapstack_states::{Exhausting, IncludingSls, included};

use crate::document::SourceFile;
use crate::origins::text_of;
use crate::templates::{LocatedTemplate, Templates, words};
use crate::work::side_by_side;

/// An sls, and what it renders to for each minion.
pub(crate) struct SlsOfMinions {
    pub file: Arc<SourceFile>,
    /// Its name, such as `nginx.config`.
    pub name: String,
    /// By the number of the run; nothing where the formula is not for that minion. Minions that the templates
    /// cannot tell apart share one.
    pub outcomes: Vec<Option<Arc<Result<SlsRender, Error>>>>,
    /// The runs on which it would be used: all, or those on which another sls of the formula includes it.
    pub used: BTreeSet<usize>,
    /// True if another sls of the formula names it, as for an include, but none includes it on any of the runs: it is
    /// meant for other minions or settings.
    pub is_part: bool,
    /// True if no minion gets it, of an estate: it was rendered for one all the same.
    pub is_unnamed: bool,
}

/// The rendered data of an sls, as far as rules look at it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SlsRender {
    /// The data itself, of a formula's sls.
    pub data: Value,
    /// Its `include`.
    pub includes: Vec<Value>,
    /// The kind of value that it is in place of a mapping.
    pub instead: Option<String>,
    /// The kind of value that `include` is in place of a list.
    pub include_instead: Option<String>,
    /// Its ids that do not have states, with what they have instead.
    pub bodies: Vec<(String, String)>,
    /// The files of the file server that its states name, each with its alternatives.
    pub sources: Vec<Vec<String>>,
}

/// Folders with files that are not states of the formula.
const OTHERS: [&str; 5] = ["files", "templates", "test", "tests", "_modules"];

/// Why a file is not rendered as states.
pub(crate) fn why_not_rendered(
    file: &SourceFile,
    loaded: &BTreeSet<String>,
) -> Option<&'static str> {
    let is_in = |folder: &dyn Fn(&str) -> bool| {
        file.path
            .rsplit_once('/')
            .is_some_and(|(all, _)| all.split('/').any(folder))
    };
    if is_in(&|folder| OTHERS.contains(&folder)) {
        Some("it is in a folder for other files")
    } else if is_in(&|folder| folder.starts_with('.') || folder.contains("pillar")) {
        Some("it is in a hidden folder or in a folder of a pillar")
    } else if is_in(&|folder| folder.starts_with("react") || folder.starts_with("orch"))
        || file.name().starts_with("orch")
    {
        Some("reactors and orchestration run on the master, with other variables")
    } else if loaded.contains(&file.path) {
        Some("another template loads it")
    } else {
        None
    }
}

/// A minion to render states for.
pub(crate) struct RenderTarget<'m> {
    pub minion: &'m Minion,
    /// True if the formula is for it.
    pub is_supported: bool,
    /// The formula's own map, as text; nothing if its states could import something else from there.
    pub map: Option<String>,
}

/// The files that rendering reads.
pub(crate) struct Library<'l> {
    pub engine: &'l Engine,
    pub saltenv: &'l str,
    pub templates: &'l Templates,
    pub imports: &'l [ImportSite],
    pub calls: &'l [CallSite],
    /// The path of the formula's own map.
    pub map: &'l str,
    /// The secrets that no error may contain.
    pub secrets: &'l Secrets,
    /// The formula's files.
    pub paths: &'l BTreeMap<String, Arc<SourceFile>>,
}

impl Library<'_> {
    /// Render states for the minions that the formula is for.
    ///
    /// # Errors
    /// A fault of the program.
    pub fn render(
        &self,
        files: &[Arc<SourceFile>],
        targets: &[RenderTarget<'_>],
    ) -> Result<Vec<SlsOfMinions>, Error> {
        let kinds: Vec<Vec<usize>> = files.iter().map(|file| self.kinds(file, targets)).collect();
        // The first minion of each kind is enough.
        let mut jobs: BTreeMap<(usize, usize), &Minion> = BTreeMap::new();
        for (file, kinds) in kinds.iter().enumerate() {
            for (kind, target) in kinds
                .iter()
                .zip(targets)
                .filter(|(_, target)| target.is_supported)
            {
                jobs.entry((file, *kind)).or_insert(target.minion);
            }
        }
        let jobs: Vec<_> = jobs.into_iter().collect();
        let exhausting = Exhausting::default();
        let render = |((file, _), minion): &((usize, usize), &Minion)| {
            let path = &files[*file].path;
            Arc::new(exhausting.try_once_more(path, || self.made(minion, path)))
        };
        let rendered = side_by_side(&jobs, render)?;
        let known: HashMap<(usize, usize), Arc<Result<SlsRender, Error>>> =
            jobs.iter().map(|(job, _)| *job).zip(rendered).collect();
        let state = |(number, file): (usize, &Arc<SourceFile>)| {
            let outcome = |(kind, target): (&usize, &RenderTarget<'_>)| {
                target
                    .is_supported
                    .then(|| known.get(&(number, *kind)).cloned())
                    .flatten()
            };
            let outcomes = kinds[number].iter().zip(targets).map(outcome).collect();
            SlsOfMinions {
                file: file.clone(),
                name: sls_name(&file.path).unwrap_or_default(),
                outcomes,
                used: BTreeSet::new(),
                is_part: false,
                is_unnamed: false,
            }
        };
        let mut states: Vec<SlsOfMinions> = files.iter().enumerate().map(state).collect();
        let includes = find_used(&mut states);
        self.find_parts(&mut states, &includes);
        Ok(states)
    }

    /// Find the sls that are meant for other minions or settings: those that others name without an include,
    /// and those that only such sls include.
    fn find_parts(&self, states: &mut [SlsOfMinions], includes: &BTreeSet<(usize, usize)>) {
        let names: Vec<BTreeSet<String>> =
            states.iter().map(|state| self.names_by(state)).collect();
        let mut includers: Vec<Vec<usize>> = vec![Vec::new(); states.len()];
        for (from, to) in includes {
            includers[*to].push(*from);
        }
        let mut said: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, names) in names.iter().enumerate() {
            for name in names {
                said.entry(name).or_default().push(number);
            }
        }
        let is_named = |number: usize, name: &str| {
            let by = said.get(name).into_iter().flatten();
            !includers[number].is_empty() || by.into_iter().any(|by| *by != number)
        };
        // Each is looked at again for each that includes it and is found.
        let mut open: Vec<usize> = (0..states.len()).collect();
        let mut of_others: Vec<usize> = includers.iter().map(Vec::len).collect();
        while let Some(number) = open.pop() {
            let state = &states[number];
            let is_part = of_others[number] == 0
                && !state.is_part
                && !is_main(&state.file)
                && is_named(number, &state.name);
            if is_part {
                states[number].is_part = true;
                for (_, to) in includes.range((number, 0)..=(number, usize::MAX)) {
                    of_others[*to] -= 1;
                    open.push(*to);
                }
            }
        }
    }

    /// The sls that another may include: what its lists and its expressions name.
    fn names_by(&self, state: &SlsOfMinions) -> BTreeSet<String> {
        let Some(parsed) = self.templates.get(&state.file.path) else {
            return BTreeSet::new();
        };
        let text = parsed.text();
        let items = text.lines().filter_map(|line| {
            let item = line.trim().strip_prefix("- ")?.trim();
            Some(item.trim_matches(['"', '\'']).to_owned())
        });
        let expressions = parsed.expressions().into_iter();
        let said = expressions.filter_map(|e| text_of(parsed, e));
        items
            .chain(said)
            .filter(|name| name.contains('.') && !name.contains(char::is_whitespace))
            .filter_map(|name| included(state.own(), &Value::from(name)))
            .map(|(_, name)| name)
            .collect()
    }

    fn made(&self, minion: &Minion, path: &str) -> Result<SlsRender, Error> {
        let run = self
            .engine
            .run(minion)
            .with_saltenv(self.saltenv)
            .following_secrets();
        // Only this run knows the texts that templates made of secrets.
        let redacted = |e: Error| e.redacted(&self.secrets.clone().derived(run.secret_texts()));
        let rendered = run.sls(path).map(|value| SlsRender {
            data: value.clone(),
            ..made_of(&value)
        });
        // An sls of an unknown renderer gives nothing, with a warning.
        let warnings = run.warnings();
        let unsupported = warnings
            .into_iter()
            .find(|warning| warning.kind == ErrorKind::Unsupported);
        let rendered = rendered.and_then(|made| match unsupported {
            Some(warning) => Err(unknown_renderer(warning)),
            None => Ok(made),
        });
        rendered.map_err(redacted)
    }

    /// A number for each minion, which is equal for those that an sls cannot tell apart: the formula's map came
    /// out equal, and they differ only in grains that no other template of the sls names.
    fn kinds(&self, file: &SourceFile, targets: &[RenderTarget<'_>]) -> Vec<usize> {
        let has_maps = targets.iter().all(|target| target.map.is_some());
        let read = self.read_by(file, has_maps);
        let looks_around = self.looks_around(&read);
        let is_named = |grain: &str| {
            read.iter().any(|parsed| parsed.words().contains(grain))
                || (looks_around && FAMILIES.contains(&grain))
        };
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut numbers = Vec::new();
        for RenderTarget { minion, map, .. } in targets {
            let is_told = |name: &str, value: &Value| {
                is_named(name) && (name != "id" || self.is_known_by(value, &read))
            };
            let grains = minion
                .grains
                .iter()
                .filter(|(name, value)| name.as_str().is_none_or(|name| is_told(name, value)));
            let grains: Vec<String> = grains
                .map(|(name, value)| format!("{name}={}", value.repr()))
                .collect();
            let pillar = Value::Map(minion.pillar.clone()).repr();
            let facts = format!(
                "{}\n{pillar}\n{}",
                grains.join("\n"),
                map.as_deref().unwrap_or_default()
            );
            let next = known.len();
            numbers.push(*known.entry(facts).or_insert(next));
        }
        numbers
    }

    /// True if templates call a function that looks at grains which no argument has to name, such as
    /// `grains.filter_by`.
    fn looks_around(&self, read: &[&LocatedTemplate]) -> bool {
        let is_plain = |name: &str| PLAIN.contains(&name) || name.starts_with("log.");
        let mut calls = self
            .calls
            .iter()
            .filter(|call| read.iter().any(|parsed| parsed.shown == call.place.file));
        calls.any(|call| !call.function.as_deref().is_some_and(is_plain))
    }

    /// True if an id, which is another for every minion, makes a difference: a file is for it, or a template names it.
    fn is_known_by(&self, id: &Value, read: &[&LocatedTemplate]) -> bool {
        let id = id.to_string();
        // Names of hosts are several words.
        let parts = words([&*id]);
        self.paths.keys().any(|path| path.contains(&id))
            || read.iter().any(|parsed| parts.is_subset(parsed.words()))
    }

    /// The templates that an sls comes to, with or without the formula's map and what only that loads.
    fn read_by(&self, file: &SourceFile, without_map: bool) -> Vec<&LocatedTemplate> {
        let is_map = |path: &str| without_map && path == self.map;
        self.templates.read_from(&file.path, self.imports, is_map)
    }
}

/// Grains that functions of Salt's look at unless they are given others.
const FAMILIES: [&str; 5] = ["os", "os_family", "osarch", "osfinger", "id"];

/// Functions that look at nothing but what they are asked for.
const PLAIN: [&str; 9] = [
    "config.get",
    "file.basename",
    "file.dirname",
    "file.join",
    "grains.get",
    "pillar.get",
    "slsutil.boolstr",
    "slsutil.merge",
    "slsutil.update",
];

pub(crate) fn unknown_renderer(warning: Diagnostic) -> Error {
    let error = Error::new(ErrorKind::Unsupported, warning.message).at(warning.place);
    match warning.help {
        Some(help) => error.help(help),
        None => error,
    }
}

pub(crate) fn made_of(value: &Value) -> SlsRender {
    let mut made = SlsRender::default();
    match value {
        Value::Map(map) => {
            match map.get("include") {
                None => {}
                Some(Value::List(includes)) => made.includes = includes.iter().cloned().collect(),
                Some(other) => made.include_instead = Some(other.kind().described().to_owned()),
            }
            made.sources = map.values().flat_map(sources_of).collect();
            let wrong = map.iter().filter(|(id, body)| !has_states(id, body));
            made.bodies = wrong
                .map(|(id, body)| (id.to_string(), body.kind().described().to_owned()))
                .collect();
        }
        other if other.truthy() => made.instead = Some(other.kind().described().to_owned()),
        _ => {}
    }
    made
}

/// The files that the states of an id name: `salt://` URLs, or lists of them, as `source` or `name`.
fn sources_of(body: &Value) -> Vec<Vec<String>> {
    let functions = body.as_map().into_iter().flat_map(Map::values);
    let args = functions.filter_map(Value::as_list).flatten();
    let named = args.filter_map(Value::as_map).flat_map(Map::iter);
    let named = named.filter(|(key, _)| matches!(key.as_str(), Some("source" | "name")));
    let url = |value: &Value| match value {
        Value::Str(url) if url.starts_with("salt://") => Some(url.to_string()),
        _ => None,
    };
    let of = |value: &Value| match value {
        Value::List(items) => items.iter().map(url).collect::<Option<Vec<_>>>(),
        value => url(value).map(|url| vec![url]),
    };
    let found = named.filter_map(|(_, value)| of(value));
    found.filter(|urls| !urls.is_empty()).collect()
}

/// True if the body of an id can be states: a mapping, or one function as text (Salt:
/// `salt.state.BaseHighState._handle_state_decls`).
fn has_states(id: &Key, body: &Value) -> bool {
    let is_other = matches!(id.as_str(), Some("include" | "exclude" | "extend"));
    match body {
        Value::Map(_) => true,
        Value::Str(function) => is_other || function.contains('.'),
        _ => is_other,
    }
}

/// True if a file is the sls of the formula's own name.
fn is_main(file: &SourceFile) -> bool {
    file.name() == "init.sls" && file.path.matches('/').count() == 1
}

/// Find the runs on which each sls is used: an included sls is for the minions of the sls that include it.
/// Returns which includes which on any run.
fn find_used(states: &mut [SlsOfMinions]) -> BTreeSet<(usize, usize)> {
    let by_name: BTreeMap<String, usize> = states
        .iter()
        .enumerate()
        .map(|(number, state)| (state.name.clone(), number))
        .collect();
    // What an sls includes on a run, by its number; minions that share a render include the same.
    let mut edges: Vec<Vec<Option<Arc<BTreeSet<usize>>>>> = Vec::new();
    for (from, state) in states.iter().enumerate() {
        let mut known: HashMap<*const Result<SlsRender, Error>, Arc<BTreeSet<usize>>> =
            HashMap::new();
        let of = |outcome: &Option<Arc<Result<SlsRender, Error>>>| {
            let outcome = outcome.as_ref()?;
            let made = outcome.as_ref().as_ref().ok()?;
            let included = known.entry(Arc::as_ptr(outcome)).or_insert_with(|| {
                let entries = made.includes.iter();
                let names = entries.filter_map(|entry| included(state.own(), entry));
                let to = names.filter_map(|(_, name)| by_name.get(&name).copied());
                Arc::new(to.filter(|to| *to != from).collect())
            });
            Some(included.clone())
        };
        edges.push(state.outcomes.iter().map(of).collect());
    }
    let all = edges.iter().enumerate();
    let all = all.flat_map(|(from, runs)| runs.iter().flatten().map(move |to| (from, to)));
    let pairs: BTreeSet<(usize, usize)> = {
        let mut seen = HashSet::new();
        let distinct = all.filter(|(_, to)| seen.insert(Arc::as_ptr(to)));
        distinct
            .flat_map(|(from, to)| to.iter().map(move |to| (from, *to)))
            .collect()
    };
    let included: BTreeSet<usize> = pairs.iter().map(|(_, to)| *to).collect();
    let is_entry =
        |number: usize, state: &SlsOfMinions| !included.contains(&number) || is_main(&state.file);
    let mut open = Vec::new();
    for (number, state) in states.iter_mut().enumerate() {
        if is_entry(number, state) {
            state.used = (0..state.outcomes.len()).collect();
            open.extend((0..state.outcomes.len()).map(|run| (number, run)));
        }
    }
    while let Some((from, run)) = open.pop() {
        for to in edges[from][run].iter().flat_map(|to| &**to) {
            if states[*to].used.insert(run) {
                open.push((*to, run));
            }
        }
    }
    // Those that only include each other begin somewhere.
    for state in states.iter_mut().filter(|state| state.used.is_empty()) {
        state.used = (0..state.outcomes.len()).collect();
    }
    pairs
}

impl SlsOfMinions {
    /// Its name and its path.
    pub fn own(&self) -> IncludingSls<'_> {
        IncludingSls {
            name: &self.name,
            path: &self.file.path,
        }
    }

    /// The runs on which it is used, with their results.
    pub fn used(&self) -> impl Iterator<Item = (usize, &Result<SlsRender, Error>)> {
        self.used
            .iter()
            .filter_map(|run| Some((*run, &**self.outcomes.get(*run)?.as_ref()?)))
    }

    /// True if it renders on a run, used or not.
    pub fn is_rendered(&self, run: usize) -> bool {
        let outcome = self.outcomes.get(run).and_then(Option::as_ref);
        outcome.is_some_and(|outcome| outcome.is_ok())
    }

    /// The error on a run that uses it.
    pub fn error(&self, run: usize) -> Option<&Error> {
        let outcome = self.outcomes.get(run)?.as_ref()?;
        outcome
            .as_ref()
            .as_ref()
            .err()
            .filter(|_| self.used.contains(&run))
    }

    /// Why it cannot be rendered here: the renderer that is missing.
    pub fn unsupported(&self) -> Option<&Error> {
        let errors = self
            .outcomes
            .iter()
            .flatten()
            .filter_map(|outcome| outcome.as_ref().as_ref().err());
        errors
            .into_iter()
            .find(|error| error.kind() == ErrorKind::Unsupported)
    }
}
