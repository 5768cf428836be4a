//! Checks of a checkout's `.git` before anything reads it: whose it is, and that its files are files.
//!
//! A named pipe in place of a file makes its reader wait without end, and a link to a device takes all memory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files of a repository that are read as a whole, and the number of bytes that each may have.
const READ_WHOLE: [(&str, u64); 8] = [
    ("HEAD", 1 << 16),
    ("FETCH_HEAD", 1 << 24),
    ("commondir", 1 << 16),
    ("config", 1 << 24),
    ("config.worktree", 1 << 24),
    ("packed-refs", 1 << 30),
    ("shallow", 1 << 28),
    ("objects/info/alternates", 1 << 16),
];

/// Limit on the entries of `refs` and `objects` that are looked at.
const MOST_ENTRIES: usize = 2_000_000;

/// Limit on the folders inside each other.
const DEEPEST: usize = 64;

/// Check the `.git` above a directory, if there is one: a folder, or a file that names one. What looks for a repository
/// reads a `HEAD` on its way, also beside directories.
pub(super) fn check_dot_git(directory: &Path) -> Result<(), String> {
    for above in directory.ancestors() {
        let git = above.join(".git");
        check_special(&above.join("HEAD"))?;
        if fs::symlink_metadata(&git).is_ok() {
            return match fs::metadata(&git) {
                Ok(kind) if kind.is_dir() => check_files(&git),
                Ok(kind) if kind.is_file() => check_size(&git, kind.len(), 1 << 16),
                _ => Err(format!("{} is neither a folder nor a file", git.display())),
            };
        }
    }
    Ok(())
}

/// Check a repository before it is opened.
pub(super) fn check(git: &Path) -> Result<(), String> {
    check_owner(git)?;
    check_files(git)
}

/// Check that a repository is the user's, as git does: one of another owner has to be named by `safe.directory`.
fn check_owner(git: &Path) -> Result<(), String> {
    let trust = gix::sec::Trust::from_path_ownership(git).map_err(|e| e.to_string())?;
    if trust == gix::sec::Trust::Full {
        return Ok(());
    }
    let named = gix::open::Options::default()
        .bail_if_untrusted(true)
        .open(git);
    named.map(drop).map_err(|_| {
        let top = git.parent().unwrap_or(git);
        format!(
            "it belongs to another user; if it is safe to read, add {} to git's setting safe.directory",
            top.display()
        )
    })
}

/// Check that what is read is a file of bounded size.
pub(super) fn check_files(git: &Path) -> Result<(), String> {
    let mut left = MOST_ENTRIES;
    for directory in [Some(git.to_path_buf()), common(git)?]
        .into_iter()
        .flatten()
    {
        for (name, most) in READ_WHOLE {
            check_file(&directory.join(name), most)?;
        }
        for folder in ["refs", "objects"] {
            check_folder(&directory.join(folder), DEEPEST, &mut left)?;
        }
    }
    Ok(())
}

/// The repository that a work tree's shares, if it names one.
fn common(git: &Path) -> Result<Option<PathBuf>, String> {
    let file = git.join("commondir");
    check_file(&file, 1 << 16)?;
    match fs::read_to_string(&file) {
        Ok(named) => Ok(Some(git.join(named.trim_end()))),
        Err(_) => Ok(None),
    }
}

