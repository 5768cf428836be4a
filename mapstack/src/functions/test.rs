//! `test.*`: functions that prove a call works.

use mapstack_render::jinja::Vm;
use mapstack_render::{CallArgs, Obj, Result, required};

use super::Table;
use crate::engine::Run;

pub(super) const TABLE: Table = &[
    ("test.ping", ping),
    ("test.true", ping),
    ("test.false", |_, _, _| Ok(Obj::Bool(false))),
    ("test.echo", |_, _, args| {
        let [text] = args.bind("test.echo", ["text"])?;
        required(text, "test.echo", "text")
    }),
    ("test.nop", |_, _, _| Ok(Obj::None)),
];

fn ping(_: &Run<'_>, _: &Vm<'_>, _: CallArgs) -> Result<Obj> {
    Ok(Obj::Bool(true))
}
