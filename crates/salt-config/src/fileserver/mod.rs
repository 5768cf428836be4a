//! The file server that Salt's options describe.
//!
//! | option | here |
//! |---|---|
//! | `fileserver_backend` | `roots` and `gitfs` (or `git`), in this order; others are left out with a warning |
//! | `file_roots` | directories for each saltenv, with `__env__` and shell patterns |
//! | `file_ignore_regex`, `file_ignore_glob` | as in Salt: by the path on disk for what is fetched, below the root for what is listed, and never for git |
//! | `fileserver_followsymlinks`, `fileserver_ignoresymlinks` | as in Salt, for directories; a [`Config`](crate::Config) has Salt's default, which follows links out of a root |
//! | `gitfs_*` | see [`git_remotes`] |

#[cfg(feature = "git")]
mod git;
#[cfg(feature = "git")]
mod git_pillar;
mod options;
mod roots;

use std::path::Path;

use mapstack_loader::{Backends, FileServer};
use mapstack_value::{Map, Value};

#[cfg(feature = "git")]
pub use git::{GitRemote, git_remotes};
#[cfg(feature = "git")]
pub use git_pillar::{PillarDirectory, PillarRemote, origins, pillar_remotes};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use options::Options;

/// A file server, and messages about its options.
pub struct Configured {
    /// The file server.
    pub files: Backends,
    /// Options that do not do what one may expect.
    pub warnings: Vec<Diagnostic>,
}

/// The backends that Salt has and that are not built in here.
const OTHERS: [&str; 6] = ["azurefs", "hgfs", "minionfs", "s3fs", "svnfs", "gcsfs"];

/// The file server of a master's or a minion's options.
///
/// `mirrors` is the directory with mirrors of git repositories that are on other machines; nothing is
/// fetched into it here. Options that do not exist have Salt's defaults.
///
/// ```
/// use mapstack_salt_config::fileserver;
/// use mapstack_loader::FileServer;
/// use mapstack_value::{Map, json};
/// let options = json::loads(r#"{"fileserver_backend": ["roots"], "file_roots": {"base": ["/srv/salt"]}}"#).unwrap();
/// let configured = fileserver::open(options.as_map().unwrap(), "/var/cache/mirrors".as_ref()).unwrap();
/// assert_eq!(configured.files.envs(), ["base"]);
/// ```
///
/// # Errors
/// An option of a wrong type, an unknown option of a remote, a mirror that was not fetched
/// yet, or a repository that cannot be read.
pub fn open(options: &Map, mirrors: &Path) -> Result<Configured> {
    open_around(options, mirrors, |options| {
        Ok(Box::new(roots::open(options)?))
    })
}

/// The same with another state of the directories of `file_roots`, which `roots` serves.
///
/// # Errors
/// As for [`open`].
pub fn open_with_roots(
    options: &Map,
    mirrors: &Path,
    roots: Box<dyn FileServer>,
) -> Result<Configured> {
    let mut roots = Some(roots);
    open_around(options, mirrors, |_| {
        // A backend that is named twice serves nothing new.
        Ok(roots.take().unwrap_or_else(|| Box::new(Backends::new())))
    })
}

fn open_around(
    options: &Map,
    mirrors: &Path,
    mut roots: impl FnMut(&mut Options<'_>) -> Result<Box<dyn FileServer>>,
) -> Result<Configured> {
    let mut options = Options::new(options);
    let mut servers = Backends::new();
    let backends = backends(&mut options)?;
    without_backend(&mut options, &backends);
    for backend in backends {
        match backend.as_str() {
            "roots" => servers.push(roots(&mut options)?),
            #[cfg(feature = "git")]
            "gitfs" => servers.push(Box::new(git::open(&mut options, mirrors)?)),
            other => options.warn(left_out(other)),
        }
    }
    #[cfg(not(feature = "git"))]
    let _ = mirrors;
    Ok(Configured {
        files: servers,
        warnings: options.warnings.into_iter().collect(),
    })
}

/// A saltenv, and one of its directories.
pub type RootDirectory = (String, String);

/// The directories of `file_roots`, each with its saltenv, in order, and messages about the option.
///
/// ```
/// use mapstack_salt_config::fileserver::root_directories;
/// use mapstack_value::{Map, json};
/// let options = json::loads(r#"{"file_roots": {"base": ["/srv/salt"], "dev": "/srv/dev"}}"#).unwrap();
/// let (directories, warnings) = root_directories(options.as_map().unwrap()).unwrap();
/// assert_eq!(directories, [("base".into(), "/srv/salt".into())]);
/// assert_eq!(warnings[0].message, "`file_roots` has a string for 'dev', and needs a list of directories");
/// ```
///
/// # Errors
/// The directories of a pattern cannot be listed.
pub fn root_directories(options: &Map) -> Result<(Vec<RootDirectory>, Vec<Diagnostic>)> {
    let mut options = Options::new(options);
    let directories = roots::directories(&mut options)?;
    Ok((directories, options.warnings.into_iter().collect()))
}

/// The names of `fileserver_backend`, as Salt reads them.
fn backends(options: &mut Options<'_>) -> Result<Vec<String>> {
    let Some(named) = options.get("fileserver_backend") else {
        return Ok(vec!["roots".into()]);
    };
    let Some(named) = named.as_list() else {
        let message = format!(
            "`fileserver_backend` must be a list, not {}",
            named.kind().described()
        );
        let help = "write `fileserver_backend: [roots]`, or one backend a line behind a dash";
        return Err(Error::new(ErrorKind::Options, message).help(help));
    };
    if named.is_empty() {
        let warning = Diagnostic::warning(
            ErrorKind::Options,
            "`fileserver_backend` is empty, so no files are served",
        );
        options
            .warn(warning.with_help("without it, `roots` serves the directories of `file_roots`"));
    }
    let name = |value: &Value| match value.to_string().as_str() {
        short @ ("git" | "hg" | "svn" | "minion") => format!("{short}fs"),
        name => name.to_string(),
    };
    Ok(named.iter().map(name).collect())
}

/// Options of backends that are not enabled have no effect.
fn without_backend(options: &mut Options<'_>, backends: &[String]) {
    for (option, backend) in [
        ("gitfs_remotes", "gitfs"),
        ("hgfs_remotes", "hgfs"),
        ("svnfs_remotes", "svnfs"),
    ] {
        let is_set = options.get(option).is_some_and(Value::truthy);
        if is_set && !backends.iter().any(|named| named == backend) {
            options.warn_of(
                format!("`{option}` is ignored: `fileserver_backend` does not name {backend}"),
                format!("add `{backend}` to `fileserver_backend`; without the option, it is `roots` alone"),
            );
        }
    }
}

fn left_out(backend: &str) -> Diagnostic {
    let message = format!("files of the backend '{backend}' are left out");
    let warning =
        |why: &str| Diagnostic::warning(ErrorKind::Unsupported, format!("{message}: {why}"));
    if backend == "gitfs" {
        return warning("this build has no git").with_help("build with the feature `git`");
    }
    if OTHERS.contains(&backend) {
        return warning("roots and gitfs are built in")
            .with_help("copy its files to a directory below `file_roots`");
    }
    if backend.starts_with('-') {
        let help = "a minus takes a backend away from a list on Salt's command line, and has no effect in the options";
        return warning("Salt has no such backend").with_help(help);
    }
    match mapstack_diagnostic::nearest(backend, ["roots", "gitfs"]) {
        Some(near) => {
            warning("Salt has no such backend").with_help(format!("did you mean '{near}'?"))
        }
        None => warning("Salt has no built-in backend of this name"),
    }
}
