//! Words that several forms share: how many, which of them, and the path of a key.

use std::collections::BTreeMap;

use mapstack::loader::{NotServed, Unserved};
use mapstack::secrets::Secrets;
use mapstack::value::Key;

/// So many of something.
///
/// ```
/// assert_eq!(mapstack_report::words::count(2, "minion"), "2 minions");
/// ```
pub fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// The width of a column: that of its widest cell, but wider cells than `widest` stick out.
pub(crate) fn width<T: AsRef<str>>(cells: impl IntoIterator<Item = T>, widest: usize) -> usize {
    let widths = cells.into_iter().map(|cell| cell.as_ref().chars().count());
    widths.filter(|width| *width <= widest).max().unwrap_or(0)
}

/// The first of some names, and how many more there are.
///
/// ```
/// assert_eq!(mapstack_report::words::some(&["a", "b", "c"], 2), "a, b and 1 more");
/// ```
pub fn some<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let shown = names
        .iter()
        .take(most)
        .map(AsRef::as_ref)
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A path as keys are written: joined by colons.
///
/// ```
/// assert_eq!(mapstack_report::words::joined(&["users".into(), "tom".into()]), "users:tom");
/// ```
pub fn joined(path: &[Key]) -> String {
    path.iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(":")
}

/// A path whose keys show no secrets: templates can make keys of them.
#[must_use]
pub fn shown_path(path: &[Key], secrets: &Secrets) -> Vec<Key> {
    let shown = |key: &Key| match key {
        Key::Str(text) => Key::from(&*secrets.shown_key(text)),
        other => other.clone(),
    };
    path.iter().map(shown).collect()
}

/// Names that a line has for each reason.
const NAMED_UNSERVED: usize = 3;

/// The names that are not served, a line for each reason.
///
/// ```
/// use mapstack::loader::{NotServed, Unserved};
/// let link = |path: &str| Unserved { path: path.into(), why: NotServed::DanglingLink, mark: None };
/// let lines = mapstack_report::words::unserved(&[link("a.sls"), link("b"), link("c"), link("d")]);
/// assert_eq!(lines, ["a.sls, b, c and 1 more (a link to nothing)"]);
/// ```
#[must_use]
pub fn unserved(all: &[Unserved]) -> Vec<String> {
    let mut reasons: BTreeMap<NotServed, Vec<&str>> = BTreeMap::new();
    for one in all {
        reasons.entry(one.why).or_default().push(&one.path);
    }
    reasons
        .into_iter()
        .map(|(why, paths)| format!("{} ({})", some(&paths, NAMED_UNSERVED), reason(why)))
        .collect()
}

/// The words for the reason why a name is not served.
pub(crate) fn reason(why: NotServed) -> &'static str {
    match why {
        NotServed::DanglingLink => "a link to nothing",
        NotServed::LoopingLink => "a link in a circle",
        NotServed::OutsideLink => "a link out of the root",
        NotServed::NotUtf8 => "its name is not UTF-8",
    }
}
