//! The services of the program around an inventory.

use mapstack_diagnostic::{Diagnostic, Error, Result};
use mapstack_loader::Tree;

/// The services that an inventory needs from the program around it. `D` is the data of a file.
pub trait Host<D> {
    /// The files.
    fn tree(&self) -> &Tree;

    /// The data of a file: the output of its template, if it is one, read as YAML.
    ///
    /// # Errors
    /// The file cannot be read, or its template or its YAML is wrong.
    fn read(&self, path: &str) -> Result<D>;

    /// True if an error of reading says that a text has no YAML in it: its characters are not tokens of YAML.
    fn has_no_tokens(&self, _error: &Error) -> bool {
        false
    }

    /// Pay for work.
    ///
    /// # Errors
    /// A limit is reached.
    fn spend(&self, _steps: usize) -> Result<()> {
        Ok(())
    }

    /// Report something that is probably a mistake.
    fn warn(&self, _warning: Diagnostic) {}
}
