//! The minions that flags describe or choose.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mapstack::minion::{Minion, Part, platforms};
use mapstack::value::{Map, Value};
use mapstack::{Condition, Diagnostic, Engine, Error, ErrorKind, nearest, yaml};
use mapstack_salt_config::{Config, Kind, similar_option};

use crate::inputs::configuration;
use crate::inputs::estate::{FoundMinion, FoundMinions};
use crate::inputs::flags::{FactFlags, Input, TargetFlags, WorkFlags};
use crate::inputs::id::shortened;
use crate::inputs::pillars::{Configured, ConfiguredPillars};
use crate::inputs::read::{read, shown, yaml_value};
use crate::inputs::selected::none_of;
use crate::inputs::source::{self, Choice, MinionSource};
use crate::inputs::{InputError, WarningSink};

pub(crate) fn minion(
    input: &Input,
    by: Configured<'_>,
    warn: &dyn WarningSink,
) -> Result<Minion, InputError> {
    let others = input
        .functions
        .stub
        .iter()
        .chain(&input.custom_data)
        .chain(&input.files.config);
    let facts = &input.facts;
    warn_of_slips(facts, warn)?;
    let is_named = facts.name_minions() || !facts.set.is_empty() || input.files.config.is_some();
    if let Some(found) = facts.of_estate().filter(|_| !is_named)
        && let Some(first) = found.all.first()
    {
        let id = first.minion.id().to_string();
        if found.all.len() > 1 {
            warn.note_of(&format!(
                "for the minion {id}, the first of {}; --id names another",
                found.all.len()
            ));
        }
        let given = FlagFacts::read(facts, by)?;
        let minion = found.with_grains(first.minion.clone())?;
        return given.change(minion, false);
    }
    if input.files.project.is_some() && !is_named {
        warn.note_of(&format!(
            "for the built-in minion {USUAL}; --platform or --minion names another"
        ));
        let usual = FactFlags {
            platform: vec![USUAL.into()],
            ..facts.clone()
        };
        return minion_of(&usual, by, others.map(|file| &**file), warn);
    }
    minion_of(facts, by, others.map(|file| &**file), warn)
}

/// The minion of a project's checkout, where none is named.
const USUAL: &str = "debian-12";

/// The minion of flags. `others` are more files that may be standard input.
fn minion_of<'f>(
    facts: &'f FactFlags,
    by: Configured<'_>,
    others: impl Iterator<Item = &'f Path>,
    warn: &dyn WarningSink,
) -> Result<Minion, InputError> {
    let config = by.config;
    let given = [&facts.minion, &facts.grains, &facts.pillar, &facts.opts];
    check_stdin(facts, others)?;
    if let Some(path) = &facts.minions {
        let given = FlagFacts::read(facts, by)?;
        let source = MinionSource::open(path, given.pillarenv().as_deref(), warn)?;
        let one = source.one(facts.id.as_deref())?;
        return given.change(given.fresh(one, source.is_cache()), true);
    }
    if !facts.platform.is_empty() {
        let chosen = facts.id.as_deref().map_or(Choice::All, Choice::Id);
        return match <[Minion; 1]>::try_from(source::of_platforms(&facts.platform, chosen)?) {
            Ok([minion]) => FlagFacts::read(facts, by)?.change(minion, true),
            Err(several) => Err(InputError::Usage(format!(
                "one minion is looked at here, and --platform names {}: give one",
                several.len()
            ))),
        };
    }
    if let (Some(found), Some(id)) = (&facts.found, &facts.id) {
        let one = found.with_grains(estate_minion(found, id, facts, warn))?;
        return FlagFacts::read(facts, by)?.change(one, true);
    }
    if let (Some(cache), Some(id)) = (configuration::cache(config, facts), &facts.id) {
        let given = FlagFacts::read(facts, by)?;
        let cached = configuration::cached(cache, id, given.pillarenv().as_deref(), facts, warn)?;
        return given.change(given.fresh(cached.unwrap_or_default(), true), true);
    }
    if let (Some(cache), true) = (
        configuration::cache(config, facts),
        facts.grains.is_none() && facts.set.is_empty(),
    ) {
        return Err(InputError::Usage(format!(
            "no minion given: say which one of the cache {cache} with --id NAME, or give --platform NAME, --minion FILE or \
             --grains FILE"
        )));
    }
    let described = config.is_some_and(|config| config.kind() != Kind::Master);
    if !described && given.iter().all(|f| f.is_none()) && facts.set.is_empty() && facts.id.is_none()
    {
        return Err(InputError::Usage(
            "no minion given: pass --minion FILE (one YAML document with id, grains, pillar, opts),\n\
             --platform debian-12 (or another one of `mapstack platforms`),\n\
             or --grains FILE; for the machine at hand:\n\
             \n    salt-call --local grains.items --out=json | mapstack … --grains -\n\
             \nor build one up: --id web1 --set grains.os_family=Debian"
                .into(),
        ));
    }
    let minion = match &facts.minion {
        Some(file) => Minion::parse(&read(file)?, &shown(file)).map_err(|e| {
            let error = Error::from(e);
            match error.diagnostic().message.contains("a second document") {
                true => error.note("--minions FILE takes a file with several minions"),
                false => error,
            }
        })?,
        None => Minion::default(),
    };
    FlagFacts::read(facts, by)?.change(minion, true)
}

