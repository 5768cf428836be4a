//! Values that are kept back when minions are printed.

use std::sync::{Arc, Mutex, PoisonError};

use mapstack::minion::Minion;
use mapstack::secrets::Secrets;
use mapstack::{Error, ErrorKind};

use crate::{Example, Fleet};

/// The facts of a fleet that may not be printed: those that are secret anyway, and those that a minion's pillar adds.
///
/// ```
/// use mapstack::{minion::Minion, secrets::Secrets};
/// let mut minion = Minion::new("web1");
/// minion.set("pillar.db", "hunter2").unwrap();
/// let masking = mapstack_fleet::Masking::new(Secrets::without_digests());
/// assert_eq!(masking.of([&minion]).scrubbed("no db hunter2"), "no db <secret>");
/// ```
pub struct Masking {
    usual: Secrets,
    /// The secrets of the example that was requested last: it has many changes, and to look at its pillar takes time.
    last: Mutex<Option<(Arc<Example>, Arc<Secrets>)>>,
}

impl Masking {
    /// The same secrets on every minion, before its own.
    pub fn new(usual: Secrets) -> Self {
        Masking {
            usual,
            last: Mutex::default(),
        }
    }

    /// True if all values of pillars are kept back.
    pub(crate) fn masks_pillar(&self) -> bool {
        self.usual.policy().masks_pillar()
    }

    /// The secrets there are on minions.
    pub fn of<'m>(&self, minions: impl IntoIterator<Item = &'m Minion>) -> Secrets {
        minions.into_iter().fold(self.usual.clone(), secrets_of)
    }

    /// The secrets there are on an example, with what templates made of them.
    pub fn of_example(&self, example: &Arc<Example>) -> Arc<Secrets> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, secrets)) = &*last
            && Arc::ptr_eq(known, example)
        {
            return secrets.clone();
        }
        let secrets = self.of(&example.minions).derived(&example.secret_texts);
        let secrets = Arc::new(secrets);
        *last = Some((example.clone(), secrets.clone()));
        secrets
    }

    /// The secrets there are on a minion, those included that templates of a formula, by its index, made of them
    /// before an error or a warning: the formula is run once more to learn them.
    pub fn of_formula(
        &self,
        minion: &Minion,
        fleet: &Fleet<'_>,
        formula: Option<usize>,
        error: Option<&Error>,
    ) -> Secrets {
        // A limit's message quotes no template's values, and reaching it again takes long.
        let formula =
            formula.filter(|_| error.is_none_or(|error| error.kind() != ErrorKind::Limit));
        let made = formula
            .map(|formula| fleet.secret_texts(formula, minion))
            .unwrap_or_default();
        self.of([minion]).derived(made)
    }
}

/// Secrets with those that a minion adds.
#[must_use]
pub fn secrets_of(secrets: Secrets, minion: &Minion) -> Secrets {
    secrets
        .of_pillar(&minion.pillar)
        .of_names(&minion.grains)
        .of_names(&minion.opts)
}
