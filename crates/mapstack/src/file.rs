//! Files from the file server or from disk.

use std::sync::Arc;

use mapstack_diagnostic::{Error, ErrorKind, Place, Result};

/// The path and content of a file.
#[derive(Debug, Clone)]
pub struct File {
    /// The path relative to the file server's root.
    pub path: String,
    /// The path on disk, as a user would open it.
    pub shown: String,
    /// The content.
    pub bytes: Arc<[u8]>,
}

impl File {
    /// The content as text.
    ///
    /// # Errors
    /// The content is not UTF-8.
    pub fn text(&self) -> Result<&str> {
        mapstack_yaml::decode(&self.bytes).map_err(|e| {
            let place = e
                .mark()
                .map(|mark| Place::in_bytes(&self.shown, &self.bytes, |text| mark.offset(text)));
            let message = match place {
                Some(_) => e.kind().to_string(),
                None => format!("{}: {e}", self.shown),
            };
            Error::new(ErrorKind::File, message).at(place)
        })
    }
}
