//! Functions that only look at files of the machine, in the folders of the checkout for deployed paths.

use std::sync::Arc;

use mapstack_loader::Fetched;
use mapstack_pyobject::{CallArgs, Error, Obj, Result, required};
use mapstack_salt_config::disk::{Deployed, FileReadKind, FileTree};
use mapstack_salt_jinja::{
    Vm,
    python::{Anchor, Pattern, hash},
};
use mapstack_value::posixpath::{join, split};
use mapstack_value::pytext::{Fnmatch, has_magic};
use mapstack_value::quote_str;

use super::{failed, refused, text};
use crate::{Context, OnMachine, regex_of_name, types_of_files};

/// A function of the table, and what its first parameter is called. It gives `None` for what only the machine can say.
type MachineFunction = fn(&dyn Context, &Vm<'_>, &str, CallArgs) -> Result<Option<Obj>>;

const TABLE: &[(&str, MachineFunction)] = &[
    ("file.contains", contains),
    ("file.contains_regex", contains_regex),
    ("file.directory_exists", |run, _, path, args| {
        let [_] = args.bind("file.directory_exists", ["path"])?;
        Ok(at(run, path)?.map(|found| Obj::Bool(matches!(found, OnMachine::Directory(_)))))
    }),
    ("file.file_exists", |run, _, path, args| {
        let [_] = args.bind("file.file_exists", ["path"])?;
        Ok(at(run, path)?.map(|found| Obj::Bool(matches!(found, OnMachine::File { .. }))))
    }),
    ("file.find", find),
    ("file.get_hash", get_hash),
    ("file.path_exists_glob", |run, vm, path, args| {
        let [_] = args.bind("file.path_exists_glob", ["path"])?;
        Ok(glob(run, vm, path)?.map(|found| Obj::Bool(!found.is_empty())))
    }),
    ("file.read", read),
    ("file.readdir", readdir),
];

impl OnMachine {
    /// The file or directory at a deployed path, if it is one, and the way in which it was looked at.
    ///
    /// # Errors
    /// It cannot be read, or is a link out of the folders.
    pub fn at(
        deployed: &Deployed,
        files: &FileTree,
        path: &str,
    ) -> mapstack_diagnostic::Result<Option<(Self, FileReadKind)>> {
        if deployed.local(path).is_none() {
            return Ok(None);
        }
        let failed = |why: String| {
            let message = format!("cannot read {path}: {why}");
            mapstack_diagnostic::Error::new(mapstack_diagnostic::ErrorKind::File, message)
        };
        let found = match files.read(path).map_err(|e| failed(e.to_string()))? {
            Fetched::Found { on_disk, bytes } => {
                let on_disk = on_disk.display().to_string();
                (OnMachine::File { on_disk, bytes }, FileReadKind::Found)
            }
            Fetched::Missing => match files.entries(path).map_err(|e| failed(e.to_string()))? {
                Some(entries) => (OnMachine::Directory(entries), FileReadKind::List),
                None => (OnMachine::Missing, FileReadKind::Absent),
            },
            Fetched::Refused { reason } | Fetched::Unusable { reason } => {
                return Err(failed(reason));
            }
        };
        Ok(Some(found))
    }
}

/// True if a function looks at files of the machine and does nothing else.
///
/// ```
/// use mapstack_functions::looks_on_machine;
/// assert!(looks_on_machine("file.find") && !looks_on_machine("file.remove"));
/// ```
#[must_use]
pub fn looks_on_machine(name: &str) -> bool {
    TABLE.iter().any(|(known, _)| *known == name)
}

/// Answer a call from folders of the checkout; `None` if the function is another one, or the path lies elsewhere.
#[must_use]
pub fn look_on_machine(
    run: &dyn Context,
    vm: &Vm<'_>,
    name: &str,
    args: &CallArgs,
) -> Option<Result<Obj>> {
    let (_, look) = TABLE.iter().find(|(known, _)| *known == name)?;
    let first = args.positional.first();
    let named = |(name, value): &'_ (_, Obj)| {
        let name: &mapstack_value::Str = name;
        (**name == *"path").then(|| value.clone())
    };
    let path = first
        .cloned()
        .or_else(|| args.named.iter().find_map(named))?;
    let path = path.as_str().filter(|path| path.starts_with('/'))?.clone();
    look(run, vm, &path, args.clone()).transpose()
}

