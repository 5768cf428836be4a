//! The one reader of `file_roots` and `pillar_roots`: directories by saltenv.

use crate::disk::glob_named;
use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_value::{Key, Value};

/// The value of the option, and the places where it is not what was meant.
pub(crate) struct RootsOption {
    /// Each saltenv with its directories, in order, patterns replaced by their directories.
    pub saltenvs: Vec<(Key, Vec<Value>)>,
    pub slips: Vec<IgnoredOption>,
}

/// A part of the option that Salt ignores silently.
pub(crate) struct IgnoredOption {
    /// The saltenv; none where it is the whole option.
    pub saltenv: Option<Key>,
    pub message: String,
    pub help: String,
}

/// Read the option as Salt does (Salt: `_validate_file_roots`). What is not a mapping makes way for `default`.
///
/// # Errors
/// The directories of a pattern cannot be listed.
pub(crate) fn read(option: &str, given: &Value, default: &str) -> Result<RootsOption> {
    let Value::Map(given) = given else {
        let slip = IgnoredOption {
            saltenv: None,
            message: format!("`{option}` must be a mapping of saltenvs to lists of directories"),
            help: format!("as it is, it means `base: [{default}]`"),
        };
        return Ok(RootsOption {
            saltenvs: vec![("base".into(), vec![default.into()])],
            slips: vec![slip],
        });
    };
    let mut read = RootsOption {
        saltenvs: Vec::with_capacity(given.len()),
        slips: Vec::new(),
    };
    for (saltenv, directories) in given {
        let items = match directories {
            Value::List(items) => &**items,
            Value::Tuple(items) => &**items,
            Value::None => &[],
            other => {
                read.slips.push(IgnoredOption {
                    saltenv: Some(saltenv.clone()),
                    message: format!(
                        "`{option}` has {} for '{saltenv}', and needs a list of directories",
                        other.kind().described()
                    ),
                    help: "as it is, the saltenv has none: write `- /srv/salt`".into(),
                });
                &[]
            }
        };
        let expanded = items.iter().map(expanded).collect::<Result<Vec<_>>>()?;
        let directories = expanded.into_iter().flatten().collect();
        read.saltenvs.push((saltenv.clone(), directories));
    }
    Ok(read)
}

/// The directories of a directory or pattern. Salt has the order of the disk; here it is that of the names.
fn expanded(directory: &Value) -> Result<Vec<Value>> {
    match directory.as_str() {
        Some(pattern) if pattern.contains(['*', '?', '[']) => {
            let found =
                glob_named(pattern).map_err(|e| Error::new(ErrorKind::File, e.to_string()))?;
            Ok(found.into_iter().map(Value::from).collect())
        }
        _ => Ok(vec![directory.clone()]),
    }
}

#[cfg(test)]
mod tests {
    use mapstack_value::Map;

    use super::*;

    #[test]
    fn what_salt_ignores_is_a_slip_at_its_saltenv() {
        let given = Map::from_iter([
            ("base", Value::from_iter(["/srv/a", "/srv/b"])),
            ("dev", Value::from("/srv/dev")),
            ("empty", Value::None),
        ]);
        let read = read("file_roots", &given.into(), "/srv/salt").unwrap();
        let lengths: Vec<usize> = read.saltenvs.iter().map(|(_, all)| all.len()).collect();
        assert_eq!(lengths, [2, 0, 0]);
        let [slip] = &read.slips[..] else {
            panic!("one slip")
        };
        assert_eq!(slip.saltenv, Some("dev".into()));
        assert_eq!(
            slip.message,
            "`file_roots` has a string for 'dev', and needs a list of directories"
        );
    }

    #[test]
    fn what_is_not_a_mapping_means_the_default() {
        let read = read("file_roots", &"/srv/x".into(), "/srv/salt").unwrap();
        assert_eq!(
            read.saltenvs,
            [("base".into(), vec![Value::from("/srv/salt")])]
        );
        assert_eq!(read.slips[0].saltenv, None);
    }
}