/// The minion of an id in an estate: one that the checkout names, or another of that id.
fn estate_minion(
    found: &FoundMinions,
    id: &str,
    facts: &FactFlags,
    warn: &dyn WarningSink,
) -> Minion {
    let of_id = |one: &&FoundMinion| one.minion.id().to_string() == id;
    if let Some(one) = found.all.iter().find(of_id) {
        return one.minion.clone();
    }
    let ids = found.all.iter().map(|one| one.minion.id().to_string());
    let ids: Vec<String> = ids.collect();
    let near = nearest(id, &ids).map(|near| format!("; did you mean '{near}'?"));
    let platform = found.platform();
    let is_platform = found.platform_of(id).is_some();
    if !is_platform && (facts.set.is_empty() || near.is_some()) {
        warn.note_of(&format!(
            "nothing in the checkout names the minion '{}', so it is one of {platform} with that id{}",
            shortened(id),
            near.unwrap_or_default()
        ));
    }
    found.another(id)
}

/// No two files can be standard input.
fn check_stdin<'f>(
    facts: &'f FactFlags,
    others: impl Iterator<Item = &'f Path>,
) -> Result<(), InputError> {
    let given = [
        &facts.minion,
        &facts.minions,
        &facts.grains,
        &facts.pillar,
        &facts.opts,
    ];
    let all = given
        .iter()
        .filter_map(|file| file.as_deref())
        .chain(others);
    match all.filter(|file| *file == Path::new("-")).count() {
        0 | 1 => Ok(()),
        _ => Err(InputError::Usage(
            "standard input can be read once: only one file may be -".into(),
        )),
    }
}

/// The selected minions, each as far as it could be read.
pub struct SelectedMinions {
    /// The minions.
    pub minions: Vec<(String, Result<Minion, Error>)>,
    /// True if the flags can select several minions, even if they select one.
    pub many: bool,
}

impl SelectedMinions {
    fn one(minion: Minion) -> Self {
        SelectedMinions {
            minions: vec![(minion.id().to_string(), Ok(minion))],
            many: false,
        }
    }
}

