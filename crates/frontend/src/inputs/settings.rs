//! The content of a `.mapstack.yaml`, with the places of its mistakes.

use std::path::{Path, PathBuf};

use mapstack::minion::{UnknownVersion, platforms};
use mapstack::value::{Key, Map, Value};
use mapstack::yaml::{self, Limits, Marks};
use mapstack::{Error, ErrorKind, Place, nearest};

use crate::inputs::InputError;
use crate::inputs::estate::Assumed;
use crate::inputs::project::{FILE, Formula, Project};
use crate::inputs::read::text_file;

/// The keys of the file.
const KEYS: [&str; 12] = [
    "roots",
    "pillar_roots",
    "config",
    "deployed",
    "formulas",
    "absent",
    "minions",
    "stubs",
    "salt_version",
    "levels",
    "secret",
    "no_secret",
];

/// The keys of `minions`, where it is a mapping.
const MINION_KEYS: [&str; 4] = ["from", "platform", "grains", "grains_from"];

/// A setting that something else has to make sense of.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The name of the setting.
    pub name: String,
    /// To what.
    pub value: String,
    place: Place,
}

impl Setting {
    /// The failure to make sense of it.
    pub fn refused(&self, why: impl Into<String>) -> Error {
        Error::new(ErrorKind::File, why).at(Some(self.place.clone()))
    }
}

impl Project {
    /// The project with the settings of its file.
    ///
    /// # Errors
    /// The file cannot be read, has an unknown key or a wrong value, or names a path that its directory lacks.
    pub(crate) fn with_file(mut self, file: &Path) -> Result<Self, InputError> {
        let (text, name) = text_file(file)?;
        let reader = Reader {
            text: &text,
            name: &name,
        };
        let loaded = yaml::load_marked(&text, &Limits::default());
        let (document, marks) = loaded.map_err(|e| {
            let at = e.mark().map_or(0, |mark| mark.offset(&text));
            reader.error(at, 1, e.kind().to_string())
        })?;
        let settings = match &document {
            Value::None => &Map::new(),
            Value::Map(map) => map,
            other => {
                let what = other.kind().described();
                let message = format!("the document is {what}, not a mapping");
                return Err(reader.refused(&marks, other, message));
            }
        };
        for (index, (key, value)) in settings.iter().enumerate() {
            let below = marks.child(index).cloned().unwrap_or_default();
            self.set(&reader, key, value, marks.key(index), &below)?;
        }
        Ok(self)
    }

    fn set(
        &mut self,
        reader: &Reader<'_>,
        key: &Key,
        value: &Value,
        at_key: Option<yaml::Mark>,
        marks: &Marks,
    ) -> Result<(), InputError> {
        let directory = self.clone();
        let path = |value: &Value, marks: &Marks| reader.path(&directory, value, marks);
        let texts = || reader.each(value, marks, &|one, marks| reader.text(one, marks));
        let paths = |value: &Value, marks: &Marks| reader.each(value, marks, &path);
        match key.to_string().as_str() {
            "roots" => {
                self.roots = reader.roots(value, marks, &|value, marks| {
                    reader.folders(&directory, value, marks)
                })?;
                self.given.has_roots = true;
            }
            "pillar_roots" => {
                self.pillar_roots = reader.roots(value, marks, &paths)?;
                self.given.has_pillar_roots = true;
            }
            "config" => {
                path(value, marks)?;
                self.given.config = Some(value.to_string().into());
            }
            "deployed" => {
                for (index, (deployed, folder)) in reader.map(value, marks)?.iter().enumerate() {
                    let below = marks.child(index).cloned().unwrap_or_default();
                    self.deployed
                        .push((deployed.to_string(), path(folder, &below)?));
                }
            }
            "formulas" => {
                self.formulas =
                    reader.each(value, marks, &|one, marks| reader.formula(one, marks))?;
            }
            "absent" => self.absent = texts()?,
            "secret" => self.secret = texts()?,
            "no_secret" => self.no_secret = texts()?,
            "minions" if value.as_map().is_some() => {
                self.given.minions = reader.minions(&directory, value, marks)?;
            }
            "minions" => self.minions = Some(path(value, marks)?),
            "stubs" => self.stubs = paths(value, marks)?,
            "salt_version" => {
                let version = value.to_string().parse();
                let version = version
                    .map_err(|e: UnknownVersion| reader.refused(marks, value, e.to_string()))?;
                self.salt_version = Some(version);
            }
            "levels" => self.levels = reader.settings(value, marks)?,
            name => {
                return Err(reader.unknown(name, at_key, &KEYS));
            }
        }
        Ok(())
    }
}

