//! The managed files of a fleet: equal ones of several minions are one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mapstack::value::Value;
use mapstack_files::{Attributes, Content, FileOfMinion, ManagedFile};
use serde::Serialize;

/// A file as the states of some minions make it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FleetFile {
    /// The path on the minion.
    pub(crate) path: String,
    /// The function of the state.
    pub(crate) function: String,
    /// The ID of the state.
    pub(crate) id: String,
    /// The sls of the state.
    pub(crate) sls: String,
    user: Option<String>,
    group: Option<String>,
    mode: Option<String>,
    text: ContentText,
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ContentText {
    Nothing,
    Bytes(Arc<[u8]>),
    Unknown(&'static str),
    Refused,
}

/// The owner, the mode and the text of a managed file.
#[derive(Debug, Clone, Default, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct FileItem {
    /// The owner, if the state sets one.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The group, if the state sets one.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// The mode, if the state sets one.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    /// The number of the text among the different ones that the minions of a fleet get at the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<usize>,
    /// The number of different texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    texts: Option<usize>,
    /// The reason for which the text is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<&'static str>,
    /// True if Salt refuses the state.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    refused: bool,
}

impl FleetFile {
    /// The file of a minion, without what is another on each.
    #[must_use]
    pub fn of(one: &FileOfMinion) -> Self {
        let file: &ManagedFile = &one.file;
        let Attributes {
            user, group, mode, ..
        } = &file.attributes;
        let name = |value: &Value| (!value.is_none()).then(|| value.to_string());
        FleetFile {
            path: file.path.clone(),
            function: file.function.clone(),
            id: file.state.id.clone(),
            sls: file.state.sls.clone(),
            user: name(user),
            group: name(group),
            mode: mode.clone(),
            text: match &one.made.content {
                Content::Nothing => ContentText::Nothing,
                Content::Bytes(bytes) => ContentText::Bytes(bytes.clone()),
                Content::Unknown(unknown) => ContentText::Unknown(unknown.reason.described()),
                Content::Failed(_) => ContentText::Refused,
            },
        }
    }

    /// The same, with its text as the number that it has among those of its path.
    pub(crate) fn item(&self, texts: &PathTexts) -> FileItem {
        let number = texts.number(self);
        FileItem {
            user: self.user.clone(),
            group: self.group.clone(),
            mode: self.mode.clone(),
            text: number.map(|(number, _)| number),
            texts: number.map(|(_, all)| all),
            unknown: match self.text {
                ContentText::Unknown(reason) => Some(reason),
                _ => None,
            },
            refused: self.text == ContentText::Refused,
        }
    }
}

impl FileItem {
    /// The owner, the mode and the text in words.
    pub fn shown(&self) -> String {
        let owner = match (&self.user, &self.group) {
            (None, None) => None,
            (user, group) => {
                let shown = |name: &Option<String>| name.clone().unwrap_or_default();
                Some(format!("{}:{}", shown(user), shown(group)))
            }
        };
        let text = match (self.text, self.texts) {
            (Some(number), Some(all)) if all > 1 => Some(format!("text {number} of {all}")),
            _ => None,
        };
        let unknown = self.unknown.map(|why| format!("text unknown: {why}"));
        let refused = self.refused.then(|| "refused".to_owned());
        let parts = [owner, self.mode.clone(), text, unknown, refused];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(" ")
    }
}

/// The different texts of each path.
pub(crate) struct PathTexts<'f>(BTreeMap<&'f str, Vec<&'f ContentText>>);

impl<'f> PathTexts<'f> {
    /// The texts of some files, in the order of their first minions.
    pub fn of(files: impl Iterator<Item = (&'f FleetFile, &'f [String])>) -> Self {
        let mut by_path: BTreeMap<&str, BTreeMap<&ContentText, &str>> = BTreeMap::new();
        for (file, ids) in files.filter(|(file, _)| matches!(file.text, ContentText::Bytes(_))) {
            let first = ids.iter().min().map_or("", String::as_str);
            let texts = by_path.entry(&file.path).or_default();
            let known = texts.entry(&file.text).or_insert(first);
            *known = first.min(known);
        }
        let ordered = by_path.into_iter().map(|(path, texts)| {
            let firsts: BTreeSet<(&str, &ContentText)> =
                texts.iter().map(|(text, at)| (*at, *text)).collect();
            (path, firsts.into_iter().map(|(_, text)| text).collect())
        });
        PathTexts(ordered.collect())
    }

    /// The number of a file's text, and how many there are.
    fn number(&self, file: &FleetFile) -> Option<(usize, usize)> {
        let texts = self.0.get(file.path.as_str())?;
        let at = texts.iter().position(|text| **text == file.text)?;
        Some((at + 1, texts.len()))
    }
}
