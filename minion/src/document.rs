//! Reading a minion from YAML or JSON, and changing it.

use std::fmt;
use std::sync::Arc;

use mapstack_value::{Key, Map, Value, json};
use mapstack_yaml::{Limits, Mark, load_marked};

use crate::Minion;

/// One of a minion's stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Grains
    Grains,
    /// Pillar
    Pillar,
    /// Options
    Opts,
}

impl Part {
    /// Its key in a minion document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Part::Grains => "grains",
            Part::Pillar => "pillar",
            Part::Opts => "opts",
        }
    }
}

/// A document that is no minion.
#[derive(Debug, Clone, PartialEq)]
pub struct MinionError {
    /// The file, as the caller names it.
    pub file: String,
    /// Its text, as far as it is text.
    pub source: Arc<str>,
    /// Where in it.
    pub mark: Option<Mark>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl fmt::Display for MinionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(mark) = self.mark {
            write!(f, ":{}:{}", mark.line, mark.column)?;
        }
        write!(f, ": {}", self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for MinionError {}

/// A change that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// The path does not begin with a store.
    #[error("a fact is grains.…, pillar.… or opts.…, not '{0}'")]
    UnknownStore(String),
    /// Something on the way is no mapping.
    #[error("'{0}' is not a mapping, so nothing can be set below it")]
    NotAMapping(String),
    /// The id must be text.
    #[error("the id must be text")]
    BadId,
}

/// A document with its positions, for errors.
struct Document<'d> {
    file: &'d str,
    source: Arc<str>,
}

impl Document<'_> {
    fn error(&self, mark: Option<Mark>, message: impl Into<String>, help: Option<String>) -> MinionError {
        let (file, source) = (self.file.to_string(), self.source.clone());
        MinionError { file, source, mark, message: message.into(), help }
    }
}

const KEYS: [&str; 4] = ["id", "grains", "pillar", "opts"];

impl Minion {
    /// Read a document with `id`, `grains`, `pillar` and `opts`, all optional.
    ///
    /// JSON is read as JSON if it is valid, everything else as Salt's YAML.
    ///
    /// # Errors
    /// Text that is neither, a document of another shape, or a key that means nothing.
    pub fn parse(bytes: &[u8], file: &str) -> Result<Self, MinionError> {
        let (document, value, marks) = read(bytes, file)?;
        let map = match value {
            Value::Map(map) => map,
            other => {
                let what = other.kind().described();
                let help = "write `id: web1`, then `grains:`, `pillar:` and `opts:` with mappings";
                return Err(document.error(None, format!("a minion is a mapping, not {what}"), Some(help.into())));
            }
        };
        let mut minion = Minion::default();
        for (index, (key, value)) in map.iter().enumerate() {
            let mark = marks.as_ref().and_then(|m| m.key(index));
            let store = |value: &Value| match value {
                Value::Map(map) => Ok(map.clone()),
                Value::None => Ok(Map::new()),
                other => {
                    let what = other.kind().described();
                    Err(document.error(mark, format!("`{key}` must be a mapping, not {what}"), None))
                }
            };
            match key.as_str() {
                Some("id") => {
                    minion.id = match value {
                        Value::None => None,
                        Value::Map(_) | Value::List(_) => {
                            let what = value.kind().described();
                            return Err(document.error(mark, format!("`id` must be text, not {what}"), None));
                        }
                        id if id.truthy() => Some(id.to_string().into()),
                        _ => None,
                    }
                }
                Some("grains") => minion.grains = store(value)?,
                Some("pillar") => minion.pillar = store(value)?,
                Some("opts") => minion.opts = store(value)?,
                _ => return Err(document.error(mark, format!("`{key}` is no part of a minion"), Some(advice(key)))),
            }
        }
        Ok(minion.complete())
    }

