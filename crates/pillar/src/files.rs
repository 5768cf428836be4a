//! Data files: the files of a name in a config file.

use std::path::Path;

use mapstack_loader::{Fetched, LoadError};
use mapstack_salt_config::disk::FileTree;
use mapstack_value::posixpath::{join, normpath};

use mapstack::File;
use mapstack_diagnostic::{Error, ErrorKind, Means, Result};

/// A data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DataFile {
    /// Its path as the reference spells it.
    pub path: String,
    /// Its path from the config file's directory, as templates know it.
    pub name: String,
    /// The path at which it is read: links among the names before a `..` in its path are not followed.
    pub on_disk: String,
}

/// The file that a name in a config file of MakoStack means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NamedFile {
    Missing,
    File(DataFile),
    /// The reference finds it and then refuses it.
    Refused(DataFile),
}

/// The directory of a config file, and what may be read at all.
#[derive(Clone, Copy)]
pub(crate) struct Base<'b> {
    pub directory: &'b str,
    pub tree: &'b FileTree,
}

impl Base<'_> {
    /// The files of a name or pattern of PillarStack, in order.
    pub fn matching(self, item: &str) -> Result<Vec<DataFile>> {
        let leads_out = |path: &str| {
            let message = format!("{path} does not lie below the config file's directory");
            let error = Error::new(ErrorKind::File, message);
            error.help("PillarStack loads files only from that directory, without `..`")
        };
        let whole = join(self.directory, item);
        let paths = self.tree.glob(self.directory, item).map_err(|e| match e {
            LoadError::Outside { .. } if relative(&whole, self.directory).is_none() => {
                leads_out(&whole)
            }
            e => unreadable(&e),
        })?;
        let file = |path: String| match relative(&path, self.directory) {
            Some(name) => Ok(DataFile {
                on_disk: join(self.directory, &name),
                path,
                name,
            }),
            None => Err(leads_out(&path)),
        };
        paths.into_iter().map(file).collect()
    }

    /// The file of a name of MakoStack: below the directory, or else, if the name is
    /// absolute, at that path (Mako: `TemplateLookup.get_template`).
    pub fn named(self, item: &str) -> Result<NamedFile> {
        let Some(path) = self.looked_up(item, item.starts_with('/'))? else {
            return Ok(NamedFile::Missing);
        };
        let file = DataFile {
            on_disk: path.clone(),
            path,
            name: item.into(),
        };
        Ok(if leads_up(item) {
            NamedFile::Refused(file)
        } else {
            NamedFile::File(file)
        })
    }

    /// A file below the directory, or below the root.
    fn looked_up(self, uri: &str, from_root: bool) -> Result<Option<String>> {
        // Mako takes them for slashes.
        let uri = uri.replace('\\', "/");
        let places = [self.directory].into_iter().chain(from_root.then_some("/"));
        for place in places {
            let path = normpath(&join(place, uri.trim_start_matches('/')));
            if self.tree.is_file(&path).map_err(|e| unreadable(&e))? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Read a file; `None` if no regular file is there.
    pub fn read(self, file: &DataFile) -> Result<Option<File>> {
        let found = self.tree.read(&file.on_disk).map_err(|e| unreadable(&e))?;
        Ok(match found {
            Fetched::Found { on_disk, bytes } => Some(File {
                path: file.name.clone(),
                shown: match on_disk == Path::new(&file.on_disk) {
                    true => file.path.clone(),
                    false => on_disk.display().to_string(),
                },
                bytes,
            }),
            Fetched::Missing | Fetched::Refused { .. } | Fetched::Unusable { .. } => None,
        })
    }

    /// Read another template by its path from the directory.
    pub fn template(self, name: &str) -> Result<Option<File>> {
        let on_disk = join(self.directory, name);
        self.read(&DataFile {
            path: on_disk.clone(),
            name: name.into(),
            on_disk,
        })
    }

    /// Read another template of Mako by its URI; below the root, too, for one that has it among its places.
    pub fn template_of_mako(self, uri: &str, from_root: bool) -> Result<Option<File>> {
        let Some(on_disk) = self.looked_up(uri, from_root)? else {
            return Ok(None);
        };
        if leads_up(uri) {
            return Err(Error::new(
                ErrorKind::Template,
                format!("{uri} leads up by `..`"),
            ));
        }
        self.read(&DataFile {
            path: on_disk.clone(),
            name: uri.into(),
            on_disk,
        })
    }
}

/// True if a URI of Mako leads out of where it starts, which is refused (Mako: `Template`).
fn leads_up(uri: &str) -> bool {
    normpath(uri.replace('\\', "/").trim_start_matches('/')).starts_with("..")
}

/// An error of the loader.
pub(crate) fn unreadable(e: &LoadError) -> Error {
    let error = Error::new(ErrorKind::File, e.to_string());
    match e {
        LoadError::Outside { .. } => error.help(format!(
            "files lie below the directory of a config file; allow another with {}",
            Means::StackRoot
        )),
        _ => error,
    }
}

fn steps(path: &str) -> Vec<&str> {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/').filter(|step| !matches!(*step, "" | ".")) {
        match steps.last() {
            Some(last) if step == ".." && *last != ".." => {
                steps.pop();
            }
            None if step == ".." && path.starts_with('/') => {}
            _ => steps.push(step),
        }
    }
    steps
}

/// The way from a directory down to a path, if that is where it leads by its names.
fn relative(path: &str, directory: &str) -> Option<String> {
    if path.starts_with('/') != directory.starts_with('/') {
        return None;
    }
    let (path, directory) = (steps(path), steps(directory));
    Some(path.strip_prefix(&*directory)?.join("/")).filter(|way| !way.starts_with(".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_lead_down_only() {
        for (path, directory, way) in [
            ("/srv/a/b.yml", "/srv/a", Some("b.yml")),
            ("/srv/a/./c/../b.yml", "/srv/a/", Some("b.yml")),
            ("/srv/a/../b.yml", "/srv/a", None),
            ("/srv/ab", "/srv/a", None),
            ("/srv/a", "/srv/a", Some("")),
            ("b.yml", "", Some("b.yml")),
            ("../b.yml", "", None),
            ("../x/b.yml", "../x", Some("b.yml")),
            ("/srv/a/b.yml", "srv/a", None),
            ("/../etc/x", "/etc", Some("x")),
            ("/etc/x", "/", Some("etc/x")),
        ] {
            assert_eq!(
                relative(path, directory).as_deref(),
                way,
                "{path} from {directory}"
            );
        }
    }
}
