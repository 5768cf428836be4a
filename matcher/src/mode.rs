//! The modes of definitions: where they are read from decides how they are spelt.

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

/// The place that a definition is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Among the sources of `map.data` or `map.stack`.
    Layer,
    /// Among the matchers of `map.tofs`, which only build paths: nothing there may name YAML files.
    Path,
}
