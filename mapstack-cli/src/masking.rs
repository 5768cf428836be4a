//! What is kept back of what is printed.

use mapstack::loader::Fnmatch;
use mapstack::minion::Minion;
use mapstack::secrets::Secrets;
use mapstack::{Error, ErrorKind};
use mapstack_fleet::Fleet;

use crate::cli::SecretFlags;
use crate::report::{Failure, Reporter};

/// What flags say about secrets.
pub struct Masking {
    usual: Secrets,
}

impl Masking {
    pub fn new(flags: &SecretFlags, reporter: &Reporter) -> Result<Self, Failure> {
        let salt = match &flags.digest_salt {
            Some(salt) => salt.as_bytes().into(),
            None => random_salt()
                .map_err(|e| Failure::Usage(format!("no random salt for digests: {e}")))?
                .to_vec(),
        };
        let usual = Secrets::new(&salt).shown_anyway(reporter.shows_secrets());
        let usual = flags.secret.iter().fold(usual, |secrets, pattern| {
            let pattern = pattern.to_lowercase();
            secrets.named(move |name| Fnmatch::new(&pattern).matches(&name.to_lowercase()))
        });
        reporter.mask_with(&usual);
        Ok(Masking { usual })
    }

    /// The secrets there are on minions.
    pub fn of<'m>(&self, minions: impl IntoIterator<Item = &'m Minion>) -> Secrets {
        minions.into_iter().fold(self.usual.clone(), of_minion)
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
        // A limit says nothing of what templates made, and is a long way to go.
        let formula =
            formula.filter(|_| error.is_none_or(|error| error.kind() != ErrorKind::Limit));
        let made = formula
            .map(|formula| fleet.secret_texts(formula, minion))
            .unwrap_or_default();
        self.of([minion]).derived(made)
    }
}

/// What a minion adds to secrets.
pub fn of_minion(secrets: Secrets, minion: &Minion) -> Secrets {
    secrets
        .of_pillar(&minion.pillar)
        .of_names(&minion.grains)
        .of_names(&minion.opts)
}

pub fn random_salt() -> Result<[u8; 16], getrandom::Error> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt)?;
    Ok(salt)
}
