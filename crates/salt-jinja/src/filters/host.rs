//! Salt's filters that look at the machine they run on. Whether a template may is the host's to say.

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result};

use mapstack_jinja::Vm;
use mapstack_jinja::filters::Table;

pub(super) const TABLE: Table = &[
    ("dns_check", |vm, x, args| {
        ask(vm, "dns_check", "resolves names", x, args)
    }),
    ("file_hashsum", |vm, x, args| {
        ask(vm, "file_hashsum", "reads a file", x, args)
    }),
    ("get_uid", |vm, x, args| {
        ask(vm, "get_uid", "reads the user database", x, args)
    }),
    ("http_query", |vm, x, args| {
        ask(vm, "http_query", "makes a request", x, args)
    }),
    ("is_bin_file", |vm, x, args| {
        ask(vm, "is_bin_file", "reads a file", x, args)
    }),
    ("is_empty", |vm, x, args| {
        ask(vm, "is_empty", "reads a file's size", x, args)
    }),
    ("is_text_file", |vm, x, args| {
        ask(vm, "is_text_file", "reads a file", x, args)
    }),
    ("list_files", |vm, x, args| {
        ask(vm, "list_files", "reads directories", x, args)
    }),
    ("which", |vm, x, args| {
        ask(vm, "which", "searches for programs", x, args)
    }),
];

/// Whether a filter looks at the machine, so that it needs a function from outside.
///
/// ```
/// use mapstack_salt_jinja::is_host_filter;
/// assert!(is_host_filter("which") && !is_host_filter("upper"));
/// ```
#[must_use]
pub fn is_host_filter(name: &str) -> bool {
    TABLE.iter().any(|(known, _)| *known == name)
}

fn ask(vm: &Vm<'_>, name: &str, does: &str, input: Obj, args: CallArgs) -> Result<Obj> {
    let message =
        format!("the filter '{name}' {does}; the sandbox does not let templates touch the host");
    let refusal = Error::new(ErrorKind::Security, message)
        .with_help("pass the value in as a grain, a pillar value or a variable");
    vm.host()
        .host_filter(vm, name, args.with_first(input), refusal)
}
