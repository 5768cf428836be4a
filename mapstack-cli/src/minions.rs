//! The minions of a directory, which has a document for each of them or is a master's cache.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mapstack::minion::Minion;
use mapstack::minion::cache::Cache;
use mapstack::{Error, ErrorKind, nearest};

use crate::inputs::{read, shown};
use crate::report::Failure;

/// What minions' documents end in, in order of preference.
const DOCUMENTS: [&str; 3] = ["yaml", "yml", "json"];

/// Where minions lie.
pub struct Minions<'d> {
    directory: &'d Path,
    /// The pillar environment that a master's cache is read for.
    pillarenv: Option<String>,
}

impl<'d> Minions<'d> {
    pub fn new(directory: &'d Path, pillarenv: Option<&str>) -> Self {
        Minions { directory, pillarenv: pillarenv.map(Into::into) }
    }

    /// The minion of an id.
    pub fn one(&self, id: &str) -> Result<Minion, Failure> {
        if id.is_empty() || id.starts_with('.') || id.contains(['/', '\\', '\0']) {
            return Err(Failure::Usage(format!("--id {id}: no minion has such a name")));
        }
        let names = DOCUMENTS.map(|end| format!("{id}.{end}"));
        let document = names.iter().map(|name| self.directory.join(name)).find(|file| file.is_file());
        if let Some(file) = document {
            return parsed(id, &file);
        }
        let directory = self.directory.display();
        match self.cache()? {
            Some(cache) => {
                let found = cache.minion(id).map_err(Error::from)?;
                found.ok_or_else(|| {
                    missing(id, &format!("the cache {directory} has none"), &cache.ids().unwrap_or_default())
                })
            }
            None => {
                let ids: Vec<String> = self.documents()?.into_iter().map(|(id, _)| id).collect();
                let no_cache = if ids.is_empty() { ", and is no master's cache" } else { "" };
                Err(missing(id, &format!("{directory} has none of {}{no_cache}", names.join(", ")), &ids))
            }
        }
    }

    /// All of them, by their ids.
    pub fn all(&self) -> Result<Vec<Minion>, Failure> {
        let documents = self.documents()?;
        if !documents.is_empty() {
            return documents.iter().map(|(id, file)| parsed(id, file)).collect();
        }
        let Some(cache) = self.cache()? else {
            let message = format!(
                "{} has no document of a minion, ID.yaml or ID.json, and is no master's cache, \
                 with grains/ID.p or minions/ID/data.p",
                self.directory.display()
            );
            return Err(facts_error(message));
        };
        let (mut minions, mut broken) = (Vec::new(), Vec::new());
        for (_, minion) in cache.minions().map_err(Error::from)? {
            match minion {
                Ok(minion) => minions.push(minion),
                Err(e) => broken.push(e),
            }
        }
        let (count, of) = (broken.len(), minions.len() + broken.len());
        match broken.pop() {
            None => Ok(minions),
            Some(only) if broken.is_empty() => Err(Failure::Data(only.into())),
            Some(last) => {
                let directory = self.directory.display();
                let message = format!("{count} of {of} minions in the cache {directory} cannot be read");
                let error = Error::new(ErrorKind::Facts, message);
                Err(Failure::Data(broken.iter().chain([&last]).fold(error, |error, one| error.note(one.to_string()))))
            }
        }
    }

    fn cache(&self) -> Result<Option<Cache>, Failure> {
        let cache = Cache::open(self.directory).map_err(Error::from)?;
        let cache = cache.map(|cache| cache.at(SystemTime::now()));
        Ok(self.pillarenv.iter().fold(cache, |cache, name| cache.map(|cache| cache.with_pillarenv(name))))
    }

    /// All documents by the minions they are named after.
    fn documents(&self) -> Result<Vec<(String, PathBuf)>, Failure> {
        let directory = self.directory;
        let failed = |e: std::io::Error| {
            Failure::Data(Error::new(ErrorKind::File, format!("cannot list {}: {e}", directory.display())))
        };
        let mut found: Vec<(String, PathBuf)> = Vec::new();
        for entry in std::fs::read_dir(directory).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            let (stem, end) = (file.file_stem().and_then(OsStr::to_str), file.extension().and_then(OsStr::to_str));
            if let (Some(stem), Some(end)) = (stem, end)
                && DOCUMENTS.contains(&end)
                && !stem.starts_with('.')
            {
                found.push((stem.to_string(), file));
            }
        }
        found.sort();
        if let Some(pair) = found.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let message = format!("{} and {} are for the same minion", pair[0].1.display(), pair[1].1.display());
            return Err(facts_error(message));
        }
        Ok(found)
    }
}

/// The minion of a document that is named after it.
fn parsed(id: &str, file: &Path) -> Result<Minion, Failure> {
    let mut minion = Minion::parse(&read(file)?, &shown(file)).map_err(Error::from)?;
    match minion.id.as_str() {
        Some(own) if own != id => {
            Err(facts_error(format!("{} is named after '{id}' and has the id '{own}'", file.display())))
        }
        _ => {
            minion.set_id(id);
            Ok(minion)
        }
    }
}

fn missing(id: &str, why: &str, ids: &[String]) -> Failure {
    let near = nearest(id, ids).map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
    facts_error(format!("no facts of '{id}': {why}{near}"))
}

fn facts_error(message: String) -> Failure {
    Failure::Data(Error::new(ErrorKind::Facts, message))
}
