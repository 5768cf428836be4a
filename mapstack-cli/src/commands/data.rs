//! `mapstack data`.

use mapstack::DataOptions;
use mapstack_inputs::Kwargs;

use super::{reported, session};
use crate::cli::Data;
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Data, reporter: &Reporter) -> Result<(), Failure> {
    let kwargs = Kwargs::new(&args.input)?
        .layering(&args.layering)?
        .into_map();
    let options = DataOptions::from_kwargs(&kwargs)?;
    let session = session(&args.input, reporter)?;
    let mapdata = reported(&session.run(), reporter, |run| {
        run.data(&args.formula, &options)
    })?;
    output::print(&mapdata, &args.output)
}