/// Reads parts of a file.
struct Reader<'t> {
    text: &'t str,
    name: &'t str,
}

/// Reads one or several paths.
type Paths<'r> = dyn Fn(&Value, &Marks) -> Result<Vec<PathBuf>, InputError> + 'r;

impl Reader<'_> {
    fn place(&self, start: usize, length: usize) -> Place {
        let mut end = (start + length).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        Place {
            file: self.name.into(),
            source: self.text.into(),
            start,
            end,
        }
    }

    fn error(&self, start: usize, length: usize, message: impl Into<String>) -> InputError {
        let error = Error::new(ErrorKind::File, message).at(Some(self.place(start, length)));
        InputError::Data(error.note(format!("a {FILE} has {}", KEYS.join(", "))))
    }

    /// The place of a value: the text of a scalar, the beginning of a collection.
    fn place_of(&self, marks: &Marks, value: &Value) -> Place {
        let start = marks.mark().offset(self.text);
        let written = value.to_string();
        let rest = self.text.get(start..).unwrap_or_default();
        let length = if rest.starts_with(&written) {
            written.len()
        } else {
            1
        };
        self.place(start, length)
    }

    fn refused(&self, marks: &Marks, value: &Value, message: impl Into<String>) -> InputError {
        let place = self.place_of(marks, value);
        self.error(place.start, place.end - place.start, message)
    }

    fn path(&self, project: &Project, value: &Value, marks: &Marks) -> Result<PathBuf, InputError> {
        let Some(text) = value.as_str() else {
            let what = value.kind().described();
            return Err(self.refused(marks, value, format!("this is {what}, not a path")));
        };
        project.inside(text).ok_or_else(|| {
            let message =
                format!("'{text}' does not exist, or is not below the directory of the file");
            self.refused(marks, value, message)
        })
    }

    /// Text.
    fn text(&self, value: &Value, marks: &Marks) -> Result<String, InputError> {
        let text = value.as_str().map(str::to_owned);
        text.ok_or_else(|| {
            let what = value.kind().described();
            self.refused(marks, value, format!("expected text, found {what}"))
        })
    }

    fn map<'v>(&self, value: &'v Value, marks: &Marks) -> Result<&'v Map, InputError> {
        value.as_map().ok_or_else(|| {
            let what = value.kind().described();
            self.refused(marks, value, format!("expected a mapping, found {what}"))
        })
    }

    /// The folders of a path, or of a pattern such as `formulas/*`. At least one must exist.
    fn folders(
        &self,
        project: &Project,
        value: &Value,
        marks: &Marks,
    ) -> Result<Vec<PathBuf>, InputError> {
        let found = self.each(value, marks, &|one, marks| {
            let Some((folder, "*")) = one.as_str().and_then(|text| text.rsplit_once('/')) else {
                return Ok(vec![self.path(project, one, marks)?]);
            };
            let folder = self.path(project, &folder.into(), marks)?;
            let entries = folder.read_dir().into_iter().flatten().flatten();
            let paths = entries.map(|entry| entry.path());
            let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
            paths.sort();
            match paths.is_empty() {
                true => Err(self.refused(marks, one, "no folder matches the pattern")),
                false => Ok(paths),
            }
        })?;
        Ok(found.concat())
    }

    /// The address of a repository elsewhere: strangers must not name one of this machine.
    fn address(&self, value: &Value, marks: &Marks) -> Result<String, InputError> {
        let text = self.text(value, marks)?;
        let is_url = ["https://", "http://", "ssh://", "git://"]
            .iter()
            .any(|scheme| text.starts_with(scheme));
        let is_short = || {
            let host = text.split_once(':').map(|(host, _)| host);
            host.is_some_and(|host| host.contains('@') && !host.contains('/'))
        };
        match is_url || is_short() {
            true => Ok(text),
            false => Err(self.refused(
                marks,
                value,
                "expected the address of a repository, such as https://example.org/users-formula",
            )),
        }
    }

    /// A repository with a formula: its address, or a mapping with `git` and `ref`.
    fn formula(&self, value: &Value, marks: &Marks) -> Result<Formula, InputError> {
        let Value::Map(map) = value else {
            return Ok(Formula {
                git: self.address(value, marks)?,
                reference: None,
            });
        };
        let (mut git, mut reference) = (None, None);
        for (index, (key, value)) in map.iter().enumerate() {
            let own = marks.child(index).cloned().unwrap_or_default();
            match key.to_string().as_str() {
                "git" => git = Some(self.address(value, &own)?),
                "ref" => reference = Some(value.to_string()),
                name => return Err(self.unknown(name, marks.key(index), &["git", "ref"])),
            }
        }
        let git = git.ok_or_else(|| self.refused(marks, value, "a formula needs the key `git`"))?;
        Ok(Formula { git, reference })
    }

    /// The facts about the minions.
    fn minions(
        &self,
        project: &Project,
        value: &Value,
        marks: &Marks,
    ) -> Result<Assumed, InputError> {
        let mut assumed = Assumed::default();
        for (index, (key, value)) in self.map(value, marks)?.iter().enumerate() {
            let own = marks.child(index).cloned().unwrap_or_default();
            match key.to_string().as_str() {
                "from" => {
                    assumed.from = self.each(value, &own, &|one, marks| {
                        let text = self.text(one, marks)?;
                        let folder = match text.rsplit_once('/') {
                            Some((folder, name)) if name.contains(['*', '?', '[']) => folder,
                            _ => return Ok(text),
                        };
                        self.path(project, &folder.into(), marks)?;
                        Ok(text)
                    })?;
                }
                "platform" => {
                    let name = self.text(value, &own)?;
                    let found = platforms::find(&name);
                    let found = found.map_err(|e| self.refused(&own, value, e.to_string()))?;
                    assumed.platform = Some(found.name);
                }
                "grains" => assumed.grains = self.map(value, &own)?.clone(),
                "grains_from" => {
                    let text = self.text(value, &own)?;
                    let Some(key) = text.strip_prefix("pillar:").filter(|key| !key.is_empty())
                    else {
                        let message =
                            "expected `pillar:KEY`, the key of the pillar with the grains";
                        return Err(self.refused(&own, value, message));
                    };
                    assumed.grains_of_pillar = Some(key.to_owned());
                }
                name => return Err(self.unknown(name, marks.key(index), &MINION_KEYS)),
            }
        }
        Ok(assumed)
    }

    /// The error for a key that does not exist.
    fn unknown(&self, name: &str, mark: Option<yaml::Mark>, keys: &[&str]) -> InputError {
        let near = nearest(name, keys)
            .map(|near| format!("; did you mean '{near}'?"))
            .unwrap_or_default();
        let at = mark.map_or(0, |mark| mark.offset(self.text));
        self.error(at, name.len(), format!("unknown key '{name}'{near}"))
    }

    /// One or several of something.
    fn each<T>(
        &self,
        value: &Value,
        marks: &Marks,
        one: &dyn Fn(&Value, &Marks) -> Result<T, InputError>,
    ) -> Result<Vec<T>, InputError> {
        let Value::List(items) = value else {
            return Ok(vec![one(value, marks)?]);
        };
        let item = |(index, item): (usize, &Value)| {
            one(item, &marks.child(index).cloned().unwrap_or_default())
        };
        items.iter().enumerate().map(item).collect()
    }

    /// Roots of one saltenv or of several.
    fn roots(
        &self,
        value: &Value,
        marks: &Marks,
        paths: &Paths<'_>,
    ) -> Result<Vec<(String, PathBuf)>, InputError> {
        let of = |env: &str, paths: Vec<PathBuf>| -> Vec<(String, PathBuf)> {
            paths.into_iter().map(|path| (env.into(), path)).collect()
        };
        let Value::Map(envs) = value else {
            return Ok(of("base", paths(value, marks)?));
        };
        let mut roots = Vec::new();
        for (index, (env, value)) in envs.iter().enumerate() {
            let marks = marks.child(index).cloned().unwrap_or_default();
            roots.extend(of(&env.to_string(), paths(value, &marks)?));
        }
        Ok(roots)
    }

    /// Names with what they are set to.
    fn settings(&self, value: &Value, marks: &Marks) -> Result<Vec<Setting>, InputError> {
        let Value::Map(map) = value else {
            let what = value.kind().described();
            let message = format!("the levels are {what}, not a mapping from rules to levels");
            return Err(self.refused(marks, value, message));
        };
        let setting = |(index, (name, value)): (usize, (&Key, &Value))| {
            let marks = marks.child(index).cloned().unwrap_or_default();
            let level = match value {
                // YAML reads `off` as false.
                Value::Bool(false) => Some("off"),
                other => other.as_str(),
            };
            match level {
                Some(level) => Ok(Setting {
                    name: name.to_string(),
                    value: level.into(),
                    place: self.place_of(&marks, value),
                }),
                None => {
                    let what = value.kind().described();
                    Err(self.refused(
                        &marks,
                        value,
                        format!("a level is text, and this is {what}"),
                    ))
                }
            }
        };
        map.iter().enumerate().map(setting).collect()
    }
}
