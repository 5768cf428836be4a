//! The roots of the file server and of the pillar in a checkout.

use std::path::{Path, PathBuf};

use super::folders::{Folder, Folders};

/// A root, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The saltenv that it serves.
    pub saltenv: String,
    /// Its path below the checkout; empty for the checkout itself.
    pub path: PathBuf,
}

/// The roots that were found in a checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// Roots of the file server with the estate's own states; earlier ones win.
    pub states: Vec<Root>,
    /// Roots of the file server with formulas, after the estate's own.
    pub formulas: Vec<PathBuf>,
    /// Roots of the pillar; earlier ones win.
    pub pillars: Vec<Root>,
    /// Other candidates for the roots of the states.
    pub other_states: Vec<PathBuf>,
    /// Other candidates for the roots of the pillar.
    pub other_pillars: Vec<PathBuf>,
    /// Empty folders of formulas, such as submodules that were not fetched.
    pub empty: Vec<PathBuf>,
    /// True if a top file shows that this is an estate.
    pub has_top: bool,
    /// True if the checkout has more folders than the limit.
    pub is_cut: bool,
}

/// Usual folders of states, for checkouts without a top file, the likeliest first.
const STATES: [&str; 11] = [
    "salt",
    "states",
    "state",
    "file_roots",
    "srv/salt",
    "srv/states",
    "salt/states",
    "salt/salt",
    "saltstack/salt",
    "saltstack/states",
    "roots",
];

/// Usual folders of pillars, for checkouts without a top file.
const PILLARS: [&str; 7] = [
    "pillar",
    "pillars",
    "pillar_roots",
    "srv/pillar",
    "salt/pillar",
    "saltstack/pillar",
    "salt/pillars",
];

/// Usual folders with one formula in each subfolder.
const FORMULAS: [&str; 5] = [
    "formulas",
    "formula",
    "salt/formulas",
    "srv/formulas",
    "saltstack/formulas",
];

/// Folders with tests or examples of an estate.
const TRIALS: [&str; 13] = [
    "t", "test", "tests", "testing", "spec", "kitchen", "fixtures", "example", "examples", "doc",
    "docs", "sample", "samples",
];

/// Common names of saltenvs, those of production first.
const SALTENVS: [&str; 10] = [
    "base",
    "prod",
    "production",
    "live",
    "main",
    "master",
    "staging",
    "stage",
    "test",
    "dev",
];

impl Layout {
    /// Find the roots in a checkout, by the names of its folders and files. Files are not opened.
    ///
    /// ```
    /// use mapstack_frontend::inputs::estate::Layout;
    /// let home = tempfile::tempdir().unwrap();
    /// for file in ["salt/top.sls", "salt/web/init.sls", "pillar/top.sls"] {
    ///     let file = home.path().join(file);
    ///     std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    ///     std::fs::write(file, "").unwrap();
    /// }
    /// let layout = Layout::find(home.path());
    /// assert_eq!(layout.states[0].path.to_str(), Some("salt"));
    /// assert_eq!(layout.pillars[0].path.to_str(), Some("pillar"));
    /// ```
    #[must_use]
    pub fn find(directory: &Path) -> Self {
        Self::of(&Folders::below(directory))
    }

    /// Find the roots among folders that were listed before.
    pub(crate) fn of(folders: &Folders) -> Self {
        let (of_pillar, of_states): (Vec<&Folder>, Vec<&Folder>) = outermost(folders)
            .into_iter()
            .partition(|folder| is_pillar(&folder.path));
        let (trials, tops): (Vec<&Folder>, Vec<&Folder>) =
            of_states.into_iter().partition(|top| is_trial(&top.path));
        let mut layout = Layout {
            is_cut: folders.is_cut,
            has_top: !tops.is_empty(),
            ..Layout::default()
        };
        (layout.states, layout.other_states) = roots(tops);
        if layout.states.is_empty() {
            layout.states = usual(folders, &STATES, |path| !is_pillar(path));
        }
        // A pillar among tests or examples counts only if there are states and no other pillar.
        let real: Vec<&Folder> = of_pillar
            .iter()
            .copied()
            .filter(|top| !is_trial(&top.path))
            .collect();
        layout.has_top |= !real.is_empty();
        let of_pillar = match real.is_empty() {
            true if !layout.states.is_empty() => of_pillar,
            _ => real,
        };
        (layout.pillars, layout.other_pillars) = roots(of_pillar);
        if layout.pillars.is_empty() {
            layout.pillars = usual(folders, &PILLARS, |_| true);
        }
        if layout.states.is_empty() {
            (layout.states, layout.other_states) = match layout.has_top {
                true => roots(trials),
                false => (Vec::new(), Vec::new()),
            };
        }
        layout.find_formulas(folders);
        layout
    }

