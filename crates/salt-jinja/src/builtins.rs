//! The filters, tests and globals of Salt's environments.

use std::sync::LazyLock;

use mapstack_jinja::{Builtins, Dialect, Jinja2};

use crate::{filters, globals, tests};

/// Jinja2's own and all of Salt's, which replaces what has the same name.
pub(crate) static SALT: LazyLock<Builtins> = LazyLock::new(|| {
    let jinja2 = Jinja2.builtins();
    let mut all_tests: Vec<_> = jinja2.tests().chain(tests::TABLE.iter().copied()).collect();
    all_tests.sort_by_key(|(name, _)| *name);
    let all_filters = jinja2.filters().chain(filters::all());
    let builtins = Builtins::new(all_filters, all_tests, globals::builtins);
    // These are replaced and nothing else, and Salt's own tables name nothing twice.
    debug_assert!(
        REPLACED_FILTERS
            .iter()
            .all(|name| jinja2.filter(name).is_some())
    );
    debug_assert!(
        REPLACED_TESTS
            .iter()
            .all(|name| jinja2.test(name).is_some())
    );
    let own = filters::all().count() - REPLACED_FILTERS.len();
    debug_assert_eq!(builtins.filters().count(), jinja2.filters().count() + own);
    let own = tests::TABLE.len() - REPLACED_TESTS.len();
    debug_assert_eq!(builtins.tests().count(), jinja2.tests().count() + own);
    builtins
});

/// Names of Jinja2 that stand for something else in Salt.
const REPLACED_FILTERS: [&str; 4] = ["max", "min", "tojson", "unique"];
const REPLACED_TESTS: [&str; 1] = ["equalto"];

/// Jinja2's own and the filters of Salt's serialisers.
pub(crate) static PILLAR_STACK: LazyLock<Builtins> = LazyLock::new(|| {
    let jinja2 = Jinja2.builtins();
    let mut all_filters: Vec<_> = jinja2.filters().collect();
    all_filters.sort_by_key(|(name, _)| *name);
    let serialisers = filters::SERIALISERS
        .iter()
        .filter_map(|name| filters::all().find(|(known, _)| known == name));
    all_filters.extend(serialisers);
    let builtins = Builtins::new(
        all_filters,
        jinja2.tests(),
        mapstack_jinja::globals::builtins,
    );
    let own = filters::SERIALISERS.len();
    debug_assert_eq!(builtins.filters().count(), jinja2.filters().count() + own);
    builtins
});
