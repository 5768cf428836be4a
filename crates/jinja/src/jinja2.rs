//! Jinja2 itself, as a dialect.

use std::sync::LazyLock;

use super::dialect::{Builtins, Dialect};
use super::named::{self, NamedFunction};
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
            let builtins = Builtins::new(filters::all(), tests, globals::builtins);
            // The tables agree with each other, and name nothing twice.
            debug_assert_eq!(builtins.filters().count(), filters::all().count());
            debug_assert_eq!(builtins.tests().count(), tests::TABLE.len());
            debug_assert!(named::exceptions_fit(|kind, name| match kind {
                NamedFunction::Filter => builtins.filter(name).is_some(),
                NamedFunction::Test => builtins.test(name).is_some(),
                NamedFunction::Function => builtins.globals().get(name).is_some(),
            }));
            builtins
        });
        &BUILTINS
    }
}
