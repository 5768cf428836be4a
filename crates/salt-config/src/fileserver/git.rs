//! The backend `gitfs`: `gitfs_remotes` and the options that go with them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::gitfs::{
    GitFs, MissingRef, NamePatterns, RefType, Refspec, Remote, RemoteSource, Saltenv, UnusedSetting,
};
use mapstack_diagnostic::without_login;
use mapstack_loader::LoadError;
use mapstack_value::{Key, Map, Value};

use super::options::{Options, error};
use mapstack_diagnostic::nearest;
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Means, Result};
use mapstack_salt_jinja::expr_match;

/// One of `gitfs_remotes`.
#[derive(Debug, Clone)]
pub struct GitRemote {
    /// The way to the repository.
    pub origin: RemoteSource,
    /// The part of it that is served, and how.
    pub remote: Remote,
}

/// The options of a remote that are also `gitfs_…` for all of them.
const SHARED: [&str; 19] = [
    "base",
    "depth",
    "disable_saltenv_mapping",
    "fallback",
    "insecure_auth",
    "mountpoint",
    "passphrase",
    "password",
    "privkey",
    "proxy",
    "pubkey",
    "ref_types",
    "refspecs",
    "root",
    "saltenv_blacklist",
    "saltenv_whitelist",
    "ssl_verify",
    "update_interval",
    "user",
];
/// The options of a single remote only.
const OWN: [&str; 3] = ["all_saltenvs", "name", "saltenv"];
/// The options for all remotes only.
const GLOBAL: [&str; 4] = ["global_lock", "provider", "remotes", "saltenv"];
/// Keys for ssh, which has its own configuration.
const KEYS: [&str; 3] = ["passphrase", "privkey", "pubkey"];
/// The schemes of remotes' URLs (Salt: `salt.utils.verify.SCHEMES`).
const SCHEMES: [&str; 4] = ["file", "http", "https", "ssh"];

/// Options and their values, in order.
/// Options without which a fetch by the URL alone is another one.
const OF_FETCHING: [&str; 6] = [
    "insecure_auth",
    "password",
    "proxy",
    "refspecs",
    "ssl_verify",
    "user",
];

type Settings = Vec<(String, Value)>;

/// Open the repositories of all remotes.
pub(super) fn open(options: &mut Options<'_>, mirrors: &Path) -> Result<GitFs> {
    let remotes = read(options, mirrors)?;
    let remotes = remotes.into_iter().map(|remote| remote.remote).collect();
    let failed = |e: LoadError| Error::new(ErrorKind::File, e.to_string());
    let served = GitFs::open(remotes).map_err(failed)?;
    for idle in served.idle().map_err(failed)? {
        let (message, help) = serves_nothing(&idle);
        options.warn_of(message, help);
    }
    Ok(served)
}

/// A part of a saltenv that a remote does not serve, and the reason.
fn serves_nothing(idle: &UnusedSetting) -> (String, String) {
    let UnusedSetting {
        remote,
        saltenv,
        reference,
        lack,
    } = idle;
    let served = match saltenv.as_str() {
        "base" => "no base".to_owned(),
        other => format!("no saltenv '{other}'"),
    };
    match lack {
        MissingRef::Reference(there) => {
            let there = there.join(", ");
            let help = match saltenv.as_str() {
                "base" => format!("set `base` of the remote; it has {there}"),
                other if other == reference => format!(
                    "without a `ref`, a saltenv is the branch or tag of its name; the remote has {there}"
                ),
                _ => format!("set `ref` of the saltenv; the remote has {there}"),
            };
            let message = format!(
                "the remote '{remote}' has no branch, tag or commit '{reference}', so it serves {served}"
            );
            (message, help)
        }
        MissingRef::Root(root) => (
            format!(
                "the remote '{remote}' has no folder '{root}' in {reference}, so it serves {served}"
            ),
            "set `root` to a folder of the repository".to_owned(),
        ),
        MissingRef::Exposed(hidden) => (
            format!(
                "the remote '{remote}' serves nothing: `saltenv_whitelist` and `saltenv_blacklist` hide all its saltenvs"
            ),
            format!(
                "name one in the whitelist; the remote has {}",
                hidden.join(", ")
            ),
        ),
    }
}

