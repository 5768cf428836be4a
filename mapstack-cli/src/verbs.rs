//! The verbs: the name of each, its arguments, and what it does in a line.

use clap::{ArgMatches, Args, FromArgMatches};

use crate::commands::completions::Completions;
use crate::commands::config::ConfigArgs;
use crate::commands::convert::Convert;
use crate::commands::data::Data;
use crate::commands::diff::Diff;
use crate::commands::explain::Explain;
#[cfg(feature = "fetch")]
use crate::commands::fetch::Fetch;
use crate::commands::file::FileArgs;
use crate::commands::fleet::FleetArgs;
use crate::commands::highstate::Highstate;
use crate::commands::impact::Impact;
use crate::commands::init::Init;
use crate::commands::lint::Lint;
use crate::commands::map::Map;
use crate::commands::minions::Minions;
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

/// A verb as it is typed.
pub struct Verb {
    pub name: &'static str,
    /// The question that it answers.
    pub group: &'static str,
    pub about: &'static str,
    /// Add its arguments.
    arguments: fn(clap::Command) -> clap::Command,
    /// Read them.
    read: fn(ArgMatches) -> Result<Command, clap::Error>,
}

impl Verb {
    /// The verb with its arguments and its help.
    pub fn definition(&self) -> clap::Command {
        (self.arguments)(clap::Command::new(self.name))
            .about(self.about)
            .long_about(None)
    }
}

/// Make the type of what was requested, and the list of verbs, in the order of the help.
macro_rules! verbs {
    ($($group:literal {
        $($(#[$attribute:meta])* $name:literal => $variant:ident($arguments:ty), $about:literal;)*
    })*) => {
        /// The verb that was requested.
        #[derive(Debug)]
        pub enum Command {
            $($($(#[$attribute])* $variant($arguments),)*)*
        }

        pub const VERBS: &[Verb] = &[
            $($($(#[$attribute])* Verb {
                name: $name,
                group: $group,
                about: $about,
                arguments: <$arguments as Args>::augment_args,
                read: |mut matches| {
                    <$arguments as FromArgMatches>::from_arg_matches_mut(&mut matches).map(Command::$variant)
                },
            },)*)*
        ];
    };
}

verbs! {
    "What a minion gets" {
        "data" => Data(Data), "Print a formula's merged configuration for one minion (salt: map.data)";
        "map" => Map(Map), "Run a formula's map.jinja and print the variable it exports";
        "pillar" => Pillar(Box<Pillar>), "Print the pillar that a master gives, whole or of its stacks (salt: pillar.items)";
        "highstate" => Highstate(Box<Highstate>), "List the states of a minion as they run, or print them (salt: state.show_highstate)";
        "file" => File(Box<FileArgs>), "Print a file as states would write it, or list the files that a minion gets";
        "render" => Render(Render), "Render an sls file or a managed file: its text, or the data of an sls";
        "stack" => Stack(Stack), "Merge the layers of given source definitions and print them (salt: map.stack)";
        "tofs" => Tofs(Tofs), "Print the salt:// candidates of a file, best first (salt: map.tofs)";
        "fleet" => Fleet(Box<FleetArgs>), "Print the configuration of many minions at once, or which minions have which value";
    }
    "Why" {
        "explain" => Explain(Box<Explain>),
            "Show where each value comes from: the layer, the file and line, and what it overrode";
        "sources" => Sources(Sources), "List every path tried, in order: hit or miss, and the matcher that asked";
        "parse" => Parse(Parse), "Explain the parts of a source definition";
        "config" => Config(ConfigArgs),
            "Print the options of a master's or minion's configuration, and which file set them";
    }
    "What a change does" {
        "diff" => Diff(Box<Diff>), "Show what a change to the files does to every minion";
        "impact" => Impact(Box<Impact>), "Show which minions and formulas a file, a key or a fact affects";
        "watch" => Watch(Box<Watch>), "Show what each change to a file does, as it happens";
        "test" => Test(Box<Test>), "Compare formulas with their recorded expectations, or record them";
        "lint" => Lint(Box<Lint>), "Find mistakes in formulas and pillars: dead files, YAML traps, plain secrets";
        "convert" => Convert(Box<Convert>), "Turn a formula's map.jinja into layers of map.data, if all results stay the same";
    }
    "Setting up" {
        "init" => Init(Init), "Write a .mapstack.yaml with the roots and minions found in this checkout";
        "minions" => Minions(Minions), "List the minions of this checkout, and the grains that are assumed";
        "platforms" => Platforms(Platforms), "List the built-in platforms, or print one's minion";
        "schema" => Schema(Box<Schema>), "Make a JSON Schema of a formula's layers, or of pillars";
        #[cfg(feature = "fetch")]
        "fetch" => Fetch(Fetch), "Fetch the git repositories of gitfs into mirrors on this machine";
        "completions" => Completions(Completions), "Print a completion script for a shell";
    }
}

impl Command {
    /// Read what clap found for the verb of this name.
    ///
    /// # Errors
    /// The verb is unknown, or the arguments do not fit its type.
    pub fn read(name: &str, matches: ArgMatches) -> Result<Self, clap::Error> {
        let verb = VERBS.iter().find(|verb| verb.name == name);
        let verb =
            verb.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidSubcommand))?;
        (verb.read)(matches)
    }
}
