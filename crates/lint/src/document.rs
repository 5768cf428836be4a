//! A data file as YAML readers see it, with the way back to what a person wrote.

use std::sync::{Arc, OnceLock};

use mapstack::Place;
use mapstack::value::{Key, Value};
use mapstack::yaml::{Limits, Lines, Mark, Marks};
use mapstack_lineage::LayerText;
use mapstack_salt_jinja::Syntax;

/// A file of the formula.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// The path from the file server's root.
    pub path: String,
    /// The path by which a person opens it.
    pub shown: String,
    /// The text.
    pub text: Arc<str>,
    /// The start of each line, computed on demand.
    lines: OnceLock<Lines>,
}

impl SourceFile {
    /// A file: its path on the file server, the path by which a person opens it, and its text.
    #[must_use]
    pub fn new(
        path: impl Into<String>,
        shown: impl Into<String>,
        text: impl Into<Arc<str>>,
    ) -> Self {
        SourceFile {
            path: path.into(),
            shown: shown.into(),
            text: text.into(),
            lines: OnceLock::new(),
        }
    }

    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(&self.text))
    }

    /// The byte at a mark.
    #[must_use]
    pub fn offset(&self, mark: Mark) -> usize {
        self.lines().offset(&self.text, mark)
    }

    /// The line of a byte, from 1.
    #[must_use]
    pub fn line(&self, at: usize) -> usize {
        self.lines().line(at)
    }

    /// The place of a range of bytes.
    #[must_use]
    pub fn place(&self, start: usize, end: usize) -> Place {
        Place {
            file: self.shown.clone(),
            source: self.text.clone(),
            start,
            end,
        }
    }

    /// True if a template has to run before it is YAML.
    #[must_use]
    pub fn is_template(&self) -> bool {
        Syntax::has_marks(&self.text) || self.text.starts_with("#!")
    }

    /// The part of the path after the last slash.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// The text of a data file.
#[derive(Debug, Clone)]
pub enum Content {
    /// The file is YAML as it is.
    Plain(Arc<SourceFile>),
    /// The text that its template printed for some minion.
    Rendered(Arc<LayerText>),
}

impl Content {
    /// The text that YAML readers see.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Content::Plain(file) => &file.text,
            Content::Rendered(text) => text.as_str(),
        }
    }

    /// The byte at a mark.
    #[must_use]
    pub fn offset(&self, mark: Mark) -> usize {
        match self {
            Content::Rendered(text) => text.offset(mark),
            Content::Plain(file) => file.offset(mark),
        }
    }

    /// The place of some bytes from a mark on, and whether a template computed them.
    #[must_use]
    pub fn place(&self, mark: Mark, length: usize) -> (Place, bool) {
        match self {
            Content::Plain(file) => {
                let start = file.offset(mark);
                (file.place(start, start + length), false)
            }
            Content::Rendered(text) => {
                let (mut place, computed) = text.spot(mark);
                if !computed {
                    place.end = (place.start + length).min(place.source.len());
                }
                (place, computed)
            }
        }
    }
}

/// A data file's YAML.
#[derive(Debug, Clone)]
pub struct Document {
    /// The file's path from the file server's root.
    pub path: String,
    /// Its text.
    pub content: Content,
    /// The data.
    pub value: Value,
    /// The marks of everything in it.
    pub marks: Marks,
    /// True if aliases make it share storage.
    pub shared: bool,
}

/// A key or scalar as it is written.
pub struct Scalar<'d> {
    /// The document that it is in.
    pub document: &'d Document,
    /// The keys and indices that lead to it; for a key, the key itself is the last one.
    pub path: &'d [Key],
    /// True if it is the key of an entry.
    pub is_key: bool,
    /// Its value.
    pub value: Value,
    /// The place in the text.
    pub mark: Mark,
    /// The mapping or list that contains it.
    pub parent: Option<&'d Value>,
}

impl Document {
    /// Read a text as YAML.
    ///
    /// # Errors
    /// It is not YAML.
    pub fn parse(path: &str, content: Content) -> Result<Self, mapstack::yaml::Error> {
        let loaded = mapstack::yaml::load_document(content.text(), &Limits::default())?;
        Ok(Document {
            path: path.into(),
            value: loaded.value,
            marks: loaded.marks,
            shared: loaded.shared,
            content,
        })
    }

    /// True if a template printed it.
    #[must_use]
    pub fn is_rendered(&self) -> bool {
        matches!(self.content, Content::Rendered(_))
    }