/// The remotes of a master's or a minion's options, and messages about the options.
///
/// Nothing is opened. Each remote's repository is below `mirrors`, or where its URL says if that is on
/// this machine.
///
/// ```
/// use mapstack_salt_config::fileserver::git_remotes;
/// use mapstack_value::json;
/// let options = json::loads(r#"{"gitfs_remotes": [{"https://example.org/users.git": [{"base": "v4.1.1"}]}]}"#).unwrap();
/// let (remotes, warnings) = git_remotes(options.as_map().unwrap(), "/var/cache/mirrors".as_ref()).unwrap();
/// assert_eq!((remotes[0].remote.base.as_str(), warnings.len()), ("v4.1.1", 0));
/// ```
///
/// # Errors
/// Options of wrong types, and those of a remote that Salt does not have: Salt serves nothing then.
pub fn git_remotes(options: &Map, mirrors: &Path) -> Result<(Vec<GitRemote>, Vec<Diagnostic>)> {
    let mut options = Options::new(options);
    let remotes = read(&mut options, mirrors)?;
    Ok((remotes, options.warnings.into_iter().collect()))
}

fn read(options: &mut Options<'_>, mirrors: &Path) -> Result<Vec<GitRemote>> {
    check_names(options);
    let defaults = defaults(options, "gitfs", &SHARED)?;
    let global_saltenvs = match options.get("gitfs_saltenv") {
        None => BTreeMap::new(),
        Some(value) => saltenvs(options, value, "`gitfs_saltenv`")?,
    };
    let listed = match options.get("gitfs_remotes") {
        None => &[],
        Some(Value::List(listed)) => &**listed,
        Some(other) => {
            let message = format!(
                "`gitfs_remotes` must be a list, not {}",
                other.kind().described()
            );
            return Err(error(message).help("write one remote a line behind a dash"));
        }
    };
    if listed.is_empty() {
        options.warn_of(
            "gitfs has no remotes".into(),
            "name them in `gitfs_remotes`",
        );
    }
    let mut remotes = Vec::new();
    for item in listed {
        let Some((url, own)) = url_and_options(options, item)? else {
            continue;
        };
        let mut settings = defaults.clone();
        for (name, value) in own {
            settings.insert(name, value);
        }
        let id = settings
            .get("name")
            .map_or_else(|| url.clone(), ToString::to_string);
        remotes.push((
            id,
            remote(options, url, &settings, &global_saltenvs, mirrors)?,
        ));
    }
    distinct(remotes, "`gitfs_remotes`", |remote| remote.origin.shown())
}

/// Two remotes with one name would share a clone in Salt.
pub(super) fn distinct<R>(
    remotes: Vec<(String, R)>,
    option: &str,
    shown: impl Fn(&R) -> String,
) -> Result<Vec<R>> {
    let mut seen = BTreeSet::new();
    for (id, remote) in &remotes {
        if !seen.insert(id) {
            let message = format!("{option} has '{}' twice", shown(remote));
            return Err(error(message).help("give each of them its own `name`"));
        }
    }
    Ok(remotes.into_iter().map(|(_, remote)| remote).collect())
}

/// Options that Salt would not look at.
fn check_names(options: &mut Options<'_>) {
    let known: Vec<String> = SHARED
        .iter()
        .chain(&GLOBAL)
        .map(|name| format!("gitfs_{name}"))
        .collect();
    let unknown: Vec<String> = options
        .names()
        .filter(|name| name.starts_with("gitfs_") && !known.contains(name))
        .collect();
    for name in unknown {
        let help = nearest(&name, &known).map_or_else(
            || "Salt has no such option".to_string(),
            |near| format!("Salt has no such option; did you mean `{near}`?"),
        );
        options.warn_of(format!("`{name}` is ignored"), help);
    }
}

/// The settings of every remote without its own: the options with a prefix and one of these names.
pub(super) fn defaults(
    options: &Options<'_>,
    prefix: &str,
    names: &[&str],
) -> Result<BTreeMap<String, Value>> {
    let mut defaults = BTreeMap::new();
    for name in names {
        let option = format!("{prefix}_{name}");
        if let Some(value) = options.get(&option) {
            check_type(name, value, &format!("`{option}`"))?;
            defaults.insert((*name).to_owned(), value.clone());
        }
    }
    Ok(defaults)
}

