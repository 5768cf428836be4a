//! `mapstack fleet`.

mod sink;

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mapstack::loader::Snapshot;
use mapstack::minion::Minion;
use mapstack::secrets::Redact;
use mapstack::{Error, Outcome};
use mapstack_fleet::{Fleet, Masking, Minions as _, Pace, Report, Summary, ordered};
use mapstack_inputs::flags::SecretFlags;
use mapstack_inputs::{Many, Plan, Served};
use mapstack_report::fleet::{Form, Format, Shown, What};

use crate::cli;
use crate::commands::engine;
use crate::output::key_path;
use crate::report::{Failure, Reporter};
use sink::Sink;

/// The exit status of a program that was interrupted.
const INTERRUPTED: u8 = 130;

pub fn run(args: &cli::Fleet, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let memory = usize::try_from(args.memory)
        .unwrap_or(usize::MAX)
        .saturating_mul(1 << 20)
        / args.formulas.len().max(1);
    let mut plan =
        Plan::new(input, &args.layering, args.work.select.as_deref())?.with_memory(memory);
    plan.formulas.clone_from(&args.formulas);
    let (form, format) = form(args)?;
    let config = input.config(reporter)?;
    let others = input.other_files();
    let minions = Many::list(
        (&input.facts, &args.work.target),
        config.as_ref(),
        &others,
        reporter,
    )?;
    let files = Served::new(&input.files, config.as_ref(), None, reporter)?.files;
    let engine = engine(Snapshot::new(files), &input.functions)?;

    let fleet = plan.fleet(&engine);
    let ids = args.work.of(minions.ids());
    let sink = Sink::new(&form, format, args.directory.as_deref())?;
    let masking = reporter.masking(&SecretFlags::default())?;
    let work = Work {
        fleet: &fleet,
        minions: &minions,
        form: &form,
        strict: reporter.is_strict(),
        masking,
        redacted: Mutex::default(),
    };
    let bar = progress(ids.len(), reporter.shows_progress(args.directory.is_some()));
    let done = work.all(&ids, args.work.pace(), sink, &interrupted(), &bar);
    bar.finish_and_clear();
    done.report(reporter)
}

/// What is printed of each minion, and how.
fn form(args: &cli::Fleet) -> Result<(Form, Format), Failure> {
    let path = |key: &String| Ok((key.clone(), key_path(key)?));
    let what = match &args.count {
        Some(key) => {
            let (key, path) = path(key)?;
            What::Counts(key, path)
        }
        None if !args.get.is_empty() => {
            What::Table(args.get.iter().map(path).collect::<Result<_, Failure>>()?)
        }
        None => What::Data,
    };
    let apart = args.directory.is_some();
    let default = match what {
        What::Data if apart => Format::Yaml,
        What::Data => Format::Jsonl,
        What::Table(_) | What::Counts(..) => Format::Text,
    };
    let format = args.format.map_or(default, Format::from);
    let wrong = match (&what, format) {
        (What::Data, Format::Text) => "-o text is for --get and --count",
        (What::Data, Format::Jsonl) if apart => "--directory takes -o yaml or -o json",
        (What::Table(_) | What::Counts(..), Format::Yaml | Format::Json) => {
            "--get and --count take -o text or -o jsonl"
        }
        _ => {
            return Ok((
                Form::new(format, what, apart, args.formulas.clone()),
                format,
            ));
        }
    };
    Err(Failure::Usage(wrong.into()))
}

/// What came of all minions.
struct All {
    summary: Summary,
    interrupted: bool,
    /// Why the output ended.
    output: Option<io::Error>,
}

impl All {
    /// Report what went wrong.
    fn report(self, reporter: &Reporter) -> Result<(), Failure> {
        let summary = &self.summary;
        if let Some(e) = self
            .output
            .as_ref()
            .filter(|e| e.kind() == io::ErrorKind::BrokenPipe)
        {
            return Err(Failure::Output(e.kind().into()));
        }
        if !reporter.is_strict() {
            reporter.warn(&reporter.redact_all(&summary.warnings()))?;
        }
        reporter.report(reporter.redact_all(&summary.failures()));
        if summary.more_failures() > 0 {
            reporter.note(&format!(
                "{} more failures are not shown; -o jsonl has them all",
                summary.more_failures()
            ));
        }
        let looked_at = summary.done + summary.left_out;
        if let Some(e) = self.output {
            let message = format!(
                "cannot write the output: {e}; {} of {} minions were written",
                summary.done, summary.minions
            );
            return Err(Failure::Incomplete { message, status: 1 });
        }
        if self.interrupted && looked_at < summary.minions {
            let message = format!(
                "interrupted: {} of {} minions are done{}",
                looked_at,
                summary.minions,
                if summary.failed > 0 {
                    format!(", {} of them failed", summary.failed)
                } else {
                    String::new()
                }
            );
            return Err(Failure::Incomplete {
                message,
                status: INTERRUPTED,
            });
        }
        match summary.failed {
            0 => Ok(()),
            failed => {
                let message = format!(
                    "{failed} of {} minions failed; the others are done",
                    summary.done
                );
                Err(Failure::Incomplete { message, status: 1 })
            }
        }
    }
}

