//! The minions that a Salt master has in its cache.
//!
//! A master keeps the grains and the pillar of each minion below its `cachedir`, by default
//! `/var/cache/salt/master`, in files of the driver `localfs`:
//!
//! | Salt | files | hold |
//! |---|---|---|
//! | 3008 | `grains/ID.p` | the grains |
//! | | `pillar/ID.p`, or `pillar/ID:ENV.p` with the option `pillarenv` | the pillar |
//! | 3006, 3007 | `minions/ID/data.p` | `grains` and `pillar` |
//!
//! After an upgrade both may be there; the older files are then no longer written, so a minion that
//! is in both is read from the newer ones. What is in the cache was written by minions as much as by
//! the master, so nothing in it is trusted: each file is bounded in size, depth and number of
//! values, and one that is broken is an error of its minion alone.

mod unpack;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use mapstack_value::{Map, Value};

pub use unpack::{UnpackError, UnpackErrorKind, unpack};

use crate::error::{DocumentPlace, ReadError, ReadErrorKind};
use crate::{MAX_BYTES, Minion, Part};

/// A master's cache of minions.
///
/// ```no_run
/// use mapstack_minion::cache::Cache;
/// let cache = Cache::open("/var/cache/salt/master").unwrap().expect("a master's cache");
/// for (id, minion) in cache.minions().unwrap() {
///     match minion {
///         Ok(minion) => println!("{id} runs {:?}", minion.grains.get("os")),
///         Err(error) => eprintln!("{error}"),
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Cache {
    /// The master's `cachedir`, or the directory of older entries alone.
    directory: PathBuf,
    /// The directory in which each minion has a directory with `data.p`.
    minions: PathBuf,
    /// Seconds since 1970.
    now: Option<f64>,
    pillarenv: Option<String>,
    /// The keys of pillars, sorted; they are listed when first needed.
    pillars: OnceLock<Vec<String>>,
}

impl Cache {
    /// The cache in a directory: a master's `cachedir`, or `minions` in one. `None` if the directory
    /// is laid out in another way, or holds no minion.
    ///
    /// # Errors
    /// [`ReadError`]: a directory cannot be listed.
    pub fn open(directory: impl AsRef<Path>) -> Result<Option<Self>, ReadError> {
        let directory = directory.as_ref().to_path_buf();
        let older = directory.join("minions");
        let within = !with_data(&older)?.is_empty();
        let minions = if within || !entries(&directory.join("grains"))?.is_empty() {
            older
        } else if !with_data(&directory)?.is_empty() {
            directory.clone()
        } else {
            return Ok(None);
        };
        Ok(Some(Cache {
            directory,
            minions,
            now: None,
            pillarenv: None,
            pillars: OnceLock::new(),
        }))
    }

    /// The time by which entries have expired, which are empty then. Without it none has.
    #[must_use]
    pub fn at(mut self, now: SystemTime) -> Self {
        self.now = Some(
            now.duration_since(UNIX_EPOCH)
                .map_or(0.0, |since| since.as_secs_f64()),
        );
        self
    }

    /// The pillar environment whose pillars are meant, as in the option `pillarenv`. Without it, a
    /// minion has the pillar of no environment, or else that of the only one there is.
    #[must_use]
    pub fn with_pillarenv(mut self, pillarenv: impl Into<String>) -> Self {
        self.pillarenv = Some(pillarenv.into()).filter(|name| !name.is_empty());
        self
    }

