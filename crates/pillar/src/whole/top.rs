//! Top files: which sls a minion gets (Salt: `Pillar.get_tops`, `merge_tops`, `top_matches`).

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use mapstack::{File, PillarSls, Run, top_slips};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Place, Result, nearest};
use mapstack_minion::SaltVersion;
use mapstack_value::{Int, Key, Map, Path, Value};

use super::errors::{Fault, PillarError};
use super::files::PillarFiles;
use super::python::{Number, int, items};
use super::renders::{Render, Renders, YamlPlaces};
use super::settings::CompileSettings;
use crate::trace::{Events, WholeEvent};

/// A top file that was rendered.
struct TopFile {
    shown: String,
    /// The rendered targets, without what it includes.
    targets: Map,
    render: Rc<Render>,
    places: YamlPlaces,
    /// Why it has no targets. The reference asks for them when it merges top files.
    refused: Option<Error>,
}

impl TopFile {
    /// The place of a saltenv, or of a target in one.
    fn place(&self, path: &Path) -> Option<Place> {
        self.places.find(&self.render, path)
    }
}

/// The entry of top files for one target, the last of them.
#[derive(Debug, Default)]
struct TargetEntry {
    /// The value of `match`.
    matcher: Option<Value>,
    sls: Vec<String>,
    order: Option<Int>,
    /// The top file that it is from.
    file: usize,
}

/// The merged top files: targets by saltenv.
type Targets = IndexMap<Key, IndexMap<Key, TargetEntry>>;

/// The merged top files.
#[derive(Debug, Default)]
pub(crate) struct MergedTop {
    targets: Targets,
    /// Sls that may be missing, by saltenv.
    ignored: HashMap<Key, Vec<String>>,
}

/// The sls that a minion gets by saltenv, and those that may be missing.
#[derive(Debug, Default)]
pub(crate) struct TopMatches {
    pub sls: IndexMap<Key, Vec<String>>,
    /// The targets that match the minion: the positions of their saltenvs and of theirs there.
    meant: Vec<(usize, usize)>,
}

/// The top files of a pillar.
pub(crate) struct Top {
    files: Vec<TopFile>,
    merged: Arc<MergedTop>,
    pub errors: Vec<PillarError>,
}

#[cfg(feature = "git")]
impl Top {
    /// True if there is a top file.
    pub fn is_there(&self) -> bool {
        !self.files.is_empty()
    }
}

/// Why top files cannot be merged.
enum Unmergeable {
    /// The reference notes an error and continues without a top file.
    Noted(Error),
    /// The reference ends.
    Raised(Error),
}

/// The reader of top files.
pub(crate) struct TopReader<'t, 'e> {
    pub renders: &'t Renders<'e>,
    pub files: &'t PillarFiles,
    pub settings: &'t CompileSettings,
    pub events: &'t Events,
}

impl TopReader<'_, '_> {
    /// Read and merge the top files.
    pub fn read(&self) -> Result<Top> {
        let mut errors = Vec::new();
        let mut tops: IndexMap<String, Vec<TopFile>> = IndexMap::new();
        for env in self.envs() {
            match self.first(&env) {
                Ok(Some(top)) => tops.entry(env).or_default().push(top),
                Ok(None) => {}
                Err(e) if e.kind() == ErrorKind::Limit => return Err(e),
                Err(e) => {
                    let text = format!(
                        "Rendering Primary Top file failed, render error:\n{}",
                        e.diagnostic().message
                    );
                    errors.push(PillarError::new(text, e));
                    break;
                }
            }
        }
        if tops.is_empty() && errors.is_empty() {
            self.no_top()
                .into_iter()
                .for_each(|warning| self.renders.run().warn(warning));
        }
        self.warn_of_order(&tops);
        self.follow_includes(&mut tops, &mut errors)?;
        let mut files: Vec<TopFile> = tops.into_values().flatten().collect();
        self.warn_of_slips(&mut files);
        for error in &mut errors {
            error.fault = Fault::Top;
        }
        let merged = match merged_once(&mut files) {
            Ok(merged) => merged,
            Err(Unmergeable::Raised(e)) => return Err(e),
            Err(Unmergeable::Noted(e)) => {
                self.files.reads().nothing_came();
                let text = "Error encountered while rendering pillar top file.";
                errors.push(PillarError::new(text, e).about(Fault::Top));
                Arc::default()
            }
        };
        Ok(Top {
            files,
            merged,
            errors,
        })
    }

