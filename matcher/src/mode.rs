//! Where a definition stands, and how it is spelt.

/// The spelling by which a definition says if it leads to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spelling {
    /// `Y!…`
    Prefix,
    /// `Y:G@…`, deprecated in favour of the prefix.
    Legacy,
    /// No prefix and no `Y`.
    Plain,
}

/// Where a definition stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Among the sources of `map.data` or `map.stack`.
    Layer,
    /// Among the matchers of `map.tofs`, which only build paths: nothing there may name YAML files.
    Path,
}
