//! The files of minions, with their bytes.

use mapstack_files::{Content, ManagedFile, ManagedFiles};
use mapstack_report::files::FileRow;
use mapstack_states::Places;

use super::Reporter;

/// The files of a minion, and the places of their states.
pub struct FilesOfStates<'f> {
    /// The id of the minion.
    pub minion: &'f str,
    /// The files.
    pub files: ManagedFiles<'f>,
    /// The places of states.
    pub places: Places<'f>,
}

impl FilesOfStates<'_> {
    /// A file as a row, and its content. The reporter learns the texts that its template makes of secrets.
    #[must_use]
    pub fn row(&self, file: &ManagedFile, reporter: &Reporter) -> (FileRow, Content) {
        let mut content = self.files.content(file);
        let secrets = self.files.take_secret_texts();
        if !secrets.is_empty() {
            reporter.knows_texts(secrets);
        }
        let state = &file.state;
        let (said, place) = self.places.of_id(&state.sls, &state.saltenv, &state.id);
        // An error of a template has a place of its own.
        if let Content::Failed(error) = &mut content
            && error.diagnostic().place.is_none()
        {
            **error = error.as_ref().clone().at(place);
        }
        let redact = |text: &str| reporter.redact(&text.to_owned()).to_string();
        let row = FileRow::new(self.minion, said, file, &content, &redact);
        (row, content)
    }
}
