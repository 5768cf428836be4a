//! One minion, and an engine for it.

use std::path::Path;

use mapstack::loader::{NotServed, Roots};
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{
    Configuration, ConfigurationMethod, DataOptions, Diagnostic, Engine, Error, ErrorKind, Run,
};
use mapstack_fleet::read_back;
use mapstack_pillar::WholePillar;
use mapstack_salt_config::Config;

use crate::inputs::configuration;
use crate::inputs::flags::{Input, ResultFlags};
use crate::inputs::formulas;
use crate::inputs::functions::{self, MemoryOf};
use crate::inputs::minions::minion;
use crate::inputs::pillars::{Configured, ConfiguredPillars};
use crate::inputs::served::{Served, below};
use crate::inputs::{InputError, WarningSink, deployed};

/// Everything a verb that looks at one minion needs.
pub struct Session {
    /// The engine.
    pub engine: Engine,
    /// The minion.
    pub minion: Minion,
    roots: Roots,
    saltenv: Option<String>,
    pillars: Option<ConfiguredPillars>,
    /// The configuration of flags or of the checkout.
    pub(super) config: Option<Config>,
}

impl Session {
    /// The minion and the files of flags. `memory` makes a limit of so many bytes, where they can be counted.
    ///
    /// # Errors
    /// Flags name no minion or no files, or some that cannot be read.
    pub fn new(
        input: &Input,
        warn: &dyn WarningSink,
        memory: MemoryOf,
    ) -> Result<Self, InputError> {
        let config = configuration::read(&input.files, input.facts.id.as_deref(), None, warn)?;
        let flags = input.engine_flags();
        let pillars = ConfiguredPillars::of(config.as_ref(), flags, memory, warn)?;
        let minion = minion(
            input,
            Configured::new(config.as_ref(), pillars.as_ref()),
            warn,
        )?;
        warn.knows(&minion);
        match &pillars {
            Some(pillars) => warn.warn_of(&pillars.take_warnings())?,
            None => {
                let missing = config
                    .as_ref()
                    .and_then(|config| configuration::missing_pillar(config, &minion));
                warn.warn_of(missing.as_slice())?;
            }
        }
        let Served { files, roots } =
            Served::new(&input.files, config.as_ref(), Some(&minion), warn)?;
        let saltenv = input.files.saltenv.clone();
        let engine = functions::engine(files, &input.functions, memory)?;
        let engine = deployed::with_roots(engine, &input.files, config.as_ref());
        let minion = engine.with_tree_grains(&minion).into_owned();
        warn.knows(&minion);
        Ok(Session {
            engine,
            minion,
            roots,
            saltenv,
            pillars,
            config,
        })
    }

    /// The minion's pillar with how it was made, if a configuration compiled it.
    ///
    /// # Errors
    /// As for the pillar itself.
    pub fn explained_pillar(&self) -> Result<Option<WholePillar>, InputError> {
        let Some(pillars) = &self.pillars else {
            return Ok(None);
        };
        let mut minion = self.minion.clone();
        minion.pillar = Default::default();
        let pillar = pillars.explain(&minion)?;
        // The minion may be given with another.
        Ok(Some(pillar).filter(|pillar| pillar.data == self.minion.pillar))
    }

    /// The formula that is given, or else the only one there is.
    ///
    /// # Errors
    /// None is given, and there is not just one.
    pub fn formula(&self, given: Option<&String>) -> Result<String, InputError> {
        let run = self.run();
        formulas::one(&self.engine, run.saltenv(), given)
    }

    /// The same, where a name that no root has is an error, unless layers are looked for `elsewhere` than in its folder or
    /// the minion's own configuration has something for it.
    ///
    /// # Errors
    /// As for [`formula`](Self::formula), or no root has the one that is given.
    pub fn existing_formula(
        &self,
        given: Option<&String>,
        elsewhere: bool,
    ) -> Result<String, InputError> {
        let formula = self.formula(given)?;
        let Minion {
            opts,
            grains,
            pillar,
            ..
        } = &self.minion;
        let is_configured = [opts, grains, pillar]
            .iter()
            .any(|facts| facts.contains_key(&*formula));
        if !elsewhere && !is_configured {
            formulas::check(&self.engine, self.run().saltenv(), &formula)?;
        }
        Ok(formula)
    }

