//! The files of a master, as the file client of a live minion fetches them.

use std::io;
use std::path::PathBuf;

use mapstack::loader::{Fetched, FileServer, LoadError, SaltPath};
use pyo3::prelude::*;

use crate::frame::{ask, keep};

/// Asks the current caller: which files there are, and for the path on disk of one of them.
pub(crate) struct ClientFiles;

/// The caller's answer, or its exception as an error of the file server.
fn answered<T>(
    what: &str,
    question: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
) -> Result<Option<T>, LoadError> {
    let asked = ask(|caller| question(caller).map_err(|raised| keep(caller.py(), raised)));
    asked.transpose().map_err(|message| LoadError::Io {
        path: PathBuf::from(what),
        source: io::Error::other(message),
    })
}

impl FileServer for ClientFiles {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        if let Some(reason) = path.refusal() {
            return Ok(Fetched::Refused { reason });
        }
        let saltenv = path.saltenv().unwrap_or(saltenv);
        let on_disk = answered(path.as_str(), |caller| {
            caller
                .call_method1("cache_file", (path.as_str(), saltenv))?
                .extract::<Option<PathBuf>>()
        })?;
        let Some(on_disk) = on_disk.flatten() else {
            return Ok(Fetched::Missing);
        };
        match std::fs::read(&on_disk) {
            Ok(bytes) => Ok(Fetched::Found {
                on_disk,
                bytes: bytes.into(),
            }),
            Err(source) => Err(LoadError::Io {
                path: on_disk,
                source,
            }),
        }
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        Ok(match self.fetch(path, saltenv)? {
            Fetched::Found { on_disk, .. } => vec![on_disk],
            _ => Vec::new(),
        })
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        let listed = answered(prefix, |caller| {
            caller
                .call_method1("list_files", (saltenv,))?
                .extract::<Vec<String>>()
        })?;
        let mut files = listed.unwrap_or_default();
        files.retain(|path| path.starts_with(prefix));
        files.sort();
        files.dedup();
        Ok(files)
    }

    fn envs(&self) -> Vec<String> {
        let listed = answered("envs", |caller| {
            caller.call_method0("envs")?.extract::<Vec<String>>()
        });
        listed.ok().flatten().unwrap_or_default()
    }
}
