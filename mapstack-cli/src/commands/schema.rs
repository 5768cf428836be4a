//! `mapstack schema`.

use clap::Args;
use mapstack::minion::Minion;
use mapstack::{Diagnostic, ErrorKind};
use mapstack_frontend::inputs::flags::SiteFlags;
use mapstack_frontend::inputs::{LintTargets, WarningSink as _};
use mapstack_lint::Linter;
use mapstack_lint::pillar::PillarLinter;
use mapstack_report::values::{as_json, as_yaml};
use mapstack_report::words::count;

use crate::forms::Format;
use crate::memory;
use crate::output;
use mapstack_frontend::console::{Failure, Reporter, report_unread};

#[derive(Debug, Args)]
#[command(after_help = "\
The schema has the types of keys in defaults.yaml and the other layers, on all built-in platforms,
or in the pillars of the minions. It requires no key and allows other keys, so make it stricter by
hand. Keep it as schema.yaml or schema.json in the formula's folder or in a root of the pillar, and
`mapstack lint --schema` checks against it.

Examples:
  mapstack schema users --root examples/formulas > schema.json
  mapstack schema pillar --config master --config-kind master --minions minions > pillar/schema.json")]
pub struct Schema {
    /// The formula: its folder below a root [default: the only one there is]; `pillar` is the pillar
    pub formula: Option<String>,
    #[command(flatten)]
    pub site: SiteFlags,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = Format::Json, value_name = "FORMAT", help_heading = "Output")]
    pub format: Format,
}

pub fn run(args: &Schema, reporter: &Reporter) -> Result<(), Failure> {
    let formula = args.formula.as_ref();
    let linted = LintTargets::one(formula, &args.site, memory::limit, reporter)?;
    let mut unread = Vec::new();
    let mut minions = || -> Result<Vec<Minion>, Failure> {
        let found = linted.minions(&args.site, memory::limit, reporter)?;
        unread = found.broken;
        Ok(found.minions)
    };
    let schema = match &linted.pillars {
        Some(pillars) => {
            let minions = minions()?;
            let linter = PillarLinter::new(pillars.master(), pillars.engine());
            let (schema, broken) = linter.infer_schema(&minions)?;
            if broken > 0 {
                let all = count(minions.len(), "minion");
                let message =
                    format!("the pillars of {broken} of {all} have errors and were left out");
                let help = "`mapstack lint pillar` shows them";
                let warning = Diagnostic::warning(ErrorKind::Lint, message).with_help(help);
                reporter.warn_of(&[warning])?;
            }
            schema
        }
        None => {
            let linter = Linter::new(&linted.engine);
            let linter = linter.saltenv(args.site.files.saltenv.as_deref().unwrap_or("base"));
            let linter = match args.site.facts.name_minions() {
                true => linter.minions(minions()?),
                false => linter,
            };
            linter.infer_schema(&linted.formulas.concat())?
        }
    };
    output::write(&match args.format {
        Format::Json => as_json(&schema)?,
        Format::Yaml => as_yaml(&schema),
    })?;
    report_unread(&unread, reporter)
}
