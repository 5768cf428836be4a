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
    Builtins::new(all_filters, all_tests, globals::builtins)
});

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

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn salt_replaces_a_few_names_of_jinja2() {
        let jinja2 = Jinja2.builtins();
        let sorted = |mut names: Vec<&'static str>| {
            names.sort_unstable();
            names
        };
        let filters = filters::all().map(|(name, _)| name);
        let replaced = filters.filter(|name| jinja2.filter(name).is_some());
        assert_eq!(
            sorted(replaced.collect()),
            ["max", "min", "tojson", "unique"]
        );
        let tests = tests::TABLE.iter().map(|(name, _)| *name);
        let replaced = tests.filter(|name| jinja2.test(name).is_some());
        assert_eq!(sorted(replaced.collect()), ["equalto"]);
        // All others are there beside them, none of them twice.
        let count = jinja2.filters().count() + filters::all().count() - 4;
        assert_eq!(SALT.filters().count(), count);
        let count = jinja2.tests().count() + tests::TABLE.len() - 1;
        assert_eq!(SALT.tests().count(), count);
    }

    #[test]
    fn the_stack_has_the_filters_of_serialisers() {
        let jinja2 = Jinja2.builtins();
        let own: Vec<&str> = PILLAR_STACK
            .filters()
            .map(|(name, _)| name)
            .skip(jinja2.filters().count())
            .collect();
        assert_eq!(own, filters::SERIALISERS);
    }

    #[test]
    fn the_handbook_lists_every_name() {
        let handbook = include_str!("../../../docs/jinja.md");
        let listed = |kind: &str| -> Vec<&str> {
            let cells = |line: &'static str| -> Vec<&'static str> { line.split(" | ").collect() };
            let rows = handbook
                .lines()
                .map(cells)
                .filter(|row| row.get(1) == Some(&kind));
            rows.map(|row| row[0].trim_matches(|c: char| "|` ".contains(c)))
                .collect()
        };
        let sorted = |names: &mut dyn Iterator<Item = &'static str>| {
            let mut names: Vec<_> = names.collect();
            names.sort_unstable();
            names
        };
        let filters = sorted(&mut SALT.filters().map(|(name, _)| name));
        assert_eq!(listed("filter"), filters);
        let tests = sorted(&mut SALT.tests().map(|(name, _)| name));
        assert_eq!(listed("test"), tests);
    }
}
