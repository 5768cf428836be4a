//! `cp.*` over the file server, and what `slsutil` says about its files.
//!
//! Salt's functions copy files to the minion's cache and return the copy's path. Here nothing is
//! copied: the path is the served file's own.

use mapstack_loader::{Fetched, SaltPath};
use mapstack_pyobject::{CallArgs, Error, Obj, Result, required};
use mapstack_salt_jinja::{
    Vm,
    python::{Anchor, Pattern, hash},
};
use mapstack_value::pytext::Fnmatch;
use mapstack_value::{Str, posixpath};

use super::on_machine::{as_text, opened};
use super::paths::dirname;
use super::{ModuleTable, comparable, config, failed, refused, text, truth_or};
use crate::{Context, OnMachine};

pub(super) const TABLE: ModuleTable = &[
    ("cp.cache_dir", cache_dir),
    ("cp.cache_file", |run, _, args| {
        let names = ["path", "saltenv", "source_hash", "verify_ssl", "use_etag"];
        let [path, env, _, _, use_etag] = args.bind("cp.cache_file", names)?;
        truth_or(use_etag, false)?;
        let path = text(
            &required(path, "cp.cache_file", "path")?,
            "cp.cache_file",
            "path",
        )?;
        local_path(run, &saltenv(run, env)?, &path)
    }),
    ("cp.cache_files", |run, vm, args| {
        let [paths, env] = args.bind("cp.cache_files", ["paths", "saltenv"])?;
        let env = saltenv(run, env)?;
        let paths = match required(paths, "cp.cache_files", "paths")? {
            Obj::Str(paths) => paths.split(',').map(Obj::from).collect(),
            paths => paths.collect(vm)?,
        };
        let found = paths
            .iter()
            .map(|path| local_path(run, &env, &text(path, "cp.cache_files", "paths")?));
        Ok(Obj::list(found.collect::<Result<Vec<_>>>()?))
    }),
    ("cp.cache_master", |run, _, args| {
        let [env] = args.bind("cp.cache_master", ["saltenv"])?;
        let env = saltenv(run, env)?;
        let found = list(run, &env, "")?
            .into_iter()
            .map(|path| served_path(run, &env, &path));
        Ok(Obj::list(found.collect::<Result<Vec<_>>>()?))
    }),
    ("cp.envs", |run, _, args| {
        let [] = args.bind("cp.envs", [])?;
        Ok(texts(run.envs()))
    }),
    ("cp.get_file_str", |run, vm, args| {
        let [path, env] = args.bind("cp.get_file_str", ["path", "saltenv"])?;
        let path = text(
            &required(path, "cp.get_file_str", "path")?,
            "cp.get_file_str",
            "path",
        )?;
        let env = saltenv(run, env)?;
        // The reference takes a file that cannot be opened for one that does not exist.
        match machine_path(&path)? {
            Some(local) => Ok(
                match on_machine(run, vm, "cp.get_file_str", &path, local)? {
                    PathOnMachine::File(bytes) => Obj::from(as_text(&bytes, local)?),
                    PathOnMachine::Missing(_) => Obj::Bool(false),
                    PathOnMachine::Answered(answer) => answer,
                },
            ),
            None => content(run, &env, &path),
        }
    }),
    ("cp.get_url", |run, vm, args| {
        let names = ["path", "dest", "saltenv", "makedirs", "source_hash"];
        let [path, dest, env, ..] = args.bind("cp.get_url", names)?;
        let path = text(&required(path, "cp.get_url", "path")?, "cp.get_url", "path")?;
        let env = saltenv(run, env)?;
        match dest.unwrap_or_else(|| Obj::from("")) {
            Obj::Str(dest) if dest.is_empty() => local_path(run, &env, &path),
            Obj::Str(dest) => Err(refused(format!("cp.get_url() writes no file here, not even {dest}"))
                .with_help("leave `dest` out for the path of the served file, or set it to none for its content")),
            _ => match machine_path(&path)? {
                Some(local) => match on_machine(run, vm, "cp.get_url", &path, local)? {
                    PathOnMachine::File(bytes) => Ok(Obj::from(as_text(&bytes, local)?)),
                    PathOnMachine::Missing(found) => Err(opened(found, local)
                        .err()
                        .unwrap_or_else(|| refused(format!("{local} cannot be opened")))),
                    PathOnMachine::Answered(answer) => Ok(answer),
                },
                None => content(run, &env, &path),
            },
        }
    }),
    ("cp.hash_file", |run, vm, args| {
        let [path, env] = args.bind("cp.hash_file", ["path", "saltenv"])?;
        let path = text(
            &required(path, "cp.hash_file", "path")?,
            "cp.hash_file",
            "path",
        )?;
        let env = saltenv(run, env)?;
        let bytes = if path.starts_with("salt://") {
            fetch(run, &env, &path)?.map(|(_, bytes)| bytes)
        } else {
            match on_machine(run, vm, "cp.hash_file", &path, &path)? {
                PathOnMachine::File(bytes) => Some(bytes),
                PathOnMachine::Missing(_) => None,
                PathOnMachine::Answered(answer) => return Ok(answer),
            }
        };
        let Some(bytes) = bytes else {
            return Ok(Obj::from(""));
        };
        let kind = run.option("hash_type").to_string();
        let Some(digest) = hash(&kind, &bytes) else {
            return Err(Error::value_error(format!("Invalid hash type: {kind}")));
        };
        Ok(Obj::dict([
            ("hash_type".into(), Obj::from(kind)),
            ("hsum".into(), Obj::from(hex::encode(&digest))),
        ]))
    }),
    ("cp.is_cached", |run, _, args| {
        let [path, env] = args.bind("cp.is_cached", ["path", "saltenv"])?;
        let path = text(
            &required(path, "cp.is_cached", "path")?,
            "cp.is_cached",
            "path",
        )?;
        let env = saltenv(run, env)?;
        let url = if path.starts_with("salt://") {
            path
        } else {
            format!("salt://{path}").into()
        };
        Ok(fetch(run, &env, &url)?.map_or_else(|| Obj::from(""), |(path, _)| Obj::from(path)))
    }),
    ("cp.list_master", |run, _, args| {
        let [env, prefix] = args.bind("cp.list_master", ["saltenv", "prefix"])?;
        let prefix = prefix_text(prefix, "cp.list_master")?;
        Ok(texts(list(run, &saltenv(run, env)?, &prefix)?))
    }),
    ("cp.list_master_dirs", |run, _, args| {
        let [env, prefix] = args.bind("cp.list_master_dirs", ["saltenv", "prefix"])?;
        let prefix = prefix_text(prefix, "cp.list_master_dirs")?;
        Ok(texts(directories(
            &list(run, &saltenv(run, env)?, "")?,
            &prefix,
        )))
    }),
    ("cp.list_states", |run, _, args| {
        let [env] = args.bind("cp.list_states", ["saltenv"])?;
        Ok(texts(states(run, &saltenv(run, env)?)?))
    }),
    ("slsutil.dir_exists", |run, _, args| {
        exists(run, args, "slsutil.dir_exists", is_directory)
    }),
    ("slsutil.file_exists", |run, _, args| {
        exists(run, args, "slsutil.file_exists", is_file)
    }),
    ("slsutil.findup", findup),
    ("slsutil.path_exists", |run, _, args| {
        exists(run, args, "slsutil.path_exists", is_either)
    }),
];

