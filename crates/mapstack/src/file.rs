//! Files from the file server or from disk.

use std::sync::Arc;

use mapstack_diagnostic::{Error, ErrorKind, Place, Result};
use mapstack_loader::{Fetched, LoadError, SaltPath};

/// The first bytes of a file that git-crypt has encrypted.
const GIT_CRYPT: &[u8] = b"\0GITCRYPT\0";

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
    /// The content as text. Salt keeps a byte order mark, so it is a part of the text.
    ///
    /// # Errors
    /// The content is not UTF-8.
    pub fn text(&self) -> Result<&str> {
        mapstack_yaml::decode_all(&self.bytes).map_err(|e| {
            if self.bytes.starts_with(GIT_CRYPT) {
                // The path is the same in every state of the files.
                let message = format!("{} is encrypted by git-crypt", self.path);
                let error = Error::new(ErrorKind::File, message)
                    .help("`git-crypt unlock` decrypts the files of a checkout");
                return match self.shown == self.path {
                    true => error,
                    false => error.note(format!("the file is {}", self.shown)),
                };
            }
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

    /// The content as text without its byte order mark, as Python reads programs.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub fn unmarked(&self) -> Result<&str> {
        let text = self.text()?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
    }
}

/// Convert the error of a file that cannot be read.
pub(crate) fn unreadable(
    path: &SaltPath,
    fetched: std::result::Result<Fetched, LoadError>,
) -> Result<Fetched> {
    fetched.map_err(|e| Error::new(ErrorKind::File, format!("cannot read salt://{path}: {e}")))
}
