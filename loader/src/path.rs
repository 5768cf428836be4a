//! `salt://` paths.

use std::fmt;

/// A path on the file server.
///
/// Leading slashes, `.` and `//` mean nothing; a backslash is a slash. What would leave the root
/// keeps its `..` and is refused by every server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SaltPath {
    components: Vec<String>,
    saltenv: Option<String>,
}

/// The text is no `salt://` URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a path on the file server begins with salt://")]
pub struct BadPath;

impl SaltPath {
    /// Parse a URL (Salt: `salt.utils.url.parse`).
    ///
    /// `?saltenv=dev` names another saltenv and every other query is dropped; `salt://|a?b` takes
    /// what follows the bar as it stands.
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
        let path = url.strip_prefix("salt://").ok_or(BadPath)?;
        if let Some(literal) = path.strip_prefix('|') {
            return Ok(Self::from_relative(literal));
        }
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let saltenv = query.split('&').find_map(|pair| pair.strip_prefix("saltenv=")).filter(|env| !env.is_empty());
        Ok(SaltPath { saltenv: saltenv.map(Into::into), ..Self::from_relative(path) })
    }

    /// A path relative to the root; nothing in it is special.
    #[must_use]
    pub fn from_relative(path: &str) -> Self {
        let components = path.split(['/', '\\']).filter(|c| !c.is_empty() && *c != ".").map(Into::into).collect();
        SaltPath { components, saltenv: None }
    }

    /// The components, without empty ones and `.`.
    #[must_use]
    pub fn components(&self) -> &[String] {
        &self.components
    }

    /// The saltenv the URL itself names.
    #[must_use]
    pub fn saltenv(&self) -> Option<&str> {
        self.saltenv.as_deref()
    }

    /// Why no server serves the path, if none does.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        if self.components.iter().any(|c| c == "..") {
            return Some("it contains '..'".into());
        }
        if self.components.iter().any(|c| c.contains('\0')) {
            return Some("it contains a NUL character".into());
        }
        if self.components.iter().any(|c| c.len() > MAX_COMPONENT) {
            return Some(format!("a component of it is longer than {MAX_COMPONENT} bytes"));
        }
        (self.components.len() > MAX_COMPONENTS).then(|| format!("it has more than {MAX_COMPONENTS} components"))
    }
}

/// What file systems allow.
const MAX_COMPONENT: usize = 255;
const MAX_COMPONENTS: usize = 256;

impl fmt::Display for SaltPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.components.join("/"))
    }
}
