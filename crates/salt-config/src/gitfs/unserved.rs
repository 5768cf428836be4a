//! Names in a repository that are not served.

use gix::ObjectId;
use mapstack_loader::{LoadError, NotServed, SaltPath, Unserved};
use mapstack_value::posixpath::split;
use mapstack_value::pytext::codec;

use super::repository::{self, GitEntry, Node, RepositoryProblem};
use super::{AtPath, MAX_ENTRIES, MAX_LINKS, Served, tree_path};

/// A walk through the directory that is served.
struct DirectoryWalk<'s> {
    served: &'s Served,
    /// The tree of the commit, and the way from it to the directory.
    tree: ObjectId,
    root: &'s str,
    all: &'s mut Vec<Unserved>,
    entries: usize,
}

impl Served {
    /// Add what is not served of a saltenv.
    pub(super) fn unserved(&self, saltenv: &str, all: &mut Vec<Unserved>) -> Result<(), LoadError> {
        let Some(snapshot) = self.snapshot(saltenv)? else {
            return Ok(());
        };
        let root = self.remote.root(saltenv);
        let failed = |e| self.failed(e, Some((&snapshot, root)));
        let Some(tree) = self.root_tree(&snapshot, root).map_err(failed)? else {
            return Ok(());
        };
        let mut search = DirectoryWalk {
            served: self,
            tree: snapshot.tree,
            root,
            all,
            entries: 0,
        };
        search
            .directory(tree, &self.mounted_at(saltenv), "", 0)
            .map_err(failed)
    }

    /// The reason why a link is not served; `None` for one that leads to something, or may.
    fn link_leads_nowhere(
        &self,
        tree: ObjectId,
        mut path: String,
    ) -> repository::Result<Option<NotServed>> {
        for _ in 0..MAX_LINKS {
            let entry = match self.entry(tree, &path)? {
                AtPath::Entry(entry) => entry,
                AtPath::Submodule(_) => return Ok(None),
                AtPath::Nothing => {
                    let leads_on = self.goes_through_a_link(tree, &path)?;
                    return Ok((!leads_on).then_some(NotServed::DanglingLink));
                }
            };
            if entry.kind != Node::Link {
                return Ok(None);
            }
            let target = self.repository.file(entry.id)?;
            let Ok(target) = std::str::from_utf8(&target) else {
                return Ok(Some(NotServed::DanglingLink));
            };
            path = tree_path::join(split(&path).0, target);
            if path.starts_with("../") || target.starts_with('/') {
                return Ok(Some(NotServed::OutsideLink));
            }
        }
        Ok(Some(NotServed::LoopingLink))
    }

    fn goes_through_a_link(&self, tree: ObjectId, path: &str) -> repository::Result<bool> {
        for (at, _) in path.match_indices('/') {
            let above = path.get(..at).unwrap_or_default();
            if let AtPath::Entry(GitEntry {
                kind: Node::Link, ..
            }) = self.entry(tree, above)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl DirectoryWalk<'_> {
    /// Look at a directory, with the path at which it is served and the one from the root.
    fn directory(
        &mut self,
        tree: ObjectId,
        at: &str,
        inside: &str,
        depth: usize,
    ) -> repository::Result<()> {
        if depth >= SaltPath::MAX_COMPONENTS {
            return Ok(());
        }
        let tree = self.served.repository.tree(tree)?;
        for (name, entry) in &tree.unnamed {
            self.count()?;
            let content = match entry.kind {
                Node::File => self.content(entry.id),
                _ => None,
            };
            let name = codec::decode(name, "utf-8", "backslashreplace").unwrap_or_default();
            self.all.push(Unserved {
                path: below(at, &name),
                why: NotServed::NotUtf8,
                mark: content,
            });
        }
        for (name, entry) in tree.iter() {
            self.count()?;
            let (at, inside) = (below(at, name), below(inside, name));
            match entry.kind {
                Node::Directory => self.directory(entry.id, &at, &inside, depth + 1)?,
                Node::Link => self.link(at, &inside, entry.id)?,
                Node::File | Node::Submodule => {}
            }
        }
        Ok(())
    }

    fn link(&mut self, at: String, inside: &str, id: ObjectId) -> repository::Result<()> {
        let path = below(self.root, inside);
        if let Some(why) = self.served.link_leads_nowhere(self.tree, path)? {
            let mark = self.content(id);
            self.all.push(Unserved {
                path: at,
                why,
                mark,
            });
        }
        Ok(())
    }

    /// The content of an object, if it is at hand.
    fn content(&self, id: ObjectId) -> Option<std::sync::Arc<[u8]>> {
        self.served.repository.file(id).ok()
    }

    fn count(&mut self) -> repository::Result<()> {
        self.entries += 1;
        match self.entries > MAX_ENTRIES {
            true => Err(RepositoryProblem::TooMany),
            false => Ok(()),
        }
    }
}

fn below(directory: &str, name: &str) -> String {
    match directory {
        "" => name.into(),
        _ => format!("{directory}/{name}"),
    }
}