fn at(run: &dyn Context, path: &str) -> Result<Option<OnMachine>> {
    run.on_machine(path).map_err(|e| failed(&e))
}

/// Python's exception for a system call that fails.
pub(crate) fn os_error(class: &'static str, number: u8, what: &str, path: &str) -> Box<Error> {
    Error::python(
        class,
        format!("[Errno {number}] {what}: {}", quote_str(path)),
    )
}

/// The result of opening a path.
pub(crate) fn opened(found: OnMachine, path: &str) -> Result<Arc<[u8]>> {
    match found {
        OnMachine::File { bytes, .. } => Ok(bytes),
        OnMachine::Directory(_) => Err(os_error("IsADirectoryError", 21, "Is a directory", path)),
        OnMachine::Missing => Err(os_error(
            "FileNotFoundError",
            2,
            "No such file or directory",
            path,
        )),
    }
}

/// The text of a file; its line breaks stay as they are.
pub(crate) fn as_text(bytes: &[u8], path: &str) -> Result<String> {
    let text = std::str::from_utf8(bytes);
    text.map(str::to_owned)
        .map_err(|e| Error::python("UnicodeDecodeError", format!("{path} is not UTF-8: {e}")))
}

fn read(run: &dyn Context, vm: &Vm<'_>, path: &str, args: CallArgs) -> Result<Option<Obj>> {
    let [_, binary] = args.bind("file.read", ["path", "binary"])?;
    let Some(found) = at(run, path)? else {
        return Ok(None);
    };
    let bytes = opened(found, path)?;
    vm.burn(1 + bytes.len() / 64)?;
    Ok(Some(match binary {
        Some(Obj::Bool(true)) => Obj::from(mapstack_value::Value::Bytes(bytes)),
        _ => Obj::from(as_text(&bytes, path)?),
    }))
}

fn readdir(run: &dyn Context, vm: &Vm<'_>, path: &str, args: CallArgs) -> Result<Option<Obj>> {
    let [_] = args.bind("file.readdir", ["path"])?;
    let entries = match at(run, path)? {
        None => return Ok(None),
        Some(OnMachine::Directory(entries)) => entries,
        Some(_) => {
            return Err(refused(format!(
                "A valid directory was not specified: {path}"
            )));
        }
    };
    vm.burn(1 + entries.len())?;
    // The reference has them in the order of the disk.
    let names = entries.iter().map(|entry| Obj::from(entry.name()));
    let dots = [".", ".."].into_iter().map(Obj::from);
    Ok(Some(Obj::list(dots.chain(names).collect::<Vec<_>>())))
}

/// The text to search in.
enum SearchedText {
    /// The path lies elsewhere.
    Elsewhere,
    /// The file does not exist.
    Nothing,
    Text(String),
}

fn searched(run: &dyn Context, vm: &Vm<'_>, path: &str) -> Result<SearchedText> {
    Ok(match at(run, path)? {
        None => SearchedText::Elsewhere,
        Some(OnMachine::File { bytes, .. }) => {
            vm.burn(1 + bytes.len() / 64)?;
            SearchedText::Text(as_text(&bytes, path)?)
        }
        Some(_) => SearchedText::Nothing,
    })
}

fn contains(run: &dyn Context, vm: &Vm<'_>, path: &str, args: CallArgs) -> Result<Option<Obj>> {
    let [_, wanted] = args.bind("file.contains", ["path", "text"])?;
    let wanted = mapstack_salt_jinja::python::to_str(&required(wanted, "file.contains", "text")?)?;
    Ok(match searched(run, vm, path)? {
        SearchedText::Elsewhere => None,
        SearchedText::Nothing => Some(Obj::Bool(false)),
        // An empty file has no piece that anything could be in.
        SearchedText::Text(text) => {
            Some(Obj::Bool(!text.is_empty() && text.contains(wanted.trim())))
        }
    })
}