    /// A warning that neither a top file nor anything else gives a pillar, with the paths that were searched.
    fn no_top(&self) -> Option<Diagnostic> {
        if self.settings.value("ext_pillar").truthy() {
            return None;
        }
        let roots = self.settings.value("pillar_roots");
        let names = |name: &Key| name.to_string();
        let envs: Vec<String> = roots.as_map()?.keys().map(names).collect();
        let pillarenv = self.settings.value("pillarenv");
        let asked = pillarenv.truthy().then(|| pillarenv.to_string());
        if let Some(asked) = asked.filter(|asked| !envs.contains(asked)) {
            let message = format!("the saltenv '{asked}' of pillarenv has no pillar root");
            let warning = Diagnostic::warning(ErrorKind::File, message);
            return Some(warning.with_help(match nearest(&asked, &envs) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("saltenvs with a root: {}", envs.join(", ")),
            }));
        }
        let looked = self.envs().into_iter().filter_map(|env| {
            let directories = roots.as_map()?.get(&*env)?.as_list()?.iter();
            let all: Vec<String> = directories.map(ToString::to_string).collect();
            Some(format!("{} ({env})", all.join(", ")))
        });
        let looked: Vec<String> = looked.collect();
        let top = self.top_path();
        let message = format!("the pillar is empty: no root of it has {top}");
        let warning = Diagnostic::warning(ErrorKind::File, message);
        Some(warning.with_help(format!("looked for it in {}", looked.join("; "))))
    }

    /// Warn of what a top file probably does not mean.
    fn warn_of_slips(&self, files: &mut [TopFile]) {
        let groups = self.settings.value("nodegroups");
        for file in files {
            let targets = file.targets.clone();
            for (env, targets) in &targets {
                for (target, listed) in targets.as_map().into_iter().flatten() {
                    for slip in top_slips(target, listed, groups.as_map()) {
                        let item = slip.item.map(Key::of_index);
                        let path = [Some(env.clone()), Some(target.clone()), item];
                        let mut warning = Diagnostic::warning(ErrorKind::Lookup, slip.message);
                        warning.place = file.place(&path.into_iter().flatten().collect());
                        self.renders.run().warn(warning.with_help(slip.help));
                    }
                }
            }
        }
    }

    /// Warn of top files whose order is not known.
    fn warn_of_order(&self, tops: &IndexMap<String, Vec<TopFile>>) {
        let run = self.renders.run();
        let version = run.engine().salt_version();
        if tops.len() < 2 || version.behaviour().environments_keep_their_order {
            return;
        }
        let envs: Vec<&str> = tops.keys().map(String::as_str).collect();
        let does = format!("reads the top files of {}", envs.join(", "));
        run.warn(unknown_order(version, &does, "this is the pillar"));
    }

    /// The environments whose top files count.
    fn envs(&self) -> Vec<String> {
        let pillarenv = self.settings.value("pillarenv");
        let all = self.settings.envs();
        if pillarenv.truthy() {
            let name = pillarenv.to_string();
            let roots = self.settings.value("pillar_roots");
            let there = roots
                .as_map()
                .is_some_and(|roots| roots.contains_key(name.as_str()));
            return if there { vec![name] } else { Vec::new() };
        }
        if self
            .settings
            .value("pillar_source_merging_strategy")
            .as_str()
            == Some("none")
        {
            let asked = &self.settings.asked_saltenv;
            let only = if asked.truthy() {
                asked.to_string()
            } else {
                "base".into()
            };
            return all.into_iter().filter(|env| *env == only).collect();
        }
        all
    }

    /// The path of top files.
    fn top_path(&self) -> String {
        let path = self.settings.value("state_top").to_string();
        path.strip_prefix("salt://").unwrap_or(&path).to_owned()
    }

    /// The top file of an environment.
    fn first(&self, env: &str) -> Result<Option<TopFile>> {
        let path = self.top_path();
        let found = if self.settings.has_roots(env) {
            self.files.file(&path, env)?
        } else {
            None
        };
        self.events.add(|| WholeEvent::Top {
            saltenv: env.into(),
            path: found.as_ref().map(|file| file.shown.clone()),
            included: None,
        });
        let Some(file) = found else {
            return Ok(None);
        };
        let rendered = self.render(&file, env)?;
        Ok(Some(top_file(file.shown, &rendered)))
    }

    fn render(&self, file: &File, saltenv: &str) -> Result<Rc<Render>> {
        let rendered = self.renders.render(PillarSls {
            file,
            saltenv,
            sls: "",
            variables: &[],
        })?;
        self.files.reads().end_file(rendered.result.is_ok());
        match &rendered.result {
            Ok(_) => Ok(Rc::new(rendered)),
            Err(e) => Err(e.clone()),
        }
    }

    /// Add the top files that top files include; those that these include do not count.
    fn follow_includes(
        &self,
        tops: &mut IndexMap<String, Vec<TopFile>>,
        errors: &mut Vec<PillarError>,
    ) -> Result<()> {
        for (env, tops) in tops {
            let mut included = Vec::new();
            for top in tops.iter_mut() {
                if let Some(refused) = top
                    .refused
                    .as_ref()
                    .filter(|_| ends_at_include(&top.render.value()))
                {
                    return Err(refused.clone());
                }
                let Some(listed) = top.targets.get("include").cloned() else {
                    continue;
                };
                let listed = items(&listed).ok_or_else(|| {
                    let what = listed.kind().described();
                    let message = format!("`include` of a top file must be a list, not {what}");
                    Error::new(ErrorKind::DataSource, message)
                        .at(top.place(&[Key::from("include")].into_iter().collect()))
                })?;
                top.targets.shift_remove("include");
                included.extend(listed);
            }
            let mut done: Vec<Value> = Vec::new();
            for sls in included {
                if done.contains(&sls) {
                    continue;
                }
                match self.included(&sls, env) {
                    Ok(Some(top)) => tops.push(top),
                    Ok(None) => {}
                    Err(e) if e.kind() == ErrorKind::Limit => return Err(e),
                    Err(e) => {
                        let text = format!(
                            "Rendering Top file {sls} failed, render error:\n{}",
                            e.diagnostic().message
                        );
                        errors.push(PillarError::new(text, e));
                    }
                }
                done.push(sls);
            }
        }
        Ok(())
    }

    fn included(&self, sls: &Value, env: &str) -> Result<Option<TopFile>> {
        let Some(name) = sls.as_str() else {
            let message = format!(
                "a top file includes others by name, not by {}",
                sls.kind().described()
            );
            return Err(Error::new(ErrorKind::DataSource, message));
        };
        let version = self.renders.run().engine().salt_version();
        let found = self.files.sls(name, env, version)?;
        self.events.add(|| WholeEvent::Top {
            saltenv: env.into(),
            path: found.as_ref().map(|found| found.file.shown.clone()),
            included: Some(name.into()),
        });
        let Some(found) = found else {
            let message =
                format!("a top file includes '{name}', which saltenv '{env}' does not have");
            self.renders
                .run()
                .warn(Diagnostic::warning(ErrorKind::File, message));
            return Ok(None);
        };
        let rendered = self.render(&found.file, env)?;
        Ok(Some(top_file(found.file.shown, &rendered)))
    }
}

