//! `mapstack diff`.

use clap::{Args, ValueEnum};
use mapstack::ConfigurationMethod;
use mapstack_fleet::{Comparison, Differences};
use mapstack_frontend::inputs::flags::{
    Input, Layering, PartFlags, ResultFlags, SaltVersions, ScopeFlags, WorkFlags,
};
use mapstack_frontend::inputs::{
    InputError, MinionStream, Plan, States, WantedParts, selects_none, top_options,
};
use mapstack_report::diff::{self, Accounting};
use mapstack_report::words::count;

use crate::memory;
use crate::output;
use crate::wiring::{count_warnings, pillars};
use mapstack_frontend::console::{Failure, Reporter, report_not_compared};

#[derive(Debug, Args)]
#[command(mut_arg("salt_version", |arg| {
    arg.value_name("VERSION[..VERSION]")
        .value_parser(SaltVersions::range)
        .help("Follow Salt 3006, 3007 or 3008; with 3006..3008 compare what the files give by both [default: 3008]")
}))]
#[command(after_help = "\
A state of the files is a revision of the git repository that the roots are in (read without a
checkout), a directory with another copy of them, or `worktree`: the files as they are now.

Examples:
  mapstack diff --root salt --minions minions/
      the effects of uncommitted changes on the fleet
  mapstack diff --root salt --from main --to HEAD --format markdown
      the effects of a branch on every built-in platform, as a comment for its pull request
  mapstack diff users --from ../old/salt --to salt --config /etc/salt/master
      two directories, on the minions in a master's cache
  mapstack diff --salt-version 3006..3008
      the effects of another version of Salt on the same files, and the modules that left its core

diff compares pillars, maps of formulas, states and managed files. The states are those of top
files, or else of each sls of the formulas. Changed files that none of these use are listed: their
effect is unknown. Documents, tests and other files that no file of Salt's names are ignored.

Exit status: 0 no change; 1 changes; 2 the comparison failed for some minions, or compared no
changed file. With --strict, or if minions fail in both states, 2 also if it left out some of them.")]
pub struct Diff {
    /// Formulas: their folders below a root [default: all that have parameters/ or a map.jinja]
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    /// The state before: a revision, a directory, or worktree [default: HEAD; with two versions of Salt, the state after]
    #[arg(long, value_name = "REV|DIR")]
    pub from: Option<String>,
    /// The state after: a revision, a directory, or worktree
    #[arg(long, value_name = "REV|DIR", default_value = "worktree")]
    pub to: String,
    #[command(flatten)]
    pub parts: PartFlags,
    #[command(flatten)]
    pub scope: ScopeFlags,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = DiffFormat::Text, value_name = "FORMAT")]
    pub format: DiffFormat,
    /// Show every minion's value by itself, where values differ only in names and addresses
    #[arg(long, help_heading = "Output")]
    pub each: bool,
    #[command(flatten)]
    pub result: ResultFlags,
    #[command(flatten)]
    pub work: WorkFlags,
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

impl Diff {
    /// The state before.
    pub fn from(&self) -> &str {
        let versions = self.input.functions.salt_version;
        match &self.from {
            Some(from) => from,
            None if versions.is_some_and(|both| !both.is_one()) => &self.to,
            None => "HEAD",
        }
    }
}

/// The exit status of a comparison that could not be made.
const FAILED: u8 = 2;

pub fn run(args: &Diff, reporter: &Reporter) -> Result<(), Failure> {
    match compare(args, reporter) {
        Err(Failure::Data(error)) => {
            reporter.report([reporter.redact(&error)]);
            Err(Failure::Incomplete {
                message: "nothing was compared".into(),
                status: FAILED,
            })
        }
        other => other,
    }
}

