//! A file server for tests that intercepts the requests for files of another one.
//!
//! The tests of other crates include this file by its path. They name the crate `loader` at their root.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::loader::{Fetched, FileServer, LoadError, SaltPath};

/// A file server whose requests for files go through a closure.
///
/// The closure can count requests, and can replace the result of the server by its own.
pub struct Intercepted<F, I> {
    files: F,
    intercept: I,
    lists_names: bool,
    listed: Option<Arc<Mutex<Vec<String>>>>,
}

impl<F, I> Intercepted<F, I>
where
    F: FileServer,
    I: Fn(&SaltPath) -> Option<Result<Fetched, LoadError>> + Send + Sync,
{
    /// A file server over `files`. If `intercept` returns a result, `files` does not get the request.
    pub fn new(files: F, intercept: I) -> Self {
        Intercepted {
            files,
            intercept,
            lists_names: true,
            listed: None,
        }
    }

    /// Note the prefixes whose files are listed.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub fn noting_lists(self, listed: &Arc<Mutex<Vec<String>>>) -> Self {
        Intercepted {
            listed: Some(listed.clone()),
            ..self
        }
    }

    /// Do not list the names in directories, like a file server that is not sure of them.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub fn without_names(self) -> Self {
        Intercepted {
            lists_names: false,
            ..self
        }
    }
}

impl<F, I> FileServer for Intercepted<F, I>
where
    F: FileServer,
    I: Fn(&SaltPath) -> Option<Result<Fetched, LoadError>> + Send + Sync,
{
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        (self.intercept)(path).unwrap_or_else(|| self.files.fetch(path, saltenv))
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        self.files.find_all(path, saltenv)
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        if let Some(listed) = &self.listed {
            listed.lock().unwrap().push(prefix.to_owned());
        }
        self.files.list(saltenv, prefix)
    }

    fn envs(&self) -> Vec<String> {
        self.files.envs()
    }

    fn names_in(&self, directory: &SaltPath, saltenv: &str) -> Option<Vec<String>> {
        self.files
            .names_in(directory, saltenv)
            .filter(|_| self.lists_names)
    }
}