/// A rendered top file; a mapping, or nothing.
fn top_file(shown: String, render: &Rc<Render>) -> TopFile {
    let (targets, refused) = match render.value() {
        Value::Map(targets) => (targets, None),
        Value::None => (Map::new(), None),
        other => {
            let what = other.kind().described();
            let message = format!("{shown} renders to {what}, not a mapping");
            let place = render.text().map(|text| text.place(0));
            let refused = Error::new(ErrorKind::DataSource, message).at(place).help(
                "a top file is a mapping from saltenvs to targets, as in `base: {'*': [common]}`",
            );
            (Map::new(), Some(refused))
        }
    };
    TopFile {
        shown,
        targets,
        render: render.clone(),
        places: YamlPlaces::default(),
        refused,
    }
}

/// True if to look for `include` in what is not a mapping ends the compile: it is there, or cannot be looked for.
fn ends_at_include(whole: &Value) -> bool {
    match whole {
        Value::Str(text) => text.contains("include"),
        Value::List(items) => items.iter().any(|item| item.as_str() == Some("include")),
        _ => true,
    }
}

/// Merge top files. A single one comes to the same for all minions that share it.
fn merged_once(files: &mut [TopFile]) -> std::result::Result<Arc<MergedTop>, Unmergeable> {
    let kept = match &*files {
        // Without what it includes, nothing was removed.
        [only] if !matches!(only.render.value(), Value::Map(map) if map.contains_key("include")) => {
            Some(only.render.clone())
        }
        _ => None,
    };
    if let Some(known) = kept.as_ref().and_then(|render| render.top.get()) {
        return Ok(known.clone());
    }
    let mut ignored = HashMap::new();
    let targets = sorted(merged(files, &mut ignored)?);
    let merged = Arc::new(MergedTop { targets, ignored });
    if let Some(render) = kept {
        let _ = render.top.set(merged.clone());
    }
    Ok(merged)
}

