//! Opening a file below a root, and proof that it lies there.
//!
//! Looking at a path and then opening it by name leaves a moment in which the path can be turned
//! into a link. So the proof is about the open file: it was opened without following any link
//! (`RESOLVE_NO_SYMLINKS`), below a root whose own path has none. A path with links is resolved
//! first, and where it leads is opened in the same way.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The result of opening a path.
pub(crate) enum Opening {
    /// A file that lies below the root.
    Inside(File),
    /// The path leads out of the root.
    Outside,
}

/// Opens `path`, which begins with `real`, a path without links.
///
/// A pipe does not make the caller wait; the caller checks that the file is a regular one.
pub(crate) fn open_inside(real: &Path, path: &Path) -> io::Result<Opening> {
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
pub(crate) fn open_anywhere(path: &Path) -> io::Result<File> {
    system::open(path, true)
}

/// True if `path` leads to something below `real`.
pub(crate) fn is_inside(real: &Path, path: &Path) -> io::Result<bool> {
    resolve(real, path).map(|target| target.is_some())
}

/// Why a path was not opened without following links.
enum OpenRefusal {
    Link,
    Unsupported,
    Io(io::Error),
}

/// Resolve `path`; `None` if it leads out of `real`.
pub(crate) fn resolve(real: &Path, path: &Path) -> io::Result<Option<PathBuf>> {
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

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
}
