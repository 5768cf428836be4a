//! The flags that name files, facts and functions, in groups that verbs share.
#![allow(
    missing_docs,
    reason = "clap makes help of comments: a group's would replace the command's, and values that say it all have none"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use mapstack::loader::Deployed;
use mapstack::minion::cache::Cache;
use mapstack::minion::{SaltVersion, UnknownVersion};
use mapstack::secrets::{Policy, Secrets};
use mapstack::value::pytext::Fnmatch;
use mapstack::value::{Map, Value};
use mapstack::{ConfigurationMethod, Error, ErrorKind, RunLimits};
use mapstack_fleet::{Pace, Scope, Shard, UnknownKey};
use mapstack_salt_config::Kind;

use crate::inputs::estate::FoundMinions;
use crate::inputs::id::IdParser;
use crate::inputs::read::yaml_value;
use crate::inputs::wanted_parts::Parts;
use crate::inputs::{InputError, Project, WarningSink, deployed_flags};

/// The sources of files and facts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files and facts")]
pub struct Input {
    #[command(flatten)]
    pub files: FileFlags,
    #[command(flatten)]
    pub facts: FactFlags,
    /// Data for U@ sources and the custom_data variable (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub custom_data: Option<PathBuf>,
    /// Any keyword arguments under Salt's own names, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub kwargs: Option<String>,
    #[command(flatten)]
    pub functions: Functions,
}

/// The flags that engines and compiled pillars are made from.
#[derive(Debug, Clone, Copy)]
pub struct EngineFlags<'f> {
    pub files: &'f FileFlags,
    pub functions: &'f Functions,
}

impl Input {
    /// The flags that engines and compiled pillars are made from.
    #[must_use]
    pub fn engine_flags(&self) -> EngineFlags<'_> {
        EngineFlags {
            files: &self.files,
            functions: &self.functions,
        }
    }

    /// The flags that a project can add to.
    pub fn parts(&mut self) -> (&mut FileFlags, Option<&mut FactFlags>, &mut Functions) {
        (&mut self.files, Some(&mut self.facts), &mut self.functions)
    }

    /// Files that may be standard input, beside those of facts.
    pub fn other_files(&self) -> Vec<PathBuf> {
        let stubs = self.functions.stub.iter();
        stubs.chain(&self.custom_data).cloned().collect()
    }
}

/// The messages to print, and their look.
#[derive(Debug, Clone, Default, Args)]
pub struct Messages {
    /// Colour messages: auto, always or never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        hide_possible_values = true,
        value_name = "WHEN",
        help_heading = "Messages"
    )]
    pub color: Color,
    /// Do not print warnings
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "strict",
        help_heading = "Messages"
    )]
    pub quiet: bool,
    /// Treat warnings as errors
    #[arg(long, global = true, help_heading = "Messages")]
    pub strict: bool,
    #[command(flatten)]
    pub secrets: SecretFlags,
}

/// The flags for values that are kept back.
#[derive(Debug, Clone, Default, Args)]
pub struct SecretFlags {
    /// Print secrets in messages and in output that would mask them
    #[arg(long, global = true, help_heading = "Secrets")]
    pub show_secrets: bool,
    /// Values to mask: secrets (values under names such as password, and encrypted ones) or pillar (all values of
    /// the pillar as well)
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        hide_possible_values = true,
        value_name = "WHAT",
        help_heading = "Secrets"
    )]
    pub mask: Mask,
    /// Take values under keys of this pattern for secrets, too; repeatable
    #[arg(long, global = true, value_name = "PATTERN", help_heading = "Secrets")]
    pub secret: Vec<String>,
    /// Do not take values under keys of this pattern for secrets, even if another rule does; repeatable
    #[arg(long, global = true, value_name = "PATTERN", help_heading = "Secrets")]
    pub no_secret: Vec<String>,
    /// Print digests in place of numbers: equal in all runs with the same text
    #[arg(long, global = true, value_name = "TEXT", help_heading = "Secrets")]
    pub digest_salt: Option<String>,
}

