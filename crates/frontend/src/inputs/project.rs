//! The project around the current directory: which roots there are when no flag and no configuration says.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mapstack::minion::SaltVersion;
use mapstack::value::Value;
use mapstack_salt_config::Config;

use crate::inputs::estate::{
    self, Assumed, Deployment, Folders, FoundMinions, Layout, MinionSearch, Root, Tools,
};
use crate::inputs::{InputError, Setting};

/// The description of a checkout: its roots, the minions it is for, and what answers calls.
#[derive(Debug, Clone, Default)]
pub struct Project {
    /// The directory of the project.
    pub directory: PathBuf,
    /// The file server's roots, by saltenv.
    pub roots: Vec<(String, PathBuf)>,
    /// The pillar's roots, by saltenv.
    pub pillar_roots: Vec<(String, PathBuf)>,
    /// Minions for verbs about many.
    pub minions: Option<PathBuf>,
    /// Answers to calls of functions that are not built in.
    pub stubs: Vec<PathBuf>,
    /// The version of Salt that is followed.
    pub salt_version: Option<SaltVersion>,
    /// The levels of the linter's rules.
    pub levels: Vec<Setting>,
    /// Paths on the master with the directories that are deployed there.
    pub deployed: Vec<(String, PathBuf)>,
    /// Sls and files that lie elsewhere, as shell patterns.
    pub absent: Vec<String>,
    /// Names of secrets beside the usual ones, as shell patterns.
    pub secret: Vec<String>,
    /// Shell patterns of names that are not secret.
    pub no_secret: Vec<String>,
    /// Repositories with formulas.
    pub formulas: Vec<Formula>,
    /// The estate, if it is more than formulas.
    pub estate: Option<Estate>,
    /// The configuration and the minions that its file names.
    pub(crate) given: ProjectFile,
}

/// A repository with a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    /// The repository.
    pub git: String,
    /// The branch, the tag or the commit.
    pub reference: Option<String>,
}

/// The content of a project's file, before it is looked at together with the checkout.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ProjectFile {
    pub has_roots: bool,
    pub has_pillar_roots: bool,
    pub config: Option<PathBuf>,
    pub minions: Assumed,
}

/// A checkout of states and pillars, as it was found.
#[derive(Debug, Clone)]
pub struct Estate {
    /// The options of its master.
    pub config: Config,
    /// A line with the folders and their purpose; `None` if the project's file names them.
    pub found: Option<String>,
    /// Remarks on choices and on missing parts, and how to name them; a sentence each.
    pub notes: Vec<String>,
    /// Deployed roots of the pillar without a folder in the checkout.
    pub missing_pillars: Vec<String>,
    /// True if the pillar was found in a folder of tests or examples: the real one has more.
    pub has_trial_pillar: bool,
    /// The folders, and the files of tools in them, for what looks for minions.
    pub(crate) folders: Arc<Folders>,
    pub(crate) tools: Arc<Tools>,
}

/// The file in which a checkout says this.
pub const FILE: &str = ".mapstack.yaml";

impl Project {
    /// The project that the current directory is in: the nearest directory, from it up to the top of the git work tree,
    /// with a `.mapstack.yaml`; else the nearest with a `FORMULA` file, or that is named `X-formula` and has a folder `X`
    /// with states; else the nearest with a top file in it that is not a trial's; else the nearest with a folder with
    /// `parameters/` or a `map.jinja`; else the outermost with states in a usual place.
    ///
    /// # Errors
    /// A `.mapstack.yaml` cannot be read, or names what is not in its directory.
    pub fn find() -> Result<Option<Self>, InputError> {
        Self::around(Path::new("."))
    }

    /// The content of the nearest `.mapstack.yaml`, if any. The checkout is not searched.
    ///
    /// # Errors
    /// It cannot be read, or names a path that its directory lacks.
    pub fn file_alone() -> Result<Option<Self>, InputError> {
        let here = Path::new(".");
        let Ok(real) = here.canonicalize() else {
            return Ok(None);
        };
        let mut levels = levels(here, &real).into_iter();
        let found = levels.find(|path| path.join(FILE).is_file());
        let read = |found: PathBuf| Self::plain(&found).with_file(&found.join(FILE));
        found.map(read).transpose()
    }