    /// The ids of all minions with grains or data, sorted. Names that are not Unicode are left out.
    ///
    /// # Errors
    /// [`ReadError`]: a directory cannot be listed.
    pub fn ids(&self) -> Result<Vec<String>, ReadError> {
        let mut ids = entries(&self.grains())?;
        ids.extend(with_data(&self.minions)?);
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// All minions by their ids, each read when it is requested. One that is broken is an error in
    /// its place.
    ///
    /// # Errors
    /// As [`ids`](Cache::ids).
    pub fn minions(
        &self,
    ) -> Result<impl Iterator<Item = (String, Result<Minion, ReadError>)>, ReadError> {
        // A minion that vanishes while others are read is one with nothing.
        let minion = |id: String| {
            let read = self
                .minion(&id)
                .map(|found| found.unwrap_or_else(|| Minion::new(id.as_str())));
            (id, read)
        };
        Ok(self.ids()?.into_iter().map(minion))
    }

    /// The minion of an id, with grains and pillar as they are in the cache; `None` if it has
    /// neither grains nor data there.
    ///
    /// # Errors
    /// [`ReadError`] that names the file: it cannot be read, is larger than [`MAX_BYTES`], holds
    /// what Salt never [packed](unpack), or no mapping; or there are pillars of several environments
    /// and none was [chosen](Cache::with_pillarenv).
    pub fn minion(&self, id: &str) -> Result<Option<Minion>, ReadError> {
        if !is_name(id) {
            return Ok(None);
        }
        let mut minion = Minion::new(id);
        if let Some(entry) = CacheEntry::read(self.grains().join(format!("{id}.p")))? {
            minion.sources.of_file(&entry.file, Part::Grains);
            let grains = entry.unexpired(self.now)?.mapping("grains")?;
            let pillar = match self.pillar_of(id)? {
                Some(file) => CacheEntry::read(file)?,
                None => None,
            };
            let pillar = match pillar {
                Some(entry) => {
                    minion.sources.of_file(&entry.file, Part::Pillar);
                    entry.unexpired(self.now)?.mapping("pillar")?
                }
                None => Map::new(),
            };
            return Ok(Some(
                minion.with(Part::Grains, grains).with(Part::Pillar, pillar),
            ));
        }
        let Some(CacheEntry { file, value }) =
            CacheEntry::read(self.minions.join(id).join("data.p"))?
        else {
            return Ok(None);
        };
        let data = CacheEntry {
            file: file.clone(),
            value,
        }
        .mapping("a minion's data")?;
        let part = |part: Part| {
            let value = data.get(part.name()).cloned().unwrap_or_default();
            CacheEntry {
                file: file.clone(),
                value,
            }
            .mapping(part.name())
        };
        [Part::Grains, Part::Pillar]
            .into_iter()
            .for_each(|part| minion.sources.of_file(&file, part));
        let minion = minion.with(Part::Grains, part(Part::Grains)?);
        Ok(Some(minion.with(Part::Pillar, part(Part::Pillar)?)))
    }

    /// The data that a minion's functions stored in its mine, by their names; empty without one.
    ///
    /// # Errors
    /// [`ReadError`] that names the file: it cannot be read, or holds something else.
    pub fn mine(&self, id: &str) -> Result<Map, ReadError> {
        if !is_name(id) {
            return Ok(Map::new());
        }
        let newer = CacheEntry::read(self.directory.join("mine").join(format!("{id}.p")))?;
        let entry = match newer {
            Some(entry) => Some(entry),
            None => CacheEntry::read(self.minions.join(id).join("mine.p"))?,
        };
        match entry {
            Some(entry) => entry.unexpired(self.now)?.mapping("a minion's mine"),
            None => Ok(Map::new()),
        }
    }

    fn grains(&self) -> PathBuf {
        self.directory.join("grains")
    }

    /// The file of a minion's pillar.
    fn pillar_of(&self, id: &str) -> Result<Option<PathBuf>, ReadError> {
        let directory = self.directory.join("pillar");
        let file = |key: &str| directory.join(format!("{key}.p"));
        if let Some(pillarenv) = &self.pillarenv {
            // An environment may have slashes in its name; the key then is a path.
            let key = format!("{id}:{pillarenv}");
            let inside = Path::new(&key)
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
            return Ok(inside.then(|| file(&key)));
        }
        if is_file(&file(id))? {
            return Ok(Some(file(id)));
        }
        let prefix = format!("{id}:");
        let keys = self.pillars(&directory)?;
        let first = keys.partition_point(|key| *key < prefix);
        let own: Vec<&String> = keys
            .iter()
            .skip(first)
            .take_while(|key| key.starts_with(&prefix))
            .collect();
        match own.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(file(only))),
            several => {
                let environments = several
                    .iter()
                    .filter_map(|key| key.strip_prefix(&prefix))
                    .map(str::to_owned);
                let kind = ReadErrorKind::ManyPillars {
                    id: id.to_owned(),
                    environments: environments.collect(),
                };
                Err(at(&directory, kind))
            }
        }
    }

    /// The keys of all pillars, sorted.
    fn pillars(&self, directory: &Path) -> Result<&[String], ReadError> {
        if let Some(known) = self.pillars.get() {
            return Ok(known);
        }
        // A minion's id may have colons, too.
        let minions: HashSet<String> = entries(&self.grains())?.into_iter().collect();
        let mut keys: Vec<String> = entries(directory)?
            .into_iter()
            .filter(|key| !minions.contains(key))
            .collect();
        keys.sort();
        Ok(self.pillars.get_or_init(|| keys))
    }
}

