//! The two states of the files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::absent::Absent;
use mapstack::loader::{Backends, FileServer, Roots, Snapshot};
use mapstack::value::posixpath::normpath;
#[cfg(feature = "git")]
use mapstack::{Error, ErrorKind};
use mapstack_pillar::pillar_roots;
use mapstack_salt_config::{Config, fileserver};

use crate::inputs::InputError;
use crate::inputs::compared_directory::ComparedDirectory;
use crate::inputs::configuration;
use crate::inputs::flags::FileFlags;
use crate::inputs::origin::CommonRoot;
use crate::inputs::pillars;
use crate::inputs::served;
use crate::inputs::unserved_files::UnservedFiles;

/// The files before and after.
pub struct ComparedFiles {
    /// The state before.
    pub before: Backends,
    /// The state after.
    pub after: Backends,
    /// The files of the pillar, before and after, if pillars can be compared.
    pub pillars: Option<ComparedPillarFiles>,
    /// Why they cannot, though they are compiled.
    pub no_pillars: Option<String>,
    /// The files around the roots that are different.
    pub outside: UnservedFiles,
    /// The files around the roots, where templates may name them by deployed paths.
    pub around: Option<ComparedDirectory>,
}

/// The files of the pillar in both states.
pub struct ComparedPillarFiles {
    /// The configuration that compiles it.
    pub config: Config,
    /// Before and after.
    pub files: [Arc<dyn FileServer>; 2],
    /// The paths of the files below the roots of the file server.
    pub below_roots: Vec<String>,
    /// The surroundings, where stacked files may lie, if the states differ in them.
    pub around: Option<ComparedDirectory>,
}

/// A saltenv, and a directory of it.
type NamedRoot = (String, PathBuf);

/// The name of the files as they are now.
pub(crate) const NOW: &str = "worktree";

impl ComparedFiles {
    /// Each state is a revision, a directory, or `worktree`. Without pillars, their files are any others.
    ///
    /// # Errors
    /// A state that does not exist, or that cannot hold the roots.
    pub fn new(
        files: &FileFlags,
        [from, to]: [&str; 2],
        config: Option<&Config>,
        with_pillars: bool,
    ) -> Result<Self, InputError> {
        let follow = served::follows_outside_links(files, config);
        let project = files.project.as_ref();
        let absent = project.map_or(&[][..], |project| &project.absent);
        let compiling = with_pillars.then(|| pillars::compiling(config, files));
        let compiling = compiling.transpose()?.flatten();
        let roots = served::roots(files, config)?;
        // A configuration can be about pillars alone.
        let only_pillars = compiling.is_some() && roots.is_empty() && config.is_some();
        let mut own = match &compiling {
            Some(config) => roots_of_pillar(config),
            None => Ok(Vec::new()),
        };
        let all = [&roots, own.as_deref().unwrap_or_default()].concat();
        let states = [NamedSide::of(&all, from), NamedSide::of(&all, to)];
        let directories: Vec<&Path> = states
            .into_iter()
            .filter_map(NamedSide::directory)
            .collect();
        let origin = CommonRoot::of(&all, &directories).or_else(|error| {
            if only_pillars {
                return Err(error);
            }
            own = Err(error);
            CommonRoot::of(&roots, &directories)
        })?;
        let reading = DirectoryReading {
            follows_outside_links: follow,
            modes_as_in_git: states.iter().any(|state| state.is_revision()),
        };
        let side = |flag: &str, state: &str| -> Result<Backends, InputError> {
            if only_pillars {
                return Ok(Backends::default());
            }
            with_remotes(files, config, side(reading, &origin, &roots, flag, state)?)
        };
        let (before, after) = (side("--from", from)?, side("--to", to)?);
        let (mut pillars, mut no_pillars) = (None, None);
        if let Some(config) = compiling {
            let sides = own.and_then(|own| {
                of_pillars(reading, absent, &origin, &roots, &own, config, [from, to])
            });
            match sides {
                Ok(sides) => pillars = Some(sides),
                Err(error) if only_pillars => return Err(error),
                Err(error) => no_pillars = Some(error.to_string()),
            }
        }
        let all = if pillars.is_some() { all } else { roots };
        let outside = UnservedFiles::between(&origin, &all, states);
        let around = ComparedDirectory::new(&origin, &all, states)?;
        Ok(ComparedFiles {
            before,
            after,
            pillars,
            no_pillars,
            outside,
            around,
        })
    }
}

