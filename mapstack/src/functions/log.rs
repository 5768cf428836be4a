//! `log.*`: messages at warning level and above reach the person who runs the tool.

use mapstack_render::jinja::Host as _;
use mapstack_render::jinja::Vm;
use mapstack_render::{CallArgs, Obj, Result, required};

use super::Table;
use crate::engine::Run;
use crate::host::RunHost;

pub(super) const TABLE: Table = &[
    ("log.debug", |run, _, args| log(run, "debug", args)),
    ("log.info", |run, _, args| log(run, "info", args)),
    ("log.warning", |run, _, args| log(run, "warning", args)),
    ("log.error", |run, _, args| log(run, "error", args)),
    ("log.critical", |run, _, args| log(run, "critical", args)),
    ("log.exception", |run, _, args| log(run, "error", args)),
    ("test.ping", ping),
    ("test.true", ping),
    ("test.false", |_, _, _| Ok(Obj::Bool(false))),
    ("test.echo", |_, _, args| {
        let [text] = args.bind("test.echo", ["text"])?;
        required(text, "test.echo", "text")
    }),
    ("test.nop", |_, _, _| Ok(Obj::None)),
];

fn log(run: &Run<'_>, level: &str, args: CallArgs) -> Result<Obj> {
    let [message] = args.bind("log", ["message"])?;
    let message = required(message, "log", "message")?.to_value()?;
    RunHost(run).log(level, &message.to_string());
    Ok(Obj::Bool(true))
}

fn ping(_: &Run<'_>, _: &Vm<'_>, _: CallArgs) -> Result<Obj> {
    Ok(Obj::Bool(true))
}
