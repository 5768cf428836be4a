//! Jinja2 itself, as a dialect.

use std::sync::LazyLock;

use super::dialect::{Builtins, Dialect};
use super::{filters, globals, tests};

/// Jinja2 as it comes, without extensions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Jinja2;

impl Dialect for Jinja2 {
    fn name(&self) -> &'static str {
        "jinja2"
    }

    fn builtins(&self) -> &'static Builtins {
        static BUILTINS: LazyLock<Builtins> = LazyLock::new(|| {
            let tests = tests::TABLE.iter().copied();
            Builtins::new(filters::all(), tests, globals::builtins)
        });
        &BUILTINS
    }
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn no_name_is_given_twice() {
        let builtins = Jinja2.builtins();
        assert_eq!(builtins.filters().count(), filters::all().count());
        assert_eq!(builtins.tests().count(), tests::TABLE.len());
    }
}
