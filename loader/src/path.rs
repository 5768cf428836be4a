//! `salt://` paths.

use std::fmt;
use std::path::{Component, Path};

/// A path on the file server.
///
/// Leading slashes, `.` and `//` mean nothing; a backslash is a slash. What would leave the root
/// keeps its `..` and is refused by every server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SaltPath {
    /// The components, each behind a slash but the first: made for every look at a file, it is one piece.
    text: String,
    saltenv: Option<String>,
    absolute: bool,
    slashed: bool,
}

/// The text is not a `salt://` URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a path on the file server begins with salt://")]
pub struct BadPath;

impl SaltPath {
    /// A path with more components is refused.
    pub const MAX_COMPONENTS: usize = 256;

    /// Parse a URL (Salt: `salt.utils.url.parse`).
    ///
    /// `?saltenv=dev` names another saltenv, everything to the end being its name; every other query
    /// is dropped. `salt://|a?b` takes the text after the bar literally, but for a saltenv.
    ///
    /// # Errors
    /// [`BadPath`] for another scheme or none; the scheme is case-sensitive.
    ///
    /// ```
    /// use mapstack_loader::SaltPath;
    /// let path = SaltPath::parse("salt://a//b?saltenv=dev").unwrap();
    /// assert_eq!((path.to_string(), path.saltenv()), ("a/b".to_string(), Some("dev")));
    /// ```
    pub fn parse(url: &str) -> Result<Self, BadPath> {
        let url = url.strip_prefix("salt://").ok_or(BadPath)?;
        let (path, saltenv) = Self::split_saltenv(url);
        let slashed = path.starts_with('/');
        let path = path.trim_start_matches(['/', '\\']);
        if let Some(literal) = path.strip_prefix('|') {
            let literal = literal.trim_start_matches('|');
            let absolute = literal.starts_with(['/', '\\']);
            return Ok(SaltPath {
                saltenv,
                absolute,
                slashed,
                ..Self::from_relative(literal)
            });
        }
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let in_query = || {
            query
                .split('&')
                .find_map(|pair| pair.strip_prefix("saltenv="))
                .filter(|env| !env.is_empty())
        };
        let saltenv = saltenv.or_else(|| in_query().map(Into::into));
        Ok(SaltPath {
            saltenv,
            slashed,
            ..Self::from_relative(path)
        })
    }

    /// `path ["?env=" ignored | "?saltenv=" name]`, as it is split before anything else is looked at.
    fn split_saltenv(url: &str) -> (&str, Option<String>) {
        const SALTENV: &str = "?saltenv=";
        if let Some((path, _)) = url.split_once("?env=") {
            return (path.split(SALTENV).next().unwrap_or(path), None);
        }
        match url.split_once(SALTENV) {
            Some((path, saltenv)) => (
                path,
                Some(saltenv)
                    .filter(|name| !name.is_empty())
                    .map(Into::into),
            ),
            None => (url, None),
        }
    }

    /// A path relative to the root; nothing in it is special.
    #[must_use]
    pub fn from_relative(path: &str) -> Self {
        if is_normal(path) {
            return SaltPath {
                text: path.into(),
                saltenv: None,
                absolute: false,
                slashed: false,
            };
        }
        let mut text = String::with_capacity(path.len());
        for component in path
            .split(['/', '\\'])
            .filter(|c| !c.is_empty() && *c != ".")
        {
            if !text.is_empty() {
                text.push('/');
            }
            text.push_str(component);
        }
        SaltPath {
            text,
            saltenv: None,
            absolute: false,
            slashed: false,
        }
    }

