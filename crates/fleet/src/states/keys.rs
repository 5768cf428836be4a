//! Texts that equal changes have in common.

use hex::encode;
use sha2::{Digest, Sha256};

use super::compare::{FileChange, StateChange};
use super::hunks::{Hunk, hunks};
use super::plan::{PlannedFile, PlannedText, StateName};
use crate::change::Change;
use crate::own::MinionNames;

impl StateChange {
    /// A text that equal changes have in common; `own` has the names of a minion, which are left out.
    pub(crate) fn key(&self, own: &MinionNames, with_reactions: bool) -> String {
        let name = |state: &Option<StateName>| state.as_ref().map(|state| own.alike(&state.key()));
        let change = |change: &Change| {
            let values = [change.old.as_ref(), change.new.as_ref()];
            own.change(&change.path, values)
        };
        let arguments: Vec<String> = self.arguments.iter().map(change).collect();
        let file = |file: &FileChange| {
            let attributes: Vec<String> = file.attributes.iter().map(change).collect();
            let hunks = changed_lines(file, own);
            let has_whole_texts = file.has_text && hunks.is_none();
            let sides = [&file.old, &file.new].map(|side| {
                let side = side.as_ref();
                side.map(|side| of_file(side, own, has_whole_texts))
            });
            (attributes, sides, file.has_text, hunks)
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

/// Unchanged lines beside changed ones that equal changes have in common.
const CONTEXT: usize = 2;

/// A digest of the lines that change in a text, with those beside them: the rest of the text can be another one on each
/// minion. `None` if a side has no text, or the lines were not compared.
fn changed_lines(file: &FileChange, own: &MinionNames) -> Option<String> {
    let text = |side: &Option<PlannedFile>| match &side.as_ref()?.text {
        PlannedText::Bytes(bytes) if file.has_text => {
            Some(own.alike(std::str::from_utf8(bytes).ok()?))
        }
        _ => None,
    };
    let (old, new) = (text(&file.old)?, text(&file.new)?);
    let hunks = hunks([&old, &new]);
    if hunks.is_empty() {
        return None;
    }
    let [old, new]: [Vec<&str>; 2] = [&old, &new].map(|text| text.split('\n').collect());
    let lines = hunks.iter().map(|Hunk([gone, come])| {
        let before = gone.start.saturating_sub(CONTEXT)..gone.start;
        let behind = gone.end..gone.end.saturating_add(CONTEXT).min(old.len());
        let [before, gone, behind] = [before, gone.clone(), behind].map(|range| old.get(range));
        format!("{before:?}{gone:?}{:?}{behind:?}", new.get(come.clone()))
    });
    Some(encode(Sha256::digest(lines.collect::<String>())))
}

fn of_file(file: &PlannedFile, own: &MinionNames, has_text: bool) -> (String, String) {
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

#[cfg(test)]
mod tests {
    use mapstack_files::{Attributes, ManagedKind};

    use super::*;

    fn key(texts: [&str; 2]) -> Option<String> {
        let [old, new] = texts.map(|text| {
            Some(PlannedFile {
                path: "/etc/app".into(),
                kind: ManagedKind::File,
                attributes: Attributes::default(),
                source: None,
                text: PlannedText::Bytes(text.as_bytes().into()),
            })
        });
        let change = FileChange {
            old,
            new,
            attributes: Vec::new(),
            has_text: true,
        };
        changed_lines(&change, &MinionNames::default())
    }

    #[test]
    fn the_rest_of_a_text_does_not_tell_changes_apart() {
        let one = key(["os=a\n1\n2\nx\n3\n4\n", "os=a\n1\n2\ny\n3\n4\n"]);
        assert!(one.is_some());
        assert_eq!(
            one,
            key(["os=b\n\n1\n2\nx\n3\n4\n", "os=b\n\n1\n2\ny\n3\n4\n"])
        );
        // Other lines, or the same ones between others.
        assert_ne!(one, key(["os=a\n1\n2\nx\n3\n4\n", "os=a\n1\n2\nz\n3\n4\n"]));
        assert_ne!(one, key(["os=a\n1\n2\nx\n3\n5\n", "os=a\n1\n2\ny\n3\n5\n"]));
        assert_eq!(key(["a", "a"]), None);
    }
}
