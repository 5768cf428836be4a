//! Changed files that do not matter to Salt: a project's documents, build files and tests.

use mapstack::loader::{Fetched, FileServer, SaltPath};

use crate::reach::ChangedFiles;

/// Beginnings of the names of documents, in capitals, wherever they lie.
const DOCUMENTS: [&str; 18] = [
    "README",
    "CHANGELOG",
    "CHANGES",
    "HISTORY",
    "NEWS",
    "LICENSE",
    "LICENCE",
    "COPYING",
    "COPYRIGHT",
    "NOTICE",
    "AUTHORS",
    "CONTRIBUTORS",
    "CONTRIBUTING",
    "CODEOWNERS",
    "CODE_OF_CONDUCT",
    "MAINTAINERS",
    "SECURITY",
    "TODO",
];
/// Ends of the names of documents.
const DOCUMENT_ENDS: [&str; 4] = [".md", ".rst", ".adoc", ".asciidoc"];
/// Files at the top of a project that build, check or release it.
const TOP_FILES: [&str; 20] = [
    "FORMULA",
    "VERSION",
    "Gemfile",
    "Gemfile.lock",
    "Rakefile",
    "Makefile",
    "Jenkinsfile",
    "Vagrantfile",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "commitlint.config.js",
    "package.json",
    "package-lock.json",
    "pre-commit_semantic-release.sh",
    "release.config.js",
    "release-rules.js",
    "renovate.json",
    "tox.ini",
    "pillar.example",
];
/// Folders of recorded results, below a root or beside it.
const RECORDED: [&str; 2] = ["tests/mapstack/", "test/integration/"];
/// Folders at the top of a formula that no minion is served anything from.
const OF_FORMULA: [&str; 6] = ["bin", "doc", "docs", "spec", "test", "tests"];
/// Files of which names are looked for are read up to this size.
const MAX_SIZE: usize = 1 << 20;
/// The settings of a project, which name its roots.
const PROJECT_FILE: &str = ".mapstack.yaml";
/// Parts of lines by which one file loads another.
const ASKS: [&str; 6] = ["salt://", "}}/", "import", "include", "cp.", "source"];

/// The kind of the folder at the top of a tree of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Top {
    /// A formula, which a file says.
    Formula,
    /// Roots of an estate.
    Roots,
    /// The repository around the roots, which no root serves.
    Around,
}

impl Top {
    /// The kind of a saltenv's top in two states of the files.
    fn of_files(states: [&dyn FileServer; 2], env: &str) -> Self {
        let path = SaltPath::from_relative("FORMULA");
        let has =
            |files: &&dyn FileServer| matches!(files.fetch(&path, env), Ok(Fetched::Found { .. }));
        match states.iter().any(has) {
            true => Top::Formula,
            false => Top::Roots,
        }
    }

    /// True if a path does not matter to Salt, by its name.
    #[must_use]
    pub fn is_unrelated(self, path: &str) -> bool {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_managed = folders
            .split('/')
            .any(|folder| matches!(folder, "files" | "templates"));
        let is_document = || {
            let upper = name.to_uppercase();
            let stem = upper.split('.').next().unwrap_or_default();
            let is_code = [".sls", ".jinja", ".j2", ".py", ".yaml", ".yml"];
            !is_code.iter().any(|end| name.ends_with(end))
                && (DOCUMENTS.contains(&stem)
                    || DOCUMENT_ENDS.iter().any(|end| name.ends_with(end)))
        };
        let is_kitchen = || name.starts_with("kitchen.") && name.ends_with(".yml");
        let is_top = || {
            folders.is_empty()
                && (TOP_FILES.contains(&name) || is_kitchen() || name.starts_with('.'))
        };
        let first = folders.split('/').next().unwrap_or_default();
        let is_folder = || match self {
            Top::Formula => OF_FORMULA.contains(&first),
            Top::Around => matches!(first, "doc" | "docs"),
            Top::Roots => false,
        };
        path != PROJECT_FILE
            && (first.starts_with('.')
                || RECORDED.iter().any(|recorded| path.starts_with(recorded))
                || (!is_managed && is_document())
                || is_top()
                || is_folder())
    }
}

/// Splits off served paths that do not matter to Salt, as no file of two states asks for them.
#[must_use]
pub fn split(
    paths: Vec<String>,
    states: [&dyn FileServer; 2],
    changed: &ChangedFiles,
) -> (Vec<String>, Vec<String>) {
    if paths.is_empty() {
        return (paths, Vec::new());
    }
    let mut envs: Vec<String> = states.iter().flat_map(|files| files.envs()).collect();
    envs.sort();
    envs.dedup();
    let tops: Vec<Top> = envs.iter().map(|env| Top::of_files(states, env)).collect();
    let is_named = |path: &String| tops.iter().all(|top| top.is_unrelated(path));
    let (named, others): (Vec<String>, Vec<String>) = paths.into_iter().partition(is_named);
    if named.is_empty() {
        return (others, named);
    }
    let mut asked = vec![false; named.len()];
    let [before, after] = states;
    for (env, top) in envs.iter().zip(&tops) {
        note_asked(after, env, *top, &named, &|_| true, &mut asked);
        // Files that are the same in both states were searched above.
        let is_different = |path: &str| changed.has_path(env, path);
        note_asked(before, env, *top, &named, &is_different, &mut asked);
    }
    let mut related = others;
    let mut unrelated = Vec::new();
    for (path, is_asked) in named.into_iter().zip(asked) {
        match is_asked {
            true => related.push(path),
            false => unrelated.push(path),
        }
    }
    (related, unrelated)
}

