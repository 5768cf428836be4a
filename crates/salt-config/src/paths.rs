//! Paths as text, as a master or minion on Unix works on them.
//!
//! A configuration can be read on another machine than the one it is for, so nothing here asks
//! this machine. A path with a drive (`C:\salt`) or of a share (`\\server`) is absolute everywhere.

use mapstack_value::posixpath::{join, normpath};

/// Python's `os.path.dirname`; on Windows, both separators count.
pub(super) fn directory(path: &str) -> String {
    let separators: &[char] = if cfg!(windows) { &['/', '\\'] } else { &['/'] };
    let head = path
        .rfind(separators)
        .map_or("", |at| path.get(..=at).unwrap_or_default());
    let trimmed = head.trim_end_matches(separators);
    if trimmed.is_empty() {
        head.into()
    } else {
        trimmed.into()
    }
}

/// Python's `os.path.basename`.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A leading `~` made the home directory, if there is one. Other users' homes are not known.
pub(super) fn expand_home(path: &str, home: Option<&str>) -> String {
    let rest = path
        .strip_prefix('~')
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (rest, home) {
        (Some(rest), Some(home)) => format!("{}{rest}", home.trim_end_matches('/')),
        _ => path.into(),
    }
}

/// True if a path is one of Windows' absolute ones.
pub(super) fn has_drive(path: &str) -> bool {
    let mut chars = path.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), Some('/' | '\\'));
    drive || path.starts_with("\\\\")
}

/// A path below the directory that everything of a daemon lies in (Salt: `prepend_root_dir`, with
/// `/` as the built-in root). One that is there already stays.
pub(super) fn below_root(root: &str, path: &str) -> String {
    if has_drive(path) {
        return path.into();
    }
    let inside = path
        .strip_prefix(root)
        .filter(|rest| rest.starts_with('/') && path.starts_with('/'));
    let kept = normpath(inside.unwrap_or(path));
    normpath(&join(&normpath(root), kept.trim_start_matches('/')))
}

/// True if a text that may be a path or an address is a path (Salt: `should_prepend_root_dir`).
pub(super) fn is_address(text: &str) -> bool {
    if has_drive(text) {
        return false;
    }
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_below_the_root_unless_they_are_there() {
        for (root, path, result) in [
            ("/", "/var/cache/salt", "/var/cache/salt"),
            ("/", "cache", "/cache"),
            ("/srv/x", "/var/cache", "/srv/x/var/cache"),
            ("/srv/x", "/srv/x/var/cache", "/srv/x/var/cache"),
            ("/srv/x", "/srv/xy", "/srv/x/srv/xy"),
            ("/srv/x", "/srv/x", "/srv/x/srv/x"),
            ("/srv/x", "a/../b", "/srv/x/b"),
            ("/srv/x", "", "/srv/x"),
            ("/", "C:\\salt\\cache", "C:\\salt\\cache"),
            ("C:\\salt", "\\\\server\\cache", "\\\\server\\cache"),
        ] {
            assert_eq!(below_root(root, path), result, "{root} {path}");
        }
    }

    #[test]
    fn addresses_are_not_paths() {
        for (text, is) in [
            ("udp://host:514", true),
            ("file:///dev/log/LOG_DAEMON", true),
            ("/var/log/a:b", false),
            ("C:\\log\\minion", false),
            ("minion", false),
        ] {
            assert_eq!(is_address(text), is, "{text}");
        }
    }

    #[test]
    fn a_home_is_known_only_if_it_is_given() {
        for (path, home, result) in [
            ("~/x", Some("/users/a/"), "/users/a/x"),
            ("~", Some("/users/a"), "/users/a"),
            ("~b/x", Some("/users/a"), "~b/x"),
            ("~/x", None, "~/x"),
            ("x/~", Some("/users/a"), "x/~"),
        ] {
            assert_eq!(expand_home(path, home), result, "{path}");
        }
    }
}
