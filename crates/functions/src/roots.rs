//! Paths on the disk that options serve (`pillar_roots`, `file_roots`).

use mapstack_value::Value;
use mapstack_value::posixpath::normpath;

/// The place of a path below a root.
#[derive(Debug, PartialEq, Eq)]
pub struct PathBelowRoot<'p> {
    /// The saltenv of the root.
    pub saltenv: String,
    /// The part of the path below it.
    pub inside: &'p str,
    /// True if the saltenv has no other root.
    pub is_only: bool,
}

/// The roots of an option that a path lies below. The path has no needless parts.
///
/// ```
/// use mapstack_functions::below_roots;
/// let roots = mapstack_yaml::load("{base: [/srv/salt/, /srv/more], dev: [/srv]}").unwrap();
/// let below = below_roots("/srv/salt/a.sls", &roots);
/// let below: Vec<_> = below.iter().map(|one| (&*one.saltenv, one.inside, one.is_only)).collect();
/// assert_eq!(below, [("base", "a.sls", false), ("dev", "salt/a.sls", true)]);
/// ```
#[must_use]
pub fn below_roots<'p>(path: &'p str, roots: &Value) -> Vec<PathBelowRoot<'p>> {
    let mut found = Vec::new();
    for (saltenv, directories) in roots.as_map().into_iter().flatten() {
        let directories = directories.as_list().unwrap_or_default();
        for root in directories {
            let root = normpath(&root.to_string());
            let root = root.trim_end_matches('/');
            if let Some(inside) = path.strip_prefix(root)
                && let Some(inside) = inside.strip_prefix('/')
            {
                found.push(PathBelowRoot {
                    saltenv: saltenv.to_string(),
                    inside,
                    is_only: directories.len() == 1,
                });
            }
        }
    }
    found
}

/// The roots of both options in a message.
#[must_use]
pub fn named_roots(roots: &[Value]) -> String {
    let maps = roots.iter().filter_map(Value::as_map);
    let directories = maps.flat_map(|map| map.values().filter_map(Value::as_list));
    let names: Vec<String> = directories
        .flatten()
        .map(|root| normpath(&root.to_string()))
        .collect();
    match names.is_empty() {
        true => "a root of the pillar or the file server, of which there are none".into(),
        false => format!(
            "a root of the pillar or the file server ({})",
            names.join(", ")
        ),
    }
}
