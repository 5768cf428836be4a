//! The names that the dialects have.

use mapstack_jinja::{Builtins, Dialect, Jinja2};
use mapstack_salt_jinja::{PillarStack, Salt};

fn filters(builtins: &'static Builtins) -> Vec<&'static str> {
    sorted(builtins.filters().map(|(name, _)| name))
}

fn tests(builtins: &'static Builtins) -> Vec<&'static str> {
    sorted(builtins.tests().map(|(name, _)| name))
}

fn sorted(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names
}

#[test]
fn dialects_differ_in_their_names() {
    for dialect in [&Salt as &dyn Dialect, &PillarStack] {
        let is_salt = dialect.name() == "salt";
        let builtins = dialect.builtins();
        assert!(builtins.test("defined").is_some() && builtins.filter("default").is_some());
        assert_eq!(builtins.test("match").is_some(), is_salt);
        assert_eq!(builtins.filter("regex_replace").is_some(), is_salt);
        assert_eq!(builtins.globals().get("odict").is_some(), is_salt);
    }
}

#[test]
fn every_dialect_has_the_names_of_jinja2() {
    for dialect in [&Salt as &dyn Dialect, &PillarStack] {
        let [own_filters, own_tests] = [filters, tests].map(|names| names(dialect.builtins()));
        for name in filters(Jinja2.builtins()) {
            assert!(own_filters.contains(&name), "{} {name}", dialect.name());
        }
        for name in tests(Jinja2.builtins()) {
            assert!(own_tests.contains(&name), "{} {name}", dialect.name());
        }
    }
}

#[test]
fn salt_replaces_a_few_names_of_jinja2() {
    let (jinja2, salt) = (Jinja2.builtins(), Salt.builtins());
    let mut replaced = filters(jinja2);
    replaced.retain(|name| {
        !std::ptr::fn_addr_eq(jinja2.filter(name).unwrap(), salt.filter(name).unwrap())
    });
    assert_eq!(replaced, ["max", "min", "tojson", "unique"]);
    let mut replaced = tests(jinja2);
    replaced
        .retain(|name| !std::ptr::fn_addr_eq(jinja2.test(name).unwrap(), salt.test(name).unwrap()));
    assert_eq!(replaced, ["equalto"]);
}

#[test]
fn the_stack_has_the_filters_of_serialisers() {
    let jinja2 = filters(Jinja2.builtins());
    let mut own = filters(PillarStack.builtins());
    own.retain(|name| !jinja2.contains(name));
    let serialisers = [
        "combinations",
        "combinations_with_replacement",
        "compress",
        "dict_to_sls_yaml_params",
        "json",
        "load_json",
        "load_text",
        "load_yaml",
        "permutations",
        "product",
        "python",
        "xml",
        "yaml",
        "zip",
        "zip_longest",
    ];
    assert_eq!(own, serialisers);
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
    assert_eq!(listed("filter"), filters(Salt.builtins()));
    assert_eq!(listed("test"), tests(Salt.builtins()));
}
