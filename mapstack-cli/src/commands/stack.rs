//! `mapstack stack`.

use mapstack::StackOptions;
use mapstack::value::Value;
use mapstack_inputs::{Kwargs, data_file};

use super::{reported, session};
use crate::cli::Stack;
use crate::output;
use crate::report::{Failure, Reporter};

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