    /// Replace one store by a document of its own.
    ///
    /// Grains may be as `salt-call --local grains.items --out=json` prints them, below `local`.
    ///
    /// # Errors
    /// Text that is neither JSON nor YAML, or no mapping.
    pub fn load_part(&mut self, part: Part, bytes: &[u8], file: &str) -> Result<(), MinionError> {
        let (document, value, _) = read(bytes, file)?;
        let mut map = match value {
            Value::Map(map) => map,
            Value::None => Map::new(),
            other => {
                let (name, what) = (part.name(), other.kind().described());
                return Err(document.error(None, format!("{name} are a mapping, not {what}"), None));
            }
        };
        if let (1, Some(Value::Map(local))) = (map.len(), map.get("local")) {
            map = local.clone();
        }
        match part {
            Part::Grains => {
                // An id that only followed from earlier grains follows from these now.
                self.id = self.id.take().filter(|_| !map.contains_key("id"));
                self.set_grains(map);
            }
            Part::Pillar => self.set_pillar(map),
            Part::Opts => self.set_opts(map),
        }
        Ok(())
    }

    /// Set one value by a path such as `grains.selinux.enabled`, making mappings on the way.
    ///
    /// # Errors
    /// A path that begins with no store, or passes through something that is no mapping.
    pub fn set(&mut self, path: &str, value: Value) -> Result<(), SetError> {
        let (store, rest) = path.split_once('.').unwrap_or((path, ""));
        let steps: Vec<&str> = if rest.is_empty() { Vec::new() } else { rest.split('.').collect() };
        let target = match store {
            "id" if steps.is_empty() => {
                let id = value.as_str().map(String::from).ok_or(SetError::BadId)?;
                self.set_id(&id);
                return Ok(());
            }
            "grains" => &mut self.grains,
            "pillar" => &mut self.pillar,
            "opts" => &mut self.opts,
            other => return Err(SetError::UnknownStore(other.into())),
        };
        set_below(target, &steps, value, store)?;
        self.options = std::sync::OnceLock::new();
        if path == "grains.id" {
            self.id = self.grains.get("id").map(|id| id.to_string().into());
        }
        Ok(())
    }
}

fn set_below(map: &mut Map, steps: &[&str], value: Value, shown: &str) -> Result<(), SetError> {
    let Some((step, rest)) = steps.split_first() else {
        let Value::Map(whole) = value else { return Err(SetError::NotAMapping(shown.into())) };
        *map = whole;
        return Ok(());
    };
    if rest.is_empty() {
        map.insert(*step, value);
        return Ok(());
    }
    if !map.contains_key(*step) {
        map.insert(*step, Map::new());
    }
    let shown = format!("{shown}.{step}");
    match map.get_mut(*step) {
        Some(Value::Map(inner)) => set_below(inner, rest, value, &shown),
        _ => Err(SetError::NotAMapping(shown)),
    }
}

fn read<'d>(
    bytes: &[u8],
    file: &'d str,
) -> Result<(Document<'d>, Value, Option<mapstack_yaml::Marks>), MinionError> {
    let text = mapstack_yaml::decode(bytes).map_err(|e| {
        let document = Document { file, source: String::from_utf8_lossy(bytes).into() };
        document.error(e.mark(), e.to_string(), None)
    })?;
    let document = Document { file, source: text.into() };
    // Tabs and numbers such as 1e3 mean in JSON what they do not mean in YAML.
    if text.trim_start().starts_with(['{', '['])
        && let Ok(value) = json::loads(text)
    {
        return Ok((document, value, None));
    }
    match load_marked(text, &Limits::default()) {
        Ok((value, marks)) => Ok((document, value, Some(marks))),
        Err(e) => Err(document.error(e.mark(), e.to_string(), None)),
    }
}

fn advice(key: &Key) -> String {
    let name = key.to_string();
    let near = KEYS.into_iter().find(|known| {
        let distance = strsim::damerau_levenshtein(known, &name);
        distance <= (known.len() / 2).min(2) && distance < name.len()
    });
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "a minion document has id, grains, pillar and opts; grains go below `grains:`".into(),
    }
}
