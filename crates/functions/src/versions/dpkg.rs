//! The order of Debian's versions, as `dpkg --compare-versions` has it.

use std::cmp::Ordering;

/// The parts of a version.
#[derive(Default, PartialEq, Eq)]
struct Version<'t> {
    epoch: i64,
    upstream: &'t str,
    revision: &'t str,
}

/// Compare two versions; `None` where `dpkg` refuses one of them.
///
/// ```
/// use std::cmp::Ordering;
/// use mapstack_functions::versions::dpkg::compare;
/// assert_eq!(compare("1.0~rc1-1", "1.0-1"), Some(Ordering::Less));
/// assert_eq!(compare("1:0", "2-1"), Some(Ordering::Greater));
/// assert_eq!(compare("x:1", "1"), None);
/// ```
#[must_use]
pub fn compare(first: &str, second: &str) -> Option<Ordering> {
    // A version that begins with a dash is an option of the program, and no argument has a NUL.
    if first.starts_with('-') || first.contains('\0') || second.contains('\0') {
        return None;
    }
    let (first, second) = (Version::parse(first)?, Version::parse(second)?);
    Some(
        first
            .is_informative()
            .cmp(&second.is_informative())
            .then(first.epoch.cmp(&second.epoch))
            .then_with(|| parts(first.upstream, second.upstream))
            .then_with(|| parts(first.revision, second.revision)),
    )
}

impl<'t> Version<'t> {
    /// Take a version apart. Characters that versions should not have are only worth a warning to `dpkg`.
    fn parse(text: &'t str) -> Option<Self> {
        if text.is_empty() || text == "<unknown>" {
            return Some(Version::default());
        }
        let is_blank = |c| matches!(c, ' ' | '\t');
        let text = text.trim_matches(is_blank);
        if text.is_empty() || text.contains(is_blank) {
            return None;
        }
        let (epoch, rest) = match text.split_once(':') {
            Some((epoch, rest)) => (number(epoch)?, rest),
            None => (0, text),
        };
        let (upstream, revision) = match rest.rsplit_once('-') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (rest, ""),
        };
        (!upstream.is_empty()).then_some(Version {
            epoch,
            upstream,
            revision,
        })
    }

    fn is_informative(&self) -> bool {
        *self != Version::default()
    }
}

/// An epoch, as C's `strtol` reads it.
fn number(text: &str) -> Option<i64> {
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let epoch: i64 = text.parse().ok()?;
    (0..=i64::from(i32::MAX)).contains(&epoch).then_some(epoch)
}

/// Compare a part: text and numbers in turn.
fn parts(first: &str, second: &str) -> Ordering {
    let (mut a, mut b) = (first.as_bytes(), second.as_bytes());
    while !a.is_empty() || !b.is_empty() {
        while weighs(a) || weighs(b) {
            let order = weight(a).cmp(&weight(b));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (behind(a), behind(b));
        }
        let (x, rest_a) = digits(a);
        let (y, rest_b) = digits(b);
        let order = x.len().cmp(&y.len()).then_with(|| x.cmp(y));
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (rest_a, rest_b);
    }
    Ordering::Equal
}

/// True if there is a character that is not a digit.
fn weighs(text: &[u8]) -> bool {
    text.first().is_some_and(|byte| !byte.is_ascii_digit())
}

/// The rank of the first character: `~` before the end, letters before other characters.
fn weight(text: &[u8]) -> i32 {
    match text.first() {
        None | Some(b'0'..=b'9') => 0,
        Some(b'~') => -1,
        // Bytes beyond ASCII are negative in C.
        Some(byte) if byte.is_ascii_alphabetic() || !byte.is_ascii() => i32::from(*byte),
        Some(byte) => i32::from(*byte) + 256,
    }
}

fn behind(text: &[u8]) -> &[u8] {
    text.get(1..).unwrap_or_default()
}

/// The number that a text begins with, without leading zeros, and the rest.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let zeros = number.iter().take_while(|byte| **byte == b'0').count();
    (&number[zeros..], rest)
}
