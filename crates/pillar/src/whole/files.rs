//! The files of a pillar (Salt: `PillarClient`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mapstack::File;
use mapstack::trace::FileReadKind;
use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_loader::{Fetched, FileServer, LoadError, SaltPath};
use mapstack_minion::SaltVersion;
use mapstack_value::pytext::{Fnmatch, has_magic};
use mapstack_value::{Key, Map, Value};

use super::reads::{CompileReads, RecordingFiles};

/// The pillar's file server, and the names of sls it has, which all minions share.
pub(crate) struct PillarFiles {
    server: Arc<dyn FileServer>,
    listed: Arc<Mutex<HashMap<String, Arc<[String]>>>>,
    /// The reads of one compile.
    reads: Arc<CompileReads>,
}

/// The saltenvs and directories of the option `pillar_roots`, in order.
///
/// ```
/// use mapstack_salt_config::{Config, Kind};
/// let config = Config::parse(b"pillar_roots: {base: [/srv/a, /srv/b]}", "master", Kind::Master).unwrap();
/// let roots = mapstack_pillar::pillar_roots(config.options());
/// assert_eq!(roots[1], ("base".to_owned(), "/srv/b".to_owned()));
/// ```
#[must_use]
pub fn pillar_roots(options: &Map) -> Vec<(String, String)> {
    let envs = options.get("pillar_roots").and_then(Value::as_map);
    let of_env = |(env, directories): (&Key, &Value)| -> Vec<(String, String)> {
        let all = directories.as_list().unwrap_or_default().iter();
        all.map(|directory| (env.to_string(), directory.to_string()))
            .collect()
    };
    envs.into_iter().flatten().flat_map(of_env).collect()
}

/// An sls that was found.
pub(crate) struct SlsFile {
    pub file: File,
    /// True if it is the `init.sls` of a directory.
    pub is_init: bool,
}

impl PillarFiles {
    pub fn new(server: Arc<dyn FileServer>) -> Self {
        PillarFiles {
            server,
            listed: Arc::default(),
            reads: Arc::default(),
        }
    }

    /// The same files for one compile, whose reads are noted.
    pub fn for_one(&self) -> Self {
        PillarFiles {
            server: self.server.clone(),
            listed: self.listed.clone(),
            reads: Arc::default(),
        }
    }

    /// The file server, whose reads are not noted.
    pub fn as_given(&self) -> &dyn FileServer {
        &*self.server
    }

    /// The file server of templates.
    pub fn server(&self) -> Arc<dyn FileServer> {
        Arc::new(RecordingFiles {
            server: self.server.clone(),
            reads: self.reads.clone(),
        })
    }

    /// The reads.
    pub fn reads(&self) -> &Arc<CompileReads> {
        &self.reads
    }

    /// A file by its path.
    pub fn file(&self, path: &str, env: &str) -> Result<Option<File>> {
        // The reference takes such a path for one on disk; here nothing leaves the roots.
        if path.starts_with('/') {
            return Ok(None);
        }
        let failed = |e: LoadError| {
            Error::new(
                ErrorKind::File,
                format!("cannot read {path} of the pillar: {e}"),
            )
        };
        let asked = SaltPath::from_relative(path);
        let fetched = self.server.fetch(&asked, env);
        self.reads.note_fetched(env, &asked, &fetched);
        match fetched.map_err(failed)? {
            Fetched::Found { on_disk, bytes } => Ok(Some(File {
                path: path.into(),
                shown: on_disk.display().to_string(),
                bytes,
            })),
            Fetched::Missing => Ok(None),
            Fetched::Refused { reason } | Fetched::Unusable { reason } => {
                let message = format!("{path} of the pillar is not read: {reason}");
                Err(Error::new(ErrorKind::File, message))
            }
        }
    }

