//! Circles of files of one crate that use each other.
//!
//! A file uses another if it names an item of that file, through whatever re-exports. An item that a file
//! re-exports from below itself is only passed on. Files that use each other in a circle are one thing in many
//! places: none of them can be read, tested or moved alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::code::{code_only, product};

/// Files that may use each other in a circle: a type and its parts.
const MAX_CIRCLE: usize = 3;

/// Crates that have a larger circle, and how many files are in it; docs/decisions/dependencies.md says why. It may
/// not grow.
const LARGER: &[(&str, usize)] = &[("crates/pyobject", 32)];

/// A module's path, from the root of the crate.
type Module = Vec<String>;

/// The mistakes in the files of the workspace: their paths and texts.
pub fn check(files: &[(PathBuf, String)]) -> Vec<String> {
    let mut crates: BTreeMap<PathBuf, Vec<(&Path, &str)>> = BTreeMap::new();
    for (path, text) in files {
        let source = path
            .ancestors()
            .find(|above| above.file_name().is_some_and(|name| name == "src"));
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        if let (true, Some(source)) = (is_rust, source)
            && let (Some(root), Ok(inside)) = (source.parent(), path.strip_prefix(source))
        {
            crates.entry(root.into()).or_default().push((inside, text));
        }
    }
    crates
        .iter()
        .flat_map(|(root, files)| check_crate(&root.display().to_string(), files))
        .collect()
}

fn check_crate(root: &str, files: &[(&Path, &str)]) -> Vec<String> {
    let mut problems = Vec::new();
    let larger = LARGER.iter().find(|(name, _)| *name == root);
    let most = larger.map_or(MAX_CIRCLE, |(_, files)| *files);
    for circle in Sources::new(files).circles() {
        if circle.len() > most {
            problems.push(format!(
                "{root}: {} files use each other in a circle, and {most} may: {}",
                circle.len(),
                circle.join(", ")
            ));
        }
    }
    problems
}

/// The modules of a crate.
struct Sources {
    /// The file of each module.
    files: BTreeMap<Module, String>,
    /// The source of a module's re-exports.
    passed_on: BTreeMap<(Module, String), Module>,
    /// The paths that each module names, from the root.
    named: BTreeMap<Module, Vec<Module>>,
}

impl Sources {
    fn new(all: &[(&Path, &str)]) -> Self {
        let files: BTreeMap<Module, String> = all
            .iter()
            .map(|(path, _)| (module_of(path), path.display().to_string()))
            .collect();
        let mut sources = Sources {
            files,
            passed_on: BTreeMap::new(),
            named: BTreeMap::new(),
        };
        for (path, text) in all {
            sources.read(&module_of(path), &code_only(product(text)));
        }
        sources
    }

    fn read(&mut self, module: &Module, code: &str) {
        let mut named = Vec::new();
        let mut rest = String::with_capacity(code.len());
        for statement in code.split_inclusive(';') {
            let Some((before, tree)) = use_tree(statement) else {
                rest.push_str(statement);
                continue;
            };
            rest.push_str(before);
            let is_passed_on =
                before.trim_end().ends_with("pub") || before.trim_end().ends_with(')');
            for (path, name) in leaves(tree) {
                let Some(path) = self.absolute(module, &path) else {
                    continue;
                };
                let is_own = path.len() > module.len() && path.starts_with(module);
                if is_own {
                    self.passed_on.insert((module.clone(), name), path.clone());
                }
                if !(is_own && is_passed_on) {
                    named.push(path);
                }
            }
        }
        let paths = words(&rest).filter(|path| path.len() > 1);
        named.extend(paths.filter_map(|path| self.absolute(module, &path)));
        self.named.insert(module.clone(), named);
    }

