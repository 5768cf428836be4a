//! Texts that equal changes have in common.

use hex::encode;
use sha2::{Digest, Sha256};

use super::compare::{FileChange, StateChange};
use super::plan::{PlannedFile, PlannedText, StateName};
use crate::change::Change;
use crate::own::Own;

impl StateChange {
    /// A text that equal changes have in common; `own` has the names of a minion, which are left out.
    pub(crate) fn key(&self, own: &Own, with_reactions: bool) -> String {
        let name = |state: &Option<StateName>| state.as_ref().map(|state| own.alike(&state.key()));
        let change = |change: &Change| {
            let values = [change.old.as_ref(), change.new.as_ref()];
            own.change(&change.path, values)
        };
        let arguments: Vec<String> = self.arguments.iter().map(change).collect();
        let file = |file: &FileChange| {
            let attributes: Vec<String> = file.attributes.iter().map(change).collect();
            let sides = [&file.old, &file.new].map(|side| {
                let side = side.as_ref();
                side.map(|side| of_file(side, own, file.has_text))
            });
            (attributes, sides, file.has_text)
        };
        let files: Vec<_> = self.files.iter().map(file).collect();
        let reactions: Vec<String> = match with_reactions {
            true => self.reactions.iter().map(ToString::to_string).collect(),
            false => Vec::new(),
        };
        let names = [&self.old, &self.new].map(name);
        format!("{:?}", (names, arguments, files, reactions))
    }
}

fn of_file(file: &PlannedFile, own: &Own, has_text: bool) -> (String, String) {
    let text = match &file.text {
        _ if !has_text => String::new(),
        PlannedText::Nothing => "nothing".to_owned(),
        PlannedText::Bytes(bytes) => digest(&own.alike(&String::from_utf8_lossy(bytes)), bytes),
        PlannedText::Unknown { why, .. } => format!("unknown {}", own.alike(why)),
        PlannedText::Failed { said, .. } => format!("failed {}", own.alike(said)),
    };
    (own.alike(&file.path), text)
}

fn digest(text: &str, bytes: &[u8]) -> String {
    // Bytes other than UTF-8 would look alike with placeholders in their place.
    match std::str::from_utf8(bytes) {
        Ok(_) => encode(Sha256::digest(text)),
        Err(_) => encode(Sha256::digest(bytes)),
    }
}
