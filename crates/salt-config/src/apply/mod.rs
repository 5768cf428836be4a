//! Salt's treatment of the options that files set: defaults below them, paths, and older spellings.

mod master;
mod minion;
mod roots;

pub(super) use master::master;
pub(super) use minion::minion;

use mapstack_value::posixpath::{join, normpath};
use mapstack_value::{Key, Map, Value};

use super::Surroundings;
use super::layer::OptionLayer;
use super::paths::{below_root, has_drive, is_address, name};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Place, Result};

/// Options on their way into force.
pub(super) struct Applying<'a> {
    pub options: Map,
    set: &'a OptionLayer,
    surroundings: &'a Surroundings,
    pub warnings: Vec<Diagnostic>,
}

impl<'a> Applying<'a> {
    /// The defaults under what files set.
    fn new(
        defaults: &Map,
        set: &'a OptionLayer,
        surroundings: &'a Surroundings,
        role: &str,
        program: &str,
    ) -> Self {
        let mut options = defaults.clone();
        options.extend(
            set.options
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        options.insert("__cli", program);
        if !set.options.contains_key("__role") {
            options.insert("__role", role);
        }
        Applying {
            options,
            set,
            surroundings,
            warnings: Vec::new(),
        }
    }

    fn get(&self, option: &str) -> &Value {
        const NONE: &Value = &Value::None;
        self.options.get(option).unwrap_or(NONE)
    }

    fn insert(&mut self, option: &str, value: impl Into<Value>) {
        self.options.insert(option, value);
    }

    /// True if a file sets an option.
    fn is_set(&self, option: &str) -> bool {
        self.set.options.contains_key(option)
    }

    /// The place that sets an option; the last of several places.
    fn place(&self, option: &str) -> Option<Place> {
        self.set
            .settings(&Key::from(option))
            .last()
            .map(super::file::OptionPlace::place)
    }

    /// The place of an entry in an option's mapping.
    fn place_of_entry(&self, option: &str, key: &Key) -> Option<Place> {
        let settings = self.set.settings(&Key::from(option)).iter().rev();
        let mut entries = settings.filter_map(|one| {
            Some(one.place_of(one.marks.key(one.value.as_map()?.index_of(key)?)?))
        });
        entries.next().or_else(|| self.place(option))
    }

    fn warn(&mut self, option: &str, message: impl Into<String>, help: &str) {
        self.warn_at(self.place(option), message, help);
    }

    fn warn_at(&mut self, place: Option<Place>, message: impl Into<String>, help: &str) {
        let mut warning = Diagnostic::warning(ErrorKind::Options, message);
        warning.place = place;
        self.warnings.push(warning.with_help(help));
    }

    /// An error about an option on which the reference ends.
    fn wrong(&self, option: &str, expected: &str) -> Error {
        let message = format!(
            "`{option}` must be {expected}, not {}",
            self.get(option).kind().described()
        );
        Error::new(ErrorKind::Options, message).at(self.place(option))
    }

    fn text(&self, option: &str) -> Result<&str> {
        self.get(option)
            .as_str()
            .ok_or_else(|| self.wrong(option, "text"))
    }

    /// `log_dir` comes before a relative `log_file`, or in place of the built-in directory.
    fn log_file(&mut self, default: &Map) -> Result<()> {
        if !self.is_set("log_dir") || !self.get("log_dir").truthy() {
            return Ok(());
        }
        let set = self.is_set("log_file") && self.get("log_file").truthy();
        let file = if set {
            self.text("log_file")?
        } else {
            default
                .get("log_file")
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let directory = self.text("log_dir")?;
        let file = join(directory, if set { file } else { name(file) });
        self.insert("log_file", file);
        Ok(())
    }

    /// `environment` is what `saltenv` was called.
    fn environment(&mut self) {
        let Some(older) = self.options.get("environment").cloned() else {
            return;
        };
        match self.get("saltenv").clone() {
            Value::None => {
                self.warn(
                    "environment",
                    "`environment` is now called `saltenv`",
                    "rename it",
                );
                self.insert("saltenv", older);
            }
            saltenv => {
                self.warn(
                    "environment",
                    "`environment` does not count beside `saltenv`",
                    "remove it",
                );
                self.insert("environment", saltenv);
            }
        }
    }

    /// `git` is short for `gitfs`, and so on.
    fn fileserver_backend(&mut self) -> Result<()> {
        let long = |backend: &Value| match backend.as_str() {
            Some(short @ ("git" | "hg" | "svn" | "minion")) => format!("{short}fs").into(),
            _ => backend.clone(),
        };
        match self.get("fileserver_backend") {
            Value::List(backends) => {
                let backends: Value = backends.iter().map(long).collect();
                self.insert("fileserver_backend", backends);
                Ok(())
            }
            // Python goes over its characters.
            Value::Str(text) if !text.is_empty() => {
                let message = format!(
                    "`fileserver_backend` must be a list, not text; '{text}' names no backend"
                );
                self.warn(
                    "fileserver_backend",
                    message,
                    "write each backend as an item of a list: `- roots`",
                );
                Ok(())
            }
            Value::Str(_) | Value::Map(_) | Value::Set(_) | Value::Tuple(_) => Ok(()),
            _ => Err(self.wrong("fileserver_backend", "a list")),
        }
    }

    /// Sockets whose paths would be too long go to the cache.
    fn sock_dir(&mut self) -> Result<()> {
        let (sockets, cache) = (self.text("sock_dir")?, self.text("cachedir")?);
        if sockets.chars().count() > cache.chars().count() + 10 {
            let sockets = join(cache, ".salt-unix");
            self.insert("sock_dir", sockets);
        }
        Ok(())
    }

    fn extension_modules(&mut self) -> Result<()> {
        if !self.get("extension_modules").truthy() {
            let extension_modules = join(self.text("cachedir")?, "extmods");
            self.insert("extension_modules", extension_modules);
        }
        if !self.get("utils_dirs").truthy() {
            let utils = join(self.text("extension_modules")?, "utils");
            self.insert("utils_dirs", Value::from_iter([utils]));
        }
        Ok(())
    }

    fn ipc_write_buffer(&mut self) {
        if !self.is_set("ipc_write_buffer") {
            self.insert("ipc_write_buffer", 0);
        }
    }

    /// The id with the domain that it is to have.
    fn append_domain(&mut self) -> Result<()> {
        if self.options.contains_key("append_domain") && self.options.contains_key("id") {
            let (id, domain) = (self.text("id")?, self.text("append_domain")?);
            if !id.ends_with(domain) && !id.ends_with('.') {
                let id = format!("{id}.{domain}");
                self.insert("id", id);
            }
        }
        Ok(())
    }

    /// Put paths below `root_dir`; of `maybe`, those that are paths.
    fn prepend_root_dir(&mut self, paths: &[&str], maybe: &[&str]) -> Result<()> {
        let root = self.text("root_dir")?;
        let root = if has_drive(root) {
            root.into()
        } else {
            normpath(&join(&self.surroundings.directory, root))
        };
        let mut paths = paths.to_vec();
        for option in maybe {
            if !self.get(option).is_none() && !is_address(self.text(option)?) {
                paths.push(option);
            }
        }
        for option in paths {
            if self.options.contains_key(option) {
                let path = below_root(&root, self.text(option)?);
                self.insert(option, path);
            }
        }
        Ok(())
    }

    /// Only true is true.
    fn exactly_true(&mut self, option: &str) {
        let on = matches!(self.get(option), Value::Bool(true));
        self.insert(option, on);
    }

    fn hash_type(&mut self) -> Result<()> {
        let lower = self.text("hash_type")?.to_lowercase();
        self.insert("hash_type", lower);
        Ok(())
    }

    fn ssl(&mut self) {
        match self.get("ssl") {
            Value::Bool(false) => self.insert("ssl", Value::None),
            Value::Bool(true) => self.insert("ssl", Value::map()),
            _ => {}
        }
    }

    fn discovery(&mut self, defaults: &[(&str, Value)]) {
        let given = match self.get("discovery") {
            Value::Bool(true) => Map::new(),
            Value::Map(given) => given.clone(),
            _ => return,
        };
        let mut discovery: Map = defaults
            .iter()
            .map(|(key, value)| (*key, value.clone()))
            .collect();
        discovery.extend(
            given
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        self.insert("discovery", discovery);
    }

    /// A list for `return` is text with commas.
    fn returners(&mut self) {
        if let Value::List(names) = self.get("return") {
            let joined = names
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(",");
            self.insert("return", joined);
        }
    }
}
