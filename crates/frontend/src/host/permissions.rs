//! The permissions of templates on this machine.

use std::fmt;

use crate::host::names;

/// Names of functions, filters and modules that templates may use.
///
/// ```
/// use mapstack_frontend::host::Permissions;
///
/// assert!(Permissions::parse(["file.*", "cmd.run", "which"]).is_ok());
/// assert_eq!(
///     Permissions::parse(["cmd.runn"]).unwrap_err().to_string(),
///     "nothing here is called 'cmd.runn'; did you mean 'cmd.run'?"
/// );
/// ```
#[derive(Debug, Clone, Default)]
pub struct Permissions(Vec<String>);

/// A permission for what does not exist, which is a slip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    name: String,
}

impl Permissions {
    /// Permit functions (`cmd.run`), all functions of a module (`file.*`) and filters (`which`).
    ///
    /// # Errors
    /// No function has that name.
    pub fn parse<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Self, UnknownName> {
        let check = |name: S| {
            let name = name.as_ref();
            let known = names_and_modules().any(|known| known == name);
            if known {
                Ok(name.to_string())
            } else {
                Err(UnknownName { name: name.into() })
            }
        };
        Ok(Permissions(
            names.into_iter().map(check).collect::<Result<_, _>>()?,
        ))
    }

    pub(crate) fn allow(&self, name: &str) -> bool {
        let module = name.split_once('.').map(|(module, _)| module);
        self.0.iter().any(|allowed| {
            *allowed == *name
                || allowed
                    .strip_suffix(".*")
                    .is_some_and(|m| Some(m) == module)
        })
    }
}

/// Every name, and `module.*` for every module.
fn names_and_modules() -> impl Iterator<Item = String> {
    let modules = names()
        .filter_map(|name| name.split_once('.'))
        .map(|(module, _)| format!("{module}.*"));
    names().map(String::from).chain(modules)
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nothing here is called '{}'; ", self.name)?;
        if let Some(near) = mapstack::nearest(&self.name, names_and_modules()) {
            return write!(f, "did you mean '{near}'?");
        }
        let module = self.name.split('.').next().unwrap_or_default();
        let mut choice: Vec<&str> = names()
            .filter(|name| name.split_once('.').is_some_and(|(m, _)| m == module))
            .collect();
        if !choice.is_empty() {
            choice.sort_unstable();
            return write!(f, "from that module: {}", choice.join(", "));
        }
        let mut all: Vec<String> = names_and_modules()
            .filter(|n| n.ends_with(".*") || !n.contains('.'))
            .collect();
        all.sort_unstable();
        all.dedup();
        write!(
            f,
            "there are {}, and functions by their full names",
            all.join(", ")
        )
    }
}

impl std::error::Error for UnknownName {}

#[cfg(all(test, unix))]
mod tests {
    use mapstack::{Call, Functions};

    use super::*;
    use crate::host::Host;

    #[test]
    fn nothing_is_permitted_by_itself() {
        let host = Host::default();
        for name in names() {
            assert!(
                !host.has(name) && host.call(&Call::new(name)).is_none(),
                "{name}"
            );
            let advice = host.advice(&Call::new(name)).unwrap();
            assert!(
                advice.starts_with(&format!("permission for {name} ")),
                "{advice}"
            );
        }
        assert!(!host.has_module("file"));
        assert_eq!(host.advice(&Call::new("pkg.version")), None);
    }

    #[test]
    fn a_permission_is_for_what_it_names() {
        for (allowed, yes, no) in [
            ("cmd.run", "cmd.run", "cmd.run_all"),
            ("file.*", "file.read", "environ.get"),
            ("which", "which", "cmd.which"),
        ] {
            let host = Host::new(Permissions::parse([allowed]).unwrap());
            assert!(host.has(yes) && !host.has(no), "{allowed}");
            assert_eq!(host.has_module("cmd"), allowed == "cmd.run");
            assert_eq!(host.advice(&Call::new(yes)), None);
        }
    }

    #[test]
    fn wrong_names_are_reported() {
        for (name, expected) in [
            (
                "fiel.*",
                "nothing here is called 'fiel.*'; did you mean 'file.*'?",
            ),
            (
                "environ.something",
                "nothing here is called 'environ.something'; from that module: environ.get,",
            ),
            ("*", "nothing here is called '*'; there are cmd.*,"),
            ("", "nothing here is called ''; there are"),
        ] {
            let error = Permissions::parse([name]).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn every_name_is_there_once() {
        let mut all: Vec<&str> = names().collect();
        let n = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), n);
    }
}
