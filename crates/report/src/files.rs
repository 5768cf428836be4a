//! The files that states manage, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mapstack::Means;
use mapstack::value::Value;
use mapstack::value::pytext::base64;
use mapstack::without_login;
use mapstack_files::{Content, ManagedFile, ManagedKind, Reason, SourceLookup};
use serde::Serialize;

use crate::document::{Plain, names};
use crate::left_out::LeftOutRow;
use crate::terminal::printable;
use crate::words::{count, width};

/// A file that a state manages.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FileRow {
    /// The id of the minion.
    pub minion: String,
    /// The path on the minion.
    pub path: String,
    /// file, fragment, directory, link, absent or other
    pub kind: &'static str,
    /// The function of the state, such as file.managed.
    pub function: String,
    /// The ID of the state.
    pub id: String,
    /// The sls of the state.
    pub sls: String,
    /// The saltenv in which the state looks for files.
    pub saltenv: String,
    /// The file and line of the ID, or the file alone where a template makes it.
    pub place: String,
    /// The owner, if the state sets one.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Plain>,
    /// The group, if the state sets one.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<Plain>,
    /// The mode with four digits, if the state sets one.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    /// The attributes, as chattr writes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    attrs: Option<String>,
    /// The target of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// The source that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// All sources of a list, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<CandidateRow>,
    /// The template engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<String>,
    /// The number of bytes, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<usize>,
    /// The bytes, if they are UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The bytes, if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// The reason for which the bytes are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownRow>,
    /// The reason for which the mode is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode_unknown: Option<String>,
    /// The reason for which Salt refuses the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Further conditions for the file to be written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The files that states manage, as a document.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum FilesDocument<'f> {
    /// All of them.
    All(Vec<&'f FileRow>),
    /// Those of the sls that compile.
    Partial {
        /// The sls that are left out.
        left_out: Vec<LeftOutRow>,
        /// The files.
        files: Vec<&'f FileRow>,
    },
}

/// A source in a list.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CandidateRow {
    source: String,
    found: CandidateFound,
}

names! {
    /// The result of looking for a source.
    CandidateFound of SourceLookup, "kebab-case": Chosen, Missing, Unknown, NotAsked
}

/// The reason for which something is unknown.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct UnknownRow {
    /// The kind of reason.
    pub reason: &'static str,
    /// The reason with names.
    pub why: String,
}

impl FileRow {
    /// A file of a minion, with the place of its state and its content. Texts about errors have no secrets.
    #[must_use]
    pub fn new(
        minion: &str,
        place: String,
        file: &ManagedFile,
        content: &Content,
        redact: &dyn Fn(&str) -> String,
    ) -> Self {
        let given = |value: &Value| (!value.is_none()).then(|| Plain(value.clone()));
        let source = file.source.clone().unwrap_or_default();
        let candidates = source.candidates.into_iter().map(|one| CandidateRow {
            source: without_password(&one.url),
            found: one.found.into(),
        });
        let (mut text, mut base64, mut unknown, mut error, mut size) =
            (None, None, None, None, None);
        match content {
            Content::Nothing => {}
            Content::Bytes(bytes) => {
                size = Some(bytes.len());
                match std::str::from_utf8(bytes) {
                    Ok(bytes) => text = Some(bytes.to_owned()),
                    Err(_) => base64 = Some(base64::encode(bytes)),
                }
            }
            Content::Unknown(one) => {
                unknown = Some(UnknownRow {
                    reason: one.reason.described(),
                    why: redact(&one.why),
                });
            }
            Content::Failed(failed) => error = Some(redact(&failed.to_string())),
        }
        FileRow {
            minion: minion.into(),
            path: file.path.clone(),
            kind: file.kind.name(),
            function: file.function.clone(),
            id: file.state.id.clone(),
            sls: file.state.sls.clone(),
            saltenv: file.state.saltenv.clone(),
            place,
            user: given(&file.attributes.user),
            group: given(&file.attributes.group),
            mode: file.attributes.mode.clone(),
            attrs: file.attributes.attrs.clone(),
            target: file.attributes.target.clone(),
            source: source.url.as_deref().map(without_password),
            candidates: candidates.collect(),
            template: file.template.clone(),
            size,
            text,
            base64,
            unknown,
            mode_unknown: file
                .mode_unknown
                .as_ref()
                .map(|unknown| redact(&unknown.why)),
            error,
            notes: file.notes.clone(),
        }
    }

