//! The remotes of the external pillar `git` (Salt: `salt.pillar.git_pillar`, `salt.utils.gitfs`).

use std::collections::BTreeMap;
use std::path::Path;

use crate::gitfs::{NamePatterns, RefType, Remote, RemoteSource, Saltenv};
use mapstack_value::{Map, Value};

use super::git::{defaults, distinct, git_remotes, is_used, own_options, remote, without_options};
use super::options::{Options, error};
use mapstack_diagnostic::{Diagnostic, Result};

/// The options of a remote that are also `git_pillar_…` for all of them.
const SHARED: [&str; 16] = [
    "base",
    "depth",
    "disable_saltenv_mapping",
    "env",
    "fallback",
    "insecure_auth",
    "passphrase",
    "password",
    "privkey",
    "proxy",
    "pubkey",
    "ref_types",
    "refspecs",
    "root",
    "ssl_verify",
    "user",
];
/// The options of a single remote only.
const OWN: [&str; 3] = ["all_saltenvs", "mountpoint", "name"];

/// Options and their values, in order.
type Settings = Vec<(String, Value)>;

/// The branch that means the environment of the pillar.
const DYNAMIC: &str = "__env__";

/// A remote of the external pillar `git`.
#[derive(Debug, Clone)]
pub struct PillarRemote {
    /// The way to the repository.
    pub origin: RemoteSource,
    remote: Remote,
    branch: String,
    env: String,
}

/// The directory that a remote gives to one minion.
#[derive(Debug, Clone)]
pub struct PillarDirectory {
    /// The directory, as the only one in its environment.
    pub remote: Remote,
    /// The branch or tag that is read.
    pub reference: String,
    /// The environment that it belongs to; `__env__` if the option `env` says so.
    pub env: String,
    /// True if it lies below a mountpoint: then only includes of other remotes see it.
    pub is_mounted: bool,
}

/// The remotes below `git` in `ext_pillar`, and messages about them. No repository is opened.
///
/// ```
/// use mapstack_salt_config::fileserver::pillar_remotes;
/// use mapstack_value::json;
/// let options = json::loads(r#"{"git_pillar_branch": "main"}"#).unwrap();
/// let listed = json::loads(r#"["https://example.org/a", {"prod https://example.org/b": [{"env": "base"}]}]"#).unwrap();
/// let (remotes, warnings) = pillar_remotes(options.as_map().unwrap(), &listed, "/mirrors".as_ref()).unwrap();
/// assert_eq!((remotes.len(), warnings.len()), (2, 0));
/// let directory = remotes[0].directory(&Default::default());
/// assert_eq!((directory.reference.as_str(), directory.env.as_str()), ("main", "main"));
/// ```
///
/// # Errors
/// Options of wrong types, those of a remote that Salt does not have, and remotes that share a name.
pub fn pillar_remotes(
    options: &Map,
    listed: &Value,
    mirrors: &Path,
) -> Result<(Vec<PillarRemote>, Vec<Diagnostic>)> {
    let mut options = Options::new(options);
    let items = match listed {
        Value::List(items) => items.to_vec(),
        Value::Map(_) => {
            return Err(
                error("below `git` must be a list of remotes, not a mapping")
                    .help("write one remote a line behind a dash"),
            );
        }
        one => vec![one.clone()],
    };
    if items.is_empty() {
        options.warn_of(
            "the external pillar `git` has no remotes".into(),
            "name them below `git`, as `BRANCH URL` in a line each",
        );
    }
    let defaults = defaults(&options, "git_pillar", &SHARED)?;
    let mut remotes = Vec::new();
    for item in &items {
        let Some((id, own)) = remote_and_options(&mut options, item)? else {
            continue;
        };
        let (branch, url) = branch_and_url(&id);
        let branch = branch.map_or_else(|| text(&options, "branch", "master"), ToOwned::to_owned);
        if branch != DYNAMIC && own.iter().any(|(name, _)| name == "base") {
            let shown = RemoteSource::new(url).shown();
            let message = format!("the remote '{shown}' has `base`, and its branch is '{branch}'");
            return Err(error(message).help("only a remote with the branch __env__ has a `base`"));
        }
        let mut settings = defaults.clone();
        settings.extend(own);
        let name = settings
            .get("name")
            .map_or_else(|| id.clone(), ToString::to_string);
        let saltenvs = BTreeMap::new();
        let made = remote(&mut options, url.to_owned(), &settings, &saltenvs, mirrors)?;
        let env = settings
            .get("env")
            .map(ToString::to_string)
            .unwrap_or_default();
        let remote = PillarRemote {
            origin: made.origin,
            remote: made.remote,
            branch,
            env,
        };
        // Salt clones each branch of a dynamic remote separately.
        let name = match id.starts_with(DYNAMIC) {
            true => format!("{name} {}", remote.directory(options.all()).reference),
            false => name,
        };
        remotes.push((name, remote));
    }
    let shown = |remote: &PillarRemote| remote.origin.shown();
    Ok((
        distinct(remotes, "`git`", shown)?,
        options.warnings.into_iter().collect(),
    ))
}

