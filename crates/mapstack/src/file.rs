//! A file of the file server, or of the disk.

use std::sync::Arc;

use mapstack_diagnostic::{Error, ErrorKind, Place, Result};

/// A file that was found.
#[derive(Debug, Clone)]
pub struct File {
    /// Its path from the file server's root.
    pub path: String,
    /// Where it lies, as a person would open it.
    pub shown: String,
    /// What is in it.
    pub bytes: Arc<[u8]>,
}

impl File {
    /// The content as text.
    ///
    /// # Errors
    /// It is not UTF-8.
    pub fn text(&self) -> Result<&str> {
        mapstack_yaml::decode(&self.bytes).map_err(|e| {
            let place = e
                .mark()
                .map(|mark| Place::in_bytes(&self.shown, &self.bytes, |text| mark.offset(text)));
            Error::new(ErrorKind::File, format!("{}: {e}", self.shown)).at(place)
        })
    }
}