    /// Find the roots with formulas.
    fn find_formulas(&mut self, folders: &Folders) {
        for name in FORMULAS {
            let path = Path::new(name);
            let is_root = self.states.iter().any(|root| root.path == path);
            if folders.at(path).is_none() || is_root {
                continue;
            }
            let is_one = folders.within(path).any(|folder| folder.is_formula);
            for folder in folders.within(path) {
                if folder.is_empty {
                    self.empty.push(folder.path.clone());
                }
                let name = folder.path.file_name();
                // Beside formulas, a folder of folders belongs to the same tree, unless it has the name of
                // the formula in it.
                let is_named = |inner: &Folder| {
                    let suffixed =
                        name.is_some_and(|name| name.to_string_lossy().ends_with("-formula"));
                    suffixed || inner.path.file_name() == name
                };
                let mut within = folders.within(&folder.path);
                if !folder.is_formula
                    && within.any(|inner| inner.is_formula && (!is_one || is_named(inner)))
                {
                    self.formulas.push(folder.path.clone());
                }
            }
            if is_one {
                self.formulas.insert(0, path.to_owned());
            }
        }
    }
}

/// The folders with top files, without those below others of the same kind: `web/top.sls` below a root is an sls.
fn outermost(folders: &Folders) -> Vec<&Folder> {
    let with_top = || folders.all.iter().filter(|folder| folder.has_top);
    let is_below = |folder: &&Folder| {
        with_top().any(|above| {
            above.path != folder.path
                && folder.path.starts_with(&above.path)
                && is_pillar(&above.path) == is_pillar(&folder.path)
                && is_trial(&above.path) == is_trial(&folder.path)
        })
    };
    with_top().filter(|folder| !is_below(folder)).collect()
}

fn has_part(path: &Path, is_it: impl Fn(&str) -> bool) -> bool {
    path.iter()
        .filter_map(|part| part.to_str())
        .any(|part| is_it(&part.to_lowercase()))
}

/// True if the path of a folder names a pillar.
fn is_pillar(path: &Path) -> bool {
    has_part(path, |part| part.contains("pillar"))
}

/// True if the path of a folder names tests or examples.
pub(crate) fn is_trial(path: &Path) -> bool {
    has_part(path, |part| TRIALS.contains(&part))
}

/// The position of a folder's name in [`SALTENVS`].
fn rank(path: &Path) -> Option<usize> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    SALTENVS.iter().position(|known| *known == name)
}

/// The roots among folders with top files, and the other candidates.
fn roots(mut tops: Vec<&Folder>) -> (Vec<Root>, Vec<PathBuf>) {
    let root = |saltenv: &str, path: &Path| Root {
        saltenv: saltenv.into(),
        path: path.into(),
    };
    // Of equal names the folder with more sls wins, of these the first.
    tops.sort_by_key(|top| {
        let rank = rank(&top.path).unwrap_or(SALTENVS.len());
        (rank, usize::MAX - top.sls, top.path.clone())
    });
    let Some(first) = tops.first() else {
        return (Vec::new(), Vec::new());
    };
    let beside = |top: &&Folder| top.path.parent() == first.path.parent();
    if tops.len() > 1 && rank(&first.path) == Some(0) {
        let (envs, others): (Vec<&Folder>, Vec<&Folder>) = tops.iter().partition(|top| beside(top));
        let env = |top: &Folder| {
            let name = top.path.file_name().unwrap_or_default();
            root(&name.to_string_lossy(), &top.path)
        };
        let others = others.into_iter().map(|top| top.path.clone());
        return (envs.into_iter().map(env).collect(), others.collect());
    }
    let others = tops[1..].iter().map(|top| top.path.clone());
    (vec![root("base", &first.path)], others.collect())
}

/// The first of the usual folders that has sls.
fn usual(folders: &Folders, names: &[&str], fits: impl Fn(&Path) -> bool) -> Vec<Root> {
    let has_sls = |name: &&&str| {
        let path = Path::new(**name);
        folders.at(path).is_some_and(|folder| folder.sls > 0) && fits(path)
    };
    let found = names.iter().find(has_sls);
    let root = |name: &&str| Root {
        saltenv: "base".into(),
        path: (*name).into(),
    };
    found.map(root).into_iter().collect()
}