fn contains_regex(
    run: &dyn Context,
    vm: &Vm<'_>,
    path: &str,
    args: CallArgs,
) -> Result<Option<Obj>> {
    let name = "file.contains_regex";
    let [_, regex, lchar] = args.bind(name, ["path", "regex", "lchar"])?;
    let regex = text(&required(regex, name, "regex")?, name, "regex")?;
    let lchar = lchar.map_or_else(|| Ok("".into()), |lchar| text(&lchar, name, "lchar"))?;
    let content = match searched(run, vm, path)? {
        SearchedText::Elsewhere => return Ok(None),
        SearchedText::Nothing => return Ok(Some(Obj::Bool(false))),
        SearchedText::Text(text) => text,
    };
    let pattern = Pattern::new(&regex, false, false, Anchor::None)?;
    for line in content.split_inclusive('\n') {
        let line = line.trim_start_matches(|c| lchar.contains(c));
        vm.burn(1 + line.len() / 16)?;
        if pattern.at_start(vm, line)?.is_some() {
            return Ok(Some(Obj::Bool(true)));
        }
    }
    Ok(Some(Obj::Bool(false)))
}

fn get_hash(run: &dyn Context, vm: &Vm<'_>, path: &str, args: CallArgs) -> Result<Option<Obj>> {
    let name = "file.get_hash";
    let [_, form, _] = args.bind(name, ["path", "form", "chunk_size"])?;
    let form = form.map_or_else(|| Ok("sha256".into()), |form| text(&form, name, "form"))?;
    let Some(found) = at(run, path)? else {
        return Ok(None);
    };
    let bytes = opened(found, path)?;
    vm.burn(1 + bytes.len() / 64)?;
    match hash(&form, &bytes) {
        Some(digest) => Ok(Some(Obj::from(hex::encode(&digest)))),
        None => Err(Error::value_error(format!("Invalid hash type: {form}"))),
    }
}

/// The paths that a pattern matches (`glob.glob`), sorted; `None` if it starts elsewhere.
fn glob(run: &dyn Context, vm: &Vm<'_>, pattern: &str) -> Result<Option<Vec<String>>> {
    if !has_magic(pattern) {
        let found = at(run, pattern)?;
        return Ok(found.map(|found| match found {
            OnMachine::Missing => Vec::new(),
            _ => vec![pattern.to_owned()],
        }));
    }
    let (parent, name) = split(pattern);
    let Some(directories) = glob(run, vm, parent)? else {
        return Ok(None);
    };
    let matcher = Fnmatch::new(name);
    let mut paths = Vec::new();
    for directory in directories {
        let path = join(&directory, name);
        if !has_magic(name) {
            if !matches!(at(run, &path)?, None | Some(OnMachine::Missing)) {
                paths.push(path);
            }
            continue;
        }
        let Some(OnMachine::Directory(entries)) = at(run, &directory)? else {
            continue;
        };
        vm.burn(1 + entries.len())?;
        let names = entries.iter().map(mapstack_salt_config::disk::Entry::name);
        let meant = names.filter(|entry| {
            entry.starts_with('.') == name.starts_with('.') && matcher.matches(entry)
        });
        paths.extend(meant.map(|name| join(&directory, name)));
    }
    paths.sort_unstable();
    Ok(Some(paths))
}

/// A condition of `file.find` on a file.
enum Criterion {
    Name(Pattern),
    Kind(String),
}

/// The options of `file.find`, as far as they only look at names and types.
struct FileSearch {
    criteria: Vec<Criterion>,
    least: i64,
    most: i64,
}

/// The result of reading the options.
enum FindOptions {
    Search(FileSearch),
    /// Why the call is wrong, in the reference's words.
    Wrong(String),
    /// The machine itself has to answer.
    OfMachine,
}

