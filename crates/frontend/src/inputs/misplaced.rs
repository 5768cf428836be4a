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
    let has_top = listed.iter().any(|path| path == "top.sls");
    let Some(sign) = listed.iter().find(|path| is_sign(path, has_top)) else {
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

/// True if a formula has the file. In a root, `parameters/map_jinja.yaml` configures all formulas.
fn is_sign(path: &str, has_top: bool) -> bool {
    match path.strip_prefix("parameters/") {
        Some(parameters) => parameters.ends_with(".yaml") && parameters != "map_jinja.yaml",
        None => path == "map.jinja" || (path == "init.sls" && !has_top),
    }
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
    fn what_a_root_has_for_all_formulas_is_no_sign() {
        for (path, has_top, expected) in [
            ("map.jinja", true, true),
            ("init.sls", false, true),
            ("init.sls", true, false),
            ("parameters/defaults.yaml", true, true),
            ("parameters/os/Debian.yaml", false, true),
            ("parameters/map_jinja.yaml", false, false),
            ("parameters/map_jinja.yaml.jinja", false, false),
            ("ssh/map.jinja", false, false),
        ] {
            assert_eq!(is_sign(path, has_top), expected, "{path}");
        }
    }

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
