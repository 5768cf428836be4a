//! Opening a file below a directory, with proof that it lies there.
//!
//! Looking at a path and then opening it by name leaves a moment in which the path can be turned into a link. So the proof
//! is about the open file: it was opened without following any link, below a directory whose own path has none. A path with
//! links is resolved first, and the file it leads to is opened in the same way.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of opening a path.
pub enum Opening {
    /// A file that lies below the root.
    Inside(File),
    /// The path leads out of the root.
    Outside,
}

/// Opens `path`, which begins with `real`, a path without links.
///
/// A pipe does not make the caller wait; the caller checks that the file is a regular one.
///
/// # Errors
/// Nothing is there, or the system refuses.
pub fn open_inside(real: &Path, path: &Path) -> io::Result<Opening> {
    match open_without_links(path) {
        Ok(file) => Ok(Opening::Inside(file)),
        Err(OpenRefusal::Link) => match resolve(real, path)? {
            None => Ok(Opening::Outside),
            Some(target) => match open_without_links(&target) {
                Ok(file) => Ok(Opening::Inside(file)),
                // It became a link again after it was resolved.
                Err(OpenRefusal::Link) => Ok(Opening::Outside),
                Err(OpenRefusal::Unsupported) => open_resolved(&target).map(Opening::Inside),
                Err(OpenRefusal::Io(error)) => Err(error),
            },
        },
        Err(OpenRefusal::Unsupported) => match resolve(real, path)? {
            None => Ok(Opening::Outside),
            Some(target) => open_resolved(&target).map(Opening::Inside),
        },
        Err(OpenRefusal::Io(error)) => Err(error),
    }
}

/// Opens `path` wherever it leads.
///
/// # Errors
/// Nothing is there, or the system refuses.
pub fn open_anywhere(path: &Path) -> io::Result<File> {
    system::open(path, true)
}

/// True if `path` leads to something below `real`.
///
/// # Errors
/// As of [`resolve`].
pub fn is_inside(real: &Path, path: &Path) -> io::Result<bool> {
    resolve(real, path).map(|target| target.is_some())
}

/// Why a path was not opened without following links.
enum OpenRefusal {
    Link,
    Unsupported,
    Io(io::Error),
}

/// Resolve `path`; `None` if it leads out of `real`.
///
/// # Errors
/// Nothing is there, or the system refuses.
pub fn resolve(real: &Path, path: &Path) -> io::Result<Option<PathBuf>> {
    let target = fs::canonicalize(path)?;
    Ok(target.starts_with(real).then_some(target))
}

/// Not every system can rule out links on the way: at least the last step follows none.
fn open_resolved(target: &Path) -> io::Result<File> {
    system::open(target, false)
}

