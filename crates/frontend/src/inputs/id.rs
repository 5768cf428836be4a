//! Ids of minions on a command line.

use std::ffi::OsStr;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind as ErrorOf;
use clap::{Arg, Command};
use mapstack::sanitize;

use crate::inputs::InputError;

/// Reads the id of a command line.
#[derive(Debug, Clone)]
pub struct IdParser;

impl TypedValueParser for IdParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let refused = |why: String| {
            clap::Error::raw(ErrorOf::ValueValidation, format!("--id {why}\n")).with_cmd(command)
        };
        let id = value
            .to_str()
            .ok_or_else(|| refused("is not UTF-8, which every minion's id is".into()))?;
        check(id).map_err(refused)?;
        Ok(id.to_owned())
    }
}

/// That an id can be one at all: no look-up can then be meant as a path.
///
/// The rule is that of a master (`salt.utils.verify.valid_id`), which keeps a minion's key in a file of that
/// name: not empty, neither `.` nor `..`, and without `/`, `\` and NUL. Everything else is an id, taken literally:
/// `*` and `m[12]` as well.
fn check(id: &str) -> Result<(), String> {
    match matches!(id, "" | "." | "..") || id.contains(['/', '\\', '\0']) {
        true => Err(format!(
            "'{}' is not a valid minion id; a master accepts no id that is empty, `.` or `..`, or has a `/`, a `\\` \
             or a NUL in it",
            sanitize(&shortened(id))
        )),
        false => Ok(()),
    }
}

/// That the id of a configuration can be one.
pub(crate) fn check_option(id: &str) -> Result<(), InputError> {
    check(id).map_err(|why| InputError::Usage(format!("the option `id` is {why}")))
}

/// As much of a text from a command line as a message repeats.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}