    /// A path of a file as one from the root of the crate; none for what is another crate's.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Module::new(),
            "self" => module.clone(),
            "super" => above(module),
            child => {
                let inside: Module = module.iter().cloned().chain([child.to_owned()]).collect();
                self.files.contains_key(&inside).then_some(inside)?
            }
        };
        for step in rest {
            if step == "super" {
                at = above(&at);
            } else {
                at.push(step.clone());
            }
        }
        Some(at)
    }

    /// The module that declares the item of a path.
    fn home(&self, path: &Module) -> Option<Module> {
        let mut path = path.clone();
        // Re-exports of re-exports end somewhere.
        for _ in 0..8 {
            let depth = (0..=path.len())
                .rev()
                .find(|n| self.files.contains_key(&path[..*n]))?;
            let module = path[..depth].to_vec();
            let Some(name) = path.get(depth) else {
                return Some(module);
            };
            let Some(target) = self.passed_on.get(&(module.clone(), name.clone())) else {
                return Some(module);
            };
            path = target.iter().chain(&path[depth + 1..]).cloned().collect();
        }
        None
    }

    /// The files that use each other, directly or not; the largest such sets first.
    fn circles(&self) -> Vec<Vec<&str>> {
        let uses = |module: &Module| -> BTreeSet<Module> {
            let named = self.named.get(module).into_iter().flatten();
            named
                .filter_map(|path| self.home(path))
                .filter(|home| home != module)
                .collect()
        };
        let direct: BTreeMap<&Module, BTreeSet<Module>> = self
            .files
            .keys()
            .map(|module| (module, uses(module)))
            .collect();
        let reached = |from: &Module| -> BTreeSet<Module> {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(module) = open.pop() {
                for next in direct.get(&module).into_iter().flatten() {
                    if seen.insert(next.clone()) {
                        open.push(next.clone());
                    }
                }
            }
            seen
        };
        let reach: BTreeMap<&Module, BTreeSet<Module>> = self
            .files
            .keys()
            .map(|module| (module, reached(module)))
            .collect();
        let mut circles: BTreeSet<Vec<&str>> = BTreeSet::new();
        for (module, reached) in &reach {
            let back =
                |other: &&Module| reach.get(other).is_some_and(|them| them.contains(*module));
            let circle: Vec<&str> = reached
                .iter()
                .filter(back)
                .filter_map(|other| self.files.get(other).map(String::as_str))
                .collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        let mut circles: Vec<Vec<&str>> = circles.into_iter().collect();
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }
}

fn above(module: &Module) -> Module {
    module
        .split_last()
        .map_or_else(Module::new, |(_, above)| above.to_vec())
}

/// The module that a file is: `a/mod.rs` and `a.rs` are `a`.
fn module_of(path: &Path) -> Module {
    let mut module: Module = path
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if module
        .last()
        .is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str()))
    {
        module.pop();
    }
    module
}

/// The text before a `use`, and its tree.
fn use_tree(statement: &str) -> Option<(&str, &str)> {
    let (at, word) = statement.match_indices("use ").find(|(at, _)| {
        statement[..*at]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace)
    })?;
    let tree = statement[at + word.len()..].trim_end_matches(';');
    let is_tree = |c: char| c.is_alphanumeric() || c.is_whitespace() || "_:{},*".contains(c);
    tree.chars()
        .all(is_tree)
        .then_some((&statement[..at], tree))
}

/// The paths of a tree, and the names that they get.
fn leaves(tree: &str) -> Vec<(Module, String)> {
    fn below(prefix: &Module, tree: &str, found: &mut Vec<(Module, String)>) {
        let mut path = prefix.clone();
        let (head, group) = match tree.split_once('{') {
            Some((head, group)) => (head, group.rsplit_once('}').map(|(inside, _)| inside)),
            None => (tree, None),
        };
        let (head, alias) = head
            .split_once(" as ")
            .map_or((head, None), |(h, a)| (h, Some(a)));
        let steps = head
            .split("::")
            .map(str::trim)
            .filter(|step| !step.is_empty() && *step != "*");
        path.extend(
            steps
                .filter(|step| *step != "self" || prefix.is_empty())
                .map(Into::into),
        );
        match group {
            Some(group) => parts(group)
                .iter()
                .for_each(|part| below(&path, part, found)),
            None => {
                let name = alias.map(|alias| alias.trim().to_owned());
                let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
                found.push((path, name));
            }
        }
    }
    let mut found = Vec::new();
    below(&Module::new(), tree.trim(), &mut found);
    found
}

