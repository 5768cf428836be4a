//! Salt's tests: the names after `is` besides Jinja2's own.

use mapstack_jinja::ast::CompareOp;
use mapstack_jinja::call::plain;
use mapstack_jinja::{Tests, Vm};
use mapstack_pyobject::{CallArgs, Obj, Result, compare};

use crate::filters::regex;

pub(crate) const TABLE: Tests = &[
    ("equalto", equal_to),
    ("list", |_, x, args| {
        let is_list = matches!(x, Obj::List(_));
        plain("is_list", "value").alone(args).map(|()| is_list)
    }),
    ("match", matches_regex),
];

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