/// Files with the remote roots of a configuration, if it says what is served.
fn with_remotes(
    files: &FileFlags,
    config: Option<&Config>,
    served: Backends,
) -> Result<Backends, InputError> {
    match config.filter(|_| files.root.is_empty()) {
        Some(config) => beside_remotes(files, config, served),
        None => Ok(served),
    }
}

/// The roots of the pillar.
///
/// # Errors
/// There are none.
pub(crate) fn roots_of_pillar(config: &Config) -> Result<Vec<(String, PathBuf)>, InputError> {
    let named = pillar_roots(config.options()).into_iter();
    let own: Vec<(String, PathBuf)> = named.map(|(env, root)| (env, root.into())).collect();
    match own.is_empty() {
        false => Ok(own),
        true => {
            let message = "the option pillar_roots names no directory";
            Err(InputError::Usage(message.into()))
        }
    }
}

/// The files of the pillar in both states, and their roots.
fn of_pillars(
    reading: DirectoryReading,
    absent: &[String],
    origin: &CommonRoot,
    roots: &[NamedRoot],
    own: &[NamedRoot],
    config: Config,
    [from, to]: [&str; 2],
) -> Result<ComparedPillarFiles, InputError> {
    let kept = |files: Backends| -> Arc<dyn FileServer> {
        Arc::new(Absent::new(Snapshot::new(files), absent))
    };
    let files = [
        kept(side(reading, origin, own, "--from", from)?),
        kept(side(reading, origin, own, "--to", to)?),
    ];
    let below_roots = below_roots(own, roots);
    let all = [own, roots].concat();
    let states = [NamedSide::of(own, from), NamedSide::of(own, to)];
    let around = ComparedDirectory::new(origin, &all, states)?;
    Ok(ComparedPillarFiles {
        config,
        files,
        below_roots,
        around,
    })
}

/// The paths of the pillar's roots below those of the file server.
pub(crate) fn below_roots(own: &[(String, PathBuf)], roots: &[(String, PathBuf)]) -> Vec<String> {
    let below = own.iter().flat_map(|(_, root)| {
        let inside = |(_, above): &(String, PathBuf)| inside(root, above);
        or_here(roots).iter().filter_map(inside)
    });
    below.collect()
}

/// The path of a directory below another.
fn inside(root: &Path, above: &Path) -> Option<String> {
    let [root, above] = [root, above].map(|path| normpath(&path.to_string_lossy()));
    match above.as_str() {
        _ if root == above => Some(String::new()),
        "." => (!root.starts_with('/') && !root.starts_with("..")).then_some(root),
        above => root
            .strip_prefix(above)?
            .strip_prefix('/')
            .map(str::to_owned),
    }
}

/// A state of the roots together with the other backends of a configuration, whose files are the same in both states.
fn beside_remotes(
    files: &FileFlags,
    config: &Config,
    served: Backends,
) -> Result<Backends, InputError> {
    let options = configuration::file_options(Some(config), None)?;
    if !served::uses_git(&options) {
        return Ok(served);
    }
    let mirrors = configuration::mirrors(files.mirrors.as_deref())?;
    // Opening the configuration has warned already.
    let opened = fileserver::open_with_roots(&options, &mirrors, Box::new(served))?;
    Ok(opened.files)
}

/// A state of the files, as it is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedSide<'s> {
    /// The files as they are now.
    Now,
    /// Those below a directory.
    Directory(&'s Path),
    /// Those of a revision.
    Revision(&'s str),
}

impl<'s> NamedSide<'s> {
    /// The directory that it is.
    pub(crate) fn directory(self) -> Option<&'s Path> {
        match self {
            NamedSide::Directory(directory) => Some(directory),
            NamedSide::Now | NamedSide::Revision(_) => None,
        }
    }

    fn is_revision(self) -> bool {
        matches!(self, NamedSide::Revision(_))
    }

    fn of(roots: &[(String, PathBuf)], name: &'s str) -> Self {
        if name == NOW {
            return NamedSide::Now;
        }
        let directory = Path::new(name);
        let is_path = name.starts_with('.')
            || directory.is_absolute()
            || name.contains(std::path::MAIN_SEPARATOR);
        match directory.is_dir() && (is_path || !is_revision(or_here(roots), name)) {
            true => NamedSide::Directory(directory),
            false => NamedSide::Revision(name),
        }
    }
}