/// The values to mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Mask {
    /// Those that are secrets by themselves.
    #[default]
    Secrets,
    /// Those of the pillar as well.
    Pillar,
}

impl SecretFlags {
    /// Take the names that the `.mapstack.yaml` around the current directory has, beside those of the flags.
    ///
    /// # Errors
    /// There is one that cannot be read.
    pub fn complete(&mut self) -> Result<(), InputError> {
        if let Some(project) = Project::file_alone()? {
            self.secret.extend(project.secret);
            self.no_secret.extend(project.no_secret);
        }
        Ok(())
    }

    /// The values that are secret by themselves.
    pub fn policy(&self) -> Policy {
        let policy = match self.mask {
            Mask::Secrets => Policy::default().showing_pillar(),
            Mask::Pillar => Policy::default(),
        };
        let matching = |pattern: &String| {
            let pattern = pattern.to_lowercase();
            move |name: &str| Fnmatch::new(&pattern).matches(&name.to_lowercase())
        };
        let named = |policy: Policy, pattern| policy.named(matching(pattern));
        let except = |policy: Policy, pattern| policy.except(matching(pattern));
        let policy = self.secret.iter().fold(policy, named);
        self.no_secret.iter().fold(policy, except)
    }

    /// The values that are secret before anything is known about facts, and the marks in their place.
    pub fn secrets(&self) -> Secrets {
        let secrets = match &self.digest_salt {
            Some(salt) => Secrets::new(salt.as_bytes()),
            None => Secrets::numbered(),
        };
        let secrets = secrets.under(self.policy());
        secrets.shown_anyway(self.show_secrets)
    }
}

/// The choice of colours in output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Even in a file.
    Always,
    /// Not at all.
    Never,
}

/// The choice of a formula's result.
#[derive(Debug, Default, Args)]
pub struct ResultFlags {
    /// The configuration of a formula: data or map
    ///
    /// Data is its merged layers, map the variable that its map.jinja exports [default: map if there is a map.jinja].
    #[arg(long, value_enum, value_name = "RESULT", hide_possible_values = true)]
    pub of: Option<ResultOf>,
    /// The variable of map.jinja [default: as in `mapstack map`]
    #[arg(long, value_name = "NAME")]
    pub var: Option<String>,
}

impl ResultFlags {
    /// The way in which configurations are made, if the flags say.
    pub fn way(&self) -> Option<ConfigurationMethod> {
        self.of.map(|of| match of {
            ResultOf::Data => ConfigurationMethod::Data,
            ResultOf::Map => ConfigurationMethod::Map,
        })
    }
}

/// A result of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ResultOf {
    Data,
    Map,
}

/// The parts of what minions get.
#[derive(Debug, Default, Args)]
pub struct PartFlags {
    /// Compare only these parts: states (their arguments and order), files, pillar, maps
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    pub only: Vec<PartName>,
}

/// A part of what minions get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PartName {
    /// Arguments and order of states
    States,
    /// Managed files
    Files,
    /// The pillar
    Pillar,
    /// The maps of formulas
    Maps,
}

impl PartFlags {
    /// The parts that are compared: all, unless some are named.
    #[must_use]
    pub fn parts(&self) -> Parts {
        let has = |part| self.only.is_empty() || self.only.contains(&part);
        Parts {
            maps: has(PartName::Maps),
            pillar: has(PartName::Pillar),
            states: has(PartName::States),
            files: has(PartName::Files),
        }
    }
}

/// The changes that count.
#[derive(Debug, Default, Args)]
pub struct ScopeFlags {
    /// Only values at and below a key, as in users:*:shell (repeatable)
    #[arg(long, value_name = "KEY")]
    pub get: Vec<String>,
    /// Leave out values at and below a key, as in users:*:shell (repeatable)
    #[arg(long, value_name = "KEY")]
    pub ignore: Vec<String>,
}