/// The minions of `--minions` or of the master's cache that flags choose, or those of `--platform`;
/// without these the one that flags describe. `pillarenv` is the master's.
///
/// # Errors
/// Flags name no minion, or minions that cannot be read.
pub fn minions<'c>(
    facts: &FactFlags,
    target: &TargetFlags,
    by: impl Into<Configured<'c>>,
    pillarenv: Option<&str>,
    stubs: &[PathBuf],
    warn: &dyn WarningSink,
) -> Result<SelectedMinions, InputError> {
    warn_of_slips(facts, warn)?;
    let by = by.into();
    let config = by.config;
    let stubs = stubs.iter().map(|file| &**file);
    let choice = Choice::of(facts, target);
    let described = facts.id.is_some() || is_described(facts, target);
    let cache = configuration::cache(config, facts)
        .filter(|_| !described)
        .map(Path::new);
    let path = facts.minions.as_deref().or(cache);
    let of_estate = facts.of_estate().filter(|_| !described && path.is_none());
    if path.is_none() && facts.platform.is_empty() && of_estate.is_none() {
        refuse_glob(target)?;
        return Ok(SelectedMinions::one(minion_of(facts, by, stubs, warn)?));
    }
    if let Some(cache) = cache.filter(|cache| !cache.is_dir()) {
        let what = "no minion given";
        return Err(InputError::Data(configuration::no_cache(
            &cache.display().to_string(),
            what,
        )));
    }
    check_stdin(facts, stubs)?;
    let given = FlagFacts::read(facts, by)?;
    let source = match (path, of_estate) {
        (Some(path), _) => {
            let own = given.pillarenv();
            Some(MinionSource::open(
                path,
                own.as_deref().or(pillarenv),
                warn,
            )?)
        }
        (None, found) => found.map(|found| MinionSource::of_estate(found)),
    };
    let Some(source) = source else {
        let minions = source::of_platforms(&facts.platform, choice)?;
        let many = minions.len() > 1 || target.minion_glob.is_some();
        let named = minions
            .into_iter()
            .map(|minion| Ok((minion.id().to_string(), Ok(given.change(minion, !many)?))));
        return Ok(SelectedMinions {
            minions: named.collect::<Result<_, InputError>>()?,
            many,
        });
    };
    let many = !matches!(choice, Choice::Id(_));
    let mut minions = Vec::new();
    for id in source.chosen_ids(choice)? {
        let read = match source.read(&id) {
            Ok(minion) => Ok(given.change(given.fresh(minion, source.is_cache()), !many)?),
            Err(error) if many && !source.is_cache() => {
                Err(error.note(format!("for the minion {id}")))
            }
            Err(error) => Err(error),
        };
        minions.push((id, read));
    }
    Ok(SelectedMinions { minions, many })
}

impl SelectedMinions {
    /// Keep the minions for which `--select` is true, and those that could not be read.
    ///
    /// # Errors
    /// The condition fails for one, or it is true of none.
    pub fn selected(mut self, engine: &Engine, target: &TargetFlags) -> Result<Self, InputError> {
        let minion = |(_, read): &(String, Result<Minion, Error>)| Ok(read.clone().ok());
        self.minions = selected(self.minions, engine, target, minion)?;
        Ok(self)
    }
}

/// The minions of which `--select` is true, if it is given.
fn selected<T>(
    all: Vec<T>,
    engine: &Engine,
    target: &TargetFlags,
    minion: impl Fn(&T) -> Result<Option<Minion>, Error>,
) -> Result<Vec<T>, InputError> {
    let Some(condition) = target.select.as_deref().map(Condition::parse).transpose()? else {
        return Ok(all);
    };
    let (mut left, count, mut grains) = (Vec::new(), all.len(), BTreeSet::new());
    for one in all {
        let holds = minion(&one)?.map(|minion| {
            grains.extend(minion.grains.keys().map(ToString::to_string));
            engine.holds(&condition, &minion)
        });
        if holds.transpose()?.unwrap_or(true) {
            left.push(one);
        }
    }
    match left.is_empty() {
        true => Err(none_of(condition.as_str(), count, &grains)),
        false => Ok(left),
    }
}

/// True if flags say the facts of the only minion there is.
fn is_described(facts: &FactFlags, target: &TargetFlags) -> bool {
    target.minion_glob.is_none() && (facts.grains.is_some() || !facts.set.is_empty())
}

/// Nothing can be chosen of one minion.
fn refuse_glob(target: &TargetFlags) -> Result<(), InputError> {
    match &target.minion_glob {
        None => Ok(()),
        Some(glob) => Err(InputError::Usage(format!(
            "--minion-glob {glob} chooses among many minions: say where they are with --minions PATH, --platform,\n\
             or the --config of a master"
        ))),
    }
}