fn texts(items: Vec<String>) -> Obj {
    Obj::list(items.into_iter().map(Obj::from).collect::<Vec<_>>())
}

/// The saltenv that is requested, or the run's.
pub(super) fn saltenv(run: &dyn Context, given: Option<Obj>) -> Result<Str> {
    match given {
        Some(env) if env.truthy()? => text(&env, "cp", "saltenv"),
        _ => Ok(run.saltenv()),
    }
}

fn prefix_text(prefix: Option<Obj>, function: &str) -> Result<Str> {
    let prefix =
        prefix.map_or_else(|| Ok("".into()), |prefix| text(&prefix, function, "prefix"))?;
    Ok(prefix.trim_matches('/').into())
}

/// The files whose paths start with a text.
fn list(run: &dyn Context, env: &str, prefix: &str) -> Result<Vec<String>> {
    // The file server knows directories, Salt compares texts.
    let mut files = run.list(env, dirname(prefix)).map_err(|e| failed(&e))?;
    files.retain(|path| path.starts_with(prefix));
    Ok(files)
}

/// The names of the state files.
pub(super) fn states(run: &dyn Context, env: &str) -> Result<Vec<String>> {
    let name = |path: &String| {
        let name = path.strip_suffix(".sls")?;
        Some(name.strip_suffix("/init").unwrap_or(name).replace('/', "."))
    };
    let mut states: Vec<String> = list(run, env, "")?.iter().filter_map(name).collect();
    states.sort_unstable();
    states.dedup();
    Ok(states)
}

