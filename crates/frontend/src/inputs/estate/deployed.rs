//! The folders of a checkout that a master's configuration in it means by the paths to which they are deployed.

use std::path::{Component, Path, PathBuf};

use mapstack::value::{Map, Value};
use mapstack_salt_config::Config;

use super::folders::Folders;
use super::layout::{Layout, Root};

/// The folders of a checkout that a configuration's `file_roots` and `pillar_roots` mean.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Deployment {
    /// The roots of the file server that are in the checkout.
    pub roots: Vec<Root>,
    /// Those of the pillar.
    pub pillar_roots: Vec<Root>,
    /// Deployed paths with their folders.
    pub paths: Vec<(String, PathBuf)>,
    /// Deployed paths without a folder in the checkout.
    pub missing: Vec<String>,
    /// Those among them that are roots of the pillar.
    pub missing_pillars: Vec<String>,
}

/// The usual paths of states and pillars, unless a configuration says otherwise.
const USUAL: [(&str, DeployedKind); 2] = [
    ("/srv/salt", DeployedKind::States),
    ("/srv/pillar", DeployedKind::Pillars),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeployedKind {
    States,
    Pillars,
}

impl Deployment {
    /// The deployment that a configuration describes, in the folders of a checkout; nothing where it sets no roots.
    pub fn of(
        config: Option<&Config>,
        folders: &Folders,
        layout: &Layout,
        given: &DeployedPaths,
    ) -> Self {
        let mut found = Deployment::default();
        let lists = |option: &str| {
            let config = config.filter(|config| config.is_set(option));
            config.and_then(|config| config.get(option)?.as_map())
        };
        for (option, kind) in [
            ("file_roots", DeployedKind::States),
            ("pillar_roots", DeployedKind::Pillars),
        ] {
            if let Some(envs) = lists(option) {
                found.read(envs, kind, folders, layout, given);
            }
        }
        for (path, kind) in USUAL {
            let is_known = found.paths.iter().any(|(known, _)| known == path)
                || found.missing.iter().any(|known| known == path);
            let own = match kind {
                DeployedKind::States => layout.states.first(),
                DeployedKind::Pillars => layout.pillars.first(),
            };
            let own = given
                .find(path, folders)
                .or_else(|| own.map(|own| own.path.clone()));
            if let (false, Some(own)) = (is_known, own) {
                found.paths.push((path.into(), own));
            }
        }
        found
    }

    fn read(
        &mut self,
        envs: &Map,
        kind: DeployedKind,
        folders: &Folders,
        layout: &Layout,
        given: &DeployedPaths,
    ) {
        for (env, listed) in envs {
            let listed = match listed {
                Value::Str(one) => vec![one.to_string()],
                other => other
                    .as_list()
                    .unwrap_or_default()
                    .iter()
                    .filter_map(|path| path.as_str().map(str::to_owned))
                    .collect(),
            };
            for deployed in listed {
                let found = given.find(&deployed, folders).or_else(|| {
                    let found = folder(&deployed, kind, folders, layout)?;
                    // A folder is deployed to one place.
                    let is_taken = self.paths.iter().any(|(_, taken)| *taken == found);
                    (!is_taken).then_some(found)
                });
                match found {
                    Some(path) => {
                        let root = Root {
                            saltenv: env.to_string(),
                            path: path.clone(),
                        };
                        let roots = match kind {
                            DeployedKind::States => &mut self.roots,
                            DeployedKind::Pillars => &mut self.pillar_roots,
                        };
                        if !roots.contains(&root) {
                            roots.push(root);
                        }
                        if deployed.starts_with('/') {
                            self.paths.push((deployed, path));
                        }
                    }
                    None => {
                        if kind == DeployedKind::Pillars {
                            self.missing_pillars.push(deployed.clone());
                        }
                        self.missing.push(deployed);
                    }
                }
            }
        }
    }
}

/// The deployed paths that a project's file gives, with folders below the checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeployedPaths(pub Vec<(String, PathBuf)>);

impl DeployedPaths {
    /// Add paths that others say, unless they are given.
    pub fn add(&mut self, more: &[(String, PathBuf)]) {
        let is_new = |path: &str| self.0.iter().all(|(known, _)| known != path);
        let more: Vec<_> = more.iter().filter(|(path, _)| is_new(path)).collect();
        self.0.extend(more.into_iter().cloned());
    }

    /// The folder of a deployed path, or below that of one above it; of several the nearest.
    pub fn find(&self, deployed: &str, folders: &Folders) -> Option<PathBuf> {
        let deployed = Path::new(deployed);
        let below = |(path, folder): &(String, PathBuf)| {
            let rest = deployed.strip_prefix(path).ok()?;
            if rest.as_os_str().is_empty() {
                return Some((path.len(), folder.clone()));
            }
            let folder = folder.join(rest);
            folders.at(&folder).map(|_| (path.len(), folder))
        };
        let found = self.0.iter().filter_map(below);
        found
            .max_by_key(|(length, _)| *length)
            .map(|(_, folder)| folder)
    }
}

/// The folder of a deployed path: the one with states that shares most of the path's end. A folder that
/// shares no part of it is chosen only if a single root is possible.
fn folder(
    deployed: &str,
    kind: DeployedKind,
    folders: &Folders,
    layout: &Layout,
) -> Option<PathBuf> {
    let deployed = deployed.strip_prefix("${PWD}/").unwrap_or(deployed);
    let wanted: Vec<&str> = Path::new(deployed)
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect();
    let own: Vec<&Path> = match kind {
        DeployedKind::States => layout.states.iter().map(|root| &*root.path).collect(),
        DeployedKind::Pillars => layout.pillars.iter().map(|root| &*root.path).collect(),
    };
    let shared = |path: &Path| {
        let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
        let same = parts.iter().rev().zip(wanted.iter().rev());
        same.take_while(|(one, other)| one == other).count()
    };
    let best = folders
        .all
        .iter()
        .filter(|folder| folder.sls > 0 && !folder.path.as_os_str().is_empty())
        .map(|folder| {
            let is_own = own.contains(&&*folder.path);
            (shared(&folder.path), is_own || folder.has_top, folder)
        })
        .filter(|(count, ..)| *count > 0)
        // Of equal ones, the first is the one with the shortest path.
        .rev()
        .max_by_key(|(count, is_root, _)| (*count, *is_root));
    let usual = USUAL
        .iter()
        .any(|(path, of)| *path == format!("/{}", wanted.join("/")) && *of == kind);
    match best {
        // A folder `salt` in a checkout of states is a formula, not the checkout.
        Some((1, false, _)) if usual || own == [Path::new("")] => {
            own.first().map(|path| path.to_path_buf())
        }
        Some((_, _, folder)) => Some(folder.path.clone()),
        None => (usual || own == [Path::new("")])
            .then(|| own.first().map(|path| path.to_path_buf()))
            .flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mapstack_salt_config::Kind as ConfigKind;

    fn found(config: &str, folders: &[&str], states: &str) -> Deployment {
        let mut of = Folders::default();
        for path in folders {
            of.all.push(super::super::folders::Folder {
                path: path.into(),
                has_top: true,
                sls: 1,
                ..Default::default()
            });
        }
        let layout = Layout {
            states: vec![Root {
                saltenv: "base".into(),
                path: states.into(),
            }],
            ..Layout::default()
        };
        let config = Config::parse(config.as_bytes(), "master", ConfigKind::Master).unwrap();
        Deployment::of(Some(&config), &of, &layout, &DeployedPaths::default())
    }

    #[test]
    fn a_deployed_path_is_the_folder_with_most_of_its_end() {
        let config = "file_roots: {base: [/srv/salt, /srv/formulas/ntp, /usr/share/other]}\n\
                      pillar_roots: {base: [/srv/pillar/dev, /srv/pillar/base]}";
        let folders = ["salt", "formulas/ntp", "pillar/base", "pillar/dev"];
        let found = found(config, &folders, "salt");
        let paths = |roots: &[Root]| -> Vec<PathBuf> {
            roots.iter().map(|root| root.path.clone()).collect()
        };
        assert_eq!(
            paths(&found.roots),
            ["salt", "formulas/ntp"].map(PathBuf::from)
        );
        assert_eq!(
            paths(&found.pillar_roots),
            ["pillar/dev", "pillar/base"].map(PathBuf::from)
        );
        assert_eq!(found.missing, ["/usr/share/other"]);
    }

    #[test]
    fn a_formula_called_salt_is_not_the_checkout() {
        let found = found("file_roots: {base: [/srv/salt]}", &["", "salt/files"], "");
        assert_eq!(found.roots[0].path, Path::new(""));
        assert_eq!(found.paths, [("/srv/salt".into(), PathBuf::new())]);
    }
}
