//! The result of making a package.

/// The result of making a package.
pub enum Package {
    /// It was made and tried; what was seen.
    Done(Vec<String>),
    /// It was not made or not tried in full, for want of something on this machine.
    NotRun(String),
}