    fn around(directory: &Path) -> Result<Option<Self>, InputError> {
        let Ok(real) = directory.canonicalize() else {
            return Ok(None);
        };
        let shown = levels(directory, &real);
        let nearest = |is_one: fn(&Path) -> bool| shown.iter().find(|path| is_one(path));
        if let Some(found) = nearest(|path| path.join(FILE).is_file()) {
            return Self::of_file(found).map(Some);
        }
        if let Some(found) = nearest(is_formula) {
            return Ok(Some(Self::plain(found)));
        }
        let mut found: Option<(usize, Folders, Layout)> = None;
        let mut usual = None;
        for (level, path) in shown.iter().enumerate() {
            let folders = Folders::below(path);
            let layout = Layout::of(&folders);
            let is_inner = || match &found {
                None => true,
                // Inside an estate, a folder of states has a top file as well.
                Some((inner, ..)) => is_part(&real, level, &layout, *inner),
            };
            if layout.has_top && is_inner() {
                found = Some((level, folders, layout));
            } else if !layout.states.is_empty() || !layout.formulas.is_empty() {
                usual = Some((level, folders, layout));
            }
        }
        let estate = |(level, folders, layout): (usize, Folders, Layout)| {
            let estate = Self::plain(&shown[level]).estate(&folders, &layout);
            estate.map(Some)
        };
        match (found, nearest(has_formula), usual) {
            (Some(found), ..) => estate(found),
            (None, Some(found), _) => Ok(Some(Self::plain(found))),
            (None, None, Some(usual)) => estate(usual),
            (None, None, None) => Ok(shown.iter().find_map(|path| Self::collection(path))),
        }
    }

    /// A directory that is a root.
    fn plain(directory: &Path) -> Self {
        Project {
            directory: directory.into(),
            roots: vec![("base".into(), directory.into())],
            ..Project::default()
        }
    }

    /// A directory of formulas, each in a folder `X-formula`: all of these are roots.
    fn collection(directory: &Path) -> Option<Self> {
        let mut formulas: Vec<PathBuf> = directory
            .read_dir()
            .ok()?
            .flatten()
            .map(|entry| directory.join(entry.file_name()))
            .filter(|folder| is_formula(folder))
            .collect();
        formulas.sort();
        let roots: Vec<_> = formulas
            .into_iter()
            .map(|folder| ("base".into(), folder))
            .collect();
        (!roots.is_empty()).then(|| Project {
            roots,
            directory: directory.into(),
            ..Project::default()
        })
    }

    /// The project of a directory with a file.
    fn of_file(directory: &Path) -> Result<Self, InputError> {
        let project = Self::plain(directory).with_file(&directory.join(FILE))?;
        let given = &project.given;
        let says = given.has_pillar_roots
            || given.config.is_some()
            || !project.formulas.is_empty()
            || given.minions != Assumed::default();
        if given.has_roots && !says {
            return Ok(project);
        }
        let folders = Folders::below(directory);
        let layout = Layout::of(&folders);
        match says || layout.has_top {
            true => project.estate(&folders, &layout),
            false => Ok(project),
        }
    }

