//! Reports without secrets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mapstack::Error;
use mapstack::minion::Minion;
use mapstack::secrets::Redact as _;
use mapstack::share::Outcome;

use crate::{Fleet, Masking, Minions, Origins, Report};

/// A fleet whose errors and warnings have no secrets, and whose data has no values of the pillar if these are
/// masked.
pub struct MaskedFleet<'w> {
    fleet: &'w Fleet<'w>,
    masking: Masking,
    strict: bool,
    /// Outcomes with messages, by address, and their redacted form. The outcomes are kept so that no other
    /// gets their addresses.
    redacted: Mutex<HashMap<usize, [Arc<Outcome>; 2]>>,
}

/// Redacted outcomes that are kept before starting over.
const MAX_REDACTED: usize = 10_000;

impl<'w> MaskedFleet<'w> {
    /// A fleet with the rules for its secrets. If `strict`, a warning is a failure.
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

    /// An error about the result of a formula on a minion, without secrets. The formula is given by its
    /// index.
    pub fn redacted_error(
        &self,
        error: &Error,
        id: &str,
        formula: usize,
        minions: &dyn Minions,
    ) -> Error {
        let minion = minions.read_or_name(id);
        let secrets = self
            .masking
            .of_formula(&minion, self.fleet, Some(formula), None);
        secrets.redact(error).into_inner()
    }

    /// Remove secrets from the errors and warnings of a report.
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

    /// An outcome without the values of the pillar. Data without known origins may contain any of them.
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

    /// The redacted form of an outcome, which is the same for all minions that share it.
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