/// Merge top files: of a target that is named twice, the last entry replaces those before.
fn merged(
    files: &mut [TopFile],
    ignored: &mut HashMap<Key, Vec<String>>,
) -> std::result::Result<Targets, Unmergeable> {
    let mut all = Targets::default();
    for (index, file) in files.iter_mut().enumerate() {
        if let Some(refused) = &file.refused {
            return Err(Unmergeable::Raised(refused.clone()));
        }
        let envs = file.targets.clone();
        for (env, targets) in &envs {
            if env.as_str() == Some("include") {
                continue;
            }
            let Value::Map(targets) = targets else {
                match targets_of_other(targets) {
                    Ok(()) => continue,
                    Err(problem) => return Err(file.unmergeable(&problem, [env.clone()])),
                }
            };
            for (target, listed) in targets {
                let entry = entry(listed, index)
                    .map_err(|problem| file.unmergeable(&problem, [env.clone(), target.clone()]))?;
                if entry.1 {
                    let may_miss = ignored.entry(env.clone()).or_default();
                    may_miss.extend(entry.0.sls.iter().cloned());
                }
                all.entry(env.clone())
                    .or_default()
                    .insert(target.clone(), entry.0);
            }
        }
    }
    Ok(all)
}

/// The problem with a part of a top file, and true if the reference ends on it.
struct TopPartProblem {
    message: String,
    ends: bool,
}

fn problem(message: impl Into<String>) -> TopPartProblem {
    TopPartProblem {
        message: message.into(),
        ends: false,
    }
}

impl TopFile {
    fn unmergeable(
        &mut self,
        problem: &TopPartProblem,
        path: impl IntoIterator<Item = Key>,
    ) -> Unmergeable {
        let place = self.place(&path.into_iter().collect());
        let message = format!("{}: {}", self.shown, problem.message);
        let error = Error::new(ErrorKind::DataSource, message)
            .at(place)
            .help("a saltenv has targets, and a target has a list of sls");
        match problem.ends {
            true => Unmergeable::Raised(error),
            false => Unmergeable::Noted(error),
        }
    }
}

/// The targets of a saltenv that are not a mapping: nothing but an empty one is understood.
fn targets_of_other(targets: &Value) -> std::result::Result<(), TopPartProblem> {
    let what = targets.kind().described();
    let wrong = problem(format!(
        "the targets of a saltenv must be a mapping, not {what}"
    ));
    match items(targets) {
        Some(items) if items.is_empty() => Ok(()),
        Some(list) if matches!(targets, Value::List(_) | Value::Tuple(_)) => {
            // Python takes a number for the position of an item.
            let count = i64::try_from(list.len()).unwrap_or(i64::MAX);
            let ends = match &list[0] {
                Value::Int(_) | Value::Bool(_) => match int(&list[0]) {
                    Number::Is(at) => at.to_i64().is_none_or(|at| at >= count || at < -count),
                    _ => false,
                },
                _ => false,
            };
            Err(TopPartProblem { ends, ..wrong })
        }
        _ => Err(wrong),
    }
}