/// Says which files count, by their paths.
type IsMeant<'m> = &'m dyn Fn(&str) -> bool;

/// Note which of some paths the files of a saltenv ask for.
fn note_asked(
    files: &dyn FileServer,
    env: &str,
    top: Top,
    named: &[String],
    is_match: IsMeant<'_>,
    asked: &mut [bool],
) {
    // Files that cannot be listed may load any of them.
    let Ok(paths) = files.list(env, "") else {
        asked.fill(true);
        return;
    };
    for path in paths {
        if top.is_unrelated(&path) || !is_match(&path) {
            continue;
        }
        let Ok(Fetched::Found { bytes, .. }) = files.fetch(&SaltPath::from_relative(&path), env)
        else {
            continue;
        };
        if bytes.len() > MAX_SIZE {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        for (name, is_asked) in named.iter().zip(asked.iter_mut()) {
            *is_asked = *is_asked || asks(&text, name);
        }
    }
}

/// True if a text asks for a file, or for a folder that it lies in.
fn asks(text: &str, path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let of_name = || {
        let lines = text.lines().filter(|line| line.contains(name));
        lines
            .flat_map(|line| ASKS.iter().map(move |ask| line.contains(ask)))
            .any(|has| has)
    };
    text.contains(name) && of_name() || !folders.is_empty() && takes_folder(text, folders)
}

/// True if a text names a folder, or one above it, as a source by itself.
fn takes_folder(text: &str, folders: &str) -> bool {
    let sources = text.split("salt://").skip(1);
    let mut taken = sources.map(|rest| {
        let rest = rest.lines().next().unwrap_or_default();
        // A template makes the path: only the text after it is known.
        let known = rest.rsplit_once("}}").map_or(rest, |(_, known)| known);
        let is_made = known.len() != rest.len();
        let end =
            known.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '?' | ',' | ']'));
        (
            is_made,
            known[..end.unwrap_or(known.len())].trim_matches('/'),
        )
    });
    taken.any(|(is_made, folder)| match (is_made, folder) {
        (true, "") => true,
        (true, folder) => format!("/{folders}/").contains(&format!("/{folder}/")),
        (false, "") => false,
        (false, folder) => format!("{folders}/").starts_with(&format!("{folder}/")),
    })
}

#[cfg(test)]
mod tests {
    use mapstack::loader::MemoryFiles;

    use super::*;

    #[test]
    fn names_say_what_is_of_the_project_alone() {
        for path in [
            "README.md",
            "CHANGELOG.rst",
            ".github/workflows/ci.yml",
            ".travis.yml",
            "kitchen.vagrant.yml",
            "web/README.rst",
            "tests/mapstack/web/debian.yaml",
            "test/integration/default/files/_mapdata/debian.yaml",
        ] {
            assert!(Top::Roots.is_unrelated(path), "{path}");
        }
        for path in [
            "web/init.sls",
            "web/files/README.md",
            "web/map.jinja",
            ".mapstack.yaml",
            "docs/init.sls",
            "news/init.sls",
            "web/todo.sls",
            "web/VERSION",
            "history.yaml",
        ] {
            assert!(!Top::Roots.is_unrelated(path), "{path}");
        }
        assert!(
            Top::Formula.is_unrelated("docs/conf.py")
                && Top::Formula.is_unrelated("test/salt/pillar/a.sls")
        );
        assert!(!Top::Formula.is_unrelated("web/docs.sls"));
    }

    fn left(state: &str) -> Vec<String> {
        let files = MemoryFiles::new().file("base", "web/init.sls", state).file(
            "base",
            "web/README.md",
            "see web/README.md",
        );
        let paths = ["web/README.md", "CHANGELOG.md", "web/init.sls"].map(String::from);
        let changed = ChangedFiles::default();
        split(paths.to_vec(), [&files, &files], &changed).0
    }

    #[test]
    fn what_a_file_asks_for_is_of_salt() {
        let with = ["web/init.sls", "web/README.md"];
        for state in [
            "a: {file.managed: [{source: salt://web/README.md}]}",
            "- source: salt://{{ tplroot }}/README.md",
            "a:\n  file.recurse:\n    - source: salt://web\n",
            "- source: salt://{{ tplroot }}/",
            "{% import_text 'web/README.md' as a %}",
        ] {
            assert_eq!(left(state), with, "{state}");
        }
        for state in [
            "# see README.md",
            "- source: salt://web/files/motd",
            "- source: salt://{{ tplroot }}/files",
            "- source: salt://webs",
        ] {
            assert_eq!(left(state), ["web/init.sls"], "{state}");
        }
    }
}
