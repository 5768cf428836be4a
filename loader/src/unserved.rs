//! Names below roots that are not served.

use std::sync::Arc;

/// A name below a root that no path leads to, or a link that leads to nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unserved {
    /// The path from the root; bytes that are not UTF-8 are escaped, as in `caf\xe9.sls`.
    pub path: String,
    /// The reason why it is not served.
    pub why: NotServed,
    /// The target of the link, or the content of the file, to tell two states of the files apart; `None` if it is not
    /// known.
    pub mark: Option<Arc<[u8]>>,
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
