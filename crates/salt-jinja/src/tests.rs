//! Salt's tests: what may stand after `is` beside Jinja2's own.

use mapstack_jinja::ast::CompareOp;
use mapstack_jinja::call::plain;
use mapstack_jinja::{Test, Vm};
use mapstack_pyobject::{CallArgs, Obj, Result, compare};

use crate::filters::regex;

/// In order; those of Jinja2 that are here, too, are replaced.
const TABLE: &[(&str, Test)] = &[
    ("equalto", equal_to),
    ("list", |_, x, args| {
        let is_list = matches!(x, Obj::List(_));
        plain("is_list", "value").alone(args).map(|()| is_list)
    }),
    ("match", matches_regex),
];

/// The test of a name.
pub(crate) fn find(name: &str) -> Option<Test> {
    let own = TABLE.binary_search_by_key(&name, |(known, _)| known);
    own.map_or_else(
        |_| mapstack_jinja::tests::find(name),
        |at| Some(TABLE[at].1),
    )
}

/// Every name there is.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names = mapstack_jinja::tests::names();
    names.extend(TABLE.iter().map(|(name, _)| *name));
    names.sort_unstable();
    names.dedup();
    names
}

/// Salt's own `equalto`.
fn equal_to(vm: &Vm<'_>, x: &Obj, args: CallArgs) -> Result<bool> {
    let [other] = plain("test_equalto", "value").bind(args, 1, ["other"])?;
    compare(vm, CompareOp::Eq, x, &other.unwrap_or_default())
}

/// Salt's `match`: a regular expression that fits the beginning.
fn matches_regex(vm: &Vm<'_>, x: &Obj, args: CallArgs) -> Result<bool> {
    let names = ["rgx", "ignorecase", "multiline"];
    let [pattern, ignore_case, multi_line] = plain("test_match", "txt").bind(args, 1, names)?;
    let pattern = regex::compile(&pattern.unwrap_or_default(), ignore_case, multi_line)?;
    let text = regex::subject(x)?;
    Ok(pattern.at_start(vm, &text)?.is_some())
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(TABLE.is_sorted_by(|a, b| a.0 < b.0));
    }
}
