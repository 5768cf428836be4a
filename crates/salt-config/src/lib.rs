//! The configuration files of masters and minions: `/etc/salt/master`, `/etc/salt/minion`, and the files that they
//! include.
//!
//! [`fileserver`] reads the options about files. The crate does not know about layers, templates, the facts
//! of minions or pillars.
//!
#![doc = include_str!("../README.md")]
//!
//! # Known differences
//!
//! - The machine's name is not asked for: a minion without an id has none, a master's is `master`.
//! - Variables of the environment do not count, nothing is written, and no database (`sdb://`) is asked.
//! - Patterns in `file_roots` give directories in the order of their names. Salt takes them as they come.
//! - Options that only daemons heed (worker pools, TLS, algorithms) are taken as they are, unchecked.

mod apply;
pub mod disk;
mod file;
pub mod fileserver;
#[cfg(feature = "git")]
pub mod gitfs;
mod include;
mod kind;
mod layer;
mod names;
mod nodegroups;
mod paths;
mod roots;

use std::fmt;
use std::sync::LazyLock;

use crate::disk::{is_directory, is_file};
use mapstack_loader::LoadError;
use mapstack_value::posixpath::join;
use mapstack_value::{Key, Map, Value};

pub use file::OptionPlace;
pub use kind::{Kind, Surroundings};

use self::apply::Applying;
use self::include::Includer;
use self::layer::OptionLayer;
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Place, Result};

/// The origin of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionOrigin {
    /// Salt's built-in default.
    BuiltIn,
    /// It follows from other options.
    Computed,
    /// Files, `file:line` each; of several, the values were merged.
    Files(Vec<String>),
}

impl fmt::Display for OptionOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionOrigin::BuiltIn => f.write_str("built-in"),
            OptionOrigin::Computed => f.write_str("computed"),
            OptionOrigin::Files(lines) => f.write_str(&lines.join(", ")),
        }
    }
}

/// A master's or minion's configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    kind: Kind,
    path: String,
    options: Map,
    set: OptionLayer,
    files: Vec<String>,
    warnings: Vec<Diagnostic>,
}

impl Config {
    /// Read a configuration file and its includes. If the file is missing, those of its
    /// `default_include` are read all the same.
    ///
    /// # Errors
    /// No file exists, a file cannot be read, the file itself is not YAML or not a mapping,
    /// files include themselves, or an option is of a kind on which Salt ends. An included file
    /// that is not YAML is left out with a [warning](Config::warnings), as Salt leaves it out.
    pub fn read(path: &str, kind: Kind, surroundings: &Surroundings) -> Result<Self> {
        let there = is_there(is_file(path))? || std::fs::symlink_metadata(path).is_ok();
        let main = if there {
            OptionLayer::from(file::read(path)?)
        } else {
            OptionLayer::default()
        };
        let mut reader = Includer::new(surroundings);
        if there {
            reader.files.push(path.into());
        }
        let defaults = names::defaults(kind);
        let mut set = main.clone();
        let mut read = |set: &mut OptionLayer, options: &Map, from: &OptionLayer| -> Result<()> {
            for (option, verbose) in [("default_include", false), ("include", true)] {
                let places = from.settings(&Key::from(option));
                let place = places.last().map(OptionPlace::place);
                if let Some(include) = options.get(option) {
                    set.update(reader.include(include, path, verbose, place.as_ref())?);
                }
            }
            Ok(())
        };
        let mut options = main.options.clone();
        if let (false, Some(include)) = (
            options.contains_key("default_include"),
            names::default(kind, "default_include"),
        ) {
            options.insert("default_include", include.clone());
        }
        read(&mut set, &options, &main)?;
        if there {
            set.options.insert("conf_file", path);
        }
        if kind == Kind::Proxy {
            // The options in force by now name different files for each proxy.
            let options = apply::minion(kind, defaults, &set, surroundings)?.options;
            let from = set.clone();
            read(&mut set, &options, &from)?;
        }
        if reader.files.is_empty() {
            let message = format!("the configuration file {path} does not exist");
            return Err(Error::new(ErrorKind::File, message));
        }
        if !there {
            let message =
                format!("the file {path} does not exist; only its default includes are read");
            let warning = Diagnostic::warning(ErrorKind::File, message);
            reader.warnings.push(warning);
        }
        let applied = apply(kind, &set, surroundings)?;
        let mut config = Config {
            kind,
            path: path.into(),
            options: applied.options,
            warnings: [reader.warnings, applied.warnings].concat(),
            set,
            files: reader.files,
        };
        config.look_for_slips();
        Ok(config)
    }

