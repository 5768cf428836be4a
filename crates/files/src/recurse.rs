//! `file.recurse`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use mapstack::loader::Link;
use mapstack::regex_matches;
use mapstack::value::pytext::Fnmatch;
use mapstack_value::Value;
use mapstack_value::posixpath::{join, normpath, split};

use crate::accumulators::Accumulators;
use crate::arguments::Chunk;
use crate::attributes::Attributes;
use crate::file::{ManagedFile, ManagedKind};
use crate::managed::{
    self, keep_mode, mode, notes, parameters_of, slot, template_or_file, wrong_variables,
};
use crate::minion_files::MinionFiles;
use crate::plan::ContentPlan;
use crate::source::FileSource;
use crate::source::path_and_saltenv;
use crate::texts::parts;
use crate::unknown::{Reason, Unknown};

/// The arguments that a template does not get as variables.
static PARAMETERS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let of_managed = managed::PARAMETERS.iter().copied();
    parameters_of("recurse").chain(of_managed).collect()
});

/// The files and folders that a state makes below its path.
#[derive(Default)]
struct RecursedTree {
    /// The URLs of files, by their paths.
    files: BTreeMap<String, String>,
    /// The targets of links, by their paths.
    links: BTreeMap<String, String>,
    directories: BTreeSet<String>,
    /// Directories above those.
    above: BTreeSet<String>,
}

/// The files of a state.
pub(crate) fn files(
    minion_files: &MinionFiles<'_>,
    chunk: Chunk<'_>,
    accumulators: &Accumulators,
) -> Vec<ManagedFile> {
    let tree = match slot(chunk) {
        Some(slot) => Err(slot),
        None => tree(minion_files, chunk),
    };
    let tree = match tree {
        Ok(tree) => tree,
        Err(plan) => {
            let mut file = ManagedFile::of(chunk, ManagedKind::Directory, plan);
            file.attributes = Attributes::owned(chunk.user(), chunk, minion_files);
            return vec![file];
        }
    };
    let mut all = Vec::new();
    let base = |kind, path: &String| {
        let mut file = ManagedFile::of(chunk, kind, ContentPlan::Nothing);
        file.attributes = Attributes::owned(chunk.user(), chunk, minion_files);
        file.path.clone_from(path);
        file
    };
    for path in &tree.directories {
        let mut file = base(ManagedKind::Directory, path);
        file.attributes.mode = mode(chunk, "dir_mode");
        all.push(file);
    }
    let others = chunk.others(&PARAMETERS);
    for (path, url) in &tree.files {
        let mut file = base(ManagedKind::File, path);
        file.attributes.mode = mode(chunk, "file_mode");
        file.template = chunk.text("template").filter(|_| chunk.is_on("template"));
        file.source = Some(FileSource {
            url: Some(url.clone()),
            candidates: Vec::new(),
        });
        keep_mode(minion_files, chunk, &mut file);
        file.notes.extend(notes(chunk));
        if let Some(wrong) = wrong_variables(chunk) {
            file.plan = wrong;
            all.push(file);
            continue;
        }
        file.plan = template_or_file(chunk, &file, accumulators, url, others.clone());
        all.push(file);
    }
    for (path, target) in &tree.links {
        let mut file = base(ManagedKind::Link, path);
        file.attributes.mode = mode(chunk, "sym_mode");
        file.attributes.target = Some(target.clone());
        all.push(file);
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    if chunk.is_on("clean") {
        for file in &mut all {
            file.notes
                .push("other files in the directory are removed ('clean' is on)".into());
        }
    }
    all
}

/// The files that a state makes (Salt: `_gen_recurse_managed_files`).
fn tree(minion_files: &MinionFiles<'_>, chunk: Chunk<'_>) -> Result<RecursedTree, ContentPlan> {
    let path = chunk.path();
    if chunk.map.contains_key("mode") {
        return Err(ContentPlan::failed(
            "'mode' is not allowed here: there are 'file_mode' and 'dir_mode'",
        ));
    }
    if !minion_files.is_absolute(&path) {
        return Err(ContentPlan::failed(format!(
            "{path} is not an absolute path"
        )));
    }
    let sources = sources(minion_files, chunk)?;
    let counted = if chunk.is_on("merge") {
        sources.len()
    } else {
        1
    };
    let mut tree = RecursedTree::default();
    for source in &sources[..counted] {
        tree.add(minion_files, chunk, &path, source)?;
    }
    Ok(tree)
}

/// The sources that are directories of the file server, of which there must be one (Salt: `_filter_recurse_sources`).
fn sources(minion_files: &MinionFiles<'_>, chunk: Chunk<'_>) -> Result<Vec<String>, ContentPlan> {
    let given = parts(chunk.get("source"));
    let given: Vec<String> = given
        .iter()
        .map(|source| source.trim_end_matches('/').to_owned())
        .collect();
    if let Some(other) = given.iter().find(|source| !source.starts_with("salt://")) {
        return Err(ContentPlan::failed(format!(
            "the source '{other}' is not a directory of the file server"
        )));
    }
    let is_there = |source: &&String| {
        let (path, saltenv) = minion_files.path_and_saltenv(source);
        let saltenv = saltenv.unwrap_or_else(|| chunk.saltenv());
        minion_files.listed(&saltenv).directories.contains(&path)
    };
    let found: Vec<String> = given.iter().filter(is_there).cloned().collect();
    match found.is_empty() {
        false => Ok(found),
        true => Err(ContentPlan::failed(format!(
            "none of the sources is a directory of saltenv '{}': {}",
            chunk.saltenv(),
            given.join(", ")
        ))),
    }
}

impl RecursedTree {
    /// Add what a source has.
    fn add(
        &mut self,
        minion_files: &MinionFiles<'_>,
        chunk: Chunk<'_>,
        path: &str,
        source: &str,
    ) -> Result<(), ContentPlan> {
        let (root, saltenv) = path_and_saltenv(source);
        let saltenv = saltenv.unwrap_or_else(|| chunk.saltenv());
        let prefix = format!("{root}/");
        let listed = minion_files.listed(&saltenv);
        let below = listed.files.iter().filter(|file| file.starts_with(&prefix));
        let mut below: Vec<&String> = below.collect();
        if chunk.is_on("keep_symlinks") {
            let Some(links) = minion_files.links(&saltenv, &root) else {
                let why = format!("the links below {source} are not known");
                return Err(ContentPlan::Unknown(Unknown::new(Reason::NotBuiltIn, why)));
            };
            for Link { path: link, target } in
                links.iter().filter(|link| link.path.starts_with(&prefix))
            {
                self.link(chunk, path, &link[prefix.len()..], target, link, &mut below)?;
            }
        }
        for file in below {
            let relative = &file[prefix.len()..];
            let to = join(path, relative);
            if !is_wanted(chunk, relative)? || self.is_taken(&to) {
                continue;
            }
            self.directories.insert(split(&to).0.to_owned());
            self.above.extend(parents(&to).map(str::to_owned));
            self.files
                .insert(to, format!("salt://{file}?saltenv={saltenv}"));
        }
        if chunk.is_on("keep_symlinks") && !chunk.is_on("include_empty") {
            self.drop_dangling(path, &root, &listed.directories);
        }
        Ok(())
    }

    /// Add a link, so that its target is not a file here.
    fn link(
        &mut self,
        chunk: Chunk<'_>,
        path: &str,
        relative: &str,
        target: &str,
        link: &str,
        below: &mut Vec<&String>,
    ) -> Result<(), ContentPlan> {
        let inner = format!("{link}/");
        let is_directory = below.iter().any(|file| file.starts_with(&inner));
        below.retain(|file| *file != link && !file.starts_with(&inner));
        let to = join(path, relative);
        if !is_wanted(chunk, relative)? || self.is_taken(&to) {
            return Ok(());
        }
        let end = normpath(&join(split(&to).0, target));
        let is_other = match is_directory {
            true => self.files.contains_key(&end),
            false => self.directories.contains(&end),
        };
        if !is_other {
            self.links.insert(to, target.to_owned());
        }
        Ok(())
    }

    /// Leave out links to directories that are not made.
    fn drop_dangling(
        &mut self,
        path: &str,
        root: &str,
        directories: &std::collections::HashSet<String>,
    ) {
        loop {
            let is_dangling = |target: &str| {
                let end = normpath(&join(path, target));
                let own = normpath(&join(root, target));
                (own.starts_with(root) && directories.contains(&own))
                    && !self.files.contains_key(&end)
                    && !self.above.contains(&end)
                    && !self.links.contains_key(&end)
            };
            let dangling = self.links.iter().find(|(_, target)| is_dangling(target));
            let Some((link, _)) = dangling else { return };
            let link = link.clone();
            self.links.remove(&link);
        }
    }

    /// True if something is made at a path or above it.
    fn is_taken(&self, path: &str) -> bool {
        let is_made = |path: &str| self.files.contains_key(path) || self.links.contains_key(path);
        self.above.contains(path) || is_made(path) || parents(path).any(is_made)
    }
}

/// The directories above a path.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/')
        .map(|(at, _)| if at == 0 { "/" } else { &path[..at] })
}

