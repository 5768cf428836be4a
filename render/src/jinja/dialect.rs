//! Which names a template has beside the language itself.

use std::rc::Rc;

use super::scope::Layer;
use crate::filters::{self, Filter};
use crate::globals;
use crate::tests::{self, Test};

/// The environment a template is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// Salt's (Salt: `render_jinja_tmpl`): sandboxed, with all of Salt's filters, tests and globals.
    #[default]
    Salt,
    /// Jinja2's own with `do` and Salt's serialisers, as PillarStack sets it up: no loop controls,
    /// Jinja2's `min`, `max`, `unique` and `tojson`, templates by paths from one directory, and the
    /// newline that ends a template goes.
    Stack,
}

/// Filters of Salt's serialisers (Salt: `salt.utils.jinja.SerializerExtension`).
const SERIALISERS: [&str; 15] = [
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

/// Jinja2's own filters, in order.
const OWN: [&str; 54] = [
    "abs",
    "attr",
    "batch",
    "capitalize",
    "center",
    "count",
    "d",
    "default",
    "dictsort",
    "e",
    "escape",
    "filesizeformat",
    "first",
    "float",
    "forceescape",
    "format",
    "groupby",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "pprint",
    "random",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "safe",
    "select",
    "selectattr",
    "slice",
    "sort",
    "string",
    "striptags",
    "sum",
    "title",
    "tojson",
    "trim",
    "truncate",
    "unique",
    "upper",
    "urlencode",
    "urlize",
    "wordcount",
    "wordwrap",
    "xmlattr",
];

impl Dialect {
    pub(crate) fn filter(self, name: &str) -> Option<Filter> {
        match self {
            Dialect::Salt => filters::find(name),
            Dialect::Stack
                if OWN.binary_search(&name).is_ok() || SERIALISERS.binary_search(&name).is_ok() =>
            {
                filters::replaced_by_salt(name).or_else(|| filters::find(name))
            }
            Dialect::Stack => None,
        }
    }

    pub(crate) fn filter_names(self) -> Vec<&'static str> {
        match self {
            Dialect::Salt => filters::names(),
            Dialect::Stack => OWN.into_iter().chain(SERIALISERS).collect(),
        }
    }

    pub(crate) fn test(self, name: &str) -> Option<Test> {
        let is_salt_s_alone = matches!(name, "list" | "match");
        tests::find(name).filter(|_| self == Dialect::Salt || !is_salt_s_alone)
    }

    /// Whether `{% break %}` and `{% continue %}` exist.
    pub(crate) fn has_loop_controls(self) -> bool {
        self == Dialect::Salt
    }

    /// Whether the reference hides Python's insides, too.
    pub(crate) fn has_sandbox(self) -> bool {
        self == Dialect::Salt
    }

    pub(crate) fn globals(self) -> Rc<Layer> {
        match self {
            Dialect::Salt => globals::builtins(),
            Dialect::Stack => globals::builtins_of_jinja(),
        }
    }
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn names_are_sorted_and_all_stand_for_something() {
        assert!(OWN.is_sorted() && SERIALISERS.is_sorted());
        for name in Dialect::Stack.filter_names() {
            assert!(Dialect::Stack.filter(name).is_some(), "{name}");
        }
        for dialect in [Dialect::Salt, Dialect::Stack] {
            assert!(dialect.test("defined").is_some() && dialect.filter("default").is_some());
            assert_eq!(dialect.test("match").is_some(), dialect == Dialect::Salt);
            assert_eq!(
                dialect.filter("regex_replace").is_some(),
                dialect == Dialect::Salt
            );
            assert_eq!(
                dialect.globals().get("odict").is_some(),
                dialect == Dialect::Salt
            );
        }
    }
}
