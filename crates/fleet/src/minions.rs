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

    /// One of them, without what is changed in each of many.
    ///
    /// # Errors
    /// Its facts cannot be read.
    fn unchanged(&self, id: &str) -> Result<Minion, Error> {
        self.read(id)
    }

    /// A minion with what is changed in each of many.
    ///
    /// # Errors
    /// It cannot be changed so.
    fn as_given(&self, minion: Minion) -> Result<Minion, Error> {
        Ok(minion)
    }

    /// The minion, read again; only its name if that is no longer possible.
    fn read_or_name(&self, id: &str) -> Minion {
        self.read(id).unwrap_or_else(|_| Minion::new(id))
    }
}
