//! Failures of many minions, each cause once.

use std::collections::HashMap;

use mapstack::{Diagnostic, Error};

use crate::Report;

/// Different messages that are kept in full; others are counted.
const MAX_GROUPS: usize = 50;
/// Minions that are named with each.
const MAX_NAMED: usize = 10;

/// The summary of a fleet.
pub struct Summary {
    formulas: Vec<String>,
    /// The number of minions that are meant.
    pub minions: usize,
    /// The number of them that are done.
    pub done: usize,
    /// The number of them that failed.
    pub failed: usize,
    /// The number of minions that are not meant.
    pub left_out: usize,
    failures: Groups<Error>,
    warnings: Groups<Diagnostic>,
}

/// Equal messages, in the order they were first seen.
struct Groups<T> {
    by_text: HashMap<(Option<usize>, String), usize>,
    groups: Vec<MessageGroup<T>>,
    more: usize,
}

struct MessageGroup<T> {
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
            more: 0,
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
            if group.minions.len() < MAX_NAMED {
                group.minions.push(id.into());
            }
        } else if self.groups.len() < MAX_GROUPS {
            self.by_text.insert(key, self.groups.len());
            self.groups.push(MessageGroup {
                first: message.clone(),
                task,
                minions: vec![id.into()],
                count: 1,
            });
        } else {
            self.more += 1;
        }
    }
}

impl<T> MessageGroup<T> {
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
    /// Of so many minions none is done.
    pub fn new<'f>(minions: usize, formulas: impl Iterator<Item = &'f str>) -> Self {
        Summary {
            formulas: formulas.map(str::to_owned).collect(),
            minions,
            done: 0,
            failed: 0,
            left_out: 0,
            failures: Groups::new(),
            warnings: Groups::new(),
        }
    }

    /// Count one minion, with its report if something failed or warned.
    pub fn add(&mut self, report: Option<&Report>) {
        self.done += 1;
        let Some(report) = report else { return };
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

    /// The warnings, with the minions they are about.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let noted = self.warnings.groups.iter().map(|group| {
            let mut warning = group.first.clone();
            warning.notes.push(group.note(&self.formulas));
            warning
        });
        noted.collect()
    }

    /// The failures, with the minions that fail.
    pub fn failures(&self) -> Vec<Error> {
        let noted = self.failures.groups.iter();
        noted
            .map(|group| group.first.clone().note(group.note(&self.formulas)))
            .collect()
    }

    /// The number of further failures.
    pub fn more_failures(&self) -> usize {
        self.failures.more
    }
}