    /// The same as an estate, with the roots that its file or its master's configuration says; others are found.
    fn estate(mut self, folders: &Folders, layout: &Layout) -> Result<Self, InputError> {
        let mut layout = layout.clone();
        if self.given.has_pillar_roots {
            let of_pillar = |root: &Root| {
                let own = self.below(&root.path);
                self.pillar_roots.iter().any(|(_, path)| same(path, &own))
            };
            layout.states.retain(|root| !of_pillar(root));
        }
        let layout = &layout;
        let tools = Tools::read(&self.directory, folders);
        let config = match &self.given.config {
            Some(path) => Some((path.clone(), estate::read_config(&self.directory, path)?)),
            None => estate::find_config(&self.directory, folders, layout, &tools),
        };
        let own = self.deployed.iter().filter_map(|(path, folder)| {
            Some((
                path.clone(),
                folder.strip_prefix(&self.directory).ok()?.into(),
            ))
        });
        let mut deployed = estate::DeployedPaths(own.collect());
        deployed.add(&tools.deployed);
        let of_config = config.as_ref().map(|(_, config)| config);
        let deployment = Deployment::of(of_config, folders, layout, &deployed);
        let by_config = self.take_roots(layout, &deployment);
        for (path, folder) in &deployment.paths {
            if !self.deployed.iter().any(|(known, _)| known == path) {
                self.deployed.push((path.clone(), self.below(folder)));
            }
        }
        let master = estate::Checkout {
            directory: &self.directory,
            config: of_config,
            roots: &self.roots,
            pillar_roots: &self.pillar_roots,
            formulas: &self.formulas,
            is_chosen: self.given.config.is_some(),
        };
        let full = master.config()?;
        let path = config.as_ref().map(|(path, _)| &**path);
        let is_said = self.given.has_roots || self.given.has_pillar_roots;
        let found = (!is_said).then(|| self.described(path.filter(|_| by_config)));
        let notes = self.notes(layout, &deployment, path);
        let is_trial = |path: &PathBuf| {
            let below = path.strip_prefix(&self.directory);
            estate::is_trial(below.unwrap_or(path))
        };
        let mut pillar_roots = self.pillar_roots.iter().map(|(_, path)| path);
        let has_trial_pillar = !self.given.has_pillar_roots && pillar_roots.any(is_trial);
        self.estate = Some(Estate {
            has_trial_pillar,
            config: full,
            found,
            notes,
            folders: Arc::new(Folders::clone(folders)),
            tools: Arc::new(tools),
            missing_pillars: deployment.missing_pillars,
        });
        Ok(self)
    }

    /// Leave out the formulas without a mirror, each with a note: the rest of the checkout can be looked at.
    #[cfg(feature = "git")]
    pub(crate) fn leave_out_unfetched(&mut self, mirrors: &Path) -> Result<(), InputError> {
        use mapstack::loader::git::RemoteSource;

        let Some(estate) = self.estate.as_mut().filter(|_| !self.formulas.is_empty()) else {
            return Ok(());
        };
        let is_there =
            |formula: &Formula| RemoteSource::new(&formula.git).repository(mirrors).is_dir();
        let (there, missing): (Vec<_>, Vec<_>) = self.formulas.drain(..).partition(is_there);
        for formula in &missing {
            estate.notes.push(format!(
                "{} was not fetched, so its files are missing; `mapstack fetch` mirrors it",
                RemoteSource::new(&formula.git).shown()
            ));
        }
        if !missing.is_empty() {
            estate.config = estate::with_formulas(&estate.config, &there, &self.directory)?;
        }
        self.formulas = there;
        Ok(())
    }

    /// Take the roots that the project's file does not name from the configuration, or else those that were found.
    /// Returns whether the configuration names some.
    fn take_roots(&mut self, layout: &Layout, deployment: &Deployment) -> bool {
        let mut by_config = false;
        if !self.given.has_roots {
            let of_config = !deployment.roots.is_empty();
            by_config |= of_config;
            self.roots = self.on_disk(match of_config {
                true => &deployment.roots,
                false => &layout.states,
            });
            if self.roots.is_empty() && (has_formula(&self.directory) || self.has_file()) {
                self.roots = vec![("base".into(), self.directory.clone())];
            }
            if !of_config {
                let formulas = layout.formulas.iter();
                let formulas: Vec<_> = formulas
                    .map(|path| ("base".into(), self.below(path)))
                    .collect();
                self.roots.extend(formulas);
            }
        }
        if !self.given.has_pillar_roots {
            let of_config = !deployment.pillar_roots.is_empty();
            by_config |= of_config;
            self.pillar_roots = self.on_disk(match of_config {
                true => &deployment.pillar_roots,
                false => &layout.pillars,
            });
        }
        by_config
    }

    /// True if a file says what the project is.
    fn has_file(&self) -> bool {
        self.directory.join(FILE).is_file()
    }

    /// Roots with the directories that a person would open.
    fn on_disk(&self, roots: &[Root]) -> Vec<(String, PathBuf)> {
        let all = roots.iter();
        all.map(|root| (root.saltenv.clone(), self.below(&root.path)))
            .collect()
    }

    /// A folder of the checkout, as a person would open it.
    fn below(&self, path: &Path) -> PathBuf {
        match (
            path.as_os_str().is_empty(),
            self.directory == Path::new("."),
        ) {
            (true, _) => self.directory.clone(),
            (false, true) => path.to_path_buf(),
            (false, false) => self.directory.join(path),
        }
    }