impl ScopeFlags {
    /// The changes that count.
    pub fn scope(&self) -> Scope {
        Scope::new(&self.get, &self.ignore)
    }
}

impl From<UnknownKey> for InputError {
    fn from(unknown: UnknownKey) -> Self {
        let error = Error::new(ErrorKind::Lookup, unknown.to_string());
        InputError::Data(match unknown.nearest {
            Some(near) => error.note(format!("did you mean '{near}'?")),
            None => error.help(
                "`mapstack fleet FORMULA --get KEY` lists the keys beside one that does not exist",
            ),
        })
    }
}

/// The minions to work on, and the number at a time.
#[derive(Debug, Args)]
pub struct WorkFlags {
    #[command(flatten)]
    pub target: TargetFlags,
    /// Only the minions of one part of the fleet, as 1/4 for the first of four, or auto
    ///
    /// With auto, the part is this job's place among those that Kubernetes, Slurm or a CI started.
    #[arg(long, value_name = "K/N", value_parser = shard, help_heading = "Minions")]
    pub shard: Option<Shard>,
    /// Number of minions to work on at the same time [default: the number of cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

impl WorkFlags {
    /// The selected minions of some ids.
    pub fn of(&self, mut ids: Vec<String>) -> Vec<String> {
        ids.retain(|id| self.shard.is_none_or(|shard| shard.has(id)));
        ids
    }

    /// True if only some minions are selected.
    pub fn names_some(&self) -> bool {
        self.target.is_given() || self.shard.is_some()
    }

    /// The number of minions that are worked on at once.
    pub fn pace(&self) -> Pace {
        self.jobs
            .map_or_else(Pace::default, |jobs| Pace::threads(jobs.into()))
    }
}

/// The part that a text names, or that the environment assigns to this job.
fn shard(text: &str) -> Result<Shard, Box<dyn std::error::Error + Send + Sync>> {
    let variable =
        |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    match text {
        "auto" => Ok(Shard::assigned(variable)?),
        _ => Ok(text.parse::<Shard>()?),
    }
}

/// One minion's facts.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Files and facts")]
pub struct FactFlags {
    /// The minion: a document with id, grains, pillar, opts
    ///
    /// One YAML or JSON document; - is standard input.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub minion: Option<PathBuf>,
    /// Minions: a directory with a file for each, or a master's cache
    ///
    /// A directory with ID.yaml or ID.json for each, a master's cache (/var/cache/salt/master), or one file with many,
    /// as salt --out=json '*' grains.items prints them (- is stdin).
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, conflicts_with = "minion")]
    pub minions: Option<PathBuf>,
    /// A built-in minion, such as debian-12 or 'debian-*'
    ///
    /// `mapstack platforms` lists them. Where there can be several minions it is repeatable, and can be a shell pattern,
    /// all, or several of these with commas between.
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with_all = ["minion", "minions"])]
    pub platform: Vec<String>,
    /// The minion's grains (YAML or JSON, also as salt-call prints them; - is stdin)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub grains: Option<PathBuf>,
    /// The minion's pillar (YAML or JSON; - is stdin)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub pillar: Option<PathBuf>,
    /// The minion's options (YAML or JSON; - is stdin)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub opts: Option<PathBuf>,
    /// The minion's id; with --minions, the minion to use
    ///
    /// It is never a pattern.
    #[arg(long, value_parser = IdParser)]
    pub id: Option<String>,
    /// Change a fact, such as grains.os=Debian; repeatable
    ///
    /// The value is YAML.
    #[arg(long, value_name = "PATH=YAML")]
    pub set: Vec<String>,
    /// The environment of the pillar, as the minion's option pillarenv names it
    #[arg(long, value_name = "ENV", hide_short_help = true)]
    pub pillarenv: Option<String>,
    /// A pillar that wins over the minion's, as in `state.apply pillar='{…}'` (YAML or JSON, a mapping)
    #[arg(long, value_name = "YAML", hide_short_help = true)]
    pub pillar_override: Option<String>,
    /// The minions of the current estate, where no flag names others.
    #[arg(skip)]
    pub found: Option<Arc<FoundMinions>>,
}

