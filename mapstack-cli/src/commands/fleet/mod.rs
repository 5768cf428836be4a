//! `mapstack fleet`.

mod output;
mod summary;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mapstack::loader::Snapshot;
use mapstack::minion::Minion;
use mapstack::secrets::Redact;
use mapstack::{Engine, Error, Outcome};
use mapstack_fleet::{Fleet, Pace, Report, ordered};

use super::fleets::Plan;
use crate::cli;
use crate::configuration;
use crate::functions;
use crate::inputs::{self, Many};
use crate::masking::Masking;
use crate::report::{Failure, Reporter};
use output::{Form, Shown, Sink};
use summary::Summary;

pub fn run(args: &cli::Fleet, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let memory = usize::try_from(args.memory)
        .unwrap_or(usize::MAX)
        .saturating_mul(1 << 20)
        / args.formulas.len().max(1);
    let mut plan =
        Plan::new(input, &args.layering, args.work.select.as_deref())?.with_memory(memory);
    plan.formulas.clone_from(&args.formulas);
    let form = Form::new(args)?;
    let config = configuration::read(&input.files, input.facts.id.as_deref(), None, reporter)?;
    let others: Vec<_> = input
        .functions
        .stub
        .iter()
        .chain(&input.custom_data)
        .cloned()
        .collect();
    let minions = Many::list(
        (&input.facts, &args.work.target),
        config.as_ref(),
        &others,
        reporter,
    )?;
    let files = inputs::served(&input.files, config.as_ref(), None, reporter)?.files;
    let engine = functions::add(Engine::new(Snapshot::new(files)), &input.functions)?;

    let fleet = plan.fleet(&engine);
    let ids = args.work.of(minions.ids());
    let sink = Sink::new(&form, args.directory.as_deref())?;
    let masking = Masking::new(&cli::SecretFlags::default(), reporter)?;
    let work = Work {
        fleet: &fleet,
        minions: &minions,
        form: &form,
        strict: reporter.is_strict(),
        masking,
        redacted: Mutex::default(),
    };
    let bar = progress(ids.len(), reporter.shows_progress(args.directory.is_some()));
    let summary = work.all(&ids, args.work.pace(), sink, &interrupted(), &bar);
    bar.finish_and_clear();
    summary.tell(reporter)
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
    /// The report, if there is more to tell than what is shown.
    told: Option<Report>,
}

impl Work<'_> {
    fn all(
        &self,
        ids: &[String],
        pace: Pace,
        mut sink: Sink,
        stop: &AtomicBool,
        bar: &ProgressBar,
    ) -> Summary {
        let mut summary = Summary::new(ids.len(), self.fleet.formulas());
        std::thread::scope(|scope| {
            let done = ordered(scope, ids.iter(), pace, |id| {
                Some(self.done(self.report(id)?))
            });
            for (id, result) in ids.iter().zip(done) {
                let done = result
                    .unwrap_or_else(|panicked| Some(self.done(Report::panicked(id, &panicked))));
                if let Some(Done { id, shown, told }) = done {
                    if let Err(e) = sink.put(&id, shown) {
                        summary.output = Some(e);
                        return;
                    }
                    summary.add(told.as_ref());
                } else {
                    summary.left_out += 1;
                }
                bar.inc(1);
                if stop.load(Ordering::Relaxed) {
                    summary.interrupted = true;
                    break;
                }
            }
            summary.output = sink.finish().err();
        });
        summary
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
                told: Some(report),
            },
            // Threads share outcomes, and each that lets go of one slows the others down.
            false => Done {
                id: report.id,
                shown,
                told: None,
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
            std::process::exit(summary::INTERRUPTED.into());
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
