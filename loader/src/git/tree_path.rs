//! Paths inside a repository, as Python's `posixpath` sees them.

/// `posixpath.normpath`: without `.`, empty components and `x/..`; what leads up stays in front.
pub(super) fn normal(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part != ".." || (!absolute && kept.last().is_none_or(|last| *last == "..")) {
            kept.push(part);
        } else {
            kept.pop();
        }
    }
    let joined = kept.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".into(),
        (false, false) => joined,
    }
}

/// Salt's `salt.utils.path.join`: both normal, the second never absolute, joined and normal again.
pub(super) fn join(first: &str, second: &str) -> String {
    let second = normal(second);
    normal(&format!("{}/{}", normal(first), second.trim_start_matches('/')))
}

/// `posixpath.dirname`, for normal paths.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row was checked with Python.
    #[test]
    fn paths_are_normal_as_in_python() {
        for (path, expected) in [
            ("", "."),
            (".", "."),
            ("a//b/./c/", "a/b/c"),
            ("a/../b", "b"),
            ("a/../../b", "../b"),
            ("../../x", "../../x"),
            ("/a/../..", "/"),
            ("/a/b", "/a/b"),
        ] {
            assert_eq!(normal(path), expected, "{path}");
        }
    }

    /// Each row was checked with `salt.utils.path.join(…, use_posixpath=True)`.
    #[test]
    fn joined_paths_are_never_absolute_by_their_second_part() {
        for (first, second, expected) in [
            ("", "x", "x"),
            ("a/b", "../x", "a/x"),
            ("a", "/etc/passwd", "a/etc/passwd"),
            ("a", "../../x", "../x"),
            ("/a", "x", "/a/x"),
            (".", "x", "x"),
        ] {
            assert_eq!(join(first, second), expected, "{first} {second}");
        }
    }
}