impl FactFlags {
    /// True if flags name minions by files or platforms, so that those of the current estate are not used.
    fn name_others(&self) -> bool {
        let files = [&self.minion, &self.minions, &self.grains];
        files.iter().any(|file| file.is_some()) || !self.platform.is_empty()
    }

    /// The values that override the pillar; `None` without such flags.
    ///
    /// # Errors
    /// A value is not a mapping in YAML.
    pub fn pillar_override(&self) -> Result<Map, InputError> {
        let Some(text) = &self.pillar_override else {
            return Ok(Map::new());
        };
        match yaml_value(text, "--pillar-override")? {
            Value::Map(map) => Ok(map),
            other => {
                let what = other.kind().described();
                let message = format!(
                    "--pillar-override is {what}, not a mapping: write one, as in --pillar-override '{{web: {{port: 8080}}}}'"
                );
                Err(InputError::Usage(message))
            }
        }
    }

    /// The minions of the current estate, if there are some.
    pub fn of_estate(&self) -> Option<&Arc<FoundMinions>> {
        self.found.as_ref().filter(|found| !found.all.is_empty())
    }

    /// True if anything says which minion or minions there are. A pillar, options and `--set` alone
    /// change facts of whichever there are.
    pub fn name_minions(&self) -> bool {
        let files = [&self.minion, &self.minions, &self.grains];
        files.iter().any(|file| file.is_some()) || !self.platform.is_empty() || self.id.is_some()
    }
}

/// The minions to select.
#[derive(Debug, Args)]
pub struct TargetFlags {
    /// Only minions whose ids match a shell pattern, as in `salt 'web*'`
    ///
    /// A pattern has *, ?, [a-c] and [!a-c].
    #[arg(
        long,
        value_name = "GLOB",
        conflicts_with = "id",
        help_heading = "Minions"
    )]
    pub minion_glob: Option<String>,
    /// Only minions matching a Jinja expression, as "grains.os == 'Debian'"
    ///
    /// The expression can use grains, pillar, opts and id.
    #[arg(long, value_name = "EXPRESSION", help_heading = "Minions")]
    pub select: Option<String>,
}

impl TargetFlags {
    /// True if only some are meant.
    pub fn is_given(&self) -> bool {
        self.minion_glob.is_some() || self.select.is_some()
    }
}

/// Files with all minions that they are for, of which some may be meant.
#[derive(Debug, Args)]
pub struct SiteFlags {
    #[command(flatten)]
    pub target: TargetFlags,
    #[command(flatten)]
    pub facts: FactFlags,
    #[command(flatten)]
    pub files: FileFlags,
    #[command(flatten)]
    pub functions: Functions,
}

impl SiteFlags {
    /// The flags that a project can add to.
    pub fn parts(&mut self) -> (&mut FileFlags, Option<&mut FactFlags>, &mut Functions) {
        (&mut self.files, Some(&mut self.facts), &mut self.functions)
    }
}

/// The version of Salt that is followed, or one before and one after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaltVersions {
    /// That of the state before.
    pub before: SaltVersion,
    /// That of the state after.
    pub after: SaltVersion,
}

impl SaltVersions {
    /// A version by its name, as `3006`.
    ///
    /// # Errors
    /// It cannot be followed.
    pub fn one(text: &str) -> Result<Self, UnknownVersion> {
        match text.contains("..") {
            true => Err(UnknownVersion),
            false => text.parse().map(SaltVersion::into),
        }
    }

