//! The backend `roots`: directories.

use mapstack_loader::{Fnmatch, Names, Roots};
use mapstack_value::Value;

use super::options::Options;
use crate::diagnostic::Result;
use crate::regex_matches;

/// Where Salt looks if `file_roots` says nothing that it understands.
const DEFAULT_ROOT: &str = "/srv/salt";

/// The directories of `file_roots`.
pub(super) fn open(options: &mut Options<'_>) -> Result<Roots> {
    let follow = options.switch("fileserver_followsymlinks", true)?;
    let hide = options.switch("fileserver_ignoresymlinks", false)?;
    let mut roots = Roots::new().follow_outside_links(follow).hide_links(hide);
    for (saltenv, directory) in directories(options) {
        roots = roots.root(&saltenv, directory);
    }
    for missing in roots.missing_roots() {
        let message = format!("the root {} is no directory", missing.display());
        options.warn_of(message, "Salt leaves such roots out without a word");
    }
    Ok(match ignored(options)? {
        Some(ignored) => roots.ignore(ignored),
        None => roots,
    })
}

/// Saltenvs and their directories, in order (Salt: `salt.config._validate_file_roots`).
fn directories(options: &mut Options<'_>) -> Vec<(String, String)> {
    let saltenvs = match options.get("file_roots") {
        Some(Value::Map(saltenvs)) => saltenvs,
        None => return vec![("base".into(), DEFAULT_ROOT.into())],
        Some(other) => {
            let message = format!(
                "`file_roots` must be a mapping of saltenvs, not {}",
                other.kind().described()
            );
            options.warn_of(
                message,
                format!(
                    "Salt reads {DEFAULT_ROOT} instead; write `file_roots: {{base: [DIRECTORY]}}`"
                ),
            );
            return vec![("base".into(), DEFAULT_ROOT.into())];
        }
    };
    let mut all = Vec::new();
    for (saltenv, listed) in saltenvs {
        match listed {
            Value::List(listed) => {
                all.extend(
                    listed
                        .iter()
                        .flat_map(|path| expanded(&path.to_string()))
                        .map(|path| (saltenv.to_string(), path)),
                );
            }
            Value::None => {}
            other => {
                let message = format!(
                    "the roots of saltenv {saltenv} are {} and not a list",
                    other.kind().described()
                );
                options.warn_of(
                    message,
                    "Salt serves nothing there; put the directory into a list: [DIRECTORY]",
                );
            }
        }
    }
    all
}

/// The directories that a shell pattern stands for, sorted; Salt's order is that of the disk.
fn expanded(path: &str) -> Vec<String> {
    if !path.contains(['*', '?', '[']) {
        return vec![path.into()];
    }
    let Ok(found) = glob::glob(path) else {
        return vec![path.into()];
    };
    let mut all: Vec<String> = found
        .flatten()
        .map(|path| path.display().to_string())
        .collect();
    all.sort_unstable();
    all
}

/// The files that are not there (Salt: `salt.fileserver.is_file_ignored`).
fn ignored(options: &mut Options<'_>) -> Result<Option<Names>> {
    let mut expressions = options.texts("file_ignore_regex")?;
    let patterns = options.texts("file_ignore_glob")?;
    let patterns: Vec<Fnmatch> = patterns
        .iter()
        .map(|pattern| Fnmatch::new(pattern))
        .collect();
    expressions.retain(
        |expression| match regex_matches(expression, "", false, false) {
            Ok(_) => true,
            Err(e) => {
                let message = format!(
                    "`file_ignore_regex` has '{expression}', which is no regular expression: {}",
                    e.message
                );
                options.warn_of(message, "Salt leaves it out, too");
                false
            }
        },
    );
    if expressions.is_empty() && patterns.is_empty() {
        return Ok(None);
    }
    Ok(Some(Names::new(move |path| {
        expressions
            .iter()
            .any(|expression| regex_matches(expression, path, false, false).unwrap_or(false))
            || patterns.iter().any(|pattern| pattern.matches(path))
    })))
}
