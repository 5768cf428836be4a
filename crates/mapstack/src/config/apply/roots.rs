//! The directories of the file server and of pillars.

use mapstack_loader::glob_named;
use mapstack_value::{Map, Value};

use super::Applying;
use crate::diagnostic::{Error, ErrorKind, Result};

impl Applying<'_> {
    /// Make `file_roots` or `pillar_roots` a mapping of saltenvs to lists of directories, with
    /// patterns replaced by what they stand for (Salt: `_validate_file_roots`). Something else
    /// than a mapping makes way for `default`.
    pub(super) fn roots(&mut self, option: &str, default: &str) -> Result<()> {
        let Value::Map(given) = self.get(option).clone() else {
            let message =
                format!("`{option}` must be a mapping of saltenvs to lists of directories");
            self.warn(
                option,
                message,
                &format!("as it is, it means `base: [{default}]`"),
            );
            let base = Map::from_iter([("base", Value::from_iter([default]))]);
            self.insert(option, base);
            return Ok(());
        };
        let mut roots = Map::with_capacity(given.len());
        for (env, directories) in &given {
            if env.as_str().is_none() {
                let message = format!(
                    "a saltenv in `{option}` must be text, not {}",
                    env.to_value().kind().described()
                );
                let error =
                    Error::new(ErrorKind::Options, message).at(self.place_of_entry(option, env));
                return Err(error.help(format!("put quotes around it: '{env}'")));
            }
            let items = match directories {
                Value::List(items) => &**items,
                Value::Tuple(items) => &**items,
                Value::None => &[],
                other => {
                    let message = format!(
                        "`{option}` has {} for '{env}', and needs a list of directories",
                        other.kind().described()
                    );
                    self.warn_at(
                        self.place_of_entry(option, env),
                        message,
                        "as it is, the saltenv has none: write `- /srv/salt`",
                    );
                    &[]
                }
            };
            let expanded = items.iter().map(expanded).collect::<Result<Vec<_>>>()?;
            roots.insert(
                env.clone(),
                Value::from_iter(expanded.into_iter().flatten()),
            );
        }
        self.insert(option, roots);
        Ok(())
    }
}

/// What a directory or pattern stands for.
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