    /// The line about what was taken for what.
    fn described(&self, config: Option<&Path>) -> String {
        let listed = |roots: &[(String, PathBuf)]| {
            let plain = |path: &'_ Path| {
                let below = path.strip_prefix(".").ok();
                let below = below.filter(|below| !below.as_os_str().is_empty());
                below.unwrap_or(path).display().to_string()
            };
            let shown = roots.iter().map(|(env, path)| match env.as_str() {
                "base" => plain(path),
                env => format!("{env}={}", plain(path)),
            });
            let shown: Vec<String> = shown.collect();
            match shown.len() {
                0..=4 => shown.join(", "),
                count => format!("{} and {} more", shown[..3].join(", "), count - 3),
            }
        };
        let mut parts = Vec::new();
        if !self.roots.is_empty() {
            parts.push(format!("states in {}", listed(&self.roots)));
        }
        match self.pillar_roots.is_empty() {
            true => parts.push("no pillar".into()),
            false => parts.push(format!("pillar in {}", listed(&self.pillar_roots))),
        }
        if let Some(config) = config {
            parts.push(format!("roots as in {}", self.below(config).display()));
        }
        parts.join("; ")
    }

    /// Remarks on choices and on missing parts.
    fn notes(
        &self,
        layout: &Layout,
        deployment: &Deployment,
        config: Option<&Path>,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        let listed = |paths: &[PathBuf]| {
            let shown = paths
                .iter()
                .map(|path| self.below(path).display().to_string());
            shown.collect::<Vec<_>>().join(", ")
        };
        let decides = "`mapstack init` writes the .mapstack.yaml that decides";
        let of_config = |roots: &[Root]| !roots.is_empty();
        for (what, key, others, is_decided) in [
            (
                "states",
                self.given.has_roots,
                &layout.other_states,
                of_config(&deployment.roots),
            ),
            (
                "the pillar",
                self.given.has_pillar_roots,
                &layout.other_pillars,
                of_config(&deployment.pillar_roots),
            ),
        ] {
            if !others.is_empty() && !key && !is_decided {
                notes.push(format!(
                    "{} could be {what} as well; {decides}",
                    listed(others)
                ));
            }
        }
        if let (Some(config), false) = (config, deployment.missing.is_empty()) {
            notes.push(format!(
                "{} serves {}, but no folder of the checkout is known for it; name one by `deployed` in .mapstack.yaml",
                self.below(config).display(),
                deployment.missing.join(", ")
            ));
        }
        if !layout.empty.is_empty() {
            notes.push(format!(
                "nothing is in {}; are they submodules? `git submodule update --init` fetches them",
                listed(&layout.empty)
            ));
        }
        if !self.absent.is_empty() {
            notes.push(format!(
                "empty if missing (`absent` in .mapstack.yaml): {}",
                self.absent.join(", ")
            ));
        }
        if layout.is_cut {
            notes.push("the checkout has more folders than were looked at".into());
        }
        notes
    }

    /// The key of the pillar whose mapping is grains, if the project's file names one.
    #[must_use]
    pub fn grains_of_pillar(&self) -> Option<&str> {
        self.given.minions.grains_of_pillar.as_deref()
    }

    /// The minions of the estate, without grains that their pillars have.
    pub fn find_minions(&self) -> Option<FoundMinions> {
        let estate = self.estate.as_ref()?;
        let (roots, pillar_roots) = (
            self.relative(&self.roots),
            self.relative(&self.pillar_roots),
        );
        let nodegroups = estate.config.get("nodegroups").and_then(Value::as_map);
        let search = MinionSearch {
            directory: &self.directory,
            folders: &estate.folders,
            tools: &estate.tools,
            roots: roots.iter().map(|path| &**path).collect(),
            pillar_roots: pillar_roots.iter().map(|path| &**path).collect(),
            nodegroups: nodegroups.cloned().unwrap_or_default(),
            assumed: &self.given.minions,
        };
        Some(search.run())
    }

    /// The paths of roots from the checkout's directory, of those that are in it.
    pub(super) fn relative(&self, roots: &[(String, PathBuf)]) -> Vec<PathBuf> {
        let inside = roots
            .iter()
            .filter_map(|(_, path)| match path == &self.directory {
                true => Some(PathBuf::new()),
                false if self.directory == Path::new(".") => Some(path.clone()),
                false => path
                    .strip_prefix(&self.directory)
                    .ok()
                    .map(Path::to_path_buf),
            });
        inside.collect()
    }

    /// The roots of the files and the pillar in the checkout, from its directory.
    pub(crate) fn roots_within(&self) -> impl Iterator<Item = String> {
        let all = [&self.roots, &self.pillar_roots];
        let inside = all.into_iter().flat_map(|roots| self.relative(roots));
        inside.filter_map(|path| path.into_os_string().into_string().ok())
    }

    /// A path of the file, if it stays in the project's directory, links followed: people run checkouts that they have not
    /// read.
    pub(crate) fn inside(&self, text: &str) -> Option<PathBuf> {
        let path = self.directory.join(text);
        let (real, home) = (path.canonicalize(), self.directory.canonicalize());
        match (real, home) {
            (Ok(real), Ok(home)) => real.starts_with(home).then(|| match text {
                "." => self.directory.clone(),
                _ => path,
            }),
            _ => None,
        }
    }
}

