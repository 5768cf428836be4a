//! Names that are in or out.

use std::fmt;
use std::sync::Arc;

/// The names for which a function is true.
///
/// Salt's lists of names have shell patterns and Python's regular expressions, and the code that
/// parses them has to know both. A server only calls a function.
///
/// ```
/// use mapstack_salt_config::gitfs::NamePatterns;
/// let backups = NamePatterns::new(|name| name.ends_with('~'));
/// assert!(backups.has("init.sls~") && !backups.has("init.sls"));
/// ```
#[derive(Clone)]
pub struct NamePatterns(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl NamePatterns {
    /// Those for which the function is true.
    pub fn new(has: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        NamePatterns(Arc::new(has))
    }

    /// True if a name is one of them.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        (self.0)(name)
    }
}

impl Default for NamePatterns {
    /// All of them.
    fn default() -> Self {
        NamePatterns::new(|_| true)
    }
}

impl fmt::Debug for NamePatterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Names(…)")
    }
}
