//! `mapstack tofs`.

use clap::Args;
use mapstack::TofsOptions;
use mapstack::value::Value;
use mapstack_frontend::inputs::Kwargs;
use mapstack_frontend::inputs::flags::Input;

use crate::forms::Output;
use crate::output;
use crate::wiring::{reported, session};
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mapstack tofs users etc/motd --root examples/formulas --minion examples/minions/web1.yaml")]
pub struct Tofs {
    /// The formula: its folder below a root, or the tpldir of a template in it
    pub formula: String,
    /// Files to find, best first
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// A key of tofs:source_files with more file names
    #[arg(long)]
    pub lookup: Option<String>,
    /// Matchers where the configuration names none (repeatable)
    #[arg(long, value_name = "MATCHER")]
    pub default_matchers: Vec<String>,
    /// Look below each parent of the formula's subfolder
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub use_subpath: Option<String>,
    /// Keep the matcher's query in the path, or not
    #[arg(long, value_name = "BOOL")]
    pub include_query: Option<String>,
    /// The prefix of the paths
    #[arg(long, value_name = "PATH")]
    pub path_prefix: Option<String>,
    /// The folder of the files
    #[arg(long, value_name = "DIR")]
    pub files_dir: Option<String>,
    /// The folder for every minion
    #[arg(long, value_name = "DIR")]
    pub default_dir: Option<String>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub output: Output,
}

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