    /// The owner, the group and the mode.
    pub(crate) fn owner(&self) -> String {
        let name = |value: &Option<Plain>| {
            value
                .as_ref()
                .map(|value| value.0.to_string())
                .unwrap_or_default()
        };
        let owner = match (name(&self.user), name(&self.group)) {
            (user, group) if user.is_empty() && group.is_empty() => "-".into(),
            (user, group) if group.is_empty() => user,
            (user, group) => format!("{user}:{group}"),
        };
        match (&self.mode, &self.mode_unknown) {
            (Some(mode), _) => format!("{owner} {mode}"),
            (None, Some(_)) => format!("{owner} unknown"),
            (None, None) => owner,
        }
    }

    /// The source of the file.
    fn from(&self) -> String {
        if let Some(unknown) = &self.unknown {
            return format!("unknown: {}", unknown.why);
        }
        if self.error.is_some() {
            return "refused".into();
        }
        self.chosen()
    }

    /// The source that counts, and its position in a list.
    fn chosen(&self) -> String {
        let mut from = match (&self.source, &self.target) {
            (Some(source), _) => source.clone(),
            (None, Some(target)) => format!("-> {target}"),
            (None, None) => match self.size {
                Some(_) if self.function == "file.serialize" => "its data".into(),
                Some(_) => "its text".into(),
                None => self.kind.into(),
            },
        };
        if let Some(at) = self
            .candidates
            .iter()
            .position(|one| one.found == CandidateFound::Chosen)
        {
            let _ = write!(from, " ({} of {})", at + 1, self.candidates.len());
        }
        from
    }
}

impl FileRow {
    /// True if the state makes a whole file.
    pub(crate) fn is_file(&self) -> bool {
        self.kind == ManagedKind::File.name()
    }

    /// The source, and the reasons of [`FileRow::faults`], a line each.
    pub(crate) fn details(&self) -> Vec<String> {
        let has_source = self.source.is_some() || self.target.is_some();
        let source = has_source.then(|| self.chosen());
        source.into_iter().chain(self.faults()).collect()
    }

    /// Reasons for which the text or the mode is unknown or the file is refused, a line each.
    pub(crate) fn faults(&self) -> Vec<String> {
        let unknown = self.unknown.as_ref().map(|unknown| {
            let answer = match unknown.reason == Reason::Unanswered.described() {
                true => format!(" (answer it with {})", Means::Stub),
                false => String::new(),
            };
            format!("text unknown: {}{answer}", unknown.why)
        });
        let mode = self.mode_unknown.as_ref();
        let mode = mode.map(|why| format!("mode unknown: {why}"));
        let error = self.error.as_ref().map(|error| format!("refused: {error}"));
        [unknown, mode, error].into_iter().flatten().collect()
    }
}

/// A source, without the login of a URL.
fn without_password(url: &str) -> String {
    match url.starts_with("salt://") {
        true => url.to_owned(),
        false => without_login(url),
    }
}

/// The widest column that is aligned.
const WIDEST: usize = 44;

/// The files of a minion, a line each, and what is not known of them.
#[must_use]
pub fn listing(rows: &[&FileRow]) -> String {
    let cells: Vec<[String; 5]> = rows
        .iter()
        .map(|row| {
            let cells = [
                row.path.clone(),
                row.owner(),
                row.from(),
                row.function.clone(),
                row.place.clone(),
            ];
            cells.map(|cell| printable(&cell).replace('\n', " "))
        })
        .collect();
    let widths = [0, 1, 2, 3].map(|column| width(cells.iter().map(|row| &row[column]), WIDEST));
    let mut text = count(rows.len(), "file");
    for (number, what) in counted(rows) {
        let _ = write!(text, "; {number} {what}");
    }
    text.push('\n');
    for row in &cells {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        line.push_str(&row[4]);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The number of files that are not known, by reason, and of those that Salt refuses.
fn counted(rows: &[&FileRow]) -> Vec<(usize, String)> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for unknown in rows.iter().filter_map(|row| row.unknown.as_ref()) {
        *reasons.entry(unknown.reason).or_default() += 1;
    }
    let refused = rows.iter().filter(|row| row.error.is_some()).count();
    let unknown = reasons
        .into_iter()
        .map(|(reason, count)| (count, format!("unknown for {reason}")));
    let refused = (refused > 0).then(|| (refused, "refused".to_owned()));
    unknown.chain(refused).collect()
}
