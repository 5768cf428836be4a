//! The files of nodes and classes.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use mapstack_salt_config::disk::FileTree;
use mapstack_value::posixpath::{join, split};

use super::inventory::Inventory;
use crate::classes::files::unreadable;

/// Directories nest this deep at most.
const MAX_DEPTH: usize = 32;

/// The patterns for the files of a class.
const PATTERNS: usize = 3;

/// The names that patterns mean, as far as they were looked for.
pub type MatchedNames = HashMap<String, Vec<String>, RandomState>;

/// The files of a class, in the order in which the reference prefers them.
pub struct ClassPaths {
    /// The dots are a part of the name.
    pub straight: String,
    /// The dots are directories.
    pub nested: String,
    /// The class is a directory.
    pub init: String,
}

impl ClassPaths {
    /// Of a class below a directory of classes (Salt: `get_class_paths`).
    pub fn of(class: &str, directory: &str) -> Self {
        let path = class.replace('.', "/");
        ClassPaths {
            straight: join(directory, &format!("{class}.yml")),
            nested: join(directory, &format!("{path}.yml")),
            init: join(&join(directory, &path), "init.yml"),
        }
    }
}

impl Inventory<'_> {
    /// The directory of the classes.
    pub fn classes(&self) -> String {
        join(self.path, "classes")
    }

    /// The file of the minion's node: the last one of its name in any directory below `nodes`.
    pub fn node_file(&self) -> Result<Option<String>> {
        let mut found = Vec::new();
        let name = format!("{}.yml", self.minion_id);
        self.find(&join(self.path, "nodes"), &name, 0, &mut found)?;
        if let [.., first, last] = &found[..] {
            let message = format!(
                "the node '{}' has several files, among them {first} and {last}",
                self.minion_id
            );
            let warning = Diagnostic::warning(ErrorKind::File, message);
            let help = "keep one of them: which one counts depends on the order of directories on the disk";
            self.host.warn(warning.with_help(help));
        }
        Ok(found.pop())
    }

    /// The files with a name below a directory, those of a directory before those of the directories in it.
    fn find(
        &self,
        directory: &str,
        name: &str,
        depth: usize,
        found: &mut Vec<String>,
    ) -> Result<()> {
        if depth > MAX_DEPTH {
            let message = format!("{directory} lies deeper than {MAX_DEPTH} directories");
            return Err(Error::new(ErrorKind::Limit, message)
                .help("does a link lead back to a directory above it?"));
        }
        let entries = self
            .host
            .tree()
            .entries(directory)
            .map_err(|e| unreadable(&e))?;
        let entries = entries.unwrap_or_default();
        self.host.spend(entries.len())?;
        if entries
            .iter()
            .any(|entry| entry.name() == name && !entry.is_directory())
        {
            found.push(join(directory, name));
        }
        for entry in entries.iter().filter(|entry| entry.is_directory()) {
            self.find(&join(directory, entry.name()), name, depth + 1, found)?;
        }
        Ok(())
    }

    /// The names of the classes that a name or pattern means (Salt: `match_class_glob`). Each is looked for once.
    pub fn matching<'m>(&self, class: &str, matched: &'m mut MatchedNames) -> Result<&'m [String]> {
        if !matched.contains_key(class) {
            let found = self.found(class)?;
            matched.insert(class.to_owned(), found);
        }
        let names = matched.get(class).map(Vec::as_slice).unwrap_or_default();
        self.host.spend(PATTERNS + names.len())?;
        Ok(names)
    }

    fn found(&self, class: &str) -> Result<Vec<String>> {
        let directory = self.classes();
        let paths = ClassPaths::of(class, &directory);
        let patterns: [String; PATTERNS] = [paths.straight, paths.nested, paths.init];
        let mut names = Vec::new();
        for pattern in patterns {
            let found = self.host.tree().glob("", &pattern);
            let mut matches = found.map_err(|e| unreadable(&e))?;
            // As directories are read: name by name.
            matches.sort_by(|a, b| a.split('/').cmp(b.split('/')));
            names.extend(matches.iter().map(|path| name_of(path, &directory)));
        }
        Ok(names)
    }

    /// The file of a class (Salt: `get_class`).
    pub fn class_file(&self, class: &str) -> Result<Option<String>> {
        let directory = self.classes();
        let ClassPaths {
            straight,
            nested,
            init,
        } = ClassPaths::of(class, &directory);
        for path in [straight, nested, init] {
            if is_walked(&path, &directory) && self.is_listed(&path)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// True if a directory contains a name that is not a directory. It can be a broken link.
    fn is_listed(&self, path: &str) -> Result<bool> {
        let tree: &FileTree = self.host.tree();
        if tree.is_file(path).map_err(|e| unreadable(&e))? {
            return Ok(true);
        }
        let (directory, name) = split(path);
        let is_there = !tree
            .glob("", directory)
            .map_err(|e| unreadable(&e))?
            .is_empty();
        let entries = match is_there {
            true => tree
                .entries(directory)
                .map_err(|e| unreadable(&e))?
                .unwrap_or_default(),
            false => Vec::new(),
        };
        Ok(entries
            .iter()
            .any(|entry| entry.name() == name && !entry.is_directory()))
    }
}

/// True if a walk of a directory can come to a path as it is spelt.
fn is_walked(path: &str, directory: &str) -> bool {
    let rest = path
        .strip_prefix(directory)
        .and_then(|rest| rest.strip_prefix('/'));
    rest.is_some_and(|rest| rest.split('/').all(|name| !matches!(name, "" | "." | "..")))
}

/// The name of the class in a file (Salt: `get_class_from_file`).
fn name_of(path: &str, directory: &str) -> String {
    let name: String = path.chars().skip(directory.chars().count() + 1).collect();
    let name = name.strip_suffix(".yml").unwrap_or(&name).replace('/', ".");
    name.strip_suffix(".init").map_or(name.clone(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_of_a_class_are_its_own_or_directories() {
        let paths = ClassPaths::of("app.ssh", "/srv/classes");
        assert_eq!(paths.straight, "/srv/classes/app.ssh.yml");
        assert_eq!(paths.nested, "/srv/classes/app/ssh.yml");
        assert_eq!(paths.init, "/srv/classes/app/ssh/init.yml");
    }

    #[test]
    fn a_file_names_its_class() {
        let of = |path: &str| name_of(&format!("/srv/classes/{path}"), "/srv/classes");
        assert_eq!(of("app/ssh.yml"), "app.ssh");
        assert_eq!(of("app/ssh/init.yml"), "app.ssh");
        assert_eq!(of("init.yml"), "init");
        assert_eq!(of("a.b.yml"), "a.b");
    }

    #[test]
    fn a_walk_spells_paths_in_one_way() {
        assert!(is_walked("/srv/classes/a/b.yml", "/srv/classes"));
        assert!(!is_walked("/srv/classes/a//b.yml", "/srv/classes"));
        assert!(!is_walked("/srv/classes/../b.yml", "/srv/classes"));
        assert!(!is_walked("/etc/b.yml", "/srv/classes"));
    }
}