/// True if a state wants a file of its source (Salt: `check_include_exclude`).
fn is_wanted(chunk: Chunk<'_>, relative: &str) -> Result<bool, ContentPlan> {
    let most = chunk.get("maxdepth");
    if !most.is_none() {
        let most = match most {
            Value::Int(most) => most.to_i64(),
            _ => None,
        };
        let most = most.ok_or_else(|| ContentPlan::failed("'maxdepth' is not a number"))?;
        if i64::try_from(relative.matches('/').count()).unwrap_or(i64::MAX) > most {
            return Ok(false);
        }
    }
    let matches = |name: &str| -> Result<Option<bool>, ContentPlan> {
        let patterns = chunk.get(name);
        if !patterns.truthy() {
            return Ok(None);
        }
        let one = [patterns.clone()];
        for pattern in patterns.as_list().unwrap_or(&one) {
            if is_match(&pattern.to_string(), relative)? {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    };
    let (included, excluded) = (matches("include_pat")?, matches("exclude_pat")?);
    Ok(included.unwrap_or(true) && !excluded.unwrap_or(false))
}

/// True if a path matches a shell pattern, or an expression behind `E@`.
fn is_match(pattern: &str, path: &str) -> Result<bool, ContentPlan> {
    match pattern.strip_prefix("E@") {
        None => Ok(Fnmatch::new(pattern).matches(path)),
        Some(expression) => regex_matches(expression, path, false, false)
            .map_err(|e| ContentPlan::failed(format!("the pattern '{pattern}': {e}"))),
    }
}
