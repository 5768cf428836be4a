//! Look-ups of facts and files, for matchers and templates.

use mapstack_loader::{Fetched, SaltPath};
use mapstack_minion::{ConfigGet, LookupAnswer, PillarGet};
use mapstack_pyobject::{Error as RenderError, Obj};
use mapstack_value::{Key, Path, Value};

use crate::file::File;
use crate::file::unreadable;
use crate::files::shown;
use crate::master_side::MasterSide;
use crate::run::Run;
use crate::trace::FileReadKind;
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};

impl Run<'_> {
    pub(crate) fn grains_get(&self, query: &str, delimiter: &str) -> Result<Option<Value>> {
        Ok(self.facts.grains_get(query, delimiter)?)
    }

    /// A pillar value for a matcher. A missing value is `None`, even if the options make it an error for templates.
    pub(crate) fn pillar_find(&self, query: &str, delimiter: &str) -> Result<Option<Value>> {
        let path = Path::split(query, delimiter)
            .map_err(|e| Error::new(ErrorKind::Lookup, e.to_string()))?;
        Ok(self.facts.pillar_find(query, delimiter, &path))
    }

    pub(crate) fn pillar_get(&self, key: &Value, query: &PillarGet) -> Result<Value> {
        let answer = self.facts.pillar_get(key, query)?;
        Ok(self.heard(answer))
    }

    pub(crate) fn config_get(&self, key: &Value, query: &ConfigGet) -> Result<Option<Value>> {
        let answer = self.facts.config_get(key, query)?;
        Ok(self.heard(answer))
    }

    /// Pass on the warning of an answer, and return its value.
    fn heard<T>(&self, answer: LookupAnswer<T>) -> T {
        if let Some(warning) = answer.warning {
            self.warn(Diagnostic::warning(ErrorKind::Lookup, warning.to_string()));
        }
        answer.value
    }

    /// An option of the minion; `None` if it does not exist.
    pub(crate) fn option(&self, name: &str) -> Value {
        self.facts.option(name).unwrap_or_default()
    }

    /// Follow a key through live data. The result is the same object, not a copy.
    pub(crate) fn traverse_live(
        &self,
        data: &Obj,
        key: &Value,
        delimiter: &str,
    ) -> mapstack_pyobject::Result<Option<Obj>> {
        let path = match key {
            Value::Str(text) => {
                Path::split(text, delimiter).map_err(|e| RenderError::value_error(e.to_string()))?
            }
            Value::List(items) => path_of(items)?,
            Value::Tuple(items) => path_of(items)?,
            Value::Int(_) | Value::Bool(_) => path_of(std::slice::from_ref(key))?,
            other => {
                let what = other.kind().described();
                return Err(RenderError::type_error(format!(
                    "a key to look up must be text, not {what}"
                )));
            }
        };
        Ok(mapstack_yaml::traverse(data, &path))
    }

    /// Fetch a file for a template. It is not part of the record of layers.
    pub(crate) fn fetch_template(&self, path: &str) -> Result<Option<File>> {
        self.fetch_from(&SaltPath::from_relative(path), &self.saltenv)
    }

    /// Fetch a file from a saltenv, unless the path names another one. The file is not part of the record of layers.
    pub(crate) fn fetch_from(&self, asked: &SaltPath, saltenv: &str) -> Result<Option<File>> {
        let fetched = self.engine.served(asked, saltenv);
        self.note_fetched(saltenv, asked, &fetched);
        self.file_of(asked, unreadable(asked, fetched)?, "is not served")
    }

    /// Fetch a file of the pillar.
    pub(crate) fn fetch_on_master(
        &self,
        master: &MasterSide,
        asked: &SaltPath,
        saltenv: &str,
    ) -> Result<Option<File>> {
        let fetched = unreadable(asked, master.pillar_files.fetch(asked, saltenv))?;
        self.file_of(asked, fetched, "of the pillar is not read")
    }

    /// The file that was fetched, if there is one. A file that is kept back is worth a warning.
    fn file_of(&self, asked: &SaltPath, fetched: Fetched, kept_back: &str) -> Result<Option<File>> {
        let path = asked.to_string();
        match fetched {
            Fetched::Found { on_disk, bytes } => {
                self.note_on_disk(&path, on_disk.clone());
                Ok(Some(File {
                    path,
                    shown: shown(&on_disk),
                    bytes,
                }))
            }
            Fetched::Missing => Ok(None),
            Fetched::Refused { reason } | Fetched::Unusable { reason } => {
                let message = format!("salt://{path} {kept_back}: {reason}");
                self.warn(Diagnostic::warning(ErrorKind::File, message));
                Ok(None)
            }
        }
    }

    /// The files of a saltenv below a directory.
    pub(crate) fn list_files(&self, saltenv: &str, directory: &str) -> Result<Vec<String>> {
        self.note_read(saltenv, directory, FileReadKind::List);
        self.engine.list(saltenv, directory)
    }
}

fn path_of(items: &[Value]) -> mapstack_pyobject::Result<Path> {
    items
        .iter()
        .map(|i| Key::try_from(i).map_err(|e| RenderError::type_error(e.to_string())))
        .collect()
}
