//! The names of the functions that Salt's own modules have, whether or not they are built in here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The execution modules of Salt with their functions: those of Salt 3008, and those of 3006, which still had the
/// modules that are extensions now.
///
/// A minion has those for which its system has what they need.
///
/// ```
/// let modules = &mapstack_functions::SALT_MODULES;
/// assert!(modules["pkg"].contains("version_cmp"));
/// assert!(!modules.contains_key("pgk"));
/// ```
pub static SALT_MODULES: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| {
    let lines = include_str!("../data/functions.txt").lines();
    lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, all)| (name, all.split(' ').collect()))
        .collect()
});

/// True if one of Salt's own modules has a function, or if there is such a module.
///
/// ```
/// use mapstack_functions::is_in_salt;
/// assert!(is_in_salt("pkg.version_cmp") && is_in_salt("pkg"));
/// assert!(!is_in_salt("pkg.version_cpm") && !is_in_salt("pgk"));
/// ```
#[must_use]
pub fn is_in_salt(name: &str) -> bool {
    match name.split_once('.') {
        Some((module, function)) => SALT_MODULES
            .get(module)
            .is_some_and(|functions| functions.contains(function)),
        None => SALT_MODULES.contains_key(name),
    }
}

/// The owner of a function or a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Home {
    /// Part of Salt 3008.
    Salt,
    /// Part of an extension, by the name of its package.
    Extension(&'static str),
    /// Part of Salt before 3008, and now of no extension that is known.
    Gone,
}

/// The homes of what left Salt with 3008: of modules, and of functions whose modules have another home
/// (`xtask/reference/moved_functions.py` writes it).
static MOVED: LazyLock<BTreeMap<&str, Home>> = LazyLock::new(|| {
    let lines = include_str!("../data/moved.txt").lines();
    let lines = lines.filter_map(|line| line.split_once(": "));
    let homes = lines.flat_map(|(package, names)| {
        let home = match package {
            "-" => Home::Gone,
            package => Home::Extension(package),
        };
        names.split(' ').map(move |name| (name, home))
    });
    homes.collect()
});

/// The home of one of the functions that [Salt has had](SALT_MODULES).
///
/// ```
/// use mapstack_functions::{Home, home_of};
/// assert_eq!(home_of("pkg.version_cmp"), Some(Home::Salt));
/// assert_eq!(home_of("zpool.list"), Some(Home::Extension("saltext-zfs")));
/// assert_eq!(home_of("nginx.version"), Some(Home::Gone));
/// assert_eq!(home_of("nginx.nothing"), None);
/// ```
#[must_use]
pub fn home_of(name: &str) -> Option<Home> {
    let (module, _) = name.split_once('.').filter(|_| is_in_salt(name))?;
    let moved = MOVED.get(name).or_else(|| MOVED.get(module));
    Some(moved.copied().unwrap_or(Home::Salt))
}
