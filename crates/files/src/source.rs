//! The source of a file: one, or the first of several that exists.

use mapstack::scheme;
use mapstack::without_login;
use mapstack_value::Value;

use crate::minion_files::{MinionFiles, is_of_file_server};
use crate::plan::ContentPlan;
use crate::unknown::{Reason, Unknown};

/// The source of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileSource {
    /// The chosen source, as written in the state; `None` if no source exists or none is known to exist.
    pub url: Option<String>,
    /// All sources that the state names, in order, if it has a list of them.
    pub candidates: Vec<Candidate>,
}

/// A source in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The source, as the state writes it.
    pub url: String,
    /// The result of looking for it.
    pub found: SourceLookup,
}

/// The result of looking for a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceLookup {
    /// It exists, and counts.
    Chosen,
    /// It does not exist.
    Missing,
    /// Its existence cannot be known offline.
    Unknown,
    /// An earlier source was chosen, so this one was not looked up.
    NotAsked,
}

/// The source of a state, and why there is none that can be read.
pub(crate) type SourceResult = (Option<FileSource>, Option<ContentPlan>);

/// The source that counts (Salt: `source_list`).
pub(crate) fn resolve(
    minion_files: &MinionFiles<'_>,
    source: &Value,
    saltenv: &str,
) -> SourceResult {
    let Some(listed) = source.as_list() else {
        let url = source.truthy().then(|| source.to_string());
        let source = url.map(|url| FileSource {
            url: Some(url),
            candidates: Vec::new(),
        });
        return (source, None);
    };
    if let Some(other) = listed.iter().find(|one| one.as_str().is_none()) {
        let kind = other.kind().described();
        let why = format!("a source in the list is {kind}, not text");
        return (None, Some(ContentPlan::failed(why)));
    }
    let urls: Vec<String> = listed.iter().map(ToString::to_string).collect();
    let mut candidates = Vec::new();
    let mut chosen = None;
    let mut unknown = None;
    for url in &urls {
        let found = match chosen.is_some() || unknown.is_some() {
            true => SourceLookup::NotAsked,
            false => look_up(minion_files, url, saltenv),
        };
        match found {
            SourceLookup::Chosen => chosen = Some(url.clone()),
            SourceLookup::Unknown => unknown = Some(unread(url)),
            SourceLookup::Missing | SourceLookup::NotAsked => {}
        }
        candidates.push(Candidate {
            url: url.clone(),
            found,
        });
    }
    let refused = match (&chosen, unknown) {
        (Some(_), _) => None,
        (None, Some(unknown)) => Some(ContentPlan::Unknown(unknown)),
        (None, None) => Some(ContentPlan::failed(format!(
            "none of the sources exists in saltenv '{saltenv}': {}",
            urls.join(", ")
        ))),
    };
    let source = FileSource {
        url: chosen,
        candidates,
    };
    (Some(source), refused)
}

/// Look for a source of a list. Salt compares its text with a list of the files and directories that are served.
fn look_up(minion_files: &MinionFiles<'_>, url: &str, saltenv: &str) -> SourceLookup {
    let (path, env) = minion_files.path_and_saltenv(url);
    let listed = minion_files.listed(env.as_deref().unwrap_or(saltenv));
    let is_file = listed.files.binary_search(&path).is_ok();
    if is_file || listed.directories.contains(&path) {
        return SourceLookup::Chosen;
    }
    match scheme(url).as_deref() {
        Some("http" | "https" | "ftp" | "file") => SourceLookup::Unknown,
        None if url.starts_with('/') => SourceLookup::Unknown,
        _ => SourceLookup::Missing,
    }
}

/// The path of a URL and the saltenv that it names (Salt: `salt.utils.url.parse`).
pub(crate) fn path_and_saltenv(url: &str) -> (String, Option<String>) {
    let Some(resource) = url.strip_prefix("salt://") else {
        return (url.to_owned(), None);
    };
    let (path, saltenv) = match resource.split_once("?env=") {
        Some((path, _)) => (path, None),
        None => match resource.split_once("?saltenv=") {
            Some((path, saltenv)) => (path, Some(saltenv.to_owned())),
            None => (resource, None),
        },
    };
    (path.trim_start_matches('/').to_owned(), saltenv)
}

/// The reason why a source of another kind than those of the file server is not read.
pub(crate) fn unread(url: &str) -> Unknown {
    match is_remote(url) {
        true => Unknown::new(
            Reason::RemoteSource,
            format!("the source {} is fetched by the minion", without_login(url)),
        ),
        false => Unknown::new(
            Reason::LocalSource,
            format!("the source {url} is a path of the minion"),
        ),
    }
}

/// True if the minion fetches a source from another server.
fn is_remote(url: &str) -> bool {
    matches!(
        scheme(url).as_deref(),
        Some("http" | "https" | "ftp" | "s3" | "swift")
    )
}

/// The way to the bytes of the source that counts.
pub(crate) fn served(url: &str, has_hash: bool) -> ContentPlan {
    if is_of_file_server(url) {
        return ContentPlan::Served(url.to_owned());
    }
    match is_remote(url) && !has_hash {
        true => ContentPlan::failed(format!(
            "the source {} needs a 'source_hash', or 'skip_verify'",
            without_login(url)
        )),
        false => ContentPlan::Unknown(unread(url)),
    }
}