/// What is done, and how it is shown.
struct Work<'w> {
    fleet: &'w Fleet<'w>,
    minions: &'w Many<'w>,
    form: &'w Form,
    strict: bool,
    masking: Masking,
    /// Outcomes with something to say, by address, and what may be said; they are kept, so that it stays theirs.
    redacted: Mutex<HashMap<usize, [Arc<Outcome>; 2]>>,
}

/// Redacted outcomes that are remembered before starting over.
const MAX_REDACTED: usize = 10_000;

/// A minion that is done.
struct Done {
    id: String,
    shown: Shown,
    /// The report, if there is more to say than what is shown.
    report: Option<Report>,
}

impl Work<'_> {
    fn all(
        &self,
        ids: &[String],
        pace: Pace,
        mut sink: Sink,
        stop: &AtomicBool,
        bar: &ProgressBar,
    ) -> All {
        let mut all = All {
            summary: Summary::new(ids.len(), self.fleet.formulas()),
            interrupted: false,
            output: None,
        };
        std::thread::scope(|scope| {
            let done = ordered(scope, ids.iter(), pace, |id| {
                Some(self.done(self.report(id)?))
            });
            for (id, result) in ids.iter().zip(done) {
                let done = result
                    .unwrap_or_else(|panicked| Some(self.done(Report::panicked(id, panicked))));
                if let Some(Done { id, shown, report }) = done {
                    if let Err(e) = sink.put(&id, shown) {
                        all.output = Some(e);
                        return;
                    }
                    all.summary.add(report.as_ref());
                } else {
                    all.summary.left_out += 1;
                }
                bar.inc(1);
                if stop.load(Ordering::Relaxed) {
                    all.interrupted = true;
                    break;
                }
            }
            all.output = sink.finish().err();
        });
        all
    }

    /// A report as the thread that writes wants it.
    fn done(&self, report: Report) -> Done {
        let shown = self.form.show(&report);
        let has_warnings = || {
            report
                .outcomes
                .iter()
                .flatten()
                .any(|outcome| !outcome.warnings.is_empty())
        };
        match !report.is_whole() || has_warnings() {
            true => Done {
                id: report.id.clone(),
                shown,
                report: Some(report),
            },
            // Threads share outcomes, and each that lets go of one slows the others down.
            false => Done {
                id: report.id,
                shown,
                report: None,
            },
        }
    }

    /// What came of a minion; `None` if it is left out.
    fn report(&self, id: &str) -> Option<Report> {
        let minion = match self.minions.read(id) {
            Ok(minion) => minion,
            Err(error) => {
                let error = self.masking.of([]).redact(&error).into_inner();
                return Some(Report {
                    id: id.into(),
                    outcomes: Err(error),
                });
            }
        };
        let mut report = self.fleet.report(&minion)?;
        self.redact(&mut report, &minion);
        if self.strict
            && let Ok(outcomes) = &mut report.outcomes
        {
            for outcome in outcomes {
                if let (Some(warning), Ok(_)) = (outcome.warnings.first(), &outcome.result) {
                    *outcome = Arc::new(Outcome::failed(Error::from(warning.clone())));
                }
            }
        }
        Some(report)
    }
}

impl Work<'_> {
    /// Keep secrets out of whatever a report says beside data.
    fn redact(&self, report: &mut Report, minion: &Minion) {
        let outcomes = match &mut report.outcomes {
            Ok(outcomes) => outcomes,
            Err(error) => {
                *error = self.masking.of([minion]).redact(error).into_inner();
                return;
            }
        };
        for (formula, outcome) in outcomes.iter_mut().enumerate() {
            if outcome.result.is_err() || !outcome.warnings.is_empty() {
                *outcome = self.redacted(formula, outcome, minion);
            }
        }
    }

    /// An outcome that minions share says the same of each of them.
    fn redacted(&self, formula: usize, outcome: &Arc<Outcome>, minion: &Minion) -> Arc<Outcome> {
        let known = || self.redacted.lock().unwrap_or_else(PoisonError::into_inner);
        let address = Arc::as_ptr(outcome) as usize;
        if let Some([_, redacted]) = known().get(&address) {
            return redacted.clone();
        }
        let secrets = self.masking.of_formula(
            minion,
            self.fleet,
            Some(formula),
            outcome.result.as_ref().err(),
        );
        let redacted = Arc::new(outcome.redacted(&secrets));
        let mut known = known();
        if known.len() >= MAX_REDACTED {
            known.clear();
        }
        known.insert(address, [outcome.clone(), redacted.clone()]);
        redacted
    }
}

/// Set by the first request to end; the second one ends the process.
fn interrupted() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    // Without a handler the process just ends.
    let _ = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    });
    stop
}

/// A bar on a terminal, or one that nobody sees.
fn progress(length: usize, shown: bool) -> ProgressBar {
    let target = if shown {
        ProgressDrawTarget::stderr_with_hz(5)
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(u64::try_from(length).ok(), target);
    match ProgressStyle::with_template(
        "{wide_bar} {human_pos}/{human_len} minions, {per_sec}, {eta} left",
    ) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