    /// The configuration of a text, without its includes. `name` is its name in errors.
    ///
    /// ```
    /// use mapstack_salt_config::{Config, Kind};
    /// let config = Config::parse(b"fileserver_backend: [git, roots]\n", "master", Kind::Master).unwrap();
    /// assert_eq!(config.get("fileserver_backend").unwrap().repr(), "['gitfs', 'roots']");
    /// let error = Config::parse(b"cachedir: 5\n", "master", Kind::Master).unwrap_err();
    /// assert_eq!(error.to_string(), "master:1:1: `cachedir` must be text, not an integer");
    /// ```
    ///
    /// # Errors
    /// As [`read`](Config::read).
    pub fn parse(bytes: &[u8], name: &str, kind: Kind) -> Result<Self> {
        let set = OptionLayer::from(file::parse(name, bytes).map_err(Error::from)?);
        let surroundings = Surroundings::default();
        let applied = apply(kind, &set, &surroundings)?;
        let (options, mut warnings) = (applied.options, applied.warnings);
        if set.options.get("include").is_some_and(Value::truthy) {
            let mut warning = Diagnostic::warning(
                ErrorKind::Unsupported,
                format!("{name}: its includes are not read"),
            );
            warning.place = set
                .settings(&Key::from("include"))
                .last()
                .map(OptionPlace::place);
            warnings.push(warning.with_help("put options that matter here into the file itself"));
        }
        let mut config = Config {
            kind,
            path: name.into(),
            options,
            set,
            files: vec![name.into()],
            warnings,
        };
        config.look_for_slips();
        Ok(config)
    }

    /// The configuration with options that replace those of its files, such as the roots of a checkout in place of the
    /// directories of its master.
    ///
    /// ```
    /// use mapstack_salt_config::{Config, Kind, Surroundings};
    /// let config = Config::parse(b"hash_type: md5", "master", Kind::Master).unwrap();
    /// let config = config.overridden(b"hash_type: sha256", "roots", &Surroundings::default()).unwrap();
    /// assert_eq!(config.text("hash_type"), Some("sha256"));
    /// assert_eq!(config.origin("hash_type").to_string(), "roots:1");
    /// ```
    ///
    /// # Errors
    /// The bytes are not YAML or not a mapping, or an option is of a kind on which Salt ends.
    pub fn overridden(
        mut self,
        bytes: &[u8],
        name: &str,
        surroundings: &Surroundings,
    ) -> Result<Self> {
        let over = file::parse(name, bytes).map_err(Error::from)?;
        self.set.update(OptionLayer::from(over));
        self.options = apply(self.kind, &self.set, surroundings)?.options;
        Ok(self)
    }

