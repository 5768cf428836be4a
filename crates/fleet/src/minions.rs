//! Minions that are read one by one.

use mapstack::Error;
use mapstack::minion::Minion;

/// Minions that can be read by their ids, from whichever thread works on one.
pub trait Minions: Sync {
    /// One of them.
    ///
    /// # Errors
    /// Its facts cannot be read.
    fn read(&self, id: &str) -> Result<Minion, Error>;

    /// The same where it was read before; only its name if that is no longer possible.
    fn read_or_name(&self, id: &str) -> Minion {
        self.read(id).unwrap_or_else(|_| Minion::new(id))
    }
}