fn check_file(path: &Path, most: u64) -> Result<(), String> {
    match fs::metadata(path) {
        Ok(kind) if kind.is_file() => check_size(path, kind.len(), most),
        Ok(_) => Err(not_a_file(path)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(format!("{}: {e}", path.display())),
    }
}

/// Check that a path is neither a pipe nor a device.
fn check_special(path: &Path) -> Result<(), String> {
    match fs::metadata(path) {
        Ok(kind) if !kind.is_file() && !kind.is_dir() => Err(not_a_file(path)),
        _ => Ok(()),
    }
}

fn check_size(path: &Path, bytes: u64, most: u64) -> Result<(), String> {
    match bytes <= most {
        true => Ok(()),
        false => Err(format!("{} has {bytes} bytes", path.display())),
    }
}

/// Check that all that lies below a folder are files and folders.
fn check_folder(path: &Path, depth: usize, left: &mut usize) -> Result<(), String> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(format!("{}: {e}", path.display())),
    };
    for entry in entries.flatten() {
        *left = left
            .checked_sub(1)
            .filter(|_| depth > 0)
            .ok_or_else(|| format!("{} has too many files", path.display()))?;
        let inside = entry.path();
        let mut kind = entry.file_type().map_err(|e| e.to_string())?;
        if kind.is_symlink() {
            match fs::metadata(&inside) {
                Ok(target) => kind = target.file_type(),
                Err(_) => continue,
            }
        }
        if kind.is_dir() {
            check_folder(&inside, depth - 1, left)?;
        } else if !kind.is_file() {
            return Err(not_a_file(&inside));
        }
    }
    Ok(())
}

fn not_a_file(path: &Path) -> String {
    format!("{} is not a file", path.display())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A repository with a reference and an object.
    fn repository() -> tempfile::TempDir {
        let git = tempfile::tempdir().unwrap();
        for folder in ["refs/heads", "objects/aa"] {
            fs::create_dir_all(git.path().join(folder)).unwrap();
        }
        for file in ["HEAD", "config", "refs/heads/main", "objects/aa/bb"] {
            fs::write(git.path().join(file), "x\n").unwrap();
        }
        git
    }

    #[test]
    fn what_is_no_file_is_refused_before_it_is_read() {
        let git = repository();
        assert_eq!(check(git.path()), Ok(()));
        for name in [
            "HEAD",
            "config",
            "shallow",
            "packed-refs",
            "commondir",
            "objects/info/alternates",
            "refs/heads/main",
            "objects/aa/bb",
            "objects/pack/pack-1.idx",
        ] {
            let git = repository();
            let path = git.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let _ = fs::remove_file(&path);
            symlink("/dev/zero", &path).unwrap();
            let refused = check(git.path()).unwrap_err();
            assert!(
                refused.ends_with(&format!("{name} is not a file")),
                "{refused}"
            );
        }
    }

    #[test]
    fn pipes_and_huge_files_are_refused() {
        let git = repository();
        let head = git.path().join("HEAD");
        fs::File::options()
            .write(true)
            .open(&head)
            .unwrap()
            .set_len(1 << 30)
            .unwrap();
        assert!(
            check(git.path())
                .unwrap_err()
                .ends_with("HEAD has 1073741824 bytes")
        );
        fs::remove_file(&head).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&head).status();
        assert!(made.unwrap().success());
        assert!(
            check(git.path())
                .unwrap_err()
                .ends_with("HEAD is not a file")
        );
        // A work tree's folder leads to the repository.
        let tree = repository();
        fs::write(
            tree.path().join("commondir"),
            format!("{}\n", git.path().display()),
        )
        .unwrap();
        assert!(
            check(tree.path())
                .unwrap_err()
                .ends_with("HEAD is not a file")
        );
    }

    #[test]
    fn the_file_of_a_work_tree_is_a_file() {
        let top = tempfile::tempdir().unwrap();
        assert_eq!(check_dot_git(top.path()), Ok(()));
        fs::create_dir(top.path().join("bare")).unwrap();
        symlink("/dev/zero", top.path().join("bare/HEAD")).unwrap();
        let refused = check_dot_git(&top.path().join("bare/salt")).unwrap_err();
        assert!(refused.ends_with("bare/HEAD is not a file"), "{refused}");
        symlink("/dev/zero", top.path().join(".git")).unwrap();
        let refused = check_dot_git(&top.path().join("salt")).unwrap_err();
        assert!(
            refused.ends_with(".git is neither a folder nor a file"),
            "{refused}"
        );
    }
}
