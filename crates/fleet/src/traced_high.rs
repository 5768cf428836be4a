//! The states of a minion, with what is needed to follow where they come from.

use std::sync::Arc;

use mapstack::minion::Minion;
use mapstack_states::{Compiled, Gatherer, HighData, RequestedStates, SettledStates};

/// The states of a minion: those that top files give, or those of an sls.
pub(crate) struct TracedHigh {
    pub high: HighData,
    /// The high data as a state run has it, and why it is refused.
    pub settled: SettledStates,
    pub compiled: Arc<Compiled>,
}

impl TracedHigh {
    /// The states of a minion; `run` is the saltenv and the name of an sls, if top files do not count. Nothing if top
    /// files cannot be used, or limits were reached.
    pub fn of(gatherer: &Gatherer<'_>, minion: &Minion, run: Option<(&str, &str)>) -> Option<Self> {
        let names: Vec<String> = run.iter().map(|(_, name)| (*name).to_owned()).collect();
        let (wanted, compiled) = match run {
            None => (RequestedStates::Highstate, gatherer.compiled(minion).ok()?),
            Some((saltenv, _)) => {
                let names = &names;
                let wanted = RequestedStates::Sls { saltenv, names };
                (wanted, gatherer.compiled_sls(minion, saltenv, names))
            }
        };
        let high = gatherer.high(minion, wanted).with_usable_top().ok()?;
        Some(TracedHigh {
            settled: high.settled(minion).ok()?,
            high,
            compiled,
        })
    }
}
