//! The services of the program around an inventory.

use mapstack_diagnostic::{Diagnostic, Error, Place, Result};
use mapstack_salt_config::disk::FileTree;

/// The services that an inventory needs from the program around it. `D` is the data of a file.
pub trait Host<D> {
    /// The files.
    fn tree(&self) -> &FileTree;

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

    /// The place of a key or an item below others in a file, as far as it is known.
    fn place(&self, _path: &str, _keys: &[&str]) -> Option<Place> {
        None
    }

    /// The place of a text in a file that was read, as far as it is known.
    fn place_of_text(&self, _text: &str) -> Option<Place> {
        None
    }

    /// Report something that is probably a mistake.
    fn warn(&self, _warning: Diagnostic) {}
}
