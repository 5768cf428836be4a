//! The files of a pillar, as rules look at them.

use std::collections::BTreeMap;

use crate::SourceFile;
use mapstack::loader::{Fetched, SaltPath};
use mapstack::{Error, ErrorKind, sls_name};
use mapstack_pillar::{Master, pillar_roots};

/// A file of the pillar, in one of its environments.
#[derive(Debug)]
pub(crate) struct PillarFile {
    pub saltenv: String,
    pub source: SourceFile,
}

/// The readable files of a pillar, each once: environments can share directories.
#[derive(Debug, Default)]
pub(crate) struct ReadablePillarFiles {
    /// By the names by which a person opens them.
    pub all: BTreeMap<String, PillarFile>,
    /// The environments that have directories.
    pub envs: Vec<String>,
    /// Top files of later roots, which are not read, each with the one that is.
    pub shadowed: Vec<(String, String)>,
}

/// The usual name of a top file.
pub(crate) const TOP: &str = "top.sls";

impl ReadablePillarFiles {
    /// Read the files of every environment.
    pub fn read(master: &Master) -> Result<Self, Error> {
        let mut files = ReadablePillarFiles::default();
        for (env, _) in pillar_roots(master.config().options()) {
            if !files.envs.contains(&env) {
                files.read_env(master, &env)?;
                files.envs.push(env);
            }
        }
        Ok(files)
    }

    fn read_env(&mut self, master: &Master, env: &str) -> Result<(), Error> {
        let failed = |e: mapstack::loader::LoadError| {
            let message = format!("cannot list the pillar's files of '{env}': {e}");
            Error::new(ErrorKind::File, message)
        };
        let server = master.files();
        let tops = server.find_all(&SaltPath::from_relative(TOP), env);
        let tops = tops.unwrap_or_default();
        let shown = |path: &std::path::PathBuf| path.display().to_string();
        if let Some((first, others)) = tops.split_first() {
            let others = others.iter().filter(|other| *other != first);
            self.shadowed
                .extend(others.map(|other| (shown(other), shown(first))));
        }
        for path in server.list(env, "").map_err(failed)? {
            let fetched = server.fetch(&SaltPath::from_relative(&path), env);
            let Ok(Fetched::Found { on_disk, bytes }) = fetched else {
                continue;
            };
            let Ok(text) = std::str::from_utf8(&bytes) else {
                continue;
            };
            let shown = on_disk.display().to_string();
            self.all.entry(shown.clone()).or_insert_with(|| PillarFile {
                saltenv: env.into(),
                source: SourceFile::new(path, shown, text),
            });
        }
        Ok(())
    }

    /// The files with sls.
    pub fn sls(&self) -> impl Iterator<Item = &PillarFile> {
        self.all.values().filter(|file| file.name().is_some())
    }

    /// True if an environment has an sls of a name.
    pub fn has(&self, saltenv: &str, sls: &str) -> bool {
        self.sls()
            .any(|file| file.saltenv == saltenv && file.name().as_deref() == Some(sls))
    }
}

impl PillarFile {
    /// The name of the sls in it, if it is one.
    pub fn name(&self) -> Option<String> {
        sls_name(&self.source.path)
    }

    /// Its directory as the start of the names of sls beside it: empty, or with a dot at its end.
    pub fn directory(&self) -> String {
        match self.source.path.rsplit_once('/') {
            Some((directory, _)) => format!("{}.", directory.replace('/', ".")),
            None => String::new(),
        }
    }
}

/// True if a text names something: the name is a separate word, and not in a comment.
pub(crate) fn names(text: &str, name: &str) -> bool {
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .any(|line| {
            line.match_indices(name).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let after = line[at + name.len()..].chars().next();
                !before.is_some_and(is_part) && !after.is_some_and(is_part)
            })
        })
}

/// True if a character can be part of the name of an sls or of a path.
pub(crate) fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_name_stands_by_itself_outside_of_comments() {
        assert!(names("include:\n  - a.b\n", "a.b"));
        assert!(names("{% import_yaml 'a/b.sls' as b %}", "a/b.sls"));
        for text in ["- a.b.c", "- x.a.b", "  # - a.b", "a.bc", "my-a.b"] {
            assert!(!names(text, "a.b"), "{text}");
        }
    }
}
