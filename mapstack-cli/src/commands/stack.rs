//! `mapstack stack`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use mapstack::StackOptions;
use mapstack::value::Value;
use mapstack_frontend::inputs::flags::{Input, Merging};
use mapstack_frontend::inputs::{Kwargs, data_file};

use crate::forms::Output;
use crate::output;
use crate::wiring::{reported, session};
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mapstack stack users defaults.yaml 'Y!G@os_family' C@users --root examples/formulas --minion examples/minions/web1.yaml")]
pub struct Stack {
    /// The formula: its folder below a root
    pub formula: String,
    /// Source definitions, later ones win
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<String>,
    /// Data to merge the layers onto (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub default_values: Option<PathBuf>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub merging: Merging,
    #[command(flatten)]
    pub output: Output,
}

pub fn run(args: &Stack, reporter: &Reporter) -> Result<(), Failure> {
    let default_values = args.default_values.as_deref().map(data_file).transpose()?;
    let kwargs = Kwargs::new(&args.input)?
        .merging(&args.merging)?
        .value("default_values", default_values)
        .into_map();
    let options = StackOptions::from_kwargs(&kwargs)?;
    let session = session(&args.input, reporter)?;
    let sources: Value = args.sources.iter().collect();
    let stack = reported(&session.run(), reporter, |run| {
        run.stack(&args.formula, &sources, &options)
    })?;
    output::print(&stack, &args.output)
}