/// The entry of a target, and whether its sls may be missing.
fn entry(listed: &Value, file: usize) -> std::result::Result<(TargetEntry, bool), TopPartProblem> {
    let wrong = || {
        let what = listed.kind().described();
        problem(format!("a target must have a list of sls, not {what}"))
    };
    let mut entry = TargetEntry {
        file,
        ..TargetEntry::default()
    };
    let mut may_miss = false;
    for item in items(listed).ok_or_else(wrong)? {
        match item {
            // Python keeps them as keys, so the first place counts.
            Value::Str(sls) if entry.sls.iter().any(|known| **known == *sls) => {}
            Value::Str(sls) => entry.sls.push(sls.to_string()),
            Value::Map(map) => {
                if let Some(matcher) = map.get("match") {
                    entry.matcher = Some(matcher.clone());
                }
                if let Some(given) = map.get("order") {
                    entry.order = Some(order(given)?);
                }
                may_miss |= map.get("ignore_missing").is_some_and(Value::truthy);
            }
            _ => {}
        }
    }
    Ok((entry, may_miss))
}

fn order(given: &Value) -> std::result::Result<Int, TopPartProblem> {
    match int(given) {
        Number::Is(order) => Ok(order),
        Number::Bad => Ok(Int::from(0)),
        Number::Unfit => Err(problem(format!(
            "`order` must be a number, not {}",
            given.kind().described()
        ))),
        Number::Endless => Err(TopPartProblem {
            ends: true,
            ..problem("`order` must be a finite number")
        }),
    }
}

/// The targets of each saltenv by their order; those of equal order keep theirs.
fn sorted(mut all: Targets) -> Targets {
    let zero = Int::from(0);
    for targets in all.values_mut() {
        targets.sort_by(|_, one, _, other| {
            let order = |entry: &TargetEntry| entry.order.clone().unwrap_or_else(|| zero.clone());
            order(one).cmp(&order(other))
        });
    }
    all
}

impl Top {
    /// Sls that may be missing, by saltenv.
    pub fn ignored(&self) -> &HashMap<Key, Vec<String>> {
        &self.merged.ignored
    }

    /// Errors of the minion's sls, where a target has a text in place of a list: each letter is the name of an sls then,
    /// and all of them have one cause.
    pub fn of_texts(&self, matches: &TopMatches, mut errors: Vec<PillarError>) -> Vec<PillarError> {
        for error in &mut errors {
            let Fault::Missing {
                sls,
                saltenv,
                included_by: None,
            } = &error.fault
            else {
                continue;
            };
            if let Some(cause) = self.text_below(matches, &Key::from(saltenv.as_str()), sls) {
                error.error = cause;
                error.fault = Fault::Top;
            }
        }
        errors
    }

    /// The error of a target of the minion that has a text with a letter in place of a list of sls.
    fn text_below(&self, matches: &TopMatches, env: &Key, letter: &str) -> Option<Error> {
        let mut meant = matches.meant.iter();
        meant.find_map(|(env_at, at)| {
            let (_, targets) = self.merged.targets.get_index(*env_at).filter(|it| it.0 == env)?;
            let (target, entry) = targets.get_index(*at)?;
            let file = self.files.get(entry.file)?;
            let text = file.targets.get(env)?.as_map()?.get(target)?.as_str()?;
            let is_in = letter.chars().count() == 1 && text.contains(letter);
            is_in.then(|| {
                let message = format!(
                    "the target '{target}' of '{env}' has the text '{text}' in place of a list of sls, so each letter is \
                     the name of one"
                );
                Error::new(ErrorKind::DataSource, message)
                    .at(file.place(&[env.clone(), target.clone()].into_iter().collect()))
                    .help(format!("write `- {text}` on a line below it"))
            })
        })
    }

