//! What is kept back of what is printed.

use mapstack::minion::Minion;
use mapstack::secrets::Secrets;

use crate::cli::SecretFlags;
use crate::report::Failure;

/// What flags say about secrets.
pub struct Masking {
    salt: Vec<u8>,
    patterns: Vec<String>,
    shown: bool,
}

impl Masking {
    pub fn new(flags: &SecretFlags) -> Result<Self, Failure> {
        let salt = match &flags.digest_salt {
            Some(salt) => salt.as_bytes().into(),
            None => {
                let mut salt = [0; 16];
                getrandom::fill(&mut salt).map_err(|e| Failure::Usage(format!("no random salt for digests: {e}")))?;
                salt.into()
            }
        };
        Ok(Masking { salt, patterns: flags.secret.clone(), shown: flags.show_secrets })
    }

    /// The secrets there are on minions.
    pub fn of<'m>(&self, minions: impl IntoIterator<Item = &'m Minion>) -> Secrets {
        let secrets = Secrets::new(&self.salt).shown_anyway(self.shown);
        let secrets = self.patterns.iter().fold(secrets, |secrets, pattern| secrets.pattern(pattern));
        minions.into_iter().fold(secrets, |secrets, minion| secrets.of_pillar(&minion.pillar))
    }
}
