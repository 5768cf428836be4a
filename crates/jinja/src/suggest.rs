//! "Did you mean …?"

use mapstack_diagnostic::nearest;

use crate::dialect::Dialect;

/// Advice for the name of a filter that does not exist.
pub(super) fn for_filter(dialect: &dyn Dialect, name: &str) -> Option<String> {
    near(name, dialect.builtins().filters().map(|(name, _)| name))
}

/// Advice for the name of a test that does not exist.
pub(super) fn for_test(dialect: &dyn Dialect, name: &str) -> Option<String> {
    near(name, dialect.builtins().tests().map(|(name, _)| name))
}

fn near<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    nearest(name, known).map(|near| format!("did you mean '{near}'?"))
}

/// Advice for an undefined variable: a name like it, or the names there are.
pub(super) fn for_undefined(
    message: &str,
    is_builtin: impl Fn(&str) -> bool,
    in_scope: impl FnOnce() -> Vec<mapstack_value::Str>,
) -> Option<String> {
    let name = message
        .strip_suffix(" is undefined")?
        .strip_prefix('\'')?
        .strip_suffix('\'')?;
    let mut names = in_scope();
    if let Some(advice) = near(name, names.iter().map(|known| &**known)) {
        return Some(advice);
    }
    names.retain(|n| !is_builtin(n));
    names.sort_unstable();
    (!names.is_empty()).then(|| format!("in scope here: {}", names.join(", ")))
}
