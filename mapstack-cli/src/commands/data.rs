//! `mapstack data`.

use mapstack::DataOptions;

use super::reported;
use crate::cli::Data;
use crate::inputs::{Kwargs, Session};
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Data, reporter: &Reporter) -> Result<(), Failure> {
    let kwargs = Kwargs::new(&args.input)?
        .layering(&args.layering)?
        .into_map();
    let options = DataOptions::from_kwargs(&kwargs)?;
    let session = Session::new(&args.input, reporter)?;
    let mapdata = reported(&session.run(), reporter, |run| {
        run.data(&args.formula, &options)
    })?;
    output::print(&mapdata, &args.output)
}