    /// The place that names an sls which the minion gets.
    pub fn place_of(&self, matches: &TopMatches, env: &Key, sls: &str) -> Option<Place> {
        let found = matches.meant.iter().find_map(|(env_at, at)| {
            let (_, targets) = self
                .merged
                .targets
                .get_index(*env_at)
                .filter(|it| it.0 == env)?;
            let (target, entry) = targets.get_index(*at)?;
            entry
                .sls
                .iter()
                .any(|name| name == sls)
                .then_some((target, entry))
        });
        let (target, entry) = found?;
        let file = self.files.get(entry.file)?;
        let listed = file.targets.get(env)?.as_map()?.get(target)?.as_list()?;
        let index = listed.iter().position(|item| item.as_str() == Some(sls))?;
        let path = [env.clone(), target.clone(), Key::of_index(index)];
        file.place(&path.into_iter().collect())
    }

    /// The sls of the minion's targets, by saltenv (Salt: `Pillar.top_matches`).
    ///
    /// The run has the facts that targets see.
    pub fn matches(&mut self, reader: &TopReader<'_, '_>, run: &Run<'_>) -> Result<TopMatches> {
        let id = reader.settings.id.to_string();
        run.with_targets(&id, |is_match| self.matches_of(reader, is_match))
    }

    fn matches_of(
        &mut self,
        reader: &TopReader<'_, '_>,
        is_match: &dyn Fn(&Key, Option<&Value>) -> Result<bool>,
    ) -> Result<TopMatches> {
        let mut matches = TopMatches::default();
        let pillarenv = reader.settings.value("pillarenv");
        let Top { files, merged, .. } = self;
        for (env_at, (env, targets)) in merged.targets.iter().enumerate() {
            if pillarenv.truthy() && env.to_value() != pillarenv {
                continue;
            }
            for (at, (target, entry)) in targets.iter().enumerate() {
                let place = |files: &mut Vec<TopFile>| {
                    let path = [env.clone(), target.clone()].into_iter().collect();
                    files.get_mut(entry.file)?.place(&path)
                };
                let is_match = is_match(target, entry.matcher.as_ref()).map_err(|e| {
                    let place = place(files);
                    e.at(place)
                        .note(format!("for the target '{target}' of '{env}'"))
                })?;
                reader.events.add(|| WholeEvent::Target {
                    saltenv: env.to_string(),
                    target: target.to_string(),
                    matcher: entry
                        .matcher
                        .as_ref()
                        .map_or_else(|| "compound".into(), ToString::to_string),
                    place: place(files),
                    sls: entry.sls.clone(),
                    is_match,
                });
                if is_match {
                    matches.meant.push((env_at, at));
                    let sls = matches.sls.entry(env.clone()).or_default();
                    for name in &entry.sls {
                        if !sls.contains(name) {
                            sls.push(name.clone());
                        }
                    }
                }
            }
        }
        Ok(matches)
    }
}

impl TopMatches {
    /// The saltenvs in the order that the option `env_order` gives them: those that it lists, then the others.
    pub fn ordered(&self, order: &Value) -> Vec<(&Key, &Vec<String>)> {
        let listed = items(order).unwrap_or_default();
        let listed = listed.iter().filter_map(|env| Key::try_from(env).ok());
        let mut ordered: Vec<(&Key, &Vec<String>)> = Vec::new();
        for env in listed {
            ordered.extend(self.sls.get_key_value(&env));
        }
        let is_new =
            |(env, _): &(&Key, &Vec<String>)| !ordered.iter().any(|(known, _)| known == env);
        let others: Vec<_> = self.sls.iter().filter(is_new).collect();
        ordered.extend(others);
        ordered
    }
}

/// The warning that a master of an older version goes through environments in an order that is not known: what it does
/// then, and what the data is.
///
/// ```
/// use mapstack_minion::SaltVersion;
/// let version = SaltVersion::ALL[0];
/// let warning = mapstack_pillar::unknown_order(version, "reads the top files of base, dev", "this is the pillar");
/// assert!(warning.message.ends_with("this is the pillar for the order of pillar_roots"));
/// ```
#[must_use]
pub fn unknown_order(version: SaltVersion, does: &str, data: &str) -> Diagnostic {
    let message = format!(
        "a master of Salt {version} {does} in an order that changes each time it starts; {data} for the order of \
         pillar_roots"
    );
    Diagnostic::warning(ErrorKind::Options, message)
        .with_help("set pillarenv, or keep one top file, for all environments")
}