    /// The configuration of a formula. One that has no files is looked up by its layers alone, which can lie elsewhere.
    ///
    /// # Errors
    /// The formula's files cannot be listed or read.
    pub fn configuration(
        &self,
        formula: &str,
        options: DataOptions,
        result: &ResultFlags,
    ) -> Result<Configuration, InputError> {
        let run = self.run();
        let found = Configuration::of(&self.engine, formula, run.saltenv(), options.clone())?;
        let found = match result.way() {
            Some(way) => found.made(&self.engine, way)?,
            None if !found.is_there() => Configuration::by_layers(formula, run.saltenv(), options),
            None => found,
        };
        Ok(found.with_variable(result.var.as_deref()))
    }

    /// Warn about files in the folder of a formula that are not served, since no result uses them.
    ///
    /// # Errors
    /// Warnings are errors, or the folder cannot be listed.
    pub fn warn_of_unserved(
        &self,
        formula: &str,
        warn: &dyn WarningSink,
    ) -> Result<(), InputError> {
        let run = self.run();
        let files = self.engine.files();
        let found = files.unserved(run.saltenv(), formula);
        let mut found = found.map_err(|e| Error::new(ErrorKind::File, e.to_string()))?;
        // A request for one of these is a separate warning.
        found.retain(|one| one.why != NotServed::OutsideLink);
        let warnings = mapstack_report::words::unserved(&found)
            .into_iter()
            .map(|line| Diagnostic::warning(ErrorKind::File, format!("not looked at: {line}")));
        Ok(warn.warn_of(&warnings.collect::<Vec<_>>())?)
    }

    /// Say so if the layers of a formula, which come to `data` in a run, are not what its states use: its `map.jinja`
    /// exports something else.
    pub fn note_other_map(
        &self,
        formula: &str,
        data: &Value,
        run: &Run<'_>,
        warn: &dyn WarningSink,
    ) {
        if let Some(note) = self.other_map(formula, data, run) {
            warn.note_of(&note);
        }
    }

    fn other_map(&self, formula: &str, data: &Value, run: &Run<'_>) -> Option<String> {
        // A run that looks at the machine is not repeated.
        if run.has_outside_inputs() {
            return None;
        }
        let options = DataOptions::default();
        let configuration =
            Configuration::of(&self.engine, formula, run.saltenv(), options).ok()?;
        if configuration.way() == ConfigurationMethod::Data || !configuration.has_layers() {
            return None;
        }
        let says = match configuration.compute(&self.run()) {
            // Most are the same as they are, which is quicker to see.
            Ok(map) if map.is_same(data) || bare(&map).is_same(&bare(data)) => return None,
            Ok(_) => "exports something else than its layers come to",
            Err(_) => "fails",
        };
        Some(format!(
            "these are the layers of {formula}; its states use its map.jinja, which {says}: see `mapstack map {formula}`"
        ))
    }

    /// The directories that serve a saltenv; the minion's, if none is named.
    pub fn directories(&self, saltenv: Option<&str>) -> Vec<String> {
        let configured = || {
            self.minion
                .opts
                .get("saltenv")
                .and_then(Value::as_str)
                .filter(|env| !env.is_empty())
        };
        let saltenv = saltenv
            .or(self.saltenv.as_deref())
            .or_else(configured)
            .unwrap_or("base");
        self.roots
            .directories(saltenv)
            .iter()
            .map(|root| root.display().to_string())
            .collect()
    }

    /// The path from the file server's root of a file that is given by its path on disk.
    pub fn served_path(&self, file: &Path) -> String {
        let given = file.display().to_string().replace('\\', "/");
        let given = given.strip_prefix("salt://").unwrap_or(&given);
        below(&self.directories(None), given).unwrap_or_else(|| given.to_owned())
    }

    /// The first root that has a file on disk, and its path below it, for a path that no root serves as it is.
    pub fn in_root(&self, path: &str) -> Option<(String, String)> {
        let directories = self.directories(None);
        let is_served = |root: &String| Path::new(root).join(path).exists();
        if path.contains("://") || directories.iter().any(is_served) || !Path::new(path).is_file() {
            return None;
        }
        directories.into_iter().find_map(|root| {
            let inside = below(std::slice::from_ref(&root), path)?;
            Some((root, inside))
        })
    }

    /// A run for the minion.
    pub fn run(&self) -> Run<'_> {
        let run = self.engine.run(&self.minion).following_secrets();
        match &self.saltenv {
            Some(saltenv) => run.with_saltenv(saltenv.as_str()),
            None => run,
        }
    }
}

/// A configuration as it is read back, without the arguments that it was made with.
fn bare(data: &Value) -> Value {
    match read_back(data) {
        Value::Map(mut map) => {
            map.shift_remove("map_jinja");
            Value::Map(map)
        }
        other => other,
    }
}
