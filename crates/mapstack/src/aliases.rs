//! The warning about mappings that Salt changes at several places.

use mapstack_diagnostic::{Diagnostic, ErrorKind};
use mapstack_merge::AliasConflict;

/// Warn that what `origin` merges changes one place of a mapping, where Salt changes all that an anchor gave it.
///
/// ```
/// use mapstack::parted_aliases;
/// use mapstack_merge::{Aliases, Options};
/// use mapstack::yaml::load;
///
/// let base = load("{a: &x {k: 1}, b: *x}").unwrap();
/// let overlay = load("{a: {k: 2}}").unwrap();
/// let parted = Aliases::of(&base).parted(&base, &overlay, &Options::default());
/// assert_eq!(
///     parted_aliases(&parted[0], "os/Debian.yaml").message,
///     "os/Debian.yaml changes 'a', which a YAML anchor makes one mapping with 'b': Salt changes both, mapstack only 'a'"
/// );
/// ```
#[must_use]
pub fn parted_aliases(parted: &AliasConflict, origin: &str) -> Diagnostic {
    let changed = &parted.changed;
    let others: Vec<String> = parted
        .unchanged
        .iter()
        .map(|path| format!("'{path}'"))
        .collect();
    let how_many = match others.len() {
        1 => "both",
        _ => "all of them",
    };
    let others = others.join(", ");
    Diagnostic::warning(
        ErrorKind::Merge,
        format!(
            "{origin} changes '{changed}', which a YAML anchor makes one mapping with {others}: Salt changes {how_many}, mapstack only '{changed}'"
        ),
    )
    .with_help("write the mapping out at each place, or override each of them")
}
