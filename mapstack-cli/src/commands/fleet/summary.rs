//! What went wrong with a fleet, each thing once.

use std::collections::HashMap;
use std::io;

use mapstack::{Diagnostic, Error};
use mapstack_fleet::Report;

use crate::report::{Failure, Reporter};

/// The exit status of a program that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Different failures that are told in full. Lines of JSON have all of them.
const MOST_TOLD: usize = 50;
/// Minions that are named with each.
const MOST_NAMED: usize = 10;

/// What came of a fleet.
pub struct Summary {
    formulas: Vec<String>,
    minions: usize,
    done: usize,
    failed: usize,
    pub left_out: usize,
    pub interrupted: bool,
    /// Why the output ended.
    pub output: Option<io::Error>,
    failures: Groups<Error>,
    warnings: Groups<Diagnostic>,
}

/// Equal messages, in the order they were first seen.
struct Groups<T> {
    by_text: HashMap<(Option<usize>, String), usize>,
    groups: Vec<Group<T>>,
    untold: usize,
}

struct Group<T> {
    first: T,
    task: Option<usize>,
    minions: Vec<String>,
    count: usize,
}

impl<T: Clone + ToString> Groups<T> {
    fn new() -> Self {
        Groups {
            by_text: HashMap::new(),
            groups: Vec::new(),
            untold: 0,
        }
    }

    fn add(&mut self, task: Option<usize>, message: &T, id: &str) {
        let key = (task, message.to_string());
        let known = self
            .by_text
            .get(&key)
            .and_then(|at| self.groups.get_mut(*at));
        if let Some(group) = known {
            group.count += 1;
            if group.minions.len() < MOST_NAMED {
                group.minions.push(id.into());
            }
        } else if self.groups.len() < MOST_TOLD {
            self.by_text.insert(key, self.groups.len());
            self.groups.push(Group {
                first: message.clone(),
                task,
                minions: vec![id.into()],
                count: 1,
            });
        } else {
            self.untold += 1;
        }
    }
}

impl<T> Group<T> {
    fn note(&self, formulas: &[String]) -> String {
        let ids = self.minions.join(", ");
        let more = if self.count > self.minions.len() {
            format!(", … ({} in all)", self.count)
        } else {
            String::new()
        };
        let formula = self.task.and_then(|task| formulas.get(task));
        formula.map_or_else(
            || format!("on {ids}{more}"),
            |formula| format!("for {formula} on {ids}{more}"),
        )
    }
}

impl Summary {
    pub fn new<'f>(minions: usize, formulas: impl Iterator<Item = &'f str>) -> Self {
        Summary {
            formulas: formulas.map(str::to_owned).collect(),
            minions,
            done: 0,
            failed: 0,
            left_out: 0,
            interrupted: false,
            output: None,
            failures: Groups::new(),
            warnings: Groups::new(),
        }
    }

    /// Take in one minion, once it is written, with its report if something failed or warned.
    pub fn add(&mut self, told: Option<&Report>) {
        self.done += 1;
        let Some(report) = told else { return };
        self.failed += usize::from(!report.is_whole());
        for (task, error) in report.errors() {
            self.failures.add(task, error, &report.id);
        }
        for (task, outcome) in report.outcomes.iter().flatten().enumerate() {
            for warning in outcome.warnings.iter() {
                self.warnings.add(Some(task), warning, &report.id);
            }
        }
    }

    /// Print it.
    ///
    /// # Errors
    /// Something failed, was interrupted, or could not be written.
    pub fn tell(self, reporter: &Reporter) -> Result<(), Failure> {
        if let Some(e) = self
            .output
            .as_ref()
            .filter(|e| e.kind() == io::ErrorKind::BrokenPipe)
        {
            return Err(Failure::Output(e.kind().into()));
        }
        if !reporter.is_strict() {
            let noted = self.warnings.groups.iter().map(|group| {
                let mut warning = group.first.clone();
                warning.notes.push(group.note(&self.formulas));
                warning
            });
            let noted: Vec<Diagnostic> = noted.collect();
            reporter.warn(&reporter.redact_all(&noted))?;
        }
        let noted: Vec<Error> = self
            .failures
            .groups
            .iter()
            .map(|group| group.first.clone().note(group.note(&self.formulas)))
            .collect();
        reporter.tell(reporter.redact_all(&noted));
        if self.failures.untold > 0 {
            reporter.note(&format!(
                "{} more failures are not shown; -o jsonl has them all",
                self.failures.untold
            ));
        }
        let looked_at = self.done + self.left_out;
        if let Some(e) = self.output {
            let message = format!(
                "cannot write the output: {e}; {} of {} minions were written",
                self.done, self.minions
            );
            return Err(Failure::Incomplete { message, status: 1 });
        }
        if self.interrupted && looked_at < self.minions {
            let message = format!(
                "interrupted: {} of {} minions are done{}",
                looked_at,
                self.minions,
                if self.failed > 0 {
                    format!(", {} of them failed", self.failed)
                } else {
                    String::new()
                }
            );
            return Err(Failure::Incomplete {
                message,
                status: INTERRUPTED,
            });
        }
        match self.failed {
            0 => Ok(()),
            failed => {
                let message = format!(
                    "{failed} of {} minions failed; the others are done",
                    self.done
                );
                Err(Failure::Incomplete { message, status: 1 })
            }
        }
    }
}
