//! The attributes that a state gives a file.

use mapstack_value::Value;

use crate::arguments::Chunk;
use crate::minion_files::MinionFiles;

/// The attributes that a state gives a file.
///
/// ```
/// use mapstack_files::Attributes;
/// let attributes = Attributes { mode: Some("0644".into()), ..Attributes::default() };
/// let entries = attributes.entries();
/// let set: Vec<_> = entries.iter().filter(|(_, value)| !value.is_none()).map(|(name, _)| *name).collect();
/// assert_eq!(set, ["mode"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attributes {
    /// The owner; `None` if the state does not set it.
    pub user: Value,
    /// The group; `None` if the state does not set it.
    pub group: Value,
    /// The mode with four digits; nothing if the state does not set it.
    pub mode: Option<String>,
    /// The attributes of the file system, as `chattr` writes them.
    pub attrs: Option<String>,
    /// The target of a link.
    pub target: Option<String>,
}

impl Attributes {
    /// The owner and the group of a state of whole files. On Windows, the owner is the group as well.
    pub(crate) fn owned(user: Value, chunk: Chunk<'_>, minion_files: &MinionFiles<'_>) -> Self {
        let group = match minion_files.is_on_windows() {
            true => user.clone(),
            false => chunk.get("group").clone(),
        };
        Attributes {
            user,
            group,
            ..Attributes::default()
        }
    }

    /// The attributes by name; `None` for those that are not set.
    #[must_use]
    pub fn entries(&self) -> [(&'static str, Value); 5] {
        let text = |text: &Option<String>| text.as_deref().map_or(Value::None, Value::from);
        [
            ("user", self.user.clone()),
            ("group", self.group.clone()),
            ("mode", text(&self.mode)),
            ("attrs", text(&self.attrs)),
            ("target", text(&self.target)),
        ]
    }
}
