//! "Did you mean …?"

/// The limit on known names that are read: a tree can have any number of them, and as many wrong ones.
const MOST_NAMES: usize = 10_000;
/// The limit on names that are compared letter by letter.
const MOST_COMPARED: usize = 200;
/// The longest name that gets a suggestion.
const MOST_BYTES: usize = 200;

/// The known name nearest to a wrong one, if it is near enough to be a slip. Of very many names that look alike, only some
/// are compared.
///
/// ```
/// use mapstack_diagnostic::nearest;
/// assert_eq!(nearest("grians", ["grains", "pillar"]), Some("grains"));
/// assert_eq!(nearest("x", ["grains", "pillar"]), None);
/// ```
pub fn nearest<S: AsRef<str>>(wrong: &str, known: impl IntoIterator<Item = S>) -> Option<S> {
    let allowed = (wrong.chars().count() / 3).clamp(1, 3);
    let letters = letters(wrong);
    let is_alike = |name: &S| {
        let name = name.as_ref();
        wrong.len().max(name.len()) <= MOST_BYTES
            && wrong.len().abs_diff(name.len()) <= 4 * allowed
            && (letters ^ self::letters(name)).count_ones() as usize <= 2 * allowed
    };
    known
        .into_iter()
        .take(MOST_NAMES)
        .filter(is_alike)
        .take(MOST_COMPARED)
        .map(|name| (strsim::damerau_levenshtein(wrong, name.as_ref()), name))
        .filter(|(distance, name)| {
            *distance <= allowed && *distance < name.as_ref().chars().count()
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The letters of a name, as a set: each change of a letter adds one at most, and takes one away.
fn letters(name: &str) -> u64 {
    let bit = |c: char| 1 << (u32::from(c) % u64::BITS);
    name.chars().fold(0, |letters, c| letters | bit(c))
}