/// A directory and those above it in its git work tree: outside of one, directories above do not belong to
/// the user's project.
fn levels(directory: &Path, real: &Path) -> Vec<PathBuf> {
    let has_git = |above: &Path| above.join(".git").exists();
    let levels = real.ancestors().position(has_git).unwrap_or(0);
    let mut shown = vec![directory.to_path_buf()];
    for level in 0..levels {
        let next = match shown[level] == Path::new(".") {
            true => "..".into(),
            false => shown[level].join(".."),
        };
        shown.push(next);
    }
    shown
}

/// True if a directory, this many levels above another, is within a root of the layout of one further above.
fn is_part(from: &Path, level: usize, layout: &Layout, inner: usize) -> bool {
    let above = |level: usize| from.ancestors().nth(level);
    let (Some(outer), Some(inner)) = (above(level), above(inner)) else {
        return false;
    };
    let Ok(below) = inner.strip_prefix(outer) else {
        return false;
    };
    let mut roots = layout.states.iter().chain(&layout.pillars);
    roots.any(|root| below.starts_with(&root.path))
}

/// True if two paths are written differently at most.
fn same(one: &Path, other: &Path) -> bool {
    let plain = |path: &Path| path.strip_prefix(".").unwrap_or(path).to_path_buf();
    plain(one) == plain(other)
}

/// True if a directory says that it is a formula: it has a `FORMULA` file, or has states in a folder that it is named
/// after, as in `ssh-formula/ssh`.
fn is_formula(directory: &Path) -> bool {
    let name = || {
        let name = directory.canonicalize().ok()?;
        let name = name.file_name()?.to_str()?.strip_suffix("-formula")?;
        Some(directory.join(name).join("init.sls").is_file())
    };
    directory.join("FORMULA").is_file() || name().unwrap_or_default()
}