    /// A version, or two with `..` between them, as `3006..3008`.
    ///
    /// # Errors
    /// One of them cannot be followed.
    ///
    /// ```
    /// use mapstack::minion::{SaltVersion, UnknownVersion};
    /// use mapstack_frontend::inputs::flags::SaltVersions;
    /// let both = SaltVersions::range("3006..3008").unwrap();
    /// assert_eq!([both.before, both.after], [SaltVersion::V3006, SaltVersion::V3008]);
    /// assert!(SaltVersions::range("3006").unwrap().is_one());
    /// assert!(SaltVersions::one("3006..3008").is_err());
    /// ```
    pub fn range(text: &str) -> Result<Self, UnknownVersion> {
        match text.split_once("..") {
            Some((before, after)) => Ok(SaltVersions {
                before: before.parse()?,
                after: after.parse()?,
            }),
            None => SaltVersions::one(text),
        }
    }

    /// True if both are the same.
    #[must_use]
    pub fn is_one(self) -> bool {
        self.before == self.after
    }
}

impl From<SaltVersion> for SaltVersions {
    fn from(version: SaltVersion) -> Self {
        SaltVersions {
            before: version,
            after: version,
        }
    }
}

/// The flags for calls of functions that are not built in.
#[derive(Debug, Args)]
#[command(next_help_heading = "Functions")]
pub struct Functions {
    /// Answers to calls of salt['…'], written down (YAML or JSON; repeatable, earlier wins)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub stub: Vec<PathBuf>,
    /// Let templates use a function or filter that looks at this machine: cmd.run, file.*, which (repeatable)
    #[arg(long, value_name = "NAME")]
    pub allow: Vec<String>,
    /// Pass calls without another answer to a command, such as 'salt-call --local'
    #[arg(long, value_name = "COMMAND")]
    pub salt_call: Option<String>,
    /// Answer mine.get from the mine in a master's cache, such as /var/cache/salt/master [default: the cache of --minions]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub mine: Option<PathBuf>,
    /// Follow Salt 3006, 3007 or 3008, where they compile pillars and states or match targets differently [default: 3008]
    #[arg(long, value_name = "VERSION", value_parser = SaltVersions::one)]
    pub salt_version: Option<SaltVersions>,
    #[command(flatten)]
    pub limits: LimitFlags,
    /// The secret values, by other flags.
    #[arg(skip)]
    pub policy: Policy,
    /// The folders of deployed paths, as other flags say.
    #[arg(skip)]
    pub deployed: Deployed,
    /// Patterns of files that lie elsewhere, which are empty.
    #[arg(skip)]
    pub absent: Vec<String>,
    /// The values that override compiled pillars, by other flags.
    #[arg(skip)]
    pub pillar_override: Map,
}

impl Functions {
    /// The versions of Salt before and after; elsewhere than in a comparison they are the same.
    #[must_use]
    pub fn versions(&self) -> [SaltVersion; 2] {
        let both = self.salt_version.unwrap_or(SaltVersion::default().into());
        [both.before, both.after]
    }

    /// Take the mine from the master's cache of the minions, unless a flag names a mine.
    pub fn find_mine(&mut self, facts: &FactFlags) {
        let is_cache = |path: &&PathBuf| matches!(Cache::open(path), Ok(Some(_)));
        if self.mine.is_none() {
            self.mine = facts.minions.as_ref().filter(is_cache).cloned();
        }
    }
}

/// The limits of a run.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitFlags {
    /// Time limit for the whole run; 0 for none [default: 300, and 60 for the templates of one minion]
    #[arg(long, value_name = "SECONDS")]
    pub max_time: Option<u32>,
    /// Memory limit for the whole run; 0 for none [default: 2048, and 384 for the templates of one minion]
    #[arg(long, value_name = "MIB")]
    pub max_memory: Option<u32>,
}

impl LimitFlags {
    /// The limits of the whole run.
    #[must_use]
    pub fn of_run(self) -> RunLimits {
        RunLimits {
            time: seconds(self.max_time.unwrap_or(300)),
            memory: bytes(self.max_memory.unwrap_or(2048)),
        }
    }

    /// The time and the memory of the templates of one minion. Whoever grants a run more, or less, means its templates, too.
    #[must_use]
    pub fn of_minion(self) -> (Option<Duration>, Option<usize>) {
        (
            seconds(self.max_time.unwrap_or(60)),
            bytes(self.max_memory.unwrap_or(384)),
        )
    }
}

