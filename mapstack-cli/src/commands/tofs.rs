//! `mapstack tofs`.

use mapstack::TofsOptions;
use mapstack::value::Value;
use mapstack_inputs::Kwargs;

use super::{reported, session};
use crate::cli::Tofs;
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Tofs, reporter: &Reporter) -> Result<(), Failure> {
    let kwargs = Kwargs::new(&args.input)?
        .text("lookup", args.lookup.as_ref())
        .list("default_matchers", &args.default_matchers)
        .scalar("use_subpath", args.use_subpath.as_ref())?
        .scalar("include_query", args.include_query.as_ref())?
        .text("path_prefix", args.path_prefix.as_ref())
        .text("files_dir", args.files_dir.as_ref())
        .text("default_dir", args.default_dir.as_ref())
        .into_map();
    let options = TofsOptions::from_kwargs(&kwargs)?;
    let session = session(&args.input, reporter)?;
    let files: Value = args.files.iter().collect();
    let paths = reported(&session.run(), reporter, |run| {
        run.tofs(&args.formula, &files, &options)
    })?;
    output::print(&paths.into_iter().collect(), &args.output)
}