/// One item of `gitfs_remotes`: a URL, or a URL with options; `None` if Salt leaves it out.
fn url_and_options(options: &mut Options<'_>, item: &Value) -> Result<Option<(String, Settings)>> {
    let (url, own) = match item {
        Value::Map(item) => {
            let Some((url, own)) = item.iter().next() else {
                return Ok(None);
            };
            let url = url.to_string();
            if item.len() > 1 {
                let shown = |name: &Key| format!("'{}'", without_login(&name.to_string()));
                let names: Vec<String> = item.keys().skip(1).map(shown).collect();
                let url = without_login(&url);
                let message = format!(
                    "{} is beside the remote '{url}', not below it",
                    names.join(", ")
                );
                return Err(
                    error(message).help("indent the options of a remote, each behind a dash")
                );
            }
            let known: Vec<&str> = SHARED.into_iter().chain(OWN).collect();
            let own = own_options(&RemoteSource::new(&url).shown(), own, &known)?;
            (url, own)
        }
        other => (other.to_string(), Vec::new()),
    };
    let remotes = "remotes are https://, ssh:// or file:// URLs, or user@host:path";
    Ok(is_used(options, &url, remotes, "served").then_some((url, own)))
}

/// True if a remote is used; a warning says why not, or where Salt does otherwise. `how` says what is done with it.
pub(super) fn is_used(options: &mut Options<'_>, url: &str, help: &str, how: &str) -> bool {
    if let Some(why) = why_not_a_remote(url) {
        let message = format!(
            "the remote '{}' is left out, as in Salt: {why}",
            RemoteSource::new(url).shown()
        );
        options.warn_of(message, help);
        return false;
    }
    if url.starts_with('/') {
        let message =
            format!("the remote '{url}' is a path, which Salt leaves out; it is {how} here");
        options.warn_of(message, format!("write file://{url}"));
    }
    true
}

/// Why a URL cannot be that of a remote (Salt: `GitBase.validate_remote`).
fn why_not_a_remote(url: &str) -> Option<String> {
    if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Some("it has a blank".into());
    }
    if url.starts_with('/') {
        return None;
    }
    match url.split_once("://") {
        Some((scheme, _)) if SCHEMES.contains(&scheme) => None,
        Some((scheme, _)) => Some(format!("{scheme}:// is not a scheme that it knows")),
        // user@host:path
        None => match url
            .split_once('@')
            .and_then(|(user, rest)| Some((user, rest.split_once(':')?)))
        {
            Some((user, (host, path))) if ![user, host, path].contains(&"") => None,
            _ => Some("it is not a URL".into()),
        },
    }
}

