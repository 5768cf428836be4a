//! `file_tree`: files as values, directories as mappings, for the minion and its nodegroups (Salt:
//! `salt.pillar.file_tree`).

use std::cell::Cell;

use mapstack::{ExternalText, File};
use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_loader::Fetched;
use mapstack_merge::{Strategy, merge};
use mapstack_salt_config::disk::FileTree;
use mapstack_value::posixpath::{join, normpath};
use mapstack_value::pytext::Fnmatch;
use mapstack_value::{Map, Value};

use super::arguments::{Arguments, wrong};
use super::asked::ExternalPillarInput;
use crate::files::unreadable;

const ARGUMENTS: [&str; 8] = [
    "root_dir",
    "follow_dir_links",
    "debug",
    "keep_newline",
    "render_default",
    "renderer_blacklist",
    "renderer_whitelist",
    "template",
];

/// The data of all root directories, in order.
pub(crate) fn data(asked: &ExternalPillarInput<'_, '_>) -> Result<Value> {
    let arguments = Arguments::bind(asked.one, &ARGUMENTS)?;
    let root = arguments.get("root_dir");
    if !root.truthy() {
        asked.warn(
            ErrorKind::Options,
            "no root_dir is given, so it gives nothing",
            "write `root_dir: /srv/pillar-files`",
        );
        return Ok(Value::map());
    }
    let Value::Str(root) = &root else {
        let what = root.kind().described();
        return Err(wrong(
            asked.one,
            &format!("`root_dir` must be a path, not {what}"),
        ));
    };
    let mut data = Value::map();
    for directory in directories(asked, root)? {
        let tree = (asked.tree)(&directory);
        let read = RootReading {
            asked,
            arguments: &arguments,
            tree: &tree,
            seen: Cell::new(0),
        };
        data = over(data, &read.root(&directory)?)?;
    }
    Ok(data)
}

/// The directories of a root: a relative one is below each root of the pillar's environment.
fn directories(asked: &ExternalPillarInput<'_, '_>, root: &str) -> Result<Vec<String>> {
    if root.starts_with('/') {
        return Ok(vec![root.into()]);
    }
    let nothing = |why: String, help: &str| {
        let message = format!("root_dir '{root}' is relative, and {why}, so it gives nothing");
        asked.warn(ErrorKind::Options, &message, help);
        Ok(Vec::new())
    };
    let env = asked.option("pillarenv");
    if env.is_none() {
        return nothing(
            "pillarenv is not set".into(),
            "write an absolute path, or set pillarenv",
        );
    }
    let roots = asked.option("pillar_roots");
    let name = env.to_string();
    let roots = roots.as_map().and_then(|roots| roots.get(name.as_str()));
    let Some(roots) = roots.and_then(Value::as_list) else {
        let why = format!("the environment '{name}' has no pillar_roots");
        return nothing(
            why,
            "write an absolute path, or give the environment its directories",
        );
    };
    let mut all: Vec<String> = Vec::new();
    for base in roots {
        let directory = normpath(&join(&base.to_string(), root));
        if all.last() != Some(&directory) {
            all.push(directory);
        }
    }
    Ok(all)
}

fn over(base: Value, layer: &Value) -> Result<Value> {
    let options = Strategy::Recurse.into();
    merge(base, layer, &options).map_err(|e| {
        Error::new(
            ErrorKind::Merge,
            format!("the files of file_tree cannot be merged: {e}"),
        )
    })
}

/// The reading of one root directory.
struct RootReading<'r, 'e> {
    asked: &'r ExternalPillarInput<'r, 'e>,
    arguments: &'r Arguments,
    tree: &'r FileTree,
    /// The number of files and directories that were seen.
    seen: Cell<usize>,
}

/// Directories nest this deep at most.
const MAX_DEPTH: usize = 32;

/// So many files and directories belong to one minion at most.
const MAX_ENTRIES: usize = 100_000;

impl RootReading<'_, '_> {
    fn root(&self, root: &str) -> Result<Value> {
        if self.entries(root)?.is_none() {
            let message = format!("root_dir {root} is not a directory, so it gives nothing");
            self.asked
                .warn(ErrorKind::File, &message, "make it, or correct the path");
            return Ok(Value::map());
        }
        let keep = self.arguments.given("keep_newline");
        if keep.is_some_and(|keep| !matches!(keep, Value::Bool(_) | Value::List(_))) {
            let message =
                "`keep_newline` is neither a boolean nor a list of patterns, so it gives nothing";
            self.asked
                .warn(ErrorKind::Options, message, "write `keep_newline: true`");
            return Ok(Value::map());
        }
        let mut data = Value::map();
        let groups = self.asked.option("nodegroups");
        let groups = groups.as_map().cloned().unwrap_or_default();
        let directory = join(root, "nodegroups");
        for entry in self.entries(&directory)?.unwrap_or_default() {
            if let Some(target) = groups.get(entry.name())
                && self.asked.is_in(target)?
            {
                data = over(data, &self.below(&join(&directory, entry.name()))?)?;
            }
        }
        let id = self.asked.id();
        // The id is the minion's choice.
        if id.contains('/') || matches!(&*id, "" | "." | "..") {
            let message = format!(
                "the id {} names no directory",
                mapstack_value::quote_str(&id)
            );
            return Err(wrong(self.asked.one, &message));
        }
        let hosts = join(&join(root, "hosts"), &id);
        if self.entries(&hosts)?.is_none() {
            if self.tree.is_file(&hosts).map_err(|e| unreadable(&e))? {
                let message = format!("{hosts} is not a directory, so the minion has none");
                self.asked.warn(
                    ErrorKind::File,
                    &message,
                    "values of a minion are files in its directory",
                );
            }
            return Ok(data);
        }
        over(data, &self.below(&hosts)?)
    }

