//! Paths as text: joining them, and the files of a path.

/// Join path components with `/`: each loses its slashes at both ends, and empty ones are dropped.
///
/// ```
/// use mapstack_matcher::join;
/// assert_eq!(join(["/openssh/", "", "parameters"]), "openssh/parameters");
/// ```
pub fn join<S: AsRef<str>>(parts: impl IntoIterator<Item = S>) -> String {
    // Most paths grow no longer than this.
    let mut joined = String::with_capacity(96);
    let mut first = true;
    for part in parts {
        let part = part.as_ref();
        // A part of nothing but slashes is not dropped: it becomes an empty component.
        if part.is_empty() {
            continue;
        }
        if !first {
            joined.push('/');
        }
        joined.push_str(part.trim_matches('/'));
        first = false;
    }
    joined
}

/// The suffix of the last component with its dot, as Python's `Path.suffix`; a leading dot starts
/// none.
fn suffix(path: &str) -> &str {
    let name = path
        .rsplit('/')
        .find(|part| !part.is_empty() && *part != ".")
        .unwrap_or_default();
    match name.rfind('.') {
        Some(dot) if dot > 0 && dot + 1 < name.len() => &name[dot..],
        _ => "",
    }
}

/// True if the last component looks like a file's name.
#[must_use]
pub fn has_file_suffix(path: &str) -> bool {
    !suffix(path).is_empty()
}

/// The files of a path, in the order in which they are read.
///
/// ```
/// use mapstack_matcher::variants;
/// assert_eq!(variants("os/Debian"), ["os/Debian.yaml", "os/Debian.yaml.jinja"]);
/// assert_eq!(variants("defaults.yaml"), ["defaults.yaml", "defaults.yaml.jinja"]);
/// assert_eq!(variants("x.yaml.jinja"), ["x.yaml.jinja"]);
/// ```
#[must_use]
pub fn variants(path: &str) -> Vec<String> {
    match suffix(path) {
        ".yaml" => vec![path.to_string(), [path, ".jinja"].concat()],
        ".jinja" => vec![path.to_string()],
        _ => vec![[path, ".yaml"].concat(), [path, ".yaml.jinja"].concat()],
    }
}
