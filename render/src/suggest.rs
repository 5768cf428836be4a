//! "Did you mean …?"

/// The known name nearest to a wrong one, if it is near enough to be a slip.
///
/// ```
/// use mapstack_render::nearest;
/// assert_eq!(nearest("grians", ["grains", "pillar"]), Some("grains"));
/// assert_eq!(nearest("x", ["grains", "pillar"]), None);
/// ```
pub fn nearest<S: AsRef<str>>(wrong: &str, known: impl IntoIterator<Item = S>) -> Option<S> {
    let allowed = (wrong.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(wrong, name.as_ref()), name))
        .filter(|(distance, name)| {
            *distance <= allowed && *distance < name.as_ref().chars().count()
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Advice for an undefined variable: a name like it, or the names there are.
pub(crate) fn for_undefined(
    message: &str,
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
    names.retain(|n| !crate::globals::is_builtin(n));
    names.sort_unstable();
    (!names.is_empty()).then(|| format!("in scope here: {}", names.join(", ")))
}

/// Advice for an argument of a wrong name.
pub(crate) fn for_argument<S: AsRef<str>>(wrong: &str, known: &[S]) -> String {
    if let Some(near) = nearest(wrong, known) {
        return format!("did you mean '{}'?", near.as_ref());
    }
    match known {
        [] => "it takes no arguments".into(),
        known => format!(
            "it takes {}",
            known
                .iter()
                .map(AsRef::as_ref)
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
}