/// The roots; without any, the current directory.
pub(crate) fn or_here(roots: &[(String, PathBuf)]) -> &[(String, PathBuf)] {
    static HERE: LazyLock<[(String, PathBuf); 1]> =
        LazyLock::new(|| [("base".to_owned(), PathBuf::from("."))]);
    match roots.is_empty() {
        true => &*HERE,
        false => roots,
    }
}

/// The way in which directories are read.
#[derive(Debug, Clone, Copy)]
struct DirectoryReading {
    follows_outside_links: bool,
    /// Files have the modes that git keeps, as one of the states is a revision.
    modes_as_in_git: bool,
}

fn side(
    reading: DirectoryReading,
    origin: &CommonRoot,
    roots: &[(String, PathBuf)],
    flag: &str,
    state: &str,
) -> Result<Backends, InputError> {
    let directory = match NamedSide::of(roots, state) {
        NamedSide::Now => {
            let roots = or_here(roots).iter();
            let now = roots.map(|(env, root)| (env.as_str(), root.clone()));
            return Ok(directories(reading, now));
        }
        NamedSide::Revision(name) => return revision(or_here(roots), flag, name),
        NamedSide::Directory(directory) => directory,
    };
    let moved = roots.iter();
    let moved = moved.map(|(env, root)| (env.as_str(), origin.copy_in(directory, root)));
    Ok(match roots.is_empty() {
        true => directories(reading, [("base", directory.to_path_buf())].into_iter()),
        false => directories(reading, moved),
    })
}

fn directories<'r>(
    reading: DirectoryReading,
    roots: impl Iterator<Item = (&'r str, PathBuf)>,
) -> Backends {
    let roots = roots.fold(Roots::new(), |all, (env, root)| all.root(env, root));
    let roots = roots.follow_outside_links(reading.follows_outside_links);
    vec![Box::new(roots.modes_as_in_git(reading.modes_as_in_git))]
}

#[cfg(feature = "git")]
fn is_revision(roots: &[(String, PathBuf)], name: &str) -> bool {
    roots
        .first()
        .is_some_and(|(_, root)| mapstack::loader::git::Revision::of(root, name).is_ok())
}

#[cfg(feature = "git")]
fn revision(roots: &[(String, PathBuf)], flag: &str, name: &str) -> Result<Backends, InputError> {
    use mapstack::loader::git::Revision;

    let serve = |(env, root): &(String, PathBuf)| -> Result<Box<dyn FileServer>, InputError> {
        let served = Revision::of(root, name).and_then(|revision| revision.serve(env));
        let served = served.map_err(|e| {
            let error = unreadable(flag, name, &e);
            error.note("a state is a revision, a directory, or worktree")
        })?;
        Ok(Box::new(served))
    };
    roots.iter().map(serve).collect()
}

/// The error of a revision that a flag names.
#[cfg(feature = "git")]
pub(crate) fn unreadable(flag: &str, name: &str, e: &mapstack::loader::LoadError) -> Error {
    let error = Error::new(ErrorKind::File, format!("{flag} {name}: {e}"));
    match error.diagnostic().message.contains("the clone is shallow") {
        true => error.help(
            "fetch the history: `git fetch --unshallow`, or `fetch-depth: 0` for actions/checkout",
        ),
        false => error,
    }
}

#[cfg(not(feature = "git"))]
fn is_revision(_: &[(String, PathBuf)], _: &str) -> bool {
    false
}

#[cfg(not(feature = "git"))]
fn revision(_: &[(String, PathBuf)], flag: &str, name: &str) -> Result<Backends, InputError> {
    Err(InputError::Usage(format!(
        "{flag} {name}: this is not a directory, and revisions need a program with the feature git"
    )))
}