fn seconds(given: u32) -> Option<Duration> {
    (given > 0).then(|| Duration::from_secs(given.into()))
}

fn bytes(mib: u32) -> Option<usize> {
    let mib = usize::try_from(mib).unwrap_or(usize::MAX);
    (mib > 0).then(|| mib.saturating_mul(1 << 20))
}

/// The sources of files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files and facts")]
pub struct FileFlags {
    /// A master's or minion's configuration, such as /etc/salt/master
    ///
    /// With all that it includes: its file_roots, a master's cache of minions, a minion's options and grains.
    #[arg(long, value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub config: Option<PathBuf>,
    /// Whose configuration it is, if the file's name does not say
    #[arg(long, value_enum, value_name = "KIND", requires = "config")]
    pub config_kind: Option<ConfigKind>,
    /// A root of the file server, as ENV=DIR or DIR; repeatable
    ///
    /// Earlier ones win, as in file_roots.
    #[arg(long, value_name = "[ENV=]DIR", value_hint = ValueHint::DirPath)]
    pub root: Vec<String>,
    /// The directory with the mirrors of git repositories that `mapstack fetch` made
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub mirrors: Option<PathBuf>,
    /// The saltenv to look in [default: the minion's option, else base]
    #[arg(long)]
    pub saltenv: Option<String>,
    /// Serve files through links that leave a root, as `fileserver_followsymlinks: true` in a configuration does
    #[arg(long, hide_short_help = true)]
    pub follow_outside_links: bool,
    /// The folder of a deployed path, as PATH=DIR; repeatable
    ///
    /// PATH is the place of the folder on a master or minion: templates that name files by that path read them here.
    #[arg(long, value_name = "PATH=DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub deployed: Vec<String>,
    /// The project in the current directory, where no flag and no configuration names one.
    #[arg(skip)]
    pub project: Option<Project>,
}

impl FileFlags {
    /// True if the current checkout is an estate with a pillar, and no flag says that something else is meant.
    pub fn is_estate_with_pillar(&self) -> bool {
        let project = self.project.as_ref();
        project.is_some_and(|project| project.estate.is_some() && !project.pillar_roots.is_empty())
    }

    /// True if no part of the pillar is known to lie elsewhere.
    pub fn has_whole_pillar(&self) -> bool {
        let project = self.project.as_ref();
        let estate = project.and_then(|project| project.estate.as_ref());
        estate.is_none_or(|estate| estate.missing_pillars.is_empty() && !estate.has_trial_pillar)
    }

    /// True if the current checkout is an estate about which no file says anything.
    pub fn is_found(&self) -> bool {
        let estate = self
            .project
            .as_ref()
            .and_then(|project| project.estate.as_ref());
        estate.is_some_and(|estate| estate.found.is_some())
    }

    /// True if one of some directories, none of which is a root, contains the roots of the current checkout.
    pub fn has_roots_inside(&self, directories: &[&Path]) -> bool {
        let roots = self.project.iter().flat_map(|project| &project.roots);
        let roots: Vec<PathBuf> = roots
            .filter_map(|(_, root)| root.canonicalize().ok())
            .collect();
        let directories = directories.iter().filter_map(|one| one.canonicalize().ok());
        !roots.is_empty()
            && directories.into_iter().any(|directory| {
                roots
                    .iter()
                    .all(|root| *root != directory && root.starts_with(&directory))
            })
    }

    /// True if the current checkout is an estate.
    pub fn is_estate(&self) -> bool {
        let project = self.project.as_ref();
        project.is_some_and(|project| project.estate.is_some())
    }
}

