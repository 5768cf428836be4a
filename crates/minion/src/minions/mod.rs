//! Many minions: in a directory with a file for each, in one text, or in a master's cache.
//!
//! | given | is |
//! |---|---|
//! | a directory with `ID.yaml`, `ID.yml` or `ID.json` | a minion for each file, in any form of a [text] |
//! | another directory | a [master's cache](crate::cache) |
//! | a file, or standard input | the minions of one [text] |
//!
//! Minions come sorted by their ids. One that is broken is an error in its place and keeps no other
//! from being read. A minion that did not answer its master is different from that: it is [`SilentMinion`].

mod directory;
mod shape;
pub mod text;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use crate::Minion;
use crate::cache::Cache;
use crate::error::{DocumentPlace, ReadError, ReadErrorKind};
use crate::read::{at_file, read_file};

use directory::Directory;
use text::MinionsText;

/// A source of many minions.
///
/// ```
/// use mapstack_minion::minions::Minions;
/// let text = r#"{"web1": {"os": "Debian"}} {"db1": "Minion did not return. [No response]"}"#;
/// let minions = Minions::from_text(text.as_bytes(), "grains.json").unwrap();
/// assert_eq!(minions.ids().unwrap(), ["web1"]);
/// assert_eq!(minions.minion("web1").unwrap().unwrap().grains.get("os").unwrap().as_str(), Some("Debian"));
/// assert_eq!(minions.silent()[0].to_string(), "grains.json:1:29: db1: Minion did not return. [No response]");
/// ```
#[derive(Debug)]
pub struct Minions(Form);

#[derive(Debug)]
enum Form {
    Directory(Directory),
    Cache(Cache),
    Text(MinionsText),
    Listed(BTreeMap<String, Minion>),
}

/// The options for reading a master's cache.
#[derive(Debug, Clone, Default)]
pub struct CacheOptions {
    /// The time by which entries have expired; see [`Cache::at`].
    pub now: Option<SystemTime>,
    /// The pillar environment that is meant; see [`Cache::with_pillarenv`].
    pub pillarenv: Option<String>,
}

/// A minion that did not answer when its master asked for its grains.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {id}: {said}")]
pub struct SilentMinion {
    /// The minion.
    pub id: String,
    /// The place of the id.
    pub place: DocumentPlace,
    /// The text in place of its grains.
    pub said: String,
}

impl Minions {
    /// The minions of a path: of a directory in either form, or of a file. A directory with a file
    /// for a minion is read as such, whatever else is in it.
    ///
    /// # Errors
    /// [`ReadError`]: nothing can be read there, a directory has no minion in either form, two of
    /// its files are for the same one, or the errors of [`from_text`](Minions::from_text).
    pub fn open(path: impl AsRef<Path>, options: &CacheOptions) -> Result<Self, ReadError> {
        let path = path.as_ref();
        if !path.is_dir() {
            return Minions::from_text(&read_file(path)?, &path.display().to_string());
        }
        let directory = Directory::list(path)?;
        if !directory.is_empty() {
            return Ok(Minions(Form::Directory(directory)));
        }
        let Some(mut cache) = Cache::open(path)? else {
            return Err(at_file(
                &path.display().to_string(),
                ReadErrorKind::NoMinions,
            ));
        };
        if let Some(now) = options.now {
            cache = cache.at(now);
        }
        if let Some(pillarenv) = &options.pillarenv {
            cache = cache.with_pillarenv(pillarenv);
        }
        Ok(Minions(Form::Cache(cache)))
    }

    /// The minions of a text in any [form](text). `name` is what errors call it.
    ///
    /// # Errors
    /// As [`MinionsText::parse`].
    pub fn from_text(bytes: &[u8], name: &str) -> Result<Self, ReadError> {
        MinionsText::parse(bytes, name).map(|text| Minions(Form::Text(text)))
    }

    /// Minions that are known already; of those with the same id, the last counts.
    #[must_use]
    pub fn of(minions: impl IntoIterator<Item = Minion>) -> Self {
        let listed = minions
            .into_iter()
            .map(|minion| (minion.id().to_string(), minion));
        Minions(Form::Listed(listed.collect()))
    }

    /// The ids of all minions, sorted; without those that did not answer.
    ///
    /// # Errors
    /// [`ReadError`]: a directory cannot be listed.
    pub fn ids(&self) -> Result<Vec<String>, ReadError> {
        match &self.0 {
            Form::Directory(directory) => Ok(directory.ids().map(str::to_owned).collect()),
            Form::Cache(cache) => cache.ids(),
            Form::Text(text) => Ok(text.ids().map(str::to_owned).collect()),
            Form::Listed(listed) => Ok(listed.keys().cloned().collect()),
        }
    }

    /// The minion of an id; `None` if the id is unknown.
    ///
    /// # Errors
    /// [`ReadError`]: its document is broken.
    pub fn minion(&self, id: &str) -> Result<Option<Minion>, ReadError> {
        match &self.0 {
            Form::Directory(directory) => directory.minion(id),
            Form::Cache(cache) => cache.minion(id),
            Form::Text(text) => text.minion(id),
            Form::Listed(listed) => Ok(listed.get(id).cloned()),
        }
    }

    /// The minions that did not answer, sorted by their ids.
    #[must_use]
    pub fn silent(&self) -> &[SilentMinion] {
        match &self.0 {
            Form::Text(text) => text.silent(),
            Form::Directory(_) | Form::Cache(_) | Form::Listed(_) => &[],
        }
    }

    /// True if this is a master's cache.
    #[must_use]
    pub fn is_cache(&self) -> bool {
        matches!(self.0, Form::Cache(_))
    }
}
