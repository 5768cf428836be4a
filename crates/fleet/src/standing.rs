//! What each minion has of each formula now, kept while files change.

use std::sync::Arc;

use mapstack::Error;
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack_share::Outcome;

use crate::compare::{Advanced, Compared, Comparison};
use crate::{Differences, Fleet, Minions, Pace, Panicked, ordered};

/// What each minion has of each formula as it is now: what no change reaches is not worked out again.
pub struct Standing(Vec<Stand>);

struct Stand {
    /// None for a minion that is left out.
    outcomes: Option<Result<Vec<Arc<Outcome>>, Error>>,
    /// The minion, of as many as are kept.
    minion: Option<Minion>,
}

/// Minions whose facts are kept, at some ten kilobytes each; others are read again.
const MAX_KEPT: usize = 20_000;

impl Standing {
    /// What minions have now.
    pub fn of(fleet: &Fleet<'_>, minions: &dyn Minions, ids: &[String]) -> Self {
        let stand = |(at, id): (usize, &String)| match minions.read(id) {
            Ok(minion) => Stand {
                outcomes: fleet.report(&minion).map(|report| report.outcomes),
                minion: (at < MAX_KEPT).then_some(minion),
            },
            Err(error) => Stand {
                outcomes: Some(Err(error)),
                minion: None,
            },
        };
        Standing(std::thread::scope(|scope| {
            let done = ordered(scope, ids.iter().enumerate(), Pace::default(), stand);
            let whole = |result: Result<Stand, Panicked>| {
                result.unwrap_or_else(|panicked| Stand {
                    outcomes: Some(Err(panicked.into())),
                    minion: None,
                })
            };
            done.map(whole).collect()
        }))
    }

    /// What minions have of each formula that works.
    pub fn results(&self) -> impl Iterator<Item = &Value> {
        let outcomes = self.0.iter().filter_map(|stand| stand.outcomes.as_ref());
        let outcomes = outcomes.filter_map(|outcomes| outcomes.as_ref().ok());
        outcomes
            .flatten()
            .filter_map(|outcome| outcome.result.as_ref().ok())
    }

    /// What is wrong with facts.
    pub fn broken(&self) -> impl Iterator<Item = &Error> {
        self.0
            .iter()
            .filter_map(|stand| stand.outcomes.as_ref()?.as_ref().err())
    }

    /// What a change does to each minion, which is what it has from now on.
    pub fn advance(
        &mut self,
        comparison: &Comparison<'_, '_>,
        minions: &dyn Minions,
        ids: &[String],
    ) -> Differences {
        let mut differences = Differences::default();
        let mut now = Vec::new();
        std::thread::scope(|scope| {
            let known = ids.iter().zip(&self.0);
            let done = ordered(scope, known, Pace::default(), |(id, stand)| {
                let read = || stand.minion.clone().map_or_else(|| minions.read(id), Ok);
                match stand.outcomes.as_ref()? {
                    Ok(outcomes) => Some(comparison.advance(outcomes, read)),
                    // It was reported to be broken, and is left out until it is not.
                    Err(_) => {
                        let (compared, outcomes) = comparison.begin(&read().ok()?);
                        Some(Ok(Advanced::Reached(compared, outcomes)))
                    }
                }
            });
            for (at, ((id, stand), result)) in ids.iter().zip(&self.0).zip(done).enumerate() {
                let read = || {
                    stand
                        .minion
                        .clone()
                        .unwrap_or_else(|| minions.read_or_name(id))
                };
                match result.map_err(Error::from) {
                    Ok(None) => {}
                    Ok(Some(Ok(Advanced::Unreached { fails }))) => differences.add_unreached(fails),
                    Ok(Some(Ok(Advanced::Reached(compared, outcomes)))) => {
                        let is_whole = matches!(compared, Compared::Formulas(_));
                        differences.add(comparison, id, compared, read);
                        if is_whole {
                            now.push((at, Ok(outcomes)));
                        }
                    }
                    // What it has now is worked out again as soon as it can be read.
                    Ok(Some(Err(error))) | Err(error) => {
                        differences.broken.push((id.clone(), error.clone()));
                        now.push((at, Err(error)));
                    }
                }
            }
        });
        for (at, outcomes) in now {
            if let Some(place) = self.0.get_mut(at) {
                place.outcomes = Some(outcomes);
            }
        }
        differences
    }
}
