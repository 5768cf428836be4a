//! What can be typed.

use std::path::PathBuf;

use clap::{Args, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use mapstack_inputs::IdParser;
use mapstack_inputs::flags::{
    ConfigKind, Facts, Files, Functions, Input, Layering, Merging, SecretFlags, Target, WorkFlags,
};
use mapstack_pillar::StackKind;

/// Salt's layered configuration, without Salt.
///
/// Given the roots of a file server and one minion's facts, mapstack answers what
/// salt['map.data'](FORMULA) answers on that minion, and says which files it looked for.
#[derive(Debug, Parser)]
#[command(name = "mapstack", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub messages: Messages,
    #[command(subcommand)]
    pub command: Command,
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

/// Where messages go and how they look.
#[derive(Debug, Args)]
pub struct Messages {
    /// Colour messages: auto, always or never
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = "Messages")]
    pub color: Color,
    /// Do not print warnings
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "strict",
        help_heading = "Messages"
    )]
    pub quiet: bool,
    /// Treat warnings as errors
    #[arg(long, global = true, help_heading = "Messages")]
    pub strict: bool,
    /// Print secrets as they are: in messages, and where values are kept back
    #[arg(long, global = true, help_heading = "Messages")]
    pub show_secrets: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
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
    /// Print what a master's stacked external pillars give (salt: stack, makostack)
    Pillar(Box<Pillar>),
    /// Render an sls file or a managed file: its text, or the data of an sls
    Render(Render),
    /// List every path tried, in order: hit or miss, and the matcher that asked
    Sources(Sources),
    /// Tell where each value comes from: the layer, the file and line, and what it overrode
    Explain(Box<Explain>),
    /// Print the configuration of many minions at once, or who has which value of it
    Fleet(Box<Fleet>),
    /// Tell what a change of the files does to every minion
    Diff(Box<Diff>),
    /// Tell which minions and formulas a file, a key or a fact reaches
    Impact(Box<Impact>),
    /// Tell what each change of a file does, as it happens
    Watch(Box<Watch>),
    /// Compare formulas with their recorded expectations, or record them
    Test(Box<Test>),
    /// Explain how a source definition is understood
    Parse(Parse),
    /// Find mistakes in formulas: dead files, YAML traps, overrides without effect
    Lint(Box<Lint>),
    /// Make a JSON Schema of a formula's layers
    Schema(Schema),
    /// List the built-in platforms, or print one's minion
    Platforms(Platforms),
    /// Print the options of a master's or minion's configuration, and which file set them
    Config(Config),
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