/// The directories that files are in, and those above them.
fn directories(files: &[String], prefix: &str) -> Vec<String> {
    let above = |path: &String| {
        let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
        slashes
            .into_iter()
            .map(|at| path[..at].to_string())
            .collect::<Vec<_>>()
    };
    let mut found: Vec<String> = files
        .iter()
        .flat_map(above)
        .filter(|path| path.starts_with(prefix))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The file behind a `salt://` URL: where it lies and what is in it.
fn fetch(
    run: &dyn Context,
    env: &str,
    url: &str,
) -> Result<Option<(String, std::sync::Arc<[u8]>)>> {
    let path = SaltPath::parse(url)
        .map_err(|e| Error::python("MinionError", format!("Unsupported path: {url} ({e})")))?;
    match run.fetch(&path, env).map_err(|e| failed(&e))? {
        Fetched::Found { on_disk, bytes } => Ok(Some((on_disk.display().to_string(), bytes))),
        Fetched::Missing | Fetched::Refused { .. } | Fetched::Unusable { .. } => Ok(None),
    }
}

/// The file or directory at a path of the machine.
enum PathOnMachine {
    File(std::sync::Arc<[u8]>),
    /// No file.
    Missing(OnMachine),
    /// The path is not in the checkout, but a function answered the call.
    Answered(Obj),
}

/// The file or directory at a path of the machine, for a function that was called with a URL.
fn on_machine(
    run: &dyn Context,
    vm: &Vm<'_>,
    function: &str,
    url: &str,
    path: &str,
) -> Result<PathOnMachine> {
    match run.on_machine(path).map_err(|e| failed(&e))? {
        Some(OnMachine::File { bytes, .. }) => Ok(PathOnMachine::File(bytes)),
        Some(other) => Ok(PathOnMachine::Missing(other)),
        None => {
            let args = CallArgs {
                positional: vec![Obj::from(url)],
                ..CallArgs::default()
            };
            run.unanswered(vm, function, &args)
                .map(PathOnMachine::Answered)
        }
    }
}

/// The path of a URL that means the machine itself; `None` for one of the file server.
fn machine_path(url: &str) -> Result<Option<&str>> {
    Ok((!is_served(url)?).then(|| url.strip_prefix("file://").unwrap_or(url)))
}

/// `salt://` or a path of the machine; anything else is refused.
fn is_served(url: &str) -> Result<bool> {
    match config::scheme(url).as_deref() {
        Some("salt") => Ok(true),
        None | Some("file") => {
            let path = url.strip_prefix("file://").unwrap_or(url);
            if path.starts_with('/') {
                Ok(false)
            } else {
                Err(refused(format!("Path '{path}' is not absolute")))
            }
        }
        Some(scheme) => Err(
            refused(format!("nothing is fetched by {scheme} here: '{url}'"))
                .with_help("put the file on the file server: salt://…"),
        ),
    }
}

/// The path of a file on disk; false if it does not exist.
fn local_path(run: &dyn Context, env: &str, url: &str) -> Result<Obj> {
    if !is_served(url)? {
        // The reference returns the path as it is, whether there is a file or not.
        return Ok(Obj::from(url.strip_prefix("file://").unwrap_or(url)));
    }
    Ok(fetch(run, env, url)?.map_or(Obj::Bool(false), |(path, _)| Obj::from(path)))
}

fn served_path(run: &dyn Context, env: &str, path: &str) -> Result<Obj> {
    let found = run
        .fetch(&SaltPath::from_relative(path), env)
        .map_err(|e| failed(&e))?;
    Ok(match found {
        Fetched::Found { on_disk, .. } => Obj::from(on_disk.display().to_string()),
        Fetched::Missing | Fetched::Refused { .. } | Fetched::Unusable { .. } => Obj::Bool(false),
    })
}

/// A file's text; false if the file does not exist.
fn content(run: &dyn Context, env: &str, url: &str) -> Result<Obj> {
    let Some((shown, bytes)) = fetch(run, env, url)? else {
        return Ok(Obj::Bool(false));
    };
    match mapstack_yaml::decode_all(&bytes) {
        Ok(text) => Ok(Obj::from(text)),
        Err(e) => Err(Error::python("UnicodeDecodeError", format!("{shown}: {e}"))),
    }
}

/// `cp.cache_dir`: the files below a directory.
fn cache_dir(run: &dyn Context, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let names = [
        "path",
        "saltenv",
        "include_empty",
        "include_pat",
        "exclude_pat",
    ];
    let [path, env, empty, include, exclude] = args.bind("cp.cache_dir", names)?;
    truth_or(empty, false)?;
    let path = text(
        &required(path, "cp.cache_dir", "path")?,
        "cp.cache_dir",
        "path",
    )?;
    let env = saltenv(run, env)?;
    let directory = SaltPath::parse(&path)
        .map_err(|_| Error::python("MinionError", format!("Unsupported path: {path}")))?
        .to_string();
    let mut found = Vec::new();
    for file in list(run, &env, &format!("{directory}/"))? {
        let wanted = match &include {
            Some(include) if include.truthy()? => fits_any(vm, &file, include)?,
            _ => true,
        };
        let unwanted = match &exclude {
            Some(exclude) if exclude.truthy()? => fits_any(vm, &file, exclude)?,
            _ => false,
        };
        if wanted && !unwanted {
            found.push(served_path(run, &env, &file)?);
        }
    }
    Ok(Obj::list(found))
}

/// True if a path fits a pattern, or one of several; `E@` is before a regular expression.
fn fits_any(vm: &Vm<'_>, path: &str, patterns: &Obj) -> Result<bool> {
    let patterns = match patterns {
        Obj::List(patterns) => patterns.items(),
        one => vec![one.clone()],
    };
    for pattern in patterns {
        vm.burn(1 + path.len() / 16)?;
        let pattern = text(&pattern, "cp.cache_dir", "include_pat")?;
        let fits = match pattern.strip_prefix("E@") {
            Some(regex) => Pattern::new(&regex.into(), false, false, Anchor::None)?
                .at_start(vm, path)?
                .is_some(),
            None => Fnmatch::new(&pattern).matches(path),
        };
        if fits {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A question about a path of the file server.
type Question = fn(&dyn Context, &str, &str) -> mapstack_diagnostic::Result<bool>;

fn exists(run: &dyn Context, args: CallArgs, function: &str, question: Question) -> Result<Obj> {
    let [path, env] = args.bind(function, ["path", "saltenv"])?;
    let path = required(path, function, "path")?;
    // The reference looks for it in a list.
    comparable(Some(&path))?;
    let env = env.map_or_else(|| Ok("base".into()), |env| text(&env, function, "saltenv"))?;
    match path.as_str() {
        Some(path) => question(run, &env, path)
            .map(Obj::Bool)
            .map_err(|e| failed(&e)),
        None => Ok(Obj::Bool(false)),
    }
}

/// True if a text is the path of a file as the file server lists it.
pub(super) fn is_file(
    run: &dyn Context,
    env: &str,
    path: &str,
) -> mapstack_diagnostic::Result<bool> {
    let asked = SaltPath::from_relative(path);
    Ok(!path.is_empty()
        && asked.to_string() == path
        && matches!(run.fetch(&asked, env)?, Fetched::Found { .. }))
}

fn is_directory(run: &dyn Context, env: &str, path: &str) -> mapstack_diagnostic::Result<bool> {
    let is_plain = !path.is_empty() && SaltPath::from_relative(path).to_string() == path;
    let below = format!("{path}/");
    Ok(is_plain
        && run
            .list(env, path)?
            .iter()
            .any(|file| file.starts_with(&below)))
}

fn is_either(run: &dyn Context, env: &str, path: &str) -> mapstack_diagnostic::Result<bool> {
    Ok(is_file(run, env, path)? || is_directory(run, env, path)?)
}

/// `slsutil.findup`: the nearest of some files in a directory or one above it.
fn findup(run: &dyn Context, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let [start, names, env] = args.bind("slsutil.findup", ["startpath", "filenames", "saltenv"])?;
    let start = required(start, "slsutil.findup", "startpath")?;
    let names = required(names, "slsutil.findup", "filenames")?;
    let env = env.map_or_else(
        || Ok("base".into()),
        |env| text(&env, "slsutil.findup", "saltenv"),
    )?;
    let mut directory = if start.truthy()? {
        posixpath::normpath(&text(&start, "slsutil.findup", "startpath")?)
    } else {
        String::new()
    };
    let is_there = |path: &str| is_either(run, &env, path).map_err(|e| failed(&e));
    if !directory.is_empty() && !is_there(&directory)? {
        return Err(refused(format!(
            "Starting path not found in the state tree: {directory}"
        )));
    }
    let names = match &names {
        Obj::Str(_) | Obj::Markup(_) => vec![names.clone()],
        Obj::List(names) => names.items(),
        _ => {
            return Err(refused(
                "Filenames argument must be a string or list of strings",
            ));
        }
    };
    loop {
        vm.burn(4)?;
        for name in &names {
            let name = text(name, "slsutil.findup", "filenames")?;
            // The joined part is relative, whatever it begins with.
            let name = name.trim_start_matches('/');
            let path = if directory.is_empty() {
                name.to_string()
            } else {
                format!("{directory}/{name}")
            };
            let path = posixpath::normpath(&path);
            if is_there(&path)? {
                return Ok(Obj::from(path));
            }
        }
        if directory.is_empty() {
            return Err(refused("File pattern(s) not found in path ancestry"));
        }
        directory = dirname(&directory).to_string();
    }
}
