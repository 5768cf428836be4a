//! Sls that reach a limit for one minion after another.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use mapstack_diagnostic::{Error, ErrorKind};

/// Limit on the minions for which an sls reaches a limit. It is not rendered for further ones: each would take as long.
const MOST: usize = 2;

/// The sls that reached a limit, with the number of minions, where many are looked at to find mistakes.
///
/// ```
/// use mapstack_diagnostic::{Error, ErrorKind};
/// use mapstack_states::Exhausting;
/// let exhausting = Exhausting::default();
/// let limit = || Err(Error::new(ErrorKind::Limit, "too long"));
/// let say = |made: Result<(), Error>| made.unwrap_err().to_string();
/// assert_eq!(say(exhausting.try_once_more("a.sls", limit)), "too long");
/// assert_eq!(say(exhausting.try_once_more("a.sls", limit)), "too long");
/// let refused = "a.sls reached a limit for 2 minions, and is not rendered for more";
/// assert_eq!(say(exhausting.try_once_more("a.sls", limit)), refused);
/// assert!(exhausting.try_once_more("b.sls", || Ok(())).is_ok());
/// ```
#[derive(Debug, Default)]
pub struct Exhausting(Mutex<HashMap<String, usize>>);

impl Exhausting {
    /// Render an sls unless it reached limits before.
    ///
    /// # Errors
    /// Those of rendering, or that it is not rendered for more minions.
    pub fn try_once_more<T>(
        &self,
        path: &str,
        render: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let times = self.known().get(path).copied().unwrap_or_default();
        if times >= MOST {
            let why =
                format!("{path} reached a limit for {times} minions, and is not rendered for more");
            return Err(Error::new(ErrorKind::Limit, why));
        }
        let made = render();
        if made.as_ref().is_err_and(|e| e.kind() == ErrorKind::Limit) {
            *self.known().entry(path.to_owned()).or_default() += 1;
        }
        made
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, usize>> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
