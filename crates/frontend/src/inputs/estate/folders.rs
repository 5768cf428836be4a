//! The folders of a checkout that show its layout.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// The depth to which folders are looked at.
const DEPTH: usize = 6;

/// The number of entries that are looked at. A checkout can be large, and this runs before every verb.
const ENTRIES: usize = 200_000;

/// Folders that are not looked into, whatever is in them.
const SKIPPED: [&str; 5] = ["node_modules", "vendor", "target", "venv", "__pycache__"];

/// A folder with states or pillars in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folder {
    /// The path below the checkout; empty for the checkout itself.
    pub path: PathBuf,
    /// True if it has a top file.
    pub has_top: bool,
    /// The number of its sls, with those of all folders below.
    pub sls: usize,
    /// True if it has what a formula's folder has: an `init.sls`, a `map.jinja` or `parameters/`.
    pub is_formula: bool,
    /// True if nothing is in it, as in a submodule that was not fetched.
    pub is_empty: bool,
}

/// The folders of a checkout.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// Those that were looked at, those above before those below.
    pub all: Vec<Folder>,
    /// True if there were more than are looked at.
    pub is_cut: bool,
    /// Files that may be configurations of masters and minions, or rosters, by their names.
    pub of_salt: Vec<PathBuf>,
    /// Files of tools around Salt.
    pub of_tools: Vec<PathBuf>,
}

/// The files of tools around Salt.
const TOOLS: [&str; 6] = [
    "Saltfile",
    "Vagrantfile",
    "kitchen.yml",
    "kitchen.yaml",
    ".kitchen.yml",
    ".kitchen.yaml",
];

/// True for a file that may be a configuration of a master or a minion, or a roster, by its name and its folder's.
fn is_of_salt(folder: &Path, name: &str) -> bool {
    let is_part =
        || folder.file_name().is_some_and(|name| name == "master.d") && name.ends_with(".conf");
    let stem = name.strip_suffix(".conf").unwrap_or(name);
    let stem = stem
        .strip_suffix(".yaml")
        .or(stem.strip_suffix(".yml"))
        .unwrap_or(stem);
    matches!(stem, "master" | "minion" | "roster") || is_part()
}

impl Folders {
    /// Look at the folders of a checkout, without hidden ones and without following links.
    pub fn below(directory: &Path) -> Self {
        let mut found = Folders::default();
        let mut left = ENTRIES;
        let mut waiting = VecDeque::from([(PathBuf::new(), 0)]);
        while let Some((path, depth)) = waiting.pop_front() {
            let Ok(entries) = fs::read_dir(directory.join(&path)) else {
                continue;
            };
            let mut folder = Folder {
                path: path.clone(),
                is_empty: true,
                ..Folder::default()
            };
            let mut below = Vec::new();
            for entry in entries.flatten() {
                if left == 0 {
                    found.is_cut = true;
                    break;
                }
                left -= 1;
                folder.is_empty = false;
                let name = entry.file_name();
                let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else {
                    continue;
                };
                if kind.is_dir() {
                    folder.is_formula |= name == "parameters";
                    if depth < DEPTH && !name.starts_with('.') && !SKIPPED.contains(&name) {
                        below.push(path.join(name));
                    }
                } else {
                    folder.has_top |= name == "top.sls";
                    folder.is_formula |= matches!(name, "init.sls" | "map.jinja");
                    folder.sls += usize::from(name.ends_with(".sls"));
                    if is_of_salt(&path, name) {
                        found.of_salt.push(path.join(name));
                    } else if TOOLS.contains(&name) {
                        found.of_tools.push(path.join(name));
                    }
                }
            }
            below.sort();
            waiting.extend(below.into_iter().map(|path| (path, depth + 1)));
            found.all.push(folder);
        }
        found.count_below();
        found
    }

    /// Add the sls of each folder to those above it.
    fn count_below(&mut self) {
        let numbers: HashMap<PathBuf, usize> = self
            .all
            .iter()
            .enumerate()
            .map(|(number, folder)| (folder.path.clone(), number))
            .collect();
        for at in (1..self.all.len()).rev() {
            let (sls, parent) = (self.all[at].sls, self.all[at].path.parent());
            if let Some(above) = parent.and_then(|parent| numbers.get(parent)) {
                self.all[*above].sls += sls;
            }
        }
    }

    /// The folder of a path.
    pub fn at(&self, path: &Path) -> Option<&Folder> {
        self.all.iter().find(|folder| folder.path == path)
    }

    /// The folders directly in a folder.
    pub fn within<'f>(&'f self, path: &'f Path) -> impl Iterator<Item = &'f Folder> {
        self.all
            .iter()
            .filter(move |folder| folder.path.parent() == Some(path))
    }
}
