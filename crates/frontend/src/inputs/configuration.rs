//! Salt's own configuration behind the flags: the file of `--config`, and the files and minions that it
//! configures.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mapstack::loader::{LoadError, Roots, is_file};
use mapstack::minion::cache::Cache;
use mapstack::minion::{Minion, Part};
use mapstack::value::posixpath::join;
use mapstack::value::{Map, Value};
use mapstack::{Diagnostic, Error, ErrorKind, yaml};
use mapstack_salt_config::fileserver::root_directories;
use mapstack_salt_config::{Config, Kind, Surroundings};

use crate::inputs::flags::{ConfigKind, FactFlags, FileFlags};
use crate::inputs::project::FILE;
use crate::inputs::read::{self as reading, shown};
use crate::inputs::source::MinionSource;
use crate::inputs::{InputError, WarningSink, id};

/// The configuration that `--config` names, its warnings reported; else that of the current estate. A file whose name
/// does not say whose it is belongs to `default`.
pub fn read(
    files: &FileFlags,
    id: Option<&str>,
    default: Option<Kind>,
    warn: &dyn WarningSink,
) -> Result<Option<Config>, InputError> {
    let Some(given) = &files.config else {
        let project = files.project.as_ref().filter(|_| files.root.is_empty());
        let estate = project.and_then(|project| project.estate.as_ref());
        return Ok(estate.map(|estate| estate.config.clone()));
    };
    read_file(given, files.config_kind, id, default, warn).map(Some)
}

/// The configuration in a file or directory.
pub fn read_file(
    given: &Path,
    kind: Option<ConfigKind>,
    id: Option<&str>,
    default: Option<Kind>,
    warn: &dyn WarningSink,
) -> Result<Config, InputError> {
    let kind = kind.map(Kind::from);
    let config = if given == Path::new("-") {
        let kind = kind
            .or(default)
            .ok_or_else(|| unknown_kind("standard input"))?;
        Config::parse(&reading::read(given)?, &shown(given), kind)?
    } else {
        let path = given.to_str().ok_or_else(|| {
            InputError::Usage(format!(
                "--config {}: the path is not valid Unicode, which options require",
                given.display()
            ))
        })?;
        let kind = kind
            .or_else(|| Kind::of_file(path))
            .or_else(|| default.filter(|_| !given.is_dir()));
        if kind.is_none() && !given.is_dir() {
            return Err(match given.try_exists() {
                Ok(true) => unknown_kind(path),
                Err(e) => InputError::Data(Error::new(
                    ErrorKind::File,
                    format!("cannot read {path}: {e}"),
                )),
                Ok(false) => InputError::Data(Error::new(
                    ErrorKind::File,
                    format!("the configuration {path} does not exist"),
                )),
            });
        }
        let (path, kind) = Config::find(path, kind)?;
        with_id(&path, kind, id)?
    };
    warn.warn_of(config.warnings())?;
    warn.warn_of(ignored(&config).as_slice())?;
    Ok(config)
}

/// A warning of an option in force that changes what templates get, and that is not followed.
fn ignored(config: &Config) -> Option<Diagnostic> {
    let set = config.get("mine_get").filter(|value| value.truthy());
    set.filter(|_| config.kind() == Kind::Master)?;
    let message = "the option mine_get is not followed: mine.get answers every minion";
    let mut warning = Diagnostic::warning(ErrorKind::Options, message);
    warning.place = config.place("mine_get");
    Some(warning)
}

fn unknown_kind(what: &str) -> InputError {
    InputError::Usage(format!(
        "--config {what}: whose configuration is it? say --config-kind master or minion"
    ))
}

/// The configuration for a minion of an id: the one given, else that of the file `minion_id`.
fn with_id(path: &str, kind: Kind, id: Option<&str>) -> Result<Config, InputError> {
    let directory = std::env::current_dir()
        .map(|here| here.display().to_string())
        .unwrap_or_default();
    let home = std::env::home_dir().map(|home| home.display().to_string());
    let surroundings = Surroundings {
        directory,
        home,
        id: id.map(Into::into),
        remembered_id: None,
        within: None,
    };
    let config = Config::read(path, kind, &surroundings)?;
    let cached = config.get("minion_id_caching").is_none_or(Value::truthy);
    if kind == Kind::Master || config.text("id").is_some() || !cached {
        return Ok(config);
    }
    let file = beside(path, "minion_id");
    if !is_file(&file).map_err(|e| unreadable(&e))? {
        return Ok(config);
    }
    let (text, _) = reading::text_file(Path::new(&file))?;
    let id = text
        .lines()
        .next()
        .map(|line| line.trim_matches(|c: char| c == '\u{feff}' || c.is_whitespace()));
    match id.filter(|id| !id.is_empty() && *id != "localhost") {
        Some(id) => Ok(Config::read(
            path,
            kind,
            &Surroundings {
                remembered_id: Some(id.into()),
                ..surroundings
            },
        )?),
        None => Ok(config),
    }
}

