//! Paths as text, as Python's `posixpath` works on them: the same on every machine, and without a look at one.

/// A path without `.`, empty steps and `x/..`; what leads up stays in front (Python: `posixpath.normpath`).
///
/// Two slashes at the start stay two, as POSIX gives them a meaning of their own; three are one.
///
/// ```
/// use mapstack_value::pytext::posixpath::normpath;
/// assert_eq!(normpath("a//b/./../c/"), "a/c");
/// assert_eq!((&*normpath("//a"), &*normpath("///a"), &*normpath("")), ("//a", "/a", "."));
/// ```
#[must_use]
pub fn normpath(path: &str) -> String {
    let root = match path.len() - path.trim_start_matches('/').len() {
        0 => "",
        2 => "//",
        _ => "/",
    };
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/').filter(|step| !matches!(*step, "" | ".")) {
        match steps.last() {
            None if step == ".." && !root.is_empty() => {}
            Some(last) if step == ".." && *last != ".." => {
                steps.pop();
            }
            _ => steps.push(step),
        }
    }
    let normal = format!("{root}{}", steps.join("/"));
    if normal.is_empty() {
        ".".into()
    } else {
        normal
    }
}

/// The parts before the last slash and behind it (Python: `posixpath.split`, and so `dirname`
/// and `basename`).
///
/// ```
/// use mapstack_value::pytext::posixpath::split;
/// assert_eq!((split("/srv/salt"), split("/srv"), split("a")), (("/srv", "salt"), ("/", "srv"), ("", "a")));
/// ```
#[must_use]
pub fn split(path: &str) -> (&str, &str) {
    let (head, name) = path.split_at(path.rfind('/').map_or(0, |at| at + 1));
    let trimmed = head.trim_end_matches('/');
    (if trimmed.is_empty() { head } else { trimmed }, name)
}

/// A path from a directory; an absolute one stays as it is (Python: `posixpath.join`).
///
/// ```
/// use mapstack_value::pytext::posixpath::join;
/// assert_eq!((join("/srv", "a"), join("", "a"), join("/srv/", "/a")), ("/srv/a".into(), "a".into(), "/a".into()));
/// ```
#[must_use]
pub fn join(base: &str, path: &str) -> String {
    match base {
        _ if path.starts_with('/') => path.to_owned(),
        "" => path.to_owned(),
        base if base.ends_with('/') => format!("{base}{path}"),
        base => format!("{base}/{path}"),
    }
}