    /// The options of a Salt that runs, as they are in force: no default is added, and where they were set is not
    /// known.
    ///
    /// ```
    /// use mapstack_salt_config::{Config, Kind};
    /// use mapstack_value::Map;
    /// let config = Config::in_force(Map::from_iter([("id", "master")]), Kind::Master);
    /// assert_eq!((config.text("id"), config.get("pillar_roots")), (Some("master"), None));
    /// ```
    #[must_use]
    pub fn in_force(options: Map, kind: Kind) -> Self {
        Config {
            kind,
            path: String::new(),
            options,
            set: OptionLayer::default(),
            files: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The configuration file of a path: the file itself, or what lies in a directory
    /// such as `/etc/salt`, the master's before the minion's.
    ///
    /// # Errors
    /// A directory that has none, or a file whose name does not say its kind, unless `kind` does.
    pub fn find(path: &str, kind: Option<Kind>) -> Result<(String, Kind)> {
        if !is_there(is_directory(path))? {
            let kind = kind.or_else(|| Kind::of_file(path)).ok_or_else(|| {
                let message = format!(
                    "{path} may be a master's or a minion's configuration: its name does not say"
                );
                Error::new(ErrorKind::Options, message)
            })?;
            return Ok((path.into(), kind));
        }
        let kinds = kind.map_or_else(|| Kind::ALL.to_vec(), |kind| vec![kind]);
        for kind in &kinds {
            if is_there(is_file(&join(path, kind.name())))? {
                return Ok((join(path, kind.name()), *kind));
            }
        }
        for kind in &kinds {
            if is_there(is_directory(&join(path, &format!("{}.d", kind.name()))))? {
                return Ok((join(path, kind.name()), *kind));
            }
        }
        // A link that leads nowhere is refused where it is read.
        for kind in &kinds {
            let file = join(path, kind.name());
            if std::fs::symlink_metadata(&file).is_ok_and(|found| found.is_symlink()) {
                return Ok((file, *kind));
            }
        }
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        let message = format!(
            "the directory {path} has no configuration of Salt's: no file {}",
            names.join(", ")
        );
        Err(Error::new(ErrorKind::File, message))
    }

    /// Whose it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The file, as it was given.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The files that were read, in order.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// All options in force.
    #[must_use]
    pub fn options(&self) -> &Map {
        &self.options
    }

    /// An option in force.
    #[must_use]
    pub fn get(&self, option: &str) -> Option<&Value> {
        self.options.get(option)
    }

    /// An option in force that is text, and not empty.
    #[must_use]
    pub fn text(&self, option: &str) -> Option<&str> {
        self.get(option)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    }

    /// True if a file sets an option.
    #[must_use]
    pub fn is_set(&self, option: &str) -> bool {
        !self.settings(option).is_empty()
    }

    /// The origin of an option.
    #[must_use]
    pub fn origin(&self, option: impl Into<Key>) -> OptionOrigin {
        let option = option.into();
        let settings = self.set.settings(&option);
        if !settings.is_empty() {
            return OptionOrigin::Files(settings.iter().map(OptionPlace::line).collect());
        }
        let default = option
            .as_str()
            .and_then(|name| names::default(self.kind, name));
        if default.is_some() && default == self.options.get(&option) {
            OptionOrigin::BuiltIn
        } else {
            OptionOrigin::Computed
        }
    }

    /// The place that sets an option; the last of several places.
    #[must_use]
    pub fn place(&self, option: &str) -> Option<Place> {
        self.settings(option).last().map(OptionPlace::place)
    }

    /// The warnings that the reference logs, and those about probable slips.
    #[must_use]
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The options of a master that no file says anything about.
    #[must_use]
    pub fn builtin_master() -> &'static Map {
        static OPTIONS: LazyLock<Map> = LazyLock::new(|| {
            Config::parse(b"", "", Kind::Master)
                .map(|config| config.options)
                .unwrap_or_default()
        });
        &OPTIONS
    }

    /// The places where an option is set: one, or several whose values were merged.
    #[must_use]
    pub fn settings(&self, option: &str) -> &[OptionPlace] {
        self.set.settings(&Key::from(option))
    }

    /// Unknown options whose names are similar to options that count.
    fn look_for_slips(&mut self) {
        for name in self.set.options.keys().filter_map(Key::as_str) {
            if let Some(meant) = names::meant(name) {
                let message = format!("Salt has no option `{name}`; did you mean `{meant}`?");
                let mut warning = Diagnostic::warning(ErrorKind::Options, message);
                warning.place = self.place(name);
                self.warnings.push(warning);
            }
        }
        let groups = self.options.get("nodegroups").and_then(Value::as_map);
        let found = nodegroups::faults(self.settings("nodegroups"), groups);
        self.warnings.extend(found);
    }
}

/// The option that a name which Salt does not know was probably meant to be, if that one counts here.
///
/// ```
/// assert_eq!(mapstack_salt_config::similar_option("file_rotos"), Some("file_roots"));
/// assert_eq!(mapstack_salt_config::similar_option("my_own"), None);
/// ```
#[must_use]
pub fn similar_option(name: &str) -> Option<&'static str> {
    names::meant(name)
}

/// The finding about a path; an error where it cannot be looked at.
fn is_there(found: std::result::Result<bool, LoadError>) -> Result<bool> {
    found.map_err(|e| Error::new(ErrorKind::File, format!("cannot read {e}")))
}

fn apply<'a>(
    kind: Kind,
    set: &'a OptionLayer,
    surroundings: &'a Surroundings,
) -> Result<Applying<'a>> {
    match kind {
        Kind::Master => apply::master(names::defaults(kind), set, surroundings),
        Kind::Minion | Kind::Proxy => apply::minion(kind, names::defaults(kind), set, surroundings),
    }
}
