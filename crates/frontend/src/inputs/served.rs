//! The file server that flags describe.

use std::fs;
use std::path::{Path, PathBuf};

use mapstack::loader::{Backends, FileServer as _, Roots};
use mapstack::minion::Minion;
use mapstack::value::{Map, Value};
use mapstack::{Diagnostic, ErrorKind, nearest};
use mapstack_salt_config::Config;
use mapstack_salt_config::fileserver::{self, Configured};

use crate::inputs::configuration;
use crate::inputs::flags::FileFlags;
use crate::inputs::{InputError, WarningSink};

/// The path of a file below one of some roots.
pub fn below(roots: &[String], given: &str) -> Option<String> {
    let inside = |root: &String| {
        let inside = Path::new(given)
            .strip_prefix(root)
            .ok()
            .map(Path::to_path_buf);
        let real = || {
            let (file, root) = (fs::canonicalize(given).ok()?, fs::canonicalize(root).ok()?);
            Some(file.strip_prefix(root).ok()?.to_path_buf())
        };
        inside.or_else(real)
    };
    roots
        .iter()
        .find_map(inside)
        .map(|path| path.display().to_string().replace('\\', "/"))
}

/// A file server, and the directories among what it serves.
pub struct Served {
    /// The servers.
    pub files: Backends,
    pub(crate) roots: Roots,
}

impl Served {
    /// The file server: of the roots that are given, else of the configuration, else of the minion's
    /// options.
    ///
    /// # Errors
    /// Nothing says where files are, or a configuration cannot be used.
    pub fn new(
        files: &FileFlags,
        config: Option<&Config>,
        minion: Option<&Minion>,
        warn: &dyn WarningSink,
    ) -> Result<Self, InputError> {
        let (served, mut warnings) = match config.filter(|_| files.root.is_empty()) {
            Some(config) => {
                let options = configuration::file_options(Some(config), minion)?;
                configured(files, config, options)?
            }
            None => by_roots(files, config, minion)?,
        };
        let asked = files.saltenv.as_deref();
        warnings.extend(asked.and_then(|asked| unserved(asked, served.files.envs())));
        warn.warn_of(&warnings)?;
        Ok(served)
    }

    /// The directories that serve a saltenv.
    pub fn directories(&self, saltenv: &str) -> Vec<String> {
        self.roots
            .directories(saltenv)
            .iter()
            .map(|root| root.display().to_string())
            .collect()
    }
}

/// The file server of roots that flags name, or a minion's options.
fn by_roots(
    files: &FileFlags,
    config: Option<&Config>,
    minion: Option<&Minion>,
) -> Result<(Served, Vec<Diagnostic>), InputError> {
    let (roots, mut warnings) = named_roots(files, minion)?;
    let roots = roots.follow_outside_links(follows_outside_links(files, config));
    warnings.extend(roots.missing_roots().into_iter().map(|root| {
        let message = format!("the root {} is not a directory", root.display());
        Diagnostic::warning(ErrorKind::File, message)
            .with_help("it is ignored, as the reference ignores it")
    }));
    let served = Served {
        files: vec![Box::new(roots.clone())],
        roots,
    };
    Ok((served, warnings))
}

/// A warning about a saltenv that a flag names and nothing has.
pub(crate) fn unserved(asked: &str, mut envs: Vec<String>) -> Option<Diagnostic> {
    envs.sort_unstable();
    envs.dedup();
    if envs.iter().any(|env| env == asked || env == "__env__") {
        return None;
    }
    let warning = Diagnostic::warning(
        ErrorKind::File,
        format!("the saltenv '{asked}' has no root"),
    );
    Some(match (nearest(asked, &envs), envs.is_empty()) {
        (Some(near), _) => warning.with_help(format!("did you mean '{near}'?")),
        (None, false) => warning.with_help(format!("saltenvs with a root: {}", envs.join(", "))),
        (None, true) => warning,
    })
}

/// True if links that leave a root are followed: a flag asks for it, or the configuration itself.
pub fn follows_outside_links(files: &FileFlags, config: Option<&Config>) -> bool {
    let asked = |config: &Config| {
        config.is_set("fileserver_followsymlinks")
            && config
                .get("fileserver_followsymlinks")
                .is_some_and(Value::truthy)
    };
    files.follow_outside_links || config.is_some_and(asked)
}