/// True if a folder of a directory is a formula with a configuration.
fn has_formula(directory: &Path) -> bool {
    let Ok(entries) = directory.read_dir() else {
        return false;
    };
    let is_formula = |folder: PathBuf| {
        let is_hidden = || {
            let name = folder.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with('.')
        };
        !is_hidden() && (folder.join("parameters").is_dir() || folder.join("map.jinja").is_file())
    };
    entries.flatten().any(|entry| is_formula(entry.path()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        home
    }

    fn around(directory: &Path) -> Option<Project> {
        Project::around(directory).unwrap()
    }

    #[test]
    fn a_directory_with_a_formula_is_a_root() {
        for files in [
            &[("FORMULA", "")][..],
            &[("ssh/map.jinja", "")],
            &[("ssh/parameters/defaults.yaml", "")],
        ] {
            let home = tree(files);
            let project = around(home.path()).unwrap();
            assert_eq!(project.roots, [("base".into(), home.path().to_path_buf())]);
            assert!(project.estate.is_none());
        }
        let home = tree(&[
            ("ssh-formula/ssh/init.sls", ""),
            ("web-formula/ssh/init.sls", ""),
        ]);
        let found = |name: &str| around(&home.path().join(name));
        assert!(found("ssh-formula").is_some());
        assert!(found("web-formula").is_none());
        let all = around(home.path()).unwrap();
        assert_eq!(
            all.roots,
            [("base".into(), home.path().join("ssh-formula"))]
        );
        for files in [&[("ssh/init.sls", "")][..], &[(".git/map.jinja", "")]] {
            assert!(around(tree(files).path()).is_none());
        }
    }

    /// The roots of the file server and of the pillar, as `ENV=PATH` below the checkout.
    fn roots(home: &tempfile::TempDir) -> [Vec<String>; 2] {
        let project = around(home.path()).unwrap();
        let shown = |roots: &[(String, PathBuf)]| -> Vec<String> {
            let below = |path: &Path| {
                let below = path.strip_prefix(home.path()).unwrap();
                below.display().to_string()
            };
            let shown = roots
                .iter()
                .map(|(env, path)| format!("{env}={}", below(path)));
            shown.collect()
        };
        [shown(&project.roots), shown(&project.pillar_roots)]
    }

    #[test]
    fn a_proposal_names_the_sls_that_the_pillar_lacks() {
        let top = "base:\n  '*': [common, comon, private.smtp]\n  a:\n    - private.deep.b\n    - site.x.y\n    - keys\n\
                   \n    - id.{{ id }}\n";
        let home = tree(&[
            ("salt/top.sls", "base: {'*': [web]}\n"),
            ("pillar/top.sls", top),
            ("pillar/common.sls", ""),
            ("pillar/site/z/init.sls", ""),
        ]);
        let text = around(home.path()).unwrap().proposal();
        let wanted = "no root has them.\nabsent: ['private.*', 'site.x.*', keys]\n";
        assert!(text.contains(wanted), "{text}");
        fs::write(home.path().join("pillar/top.sls"), "base: {'*': [common]}").unwrap();
        let text = around(home.path()).unwrap().proposal();
        assert!(text.contains("# absent: [secrets.*]\n"), "{text}");
    }

    #[test]
    fn a_checkout_with_top_files_is_an_estate() {
        for (files, states, pillars) in [
            (
                &["salt/top.sls", "salt/web/map.jinja", "pillar/top.sls"][..],
                &["base=salt"][..],
                &["base=pillar"][..],
            ),
            (
                &["top.sls", "t/pillar/top.sls"],
                &["base="],
                &["base=t/pillar"],
            ),
            (
                &[
                    "salt/states/top.sls",
                    "salt/pillar/top.sls",
                    "salt/states/web/top.sls",
                ],
                &["base=salt/states"],
                &["base=salt/pillar"],
            ),
            (
                &["env/base/top.sls", "env/dev/top.sls", "env/pillar/top.sls"],
                &["base=env/base", "dev=env/dev"],
                &["base=env/pillar"],
            ),
            (
                &["srv/salt/web/init.sls", "srv/pillar/top.sls"],
                &["base=srv/salt"],
                &["base=srv/pillar"],
            ),
            (
                &["salt/top.sls", "pillar/prod/top.sls", "pillar/dev/top.sls"],
                &["base=salt"],
                &["base=pillar/prod"],
            ),
            (
                &[
                    "salt/top.sls",
                    "formulas/ntp-formula/ntp/init.sls",
                    "formulas/nginx/init.sls",
                ],
                &["base=salt", "base=formulas", "base=formulas/ntp-formula"],
                &[],
            ),
            (&["salt/web/init.sls"], &["base=salt"], &[]),
        ] {
            let home = tree(&files.iter().map(|file| (*file, "")).collect::<Vec<_>>());
            assert_eq!(roots(&home), [states, pillars], "{files:?}");
        }
    }

    #[test]
    fn a_trial_of_a_formula_is_no_estate() {
        let home = tree(&[("ssh/map.jinja", ""), ("test/salt/states/top.sls", "")]);
        let project = around(home.path()).unwrap();
        assert!(project.estate.is_none());
    }

    #[test]
    fn the_masters_configuration_in_a_checkout_decides() {
        let home = tree(&[
            ("salt/top.sls", ""),
            ("pillar/dev/top.sls", ""),
            ("pillar/base/common.sls", ""),
            (
                "etc/salt/master",
                "file_roots: {base: [/srv/salt, /srv/formulas/ntp]}\npillar_roots: {base: [/srv/pillar/dev, \
                 /srv/pillar/base]}\ninclude: [/etc/hostname, more.conf]\n",
            ),
            ("etc/salt/more.conf", "pillar_merge_lists: true"),
        ]);
        let expected = [&["base=salt"][..], &["base=pillar/dev", "base=pillar/base"]];
        assert_eq!(roots(&home), expected);
        let estate = around(home.path()).unwrap().estate.unwrap();
        let option = |name: &str| estate.config.get(name).map(Value::repr).unwrap_or_default();
        assert_eq!(option("pillar_merge_lists"), "True");
        assert!(
            !option("file_roots").contains("/srv"),
            "{}",
            option("file_roots")
        );
        let warnings = estate.config.warnings().iter();
        let warned: Vec<&str> = warnings.map(|warning| &*warning.message).collect();
        assert_eq!(
            warned,
            ["`include` names /etc/hostname, which is outside of the checkout"]
        );
        assert!(
            estate.notes[0].contains("serves /srv/formulas/ntp, but no folder"),
            "{:?}",
            estate.notes
        );
    }

    #[test]
    fn the_nearest_formula_of_an_estate_is_meant_inside_it() {
        let home = tree(&[
            (".git/HEAD", ""),
            ("salt/top.sls", ""),
            ("salt/web/map.jinja", ""),
            ("formulas/ntp-formula/FORMULA", ""),
        ]);
        let inside = around(&home.path().join("salt")).unwrap();
        assert_eq!(inside.directory, home.path().join("salt/.."));
        assert!(inside.estate.is_some());
        let home2 = tree(&[
            (".git/HEAD", ""),
            ("one/salt/top.sls", ""),
            ("two/salt/top.sls", ""),
            ("two/pillar/top.sls", ""),
        ]);
        let two = home2.path().join("two");
        assert_eq!(around(&two).unwrap().directory, two);
        assert_eq!(
            around(&two.join("salt")).unwrap().directory,
            two.join("salt/..")
        );
        let formula = home.path().join("formulas/ntp-formula");
        assert_eq!(around(&formula).unwrap().directory, formula);
    }

    #[test]
    fn minions_are_found_by_what_names_them() {
        let home = tree(&[
            (
                "salt/top.sls",
                "base:\n  '*': [common]\n  'web*': [web]\n  db1.example.org: [db]\n",
            ),
            (
                "pillar/top.sls",
                "base:\n  'G@roles:mail': [mail]\n  '{{ id }}':\n    - id.{{ grains.id.replace('.', '_') }}\n",
            ),
            ("pillar/id/a_example_org.sls", ""),
            (
                "salt-config/roster",
                "web7: {host: 192.0.2.1, minion_opts: {grains: {site: x}}}\n{% if true %}\ncd: 192.0.2.2\n{% endif %}\n",
            ),
        ]);
        let found = around(home.path()).unwrap().find_minions().unwrap();
        let named: Vec<(String, &str, bool)> = found
            .all
            .iter()
            .map(|one| (one.minion.id().to_string(), &*one.from, one.is_made_up))
            .collect();
        let named: Vec<(&str, &str, bool)> = named
            .iter()
            .map(|(id, from, is_made_up)| (&**id, *from, *is_made_up))
            .collect();
        assert_eq!(
            named,
            [
                ("a.example.org", "pillar/id/a_example_org.sls", false),
                ("cd", "salt-config/roster", false),
                ("db1.example.org", "salt/top.sls:4", false),
                ("roles-mail", "pillar/top.sls:2", true),
                ("web7", "salt-config/roster", false),
            ]
        );
        let web = &found.all[4].minion.grains;
        let grain = |name: &str| web.get(name).map(ToString::to_string).unwrap_or_default();
        assert_eq!(
            (grain("site"), grain("host"), grain("fqdn")),
            ("x".into(), "web7".into(), "web7.example.org".into())
        );
    }

    #[test]
    fn a_file_says_otherwise() {
        let home = tree(&[
            (
                FILE,
                "roots: {base: [states, more], dev: dev}\nminions: minions\nstubs: [stubs.yaml]\nlevels: {a: off, b: note}\n",
            ),
            ("states/x", ""),
            ("more/x", ""),
            ("dev/x", ""),
            ("minions/x", ""),
            ("stubs.yaml", ""),
        ]);
        let project = around(home.path()).unwrap();
        let at = |name: &str| home.path().join(name);
        assert_eq!(
            project.roots,
            [
                ("base".into(), at("states")),
                ("base".into(), at("more")),
                ("dev".into(), at("dev"))
            ]
        );
        assert_eq!(
            (project.minions, project.stubs),
            (Some(at("minions")), vec![at("stubs.yaml")])
        );
        let levels = project.levels.iter().map(|set| (&*set.name, &*set.value));
        assert_eq!(levels.collect::<Vec<_>>(), [("a", "off"), ("b", "note")]);
    }

    #[test]
    fn a_file_says_what_an_estate_is() {
        let home = tree(&[
            (
                FILE,
                "roots: [states, formulas/*]\npillar_roots: data\nconfig: master\ndeployed: {/srv/x: states}\n\
                 absent: [secrets.*]\nformulas: [{git: https://example.org/a, ref: v1}]\n\
                 minions: {from: [web1, data/hosts/*.sls], platform: rocky-9, grains: {a: 1}, grains_from: pillar:grains}\n",
            ),
            ("states/x.sls", ""),
            ("formulas/ntp/init.sls", ""),
            ("data/hosts/db1.sls", ""),
            (
                "master",
                "pillar_merge_lists: true\nfile_roots: {base: [/srv/x]}",
            ),
        ]);
        let expected = [&["base=states", "base=formulas/ntp"][..], &["base=data"]];
        assert_eq!(roots(&home), expected);
        let project = around(home.path()).unwrap();
        assert!(
            project
                .deployed
                .contains(&("/srv/x".into(), home.path().join("states")))
        );
        assert_eq!(project.absent, ["secrets.*"]);
        assert_eq!(project.formulas[0].reference.as_deref(), Some("v1"));
        let found = project.find_minions().unwrap();
        let ids: Vec<String> = found
            .all
            .iter()
            .map(|one| one.minion.id().to_string())
            .collect();
        assert_eq!(ids, ["db1", "web1"]);
        assert_eq!(found.all[0].platform, "rockylinux-9");
        assert_eq!(found.all[0].grains, ["a"]);
    }

    #[test]
    fn what_a_file_must_not_say_is_refused() {
        for (text, expected) in [
            ("root: .", ":1:1: unknown key 'root'; did you mean 'roots'?"),
            (
                "roots: ..",
                "'..' does not exist, or is not below the directory of the file",
            ),
            (
                "stubs: /etc/passwd",
                "'/etc/passwd' does not exist, or is not below the directory of the file",
            ),
            (
                "minions: nowhere",
                "'nowhere' does not exist, or is not below the directory of the file",
            ),
            ("minions: 3", ":1:10: this is an integer, not a path"),
            (
                "minions: {form: x}",
                ":1:11: unknown key 'form'; did you mean 'from'?",
            ),
            ("minions: {platform: debain-12}", "did you mean debian-12?"),
            (
                "minions: {from: ../x/*.sls}",
                "'../x' does not exist, or is not below the directory of the file",
            ),
            ("minions: {grains_from: grains}", "expected `pillar:KEY`"),
            (
                "config: /etc/salt/master",
                "not below the directory of the file",
            ),
            (
                "deployed: {/srv: ..}",
                "not below the directory of the file",
            ),
            ("formulas: [{ref: 1}]", "a formula needs the key `git`"),
            ("absent: {a: 1}", "expected text, found a mapping"),
            ("stubs:\n- 1\n", ":2:3: this is an integer, not a path"),
            (
                "levels: [dead-file]",
                ":1:9: the levels are a list, not a mapping",
            ),
            (
                "levels:\n  x: 3\n",
                ":2:6: a level is text, and this is an integer",
            ),
            ("[]", "the document is a list, not a mapping"),
            ("a: [", ":1:"),
        ] {
            let error = Project::around(tree(&[(FILE, text)]).path())
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn directories_above_count_within_a_work_tree() {
        let home = tree(&[("ssh/map.jinja", ""), ("ssh/config/x", "")]);
        let inside = home.path().join("ssh/config");
        assert!(around(&inside).is_none());
        fs::create_dir(home.path().join(".git")).unwrap();
        let found = Project::around(&inside).unwrap().unwrap();
        assert_eq!(found.directory, inside.join("../.."));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_lead_out() {
        let home = tree(&[(FILE, "stubs: link")]);
        std::os::unix::fs::symlink("/etc/passwd", home.path().join("link")).unwrap();
        assert!(Project::around(home.path()).is_err());
    }
}
