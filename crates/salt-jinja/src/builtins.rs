//! The filters, tests and globals of Salt's environments.

use std::collections::HashSet;
use std::sync::LazyLock;

use mapstack_jinja::{Builtins, Dialect, Jinja2};

use crate::{filters, globals, tests};

/// Jinja2's own and all of Salt's, which replaces what has the same name.
pub(crate) static SALT: LazyLock<Builtins> = LazyLock::new(|| {
    let jinja2 = Jinja2.builtins();
    let mut all_tests: Vec<_> = jinja2.tests().chain(tests::TABLE.iter().copied()).collect();
    all_tests.sort_by_key(|(name, _)| *name);
    let all_filters = jinja2.filters().chain(filters::all());
    // Salt's own tables name nothing twice.
    debug_assert!(are_distinct(filters::all().map(|(name, _)| name)));
    debug_assert!(are_distinct(tests::TABLE.iter().map(|(name, _)| *name)));
    Builtins::new(all_filters, all_tests, globals::builtins)
});

fn are_distinct(mut names: impl Iterator<Item = &'static str>) -> bool {
    let mut seen = HashSet::new();
    names.all(|name| seen.insert(name))
}

/// Jinja2's own and the filters of Salt's serialisers.
pub(crate) static PILLAR_STACK: LazyLock<Builtins> = LazyLock::new(|| {
    let jinja2 = Jinja2.builtins();
    let mut all_filters: Vec<_> = jinja2.filters().collect();
    all_filters.sort_by_key(|(name, _)| *name);
    let serialisers = filters::SERIALISERS
        .iter()
        .filter_map(|name| filters::all().find(|(known, _)| known == name));
    all_filters.extend(serialisers);
    Builtins::new(
        all_filters,
        jinja2.tests(),
        mapstack_jinja::globals::builtins,
    )
});
