//! Roots that are one level too deep.

use std::path::Path;

use mapstack::loader::{Fetched, SaltPath};
use mapstack::{Engine, Error, ErrorKind};

/// Refuse a root that holds a formula's own files, which are looked for in folders below it.
///
/// # Errors
/// A root has a `map.jinja`, parameter files, or states that no top file is beside.
pub fn check(engine: &Engine, saltenv: &str) -> Result<(), Error> {
    let listed = engine.files().list(saltenv, "").unwrap_or_default();
    let has = |name: &str| listed.iter().any(|path| path == name);
    let is_sign = |path: &&String| {
        let is_parameters = path.starts_with("parameters/") && path.ends_with(".yaml");
        **path == "map.jinja" || is_parameters || (**path == "init.sls" && !has("top.sls"))
    };
    let Some(sign) = listed.iter().find(is_sign) else {
        return Ok(());
    };
    let path = SaltPath::from_relative(sign);
    let Ok(Fetched::Found { on_disk, .. }) = engine.files().fetch(&path, saltenv) else {
        return Ok(());
    };
    let Some(root) = root_of(&on_disk, sign) else {
        return Ok(());
    };
    let message = format!(
        "the root {} holds a formula's own {sign}: formulas are folders below a root",
        root.display()
    );
    Err(Error::new(ErrorKind::File, message)
        .note(format!("did you mean --root {}?", above(root).display())))
}

/// The root of a file whose path below it is known.
fn root_of<'p>(on_disk: &'p Path, path: &str) -> Option<&'p Path> {
    on_disk.ancestors().nth(path.split('/').count())
}

/// The directory that a directory lies in, as a person would write it.
fn above(root: &Path) -> std::path::PathBuf {
    match root.components().next_back() {
        None | Some(std::path::Component::CurDir | std::path::Component::ParentDir) => {
            root.join("..")
        }
        Some(_) => match root.parent() {
            Some(parent) if parent.as_os_str().is_empty() => ".".into(),
            Some(parent) => parent.into(),
            None => root.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_above_is_written_as_people_do() {
        for (root, expected) in [
            ("openssh", "."),
            ("./openssh", "."),
            ("a/b", "a"),
            (".", "./.."),
            ("..", "../.."),
            ("/srv/f", "/srv"),
            ("", ".."),
        ] {
            assert_eq!(above(Path::new(root)), Path::new(expected), "{root}");
        }
        assert_eq!(
            root_of(
                Path::new("a/parameters/defaults.yaml"),
                "parameters/defaults.yaml"
            ),
            Some(Path::new("a"))
        );
        assert_eq!(
            root_of(Path::new("map.jinja"), "map.jinja"),
            Some(Path::new(""))
        );
    }
}
