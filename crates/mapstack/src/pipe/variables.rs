//! Variables that describe the location of a template.

use mapstack_minion::Behaviour;
use mapstack_pyobject::Obj;
use mapstack_salt_jinja::Names;
use mapstack_value::Str;

/// The variables of an sls, or of a text that is rendered through a pipe (Salt: `generate_sls_context`).
///
/// `path` is the path of the file; `sls` is its name with dots, or empty.
pub(crate) fn sls_variables(path: &str, sls: &str, behaviour: &Behaviour) -> Names {
    let mut names = Names::default();
    let mut set = |name: &str, value: &str| {
        names.insert(name.into(), Obj::Str(Str::from(value)));
    };
    let dotted = sls.replace('.', "/");
    let mut slspath = match behaviour.trims_names_of_sls {
        true => dotted.trim_end_matches('/').to_string(),
        false => dotted,
    };
    if !path.is_empty() {
        let template = posix(path);
        let own = own_part(&template, sls, &slspath);
        let own = own.or_else(|| (!behaviour.trims_names_of_sls).then_some(&*template));
        let Some(file) = own else {
            // The path is not that of the sls.
            let name = posix(sls);
            let dir = name.rsplit_once('/').map_or(".", |(dir, _)| dir);
            let root = posix_root(sls);
            set("tplpath", path);
            set("tplfile", sls);
            set("tpldir", if dir.len() < root.len() { root } else { dir });
            return names;
        };
        let dir = file.rsplit_once('/').map_or("", |(dir, _)| dir).to_string();
        set("tplpath", path);
        set("tplfile", file);
        set("tpldir", if dir.is_empty() { "." } else { &dir });
        set("tpldot", &dir.replace('/', "."));
        slspath = dir;
    }
    set("slspath", &slspath);
    set("slsdotpath", &slspath.replace('/', "."));
    set("slscolonpath", &slspath.replace('/', ":"));
    set("sls_path", &slspath.replace('/', "_"));
    names
}

/// The part of a path on disk that is the path on the file server.
fn own_part<'p>(path: &'p str, sls: &str, slspath: &str) -> Option<&'p str> {
    if sls.is_empty() {
        return Some(path.rsplit('/').next().unwrap_or(path));
    }
    [format!("{slspath}.sls"), format!("{slspath}/init.sls")]
        .iter()
        .find(|suffix| path.ends_with(&**suffix))
        .and_then(|suffix| path.get(path.len() - suffix.len()..))
}

/// The beginning of an absolute path: POSIX leaves open what two slashes mean, so Python keeps them.
fn posix_root(path: &str) -> &'static str {
    match path.len() - path.trim_start_matches('/').len() {
        0 => "",
        2 => "//",
        _ => "/",
    }
}

/// Python's `PurePosixPath`, as text.
fn posix(path: &str) -> String {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let root = posix_root(path);
    if parts.is_empty() && root.is_empty() {
        ".".into()
    } else {
        format!("{root}{}", parts.join("/"))
    }
}

/// True if a path, with or without a scheme, is that of an sls: of a file that goes through a render pipe.
///
/// ```
/// assert!(mapstack::is_sls("salt://web/init.sls?saltenv=dev"));
/// assert!(!mapstack::is_sls("web/files/init.sls.jinja"));
/// ```
#[must_use]
pub fn is_sls(path: &str) -> bool {
    let (path, _) = path.split_once('?').unwrap_or((path, ""));
    path.ends_with(".sls")
}

/// The name of the sls in a file: `a.b` for both `a/b.sls` and `a/b/init.sls`; nothing for other files.
///
/// ```
/// assert_eq!(mapstack::sls_name("web/init.sls").as_deref(), Some("web"));
/// assert_eq!(mapstack::sls_name("web/map.jinja"), None);
/// ```
#[must_use]
pub fn sls_name(path: &str) -> Option<String> {
    let name = path.strip_suffix(".sls")?;
    Some(name.strip_suffix("/init").unwrap_or(name).replace('/', "."))
}

#[cfg(test)]
mod tests {
    use mapstack_minion::SaltVersion;

    use super::*;

    #[test]
    fn a_file_has_the_name_of_its_sls() {
        for (path, name) in [
            ("a/init.sls", "a"),
            ("a/b/c.sls", "a.b.c"),
            ("x.sls", "x"),
            ("init.sls", "init"),
            ("a/initial.sls", "a.initial"),
        ] {
            assert_eq!(sls_name(path).as_deref(), Some(name));
        }
        assert_eq!(sls_name("a/x.conf"), None);
    }

    #[test]
    fn a_file_of_another_name_has_few_variables() {
        let names = sls_variables("/srv/salt/a/x.conf", "a.b", SaltVersion::V3008.behaviour());
        let shown: Vec<_> = names
            .iter()
            .map(|(k, v)| format!("{k}={}", v.as_str().unwrap()))
            .collect();
        assert_eq!(
            shown,
            ["tplpath=/srv/salt/a/x.conf", "tplfile=a.b", "tpldir=."]
        );
    }

    #[test]
    fn two_slashes_are_a_root_of_their_own() {
        for (sls, tpldir) in [
            ("a", "."),
            ("/a", "/"),
            ("//a", "//"),
            ("///a", "/"),
            ("//a/b", "//a"),
            ("/a/b", "/a"),
        ] {
            let names = sls_variables("/p/x.conf", sls, SaltVersion::V3008.behaviour());
            assert_eq!(&**names["tpldir"].as_str().unwrap(), tpldir, "{sls}");
        }
    }
}
