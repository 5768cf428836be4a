//! `mapstack map`.

use clap::Args;
use mapstack::MapOptions;
use mapstack_frontend::inputs::flags::Input;

use crate::forms::Output;
use crate::output;
use crate::wiring::{reported, session};
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Without --var it is mapdata; else the name that the formula's own templates import most often;
else the formula's name; else the only mapping.

Examples:
  mapstack map timesync --root examples/formulas --minion examples/minions/web1.yaml
  mapstack map timesync --root examples/formulas --minion examples/minions/web1.yaml --var platforms --get os:Rocky")]
pub struct Map {
    /// The formula: its folder below a root [default: the only one there is]
    pub formula: Option<String>,
    /// The template, below the formula's folder
    #[arg(long, value_name = "PATH", default_value = "map.jinja")]
    pub template: String,
    /// The variable to print
    #[arg(long, value_name = "NAME")]
    pub var: Option<String>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub output: Output,
}

pub fn run(args: &Map, reporter: &Reporter) -> Result<(), Failure> {
    let options = MapOptions {
        template: Some(args.template.clone()),
        variable: args.var.clone(),
    };
    let session = session(&args.input, reporter)?;
    let formula = session.formula(args.formula.as_ref())?;
    let exported = reported(&session.run(), reporter, |run| run.map(&formula, &options))?;
    output::print(&exported.value, &args.output)
}
