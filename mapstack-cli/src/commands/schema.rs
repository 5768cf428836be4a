//! `mapstack schema`.

use clap::Args;
use mapstack_inputs::Served;
use mapstack_inputs::flags::{Files, Functions};
use mapstack_lint::Linter;
use mapstack_report::values::{as_json, as_yaml};

use crate::cli::Format;
use crate::commands::engine;
use crate::output;
use mapstack_console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
The types are those that keys have in defaults.yaml and in the other layers, on all built-in
platforms. Nothing is required and other keys may come: make it stricter by hand, keep it as
schema.yaml or schema.json in the formula's folder, and `mapstack lint --schema` checks against it.

Example:
  mapstack schema users --root examples/formulas > schema.json")]
pub struct Schema {
    /// The formula: its folder below a root [default: the only one there is]
    pub formula: Option<String>,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub functions: Functions,
    /// How to print
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = Format::Json, value_name = "FORMAT", help_heading = "Output")]
    pub format: Format,
}

pub fn run(args: &Schema, reporter: &Reporter) -> Result<(), Failure> {
    let config = mapstack_inputs::configuration::read(&args.files, None, None, reporter)?;
    let served = Served::new(&args.files, config.as_ref(), None, reporter)?;
    let engine = engine(served.files, &args.functions)?;
    let saltenv = args.files.saltenv.as_deref().unwrap_or("base");
    let formula = mapstack_inputs::formulas::one(&engine, saltenv, args.formula.as_ref())?;
    let schema = Linter::new(&engine)
        .saltenv(saltenv)
        .infer_schema(&formula)?;
    output::write(&match args.format {
        Format::Json => as_json(&schema)?,
        Format::Yaml => as_yaml(&schema),
    })
}
