//! `log.*`: messages at warning level and above reach the person who runs the tool.

use mapstack_render::jinja::Host as _;
use mapstack_render::{CallArgs, Obj, Result, required};

use super::Table;
use crate::engine::Run;
use crate::host::RunHost;

pub(super) const TABLE: Table = &[
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

fn log(run: &Run<'_>, function: &str, level: &str, args: CallArgs) -> Result<Obj> {
    let [message] = args.bind(function, ["message"])?;
    let message = required(message, function, "message")?;
    // A message that cannot be written is no reason to stop.
    let text = match &message {
        Obj::Undefined(undefined) => undefined.message.to_string(),
        message => message.to_value()?.to_string(),
    };
    RunHost::new(run).log(level, &text);
    Ok(Obj::Bool(true))
}
