//! The order of rpm's versions, as Salt asks rpm for it (`rpm_lowpkg.version_cmp`, `rpmvercmp`).

use std::cmp::Ordering;

use mapstack_value::Int;

/// The parts of a version.
struct Version<'t> {
    epoch: Int,
    version: &'t str,
    release: &'t str,
}

/// Compare two versions. If one of them has no release, releases do not count.
///
/// ```
/// use std::cmp::Ordering;
/// use mapstack_functions::versions::rpm::compare;
/// assert_eq!(compare("1.0~rc1-1", "1.0-1"), Some(Ordering::Less));
/// assert_eq!(compare("1.0^git1", "1.0"), Some(Ordering::Greater));
/// assert_eq!(compare("3.2", "3.2-1"), Some(Ordering::Equal));
/// ```
#[must_use]
pub fn compare(first: &str, second: &str) -> Option<Ordering> {
    let (first, second) = (Version::parse(first), Version::parse(second));
    let order = first
        .epoch
        .cmp(&second.epoch)
        .then_with(|| parts(first.version, second.version));
    let has_releases = !first.release.is_empty() && !second.release.is_empty();
    Some(order.then_with(|| match has_releases {
        true => parts(first.release, second.release),
        false => Ordering::Equal,
    }))
}

impl<'t> Version<'t> {
    /// Take a version apart (`salt.utils.pkg.rpm.version_to_evr`). An epoch that is not a number counts as 0.
    fn parse(text: &'t str) -> Self {
        let colon = text.find(':');
        let epoch = colon.and_then(|colon| number(&text[..colon]));
        let start = colon.map_or(0, |colon| colon + 1);
        let (version, release) = match text.find('-') {
            // The dash can be before the colon.
            Some(dash) => (text.get(start..dash).unwrap_or_default(), &text[dash + 1..]),
            None => (&text[start..], ""),
        };
        Version {
            epoch: epoch.unwrap_or_else(|| Int::from(0)),
            version,
            release,
        }
    }
}

/// Python's `int` of a text.
fn number(text: &str) -> Option<Int> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_spaced = digits.starts_with('_') || digits.ends_with('_') || digits.contains("__");
    if is_spaced
        || !digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
    {
        return None;
    }
    let size = Int::from_str_radix(&digits.replace('_', ""), 10)?;
    Some(if text.starts_with('-') {
        size.neg()
    } else {
        size
    })
}

/// Compare a part: runs of letters and of digits in turn, whatever separates them.
fn parts(first: &str, second: &str) -> Ordering {
    let (mut a, mut b) = (first.as_bytes(), second.as_bytes());
    loop {
        (a, b) = (without_separators(a), without_separators(b));
        let (x, y) = (a.first(), b.first());
        match (age(x), age(y)) {
            (x, y) if x != y => return x.cmp(&y),
            (OLDER | NEWER, _) => {
                (a, b) = (&a[1..], &b[1..]);
                continue;
            }
            (END, _) => return Ordering::Equal,
            _ => {}
        }
        let is_number = x.is_some_and(u8::is_ascii_digit);
        let is_same = |byte: &u8| match is_number {
            true => byte.is_ascii_digit(),
            false => byte.is_ascii_alphabetic(),
        };
        let (run_a, rest_a) = run(a, is_same);
        let (run_b, rest_b) = run(b, is_same);
        // Numbers are newer than letters.
        if run_b.is_empty() {
            return match is_number {
                true => Ordering::Greater,
                false => Ordering::Less,
            };
        }
        let order = match is_number {
            true => {
                let (x, y) = (without_zeros(run_a), without_zeros(run_b));
                x.len().cmp(&y.len()).then_with(|| x.cmp(y))
            }
            false => run_a.cmp(run_b),
        };
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (rest_a, rest_b);
    }
}

/// A tilde is older than the end, and a caret newer than it, but older than everything else.
const OLDER: u8 = 0;
const END: u8 = 1;
const NEWER: u8 = 2;

fn age(next: Option<&u8>) -> u8 {
    match next {
        Some(b'~') => OLDER,
        None => END,
        Some(b'^') => NEWER,
        Some(_) => 3,
    }
}

fn without_separators(text: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'~' | b'^');
    let start = text.iter().position(is_part).unwrap_or(text.len());
    &text[start..]
}

fn without_zeros(text: &[u8]) -> &[u8] {
    let zeros = text.iter().take_while(|byte| **byte == b'0').count();
    &text[zeros..]
}

fn run(text: &[u8], is_in: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    let end = text
        .iter()
        .position(|byte| !is_in(byte))
        .unwrap_or(text.len());
    text.split_at(end)
}