#[cfg(feature = "fetch")]
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack fetch --config /etc/salt/master
  mapstack fetch https://github.com/saltstack-formulas/users-formula.git")]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub struct Fetch {
    /// Repositories to fetch, as https:// or ssh:// URLs, or user@host:path
    #[arg(value_name = "URL", group = "what")]
    pub urls: Vec<String>,
    /// A master's or a minion's configuration, whose gitfs_remotes are fetched
    #[arg(long, value_name = "FILE|DIR", value_hint = ValueHint::AnyPath, group = "what")]
    pub config: Option<PathBuf>,
    /// Whose configuration it is, if the file's name does not say
    #[arg(long, value_enum, value_name = "KIND", requires = "config")]
    pub config_kind: Option<ConfigKind>,
    /// The directory with the mirrors; without it, mapstack/git in the user's cache
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub mirrors: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mapstack data users --root examples/site --root examples/formulas --minion examples/minions/web1.yaml")]
pub struct Data {
    /// The formula: its folder below a root, or the tpldir of a template in it
    pub formula: String,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack explain users shell --root examples/site --root examples/formulas --minion examples/minions/web1.yaml
      who set one value, why that file counts, and what it overrode
  mapstack explain users --root examples/site --root examples/formulas --minion examples/minions/web1.yaml
      the whole configuration, each line with its origin
  mapstack explain users --why-not examples/formulas/users/parameters/os_family/RedHat.yaml \\
    --root examples/site --root examples/formulas --minion examples/minions/web1.yaml
      why a file has no part in it

Secrets: values of the pillar, and those under keys such as *password*, are printed as a digest that
tells them apart within one run.")]
pub struct Explain {
    /// The formula: its folder below a root, or the tpldir of a template in it
    pub formula: String,
    /// The key to explain, as in users:tom:shell; numbers pick items of lists
    pub key: Option<String>,
    /// Tell why a parameter file has no part in the configuration
    #[arg(long, value_name = "PATH", conflicts_with = "key", value_hint = ValueHint::FilePath)]
    pub why_not: Option<PathBuf>,
    /// text, blame (the data with an origin on each line) or json
    #[arg(long, short = 'o', value_enum, default_value_t = ExplainFormat::Text, value_name = "FORMAT")]
    pub format: ExplainFormat,
    /// Write one HTML page with all values, their histories and the lines they come from
    #[cfg(feature = "html")]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "why_not"], value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub secrets: SecretFlags,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    Text,
    Blame,
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack fleet users timesync --root examples/formulas --minions examples/pillars/minions
      a line of JSON for every minion and formula
  mapstack fleet users --root examples/formulas --platform all --get sudo:group --select \"grains.kernel == 'Linux'\"
      a table of one value, for the built-in platforms that run Linux
  mapstack fleet users --root examples/formulas --platform all --count sudo:group
      how many of the platforms have which value
  mapstack fleet users --config /etc/salt/master --directory out --shard 1/4
      a file for each of the minions in the master's cache that belong to the first of four parts

Minions come sorted by their ids. One that fails keeps no other from being done: failures are listed at
the end, and the exit status is 1. A part of --shard is told from the id alone, so a minion stays in its part.")]
pub struct Fleet {
    /// Formulas: their folders below a root
    #[arg(required = true, value_name = "FORMULA")]
    pub formulas: Vec<String>,
    #[command(flatten)]
    pub work: WorkFlags,
    /// About how much to remember of minions done, for others that have the same facts; 0 shares nothing
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32))]
    pub memory: u32,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
    /// How to print [default: jsonl; yaml with --directory, text with --get and --count]
    #[arg(
        short = 'o',
        long = "output",
        value_enum,
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    pub format: Option<FleetFormat>,
    /// Write a file ID.yaml or ID.json for each minion into this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["get", "count"], help_heading = "Output")]
    pub directory: Option<PathBuf>,
    /// Print a table of the values under a key, with : between steps (repeatable)
    #[arg(
        long,
        value_name = "KEY",
        conflicts_with = "count",
        help_heading = "Output"
    )]
    pub get: Vec<String>,
    /// Print how many minions have which value under a key, and some of them
    #[arg(long, value_name = "KEY", help_heading = "Output")]
    pub count: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A state of the files is a revision of the git repository that the roots are in (read without a
checkout), a directory with another copy of them, or `worktree`: the files as they are now.

Examples:
  mapstack diff --root salt --minions minions/
      what the changes that are not committed yet do to the fleet
  mapstack diff --root salt --from main --to HEAD --format markdown
      what a branch does, on every built-in platform, as a comment for its pull request
  mapstack diff users --from ../old/salt --to salt --config /etc/salt/master
      two directories, on the minions in a master's cache

Exit status: 0 no change, 1 changes, 2 the comparison failed, at least for some minions.")]
pub struct Diff {
    /// Formulas: their folders below a root [default: all that have parameter files]
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    /// The state before: a revision, a directory, or worktree
    #[arg(long, value_name = "REV|DIR", default_value = "HEAD")]
    pub from: String,
    /// The state after: a revision, a directory, or worktree
    #[arg(long, value_name = "REV|DIR", default_value = "worktree")]
    pub to: String,
    /// Leave changes at and below a key out, as in users:*:shell (repeatable)
    #[arg(long, value_name = "KEY")]
    pub ignore: Vec<String>,
    /// How to print
    #[arg(short = 'o', long, visible_alias = "output", value_enum, default_value_t = DiffFormat::Text, value_name = "FORMAT")]
    pub format: DiffFormat,
    #[command(flatten)]
    pub work: WorkFlags,
    #[command(flatten)]
    pub secrets: SecretFlags,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack impact salt/users/parameters/os_family/Debian.yaml --root salt --minions minions/
      the minions whose configuration is made of a file, a template that is loaded included
  mapstack impact users:default_shell --root salt --minions minions/
      who has which value under a key of the formula users, and which file sets it
  mapstack impact grains:os_family --root salt --minions minions/
      the formulas and minions that a grain decides about; pillar:KEY and opts:KEY do the same")]
pub struct Impact {
    /// A file on disk or as salt://PATH; FORMULA:KEY; or grains:KEY, pillar:KEY, opts:KEY
    #[arg(value_name = "FILE|FORMULA:KEY|FACT", value_hint = ValueHint::AnyPath)]
    pub what: String,
    /// Formulas that are looked at (repeatable) [default: all that have parameter files]
    #[arg(long, value_name = "FORMULA")]
    pub formula: Vec<String>,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Listing::Text, value_name = "FORMAT")]
    pub format: Listing,
    #[command(flatten)]
    pub target: Target,
    /// Only minions of which an expression of Jinja over grains, pillar, opts and id is true
    #[arg(long, value_name = "EXPRESSION", help_heading = "Minions")]
    pub select: Option<String>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mapstack watch --root salt --minions minions/
      until Ctrl-C: after each change below the roots, what is different on which minions")]
