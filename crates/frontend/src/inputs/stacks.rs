//! Stacks that flags name, and the external pillars of a configuration.

use std::path::PathBuf;

use clap::{Args, FromArgMatches, ValueHint};
use mapstack_pillar::{ExtPillars, StackKind};
use mapstack_salt_config::Config;

use crate::inputs::InputError;
use crate::inputs::project::FILE;

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

/// The external pillars of the configuration, then those of flags.
///
/// # Errors
/// None is given, or one cannot be used.
pub fn ext_pillars(
    stacks: &Stacks,
    roots: &[PathBuf],
    config: Option<&Config>,
) -> Result<ExtPillars, InputError> {
    let mut pillars = match config {
        Some(config) => ExtPillars::from_config(config)?,
        None => ExtPillars::new(),
    };
    for run in stacks.0.chunk_by(|(one, _), (next, _)| one == next) {
        let kind = run
            .first()
            .map_or(StackKind::PillarStack, |(kind, _)| *kind);
        pillars = pillars.with_stack(kind, run.iter().map(|(_, config)| config.as_str()));
    }
    if pillars.is_empty() {
        let message = match config {
            Some(config) if config.path() == FILE => format!(
                "the checkout has no pillar, and no configuration with an ext_pillar; say where the pillar is with \
                 `pillar_roots` in {}, or name a stack with --stack CFG or --makostack CFG",
                config.path()
            ),
            Some(config) => {
                format!(
                    "{} sets neither pillar_roots nor ext_pillar; name a stack with --stack CFG or --makostack CFG",
                    config.path()
                )
            }
            None => "no pillar given: pass --config MASTER, whose pillar_roots and ext_pillar count, name pillar_roots in\n\
                     .mapstack.yaml, or name a stack with --stack CFG or --makostack CFG"
                .into(),
        };
        return Err(InputError::Usage(message));
    }
    Ok(roots.iter().fold(pillars, ExtPillars::with_directory))
}