/// Many minions that are read one by one.
pub struct MinionStream<'f> {
    given: FlagFacts<'f>,
    listed: MinionListing,
}

enum MinionListing {
    There(MinionSource, Vec<String>),
    Here(Vec<Minion>),
}

impl<'f> MinionStream<'f> {
    /// The same minions as [`minions`] has, of which none is read yet; `all` is every platform.
    ///
    /// # Errors
    /// As for [`minions`].
    pub fn list(
        facts: &'f FactFlags,
        target: &TargetFlags,
        by: impl Into<Configured<'f>>,
        others: &[PathBuf],
        warn: &dyn WarningSink,
    ) -> Result<Self, InputError> {
        let by = by.into();
        let config = by.config;
        let choice = Choice::of(facts, target);
        let cache = configuration::cache(config, facts).map(Path::new);
        let described = is_described(facts, target);
        if let Some(path) = facts.minions.as_deref().or(cache.filter(|_| !described)) {
            if facts.minions.is_none() && !path.is_dir() {
                let what = "no minion given";
                return Err(InputError::Data(configuration::no_cache(
                    &path.display().to_string(),
                    what,
                )));
            }
            check_stdin(facts, others.iter().map(|file| &**file))?;
            let given = FlagFacts::read(facts, by)?;
            let source = MinionSource::open(path, given.pillarenv().as_deref(), warn)?;
            let ids = source.chosen_ids(choice)?;
            return Ok(MinionStream {
                given,
                listed: MinionListing::There(source, ids),
            });
        }
        if let Some(found) = facts
            .of_estate()
            .filter(|_| !described && facts.id.is_none())
        {
            let given = FlagFacts::read(facts, by)?;
            let source = MinionSource::of_estate(found);
            let ids = source.chosen_ids(choice)?;
            return Ok(MinionStream {
                given,
                listed: MinionListing::There(source, ids),
            });
        }
        let minions = match facts.platform.is_empty() {
            false => source::of_platforms(&facts.platform, choice)?,
            true => {
                refuse_glob(target)?;
                vec![minion_of(
                    facts,
                    by,
                    others.iter().map(|file| &**file),
                    warn,
                )?]
            }
        };
        Ok(MinionStream {
            given: FlagFacts::read(facts, by)?,
            listed: MinionListing::Here(minions),
        })
    }

    /// The same, or every platform if nothing says which minions are selected.
    ///
    /// # Errors
    /// As for [`minions`].
    pub fn list_or_platforms(
        facts: &'f FactFlags,
        target: &TargetFlags,
        by: impl Into<Configured<'f>>,
        others: &[PathBuf],
        warn: &dyn WarningSink,
    ) -> Result<Self, InputError> {
        let by = by.into();
        let config = by.config;
        let is_found = || facts.of_estate().is_some();
        if facts.name_minions() || is_found() || configuration::cache(config, facts).is_some() {
            return Self::list(facts, target, by, others, warn);
        }
        let minions = source::of_platforms(&["all".into()], Choice::of(facts, target))?;
        Ok(MinionStream {
            given: FlagFacts::read(facts, by)?,
            listed: MinionListing::Here(minions),
        })
    }

    /// The same, by the flags of work on many minions.
    ///
    /// # Errors
    /// As for [`minions`].
    pub fn of_work(
        input: &'f Input,
        work: &WorkFlags,
        by: impl Into<Configured<'f>>,
        warn: &dyn WarningSink,
    ) -> Result<Self, InputError> {
        Self::list_or_platforms(&input.facts, &work.target, by, &input.other_files(), warn)
    }

    /// Keep the minions for which a condition is true, and those that cannot be read.
    ///
    /// # Errors
    /// The condition fails for one, or it is true of none.
    pub fn selected(mut self, engine: &Engine, target: &TargetFlags) -> Result<Self, InputError> {
        use mapstack_fleet::Minions as _;
        if target.select.is_none() {
            return Ok(self);
        }
        // Only the ids are kept, as the facts and pillars of a large fleet together may not fit into memory.
        let ids = selected(self.ids(), engine, target, |id| Ok(self.read(id).ok()))?;
        match &mut self.listed {
            MinionListing::There(_, listed) => *listed = ids,
            MinionListing::Here(minions) => {
                minions.retain(|minion| ids.contains(&minion.id().to_string()));
            }
        }
        Ok(self)
    }