/// The remotes of all items `git` of `ext_pillar`.
fn all_pillar_remotes(
    options: &Map,
    mirrors: &Path,
) -> Result<(Vec<PillarRemote>, Vec<Diagnostic>)> {
    let (mut all, mut warnings) = (Vec::new(), Vec::new());
    let items = options.get("ext_pillar").and_then(Value::as_list);
    for item in items.unwrap_or_default() {
        if let Some(listed) = item.as_map().and_then(|item| item.get("git")) {
            let (remotes, heard) = pillar_remotes(options, listed, mirrors)?;
            all.extend(remotes);
            warnings.extend(heard);
        }
    }
    Ok((all, warnings))
}

/// The way to every remote of a configuration: those of gitfs, and those of external pillars `git`.
///
/// # Errors
/// As [`git_remotes`] and [`pillar_remotes`].
pub fn origins(options: &Map, mirrors: &Path) -> Result<(Vec<RemoteSource>, Vec<Diagnostic>)> {
    let (pillars, mut warnings) = all_pillar_remotes(options, mirrors)?;
    let mut origins: Vec<RemoteSource> = pillars.into_iter().map(|remote| remote.origin).collect();
    let has_gitfs = options.get("gitfs_remotes").is_some_and(Value::truthy);
    if has_gitfs || origins.is_empty() {
        let (remotes, heard) = git_remotes(options, mirrors)?;
        origins.extend(remotes.into_iter().map(|remote| remote.origin));
        warnings.extend(heard);
    }
    Ok((origins, warnings))
}

impl PillarRemote {
    /// The directory that the remote gives, for the options of one pillar.
    #[must_use]
    pub fn directory(&self, options: &Map) -> PillarDirectory {
        let option = |name: &str| options.get(name).filter(|value| value.truthy());
        let asked = option("pillarenv").or_else(|| option("saltenv"));
        let asked = asked.map_or_else(|| "base".into(), ToString::to_string);
        let base = &self.remote.base;
        let is_dynamic = self.branch == DYNAMIC;
        let all = self.remote.all_saltenvs.as_ref().filter(|_| is_dynamic);
        let reference = match all {
            Some(all) => all.clone(),
            None if is_dynamic && asked == "base" => base.clone(),
            None if is_dynamic => asked.clone(),
            None => self.branch.clone(),
        };
        let env = match (all, &*self.env) {
            (Some(_), _) => asked,
            (None, "") if self.branch == *base || reference == *base => "base".into(),
            (None, "") => reference.clone(),
            (None, env) => env.into(),
        };
        PillarDirectory {
            is_mounted: !self.remote.mountpoint.is_empty(),
            remote: self.remote.clone(),
            reference,
            env,
        }
    }
}

impl PillarDirectory {
    /// The directory as a remote that serves nothing but one saltenv.
    #[must_use]
    pub fn serving(&self, saltenv: &str) -> Remote {
        let only = saltenv.to_owned();
        let own = Saltenv {
            reference: Some(self.reference.clone()),
            ..Saltenv::default()
        };
        Remote {
            base: self.reference.clone(),
            all_saltenvs: None,
            disable_saltenv_mapping: true,
            // Salt checks out a branch or a tag.
            ref_types: vec![RefType::Branch, RefType::Tag],
            exposed: NamePatterns::new(move |name| name == only),
            saltenvs: [(saltenv.to_owned(), own)].into_iter().collect(),
            ..self.remote.clone()
        }
    }

    /// The name for people.
    #[must_use]
    pub fn shown(&self) -> String {
        match &*self.remote.root {
            "" => format!("{}@{}", self.remote.name, self.reference),
            root => format!("{}@{}:{root}", self.remote.name, self.reference),
        }
    }
}

fn text(options: &Options<'_>, name: &str, default: &str) -> String {
    let value = options.get(&format!("git_pillar_{name}"));
    value.map_or_else(|| default.into(), ToString::to_string)
}

/// `BRANCH URL`, or a URL alone.
fn branch_and_url(id: &str) -> (Option<&str>, &str) {
    let id = id.trim_start();
    match id.split_once(char::is_whitespace) {
        Some((branch, url)) if !url.trim_start().is_empty() => (Some(branch), url.trim_start()),
        _ => (None, id),
    }
}

/// One remote and the options below it; `None` if Salt leaves it out.
fn remote_and_options(
    options: &mut Options<'_>,
    item: &Value,
) -> Result<Option<(String, Settings)>> {
    let (id, own) = match item {
        Value::Map(item) => {
            let Some((id, own)) = item.iter().next() else {
                return Ok(None);
            };
            let id = id.to_string();
            let shown = RemoteSource::new(branch_and_url(&id).1).shown();
            if item.len() > 1 {
                let message = format!("options are beside the remote '{shown}', not below it");
                return Err(
                    error(message).help("indent the options of a remote, each behind a dash")
                );
            }
            let known: Vec<&str> = SHARED.into_iter().chain(OWN).collect();
            let own = own_options(&shown, own, &known)?;
            // The reference takes an empty list for none.
            if own.is_empty() {
                return Err(without_options(&format!("the remote '{shown}'")));
            }
            (id, own)
        }
        other => (other.to_string(), Vec::new()),
    };
    let remotes =
        "write `BRANCH URL`; remotes are https://, ssh:// or file:// URLs, or user@host:path";
    let is_used = is_used(options, branch_and_url(&id).1, remotes, "read");
    Ok(is_used.then_some((id, own)))
}
