//! `mapstack map`.

use mapstack::MapOptions;

use super::{reported, session};
use crate::cli::Map;
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Map, reporter: &Reporter) -> Result<(), Failure> {
    let options = MapOptions {
        template: Some(args.template.clone()),
        variable: args.var.clone(),
    };
    let session = session(&args.input, reporter)?;
    let exported = reported(&session.run(), reporter, |run| {
        run.map(&args.formula, &options)
    })?;
    output::print(&exported.value, &args.output)
}
