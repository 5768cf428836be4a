//! The files of nodes and classes (reclass: `storage.yaml_fs`).

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_value::Value;
use mapstack_value::posixpath::join;

use crate::classes::Host;
use crate::classes::files::unreadable;

/// Files by the names of their nodes or classes, in the order of directories.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct InventoryFiles {
    by_name: IndexMap<String, InventoryFile, RandomState>,
}

/// A file of a node or a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryFile {
    /// Its path.
    pub path: String,
    /// Its path from the directory of all, without the ending.
    pub name: String,
}

/// The way from a file's path to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamingScheme {
    /// A node is named as its file.
    Nodes,
    /// The directories are a part of a node's name.
    ComposedNodes,
    /// The directories are a part of a class's name, and `init` means its directory.
    Classes,
}

/// Directories nest this deep at most.
const MAX_DEPTH: usize = 32;

impl InventoryFiles {
    /// All files below a directory.
    pub fn below(host: &dyn Host<Value>, directory: &str, naming: NamingScheme) -> Result<Self> {
        let mut files = InventoryFiles::default();
        files.walk(host, directory, directory, "", naming)?;
        Ok(files)
    }

    pub fn get(&self, name: &str) -> Option<&InventoryFile> {
        self.by_name.get(name)
    }

    /// The number of them.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    fn walk(
        &mut self,
        host: &dyn Host<Value>,
        root: &str,
        directory: &str,
        way: &str,
        naming: NamingScheme,
    ) -> Result<()> {
        if way.split('/').count() > MAX_DEPTH {
            let message = format!("{directory} lies deeper than {MAX_DEPTH} directories");
            return Err(Error::new(ErrorKind::Limit, message)
                .help("does a link lead back to a directory above it?"));
        }
        let entries = host.tree().entries(directory).map_err(|e| unreadable(&e))?;
        let Some(entries) = entries else {
            let message = format!("{directory} is not a directory");
            return Err(Error::new(ErrorKind::File, message)
                .help("an inventory has a directory with nodes and one with classes; see `nodes_uri` and `classes_uri`"));
        };
        host.spend(entries.len())?;
        for entry in entries.iter().filter(|entry| !entry.is_directory()) {
            self.add(root, directory, way, entry.name(), naming)?;
        }
        let directories = entries
            .iter()
            .filter(|entry| entry.is_directory())
            .map(|entry| entry.name().to_owned());
        for name in walked(directories.collect()) {
            let way = join(way, &name);
            self.walk(host, root, &join(directory, &name), &way, naming)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        root: &str,
        directory: &str,
        way: &str,
        file: &str,
        naming: NamingScheme,
    ) -> Result<()> {
        let Some(stem) = [".yml", ".yaml"]
            .iter()
            .find_map(|ending| file.strip_suffix(ending))
        else {
            return Ok(());
        };
        // Python takes a name without anything before the dot for a name without an ending.
        let stem = if stem.is_empty() { file } else { stem };
        let parts = || way.split('/').chain([stem]).collect::<Vec<_>>().join(".");
        let name = match naming {
            NamingScheme::ComposedNodes if !way.is_empty() && !way.starts_with('_') => parts(),
            NamingScheme::Classes if !way.is_empty() && stem == "init" => way.replace('/', "."),
            NamingScheme::Classes if !way.is_empty() => parts(),
            _ => stem.to_owned(),
        };
        // Nodes whose directories do not count keep the dot of the topmost one.
        let shown_way = if way.is_empty() && naming == NamingScheme::Nodes {
            "."
        } else {
            way
        };
        let made = InventoryFile {
            path: join(directory, file),
            name: join(shown_way, stem),
        };
        match self.by_name.insert(name.clone(), made) {
            None => Ok(()),
            Some(other) => {
                let what = if naming == NamingScheme::Classes {
                    "class"
                } else {
                    "node"
                };
                let message = format!(
                    "{} and {} below {root} are both the {what} '{name}'",
                    other.path,
                    join(directory, file)
                );
                Err(Error::new(ErrorKind::File, message).help("rename or remove one of them"))
            }
        }
    }
}

/// The directories that are walked: hidden ones are left out, but for one right behind another, which is a habit of
/// reclass.
fn walked(mut names: Vec<String>) -> Vec<String> {
    let is_skipped = |name: &str| name.starts_with('.') || matches!(name, "CVS" | "SCCS");
    let mut at = 0;
    while at < names.len() {
        if is_skipped(&names[at]) {
            names.remove(at);
        }
        at += 1;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_hidden_directories_every_second_is_walked() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(walked(names(&[".a", ".b", "c"])), names(&[".b", "c"]));
        assert_eq!(walked(names(&[".a", "b", ".c"])), names(&["b"]));
        assert_eq!(walked(names(&["CVS", "b"])), names(&["b"]));
    }

    #[test]
    fn paths_make_names() {
        let name = |way: &str, file: &str, naming: NamingScheme| {
            let mut files = InventoryFiles::default();
            files
                .add("/r", &join("/r", way), way, file, naming)
                .unwrap();
            let (name, file) = files.by_name.into_iter().next().unwrap();
            format!("{name} {}", file.name)
        };
        assert_eq!(name("a/b", "c.yml", NamingScheme::Classes), "a.b.c a/b/c");
        assert_eq!(
            name("a/b", "init.yml", NamingScheme::Classes),
            "a.b a/b/init"
        );
        assert_eq!(name("", "init.yaml", NamingScheme::Classes), "init init");
        assert_eq!(name("a", "w.x.yml", NamingScheme::Nodes), "w.x a/w.x");
        assert_eq!(name("", "w.yml", NamingScheme::Nodes), "w ./w");
        assert_eq!(name("a", "w.yml", NamingScheme::ComposedNodes), "a.w a/w");
        assert_eq!(
            name("_a/b", "w.yml", NamingScheme::ComposedNodes),
            "w _a/b/w"
        );
    }
}