/// The path of a file in the directory of another.
fn beside(path: &str, name: &str) -> String {
    let directory = Path::new(path)
        .parent()
        .and_then(Path::to_str)
        .unwrap_or_default();
    join(directory, name)
}

/// The directories that options serve, and the messages about the options.
pub fn roots(options: &Map) -> Result<(Roots, Vec<Diagnostic>), InputError> {
    if !options.contains_key("file_roots") {
        return Ok((Roots::new(), Vec::new()));
    }
    let (directories, warnings) = root_directories(options)?;
    let add = |roots: Roots, (env, directory): (String, String)| roots.root(&env, directory);
    Ok((directories.into_iter().fold(Roots::new(), add), warnings))
}

/// The directory with the mirrors of git repositories: what the user names, or one in the user's
/// cache.
pub fn mirrors(named: Option<&Path>) -> Result<PathBuf, InputError> {
    if let Some(named) = named {
        return Ok(named.into());
    }
    let set = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    cache
        .map(|cache| cache.join("mapstack/git"))
        .ok_or_else(|| {
            InputError::Usage(
                "HOME is not set, so mirrors have no place; name a directory with --mirrors DIR"
                    .into(),
            )
        })
}

/// The options that say where a minion's files are: a master's options, or the minion's own.
pub fn file_options(config: Option<&Config>, minion: Option<&Minion>) -> Result<Map, InputError> {
    let own = minion.map(|minion| minion.opts.clone()).unwrap_or_default();
    let Some(config) = config else { return Ok(own) };
    if config.kind() == Kind::Master {
        return Ok(config.options().clone());
    }
    let options = if minion.is_some() {
        own
    } else {
        config.options().clone()
    };
    let local = options.get("file_client").and_then(Value::as_str) == Some("local");
    let changed =
        options.get("file_roots").map(Value::repr) != config.get("file_roots").map(Value::repr);
    if !local && !changed && !config.is_set("file_roots") {
        return Err(InputError::Usage(format!(
            "{} is the configuration of a minion that has its files from a master (file_client is not local):\n\
             give the master's configuration with --config, or directories with --root DIR",
            config.path()
        )));
    }
    Ok(options)
}

/// True if a configuration says what the file server serves.
pub fn has_own_roots(config: Option<&Config>) -> bool {
    config.is_some_and(|config| config.is_set("file_roots") || config.is_set("fileserver_backend"))
}

/// The cache of the configured master, unless flags name minions.
pub fn cache<'c>(config: Option<&'c Config>, facts: &FactFlags) -> Option<&'c str> {
    let config = config.filter(|config| config.kind() == Kind::Master)?;
    if facts.minion.is_some() || facts.minions.is_some() || !facts.platform.is_empty() {
        return None;
    }
    // The minions of an estate are those that its checkout names.
    let is_estate = config
        .place("cachedir")
        .is_some_and(|place| place.file == FILE);
    config.text("cachedir").filter(|_| !is_estate)
}

/// The minion that a master's cache has; none if the cache does not exist, or does not have the minion,
/// and flags say its facts.
pub fn cached(
    directory: &str,
    id: &str,
    pillarenv: Option<&str>,
    facts: &FactFlags,
    warn: &dyn WarningSink,
) -> Result<Option<Minion>, InputError> {
    let path = Path::new(directory);
    let given = facts.grains.is_some() || (!facts.set.is_empty() && !path.is_dir());
    let cache = if path.is_dir() {
        Cache::open(path).map_err(Error::from)?
    } else {
        None
    };
    let Some(cache) = cache else {
        if given {
            return Ok(None);
        }
        return Err(InputError::Data(no_cache(
            directory,
            &format!("no facts of '{id}'"),
        )));
    };
    let cache = cache.at(SystemTime::now());
    let cache = if let Some(name) = pillarenv {
        cache.with_pillarenv(name)
    } else {
        cache
    };
    match cache.minion(id).map_err(Error::from)? {
        None if given => Ok(None),
        // The error knows what was probably meant.
        None => MinionSource::open(path, pillarenv, warn)?
            .one(Some(id))
            .map(Some),
        found => Ok(found),
    }
}