    fn entries(&self, directory: &str) -> Result<Option<Vec<mapstack_salt_config::disk::Entry>>> {
        self.tree.entries(directory).map_err(|e| unreadable(&e))
    }

    /// The files below a directory as a mapping.
    fn below(&self, directory: &str) -> Result<Value> {
        self.level(directory, ".", 0)
    }

    /// The files of one directory, `prefix` from the top. Directories come first.
    fn level(&self, directory: &str, prefix: &str, depth: usize) -> Result<Value> {
        if depth > MAX_DEPTH {
            let message = format!("{directory} lies deeper than {MAX_DEPTH} directories");
            return Err(Error::new(ErrorKind::Limit, message)
                .help("does a link lead back to a directory above it?"));
        }
        let follows = self.arguments.get("follow_dir_links").truthy();
        let mut level = Map::new();
        let entries = self.entries(directory)?.unwrap_or_default();
        self.seen.set(self.seen.get() + entries.len());
        if self.seen.get() > MAX_ENTRIES {
            let message = format!(
                "{directory} and the directories before it contain more than {MAX_ENTRIES} files"
            );
            return Err(Error::new(ErrorKind::Limit, message)
                .help("do links lead back to directories above them?"));
        }
        let (directories, files): (Vec<_>, Vec<_>) =
            entries.iter().partition(|entry| entry.is_directory());
        for entry in directories {
            let path = join(directory, entry.name());
            let value = match entry.is_link() && !follows {
                true => Value::map(),
                false => self.level(&path, &inside(prefix, entry.name()), depth + 1)?,
            };
            level.insert(entry.name(), value);
        }
        for entry in files {
            let path = join(directory, entry.name());
            if let Some(value) = self.file(&path, &join(prefix, entry.name()))? {
                level.insert(entry.name(), value);
            }
        }
        Ok(level.into())
    }

    /// The value of a file; `None` for anything else, such as a pipe.
    fn file(&self, path: &str, name: &str) -> Result<Option<Value>> {
        let read = self.tree.read(path).map_err(|e| unreadable(&e))?;
        let Fetched::Found { bytes, .. } = read else {
            let message = format!("{path} is not a regular file, so it is left out");
            self.asked
                .warn(ErrorKind::File, &message, "a value is the text of a file");
            return Ok(None);
        };
        let cut = match &*bytes {
            [rest @ .., b'\n'] if !self.keeps_newline(name) => rest,
            whole => whole,
        };
        if matches!(self.arguments.given("template"), Some(Value::Bool(true))) {
            return self.rendered(path, cut).map(Some);
        }
        // A master sends text to the minion. Without one, the minion has the bytes.
        let text = std::str::from_utf8(cut)
            .ok()
            .filter(|_| !self.is_masterless());
        Ok(Some(
            text.map_or_else(|| Value::Bytes(cut.into()), Value::from),
        ))
    }

    fn is_masterless(&self) -> bool {
        self.asked.option("__role").as_str() == Some("minion")
    }

    fn keeps_newline(&self, name: &str) -> bool {
        match self.arguments.get("keep_newline") {
            Value::List(patterns) => patterns
                .iter()
                .any(|pattern| Fnmatch::new(&pattern.to_string()).matches(name)),
            keep => keep.truthy(),
        }
    }

    fn rendered(&self, path: &str, text: &[u8]) -> Result<Value> {
        let file = File {
            path: path.into(),
            shown: path.into(),
            bytes: text.into(),
        };
        self.asked.run.external_text(ExternalText {
            file: &file,
            default: &self.arguments.get("render_default"),
            whitelist: &self.arguments.get("renderer_whitelist"),
            blacklist: &self.arguments.get("renderer_blacklist"),
        })
    }
}

/// The way from the top to something in a directory.
fn inside(prefix: &str, name: &str) -> String {
    match prefix {
        "." => name.into(),
        prefix => join(prefix, name),
    }
}