/// Complete the flags from the project around the current directory, if any.
///
/// # Errors
/// The project cannot be read.
pub fn complete(
    files: &mut FileFlags,
    facts: Option<&mut FactFlags>,
    functions: &mut Functions,
    warn: &dyn WarningSink,
) -> Result<(), InputError> {
    if let Some(facts) = &facts {
        functions.find_mine(facts);
        functions.pillar_override = facts.pillar_override()?;
    }
    functions.deployed = deployed_flags::of_flags(&files.deployed)?;
    if !files.root.is_empty() || files.config.is_some() {
        return Ok(());
    }
    #[cfg_attr(
        not(feature = "git"),
        expect(unused_mut, reason = "nothing is left out")
    )]
    let Some(mut project) = Project::find()? else {
        return Ok(());
    };
    #[cfg(feature = "git")]
    if !project.formulas.is_empty() {
        let mirrors = crate::inputs::configuration::mirrors(files.mirrors.as_deref())?;
        project.leave_out_unfetched(&mirrors)?;
    }
    if functions.stub.is_empty() {
        functions.stub.clone_from(&project.stubs);
    }
    functions.salt_version = functions
        .salt_version
        .or(project.salt_version.map(SaltVersions::from));
    if let Some(facts) = facts.filter(|facts| !facts.name_others()) {
        if facts.id.is_none() || project.minions.is_some() {
            facts.minions.clone_from(&project.minions);
        }
        if facts.minions.is_none() {
            facts.found = project.find_minions().map(Arc::new);
        }
    }
    // A flag wins, as it is asked first.
    for (path, folder) in &project.deployed {
        let more = functions.deployed.clone().folder(path, folder);
        if let Ok(more) = more {
            functions.deployed = more;
        }
    }
    if project.estate.is_some() {
        // Strangers may have written what the checkout says of paths.
        let deployed = functions.deployed.clone().in_place(&project.directory);
        let deployed = deployed.guessing(&project.directory, project.roots_within());
        functions.deployed = deployed.confined();
    }
    functions.absent.clone_from(&project.absent);
    if let Some(estate) = &project.estate {
        estate.found.iter().for_each(|found| warn.note_of(found));
        estate.notes.iter().for_each(|note| warn.note_of(note));
    }
    files.project = Some(project);
    Ok(())
}

/// Whose configuration it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfigKind {
    Master,
    Minion,
    Proxy,
}

impl From<ConfigKind> for Kind {
    fn from(kind: ConfigKind) -> Self {
        match kind {
            ConfigKind::Master => Kind::Master,
            ConfigKind::Minion => Kind::Minion,
            ConfigKind::Proxy => Kind::Proxy,
        }
    }
}

/// The flags for merging layers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Layering")]
pub struct Merging {
    /// Folders with parameter files (repeatable)
    #[arg(long, value_name = "DIR")]
    pub parameter_dirs: Vec<String>,
    /// Merge strategy of layers that name none: smart, recurse, overwrite, aggregate, list, none
    #[arg(long, value_name = "STRATEGY")]
    pub default_merge_strategy: Option<String>,
    /// Append the lists of layers that do not set merge_lists
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub default_merge_lists: Option<String>,
    /// Merge strategy of config.get: recurse, overwrite
    #[arg(long, value_name = "STRATEGY")]
    pub config_get_strategy: Option<String>,
}

impl Layering {
    /// True if layers are not looked for in the formula's own folder alone.
    pub fn is_elsewhere(&self) -> bool {
        !self.sources.is_empty() || !self.merging.parameter_dirs.is_empty()
    }
}

/// The arguments of map.data.
#[derive(Debug, Args)]
#[command(next_help_heading = "Layering")]
pub struct Layering {
    /// Source definitions, later ones win (repeatable)
    #[arg(long, value_name = "SOURCE")]
    pub sources: Vec<String>,
    #[command(flatten)]
    pub merging: Merging,
    /// The template that may change the result; false for none
    #[arg(long, value_name = "PATH")]
    pub post_map: Option<String>,
    /// The engine of the post-map template
    #[arg(long, value_name = "ENGINE")]
    pub post_map_template: Option<String>,
    /// The cache argument of map.data; it only shows in the result
    #[arg(long, value_name = "BOOL")]
    pub cache: Option<String>,
}
