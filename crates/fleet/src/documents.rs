//! Files of a formula that are written for people.

use mapstack::loader::{Fetched, SaltPath};
use mapstack::{Engine, Result};

/// The names, without their ends, of files that describe a formula.
const NAMES: [&str; 6] = [
    "README",
    "CHANGELOG",
    "CHANGES",
    "CONTRIBUTING",
    "AUTHORS",
    "HISTORY",
];
const ENDS: [&str; 5] = ["", ".md", ".rst", ".txt", ".adoc"];

/// The folder and the name without its end of a file that describes a formula: at the top of the file server, of a formula or
/// of its `docs`.
fn document(path: &str) -> Option<(&str, &str)> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = NAMES.into_iter().find(|stem| {
        let end = name.strip_prefix(stem);
        end.is_some_and(|end| ENDS.contains(&end))
    })?;
    let above = folder.strip_suffix("docs").unwrap_or(folder);
    let is_top = !above.trim_end_matches('/').contains('/');
    is_top.then_some((folder, stem))
}

/// True if a file describes a formula to people, and no sls, template or data can make Salt read it.
///
/// A file counts as one that can if it has the name in it, or if it copies whole folders, and that of the document or one
/// whose name it computes may be among these.
///
/// # Errors
/// A file of the saltenv cannot be read.
pub(crate) fn is_for_people(engine: &Engine, saltenv: &str, path: &str) -> Result<bool> {
    let Some((folder, stem)) = document(path) else {
        return Ok(false);
    };
    for other in engine.list(saltenv, "")? {
        if document(&other).is_some() || other.split('/').any(|part| part.starts_with(".git")) {
            continue;
        }
        let fetched = engine.fetch(&SaltPath::from_relative(&other), saltenv)?;
        let Fetched::Found { bytes, .. } = fetched else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        if is_read(&other, &text) && (text.contains(stem) || copies(&other, &text, folder)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if Salt may read a file as states, template or data.
fn is_read(path: &str, text: &str) -> bool {
    let has_end = |end: &str| path.ends_with(end);
    [".sls", ".jinja", ".j2", ".py", ".yaml", ".yml", ".json"]
        .into_iter()
        .any(has_end)
        || text.starts_with("#!")
        || text.contains("{{")
        || text.contains("{%")
}

/// True if a file may copy a folder whole: as it names it or one around it, or as it computes a name.
fn copies(path: &str, text: &str, folder: &str) -> bool {
    const URL: &str = "salt://";
    let copying = ["recurse", "cache_dir", "get_dir"];
    if !copying.into_iter().any(|name| text.contains(name)) {
        return false;
    }
    let after = |word: &'static str| {
        let places = text.match_indices(word);
        places.map(move |(at, _)| &text[at + word.len()..])
    };
    // Code may make a source of anything, as may an expression in its place.
    let is_computed = |rest: &str| {
        rest.trim_start_matches(['s', ':', '=', '-', '\'', '"', ' ', '\n'])
            .starts_with('{')
    };
    path.ends_with(".py")
        || text.starts_with("#!")
        || after("source").any(is_computed)
        || after(URL).any(|rest| may_lead_to(folder, rest))
}

/// True if the URL at the start of a text, without its scheme, may be that of a folder or of one around it.
fn may_lead_to(folder: &str, url: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let named = url.split(|c| !is_of_name(c)).next().unwrap_or_default();
    let (named, rest) = (named.trim_matches('/'), &url[named.len()..]);
    match folder.strip_prefix(named) {
        Some(below) => {
            named.is_empty() || below.is_empty() || below.starts_with('/') || rest.starts_with('{')
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mapstack::loader::MemoryFiles;

    fn is_unread(path: &str, other: (&str, &str)) -> bool {
        let files = MemoryFiles::new()
            .file("base", path, "{{ x }}")
            .file("base", "docs/README.md", "see CHANGELOG.md {{ x }}")
            .file("base", other.0, other.1);
        is_for_people(&Engine::new(files), "base", path).unwrap()
    }

    #[test]
    fn documents_that_nothing_names_are_for_people() {
        let other = (
            "web/init.sls",
            "/etc/motd: {file.managed: [{source: 'salt://web/motd'}]}",
        );
        for path in [
            "README",
            "CHANGELOG.md",
            "web/README.rst",
            "docs/CONTRIBUTING.md",
            "web/docs/README.md",
        ] {
            assert!(is_unread(path, other), "{path}");
        }
        for path in [
            "web/files/README",
            "web/notes.md",
            "README.sls",
            "README.md.jinja",
            "web/READMEs",
        ] {
            assert!(!is_unread(path, other), "{path}");
        }
    }

    #[test]
    fn a_document_that_a_state_may_write_counts_as_read() {
        let recursed = |source: &str| format!("/x: {{file.recurse: [{{source: '{source}'}}]}}");
        for source in [
            "salt://web",
            "salt:///web/",
            "salt://web?saltenv=base",
            "salt://{{ tpldir }}",
            "salt://web/{{ x }}",
            "salt://",
        ] {
            assert!(
                !is_unread("web/README.md", ("ops/a.sls", &recursed(source))),
                "{source}"
            );
        }
        assert!(is_unread(
            "web/README.md",
            ("ops/a.sls", &recursed("salt://web/files"))
        ));
        assert!(is_unread(
            "web/README.md",
            ("ops/a.sls", &recursed("salt://website"))
        ));
        for (path, text) in [
            (
                "web/a.sls",
                "/x: {file.managed: [{source: salt://web/README.md}]}",
            ),
            ("web/a.jinja", "{% include 'web/README' ~ '.md' %}"),
            ("_states/web.py", "NAME = 'README'"),
            ("web/defaults.yaml", "source: README.md"),
            ("web/start", "#!jinja\nREADME"),
        ] {
            assert!(!is_unread("web/README.md", (path, text)), "{path}");
        }
        assert!(is_unread("web/README.md", (".github/a.yml", "README.md")));
        assert!(is_unread(
            "web/README.md",
            ("web/release.js", "'README.md'")
        ));
    }
}