/// The content of a file of the cache.
struct CacheEntry {
    file: PathBuf,
    value: Value,
}

impl CacheEntry {
    fn read(file: PathBuf) -> Result<Option<Self>, ReadError> {
        if !is_file(&file)? {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        match File::open(&file).and_then(|open| open.take(MAX_BYTES + 1).read_to_end(&mut bytes)) {
            Err(error) if is_missing(&error) => return Ok(None),
            read => read.map_err(|error| at(&file, ReadErrorKind::Unreadable(error.into())))?,
        };
        if bytes.len() as u64 > MAX_BYTES {
            return Err(at(&file, ReadErrorKind::TooLarge { limit: MAX_BYTES }));
        }
        // An empty file is not data, in Salt as well.
        let value = match bytes.is_empty() {
            true => Value::None,
            false => unpack(&bytes).map_err(|error| at(&file, ReadErrorKind::Packed(error)))?,
        };
        Ok(Some(CacheEntry { file, value }))
    }

    /// The data of an entry that was stored with a time to live; nothing, if that is over.
    fn unexpired(self, now: Option<f64>) -> Result<Self, ReadError> {
        let Some(wrapped) = self.value.as_map().filter(|map| map.len() == 2) else {
            return Ok(self);
        };
        let (Some(data), Some(expires)) = (wrapped.get("data"), wrapped.get("_expires")) else {
            return Ok(self);
        };
        let until = match expires {
            Value::Bool(flag) => f64::from(u8::from(*flag)),
            // An integer beyond all floats is never.
            Value::Int(seconds) => seconds.to_f64().unwrap_or(f64::INFINITY),
            Value::Float(seconds) => *seconds,
            other => {
                let kind = ReadErrorKind::NotANumber {
                    what: "_expires",
                    found: other.kind(),
                };
                return Err(at(&self.file, kind));
            }
        };
        let value = match now {
            Some(now) if until.partial_cmp(&now) != Some(std::cmp::Ordering::Greater) => {
                Value::None
            }
            _ => data.clone(),
        };
        Ok(CacheEntry {
            file: self.file,
            value,
        })
    }

    /// The mapping that it is; what is false, such as nothing, is an empty one.
    fn mapping(self, what: &'static str) -> Result<Map, ReadError> {
        match self.value {
            Value::Map(map) => Ok(map),
            empty if !empty.truthy() => Ok(Map::new()),
            other => Err(at(
                &self.file,
                ReadErrorKind::NotAMapping {
                    what,
                    found: other.kind(),
                },
            )),
        }
    }
}

fn at(file: &Path, kind: ReadErrorKind) -> ReadError {
    ReadError {
        place: DocumentPlace {
            file: file.display().to_string(),
            mark: None,
        },
        kind,
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
    )
}

/// True if it is a regular file: others could block, or have no end.
fn is_file(file: &Path) -> Result<bool, ReadError> {
    match fs::metadata(file) {
        Ok(metadata) => Ok(metadata.is_file()),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(at(file, ReadErrorKind::Unreadable(error.into()))),
    }
}

/// The names in a directory; none if the directory does not exist. Those that are not Unicode are left out.
fn names(directory: &Path) -> Result<Vec<String>, ReadError> {
    let failed = |error: io::Error| at(directory, ReadErrorKind::Unreadable(error.into()));
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if is_missing(&error) => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let names = entries.map(|entry| Ok(entry.map_err(failed)?.file_name().into_string().ok()));
    names.filter_map(Result::transpose).collect()
}

/// The keys of the entries in a directory. Files that are being written have other names.
fn entries(directory: &Path) -> Result<Vec<String>, ReadError> {
    let mut keys = Vec::new();
    for name in names(directory)? {
        if let Some(key) = name.strip_suffix(".p").filter(|key| is_name(key))
            && is_file(&directory.join(&name))?
        {
            keys.push(key.to_owned());
        }
    }
    Ok(keys)
}

/// The ids of the minions whose directories have their data.
fn with_data(minions: &Path) -> Result<Vec<String>, ReadError> {
    let mut ids = Vec::new();
    for id in names(minions)? {
        if is_name(&id) && is_file(&minions.join(&id).join("data.p"))? {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// True if it is the name of one file, and not a path or what every directory has.
fn is_name(id: &str) -> bool {
    !id.is_empty() && id != "." && id != ".." && !id.contains(['/', '\\', '\0'])
}
