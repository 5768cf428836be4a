//! The names in a directory, if a listing proves that all other names are missing.
//!
//! A look-up can find what no listing shows: where names are compared without their case or as Unicode
//! holds them equal, where they have second, short forms, where a directory appears when it is first entered.
//! So this supports only file systems that are known to do none of it, and checks that the directory at
//! hand does not ignore case.

use std::path::Path;

/// The names in a directory, none if the directory does not exist. `None` if a look-up may say otherwise.
#[cfg(target_os = "linux")]
pub(crate) fn entries(directory: &Path) -> Option<Vec<String>> {
    use rustix::fs::{AtFlags, Dir, Mode, OFlags, fstatfs, open, statat};
    use rustix::io::Errno;

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = match open(directory, flags, Mode::empty()) {
        Ok(opened) => opened,
        // Everything below such a path is missing for the same reason.
        Err(errno) => return crate::inside::is_missing(&errno.into()).then(Vec::new),
    };
    if !EXACT.contains(&i128::from(fstatfs(&opened).ok()?.f_type)) {
        return None;
    }
    let mut names = Vec::new();
    for entry in Dir::read_from(&opened).ok()? {
        let name = entry.ok()?.file_name().to_str().ok()?.to_owned();
        // Other characters can be equal to ASCII letters in a directory that ignores case.
        if !name.is_ascii() || names.len() >= MAX_NAMES {
            return None;
        }
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    // A directory can be listed and not be searched, where each look-up is an error, or ignore case.
    let found = statat(&opened, absent(&names)?, AtFlags::SYMLINK_NOFOLLOW);
    (found.err() == Some(Errno::NOENT)).then_some(names)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn entries(_: &Path) -> Option<Vec<String>> {
    None
}

/// More names than this are not worth reading.
#[cfg(target_os = "linux")]
const MAX_NAMES: usize = 100_000;

/// Numbers of file systems that find what they list, and nothing else: ext2 to ext4, XFS, Btrfs, F2FS,
/// tmpfs, ramfs and overlayfs.
#[cfg(target_os = "linux")]
const EXACT: [i128; 7] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xf2f5_2010,
    0x0102_1994,
    0x8584_58f6,
    0x794c_7630,
];

/// A name that is not among the others, and would be there if case were ignored.
#[cfg(any(target_os = "linux", test))]
fn absent(names: &[String]) -> Option<String> {
    let mut with_letters = names
        .iter()
        .filter(|name| name.bytes().any(|b| b.is_ascii_alphabetic()))
        .peekable();
    if with_letters.peek().is_none() {
        return Some("x".into());
    }
    let turned = |name: &String| -> String {
        let turn = |c: char| {
            if c.is_ascii_lowercase() {
                c.to_ascii_uppercase()
            } else {
                c.to_ascii_lowercase()
            }
        };
        name.chars().map(turn).collect()
    };
    // A directory with hundreds of names of which each is there twice is not worth more looks.
    with_letters
        .map(turned)
        .take(100)
        .find(|turned| !names.contains(turned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_to_probe_differs_in_case_from_one_that_is_there() {
        let absent =
            |names: &[&str]| absent(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(absent(&[]).as_deref(), Some("x"));
        assert_eq!(absent(&["1", "2.3"]).as_deref(), Some("x"));
        assert_eq!(absent(&["1", "web1.yaml"]).as_deref(), Some("WEB1.YAML"));
        assert_eq!(absent(&["a", "A", "Bc"]).as_deref(), Some("bC"));
        assert_eq!(absent(&["a", "A"]), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_directory_that_is_none_has_no_names() {
        use std::fs;

        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        fs::create_dir(dir.path().join("empty")).unwrap();
        assert_eq!(entries(&dir.path().join("absent")), Some(Vec::new()));
        assert_eq!(entries(&dir.path().join("file")), Some(Vec::new()));
        // The file system of temporary files may be an unsupported one.
        assert!(entries(&dir.path().join("empty")).is_none_or(|names| names.is_empty()));
        assert!(entries(dir.path()).is_none_or(|names| names.len() == 2));
        fs::write(dir.path().join("ä"), "").unwrap();
        assert_eq!(entries(dir.path()), None);
        assert_eq!(entries("/proc".as_ref()), None);
    }
}