fn options(args: CallArgs) -> Result<FindOptions> {
    let mut search = FileSearch {
        criteria: Vec::new(),
        least: 0,
        most: i64::MAX,
    };
    if args.positional.len() > 1 {
        return Ok(FindOptions::OfMachine);
    }
    for (name, value) in args.named {
        let value = &value;
        let depth = || match value {
            Obj::Int(depth) => depth.to_i64(),
            Obj::Str(depth) => depth.trim().parse().ok(),
            _ => None,
        };
        let given = mapstack_salt_jinja::python::to_str(value)?;
        match &*name {
            "path" => {}
            name if name.starts_with('_') => {}
            "mindepth" => search.least = depth().unwrap_or(0),
            "maxdepth" => search.most = depth().unwrap_or(i64::MAX),
            "name" | "iname" | "regex" | "iregex" | "type" if !value.truthy()? => {
                return Ok(FindOptions::Wrong(format!(
                    "missing value for \"{name}\" option"
                )));
            }
            option @ ("name" | "iname" | "regex" | "iregex") => {
                let regex = match option.ends_with("name") {
                    true => regex_of_name(&given),
                    false => given.clone(),
                };
                let ignore_case = option.starts_with('i');
                match Pattern::new(&regex.into(), ignore_case, false, Anchor::Start) {
                    Ok(pattern) => search.criteria.push(Criterion::Name(pattern)),
                    Err(_) => {
                        let why = format!("invalid regular expression: \"{given}\"");
                        return Ok(FindOptions::Wrong(why));
                    }
                }
            }
            "type" => match types_of_files(&given) {
                Ok(kinds) => search.criteria.push(Criterion::Kind(kinds)),
                Err(why) => return Ok(FindOptions::Wrong(why)),
            },
            "owner" | "group" | "mtime" | "size" | "grep" | "print" | "delete" | "exec"
            | "test" => return Ok(FindOptions::OfMachine),
            other => return Ok(FindOptions::Wrong(format!("invalid option \"{other}\""))),
        }
    }
    Ok(FindOptions::Search(search))
}

impl FileSearch {
    fn fits(&self, vm: &Vm<'_>, path: &str, is_directory: bool) -> Result<bool> {
        let name = split(path).1;
        for criterion in &self.criteria {
            vm.burn(1 + name.len() / 16)?;
            let fits = match criterion {
                Criterion::Name(pattern) => pattern.at_start(vm, name)?.is_some(),
                // A link counts as what it leads to.
                Criterion::Kind(kinds) => kinds.contains(if is_directory { 'd' } else { 'f' }),
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn find(run: &dyn Context, vm: &Vm<'_>, path: &str, args: CallArgs) -> Result<Option<Obj>> {
    let Some(tops) = glob(run, vm, path)? else {
        return Ok(None);
    };
    let search = match options(args)? {
        FindOptions::Search(search) => search,
        FindOptions::Wrong(why) => return Ok(Some(Obj::from(format!("error: {why}")))),
        FindOptions::OfMachine => return Ok(None),
    };
    let mut found = Vec::new();
    for top in tops {
        let mut open = vec![(top.clone(), 1)];
        if search.least < 1 {
            let is_directory = matches!(at(run, &top)?, Some(OnMachine::Directory(_)));
            if search.fits(vm, &top, is_directory)? {
                found.push(top);
            }
        }
        while let Some((directory, depth)) = open.pop() {
            if depth > search.most {
                continue;
            }
            let Some(OnMachine::Directory(entries)) = at(run, &directory)? else {
                continue;
            };
            vm.burn(1 + entries.len())?;
            for entry in entries {
                let path = join(&directory, entry.name());
                if depth >= search.least && search.fits(vm, &path, entry.is_directory())? {
                    found.push(path.clone());
                }
                // Links to directories are not followed.
                if entry.is_directory() && !entry.is_link() {
                    open.push((path, depth.saturating_add(1)));
                }
            }
        }
    }
    found.sort_unstable();
    Ok(Some(Obj::list(
        found.into_iter().map(Obj::from).collect::<Vec<_>>(),
    )))
}
