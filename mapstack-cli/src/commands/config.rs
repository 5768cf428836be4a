//! `mapstack config`.

use clap::{Args, ValueEnum};
use mapstack::secrets::Secrets;
use mapstack_frontend::inputs::flags::FileFlags;
use mapstack_frontend::inputs::{IdParser, flag_options};
use mapstack_report::config::{OptionsInForce, as_value, rows, text};
use mapstack_report::values::as_yaml;

use crate::output;
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack config --config /etc/salt/master
      the options that the master's files set, and where
  mapstack config file_roots cachedir --config /etc/salt/master
      two options, whoever sets them
  mapstack config --config /etc/salt/minion --all -o json
      all options that the minion has, for a program")]
pub struct ConfigArgs {
    /// Options [default: those that files or flags set]
    #[arg(value_name = "OPTION")]
    pub options: Vec<String>,
    /// All options, also those that no file sets
    #[arg(long, conflicts_with = "options")]
    pub all: bool,
    /// The id of the minion whose configuration it is
    #[arg(long, value_parser = IdParser)]
    pub id: Option<String>,
    #[command(flatten)]
    pub files: FileFlags,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = ConfigFormat::Text, value_name = "FORMAT")]
    pub format: ConfigFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfigFormat {
    /// For people
    Text,
    /// For people and programs, as YAML
    Yaml,
    /// For programs, as JSON
    Json,
}

pub fn run(args: &ConfigArgs, reporter: &Reporter) -> Result<(), Failure> {
    let Some(config) = mapstack_frontend::inputs::configuration::read(
        &args.files,
        args.id.as_deref(),
        None,
        reporter,
    )?
    else {
        let message =
            "no configuration given: pass --config FILE, such as --config /etc/salt/master";
        return Err(Failure::Usage(message.into()));
    };
    // Values in force are compared between machines, so they have no digests.
    let policy = reporter.secrets().policy().clone();
    let secrets = Secrets::without_digests().under(policy);
    let secrets = secrets.shown_anyway(reporter.shows_secrets());
    let flags = flag_options(&args.files);
    let rows = rows(&args.options, args.all, flags, &config, &secrets)?;
    match args.format {
        ConfigFormat::Text => output::write_listing(&text(&rows)),
        ConfigFormat::Yaml => output::write(&as_yaml(&as_value(&rows))),
        ConfigFormat::Json => output::write_json(&OptionsInForce::from(&*rows)),
    }
}