/// The file server that a configuration describes.
fn configured(
    files: &FileFlags,
    config: &Config,
    mut options: Map,
) -> Result<(Served, Vec<Diagnostic>), InputError> {
    // Salt's default does not count: grains choose paths, and a link would turn one into any file.
    if files.follow_outside_links || !config.is_set("fileserver_followsymlinks") {
        options.insert("fileserver_followsymlinks", files.follow_outside_links);
    }
    // The file server reads the same option, and warns of it.
    let (mut roots, _) = configuration::roots(&options)?;
    let missing = roots.missing_roots();
    if !config.is_set("file_roots") && missing.len() == roots.directories("base").len() {
        if !config.is_set("fileserver_backend") {
            return Err(InputError::Usage(format!(
                "{} sets no file_roots, and the built-in ones do not exist ({}):\n\
                 say where the file server's files are with --root DIR",
                config.path(),
                missing
                    .iter()
                    .map(|root| root.display().to_string())
                    .collect::<Vec<_>>()
                    .join(", ")
            )));
        }
        // The user did not ask for the built-in directories.
        options.insert("file_roots", Map::new());
        roots = Roots::new();
    }
    let mirrors = if uses_git(&options) {
        configuration::mirrors(files.mirrors.as_deref())?
    } else {
        PathBuf::new()
    };
    let Configured { files, warnings } = fileserver::open(&options, &mirrors)?;
    Ok((Served { files, roots }, warnings))
}

/// True if options name a backend of git repositories.
pub(crate) fn uses_git(options: &Map) -> bool {
    let backends = options.get("fileserver_backend");
    backends.is_some_and(|backends| backends.repr().contains("git"))
}

fn named_roots(
    files: &FileFlags,
    minion: Option<&Minion>,
) -> Result<(Roots, Vec<Diagnostic>), InputError> {
    if !files.root.is_empty() {
        let add = |roots: Roots, (env, directory): (&str, &str)| roots.root(env, directory);
        return Ok((root_flags(files).fold(Roots::new(), add), Vec::new()));
    }
    let options = configuration::file_options(None, minion)?;
    let says_nothing = options.get("file_roots").and_then(Value::as_map).is_none();
    if let Some(project) = files.project.as_ref().filter(|_| says_nothing) {
        let add = |roots: Roots, (env, directory): &(String, PathBuf)| roots.root(env, directory);
        return Ok((project.roots.iter().fold(Roots::new(), add), Vec::new()));
    }
    if says_nothing {
        return Err(InputError::Usage(
            "no root given: say where the file server's files are with --root DIR (repeatable, earlier wins),\n\
             or give a configuration that does with --config FILE"
                .into(),
        ));
    }
    configuration::roots(&options)
}

/// The saltenvs and directories of `--root`.
pub fn root_flags(files: &FileFlags) -> impl Iterator<Item = (&str, &str)> {
    let default_env = files.saltenv.as_deref().unwrap_or("base");
    files
        .root
        .iter()
        .map(move |root| split_root(root).unwrap_or((default_env, root)))
}

/// `ENV=DIR`, unless all of it names a directory.
fn split_root(root: &str) -> Option<(&str, &str)> {
    let (env, directory) = root.split_once('=')?;
    let is_env = !env.is_empty() && !env.contains(['/', '\\']);
    (is_env && !Path::new(root).is_dir()).then_some((env, directory))
}

/// Options that flags set, and the flags.
pub fn flag_options(files: &FileFlags) -> Vec<(&'static str, Value, &'static str)> {
    let mut flags = Vec::new();
    if !files.root.is_empty() {
        let mut roots = Map::new();
        for (env, directory) in root_flags(files) {
            let mut directories = roots
                .get(env)
                .and_then(Value::as_list)
                .unwrap_or_default()
                .to_vec();
            directories.push(directory.into());
            roots.insert(env, Value::from_iter(directories));
        }
        flags.push(("file_roots", roots.into(), "--root"));
    }
    if let Some(saltenv) = &files.saltenv {
        flags.push(("saltenv", saltenv.into(), "--saltenv"));
    }
    flags
}

/// The saltenvs and directories that are served; the current directory, if nothing says.
pub(crate) fn roots(
    files: &FileFlags,
    config: Option<&Config>,
) -> Result<Vec<(String, PathBuf)>, InputError> {
    let given: Vec<(String, PathBuf)> = root_flags(files)
        .map(|(env, directory)| (env.to_owned(), directory.into()))
        .collect();
    if !given.is_empty() {
        return Ok(given);
    }
    let Some(config) = config else {
        let project = files.project.as_ref();
        return Ok(project
            .map(|project| project.roots.clone())
            .unwrap_or_default());
    };
    let options = configuration::file_options(Some(config), None)?;
    // Reading the configuration has warned of the option already.
    let (roots, _) = configuration::roots(&options)?;
    let of_env = |env: String| {
        roots
            .directories(&env)
            .iter()
            .map(|root| (env.clone(), root.clone()))
            .collect::<Vec<_>>()
    };
    let all = roots.envs().into_iter().flat_map(of_env);
    // The default directory need not be there.
    let is_own = configuration::has_own_roots(Some(config));
    Ok(all.filter(|(_, root)| is_own || root.is_dir()).collect())
}
