//! `mapstack schema`.

use mapstack_inputs::Served;
use mapstack_lint::Linter;
use mapstack_report::values::{as_json, as_yaml};

use crate::cli::{Format, Schema};
use crate::commands::engine;
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Schema, reporter: &Reporter) -> Result<(), Failure> {
    let config = mapstack_inputs::configuration::read(&args.files, None, None, reporter)?;
    let served = Served::new(&args.files, config.as_ref(), None, reporter)?;
    let engine = engine(served.files, &args.functions)?;
    let saltenv = args.files.saltenv.as_deref().unwrap_or("base");
    let schema = Linter::new(&engine)
        .saltenv(saltenv)
        .infer_schema(&args.formula)?;
    output::write(&match args.format {
        Format::Json => as_json(&schema)?,
        Format::Yaml => as_yaml(&schema),
    })
}
