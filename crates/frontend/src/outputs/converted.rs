//! Files of a formula that are replaced together, or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use mapstack::{Error, ErrorKind};
use mapstack_convert::{Formula, Proposal};

use crate::outputs::Replacement;
use crate::outputs::file::of_file;

/// Write the files of a proposal into the folder of its formula: all of them or none.
///
/// # Errors
/// A path leads out of the folder or through a link, a file changed since it was read, or one cannot be written. What was
/// written before is undone.
pub fn write_proposal(
    directory: &Path,
    formula: &Formula,
    proposal: &Proposal,
) -> Result<(), Error> {
    let touched = proposal.write.keys().chain(&proposal.remove);
    for path in touched {
        check(directory, path, formula).map_err(|e| cannot(directory, path, &e))?;
    }
    let mut undo = UndoSteps::default();
    let done = all(directory, proposal, &mut undo);
    done.map_err(|(path, e)| {
        let failed = undo.run();
        let error = cannot(directory, &path, &e);
        match failed.is_empty() {
            true => error.note("every other file is as it was"),
            false => error.note(format!(
                "these could not be restored: {}",
                failed.join(", ")
            )),
        }
    })
}

fn all(
    directory: &Path,
    proposal: &Proposal,
    undo: &mut UndoSteps,
) -> Result<(), (String, io::Error)> {
    for (path, text) in &proposal.write {
        let file = directory.join(path);
        write(&file, text.as_bytes(), undo).map_err(|e| (path.clone(), e))?;
    }
    for path in &proposal.remove {
        let file = directory.join(path);
        remove(&file, undo).map_err(|e| (path.clone(), e))?;
    }
    Ok(())
}

fn cannot(directory: &Path, path: &str, e: &io::Error) -> Error {
    let message = format!("cannot change {}: {e}", directory.join(path).display());
    Error::new(ErrorKind::File, message)
}

/// Make sure that a path lies in the folder, without links on its way, and has the content that was read.
fn check(directory: &Path, path: &str, formula: &Formula) -> io::Result<()> {
    let refused = |why: &str| Err(io::Error::other(why.to_owned()));
    let mut at = directory.to_owned();
    if fs::symlink_metadata(&at)?.is_symlink() {
        return refused("the formula's folder is a link");
    }
    for part in Path::new(path).components() {
        let Component::Normal(part) = part else {
            return refused("the path leads out of the formula's folder");
        };
        at.push(part);
        if fs::symlink_metadata(&at).is_ok_and(|is| is.is_symlink()) {
            return refused("it is a link, or reached through one");
        }
    }
    match (fs::read(&at), formula.bytes(path)) {
        (Ok(now), Some(read)) if now == **read => Ok(()),
        (Err(e), None) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        (Err(e), _) => Err(e),
        (Ok(_), _) => refused("it changed after it was read"),
    }
}

/// The steps that restore everything.
#[derive(Default)]
struct UndoSteps {
    /// Files with their former content, or without one.
    files: Vec<(PathBuf, Option<Vec<u8>>)>,
    /// Directories that were made.
    made: Vec<PathBuf>,
}

impl UndoSteps {
    /// Undo everything, the last thing first. The paths for which that fails.
    fn run(self) -> Vec<String> {
        let mut failed = Vec::new();
        for (file, before) in self.files.into_iter().rev() {
            let undone = match before {
                Some(bytes) => replace_bytes(&file, &bytes),
                None => fs::remove_file(&file),
            };
            if undone.is_err() {
                failed.push(file.display().to_string());
            }
        }
        for directory in self.made.into_iter().rev() {
            // Somebody else may have put something there.
            let _ = fs::remove_dir(&directory);
        }
        failed
    }
}