/// The known options below a remote.
pub(super) fn own_options(url: &str, listed: &Value, known: &[&str]) -> Result<Settings> {
    let what = format!("the remote '{url}'");
    if listed.is_none() {
        return Err(without_options(&what));
    }
    let own = pairs(listed, &what)?;
    for (name, value) in &own {
        if !known.contains(&name.as_str()) {
            let help = nearest(name, known).map_or_else(
                || format!("it can have {}", known.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("{what} has the option `{name}`, which Salt does not know");
            return Err(error(message).help(help));
        }
        check_type(name, value, &format!("`{name}` of {what}"))?;
    }
    Ok(own)
}

/// A remote with a colon and nothing behind it.
pub(super) fn without_options(what: &str) -> Error {
    error(format!("{what} ends in a colon and has no options")).help("take the colon away")
}

/// A list of mappings with one key each (Salt: `salt.utils.data.repack_dictlist`).
pub(super) fn pairs(listed: &Value, what: &str) -> Result<Settings> {
    let help = "write each option behind a dash: `- base: main`";
    let Some(items) = listed.as_list() else {
        let message = format!(
            "the options of {what} must be a list, not {}",
            listed.kind().described()
        );
        return Err(error(message).help(help));
    };
    let mut all = Vec::new();
    for item in items {
        match item.as_map().map(|item| (item.len(), item.iter().next())) {
            Some((1, Some((name, value)))) => all.push((name.to_string(), value.clone())),
            Some((count, _)) => {
                return Err(error(format!(
                    "an item below {what} has {count} options and not one"
                ))
                .help(help));
            }
            None => {
                let message = format!(
                    "an item below {what} is {} and not an option",
                    item.kind().described()
                );
                return Err(error(message).help(help));
            }
        }
    }
    Ok(all)
}

/// Salt makes a text of almost anything; what cannot be meant is an error.
pub(super) fn check_type(name: &str, value: &Value, what: &str) -> Result<()> {
    let (good, expected) = match name {
        "saltenv_whitelist" | "saltenv_blacklist" | "refspecs" | "ref_types" => (
            matches!(value, Value::List(_) | Value::Str(_)),
            "a list of texts",
        ),
        "disable_saltenv_mapping" | "ssl_verify" | "insecure_auth" => {
            (matches!(value, Value::Bool(_)), "true or false")
        }
        "update_interval" | "depth" => (matches!(value, Value::Int(_)), "a number"),
        "saltenv" => return Ok(()),
        _ => (
            !matches!(value, Value::List(_) | Value::Map(_) | Value::None),
            "a text",
        ),
    };
    if good {
        return Ok(());
    }
    Err(error(format!(
        "{what} must be {expected}, not {}",
        value.kind().described()
    )))
}

/// The settings of single saltenvs.
fn saltenvs(
    options: &mut Options<'_>,
    value: &Value,
    what: &str,
) -> Result<BTreeMap<String, Saltenv>> {
    let mut all = BTreeMap::new();
    for (name, own) in pairs(value, what)? {
        let mut saltenv = Saltenv::default();
        let at = format!("saltenv {name} of {what}");
        for (key, value) in pairs(&own, &at)? {
            check_type(&key, &value, &format!("`{key}` of {at}"))?;
            match key.as_str() {
                "ref" => saltenv.reference = Some(value.to_string()),
                "root" => saltenv.root = Some(value.to_string()),
                "mountpoint" => {
                    saltenv.mountpoint = Some(without_scheme(&value.to_string()).into());
                }
                other => options.warn_of(
                    format!("`{other}` of {at} is ignored"),
                    "a saltenv can have ref, root and mountpoint",
                ),
            }
        }
        all.insert(name, saltenv);
    }
    Ok(all)
}

/// A text without its scheme (Salt: `salt.utils.url.strip_proto`).
fn without_scheme(text: &str) -> &str {
    match text.split_once("://") {
        Some((scheme, rest)) if !scheme.is_empty() && !scheme.contains([':', '/']) => rest,
        _ => text,
    }
}

/// Texts, or one text with commas between them (Salt: `enforce_types`).
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        None => Vec::new(),
        Some(Value::List(several)) => several.iter().map(ToString::to_string).collect(),
        Some(one) => one
            .to_string()
            .split(',')
            .map(|one| one.trim().to_string())
            .collect(),
    }
}

fn refspecs(given: Option<&Value>, what: &str) -> Result<Vec<Refspec>> {
    if given.is_none() {
        return Ok(Refspec::defaults());
    }
    let parsed = texts(given).iter().map(|spec| spec.parse()).collect();
    let parsed: std::result::Result<_, _> = parsed;
    parsed.map_err(|e| error(format!("`refspecs` of {what}: {e}")))
}

/// Advice if a remote's repository is missing.
fn if_missing(origin: &RemoteSource, settings: &BTreeMap<String, Value>, shown: &str) -> String {
    let is_of_fetching = |name: &String| OF_FETCHING.contains(&name.as_str());
    match origin.local() {
        Some(path) => format!(
            "{} is not a git repository; is the path right?",
            path.display()
        ),
        None if settings.keys().any(is_of_fetching) => {
            format!("it was not fetched yet; run {}", Means::FetchConfigured)
        }
        None => format!(
            "it was not fetched yet; run {} or {}",
            Means::FetchOne(shown),
            Means::FetchConfigured
        ),
    }
}

