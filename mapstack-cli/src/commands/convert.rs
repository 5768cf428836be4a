//! `mapstack convert`.

use clap::Args;
use mapstack::minion::{Minion, platforms};
use mapstack::{Error, ErrorKind};
use mapstack_convert::{Extent, GivenPillar, Pillars, Proof, ProofOutcome, Proposal};
use mapstack_fleet::Pace;
use mapstack_frontend::inputs::flags::{EngineFlags, FactFlags, FileFlags, Functions};
use mapstack_frontend::inputs::{Converted, FoundPillars, WorkTree};
use mapstack_frontend::outputs::write_proposal;
use mapstack_report::convert::Conversion;
use mapstack_report::words::some;

use crate::memory;
use crate::output;
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
convert computes the formula's map and states before and after, on all built-in platforms, with an
empty pillar, the pillars of the repository (pillar.example, tests), and pillars with other values.
It writes files only if all results are equal.

Examples:
  mapstack convert
      the formula of this checkout
  mapstack convert ntp --root . --diff
      what would change, as a patch
  mapstack convert ntp --root . --check
      whether it can be converted; nothing is written
  mapstack convert --pr > description.md
      convert it, and describe that for a pull request

Exit status: 0 converted, or can be (--check, --dry-run, --diff); 1 something would change, or the
formula cannot be converted; 2 wrong usage, or uncommitted changes.")]
pub struct Convert {
    /// The formula: its folder below a root [default: the only one there is]
    #[arg(value_name = "FORMULA")]
    pub formula: Option<String>,
    /// Prove it and write nothing
    #[arg(long)]
    pub check: bool,
    /// Print the changes as a patch and write nothing
    #[arg(long, conflicts_with = "pr")]
    pub diff: bool,
    /// Say what would be done and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print Markdown for a pull request: what is converted, proven and left
    #[arg(long)]
    pub pr: bool,
    /// Change files even if the formula has uncommitted changes
    #[arg(long, visible_alias = "force")]
    pub allow_dirty: bool,
    /// Leave a table that cannot be layers as it is, with a layer that picks from it
    #[arg(long)]
    pub partial: bool,
    /// Accept that a map or state which failed before works now
    #[arg(long)]
    pub allow_fixed: bool,
    #[command(flatten)]
    pub files: FileFlags,
    #[command(flatten)]
    pub functions: Functions,
}

impl Convert {
    /// The flags that a project can add to.
    pub fn parts(&mut self) -> (&mut FileFlags, Option<&mut FactFlags>, &mut Functions) {
        (&mut self.files, None, &mut self.functions)
    }

    fn engine_flags(&self) -> EngineFlags<'_> {
        EngineFlags {
            files: &self.files,
            functions: &self.functions,
        }
    }

    fn writes(&self) -> bool {
        !(self.check || self.diff || self.dry_run)
    }
}

pub fn run(args: &Convert, reporter: &Reporter) -> Result<(), Failure> {
    let flags = args.engine_flags();
    let converted = Converted::of(args.formula.as_ref(), flags, memory::limit, reporter)?;
    if args.writes() {
        check_work_tree(args, &converted, reporter)?;
    }
    let found = converted.pillars(&args.functions, memory::limit);
    let (proposal, proven) = proven(args, &converted, &found.pillars).inspect_err(|_| {
        let could = || Proposal::to(Extent::Partial, &converted.formula).is_ok();
        if !args.partial && Proposal::of(&converted.formula).is_err() && could() {
            reporter.note("with --partial, the table stays as it is and the rest is converted");
        }
    })?;
    print(args, &converted, &proposal, &proven, &found, reporter)?;
    if !proven.is_equal() {
        let all = &proven.differences;
        if !all.is_empty() && all.iter().all(|one| one.after == "works") {
            reporter.note("with --allow-fixed, something that failed may work now");
        }
        return Err(Failure::Found);
    }
    if args.writes() {
        write_proposal(&converted.directory, &converted.formula, &proposal)?;
        let written = proposal.write.len();
        let removed = proposal.remove.len();
        reporter.say(&format!(
            "{}: {written} written, {removed} removed",
            converted.directory.display()
        ));
    }
    Ok(())
}

/// The proposal with its proof.
fn proven(
    args: &Convert,
    converted: &Converted,
    pillars: &[GivenPillar],
) -> Result<(Proposal, ProofOutcome), Failure> {
    let formula = converted.formula.name();
    let flags = args.engine_flags();
    let extent = match args.partial {
        true => Extent::Partial,
        false => Extent::Whole,
    };
    Proposal::proven(&converted.formula, extent, |proposal| {
        let after = converted.after(proposal, flags, memory::limit)?;
        let proof = Proof::new(
            [&converted.engine, &after],
            formula,
            &converted.saltenv,
            proposal,
        )?;
        let proof = proof.allowing_fixed(args.allow_fixed);
        prove(&proof, formula, proposal, pillars)
    })
}

/// Compare both states on all platforms.
fn prove(
    proof: &Proof<'_>,
    formula: &str,
    proposal: &Proposal,
    given: &[GivenPillar],
) -> Result<ProofOutcome, Failure> {
    let platforms = platforms::all().iter();
    let minions: Vec<Minion> = platforms
        .map(|platform| platform.minion().complete())
        .collect();
    let maps = proof.maps(&minions);
    let pillars = Pillars::of(given.to_vec(), &proposal.keys, &maps, proposal.kind)
        .choosing_files(formula, proposal.tofs.as_deref());
    Ok(proof.run(&minions, &pillars, Pace::default())?)
}

/// Make sure that nothing is lost that was not committed.
fn check_work_tree(
    args: &Convert,
    converted: &Converted,
    reporter: &Reporter,
) -> Result<(), Failure> {
    if args.allow_dirty {
        return Ok(());
    }
    match converted.work_tree()? {
        WorkTree::Clean => Ok(()),
        WorkTree::NoGit => {
            reporter.note("the formula is in no commit of a git repository: nothing but a copy brings its files back");
            Ok(())
        }
        WorkTree::Changed(paths) => Err(Failure::Usage(format!(
            "there are changes that are not committed: {}\n\
             commit them, or convert all the same with --allow-dirty; --check and --diff write nothing",
            some(&paths, 5)
        ))),
    }
}

fn print(
    args: &Convert,
    converted: &Converted,
    proposal: &Proposal,
    proven: &ProofOutcome,
    found: &FoundPillars,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let secrets = reporter.secrets();
    let starred = |text: &str| secrets.starred(text).to_string();
    let broken = found.broken.iter();
    let broken = broken.map(|(name, error)| (name.clone(), starred(&first_line(error))));
    let conversion = Conversion {
        formula: &converted.formula,
        proposal,
        proven,
        pillars: found.pillars.iter().map(|one| one.name.clone()).collect(),
        broken: broken.collect(),
        assumed: converted.assumed.names(),
        starred: &starred,
    };
    let text = match () {
        () if args.pr => conversion.markdown(),
        () if args.diff && proven.is_equal() => conversion.diff(),
        () => conversion.text(),
    };
    output::write_listing(&text)
}

fn first_line(error: &Error) -> String {
    let text = match error.kind() {
        ErrorKind::Unsupported => format!("it needs more than files: {error}"),
        _ => error.to_string(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}
