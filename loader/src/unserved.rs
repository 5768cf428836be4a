//! Names below roots that are not served.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A name below a root that no path leads to, or a link that leads to nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unserved {
    /// The path from the root; bytes that are not UTF-8 are escaped, as in `caf\xe9.sls`.
    pub path: String,
    /// The reason why it is not served.
    pub why: NotServed,
    /// Equal for what is the same in two states of the files; `None` if that is not known.
    pub mark: Option<u64>,
}

/// The reason why a name is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotServed {
    /// A link to nothing.
    DanglingLink,
    /// A link that leads in a circle.
    LoopingLink,
    /// A link out of the root, where these are not followed.
    OutsideLink,
    /// A name that is not UTF-8, which nothing can ask for.
    NotUtf8,
}

impl Unserved {
    /// A name and what marks its state: the target of a link, or the content of a file.
    pub(crate) fn new(path: String, why: NotServed, mark: Option<&[u8]>) -> Self {
        let mark = mark.map(|bytes| {
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            hasher.finish()
        });
        Unserved { path, why, mark }
    }
}

impl fmt::Display for NotServed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotServed::DanglingLink => "a link to nothing",
            NotServed::LoopingLink => "a link in a circle",
            NotServed::OutsideLink => "a link out of the root",
            NotServed::NotUtf8 => "its name is not UTF-8",
        })
    }
}

/// Names that a summary has for each reason.
const NAMED: usize = 3;

impl Unserved {
    /// The names that are not served, a line for each reason.
    ///
    /// ```
    /// use mapstack_loader::{NotServed, Unserved};
    /// let link = |path: &str| Unserved { path: path.into(), why: NotServed::DanglingLink, mark: None };
    /// let lines = Unserved::summary(&[link("a.sls"), link("b"), link("c"), link("d")]);
    /// assert_eq!(lines, ["a.sls, b, c and 1 more (a link to nothing)"]);
    /// ```
    #[must_use]
    pub fn summary(all: &[Unserved]) -> Vec<String> {
        let mut reasons: BTreeMap<NotServed, Vec<&str>> = BTreeMap::new();
        for one in all {
            reasons.entry(one.why).or_default().push(&one.path);
        }
        let line = |(why, paths): (NotServed, Vec<&str>)| {
            let named: Vec<&str> = paths.iter().take(NAMED).copied().collect();
            let more = match paths.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{}{more} ({why})", named.join(", "))
        };
        reasons.into_iter().map(line).collect()
    }
}

/// A name with its bytes that are not UTF-8 escaped.
pub(crate) fn escaped(name: &[u8]) -> String {
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn only_bytes_that_are_not_text_are_escaped() {
        assert_eq!(escaped(b"caf\xe9.sls"), r"caf\xe9.sls");
        assert_eq!(escaped("café".as_bytes()), "café");
    }
}