pub(super) fn remote(
    options: &mut Options<'_>,
    url: String,
    settings: &BTreeMap<String, Value>,
    global_saltenvs: &BTreeMap<String, Saltenv>,
    mirrors: &Path,
) -> Result<GitRemote> {
    let text = |name: &str| {
        settings
            .get(name)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    let is_on = |name: &str, default| settings.get(name).map_or(default, Value::truthy);
    let shown = RemoteSource::new(&url).shown();
    let what = format!("the remote '{shown}'");
    let refspecs = refspecs(settings.get("refspecs"), &what)?;
    let origin = RemoteSource {
        user: text("user"),
        password: text("password"),
        insecure_auth: is_on("insecure_auth", false),
        ssl_verify: is_on("ssl_verify", true),
        proxy: text("proxy"),
        refspecs: refspecs.clone(),
        ..RemoteSource::new(url)
    };
    for name in KEYS {
        if settings.get(name).is_some_and(Value::truthy) {
            let message = format!("`{name}` of {what} is ignored here");
            options.warn_of(
                message,
                format!(
                    "{} runs ssh: name the key in ~/.ssh/config, or add it to ssh's agent",
                    Means::Fetch
                ),
            );
        }
    }
    let own_saltenvs = match settings.get("saltenv") {
        None => BTreeMap::new(),
        Some(value) => saltenvs(options, value, &what)?,
    };
    let remote = Remote {
        if_missing: Some(if_missing(&origin, settings, &shown)),
        base: settings
            .get("base")
            .map_or_else(|| "master".into(), ToString::to_string),
        root: text("root"),
        mountpoint: without_scheme(&text("mountpoint")).trim_matches('/').into(),
        fallback: text("fallback"),
        all_saltenvs: settings.get("all_saltenvs").map(ToString::to_string),
        disable_saltenv_mapping: is_on("disable_saltenv_mapping", false),
        ref_types: ref_types(settings.get("ref_types"), &what)?,
        refspecs,
        saltenvs: own_saltenvs,
        global_saltenvs: global_saltenvs.clone(),
        exposed: exposed(
            texts(settings.get("saltenv_whitelist")),
            texts(settings.get("saltenv_blacklist")),
        ),
        ..Remote::new(shown, origin.repository(mirrors))
    };
    Ok(GitRemote { origin, remote })
}

fn ref_types(value: Option<&Value>, what: &str) -> Result<Vec<RefType>> {
    let Some(value) = value else {
        return Ok(RefType::ALL.into());
    };
    let read = |name: &String| {
        let lower = name.to_lowercase();
        RefType::ALL
            .into_iter()
            .find(|kind| kind.name() == lower)
            .ok_or_else(|| {
                error(format!("`ref_types` of {what} has '{name}'"))
                    .help("it can have branch, tag and sha, in any order")
            })
    };
    texts(Some(value)).iter().map(read).collect()
}

/// Salt's `check_whitelist_blacklist`: each item is a shell pattern, a regular expression, or both.
fn exposed(whitelist: Vec<String>, blacklist: Vec<String>) -> NamePatterns {
    if whitelist.is_empty() && blacklist.is_empty() {
        return NamePatterns::default();
    }
    NamePatterns::new(move |saltenv| {
        let is_in = |list: &[String]| list.iter().any(|pattern| expr_match(saltenv, pattern));
        !is_in(&blacklist) && (whitelist.is_empty() || is_in(&whitelist))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mapstack_value::json;

    fn read(options: &str) -> Result<(Vec<GitRemote>, Vec<Diagnostic>)> {
        git_remotes(
            json::loads(options).unwrap().as_map().unwrap(),
            Path::new("/mirrors"),
        )
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "one row for each mistake")]
    fn what_salt_refuses_is_an_error_with_advice() {
        for (options, expected) in [
            (
                r#"{"gitfs_remotes": "https://a/b"}"#,
                "`gitfs_remotes` must be a list, not a string",
            ),
            (
                r#"{"gitfs_remotes": [{"https://a/b": null}]}"#,
                "ends in a colon",
            ),
            (
                r#"{"gitfs_remotes": [{"https://a/b": {"base": "x"}}]}"#,
                "must be a list, not a mapping",
            ),
            (
                r#"{"gitfs_remotes": [{"https://a/b": [{"bsae": "x"}]}]}"#,
                "`bsae`, which Salt does not know",
            ),
            (
                r#"{"gitfs_remotes": [{"https://a/b": [{"base": "x", "root": "y"}]}]}"#,
                "has 2 options and not one",
            ),
            (
                r#"{"gitfs_remotes": [{"https://a/b": [{"base": []}]}]}"#,
                "`base` of the remote 'https://a/b' must be a text",
            ),
            (
                r#"{"gitfs_remotes": [{"https://a/b": [{"ref_types": ["commit"]}]}]}"#,
                "has 'commit'",
            ),
            (
                r#"{"gitfs_remotes": [{"https://a/b": [{"refspecs": ["x"]}]}]}"#,
                "'x' is not a refspec",
            ),
            (
                r#"{"gitfs_remotes": [{"https://a/b": [{"base": "x"}], "root": "y"}]}"#,
                "'root' is beside the remote",
            ),
            (
                r#"{"gitfs_remotes": ["https://a/b", "https://a/b"]}"#,
                "has 'https://a/b' twice",
            ),
            (
                r#"{"gitfs_remotes": ["https://a/b"], "gitfs_base": null}"#,
                "`gitfs_base` must be a text",
            ),
            (
                r#"{"gitfs_remotes": ["https://a/b"], "gitfs_ssl_verify": "no"}"#,
                "`gitfs_ssl_verify` must be true or false",
            ),
            (
                r#"{"gitfs_remotes": ["https://a/b"], "gitfs_saltenv": {"dev": []}}"#,
                "must be a list, not a mapping",
            ),
        ] {
            let message = read(options).expect_err(options).to_string();
            assert!(message.contains(expected), "{options}: {message}");
        }
        let error =
            read(r#"{"gitfs_remotes": [{"https://a/b": [{"mountpiont": "x"}]}]}"#).unwrap_err();
        assert_eq!(
            error.diagnostic().help.as_deref(),
            Some("did you mean `mountpoint`?")
        );
    }

    #[test]
    fn what_does_not_count_is_a_warning() {
        for (options, remotes, expected) in [
            (r#"{"gitfs_remotes": []}"#, 0, "gitfs has no remotes"),
            (
                r#"{"gitfs_remotes": ["git://a/b"]}"#,
                0,
                "git:// is not a scheme that it knows",
            ),
            (r#"{"gitfs_remotes": ["srv/b"]}"#, 0, "it is not a URL"),
            (
                r#"{"gitfs_remotes": ["/srv/b"]}"#,
                1,
                "is a path, which Salt leaves out",
            ),
            (
                r#"{"gitfs_remotes": ["https://a/b"], "gitfs_bsae": "x"}"#,
                1,
                "`gitfs_bsae` is ignored",
            ),
            (
                r#"{"gitfs_remotes": ["git@a:b"], "gitfs_privkey": "/k"}"#,
                1,
                "`privkey` of the remote 'git@a:b' is ignored",
            ),
            (
                r#"{"gitfs_remotes": [{"https://a/b": [{"saltenv": [{"dev": [{"base": "x"}]}]}]}]}"#,
                1,
                "`base` of saltenv dev",
            ),
        ] {
            let (read, warnings) = read(options).unwrap();
            assert_eq!(read.len(), remotes, "{options}");
            assert!(
                warnings.len() == 1 && warnings[0].message.contains(expected),
                "{options}: {warnings:?}"
            );
        }
        let quiet = r#"{"gitfs_remotes": ["https://me:secret@a/b", "git@a:b.git", "file:///srv/b"], "gitfs_user": "x",
            "gitfs_password": "y", "gitfs_depth": 1, "gitfs_update_interval": 60, "gitfs_provider": "pygit2",
            "gitfs_global_lock": true, "gitfs_proxy": "http://p:1", "gitfs_insecure_auth": true}"#;
        assert!(read(quiet).unwrap().1.is_empty());
    }

    #[test]
    fn a_mirror_that_is_not_there_says_how_to_get_it() {
        let options = json::loads(
            r#"{"fileserver_backend": ["git"], "gitfs_remotes": ["https://me:secret@example.org/b"]}"#,
        );
        let error = super::super::open(
            options.unwrap().as_map().unwrap(),
            Path::new("/nonexistent"),
        )
        .err()
        .unwrap();
        assert_eq!(
            error.to_string(),
            "https://example.org/b: it was not fetched yet; run a fetch of https://example.org/b or a fetch of what the configuration names"
        );
    }
}
