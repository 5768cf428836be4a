//! "Did you mean …?"

/// The known name nearest to a wrong one, if it is near enough to be a slip.
///
/// ```
/// use mapstack_diagnostic::nearest;
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
