//! `mapstack diff`.

use std::collections::BTreeSet;

use mapstack::loader::{Backends, Snapshot};
use mapstack::{Engine, Error, ErrorKind};
use mapstack_fleet::{ChangedFiles, Comparison, Differences, Ignored};
use mapstack_inputs::{Many, Plan, Sides, formulas};
use mapstack_report::diff;

use crate::cli::{Diff, DiffFormat};
use crate::commands::engine;
use crate::output;
use crate::report::{Failure, Reporter};

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
    let mut plan = Plan::new(input, &args.layering, args.work.select.as_deref())?;
    let config = input.config(reporter)?;
    let sides = Sides::new(&input.files, (&args.from, &args.to), config.as_ref())?;
    let state = |files: Backends| engine(Snapshot::new(files), &input.functions);
    let (before, after) = (state(sides.before)?, state(sides.after)?);
    plan.formulas = match args.formulas.is_empty() {
        false => formulas::named(&args.formulas),
        true => {
            let there = |engine: &Engine| formulas::layered(engine.files(), plan.saltenv());
            let all: BTreeSet<String> = there(&before)?.into_iter().chain(there(&after)?).collect();
            all.into_iter().collect()
        }
    };
    if plan.formulas.is_empty() {
        return Err(Failure::Usage(
            "no formula with parameters/ is in either state: give --root DIR".into(),
        ));
    }
    let changed = ChangedFiles::between(before.files(), after.files());
    let changed = changed.map_err(|e| {
        Error::new(
            ErrorKind::File,
            format!("the files cannot be compared: {e}"),
        )
    })?;
    let (before, after) = (plan.fleet(&before), plan.fleet(&after));
    let comparison = Comparison::new(&before, &after).reached_by(changed);
    let comparison = args.ignore.iter().fold(comparison, |comparison, path| {
        comparison.ignore(Ignored::new(path))
    });
    let others = input.other_files();
    let minions = Many::list_or_platforms(
        (&input.facts, &args.work.target),
        config.as_ref(),
        &others,
        reporter,
    )?;
    let ids = args.work.of(minions.ids());
    let differences = Differences::of(&comparison, &minions, &ids, args.work.pace());
    let masking = reporter.masking(&args.secrets)?;
    let report = diff::Report {
        from: &args.from,
        to: &args.to,
        formulas: &plan.formulas,
        differences: &differences,
        masking: &masking,
    };
    match args.format {
        DiffFormat::Text => {
            output::write_styled(
                &diff::text(&report, reporter.colors_output()),
                reporter.colors_output(),
            )?;
        }
        DiffFormat::Json => output::write_json(&diff::rows(&report))?,
        DiffFormat::Markdown => output::write(&diff::comment(&report))?,
        #[cfg(feature = "html")]
        DiffFormat::Html => output::write(&diff::html(&report)?)?,
    }
    if let [(_, first), ..] = differences.broken.as_slice() {
        reporter.report([reporter.redact(first)]);
        let message = format!("{} minions could not be compared", differences.broken.len());
        return Err(Failure::Incomplete {
            message,
            status: FAILED,
        });
    }
    if differences.is_empty() {
        Ok(())
    } else {
        Err(Failure::Found)
    }
}
