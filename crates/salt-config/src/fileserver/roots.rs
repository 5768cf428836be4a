//! The backend `roots`: directories.

use mapstack_loader::Roots;
use mapstack_value::pytext::Fnmatch;
use mapstack_value::{Key, Value};

use super::RootDirectory;
use super::options::Options;
use crate::roots;
use mapstack_diagnostic::Result;
use mapstack_salt_jinja::regex_matches;

/// Salt's root if `file_roots` has none that it understands.
const DEFAULT_ROOT: &str = "/srv/salt";

/// The directories of `file_roots`.
pub(super) fn open(options: &mut Options<'_>) -> Result<Roots> {
    let follow = options.switch("fileserver_followsymlinks", true)?;
    let hide = options.switch("fileserver_ignoresymlinks", false)?;
    let mut roots = Roots::new().follow_outside_links(follow).hide_links(hide);
    for (saltenv, directory) in directories(options)? {
        roots = roots.root(&saltenv, directory);
    }
    for missing in roots.missing_roots() {
        let message = format!("the root {} is not a directory", missing.display());
        options.warn_of(message, "Salt leaves such roots out silently");
    }
    Ok(match ignored(options)? {
        Some(ignored) => roots.ignore(ignored),
        None => roots,
    })
}

/// The saltenvs and directories of `file_roots`, in order. Salt's default replaces a missing option.
pub(super) fn directories(options: &mut Options<'_>) -> Result<Vec<RootDirectory>> {
    let Some(given) = options.get("file_roots") else {
        return Ok(vec![("base".into(), DEFAULT_ROOT.into())]);
    };
    let read = roots::read("file_roots", given, DEFAULT_ROOT)?;
    for slip in read.slips {
        options.warn_of(slip.message, slip.help);
    }
    let of_saltenv = |(saltenv, directories): (Key, Vec<Value>)| {
        directories
            .into_iter()
            .map(move |path| (saltenv.to_string(), path.to_string()))
    };
    Ok(read.saltenvs.into_iter().flat_map(of_saltenv).collect())
}

/// The files to ignore (Salt: `salt.fileserver.is_file_ignored`).
fn ignored(
    options: &mut Options<'_>,
) -> Result<Option<impl Fn(&str) -> bool + Send + Sync + use<>>> {
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
                    "`file_ignore_regex` has '{expression}', which is not a regular expression: {}",
                    e.message
                );
                options.warn_of(message, "Salt also leaves it out");
                false
            }
        },
    );
    if expressions.is_empty() && patterns.is_empty() {
        return Ok(None);
    }
    Ok(Some(move |path: &str| {
        expressions
            .iter()
            .any(|expression| regex_matches(expression, path, false, false).unwrap_or(false))
            || patterns.iter().any(|pattern| pattern.matches(path))
    }))
}
