//! The references of a remote that count, and their names.

use std::fmt;
use std::str::FromStr;

/// The prefix of branches in Salt's clones.
pub(super) const BRANCHES: &str = "refs/remotes/origin/";
/// The prefix of tags in Salt's clones.
pub(super) const TAGS: &str = "refs/tags/";

/// One of `gitfs_refspecs`: references of the remote, and the names Salt's clone gives them.
///
/// ```
/// use mapstack_salt_config::gitfs::Refspec;
/// let spec: Refspec = "+refs/heads/*:refs/remotes/origin/*".parse().unwrap();
/// assert_eq!(spec.map("refs/heads/feature/x").as_deref(), Some("refs/remotes/origin/feature/x"));
/// assert_eq!(spec.map("refs/tags/v1"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refspec {
    source: String,
    /// `None` for what is left out.
    destination: Option<String>,
}

/// The text is not a refspec.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a refspec such as '+refs/heads/*:refs/remotes/origin/*': {1}")]
pub struct BadRefspec(String, &'static str);

impl Refspec {
    /// Salt's default: all branches and all tags.
    #[must_use]
    pub fn defaults() -> Vec<Self> {
        [
            ("refs/heads/*", "refs/remotes/origin/*"),
            ("refs/tags/*", "refs/tags/*"),
        ]
        .map(|(source, destination)| Refspec {
            source: source.into(),
            destination: Some(destination.into()),
        })
        .into()
    }

    /// The references of the remote that it is about, with one `*` at most.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// True if it takes references away, as `^refs/heads/wip/*` does.
    #[must_use]
    pub fn excludes(&self) -> bool {
        self.destination.is_none()
    }

    /// The name Salt's clone gives a reference of the remote.
    #[must_use]
    pub fn map(&self, reference: &str) -> Option<String> {
        let matched = matched(&self.source, reference)?;
        Some(self.destination.as_ref()?.replacen('*', matched, 1))
    }

    /// True if a list of refspecs gets a reference. Whatever it says, Salt's clone gets all tags.
    #[cfg(feature = "fetch")]
    pub(super) fn fetches(specs: &[Refspec], reference: &str) -> bool {
        let is_of = |spec: &&Refspec| matched(&spec.source, reference).is_some();
        let (without, with): (Vec<_>, Vec<_>) = specs.iter().partition(|spec| spec.excludes());
        let excluded = without.iter().any(is_of);
        reference.starts_with(TAGS) || (!excluded && with.iter().any(is_of))
    }

    /// The names a list of refspecs gives a reference.
    ///
    /// A tag has its own name, whatever they say: Salt's clone gets all tags.
    pub(super) fn map_all(specs: &[Refspec], reference: &str) -> Vec<String> {
        if reference.starts_with(TAGS) {
            return vec![reference.into()];
        }
        let excluded =
            |spec: &Refspec| spec.excludes() && matched(&spec.source, reference).is_some();
        if specs.iter().any(excluded) {
            return Vec::new();
        }
        specs
            .iter()
            .filter_map(|spec| spec.map(reference))
            .collect()
    }
}

/// The text at the `*` of a pattern; nothing where it has none and fits.
fn matched<'r>(pattern: &str, reference: &'r str) -> Option<&'r str> {
    match pattern.split_once('*') {
        Some((before, after)) => reference.strip_prefix(before)?.strip_suffix(after),
        None => (pattern == reference).then_some(""),
    }
}

impl FromStr for Refspec {
    type Err = BadRefspec;

    fn from_str(text: &str) -> Result<Self, BadRefspec> {
        let bad = |why| Err(BadRefspec(text.into(), why));
        let (source, destination) = match text.strip_prefix('^') {
            Some(source) => (source, None),
            None => match text.strip_prefix('+').unwrap_or(text).split_once(':') {
                Some((source, destination)) => (source, Some(destination)),
                None => return bad("it does not say where to"),
            },
        };
        let stars = |side: &str| side.matches('*').count();
        if !source.starts_with("refs/")
            || destination.is_some_and(|side| !side.starts_with("refs/"))
        {
            return bad("both sides have to start with refs/");
        }
        if stars(source) > 1 || destination.is_some_and(|side| stars(side) != stars(source)) {
            return bad("each side has one * or none has");
        }
        let names = [Some(source), destination].into_iter().flatten();
        if names.into_iter().any(|side| {
            side.contains("..") || side.contains(|c: char| c.is_control() || " ~^:?[\\".contains(c))
        }) {
            return bad("it has characters that no reference has");
        }
        Ok(Refspec {
            source: source.into(),
            destination: destination.map(Into::into),
        })
    }
}

impl fmt::Display for Refspec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.destination {
            Some(destination) => write!(f, "+{}:{destination}", self.source),
            None => write!(f, "^{}", self.source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refspecs_map_names_or_are_refused() {
        let map = |spec: &str, name: &str| spec.parse::<Refspec>().map(|spec| spec.map(name));
        for (spec, name, expected) in [
            (
                "+refs/heads/*:refs/remotes/origin/*",
                "refs/heads/a/b",
                Some("refs/remotes/origin/a/b"),
            ),
            (
                "refs/pull/*/head:refs/remotes/origin/pr/*",
                "refs/pull/7/head",
                Some("refs/remotes/origin/pr/7"),
            ),
            (
                "refs/pull/*/head:refs/remotes/origin/pr/*",
                "refs/pull/7/merge",
                None,
            ),
            (
                "refs/heads/main:refs/remotes/origin/main",
                "refs/heads/main",
                Some("refs/remotes/origin/main"),
            ),
            (
                "refs/heads/main:refs/remotes/origin/main",
                "refs/heads/main2",
                None,
            ),
            ("^refs/heads/wip/*", "refs/heads/wip/x", None),
        ] {
            assert_eq!(
                map(spec, name).unwrap().as_deref(),
                expected,
                "{spec} {name}"
            );
        }
        for spec in [
            "",
            "refs/heads/*",
            "heads/*:refs/remotes/origin/*",
            "refs/*/*:refs/x/*",
            "refs/heads/*:refs/x",
            "refs/a b:refs/x",
            "refs/../x:refs/y",
        ] {
            assert!(spec.parse::<Refspec>().is_err(), "{spec}");
        }
    }

    #[test]
    fn what_is_excluded_has_no_name() {
        let mut specs = Refspec::defaults();
        specs.push("^refs/heads/wip/*".parse().unwrap());
        assert_eq!(
            Refspec::map_all(&specs, "refs/heads/main"),
            ["refs/remotes/origin/main"]
        );
        assert!(Refspec::map_all(&specs, "refs/heads/wip/x").is_empty());
        assert_eq!(Refspec::map_all(&[], "refs/tags/v1"), ["refs/tags/v1"]);
    }
}
