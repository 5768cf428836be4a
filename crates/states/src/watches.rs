//! The state modules that do something about what they watch.

/// State modules with a function `mod_watch`, by the names under which they are loaded: those of Salt 3008.3, and those
/// of Salt 3007 that extensions have since then (`cargo xtask reference` has the script, `watches.py`).
const MODULES: &str = include_str!("watches.txt");

/// True if a state module does something about what it watches, where it is loaded. Elsewhere Salt takes `watch` for
/// `require`.
///
/// ```
/// use mapstack_states::watches;
/// assert!(watches("service") && !watches("file"));
/// ```
#[must_use]
pub fn watches(module: &str) -> bool {
    MODULES.lines().any(|name| name == module)
}