fn compare(args: &Diff, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let mut plan = Plan::new(
        input,
        &args.layering,
        &args.result,
        args.work.target.select.as_deref(),
    )?;
    let config = input.config(reporter)?;
    let scope = args.scope.scope();
    let mut states = States::new(
        input,
        [args.from(), &args.to],
        config.as_ref(),
        memory::limit,
    )?;
    let parts = args.parts.parts();
    let top_options = top_options(config.as_ref(), &input.files);
    states.plan(
        &mut plan,
        &args.formulas,
        &WantedParts { parts, top_options },
    )?;
    let [before, after] = &states.fleets(&plan)?;
    let only_formulas = !args.formulas.is_empty();
    let comparison = states.comparison([before, after], only_formulas || !parts.pillar);
    let named = states.named_groups(config.as_ref());
    let comparison = comparison.within(&scope).naming(named);
    let pillars = match states.has_pillars() || input.facts.pillar.is_some() {
        true => None,
        false => pillars(input.engine_flags(), config.as_ref(), reporter)?,
    };
    let minions = MinionStream::of_work(
        input,
        &args.work,
        states.minions_by(config.as_ref(), pillars.as_ref()),
        reporter,
    )?;
    let ids = args.work.of(minions.ids());
    let mut differences = Differences::of(&comparison, &minions, &ids, args.work.pace());
    if !scope.has_get() {
        let departed = states.departed_functions(&args.formulas)?;
        differences.states.add_departed(departed);
    }
    count_warnings(pillars.as_ref(), reporter)?;
    check_select(args, &differences, &minions, &ids)?;
    scope.check().map_err(InputError::from)?;
    let masking = reporter.masking();
    let ways = plan.ways([before, after]);
    let accounting = accounting(args, &states, &comparison, ways, &differences)?;
    let report = diff::DiffReport {
        accounting: &accounting,
        from: args.from(),
        to: &args.to,
        formulas: &plan.names(),
        differences: &differences,
        masking: &masking,
        each: args.each,
    };
    print(args.format, &report, reporter)?;
    verdict(&differences, &accounting, reporter)
}

/// The files that were compared, and the changed ones that were not.
fn accounting(
    args: &Diff,
    states: &States,
    comparison: &Comparison<'_, '_>,
    ways: Vec<(String, ConfigurationMethod)>,
    differences: &Differences,
) -> Result<Accounting, Failure> {
    let only_formulas = !args.formulas.is_empty();
    let counted = states.counted(comparison);
    let unserved = states.unserved()?;
    Ok(
        Accounting::new(ways, counted.changed, counted.unread, only_formulas)
            .with_pillars(counted.changed_of_pillar, counted.unread_of_pillar)
            .with_unrelated(counted.unrelated)
            .with_renamed(counted.renamed)
            .with_unserved(unserved.different, unserved.same)
            .with_states(
                states
                    .compared_states()
                    .filter(|_| differences.states.are_compared()),
            )
            .listing_pillars(args.parts.parts().pillar)
            .between_versions(states.versions())
            .without_pillars(states.no_pillars.clone())
            .with_outside(counted.unread_outside, states.outside.unknown.clone()),
    )
}

/// There are minions, or none was requested.
fn check_select(
    args: &Diff,
    differences: &Differences,
    minions: &MinionStream,
    ids: &[String],
) -> Result<(), InputError> {
    if differences.minions == 0 && differences.broken.is_empty() && !ids.is_empty() {
        let select = args.work.target.select.as_deref().unwrap_or_default();
        return Err(selects_none(select, minions, ids));
    }
    Ok(())
}

fn print(
    format: DiffFormat,
    report: &diff::DiffReport<'_>,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let colored = reporter.colors_output();
    match format {
        DiffFormat::Text => output::write_styled(&diff::text(report), colored)?,
        DiffFormat::Json => output::write_json(&diff::Rows::from(report))?,
        DiffFormat::Markdown => output::write(&diff::comment(report))?,
        #[cfg(feature = "html")]
        DiffFormat::Html => output::write(&diff::html(report)?)?,
    }
    Ok(())
}

fn verdict(
    differences: &Differences,
    accounting: &Accounting,
    reporter: &Reporter,
) -> Result<(), Failure> {
    if !differences.broken.is_empty() {
        report_not_compared(differences, reporter);
        let broken = count(differences.broken.len(), "minion");
        let message = format!("{broken} could not be compared");
        return Err(Failure::Incomplete {
            message,
            status: FAILED,
        });
    }
    // An untracked file is not among those that changed, and what it changes was compared.
    let refusal = accounting.refusal(reporter.is_strict(), differences.fail_still);
    if let Some(message) = refusal.filter(|_| differences.is_empty() || reporter.is_strict()) {
        return Err(Failure::Incomplete {
            message,
            status: FAILED,
        });
    }
    match differences.is_empty() {
        true => Ok(()),
        false => Err(Failure::Found),
    }
}
