//! Files that are replaced whole.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Write a file as a whole: beside the one that is there, and then moved over it. Half a file would be worse than
/// the old one.
///
/// A link stays a link, and the file that it leads to is replaced; permissions stay as well. What is not a regular
/// file, such as a pipe, is written to.
///
/// ```
/// let home = tempfile::tempdir()?;
/// let file = home.path().join("web1.yaml");
/// mapstack_frontend::outputs::replace(&file, "a: 1\n")?;
/// mapstack_frontend::outputs::replace(&file, "a: 2\n")?;
/// assert_eq!(std::fs::read_to_string(file)?, "a: 2\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The file cannot be written, or a link is broken. The old file stays as it was.
pub fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut replacement = Replacement::new(file)?;
    replacement.write_all(text.as_bytes())?;
    replacement.finish()
}

/// An error of writing, with the file that it is about.
pub(crate) fn of_file(file: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("{}: {e}", file.display()))
}

/// A replacement ([`replace`]) of a file, written piece by piece. Until [`finish`](Self::finish) the old file stays as
/// it is.
///
/// ```
/// use std::io::Write;
/// use mapstack_frontend::outputs::Replacement;
/// let home = tempfile::tempdir()?;
/// let file = home.path().join("1-of-2.part");
/// let mut replacement = Replacement::new(&file)?;
/// replacement.write_all(b"half of it, ")?;
/// assert!(!file.exists());
/// replacement.write_all(b"and all of it")?;
/// replacement.finish()?;
/// assert_eq!(std::fs::read_to_string(file)?, "half of it, and all of it");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Replacement(Destination);

enum Destination {
    /// A temporary file next to the existing one, with its permissions.
    Beside {
        written: tempfile::NamedTempFile<fs::File>,
        real: PathBuf,
        permissions: Option<fs::Permissions>,
    },
    /// Into what is not a regular file.
    Into(fs::File),
}

impl Replacement {
    /// Begin a replacement, of which nothing is written yet.
    ///
    /// # Errors
    /// No file can be made next to the existing one, or a link is broken.
    pub fn new(file: &Path) -> io::Result<Self> {
        let there = match fs::metadata(file) {
            // The name of such a file need not be a path that can be replaced: `/dev/stdout` is a pipe without one.
            Ok(there) if !there.is_file() => {
                let into = fs::OpenOptions::new().write(true).open(file)?;
                return Ok(Replacement(Destination::Into(into)));
            }
            Ok(there) => Some(there),
            Err(e) if e.kind() == io::ErrorKind::NotFound && !file.is_symlink() => None,
            Err(e) => return Err(e),
        };
        let real = if there.is_some() {
            fs::canonicalize(file)?
        } else {
            file.to_owned()
        };
        let directory = real
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        // As any new file it has the usual permissions, other than a file for secrets.
        let create = |path: &Path| {
            fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(path)
        };
        let written = tempfile::Builder::new()
            .prefix(".mapstack-")
            .suffix(".new")
            .make_in(directory, create)?;
        Ok(Replacement(Destination::Beside {
            written,
            real,
            permissions: there.map(|there| there.permissions()),
        }))
    }

    /// Put all that was written in place of the file.
    ///
    /// # Errors
    /// The file cannot be replaced, and stays as it was.
    pub fn finish(self) -> io::Result<()> {
        let Destination::Beside {
            written,
            real,
            permissions,
        } = self.0
        else {
            return Ok(());
        };
        if let Some(permissions) = permissions {
            written.as_file().set_permissions(permissions)?;
        }
        written.persist(&real).map_err(|e| e.error)?;
        Ok(())
    }
}

impl io::Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Destination::Beside { written, .. } => written.write(bytes),
            Destination::Into(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Destination::Beside { written, .. } => written.flush(),
            Destination::Into(file) => file.flush(),
        }
    }
}

/// [`replace`] a file that still has the text that it had before. One that has the new text already is as it should
/// be: another run may have made the same change.
///
/// ```
/// let home = tempfile::tempdir()?;
/// let file = home.path().join("web1.yaml");
/// mapstack_frontend::outputs::replace(&file, "a: 1\n")?;
/// mapstack_frontend::outputs::replace_unchanged(&file, "a: 1\n", "a: 2\n")?;
/// mapstack_frontend::outputs::replace_unchanged(&file, "a: 1\n", "a: 2\n")?;
/// let late = mapstack_frontend::outputs::replace_unchanged(&file, "a: 1\n", "a: 3\n").unwrap_err();
/// assert_eq!(late.to_string(), "it was changed meanwhile");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The file has a third text, cannot be read, or cannot be replaced. It stays as it is.
pub fn replace_unchanged(file: &Path, before: &str, after: &str) -> io::Result<()> {
    match fs::read_to_string(file)? {
        now if now == before => replace(file, after),
        now if now == after => Ok(()),
        _ => Err(io::Error::other("it was changed meanwhile")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        replace(&at("new"), "1").unwrap();
        assert_eq!(fs::read_to_string(at("new")).unwrap(), "1");
        // A reader that has the old file open, or a link to it, keeps all of it.
        fs::hard_link(at("new"), at("old")).unwrap();
        replace(&at("new"), "2").unwrap();
        assert_eq!(fs::read_to_string(at("new")).unwrap(), "2");
        assert_eq!(fs::read_to_string(at("old")).unwrap(), "1");
        // A failing write leaves no file.
        fs::create_dir(at("folder")).unwrap();
        replace(&at("folder"), "3").unwrap_err();
        let absent = replace(&at("absent/file"), "3").unwrap_err();
        assert!(!absent.to_string().contains("mapstack-"), "{absent}");
        assert_eq!(home.path().read_dir().unwrap().count(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
        fs::write(at("plain"), "").unwrap();
        replace(&at("file"), "1").unwrap();
        assert_eq!(
            mode("file"),
            mode("plain"),
            "a new file has what any new file has"
        );
        fs::set_permissions(at("file"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", at("link")).unwrap();
        replace(&at("link"), "2").unwrap();
        assert!(at("link").is_symlink());
        assert_eq!(
            (fs::read_to_string(at("file")).unwrap(), mode("file")),
            ("2".into(), 0o640)
        );
        symlink("nowhere", at("dangling")).unwrap();
        replace(&at("dangling"), "3").unwrap_err();
        assert!(!at("nowhere").exists());
    }
}
