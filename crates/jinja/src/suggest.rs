//! "Did you mean …?"

use mapstack_diagnostic::nearest;

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
    if let Some(near) = nearest(name, names.iter()) {
        return Some(format!("did you mean '{near}'?"));
    }
    names.retain(|n| !is_builtin(n));
    names.sort_unstable();
    (!names.is_empty()).then(|| format!("in scope here: {}", names.join(", ")))
}
