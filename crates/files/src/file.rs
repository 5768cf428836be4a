//! A file that a state manages.

use mapstack::Engine;
use mapstack::minion::Part;
use mapstack::share::FactRead;
use mapstack_value::Key;

use crate::arguments::Chunk;
use crate::attributes::Attributes;
use crate::making::{ContentMethod, Rendering};
use crate::minion_files::mode_of;
use crate::plan::ContentPlan;
use crate::source::FileSource;
use crate::source::path_and_saltenv;
use crate::texts::parts;
use crate::unknown::Unknown;

/// The state that manages a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagingState {
    /// The position of the state in the low data.
    pub position: usize,
    /// The ID.
    pub id: String,
    /// The sls.
    pub sls: String,
    /// The saltenv in which it looks for files.
    pub saltenv: String,
}

impl ManagingState {
    fn of(chunk: Chunk<'_>) -> Self {
        let text = |name| chunk.text(name).unwrap_or_default();
        ManagingState {
            position: chunk.position,
            id: text("__id__"),
            sls: text("__sls__"),
            saltenv: chunk.saltenv(),
        }
    }
}

/// The kind of thing that a state makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ManagedKind {
    /// A whole file.
    File,
    /// A part of a file.
    Fragment,
    /// A directory.
    Directory,
    /// A symbolic or hard link.
    Link,
    /// Nothing: what is there is removed.
    Absent,
    /// Something else, without a text.
    Other,
}

impl ManagedKind {
    /// The kind in a word.
    ///
    /// ```
    /// assert_eq!(mapstack_files::ManagedKind::Link.name(), "link");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ManagedKind::File => "file",
            ManagedKind::Fragment => "fragment",
            ManagedKind::Directory => "directory",
            ManagedKind::Link => "link",
            ManagedKind::Absent => "absent",
            ManagedKind::Other => "other",
        }
    }
}

/// A file that a state manages, without its bytes.
#[derive(Debug, Clone)]
pub struct ManagedFile {
    /// The path on the minion.
    pub path: String,
    /// The function, such as `file.managed`.
    pub function: String,
    /// The state.
    pub state: ManagingState,
    /// The kind of thing that it makes.
    pub kind: ManagedKind,
    /// The owner, the mode and the like.
    pub attributes: Attributes,
    /// The source, if there is one.
    pub source: Option<FileSource>,
    /// The template engine, if the text is a template.
    pub template: Option<String>,
    /// Further conditions for the file to be written, a sentence each.
    pub notes: Vec<String>,
    /// The facts that the state names, to have their values as its content.
    pub looked_up: Vec<FactRead>,
    /// True if the mode is that of the source.
    pub keeps_mode: bool,
    /// The reason why the mode is not known, if the state wants that of the source.
    pub mode_unknown: Option<Unknown>,
    pub(crate) plan: ContentPlan,
}

impl ManagedFile {
    /// True if a name means this file: its path, the ID of its state, or the `salt://` URL of its source.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
    /// let engine = Engine::new(MemoryFiles::new());
    /// let low = [mapstack_yaml::load("{state: file, fun: absent, name: /etc/motd, __id__: no motd}").unwrap()];
    /// let all = mapstack_files::ManagedFiles::new(&engine, &Minion::new("web1"), &low).all();
    /// assert!(all[0].is_named("/etc/motd") && all[0].is_named("no motd") && !all[0].is_named("salt://motd"));
    /// ```
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        let url = self
            .source
            .as_ref()
            .and_then(|source| source.url.as_deref());
        let is_source = |url: &str| {
            let ((path, saltenv), (own, of)) = (path_and_saltenv(name), path_and_saltenv(url));
            path == own && (saltenv.is_none() || saltenv == of)
        };
        self.state.id == name
            || self.path.trim_end_matches('/') == name.trim_end_matches('/')
            || name.starts_with("salt://") && url.is_some_and(is_source)
    }

    /// True if the source has another mode on the file server of an engine, and the file has the mode of its source.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
    /// let engine = Engine::new(MemoryFiles::new().file("base", "x", ""));
    /// let low = [mapstack_yaml::load("{state: file, fun: managed, name: /x, source: 'salt://x', mode: 600}").unwrap()];
    /// let all = mapstack_files::ManagedFiles::new(&engine, &Minion::new("web1"), &low).all();
    /// assert!(!all[0].gets_other_mode(&engine));
    /// ```
    #[must_use]
    pub fn gets_other_mode(&self, engine: &Engine) -> bool {
        let source = self.source.as_ref().filter(|_| self.keeps_mode);
        let url = source.and_then(|source| source.url.as_deref());
        url.is_some_and(|url| mode_of(engine, url, &self.state.saltenv) != self.attributes.mode)
    }

    /// The way in which the bytes are made.
    #[must_use]
    pub fn way(&self) -> ContentMethod<'_> {
        match &self.plan {
            ContentPlan::Served(url) => ContentMethod::Served(url),
            ContentPlan::Template(template) => ContentMethod::Template(Rendering::of(template)),
            ContentPlan::Bytes(_) | ContentPlan::Texts(..) => ContentMethod::Arguments,
            ContentPlan::Nothing | ContentPlan::Unknown(_) | ContentPlan::Failed(_) => {
                ContentMethod::Nothing
            }
        }
    }

    /// True if a file of the file server is the source.
    #[must_use]
    pub fn has_source(&self, path: &str) -> bool {
        let url = self
            .source
            .as_ref()
            .and_then(|source| source.url.as_deref());
        url.is_some_and(|url| url.starts_with("salt://") && path_and_saltenv(url).0 == path)
    }

    /// A file with defaults for everything but its kind and plan.
    pub(crate) fn of(chunk: Chunk<'_>, kind: ManagedKind, plan: ContentPlan) -> Self {
        ManagedFile {
            path: chunk.path(),
            function: chunk.function(),
            state: ManagingState::of(chunk),
            kind,
            attributes: Attributes::default(),
            source: None,
            template: None,
            notes: conditions(chunk),
            looked_up: looked_up(chunk),
            keeps_mode: false,
            mode_unknown: None,
            plan,
        }
    }
}

/// The facts whose values a state has as the content of its file.
fn looked_up(chunk: Chunk<'_>) -> Vec<FactRead> {
    let delimiter = chunk.text("contents_delimiter");
    let delimiter = delimiter.unwrap_or_else(|| ":".into());
    let named = match chunk.get("fun").as_str() {
        Some("managed") => vec![
            ("contents_pillar", Part::Pillar, &*delimiter),
            ("contents_grains", Part::Grains, &*delimiter),
        ],
        Some("serialize") => vec![("dataset_pillar", Part::Pillar, ":")],
        _ => Vec::new(),
    };
    let reads = named.into_iter().flat_map(|(name, part, delimiter)| {
        let given = Some(chunk.get(name)).filter(|given| given.truthy());
        let keys = given.map(parts).unwrap_or_default();
        keys.into_iter().map(move |key| FactRead {
            part: Some(part),
            path: key.split(delimiter).map(Key::from).collect(),
        })
    });
    reads.collect()
}

/// The conditions under which a state runs.
fn conditions(chunk: Chunk<'_>) -> Vec<String> {
    let named = ["onlyif", "unless", "creates"].into_iter();
    let named = named.filter(|name| chunk.map.contains_key(*name));
    named
        .map(|name| format!("the machine decides by '{name}' if the state runs"))
        .collect()
}