/// The parts between commas outside of braces.
fn parts(group: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut all) = (0_usize, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(group[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    all.push(group[begin..].trim());
    all.retain(|part| !part.is_empty());
    all
}

/// The paths in an expression: `a::b::c`.
fn words(code: &str) -> impl Iterator<Item = Module> {
    let in_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    code.split(move |c| !in_path(c))
        .filter(|path| path.contains("::"))
        .map(|path| {
            let steps = path.split("::").filter(|step| !step.is_empty());
            steps
                .map(|step| step.trim_matches(':').to_owned())
                .collect()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(&Path, &str)> = files
            .iter()
            .map(|(path, text)| (Path::new(*path), *text))
            .collect();
        let sources = Sources::new(&files);
        sources
            .circles()
            .iter()
            .map(|circle| circle.join(" "))
            .collect()
    }

    #[test]
    fn files_that_use_each_other_are_a_circle() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
            ("a.rs", "use crate::b::B;\n"),
            (
                "b.rs",
                "fn f() { super::c::g() }\n#[cfg(all(unix, test))]\nmod tests {\n    use crate::d::D;\n}\n",
            ),
            ("d.rs", "use crate::b::B;\n"),
            ("c.rs", "use std::fmt;\nuse super::{a::{A, Z}};\n"),
        ];
        assert_eq!(circles(&files), ["a.rs b.rs c.rs"]);
        assert!(circles(&files[..4]).is_empty());
    }

    #[test]
    fn what_is_passed_on_stands_where_it_is_made() {
        let files = [
            (
                "lib.rs",
                "mod a;\nmod b;\npub use a::A;\npub(crate) use b::{B as C, D};\n",
            ),
            ("a.rs", "use crate::C;\n"),
            (
                "b.rs",
                "// use crate::A;\n#[cfg(test)]\nmod tests {\n    use crate::A;\n}\n",
            ),
        ];
        assert!(circles(&files).is_empty());
        let back = ("b.rs", "fn f(_: crate::A) {}\n");
        assert_eq!(circles(&[files[0], files[1], back]), ["a.rs b.rs"]);
    }

    #[test]
    fn a_parent_that_uses_a_child_is_used_by_it_in_a_circle() {
        let files = [
            ("lib.rs", "mod a;\n"),
            ("a/mod.rs", "mod b;\nstruct A;\nfn f() { b::g() }\n"),
            ("a/b.rs", "use super::A;\n"),
        ];
        assert_eq!(circles(&files), ["a/mod.rs a/b.rs"]);
    }

    #[test]
    fn large_circles_and_large_crates_are_named() {
        let file = |name: &str, text: String| (Path::new("crates/functions/src").join(name), text);
        let next = ["b", "c", "d", "a"];
        let ring = ["a", "b", "c", "d"]
            .iter()
            .zip(next)
            .map(|(name, next)| file(&format!("{name}.rs"), format!("use crate::{next}::X;\n")));
        let ring: Vec<_> = ring.collect();
        assert_eq!(
            check(&ring),
            [
                "crates/functions: 4 files use each other in a circle, and 3 may: a.rs, b.rs, c.rs, d.rs"
            ]
        );
        assert!(check(&ring[..3]).is_empty());
        let (root, most) = LARGER[0];
        let larger = |files: usize| -> Vec<_> {
            let file = |n: usize| {
                let path = Path::new(root).join(format!("src/f{n}.rs"));
                (path, format!("use crate::f{}::X;\n", (n + 1) % files))
            };
            (0..files).map(file).collect()
        };
        assert!(check(&larger(most)).is_empty());
        let expected = format!(
            "{root}: {} files use each other in a circle, and {most} may: ",
            most + 1
        );
        assert!(check(&larger(most + 1))[0].starts_with(&expected));
    }
}