pub struct Watch {
    /// Formulas: their folders below a root [default: all that have parameter files]
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    #[command(flatten)]
    pub target: Target,
    /// Only minions of which an expression of Jinja over grains, pillar, opts and id is true
    #[arg(long, value_name = "EXPRESSION", help_heading = "Minions")]
    pub select: Option<String>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// For a comment on a pull request
    Markdown,
    /// One page for a browser
    #[cfg(feature = "html")]
    Html,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Expectations of a root R are looked for in two forms, below R and beside it (below R/..):
  test/integration/SUITE/files/_mapdata/PLATFORM.yaml   as formulas of the Salt project keep them; the
                                                        suite's pillar comes from kitchen.yml
  tests/mapstack/FORMULA/NAME.yaml                      what `mapstack data` prints for a platform or minion

Examples:
  mapstack test --root .
      all formulas that have expectations, in the repository of one
  mapstack test users timesync --root examples/formulas
      two formulas
  mapstack test users --root examples/formulas --expectations tests --update --platform debian-12 --platform freebsd-14
      record what two platforms get now, in tests/users/
  mapstack test --root . --format junit > report.xml
      for a server that runs tests

Exit status: 0 all as expected, 1 something differs or fails, 2 wrong usage, or nothing was compared.")]
pub struct Test {
    /// Formulas: their folders below a root [default: all that have expectations]
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    /// A directory with expectations, in place of the usual ones: FORMULA/NAME.yaml, or a folder _mapdata (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub expectations: Vec<PathBuf>,
    /// Write what differs anew, and what is not there yet for formulas and minions that are named
    #[arg(long)]
    pub update: bool,
    /// What is expected: data (the layers) or map (what map.jinja exports) [default: map if there is a map.jinja]
    #[arg(long, value_enum, value_name = "RESULT")]
    pub of: Option<Expected>,
    /// The variable of map.jinja [default: as in `mapstack map`]
    #[arg(long, value_name = "NAME")]
    pub var: Option<String>,
    /// Leave a key and what is below it out, as in users:*:shell (repeatable)
    #[arg(long, value_name = "KEY")]
    pub ignore: Vec<String>,
    /// How to print
    #[arg(short = 'o', long, visible_alias = "output", value_enum, default_value_t = TestFormat::Text, value_name = "FORMAT")]
    pub format: TestFormat,
    /// How many minions are worked on at the same time [default: as many as the machine has cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub secrets: SecretFlags,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
}

/// Which of a formula's results is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Expected {
    Data,
    Map,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TestFormat {
    /// For people
    Text,
    /// For servers that run tests, as XML
    Junit,
    /// For programs
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FleetFormat {
    /// A line of JSON for each minion and formula
    Jsonl,
    /// One document: minions, and their formulas in them
    Json,
    /// The same as YAML
    Yaml,
    /// Columns, with a tab between them
    Text,
}

impl From<FleetFormat> for mapstack_report::fleet::Format {
    fn from(format: FleetFormat) -> Self {
        match format {
            FleetFormat::Jsonl => Self::Jsonl,
            FleetFormat::Json => Self::Json,
            FleetFormat::Yaml => Self::Yaml,
            FleetFormat::Text => Self::Text,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mapstack stack users defaults.yaml 'Y!G@os_family' C@users --root examples/formulas --minion examples/minions/web1.yaml")]
pub struct Stack {
    /// The formula: its folder below a root
    pub formula: String,
    /// Source definitions, earlier ones weaker
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<String>,
    /// Data to merge the layers onto (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub default_values: Option<PathBuf>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub merging: Merging,
    #[command(flatten)]
    pub output: Output,
}

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
    /// Whether to look below each parent of the formula's subfolder
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub use_subpath: Option<String>,
    /// Whether the matcher's query is part of the path
    #[arg(long, value_name = "BOOL")]
    pub include_query: Option<String>,
    /// What the paths start with
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

#[derive(Debug, Args)]
#[command(after_help = "\
Without --var it is mapdata; else the name that the formula's own templates import most often;
else the formula's name; else the only mapping.

Examples:
  mapstack map timesync --root examples/formulas --minion examples/minions/web1.yaml
  mapstack map timesync --root examples/formulas --minion examples/minions/web1.yaml --var platforms --get os:Rocky")]
pub struct Map {
    /// The formula: its folder below a root
    pub formula: String,
    /// The template, below the formula's folder
    #[arg(long, value_name = "PATH", default_value = "map.jinja")]
    pub template: String,
    /// The variable to print
    #[arg(long, value_name = "NAME")]
    pub var: Option<String>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mapstack sources users --root examples/site --root examples/formulas --minion examples/minions/web1.yaml")]
pub struct Sources {
    /// The formula: its folder below a root
    pub formula: String,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Listing::Text, value_name = "FORMAT")]
    pub format: Listing,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack parse 'Y!G@os_family|I@roles'
  mapstack parse --path 'G@selinux:enabled' -o json")]
pub struct Parse {
    /// A source definition
    pub definition: String,
    /// Read it as a matcher of files_switch (map.tofs), which only builds paths
    #[arg(long)]
    pub path: bool,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Listing::Text, value_name = "FORMAT")]
    pub format: Listing,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Formulas run for one minion of each built-in platform, or for the minions given; what the runs read
and merge tells which files are dead and which overrides change nothing.

Examples:
  mapstack lint users --root examples/formulas
      one formula; without a name all of them
  mapstack lint --root examples/formulas --platform debian-12 --platform rockylinux-9
      for two systems only
  mapstack lint --root examples/formulas --fix --diff
      what --fix would change
  mapstack lint --root . --format github
      in a workflow: findings stand beside the lines of a pull request
  mapstack lint users --root examples/formulas --calls
      the functions that templates call, and who answers them

Comments silence rules: `# mapstack-lint: ignore=RULE` for a line, `# mapstack-lint: ignore-file=RULE`
for a file.

Exit status: 0 no errors, 1 errors (with --strict: or warnings), 2 wrong usage.")]
pub struct Lint {
    /// Formulas: their folders below a root [default: all]
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    /// How to print
    #[arg(short = 'o', long, visible_alias = "output", value_enum, default_value_t = Findings::Text, value_name = "FORMAT")]
    pub format: Findings,
    /// Switch a rule off (repeatable)
    #[arg(long, value_name = "RULE")]
    pub ignore: Vec<String>,
    /// Say how much a rule matters: error, warning, note or off (repeatable)
    #[arg(long, value_name = "RULE=LEVEL")]
    pub level: Vec<String>,
    /// Change what can be changed without doing harm
    #[arg(long)]
    pub fix: bool,
    /// Print the changes of --fix and change nothing
    #[arg(long, requires = "fix")]
    pub diff: bool,
    /// Check values against a JSON Schema: the formula's own schema.yaml or schema.json, or this file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_hint = ValueHint::FilePath)]
    pub schema: Option<Option<PathBuf>>,
    /// List the rules
    #[arg(long)]
    pub rules: bool,
    /// List every salt[...] function the templates can call, who answers it, and where it is called
    #[arg(long, conflicts_with_all = ["fix", "rules"])]
    pub calls: bool,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub facts: Facts,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub functions: Functions,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The types are those that keys have in defaults.yaml and in the other layers, on all built-in
platforms. Nothing is required and other keys may come: make it stricter by hand, keep it as
schema.yaml or schema.json in the formula's folder, and `mapstack lint --schema` checks against it.

Example:
  mapstack schema users --root examples/formulas > schema.json")]
pub struct Schema {
    /// The formula: its folder below a root
    pub formula: String,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub functions: Functions,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Format::Json, value_name = "FORMAT", help_heading = "Output")]
    pub format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Findings {
    /// For people, with excerpts
    Text,
    /// For programs
    Json,
    /// For code scanners: SARIF 2.1.0
    Sarif,
    /// For workflows of GitHub
    Github,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack config --config /etc/salt/master
      the options that the master's files set, and where
  mapstack config file_roots cachedir --config /etc/salt/master
      two options, whoever sets them
  mapstack config --config /etc/salt/minion --all -o json
      all options that the minion has, for a program")]
pub struct Config {
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
    pub files: Files,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Printed::Text, value_name = "FORMAT")]
    pub format: Printed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Printed {
    /// For people
    Text,
    /// For people and programs, as YAML
    Yaml,
    /// For programs, as JSON
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack pillar --stack examples/pillars/stack/stack.cfg --minion examples/minions/web1.yaml
      what PillarStack gives for one minion
  mapstack pillar --config /etc/salt/master --minions /srv/minions --id web1 --merged
      all stacks of a master's ext_pillar, and the pillar they were given
  mapstack pillar --config /etc/salt/master
      the same for every minion in the master's cache, without the pillar they were given
  mapstack pillar --stack examples/pillars/stack/stack.cfg --minion examples/minions/web1.yaml --trace
      the files, in order, and how each was merged")]
pub struct Pillar {
    #[command(flatten)]
    pub stacks: Stacks,
    /// Let files lie below this directory, too; those of the config files count anyway (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub stack_root: Vec<PathBuf>,
    /// Print a pillar whatever happens, for a master to take: errors go to its list _errors, warnings to its
    /// list _warnings (unless --quiet), nothing to standard error
    #[arg(long, conflicts_with = "get")]
    pub keep_going: bool,
    /// Print the minion's pillar with the external ones merged into it
    #[arg(long)]
    pub merged: bool,
    /// Print the files instead, in order, and what came of each
    #[arg(long, conflicts_with_all = ["merged", "get"])]
    pub trace: bool,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub facts: Facts,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub functions: Functions,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack platforms
  mapstack platforms debian-12 > debian.yaml
      a minion to go on from, as a document for --minion")]
pub struct Platforms {
    /// The platform whose minion is printed
    pub name: Option<String>,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Listing::Text, value_name = "FORMAT")]
    pub format: Listing,
}

/// Stacks named on the command line, in order, both kinds together.
#[derive(Debug, Default)]
pub struct Stacks(pub Vec<(StackKind, String)>);

const STACK_FLAGS: [(StackKind, &str, &str); 2] = [
    (
        StackKind::PillarStack,
        "stack",
        "A config file of PillarStack (repeatable)",
    ),
    (
        StackKind::MakoStack,
        "makostack",
        "A config file of MakoStack, also with a graft point as FILE:a:b (repeatable)",
    ),
];

impl Args for Stacks {
    fn augment_args(command: clap::Command) -> clap::Command {
        STACK_FLAGS
            .iter()
            .fold(command, |command, (_, name, help)| {
                let flag = clap::Arg::new(*name)
                    .long(*name)
                    .value_name("CFG")
                    .value_hint(ValueHint::FilePath);
                command.arg(flag.action(clap::ArgAction::Append).help(*help))
            })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Stacks {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let mut all: Vec<(usize, StackKind, String)> = Vec::new();
        for (kind, name, _) in STACK_FLAGS {
            let values = matches.get_many::<String>(name).into_iter().flatten();
            let indices = matches.indices_of(name).into_iter().flatten();
            all.extend(
                indices
                    .zip(values)
                    .map(|(at, value)| (at, kind, value.clone())),
            );
        }
        all.sort_by_key(|(at, ..)| *at);
        Ok(Stacks(
            all.into_iter()
                .map(|(_, kind, value)| (kind, value))
                .collect(),
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack render users/init.sls --root examples/formulas --minion examples/minions/web1.yaml
      what the templates of an sls print
  mapstack render users/init.sls -o yaml --get users-sudoers --root examples/formulas --minion examples/minions/web1.yaml
      the states it amounts to, or one of them
  mapstack render salt://users/files/default/etc/sudoers.d/10-admins.jinja --context '{sudo: {group: wheel}}' --root examples/formulas --minion examples/minions/web1.yaml
      a file as file.managed writes it")]
pub struct Render {
    /// The file: salt://f/files/x.conf or its path below a root; ?saltenv= names another saltenv
    pub path: String,
    /// The engine, as in file.managed: jinja, tera [default: an sls goes through its pipe, else jinja]
    #[arg(long, value_name = "ENGINE")]
    pub template: Option<String>,
    /// Variables of a managed file: {a: 1} as YAML or JSON, or a file with such
    #[arg(long, value_name = "DATA|FILE")]
    pub context: Option<String>,
    /// Variables that those of --context win over
    #[arg(long, value_name = "DATA|FILE")]
    pub defaults: Option<String>,
    /// The file to be managed: the variable `name`
    #[arg(long, value_name = "PATH")]
    pub name: Option<String>,
    #[command(flatten)]
    pub input: Input,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Rendered::Text, value_name = "FORMAT", help_heading = "Output")]
    pub format: Rendered,
    /// Print only the value under a key of an sls, with : between steps; needs -o yaml or json
    #[arg(long, value_name = "KEY", help_heading = "Output")]
    pub get: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rendered {
    /// What the templates print
    Text,
    /// The data of an sls, as YAML
    Yaml,
    /// The data of an sls, as JSON
    Json,
}

/// How data is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Format::Yaml, value_name = "FORMAT")]
    pub format: Format,
    /// Print only the value under a key, with : between steps
    #[arg(long, value_name = "KEY")]
    pub get: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// YAML that Salt's loader reads back to the same data
    Yaml,
    /// JSON in order; keys that are not strings become strings, as in Python
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Listing {
    /// For people
    Text,
    /// For programs
    Json,
}
