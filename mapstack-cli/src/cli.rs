//! The command line: the verbs, and the flags that all have.
//!
//! The arguments of a verb are in its file, and groups that verbs share in `mapstack_frontend::inputs`.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use clap::builder::{StyledStr, Styles};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use mapstack_frontend::inputs::estate::give_grains;
use mapstack_frontend::inputs::flags::{
    FactFlags, FileFlags, Functions, LimitFlags, Messages, SecretFlags, complete,
};
use mapstack_frontend::inputs::{InputError, WarningSink, brief};

use crate::memory;
use crate::verbs::{Command, VERBS, Verb};

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
    max_term_width = 100
)]
pub struct Cli {
    #[command(flatten)]
    messages: Messages,
    /// Refuse Mako and Python templates unless the sandbox of mapstack-python is complete (see --version -v)
    #[arg(long, global = true, help_heading = "Limits")]
    strict_sandbox: bool,
    /// Print the version
    #[arg(short = 'V', long)]
    version: bool,
    /// With --version: the commit, the features, the Salt it equals, and the sandbox of Python templates here
    #[arg(short, long, requires = "version")]
    verbose: bool,
}

/// A command line that says what is to be done.
pub struct Invocation {
    pub messages: Messages,
    pub strict_sandbox: bool,
    pub asked: RequestedWork,
}

/// The work that is requested.
pub enum RequestedWork {
    /// Print the version, and with `verbose` the state of `mapstack-python`.
    Version { verbose: bool },
    /// A verb.
    Verb(Box<Command>),
}

/// The flags for files, for minions and for functions.
type SharedFlags<'a> = (
    &'a mut FileFlags,
    Option<&'a mut FactFlags>,
    &'a mut Functions,
);

/// All that can be typed.
pub fn definition() -> clap::Command {
    with_verbs(VERBS).override_help(help())
}

/// The overall help, on one screen: the verbs in groups, and the names of the options that all share.
fn help() -> StyledStr {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = format!(
        "Salt's layered configuration, without Salt\n{header}Usage:{header:#} mapstack [OPTIONS] <COMMAND>\n"
    );
    let mut group = "";
    for verb in VERBS {
        if verb.group != group {
            group = verb.group;
            let _ = write!(text, "\n{header}{group}:{header:#}\n");
        }
        let _ = writeln!(
            text,
            "  {literal}{:<13}{literal:#}{}",
            verb.name, verb.about
        );
    }
    let _ = write!(
        text,
        "\n{header}Options of all commands:{header:#}\n{OPTIONS}"
    );
    text.into()
}

fn with_verbs<'v>(verbs: impl IntoIterator<Item = &'v Verb>) -> clap::Command {
    Cli::command().subcommands(verbs.into_iter().map(Verb::definition))
}

/// Read the command line.
///
/// # Errors
/// It says nothing that can be done, or asks for help.
pub fn read() -> Result<Invocation, clap::Error> {
    let args: Vec<OsString> = std::env::args_os().collect();
    // To put together the arguments of all verbs takes longer than a small run; only help and refusals show them.
    let mentioned = VERBS
        .iter()
        .filter(|verb| args.iter().any(|arg| arg == verb.name));
    parse(with_verbs(mentioned), &args)
        .or_else(|_| parse(brief(definition()), &args).map_err(|error| advised(error, &args)))
}

