//! Salt's filters that read the machine they run on. Templates here cannot do that.

use super::Table;
use crate::error::{Error, ErrorKind, Result};
use crate::object::Obj;

pub(super) const TABLE: Table = &[
    ("dns_check", |_, _, _| refuse("dns_check", "resolves names")),
    ("file_hashsum", |_, _, _| refuse("file_hashsum", "reads a file")),
    ("get_uid", |_, _, _| refuse("get_uid", "reads the user database")),
    ("http_query", |_, _, _| refuse("http_query", "makes a request")),
    ("is_bin_file", |_, _, _| refuse("is_bin_file", "reads a file")),
    ("is_empty", |_, _, _| refuse("is_empty", "reads a file's size")),
    ("is_text_file", |_, _, _| refuse("is_text_file", "reads a file")),
    ("list_files", |_, _, _| refuse("list_files", "reads directories")),
    ("which", |_, _, _| refuse("which", "searches for programs")),
];

fn refuse(name: &str, does: &str) -> Result<Obj> {
    let message = format!("the filter '{name}' {does}; the sandbox does not let templates touch the host");
    Err(Error::new(ErrorKind::Security, message)
        .with_help("pass the value in as a grain, a pillar value or a variable"))
}