fn write(file: &Path, bytes: &[u8], undo: &mut UndoSteps) -> io::Result<()> {
    let before = match fs::read(file) {
        Ok(bytes) => Some(bytes),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    make_parents(file, undo)?;
    replace_bytes(file, bytes)?;
    undo.files.push((file.to_owned(), before));
    Ok(())
}

fn make_parents(file: &Path, undo: &mut UndoSteps) -> io::Result<()> {
    let missing = |parent: &&Path| !parent.exists();
    let missing: Vec<&Path> = file.ancestors().skip(1).take_while(missing).collect();
    for parent in missing.into_iter().rev() {
        fs::create_dir(parent).map_err(|e| of_file(parent, &e))?;
        undo.made.push(parent.to_owned());
    }
    Ok(())
}

fn remove(file: &Path, undo: &mut UndoSteps) -> io::Result<()> {
    let before = fs::read(file)?;
    fs::remove_file(file)?;
    undo.files.push((file.to_owned(), Some(before)));
    Ok(())
}

fn replace_bytes(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut replacement = Replacement::new(file)?;
    replacement.write_all(bytes)?;
    replacement.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn formula(files: &[(&str, &str)]) -> (tempfile::TempDir, Formula) {
        let home = tempfile::tempdir().unwrap();
        let mut read = BTreeMap::new();
        for (path, text) in files {
            fs::write(home.path().join(path), text).unwrap();
            read.insert((*path).to_owned(), text.as_bytes().into());
        }
        (home, Formula::new("f", read))
    }

    fn tree(home: &Path) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let mut folders = vec![home.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                all.push(format!(
                    "{} {}",
                    path.display(),
                    fs::read_to_string(&path).unwrap_or_default()
                ));
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                }
            }
        }
        all.sort();
        all
    }

    #[test]
    fn all_is_written_or_nothing() {
        let (home, formula) = formula(&[("map.jinja", "old"), ("lib.jinja", "lib"), ("zz", "1")]);
        let proposal = Proposal::default()
            .writing("map.jinja", "new")
            .writing("parameters/os/Debian.yaml", "values: {}\n");
        let mut removing = proposal.clone();
        removing.remove.insert("lib.jinja".into());
        write_proposal(home.path(), &formula, &removing).unwrap();
        assert_eq!(
            fs::read_to_string(home.path().join("map.jinja")).unwrap(),
            "new"
        );
        assert!(!home.path().join("lib.jinja").exists());

        // A file where a folder has to be: nothing is changed, whatever comes before it.
        let (home, formula) = self::formula(&[("map.jinja", "old"), ("zz", "1")]);
        let before = tree(home.path());
        let broken = proposal.writing("zz/under.yaml", "x");
        write_proposal(home.path(), &formula, &broken).unwrap_err();
        assert_eq!(tree(home.path()), before);
    }

    #[test]
    fn an_error_in_the_middle_is_undone() {
        let (home, _) = formula(&[("map.jinja", "old"), ("zz", "1")]);
        let before = tree(home.path());
        let proposal = Proposal::default()
            .writing("map.jinja", "new")
            .writing("parameters/os/Debian.yaml", "values: {}\n")
            .writing("zz/under.yaml", "x");
        let mut undo = UndoSteps::default();
        all(home.path(), &proposal, &mut undo).unwrap_err();
        assert_ne!(tree(home.path()), before);
        assert!(undo.run().is_empty());
        assert_eq!(tree(home.path()), before);
    }

    #[test]
    fn what_is_outside_or_changed_is_refused() {
        let (home, formula) = formula(&[("map.jinja", "old")]);
        for path in ["../x", "/tmp/x", "a/../../x"] {
            let proposal = Proposal::default().writing(path, "x");
            write_proposal(home.path(), &formula, &proposal).unwrap_err();
        }
        fs::write(home.path().join("map.jinja"), "meanwhile").unwrap();
        let proposal = Proposal::default().writing("map.jinja", "new");
        let error = write_proposal(home.path(), &formula, &proposal).unwrap_err();
        assert!(
            error.to_string().contains("changed after it was read"),
            "{error}"
        );
        assert_eq!(
            fs::read_to_string(home.path().join("map.jinja")).unwrap(),
            "meanwhile"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused() {
        use std::os::unix::fs::symlink;

        let outside = tempfile::tempdir().unwrap();
        let (home, formula) = formula(&[("map.jinja", "old")]);
        symlink(outside.path(), home.path().join("parameters")).unwrap();
        let proposal = Proposal::default().writing("parameters/defaults.yaml", "x");
        let error = write_proposal(home.path(), &formula, &proposal).unwrap_err();
        assert!(error.to_string().contains("link"), "{error}");
        assert_eq!(outside.path().read_dir().unwrap().count(), 0);
    }
}