/// A refusal with advice to whoever asks for a schema of the pillar by a flag, which names a file for all verbs.
fn advised(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    let flag = ContextValue::String("--pillar <FILE>".into());
    let is_without_file = error.kind() == ErrorKind::InvalidValue
        && error.get(ContextKind::InvalidArg) == Some(&flag)
        && args.iter().any(|arg| arg == "schema");
    if is_without_file {
        let tip = "`mapstack schema pillar` makes a schema of the pillars; --pillar gives the minion one from a file";
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

fn parse(mut command: clap::Command, args: &[OsString]) -> Result<Invocation, clap::Error> {
    let mut matches = command.try_get_matches_from_mut(args)?;
    invocation(&mut matches).map_err(|error| error.format(&mut command))
}

fn invocation(matches: &mut ArgMatches) -> Result<Invocation, clap::Error> {
    let verb = matches.remove_subcommand();
    let cli = Cli::from_arg_matches_mut(matches)?;
    let asked = match verb {
        _ if cli.version => RequestedWork::Version {
            verbose: cli.verbose,
        },
        Some((name, matches)) => RequestedWork::Verb(Box::new(Command::read(&name, matches)?)),
        None => {
            let message = "a verb is missing, such as `data`; `mapstack --help` lists them";
            return Err(definition().error(ErrorKind::MissingSubcommand, message));
        }
    };
    Ok(Invocation {
        messages: cli.messages,
        strict_sandbox: cli.strict_sandbox,
        asked,
    })
}

/// The shared options, which the help of each verb describes.
const OPTIONS: &str =
    "  -h, --help  -V, --version [-v]  -q, --quiet  --strict  --strict-sandbox  --color <WHEN>
  --mask <WHAT>  --show-secrets  --secret <PATTERN>  --no-secret <PATTERN>  --digest-salt <TEXT>
`mapstack <COMMAND> --help` has examples. Exit status: 0 done, 1 wrong data, 2 wrong usage.
";

impl Command {
    /// True if what it prints can have secrets in it.
    pub fn prints_data(&self) -> bool {
        !matches!(
            self,
            Command::Completions(_) | Command::Init(_) | Command::Parse(_) | Command::Platforms(_)
        )
    }

    /// The limits of the run.
    pub fn limits(&mut self) -> LimitFlags {
        #[cfg(feature = "fetch")]
        if let Command::Fetch(args) = self {
            return args.limits();
        }
        self.parts()
            .map_or_else(LimitFlags::default, |(_, _, functions)| functions.limits)
    }

    /// The exit status where nothing was done.
    pub fn nothing_done(&self) -> u8 {
        let compares = matches!(
            self,
            Command::Convert(_) | Command::Diff(_) | Command::Lint(_) | Command::Test(_)
        );
        if compares { 2 } else { 1 }
    }

    /// The flags that a project can add to.
    fn parts(&mut self) -> Option<SharedFlags<'_>> {
        Some(match self {
            Command::Data(args) => args.input.parts(),
            Command::Stack(args) => args.input.parts(),
            Command::Tofs(args) => args.input.parts(),
            Command::Map(args) => args.input.parts(),
            Command::File(args) => args.site.parts(),
            Command::Highstate(args) => args.site.parts(),
            Command::Render(args) => args.input.parts(),
            Command::Sources(args) => args.input.parts(),
            Command::Explain(args) => args.input.parts(),
            Command::Fleet(args) if args.verb.is_none() => args.input.parts(),
            Command::Diff(args) => args.input.parts(),
            Command::Impact(args) => args.input.parts(),
            Command::Watch(args) => args.input.parts(),
            Command::Test(args) => args.input.parts(),
            Command::Lint(args) => args.site.parts(),
            Command::Convert(args) => args.parts(),
            Command::Schema(args) => args.site.parts(),
            Command::Pillar(args) => args.site.parts(),
            _ => return None,
        })
    }

    /// Take what flags do not say from the project around the current directory.
    pub fn complete(
        &mut self,
        secrets: &SecretFlags,
        warn: &dyn WarningSink,
    ) -> Result<(), InputError> {
        if let Command::Pillar(args) = self {
            if let Some(id) = args.minion_id.take() {
                args.site.facts.id = Some(id);
            }
            // Stacks that are named are compiled alone, wherever the command runs.
            if !args.stacks.0.is_empty() {
                args.site.functions.policy = secrets.policy();
                args.site.functions.find_mine(&args.site.facts);
                return Ok(());
            }
        }
        let Some((files, facts, functions)) = self.parts() else {
            return Ok(());
        };
        functions.policy = secrets.policy();
        if let Some(facts) = facts {
            complete(files, Some(facts), functions, warn)?;
            give_grains(files, facts, functions, memory::limit)?;
        } else {
            complete(files, None, functions, warn)?;
        }
        // Two directories are compared as they are: what was found beside them is not meant, but for roots inside of one.
        if let Command::Diff(args) = self
            && let states = [args.from(), args.to.as_str()].map(Path::new)
            && states.iter().all(|state| state.is_dir())
            && args.input.files.is_found()
            && !args.input.files.has_roots_inside(&states)
        {
            args.input.files.project = None;
            args.input.facts.found = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overall_help_fits_on_a_screen() {
        let help = help().to_string();
        assert!(help.lines().count() <= 40, "{help}");
        assert!(help.lines().all(|line| line.len() <= 100), "{help}");
    }
}
