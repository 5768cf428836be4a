//! `mapstack data`.

use clap::Args;
use mapstack_frontend::inputs::Kwargs;
use mapstack_frontend::inputs::flags::{Input, Layering};

use crate::forms::Output;
use crate::output;
use crate::wiring::{reported, session};
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mapstack data users --root examples/site --root examples/formulas --minion examples/minions/web1.yaml")]
pub struct Data {
    /// The formula: its folder below a root, or the tpldir of a template in it [default: the only one there is]
    pub formula: Option<String>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
    #[command(flatten)]
    pub output: Output,
}

pub fn run(args: &Data, reporter: &Reporter) -> Result<(), Failure> {
    let options = Kwargs::data_options(&args.input, &args.layering)?;
    let elsewhere = args.layering.is_elsewhere() || args.input.kwargs.is_some();
    let session = session(&args.input, reporter)?;
    let formula = session.existing_formula(args.formula.as_ref(), elsewhere)?;
    session.warn_of_unserved(&formula, reporter)?;
    let run = session.run();
    let mapdata = reported(&run, reporter, |run| run.data(&formula, &options))?;
    session.note_other_map(&formula, &mapdata, &run, reporter);
    output::print(&mapdata, &args.output)
}