/// The cache in the master's configuration does not exist.
pub fn no_cache(directory: &str, what: &str) -> Error {
    let message = format!("{what}: no cache of minions in {directory}, the master's cachedir");
    Error::new(ErrorKind::Facts, message).note(
        "a minion is given by --platform NAME, --minion FILE or --grains FILE, a copy of the cache by --minions DIR",
    )
}

/// Put a minion's own configuration below what flags say about it: options, and grains of the
/// option `grains` over those of the file `grains` beside it.
pub fn put_below(config: &Config, minion: &mut Minion) -> Result<(), InputError> {
    let is_fact = |name: &str| matches!(name, "id" | "grains" | "pillar");
    let options = config
        .options()
        .iter()
        .filter(|(name, _)| !name.as_str().is_some_and(is_fact));
    let mut opts: Map = options
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    opts.extend(
        std::mem::take(&mut minion.opts)
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    minion.opts = opts;
    for file in config.files().iter().rev() {
        minion.sources.put_below(Part::Grains, file, Some("grains"));
        minion.sources.put_below(Part::Opts, file, None);
    }
    if !minion.id.truthy()
        && let Some(id) = config.get("id")
    {
        minion.set_id(id.clone());
    }
    let (file, mut grains) = grains_beside(config)?;
    if !grains.is_empty() {
        minion.sources.put_below(Part::Grains, &file, None);
    }
    match config.get("grains") {
        Some(Value::Map(own)) => grains.extend(
            own.iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        ),
        Some(other) if other.truthy() => {
            let message = format!(
                "{}: `grains` must be a mapping, not {}",
                config.origin("grains"),
                other.kind().described()
            );
            return Err(InputError::Data(Error::new(ErrorKind::Facts, message)));
        }
        _ => {}
    }
    grains.extend(
        std::mem::take(&mut minion.grains)
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    minion.grains = grains;
    Ok(())
}

/// The file of grains beside a configuration, and what it has.
fn grains_beside(config: &Config) -> Result<(String, Map), InputError> {
    let id = config.text("id").unwrap_or_default();
    let name = match config.kind() {
        Kind::Proxy => {
            id::check_option(id)?;
            format!("proxy.d/{id}/grains")
        }
        _ => "grains".into(),
    };
    let file = beside(config.path(), &name);
    if !is_file(&file).map_err(|e| unreadable(&e))? {
        return Ok((file, Map::new()));
    }
    let bytes = reading::read(Path::new(&file))?;
    if yaml::decode(&bytes).is_ok_and(|text| yaml::load(text).is_ok_and(|value| !value.truthy())) {
        return Ok((file, Map::new()));
    }
    let mut minion = Minion::default();
    minion
        .load_part(Part::Grains, &bytes, &file)
        .map_err(Error::from)?;
    Ok((file, minion.grains))
}

fn unreadable(error: &LoadError) -> Error {
    Error::new(ErrorKind::File, format!("cannot read {error}"))
}

/// A pillar is expected from a top file, and is not made here.
pub fn missing_pillar(config: &Config, minion: &Minion) -> Option<Diagnostic> {
    if !minion.pillar.is_empty() {
        return None;
    }
    let roots = config.get("pillar_roots")?.as_map()?;
    let tops = roots
        .values()
        .filter_map(Value::as_list)
        .flatten()
        .filter_map(Value::as_str);
    let top = tops
        .map(|directory| join(directory, "top.sls"))
        .find(|top| is_file(top).is_ok_and(|is_there| is_there))?;
    let message = format!(
        "the pillar of {top} is not rendered here: '{}' has an empty pillar",
        minion.id()
    );
    let help = "give it with --pillar FILE, as `salt-call pillar.items --out=json` prints it";
    Some(Diagnostic::warning(ErrorKind::Unsupported, message).with_help(help))
}
