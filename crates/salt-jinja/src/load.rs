//! Templates as Salt's file server has them.

use std::sync::Arc;

use mapstack_jinja::Vm;
use mapstack_pyobject::{Error, ErrorKind, Obj, Result};
use mapstack_value::Str;

/// Find a template by the name a tag gave.
///
/// `./x` and `../x` start from the `tpldir` global, everything else from the file server's
/// root (Salt: `SaltCacheLoader.get_source`).
///
/// # Errors
/// The template does not exist, or cannot be read.
pub(crate) fn from_file_server(vm: &Vm<'_>, name: &Str) -> Result<(Str, Arc<str>)> {
    let not_found = || Error::new(ErrorKind::TemplateNotFound, &**name);
    let relative = matches!(name.split('/').next(), Some("." | ".."));
    let path = if relative {
        resolve_relative(vm, name).ok_or_else(not_found)?
    } else {
        name.to_string()
    };
    // The reference does this before it looks for the file, so a miss moves `tpldir`, too.
    remember_place(vm, name, &path, relative);
    match vm.host().template(&path)? {
        Some(source) => Ok((path.into(), source)),
        None => Err(not_found().with_help(vm.host().missing_template_help(&path))),
    }
}

fn resolve_relative(vm: &Vm<'_>, name: &str) -> Option<String> {
    let tpldir = vm.global("tpldir")?.as_str()?.clone();
    // A file client that is local is meant to have paths on disk, and starts from the root then.
    let base = match tpldir.starts_with('/') && has_local_client(vm) {
        true => "",
        false => &tpldir,
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(name.split('/')) {
        match part {
            "" | "." => {}
            ".." if matches!(parts.last(), Some(&last) if last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    if parts.first() == Some(&"..") {
        vm.host().log(
            "warning",
            &format!("Discarded template path '{name}': it leaves salt://"),
        );
        return None;
    }
    Some(parts.join("/"))
}

fn has_local_client(vm: &Vm<'_>) -> bool {
    let Some(Obj::Dict(opts)) = vm.global("opts") else {
        return false;
    };
    let client = opts.get_str("file_client");
    client.is_some_and(|client| client.as_str().is_some_and(|client| &**client == "local"))
}

/// Loading a template changes the globals `tpldir`, `tplfile` and `tpldot`.
fn remember_place(vm: &Vm<'_>, name: &Str, path: &str, relative: bool) {
    let own_dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
    let current = vm.global("tpldir");
    let dir = match current.as_ref().and_then(Obj::as_str) {
        Some(current) if relative => current.to_string(),
        _ => own_dir.to_string(),
    };
    let file = if relative { &**name } else { path };
    vm.set_global("tplfile", Obj::from(file));
    vm.set_global(
        "tpldir",
        Obj::from(if dir.is_empty() { "." } else { &*dir }),
    );
    vm.set_global("tpldot", Obj::from(dir.replace('/', ".")));
}
