//! The options of one remote.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::NamePatterns;
use super::Refspec;

/// A kind of name a reference can be looked for by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefType {
    /// A branch.
    Branch,
    /// A tag.
    Tag,
    /// A commit id, or what else git understands as one.
    Sha,
}

impl RefType {
    /// Salt's order.
    pub const ALL: [RefType; 3] = [RefType::Branch, RefType::Tag, RefType::Sha];

    /// Its name in `gitfs_ref_types`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RefType::Branch => "branch",
            RefType::Tag => "tag",
            RefType::Sha => "sha",
        }
    }
}

/// The settings of one saltenv.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Saltenv {
    /// The branch, tag or commit it is served from.
    pub reference: Option<String>,
    /// The folder of the repository that is served.
    pub root: Option<String>,
    /// The folder of the file server it is served below.
    pub mountpoint: Option<String>,
}

/// One of `gitfs_remotes` with its options, global ones filled in.
///
/// ```
/// use mapstack_salt_config::gitfs::Remote;
/// let remote = Remote { base: "v4.1.1".into(), ..Remote::new("https://example.org/users.git", "/srv/mirrors/users") };
/// assert_eq!(remote.root, "");
/// ```
#[derive(Debug, Clone)]
pub struct Remote {
    /// The name for people: its URL.
    pub name: String,
    /// The repository that is read: a mirror, or the repository itself.
    pub repository: PathBuf,
    /// The advice if the repository does not exist.
    pub if_missing: Option<String>,
    /// The branch, tag or commit that is saltenv `base`.
    pub base: String,
    /// The folder of the repository that is served.
    pub root: String,
    /// The folder of the file server it is served below.
    pub mountpoint: String,
    /// The branch, tag or commit for saltenvs without a setting; empty for none.
    pub fallback: String,
    /// The branch, tag or commit that serves every saltenv there is.
    pub all_saltenvs: Option<String>,
    /// True if only `base` and what `saltenvs` map are served.
    pub disable_saltenv_mapping: bool,
    /// The kinds of references that a name can be, in the order of looking.
    pub ref_types: Vec<RefType>,
    /// The references that count.
    pub refspecs: Vec<Refspec>,
    /// The settings of some saltenvs, for this remote (`saltenv`).
    pub saltenvs: BTreeMap<String, Saltenv>,
    /// The settings of some saltenvs, for all remotes (`gitfs_saltenv`).
    pub global_saltenvs: BTreeMap<String, Saltenv>,
    /// The saltenvs that are exposed (`saltenv_whitelist` and `saltenv_blacklist`).
    pub exposed: NamePatterns,
}

impl Remote {
    /// A remote with Salt's defaults.
    pub fn new(name: impl Into<String>, repository: impl Into<PathBuf>) -> Self {
        Remote {
            name: name.into(),
            repository: repository.into(),
            if_missing: None,
            base: "master".into(),
            root: String::new(),
            mountpoint: String::new(),
            fallback: String::new(),
            all_saltenvs: None,
            disable_saltenv_mapping: false,
            ref_types: RefType::ALL.into(),
            refspecs: Refspec::defaults(),
            saltenvs: BTreeMap::new(),
            global_saltenvs: BTreeMap::new(),
            exposed: NamePatterns::default(),
        }
    }

    /// The setting of a saltenv: the remote's own word for it, or the one for all remotes.
    fn in_saltenv<'s>(
        &'s self,
        saltenv: &str,
        of: impl Fn(&'s Saltenv) -> Option<&'s String>,
    ) -> Option<&'s str> {
        let own = self.saltenvs.get(saltenv).and_then(&of);
        own.or_else(|| self.global_saltenvs.get(saltenv).and_then(&of))
            .map(String::as_str)
    }

    pub(super) fn root(&self, saltenv: &str) -> &str {
        self.in_saltenv(saltenv, |own| own.root.as_ref())
            .unwrap_or(&self.root)
            .trim_end_matches('/')
    }

    pub(super) fn mountpoint(&self, saltenv: &str) -> &str {
        self.in_saltenv(saltenv, |own| own.mountpoint.as_ref())
            .unwrap_or(&self.mountpoint)
            .trim_end_matches('/')
    }

    /// The reference of `base`: one for it under `saltenvs` goes before the option `base`.
    pub(super) fn base(&self) -> &str {
        self.saltenvs
            .get("base")
            .and_then(|own| own.reference.as_deref())
            .unwrap_or(&self.base)
    }

    /// The reference of a saltenv, if it is served.
    pub(super) fn reference<'s>(&'s self, saltenv: &'s str) -> Option<&'s str> {
        if let Some(all) = &self.all_saltenvs {
            return Some(all);
        }
        if saltenv == "base" {
            return Some(self.base());
        }
        let mapped = self
            .in_saltenv(saltenv, |own| own.reference.as_ref())
            .filter(|name| !name.is_empty());
        if self.disable_saltenv_mapping {
            mapped
        } else {
            mapped.or(Some(saltenv))
        }
    }

    /// The saltenvs that have references of their own, by reference.
    pub(super) fn mapped(&self) -> BTreeMap<&str, Vec<&str>> {
        let own = self
            .saltenvs
            .iter()
            .filter_map(|(name, own)| Some((name, own.reference.as_deref()?)));
        let has_own = |name: &String| {
            self.saltenvs
                .get(name)
                .is_some_and(|own| own.reference.is_some())
        };
        let global = self
            .global_saltenvs
            .iter()
            .filter(|(name, _)| !has_own(name));
        let global = global.filter_map(|(name, own)| Some((name, own.reference.as_deref()?)));
        let mut by_reference: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (saltenv, reference) in own.chain(global) {
            by_reference.entry(reference).or_default().push(saltenv);
        }
        by_reference
    }
}