    /// The value and the marks under keys.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<(&Value, &Marks)> {
        path.iter()
            .try_fold((&self.value, &self.marks), |(value, marks), key| {
                let map = value.as_map()?;
                let index = map.index_of(*key)?;
                Some((map.entry_at(index)?.1, marks.child(index)?))
            })
    }

    /// Visit keys and scalars in the order of the text.
    pub fn visit<'d>(&'d self, visit: &mut dyn FnMut(&Scalar<'_>)) {
        let mut path = Vec::new();
        self.walk(&self.value, &self.marks, None, &mut path, visit);
    }

    /// Visit the entries of mappings: the key, its place, and the place of the value.
    pub fn entries(&self, visit: &mut dyn FnMut(&Key, Mark, Mark)) {
        fn walk(value: &Value, marks: &Marks, visit: &mut dyn FnMut(&Key, Mark, Mark)) {
            match value {
                Value::Map(map) => {
                    for (index, (key, inside)) in map.iter().enumerate() {
                        let Some(child) = marks.child(index) else {
                            continue;
                        };
                        if let Some(mark) = marks.key(index) {
                            visit(key, mark, child.mark());
                        }
                        walk(inside, child, visit);
                    }
                }
                Value::List(items) => {
                    let inside = items
                        .iter()
                        .enumerate()
                        .filter_map(|(index, item)| Some((item, marks.child(index)?)));
                    inside.for_each(|(item, child)| walk(item, child, visit));
                }
                _ => {}
            }
        }
        walk(&self.value, &self.marks, visit);
    }

    fn walk<'d>(
        &'d self,
        value: &'d Value,
        marks: &Marks,
        parent: Option<&'d Value>,
        path: &mut Vec<Key>,
        visit: &mut dyn FnMut(&Scalar<'_>),
    ) {
        match value {
            Value::Map(map) => {
                for (index, (key, inside)) in map.iter().enumerate() {
                    path.push(key.clone());
                    if let Some(mark) = marks.key(index) {
                        let (document, value) = (self, key.to_value());
                        visit(&Scalar {
                            document,
                            path,
                            is_key: true,
                            value,
                            mark,
                            parent: None,
                        });
                    }
                    if let Some(child) = marks.child(index) {
                        self.walk(inside, child, Some(value), path, visit);
                    }
                    path.pop();
                }
            }
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    let Some(child) = marks.child(index) else {
                        continue;
                    };
                    path.push(Key::of_index(index));
                    self.walk(item, child, Some(value), path, visit);
                    path.pop();
                }
            }
            scalar => {
                let (document, value, mark) = (self, scalar.clone(), marks.mark());
                visit(&Scalar {
                    document,
                    path,
                    is_key: false,
                    value,
                    mark,
                    parent,
                });
            }
        }
    }
}

impl<'d> Scalar<'d> {
    /// The source text of a plain scalar; `None` if it is quoted, a block or tagged.
    #[must_use]
    pub fn plain(&self) -> Option<&'d str> {
        let text = self.document.content.text();
        let rest = text.get(self.document.content.offset(self.mark)..)?;
        if rest.starts_with(['"', '\'', '|', '>', '!', '&', '*']) {
            return None;
        }
        let line = rest.lines().next()?;
        let end = line.char_indices().find(|&(at, c)| {
            let after = &line[at + c.len_utf8()..];
            match c {
                ':' => after.is_empty() || after.starts_with([' ', '\t', ',', ']', '}']),
                '#' => line[..at].ends_with([' ', '\t']),
                ',' | ']' | '}' => self.in_flow(),
                _ => false,
            }
        });
        Some(line[..end.map_or(line.len(), |(at, _)| at)].trim_end())
    }

    /// True if the scalar may be in brackets or braces, where plain scalars cannot contain these characters.
    fn in_flow(&self) -> bool {
        !matches!(&self.value, Value::Str(text) if text.contains([',', ']', '}']))
    }

    /// True if a single expression printed the token of this length, as the text of a value.
    #[must_use]
    pub fn is_text_of_value(&self, length: usize) -> bool {
        match &self.document.content {
            Content::Plain(_) => false,
            Content::Rendered(text) => {
                let start = text.offset(self.mark);
                text.is_text_of_value(start..start + length)
            }
        }
    }

    /// The text from the scalar to the end of its line.
    #[must_use]
    pub fn rest_of_line(&self) -> &'d str {
        let text = self.document.content.text();
        let rest = text
            .get(self.document.content.offset(self.mark)..)
            .unwrap_or_default();
        rest.lines().next().unwrap_or_default()
    }

    /// The place of a token of this length, and whether a template computed it.
    #[must_use]
    pub fn place(&self, length: usize) -> (Place, bool) {
        self.document.content.place(self.mark, length)
    }
}
