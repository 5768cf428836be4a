//! What can be typed: the verbs, and the flags that all have.
//!
//! The arguments of a verb stand in its file, and groups that verbs share in `mapstack_inputs`.

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use mapstack_inputs::flags::{Messages, SecretFlags, complete};
use mapstack_inputs::{InputError, brief};

use crate::commands::config::ConfigArgs;
use crate::commands::data::Data;
use crate::commands::diff::Diff;
use crate::commands::explain::Explain;
#[cfg(feature = "fetch")]
use crate::commands::fetch::Fetch;
use crate::commands::fleet::FleetArgs;
use crate::commands::impact::Impact;
use crate::commands::lint::Lint;
use crate::commands::map::Map;
use crate::commands::parse::Parse;
use crate::commands::pillar::Pillar;
use crate::commands::platforms::Platforms;
use crate::commands::render::Render;
use crate::commands::schema::Schema;
use crate::commands::sources::Sources;
use crate::commands::stack::Stack;
use crate::commands::test::Test;
use crate::commands::tofs::Tofs;
use crate::commands::watch::Watch;

/// Salt's layered configuration, without Salt.
///
/// Given the roots of a file server and one minion's facts, mapstack answers what
/// salt['map.data'](FORMULA) answers on that minion, and says which files it looked for.
#[allow(
    rustdoc::broken_intra_doc_links,
    reason = "the brackets are Python, not a link"
)]
#[derive(Debug, Parser)]
#[command(
    name = "mapstack",
    disable_version_flag = true,
    arg_required_else_help = true,
    override_usage = "mapstack [OPTIONS] <COMMAND>",
    after_help = EXAMPLES,
    max_term_width = 100
)]
pub struct Cli {
    #[command(flatten)]
    messages: Messages,
    /// Refuse Mako and Python templates where a wall around mapstack-python is missing (see --version -v)
    #[arg(long, global = true, help_heading = "Limits")]
    strict_sandbox: bool,
    /// Print the version
    #[arg(short = 'V', long)]
    version: bool,
    /// With --version: the commit, the features, the Salt it equals, and what walls Python templates have here
    #[arg(short, long, requires = "version")]
    verbose: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// A command line that says what is to be done.
pub struct Invocation {
    pub messages: Messages,
    pub strict_sandbox: bool,
    pub asked: Asked,
}

/// What is to be done.
pub enum Asked {
    /// Print the version, and with `verbose` what there is to say about `mapstack-python`.
    Version { verbose: bool },
    /// A verb.
    Verb(Box<Command>),
}

impl Cli {
    /// Read the command line.
    ///
    /// # Errors
    /// It says nothing that can be done, or asks for help.
    pub fn read() -> Result<Invocation, clap::Error> {
        let mut command = brief(Cli::command());
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        let cli = Cli::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
        let asked = match cli.command {
            _ if cli.version => Asked::Version {
                verbose: cli.verbose,
            },
            Some(command) => Asked::Verb(Box::new(command)),
            None => {
                let message = "a verb is missing, such as `data`; `mapstack --help` lists them";
                return Err(Cli::command().error(ErrorKind::MissingSubcommand, message));
            }
        };
        Ok(Invocation {
            messages: cli.messages,
            strict_sandbox: cli.strict_sandbox,
            asked,
        })
    }
}

const EXAMPLES: &str = "\
Examples:
  mapstack data openssh --root /srv/salt --minion web1.yaml
      the openssh formula's configuration for one minion
  mapstack data openssh --root /srv/salt --minion web1.yaml --set grains.os=Ubuntu --get sshd_config
      the same minion if it ran Ubuntu, and only one key
  salt-call --local grains.items --out=json | mapstack data openssh --root /srv/salt --grains -
      the machine this runs on
  mapstack data openssh --root /srv/salt --platform rockylinux-9
      a machine there is none of: `mapstack platforms` lists the platforms
  mapstack data openssh --config /etc/salt/master --id web1
      on a master: its files, and a minion from its cache
  mapstack sources openssh --root /srv/salt --minion web1.yaml
      every file that was looked for, in order, and who asked for it
  mapstack parse 'Y!G@os_family|I@roles'
      how a source definition is understood

Exit status: 0 done, 1 the data or templates are wrong, 2 wrong usage.";

impl Command {
    /// Take what flags do not say from the project around the directory at hand.
    pub fn complete(&mut self, secrets: &SecretFlags) -> Result<(), InputError> {
        let (files, facts, functions) = match self {
            Command::Data(args) => args.input.parts(),
            Command::Stack(args) => args.input.parts(),
            Command::Tofs(args) => args.input.parts(),
            Command::Map(args) => args.input.parts(),
            Command::Render(args) => args.input.parts(),
            Command::Sources(args) => args.input.parts(),
            Command::Explain(args) => args.input.parts(),
            Command::Fleet(args) if args.verb.is_none() => args.input.parts(),
            Command::Diff(args) => args.input.parts(),
            Command::Impact(args) => args.input.parts(),
            Command::Watch(args) => args.input.parts(),
            Command::Test(args) => args.input.parts(),
            Command::Lint(args) => args.site.parts(),
            Command::Schema(args) => args.site.parts(),
            Command::Pillar(args) if args.stacks.0.is_empty() => args.site.parts(),
            // Stacks that are named are compiled alone, wherever the command runs.
            Command::Pillar(args) => {
                args.site.functions.policy = secrets.policy();
                args.site.functions.find_mine(&args.site.facts);
                return Ok(());
            }
            _ => return Ok(()),
        };
        functions.policy = secrets.policy();
        complete(files, facts, functions)
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print a formula's merged configuration for one minion (salt: map.data)
    Data(Data),
    /// Print what given source definitions amount to (salt: map.stack)
    Stack(Stack),
    /// Print the salt:// candidates of a file, best first (salt: map.tofs)
    Tofs(Tofs),
    /// Run a formula's map.jinja and print the variable it exports
    Map(Map),
    /// Print the pillar that a master gives, whole or of its stacks (salt: pillar.items)
    Pillar(Box<Pillar>),
    /// Render an sls file or a managed file: its text, or the data of an sls
    Render(Render),
    /// List every path tried, in order: hit or miss, and the matcher that asked
    Sources(Sources),
    /// Show where each value comes from: the layer, the file and line, and what it overrode
    Explain(Box<Explain>),
    /// Print the configuration of many minions at once, or who has which value of it
    Fleet(Box<FleetArgs>),
    /// Show what a change to the files does to every minion
    Diff(Box<Diff>),
    /// Show which minions and formulas a file, a key or a fact affects
    Impact(Box<Impact>),
    /// Show what each change to a file does, as it happens
    Watch(Box<Watch>),
    /// Compare formulas with their recorded expectations, or record them
    Test(Box<Test>),
    /// Explain how a source definition is understood
    Parse(Parse),
    /// Find mistakes in formulas and pillars: dead files, YAML traps, plain secrets
    Lint(Box<Lint>),
    /// Make a JSON Schema of a formula's layers, or of pillars
    Schema(Box<Schema>),
    /// List the built-in platforms, or print one's minion
    Platforms(Platforms),
    /// Print the options of a master's or minion's configuration, and which file set them
    Config(ConfigArgs),
    /// Fetch the git repositories of gitfs into mirrors on this machine
    #[cfg(feature = "fetch")]
    Fetch(Fetch),
    /// Print a completion script for a shell
    #[command(after_help = "\
Example:
  mapstack completions bash > ~/.local/share/bash-completion/completions/mapstack")]
    Completions {
        /// The shell
        shell: Shell,
    },
}