    /// The ids, in order.
    pub fn ids(&self) -> Vec<String> {
        match &self.listed {
            MinionListing::There(_, ids) => ids.clone(),
            MinionListing::Here(minions) => minions
                .iter()
                .map(|minion| minion.id().to_string())
                .collect(),
        }
    }

    fn changed(&self, minion: Minion, alone: bool) -> Result<Minion, Error> {
        let is_cached =
            matches!(&self.listed, MinionListing::There(source, _) if source.is_cache());
        let minion = self.given.fresh(minion, is_cached);
        self.given
            .change(minion, alone)
            .map_err(|e| e.or_kind(ErrorKind::Facts))
    }
}

impl mapstack_fleet::Minions for MinionStream<'_> {
    /// One of them, as flags have it.
    fn read(&self, id: &str) -> Result<Minion, Error> {
        let alone = matches!(&self.listed, MinionListing::Here(minions) if minions.len() == 1);
        self.changed(self.unchanged(id)?, alone)
    }

    /// One of them, without what flags change in each of many.
    fn unchanged(&self, id: &str) -> Result<Minion, Error> {
        match &self.listed {
            MinionListing::There(source, _) => source.read(id),
            MinionListing::Here(minions) => {
                let found = minions.iter().find(|minion| minion.id().to_string() == id);
                Ok(found.cloned().unwrap_or_else(|| Minion::new(id)))
            }
        }
    }

    /// A minion of several, as flags have it.
    fn as_given(&self, minion: Minion) -> Result<Minion, Error> {
        self.changed(minion, false)
    }
}

/// The facts that flags change on a minion.
struct FlagFacts<'f> {
    facts: &'f FactFlags,
    config: Option<&'f Config>,
    pillars: Option<&'f ConfiguredPillars>,
    /// True if pillars are compiled later.
    later: bool,
    files: Vec<(Part, Vec<u8>, String)>,
}

impl<'f> FlagFacts<'f> {
    fn read(facts: &'f FactFlags, by: Configured<'f>) -> Result<Self, InputError> {
        let parts = [
            (&facts.grains, Part::Grains),
            (&facts.pillar, Part::Pillar),
            (&facts.opts, Part::Opts),
        ];
        let named = parts
            .into_iter()
            .filter_map(|(file, part)| Some((part, file.as_ref()?)));
        let files = named
            .map(|(part, file)| Ok((part, read(file)?, shown(file))))
            .collect::<Result<_, InputError>>()?;
        Ok(FlagFacts {
            facts,
            config: by.config,
            pillars: by.pillars.filter(|_| facts.pillar.is_none()),
            later: by.later && facts.pillar.is_none(),
            files,
        })
    }

    /// The option that says whose pillar a master's cache is to give. What is wrong with flags is
    /// found when they are used.
    fn pillarenv(&self) -> Option<String> {
        let mut minion = Minion::default();
        for (part, bytes, name) in self.files.iter().filter(|(part, ..)| *part == Part::Opts) {
            minion.load_part(*part, bytes, name).ok()?;
        }
        if let Some(env) = &self.facts.pillarenv {
            return Some(env.clone());
        }
        let set = self
            .facts
            .set
            .iter()
            .rev()
            .find_map(|change| change.strip_prefix("opts.pillarenv="));
        let set = set.and_then(|text| yaml::load(text).ok());
        let configured = || self.config.and_then(|config| config.get("pillarenv"));
        let name = set
            .as_ref()
            .or_else(|| minion.opts.get("pillarenv"))
            .or_else(configured)?;
        name.truthy().then(|| name.to_string())
    }

    /// The minion of a master's cache without the pillar of that time, if it is compiled.
    fn fresh(&self, mut minion: Minion, is_cached: bool) -> Minion {
        if is_cached && (self.pillars.is_some() || self.later) {
            minion.pillar = Map::new();
        }
        minion
    }

