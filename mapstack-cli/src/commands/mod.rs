//! One file per verb.

pub mod completions;
pub mod config;
pub mod convert;
pub mod data;
pub mod diff;
pub mod explain;
#[cfg(feature = "fetch")]
pub mod fetch;
pub mod file;
pub mod fleet;
pub mod highstate;
pub mod impact;
pub mod init;
pub mod lint;
pub mod map;
pub mod minions;
pub mod parse;
pub mod pillar;
pub mod platforms;
pub mod render;
pub mod schema;
pub mod sources;
pub mod stack;
pub mod test;
pub mod tofs;
pub mod version;
pub mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use mapstack_frontend::budget;
use mapstack_frontend::inputs::flags::SecretFlags;

use crate::cli::RequestedWork;
use crate::verbs::Command;
use mapstack_frontend::console::{Failure, Reporter};

/// Do what was requested.
pub fn run(
    asked: RequestedWork,
    secrets: &SecretFlags,
    reporter: &Reporter,
) -> Result<(), Failure> {
    match asked {
        RequestedWork::Version { verbose } => version::run(verbose),
        RequestedWork::Verb(mut command) => {
            let nothing_done = command.nothing_done();
            budget::begin(command.limits(), nothing_done);
            command.complete(secrets, reporter)?;
            budget::whole(run_verb(&command, reporter), nothing_done)
        }
    }
}

fn run_verb(command: &Command, reporter: &Reporter) -> Result<(), Failure> {
    match command {
        Command::Data(args) => data::run(args, reporter),
        Command::Stack(args) => stack::run(args, reporter),
        Command::Tofs(args) => tofs::run(args, reporter),
        Command::Map(args) => map::run(args, reporter),
        Command::Pillar(args) => pillar::run(args, reporter),
        Command::Render(args) => render::run(args, reporter),
        Command::Sources(args) => sources::run(args, reporter),
        Command::Explain(args) => explain::run(args, reporter),
        Command::Fleet(args) => fleet::run(args, reporter),
        Command::File(args) => file::run(args, reporter),
        Command::Highstate(args) => highstate::run(args, reporter),
        Command::Init(args) => init::run(args, reporter),
        Command::Minions(args) => minions::run(args, reporter),
        Command::Parse(args) => parse::run(args),
        Command::Platforms(args) => platforms::run(args),
        Command::Diff(args) => diff::run(args, reporter),
        Command::Impact(args) => impact::run(args, reporter),
        Command::Watch(args) => watch::run(args, reporter),
        Command::Test(args) => test::run(args, reporter),
        Command::Schema(args) => schema::run(args, reporter),
        Command::Lint(args) => lint::run(args, reporter),
        Command::Convert(args) => convert::run(args, reporter),
        Command::Config(args) => config::run(args, reporter),
        #[cfg(feature = "fetch")]
        Command::Fetch(args) => fetch::run(args, reporter),
        Command::Completions(args) => completions::run(args),
    }
}

/// End after a command line that says nothing that can be done, or asks for help.
pub fn refused(error: &clap::Error, mut args: impl Iterator<Item = OsString>) -> ExitCode {
    if error.use_stderr() && pillar::must_go_on(&mut args) {
        return pillar::refused(error);
    }
    error.exit()
}
