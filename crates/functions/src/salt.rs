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
