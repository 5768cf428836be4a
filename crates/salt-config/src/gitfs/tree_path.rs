//! Paths inside a repository, as Python's `posixpath` sees them.

use mapstack_value::posixpath::{self, normpath};

/// Salt's `salt.utils.path.join`: both normal, the second never absolute, joined and normal again.
pub(super) fn join(first: &str, second: &str) -> String {
    normpath(&posixpath::join(
        &normpath(first),
        normpath(second).trim_start_matches('/'),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row was checked with `salt.utils.path.join(…, use_posixpath=True)`.
    #[test]
    fn joined_paths_are_never_absolute_by_their_second_part() {
        for (first, second, expected) in [
            ("", "x", "x"),
            ("a/b", "../x", "a/x"),
            ("a", "/etc/passwd", "a/etc/passwd"),
            ("a", "../../x", "../x"),
            ("/a", "x", "/a/x"),
            ("/", "x", "/x"),
            ("//a", "/x", "//a/x"),
            (".", "x", "x"),
        ] {
            assert_eq!(join(first, second), expected, "{first} {second}");
        }
    }
}