    /// The path from the root: its components with single slashes between them.
    ///
    /// ```
    /// use mapstack_loader::SaltPath;
    /// assert_eq!(SaltPath::from_relative("/a/./b//c").as_str(), "a/b/c");
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The components, without empty ones and `.`.
    fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.text.split('/').filter(|c| !c.is_empty())
    }

    /// True if a slash follows `salt://`. Salt before 3008 finds no file at such a URL.
    ///
    /// ```
    /// use mapstack_loader::SaltPath;
    /// assert!(SaltPath::parse("salt:///a").unwrap().is_slashed());
    /// assert!(!SaltPath::parse("salt://a").unwrap().is_slashed());
    /// ```
    #[must_use]
    pub fn is_slashed(&self) -> bool {
        self.slashed
    }

    /// The saltenv the URL itself names.
    #[must_use]
    pub fn saltenv(&self) -> Option<&str> {
        self.saltenv.as_deref()
    }

    /// Why no server serves the path, if none does.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        if self.absolute {
            return Some("it is absolute".into());
        }
        if is_ordinary(&self.text) {
            return None;
        }
        if self.components().any(|c| c == "..") {
            return Some("it contains '..'".into());
        }
        // Salt looks for the text `../` and so refuses directories whose names end in two dots.
        if self.components().rev().skip(1).any(|c| c.ends_with("..")) {
            return Some("it contains '../'".into());
        }
        // On some systems a component such as `C:` is more than a name.
        if self.components().any(|c| !is_plain_name(c)) {
            return Some("a component of it is not a plain name".into());
        }
        if self.text.contains('\0') {
            return Some("it contains a NUL character".into());
        }
        if self.components().any(|c| c.len() > MAX_COMPONENT) {
            return Some(format!(
                "a component of it is longer than {MAX_COMPONENT} bytes"
            ));
        }
        let most = Self::MAX_COMPONENTS;
        (self.components().count() > most).then(|| format!("it has more than {most} components"))
    }
}

/// True if a path is surely nothing but components with a slash between each two.
fn is_normal(path: &str) -> bool {
    let bytes = path.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return false;
    };
    // A component that starts with a dot may have to be dropped. A loop over all bytes that never leaves early
    // is one that compilers vectorize.
    let is_odd = |before: u8, byte: u8| {
        (byte == b'\\') | (before == b'/') & ((byte == b'/') | (byte == b'.'))
    };
    let any_odd = bytes
        .iter()
        .zip(&bytes[1..])
        .fold(false, |odd, (before, byte)| odd | is_odd(*before, *byte));
    !any_odd && !is_odd(b'/', *first) && *last != b'/'
}

/// True if no rule refuses the path, as a look at its bytes alone shows. Nearly all paths are like this.
fn is_ordinary(path: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'_' | b'-');
    path.len() <= MAX_COMPONENT
        && is_normal(path)
        && path.bytes().all(is_plain)
        && !path.as_bytes().windows(2).any(|two| two == b"..")
}

fn is_plain_name(component: &str) -> bool {
    let mut parts = Path::new(component).components();
    matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(_)), None)
    )
}

/// The length that file systems allow.
const MAX_COMPONENT: usize = 255;

impl fmt::Display for SaltPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_normal_is_its_components() {
        for path in [
            "a", "a/b.c", "a/b/c..", "a b/é", "", "/", "a/", "/a", "a//b", "./a", "a/./b", r"a\b",
            "a/..", ".a",
        ] {
            let components: Vec<&str> = path
                .split(['/', '\\'])
                .filter(|c| !c.is_empty() && *c != ".")
                .collect();
            let read = SaltPath::from_relative(path);
            assert!(read.components().eq(components.iter().copied()), "{path}");
            assert_eq!(read.as_str(), components.join("/"), "{path}");
        }
        assert!(is_normal("a/b.c") && !is_normal("a/.c") && !is_normal(""));
    }

    #[test]
    fn what_is_ordinary_is_not_refused_by_any_rule() {
        let long = "x".repeat(MAX_COMPONENT + 1);
        for path in [
            "a",
            "a/b.c",
            "a-b/c_d/e.sls",
            "a../b",
            "a/..",
            "a\0b",
            "C:/x",
            &long,
        ] {
            let refused = SaltPath::from_relative(path).refusal();
            assert!(
                !is_ordinary(path) || refused.is_none(),
                "{path}: {refused:?}"
            );
        }
        assert!(is_ordinary("a-b/c_d/e.sls"));
        assert!(!is_ordinary("a../b") && !is_ordinary(&long) && !is_ordinary("a\0b"));
    }
}
