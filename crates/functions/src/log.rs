//! `log.*`: messages at warning level and above reach the person who runs the tool.

use mapstack_diagnostic::{Diagnostic, ErrorKind};
use mapstack_pyobject::{CallArgs, Obj, Result, required};

use super::ModuleTable;
use crate::Context;

pub(super) const TABLE: ModuleTable = &[
    ("log.debug", |run, _, args| {
        log(run, "log.debug", "debug", args)
    }),
    ("log.info", |run, _, args| {
        log(run, "log.info", "info", args)
    }),
    ("log.warning", |run, _, args| {
        log(run, "log.warning", "warning", args)
    }),
    ("log.error", |run, _, args| {
        log(run, "log.error", "error", args)
    }),
    ("log.critical", |run, _, args| {
        log(run, "log.critical", "critical", args)
    }),
    ("log.exception", |run, _, args| {
        log(run, "log.exception", "error", args)
    }),
];

fn log(run: &dyn Context, function: &str, level: &str, args: CallArgs) -> Result<Obj> {
    let [message] = args.bind(function, ["message"])?;
    let message = required(message, function, "message")?;
    // A message that cannot be written must not fail the template.
    let text = match &message {
        Obj::Undefined(undefined) => undefined.message.to_string(),
        message => message.to_value()?.to_string(),
    };
    if matches!(level, "warning" | "error" | "critical") {
        run.warn(Diagnostic::warning(ErrorKind::Template, text));
    }
    Ok(Obj::Bool(true))
}
