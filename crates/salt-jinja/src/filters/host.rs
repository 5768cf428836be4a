//! Salt's filters that access the machine they run on. The host decides whether a template may use them.

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result};

use mapstack_jinja::Filters;
use mapstack_jinja::Vm;

/// A table of filters from their names and what they do to the machine.
macro_rules! table {
    ($($name:literal $does:literal,)*) => {
        &[$(($name, |vm, x, args| ask(vm, $name, $does, x, args)),)*]
    };
}

pub(super) const TABLE: Filters = table! {
    "dns_check" "resolves names",
    "file_hashsum" "reads a file",
    "get_uid" "reads the user database",
    "http_query" "makes a request",
    "is_bin_file" "reads a file",
    "is_empty" "reads a file's size",
    "is_text_file" "reads a file",
    "list_files" "reads directories",
    "which" "searches for programs",
};

/// True if a filter accesses the machine, so that the host has to provide it.
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
