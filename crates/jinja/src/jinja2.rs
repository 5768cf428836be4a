//! Jinja2 itself, as a dialect.

use std::sync::LazyLock;

use super::dialect::{Dialect, Library};
use super::{filters, globals, tests};

/// Jinja2 as it comes, without extensions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Jinja2;

impl Dialect for Jinja2 {
    fn name(&self) -> &'static str {
        "jinja2"
    }

    fn library(&self) -> &'static Library {
        static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
            let tests = tests::TABLE.iter().copied();
            Library::new(filters::all(), tests, globals::builtins)
        });
        &LIBRARY
    }
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn no_name_is_given_twice() {
        let library = Jinja2.library();
        assert_eq!(library.filters().count(), filters::all().count());
        assert_eq!(library.tests().count(), tests::TABLE.len());
    }
}