#[cfg(target_os = "linux")]
fn open_without_links(path: &Path) -> Result<File, OpenRefusal> {
    use rustix::fs::{CWD, Mode, ResolveFlags, openat2};
    use rustix::io::Errno;

    match openat2(
        CWD,
        path,
        system::FLAGS,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS,
    ) {
        Ok(file) => Ok(file.into()),
        Err(Errno::LOOP) => Err(OpenRefusal::Link),
        // Kernels before 5.6, and sandboxes that do not know the call.
        Err(Errno::NOSYS | Errno::PERM) => Err(OpenRefusal::Unsupported),
        Err(errno) => Err(OpenRefusal::Io(errno.into())),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_without_links(_: &Path) -> Result<File, OpenRefusal> {
    Err(OpenRefusal::Unsupported)
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use rustix::fs::{Mode, OFlags};

    pub(super) const FLAGS: OFlags = OFlags::RDONLY
        .union(OFlags::CLOEXEC)
        .union(OFlags::NONBLOCK)
        .union(OFlags::NOCTTY);

    pub(super) fn open(path: &Path, follow_last: bool) -> io::Result<File> {
        let flags = if follow_last {
            FLAGS
        } else {
            FLAGS.union(OFlags::NOFOLLOW)
        };
        Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn open(path: &Path, _follow_last: bool) -> io::Result<File> {
        File::open(path)
    }
}

/// Errors that mean that a file does not exist: nothing is there, or links lead nowhere or in circles. After any other
/// error there may be one.
#[must_use]
pub fn is_missing(e: &io::Error) -> bool {
    let absent = matches!(
        e.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::InvalidInput
    );
    absent || is_link_loop(e) || is_bad_name(e)
}

/// True if the system has no files of such names: `ERROR_BAD_PATHNAME` has no kind.
fn is_bad_name(e: &io::Error) -> bool {
    cfg!(windows) && e.raw_os_error() == Some(161)
}

/// True if an error means that links lead in a circle.
#[cfg(unix)]
#[must_use]
pub fn is_link_loop(e: &io::Error) -> bool {
    e.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// True if an error means that links lead in a circle.
#[cfg(not(unix))]
#[must_use]
pub fn is_link_loop(e: &io::Error) -> bool {
    // `ERROR_CANT_RESOLVE_FILENAME`, whose kind is not stable.
    cfg!(windows) && e.raw_os_error() == Some(1921)
}

/// The result of reading an open file.
pub enum OpenFileRead {
    /// Its content.
    Bytes(Arc<[u8]>),
    /// It is a directory, a pipe or a device by now.
    NoFile,
    /// Its size, which is over the limit.
    TooLarge(u64),
}

/// Read a file, unless it has more bytes than `limit`.
///
/// # Errors
/// The system does not give its content.
pub fn read(mut file: File, limit: u64) -> io::Result<OpenFileRead> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Ok(OpenFileRead::NoFile);
    }
    if found.len() > limit {
        return Ok(OpenFileRead::TooLarge(found.len()));
    }
    // One byte more than it has shows in the same read that the file did not grow.
    let mut bytes = vec![
        0;
        usize::try_from(found.len())
            .unwrap_or(usize::MAX)
            .saturating_add(1)
    ];
    let filled = fill(&mut file, &mut bytes)?;
    if filled < bytes.len() {
        bytes.truncate(filled);
    } else {
        file.take(limit.saturating_sub(found.len()))
            .read_to_end(&mut bytes)?;
    }
    let size = bytes.len() as u64;
    Ok(if size > limit {
        OpenFileRead::TooLarge(size)
    } else {
        OpenFileRead::Bytes(bytes.into())
    })
}

/// The words for a file that is larger than what is read of one.
///
/// ```
/// assert!(mapstack_loader::inside::too_large(10, 9).starts_with("has 10 bytes, more than the 9 that are read"));
/// ```
#[must_use]
pub fn too_large(size: u64, limit: u64) -> String {
    format!("has {size} bytes, more than the {limit} that are read; is it a parameter file at all?")
}

/// The words for a tree that has more entries than are listed.
///
/// ```
/// assert!(mapstack_loader::inside::too_many(9).starts_with("has more than 9 files and directories"));
/// ```
#[must_use]
pub fn too_many(limit: usize) -> String {
    format!(
        "has more than {limit} files and directories, links to directories counted each time; \
         is it the right root, or do links in it repeat a tree?"
    )
}

/// Reads until the buffer is full or the file ends; a read that falls short by one byte is its end.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        }
        if filled + 1 == buffer.len() {
            break;
        }
    }
    Ok(filled)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::io::Errno;

    use super::*;

    /// The fallback for systems that cannot rule out links on the way.
    #[test]
    fn without_the_system_s_help_the_last_step_follows_no_link() {
        let dir = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(real.join("root")).unwrap();
        fs::write(real.join("secret"), "secret").unwrap();
        fs::write(real.join("root/file"), "file").unwrap();
        symlink("file", real.join("root/inside")).unwrap();
        symlink("../secret", real.join("root/outside")).unwrap();
        let root = real.join("root");
        assert_eq!(
            resolve(&root, &root.join("inside")).unwrap(),
            Some(root.join("file"))
        );
        assert_eq!(resolve(&root, &root.join("outside")).unwrap(), None);
        assert!(open_resolved(&root.join("file")).is_ok());
        assert!(open_resolved(&root.join("outside")).is_err());
    }

    #[test]
    fn only_some_errors_mean_that_there_is_no_file() {
        let is_missing = |errno: Errno| is_missing(&io::Error::from(errno));
        for errno in [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::NAMETOOLONG] {
            assert!(is_missing(errno), "{errno}");
        }
        for errno in [
            Errno::ACCESS,
            Errno::IO,
            Errno::STALE,
            Errno::NOTCONN,
            Errno::TIMEDOUT,
            Errno::NFILE,
            Errno::MFILE,
            Errno::PERM,
            Errno::NOMEM,
        ] {
            assert!(!is_missing(errno), "{errno}");
        }
    }
}