    /// An sls by its name: `a.b` is `a/b.sls`, or else `a/b/init.sls`. Slashes and dots in front are those of the URL (Salt:
    /// `salt.utils.url`).
    pub fn sls(&self, name: &str, env: &str, version: SaltVersion) -> Result<Option<SlsFile>> {
        let whole = name.replace('.', "/");
        let path = whole.trim_start_matches('/');
        let path = match (
            version.behaviour().takes_off_all_slashes,
            whole.len() - path.len(),
        ) {
            (true, _) | (false, 0 | 1 | 3) => path,
            (false, _) => return Ok(None),
        };
        for (path, is_init) in [
            (format!("{path}.sls"), false),
            (format!("{path}/init.sls"), true),
        ] {
            if let Some(file) = self.file(&path, env)? {
                // Either path can be one of a directory's init.
                let is_init = is_init || path.ends_with("/init.sls");
                return Ok(Some(SlsFile { file, is_init }));
            }
        }
        Ok(None)
    }

    /// The names of all sls of an environment, sorted. The reference means to leave out what `file_ignore_glob` and
    /// `file_ignore_regex` name, and leaves out nothing.
    pub fn names(&self, env: &str) -> Result<Arc<[String]>> {
        self.reads.note(env, "", FileReadKind::List);
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = listed.get(env) {
            return Ok(names.clone());
        }
        let files = self.server.list(env, "").map_err(|e| {
            Error::new(
                ErrorKind::File,
                format!("cannot list the pillar's files of '{env}': {e}"),
            )
        })?;
        let mut names: Vec<String> = files.iter().filter_map(|path| name_of(path)).collect();
        names.sort_unstable();
        names.dedup();
        let names: Arc<[String]> = names.into();
        listed.insert(env.into(), names.clone());
        Ok(names)
    }

    /// True if an environment has any files.
    #[cfg(feature = "git")]
    pub fn has_any(&self, env: &str) -> Result<bool> {
        let files = self.server.list(env, "");
        let files = files.map_err(|e| Error::new(ErrorKind::File, e.to_string()))?;
        Ok(!files.is_empty())
    }

    /// The names of sls that a pattern means, in order.
    pub fn matching(&self, pattern: &str, env: &str) -> Result<Vec<String>> {
        let names = self.names(env)?;
        if !has_magic(pattern) {
            let at = names.binary_search_by(|name| name.as_str().cmp(pattern));
            let found = at.ok().and_then(|at| names.get(at).cloned());
            return Ok(found.into_iter().collect());
        }
        let pattern = Fnmatch::new(pattern);
        Ok(names
            .iter()
            .filter(|name| pattern.matches(name))
            .cloned()
            .collect())
    }
}

/// The name of the sls in a file.
fn name_of(path: &str) -> Option<String> {
    let name = path.strip_suffix(".sls")?;
    Some(name.strip_suffix("/init").unwrap_or(name).replace('/', "."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mapstack_loader::MemoryFiles;

    fn files() -> PillarFiles {
        let files = [
            "top.sls",
            "a/init.sls",
            "a/b.sls",
            "x/y/init.sls",
            "note.txt",
        ];
        let server = files
            .iter()
            .fold(MemoryFiles::new(), |all, path| all.file("base", path, "{}"));
        PillarFiles::new(Arc::new(server))
    }

    #[test]
    fn names_stand_for_files() {
        let files = files();
        assert_eq!(
            &*files.names("base").unwrap(),
            ["a", "a.b", "top", "x.y"].map(String::from)
        );
        assert_eq!(files.matching("a*", "base").unwrap(), ["a", "a.b"]);
        let found = files
            .sls("x.y", "base", SaltVersion::default())
            .unwrap()
            .unwrap();
        assert_eq!(
            (found.file.path.as_str(), found.is_init),
            ("x/y/init.sls", true)
        );
        let of = |name, version| files.sls(name, "base", version).unwrap().is_some();
        assert!(!of("a.c", SaltVersion::V3008));
        assert!(of(".a.b", SaltVersion::V3007) && of("/a/b", SaltVersion::V3008));
        assert!(!of("//a", SaltVersion::V3007) && of("//a", SaltVersion::V3008));
        assert!(files.file("/top.sls", "base").unwrap().is_none());
        assert!(files.names("dev").unwrap().is_empty());
    }
}