    /// The minion as the flags have it; one of several keeps its name.
    fn change(&self, mut minion: Minion, alone: bool) -> Result<Minion, InputError> {
        for (part, bytes, name) in &self.files {
            minion.load_part(*part, bytes, name).map_err(Error::from)?;
        }
        if let Some(config) = self.config.filter(|config| config.kind() != Kind::Master) {
            configuration::put_below(config, &mut minion)?;
        }
        if let Some(id) = self.facts.id.as_ref().filter(|_| alone) {
            minion.set_id(id.as_str());
        }
        let is_pillar = |change: &&String| change.starts_with("pillar.");
        let (of_pillar, others): (Vec<&String>, Vec<&String>) =
            self.facts.set.iter().partition(is_pillar);
        set_all(&others, &mut minion)?;
        if let Some(env) = &self.facts.pillarenv {
            minion.opts.insert("pillarenv", env.as_str());
        }
        if let Some(pillars) = self.pillars.filter(|_| minion.pillar.is_empty()) {
            minion = minion.complete();
            minion.pillar = pillars.pillar(&minion)?;
        }
        if self.later && minion.pillar.is_empty() {
            return Ok(minion.complete());
        }
        set_all(&of_pillar, &mut minion)?;
        let over = self.facts.pillar_override()?;
        if !over.is_empty() {
            let pillar = std::mem::take(&mut minion.pillar);
            minion.pillar = mapstack_pillar::overridden(pillar, &over, &minion.opts);
        }
        Ok(minion.complete())
    }
}

/// A change that `--set` asks for.
fn change(change: &str) -> Result<(&str, Value), InputError> {
    let (path, value) = change.split_once('=').ok_or_else(|| {
        InputError::Usage(format!(
            "--set {change}: write PATH=YAML, such as grains.os=Debian"
        ))
    })?;
    Ok((path, yaml_value(value, "--set")?))
}

/// Warn of grains and options that `--set` changes, if nothing has them and their names are similar to others.
fn warn_of_slips(facts: &FactFlags, warn: &dyn WarningSink) -> Result<(), InputError> {
    let mut warnings = Vec::new();
    for change in &facts.set {
        let path = change.split('=').next().unwrap_or(change);
        let mut steps = path.split(['.', ':']);
        let (Some(part), Some(name)) = (steps.next(), steps.next()) else {
            continue;
        };
        let meant = match part {
            // Salt computes it of the minion's own name.
            "grains" if name != "id" && !platforms::have_grain(name) => similar_grain(name),
            "opts" => similar_option(name).map(str::to_owned),
            _ => None,
        };
        if let Some(meant) = meant {
            let what = if part == "grains" {
                "no platform has a grain"
            } else {
                "Salt has no option"
            };
            let message = format!("--set {path}: {what} '{name}'");
            let help = format!("did you mean '{meant}'?");
            warnings.push(Diagnostic::warning(ErrorKind::Options, message).with_help(help));
        }
    }
    Ok(warn.warn_of(&warnings)?)
}

/// The grain of a platform whose name is nearest to another.
fn similar_grain(name: &str) -> Option<String> {
    let known: BTreeSet<String> = platforms::all()
        .iter()
        .flat_map(|platform| {
            platform
                .minion()
                .grains
                .keys()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        })
        .collect();
    nearest(name, known)
}

/// The changes of the pillar that `--set` asks for.
///
/// # Errors
/// One is not written as it has to be.
pub fn pillar_changes(facts: &FactFlags) -> Result<Vec<(String, Value)>, InputError> {
    let of_pillar = facts.set.iter().filter(|set| set.starts_with("pillar."));
    of_pillar
        .map(|set| change(set).map(|(path, value)| (path.to_owned(), value)))
        .collect()
}

/// Make the changes that `--set` asks for.
fn set_all(changes: &[&String], minion: &mut Minion) -> Result<(), InputError> {
    for change in changes {
        let (path, value) = self::change(change)?;
        minion
            .set(path, value)
            .map_err(|e| InputError::Usage(format!("--set {change}: {e}")))?;
    }
    Ok(())
}
