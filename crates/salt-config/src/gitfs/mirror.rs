//! The path of a URL's repository on this machine.

use std::path::{Path, PathBuf};

use mapstack_diagnostic::without_login;

use super::Refspec;

/// The source of a remote's repository, and the settings for fetching it.
///
/// ```
/// use mapstack_salt_config::gitfs::RemoteSource;
/// assert_eq!(RemoteSource::new("file:///srv/users.git").local().unwrap(), std::path::Path::new("/srv/users.git"));
/// let mirror = RemoteSource::new("https://example.org/users-formula.git").repository("/var/cache/mirrors");
/// assert!(mirror.starts_with("/var/cache/mirrors"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteSource {
    /// The URL, or a path on this machine.
    pub url: String,
    /// The name to log in with; empty for none.
    pub user: String,
    /// The password that goes with it.
    pub password: String,
    /// True if a password may go over a connection that is not encrypted.
    pub insecure_auth: bool,
    /// True if the server's certificate must be good.
    pub ssl_verify: bool,
    /// The proxy to go through; empty for none.
    pub proxy: String,
    /// The references to fetch.
    pub refspecs: Vec<Refspec>,
}

/// Characters of a mirror's name by which people recognise it.
const READABLE: usize = 60;

impl RemoteSource {
    /// A URL, with Salt's defaults.
    pub fn new(url: impl Into<String>) -> Self {
        RemoteSource {
            url: url.into(),
            user: String::new(),
            password: String::new(),
            insecure_auth: false,
            ssl_verify: true,
            proxy: String::new(),
            refspecs: Refspec::defaults(),
        }
    }

    /// The repository itself, if it is on this machine: an absolute path, or a `file://` URL.
    #[must_use]
    pub fn local(&self) -> Option<PathBuf> {
        if self.url.starts_with('/') {
            return Some(PathBuf::from(&self.url));
        }
        let path = self.url.strip_prefix("file://")?;
        let path = path.strip_prefix("localhost").unwrap_or(path);
        path.starts_with('/').then(|| PathBuf::from(decoded(path)))
    }

    /// The repository to read: the one on this machine, or its mirror below a directory.
    #[must_use]
    pub fn repository(&self, mirrors: impl AsRef<Path>) -> PathBuf {
        self.local()
            .unwrap_or_else(|| mirrors.as_ref().join(self.mirror_name()))
    }

    /// The URL without a login and a query, for people.
    #[must_use]
    pub fn shown(&self) -> String {
        without_login(&self.url)
    }

    /// A name that people can read, and that no other URL has, nor the same URL with other references
    /// to fetch: a mirror holds those of one list.
    fn mirror_name(&self) -> String {
        let shown = self.shown();
        let readable = shown.split_once("://").map_or(&*shown, |(_, rest)| rest);
        let readable: String = readable
            .trim_end_matches('/')
            .trim_end_matches(".git")
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "._-".contains(c) {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        let readable = readable
            .get(readable.len().saturating_sub(READABLE)..)
            .unwrap_or_default();
        let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
        hasher.update(shown.as_bytes());
        if self.refspecs != Refspec::defaults() {
            hasher.update(format!("{:?}", self.refspecs).as_bytes());
        }
        // The digest of a short text exists.
        let digest = hasher
            .try_finalize()
            .map(|id| id.to_hex_with_len(16).to_string())
            .unwrap_or_default();
        format!("{}-{digest}", readable.trim_matches(['-', '.']))
    }
}

/// A path without percent encoding.
pub(super) fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_of_this_machine_are_found_by_path() {
        for (url, expected) in [
            ("/srv/a.git", Some("/srv/a.git")),
            ("file:///srv/a.git", Some("/srv/a.git")),
            ("file://localhost/srv/a", Some("/srv/a")),
            ("file:///srv/my%20repo", Some("/srv/my repo")),
            ("file:///srv/100%", Some("/srv/100%")),
            ("file://other/srv/a", None),
            ("https://example.org/a", None),
            ("git@example.org:a.git", None),
            ("srv/a", None),
        ] {
            assert_eq!(
                RemoteSource::new(url).local().as_deref(),
                expected.map(Path::new),
                "{url}"
            );
        }
    }

    #[test]
    fn mirrors_are_named_after_their_urls_and_not_after_passwords() {
        let name = |url: &str| RemoteSource::new(url).mirror_name();
        assert!(
            name("https://example.org/saltstack-formulas/users-formula.git")
                .starts_with("example.org-saltstack-formulas-users-formula-")
        );
        assert_eq!(
            name("https://me:secret@example.org/a"),
            name("https://example.org/a")
        );
        assert_ne!(
            name("https://example.org/a/b"),
            name("https://example.org/a-b")
        );
        assert_ne!(
            name("ssh://git@example.org/a"),
            name("ssh://other@example.org/a")
        );
        assert!(!name("https://me:secret@example.org/../../x").contains(['/', '\\']));
        assert_eq!(
            RemoteSource::new("https://me:s@cret@example.org/a").shown(),
            "https://example.org/a"
        );
        assert_eq!(
            RemoteSource::new("ssh://git@example.org/a").shown(),
            "ssh://git@example.org/a"
        );
    }
}
