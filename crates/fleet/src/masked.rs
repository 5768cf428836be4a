//! Reports without secrets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mapstack::Error;
use mapstack::minion::Minion;
use mapstack::secrets::Redact as _;
use mapstack::share::Outcome;

use crate::{Fleet, Masking, Minions, Origins, Report};

/// A fleet whose reports say nothing that is secret, beside data; and none of the pillar's data, if that is masked.
pub struct MaskedFleet<'w> {
    fleet: &'w Fleet<'w>,
    masking: Masking,
    strict: bool,
    /// Outcomes with something to say, by address, and what may be said; they are kept, so that it stays theirs.
    redacted: Mutex<HashMap<usize, [Arc<Outcome>; 2]>>,
}

/// Redacted outcomes that are remembered before starting over.
const MAX_REDACTED: usize = 10_000;

impl<'w> MaskedFleet<'w> {
    /// A fleet, and what of it is kept back. Where it is `strict`, a warning is a failure.
    pub fn new(fleet: &'w Fleet<'w>, masking: Masking, strict: bool) -> Self {
        MaskedFleet {
            fleet,
            masking,
            strict,
            redacted: Mutex::default(),
        }
    }

    /// The results of a minion; `None` if it is left out.
    pub fn report(&self, id: &str, minions: &dyn Minions) -> Option<Report> {
        let minion = match minions.read(id) {
            Ok(minion) => minion,
            Err(error) => {
                let error = self.masking.of([]).redact(&error).into_inner();
                return Some(Report {
                    id: id.into(),
                    outcomes: Err(error),
                });
            }
        };
        let minion = self.fleet.engine().with_tree_grains(&minion);
        let mut report = self.fleet.report(&minion)?;
        self.redact(&mut report, &minion);
        if let (true, Ok(outcomes)) = (self.masking.masks_pillar(), &mut report.outcomes) {
            for (formula, outcome) in outcomes.iter_mut().enumerate() {
                *outcome = self.without_pillar(formula, outcome, &minion);
            }
        }
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

    /// An error about the result of a formula, by its index, on a minion, without secrets.
    pub fn redacted_error(
        &self,
        error: &Error,
        (id, formula): (&str, usize),
        minions: &dyn Minions,
    ) -> Error {
        let minion = minions.read_or_name(id);
        let secrets = self
            .masking
            .of_formula(&minion, self.fleet, Some(formula), None);
        secrets.redact(error).into_inner()
    }

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

    /// An outcome without the values of the pillar. What is not explained may have any of them.
    fn without_pillar(
        &self,
        formula: usize,
        outcome: &Arc<Outcome>,
        minion: &Minion,
    ) -> Arc<Outcome> {
        let Ok(data) = &outcome.result else {
            return outcome.clone();
        };
        let secrets = self
            .masking
            .of_formula(minion, self.fleet, Some(formula), None)
            .without_numbers();
        let origins = self.fleet.origins(formula, minion);
        let origins = origins.filter(Origins::is_known);
        let secret = origins.map(|origins| origins.secret_paths(&[], data));
        let is_secret = |path: &[_]| secret.as_ref().is_none_or(|all| all.contains(path));
        let masked = secrets.redact_data(&[], data, &is_secret).into_inner();
        Arc::new(Outcome::new(Ok(masked), outcome.warnings.clone()))
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
