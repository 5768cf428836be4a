//! `mapstack schema`.

use mapstack::Engine;
use mapstack_lint::Linter;

use crate::cli::{Format, Schema};
use crate::configuration;
use crate::functions;
use crate::inputs;
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Schema, reporter: &Reporter) -> Result<(), Failure> {
    let config = configuration::read(&args.files, None, None, reporter)?;
    let served = inputs::served(&args.files, config.as_ref(), None, reporter)?;
    let engine = functions::add(Engine::new(served.files), &args.functions)?;
    let saltenv = args.files.saltenv.as_deref().unwrap_or("base");
    let schema = Linter::new(&engine)
        .saltenv(saltenv)
        .infer_schema(&args.formula)?;
    output::write(&match args.format {
        Format::Json => output::as_json(&schema)?,
        Format::Yaml => output::as_yaml(&schema),
    })
}
