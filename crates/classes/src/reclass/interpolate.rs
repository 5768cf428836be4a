//! References resolved (reclass: `Parameters.interpolate`).

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use mapstack_value::{Int, Key, Map, Value};

use super::reference::Token;
use super::settings::Settings;
use super::value::{Content, Dict, Item, Node, Source, is_complex};

/// Why a value cannot be computed.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    /// A reference to nothing; a later value can come in its place.
    Missing(String),
    /// Anything else.
    Other(String),
    /// A bound is reached.
    Limit(String),
    /// Something that is not built in.
    Unsupported(String),
}

impl Problem {
    /// What is wrong, in words.
    pub fn message(&self) -> String {
        match self {
            Problem::Missing(name) => format!("the reference ${{{name}}} leads to nothing"),
            Problem::Other(message) | Problem::Limit(message) | Problem::Unsupported(message) => {
                message.clone()
            }
        }
    }
}

/// A problem with the keys of the value it is about, and the numbers of the files that say the value.
#[derive(Debug, Clone)]
pub struct Failure {
    pub problem: Problem,
    pub path: Vec<Key>,
    pub files: Vec<usize>,
}

type Result<T, E = Problem> = std::result::Result<T, E>;

/// References are followed so deep at most.
const MAX_DEPTH: usize = 200;

/// Parameters nest so deep at most.
const MAX_NESTED: usize = 100;

/// A result has so many values at most.
const MAX_VALUES: usize = 250_000;

/// A text has so many bytes at most.
const MAX_TEXT: usize = 1 << 20;

/// The values of a node with their references.
pub struct Parameters<'s> {
    settings: &'s Settings,
    pub base: Node,
    /// What is not computed yet, and whether its turn has not come.
    waiting: IndexMap<Vec<Key>, bool, RandomState>,
    /// The files that set values last.
    pub set_by: Vec<(Vec<Key>, usize)>,
    notes_files: bool,
    values: usize,
}

impl<'s> Parameters<'s> {
    /// Values whose simple ones are merged at once (reclass: `_initialise_interpolate`).
    pub fn new(base: Dict, settings: &'s Settings, notes_files: bool) -> Result<Self> {
        let mut made = Parameters {
            settings,
            base: Node::Plain(Value::None),
            waiting: IndexMap::default(),
            set_by: Vec::new(),
            notes_files,
            values: 0,
        };
        made.base = made.simple(Node::Dict(base), &mut Vec::new())?;
        Ok(made)
    }

    /// Compute all that waits.
    pub fn interpolate(&mut self) -> Result<(), Failure> {
        let mut missing: Option<Failure> = None;
        while let Some((path, _)) = self.waiting.first() {
            let path = path.clone();
            self.one(&path, 0, &mut missing)?;
        }
        missing.map_or(Ok(()), Err)
    }

    /// The same with the values of other parameters, which are computed (reclass: `interpolate_from_external`).
    pub fn interpolate_from(&mut self, other: &Parameters<'_>) -> Result<(), Failure> {
        while let Some((path, _)) = self.waiting.first() {
            let path = path.clone();
            let value = get(&self.base, &path).ok().cloned();
            if let Some(value @ (Node::One(_) | Node::Many(_))) = value {
                let failed = |problem| failure(problem, &path, &value);
                let mut references = References::of(&value);
                while !references.are_all {
                    references = references
                        .again(&value, &other.base, self.settings)
                        .map_err(failed)?;
                }
                let new = self.rendered(&value, Some(&other.base)).map_err(failed)?;
                let new = self.simple(new, &mut path.clone()).map_err(failed)?;
                set(&mut self.base, &path, new);
            }
            self.waiting.swap_remove(&path);
        }
        Ok(())
    }

    /// Merge and take what does not wait for other values (reclass: `_render_simple_container`).
    fn simple(&mut self, node: Node, path: &mut Vec<Key>) -> Result<Node> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(Problem::Limit(format!(
                "the parameters come to more than {MAX_VALUES} values"
            )));
        }
        if path.len() > MAX_NESTED {
            return Err(Problem::Limit(format!(
                "the parameters are nested deeper than {MAX_NESTED}; does a reference lead to a mapping or a list around it?"
            )));
        }
        let item = match node {
            Node::Many(items) if is_complex(&items) => {
                self.waiting.insert(path.clone(), true);
                return Ok(Node::Many(items));
            }
            Node::Many(items) => merged(items)?,
            Node::One(item) if item.content.is_complex() => {
                self.waiting.insert(path.clone(), true);
                return Ok(Node::One(item));
            }
            Node::One(item) => item,
            Node::Dict(dict) => return self.simple_dict(dict, path),
            Node::List(items) => return self.simple_list(items, path),
            Node::Plain(value) => return Ok(Node::Plain(value)),
        };
        self.note(path, item.file);
        match item.content {
            Content::Dict(dict) => self.simple_dict(dict, path),
            Content::List(items) => self.simple_list(items, path),
            Content::Scalar(value) => Ok(Node::Plain(value)),
            Content::Text(tokens) => Ok(Node::Plain(plain_text(&tokens).into())),
        }
    }

    fn note(&mut self, path: &[Key], file: usize) {
        if self.notes_files {
            self.set_by.push((path.to_vec(), file));
        }
    }

    fn simple_dict(&mut self, dict: Dict, path: &mut Vec<Key>) -> Result<Node> {
        let mut made = Dict::default();
        for (key, value) in dict {
            path.push(key.clone());
            let value = self.simple(value, path)?;
            path.pop();
            made.insert(key, value);
        }
        Ok(Node::Dict(made))
    }

    fn simple_list(&mut self, items: Vec<Node>, path: &mut Vec<Key>) -> Result<Node> {
        let mut made = Vec::with_capacity(items.len());
        for (index, value) in items.into_iter().enumerate() {
            path.push(Key::Int(Int::from(index as i64)));
            made.push(self.simple(value, path)?);
            path.pop();
        }
        Ok(Node::List(made))
    }

    /// Compute what waits at a path (reclass: `_interpolate_inner`).
    fn one(
        &mut self,
        path: &[Key],
        depth: usize,
        missing: &mut Option<Failure>,
    ) -> Result<(), Failure> {
        let value = match get(&self.base, path) {
            Ok(value @ (Node::One(_) | Node::Many(_))) => value.clone(),
            _ => {
                self.waiting.swap_remove(path);
                return Ok(());
            }
        };
        if depth > MAX_DEPTH {
            let message = format!(
                "references lead further than {MAX_DEPTH} steps; do they lead back to this value?"
            );
            return Err(failure(Problem::Limit(message), path, &value));
        }
        self.waiting.insert(path.to_vec(), false);
        self.references(path, &value, depth, missing)?;
        let failed = |problem| failure(problem, path, &value);
        let new = match self.rendered(&value, None) {
            Err(problem @ Problem::Missing(_)) => {
                missing.get_or_insert_with(|| failed(problem));
                Node::Plain(Value::None)
            }
            rendered => rendered.map_err(failed)?,
        };
        let new = self.simple(new, &mut path.to_vec()).map_err(failed)?;
        set(&mut self.base, path, new);
        if let Some(file) = files_of(&value).last() {
            self.note(path, *file);
        }
        self.waiting.swap_remove(path);
        Ok(())
    }

    /// Compute first what a value refers to (reclass: `_interpolate_references`).
    fn references(
        &mut self,
        path: &[Key],
        value: &Node,
        depth: usize,
        missing: &mut Option<Failure>,
    ) -> Result<(), Failure> {
        let mut references = References::of(value);
        loop {
            for name in &references.names {
                let to = split(name, &self.settings.delimiter);
                match self.waiting.get(&to) {
                    Some(false) => {
                        let message =
                            format!("the reference ${{{name}}} leads back to the value it is in");
                        return Err(failure(Problem::Other(message), path, value));
                    }
                    Some(true) => self.one(&to, depth + 1, missing)?,
                    None => {
                        for end in 1..to.len() {
                            if self.waiting.contains_key(&to[..end]) {
                                self.one(&to[..end], depth + 1, missing)?;
                            }
                        }
                    }
                }
            }
            if references.are_all {
                return Ok(());
            }
            let again = references.again(value, &self.base, self.settings);
            references = again.map_err(|problem| failure(problem, path, value))?;
        }
    }

    /// A value with what its references stand for.
    fn rendered(&mut self, value: &Node, other: Option<&Node>) -> Result<Node> {
        let base = other.unwrap_or(&self.base);
        let rendering = Rendering {
            base,
            settings: self.settings,
        };
        let made = match value {
            Node::One(item) => rendering.item(item)?,
            Node::Many(items) => rendering.many(items)?,
            other => other.clone(),
        };
        self.values += size(&made);
        if self.values > MAX_VALUES {
            return Err(Problem::Limit(format!(
                "the parameters come to more than {MAX_VALUES} values"
            )));
        }
        Ok(made)
    }

    /// The text that tokens come to with what is computed already, for the name of a class.
    pub fn text(&self, tokens: &[Token]) -> Result<String> {
        let rendering = Rendering {
            base: &self.base,
            settings: self.settings,
        };
        let content = Content::Text(tokens.into());
        shown(&rendering.content(&content)?)
    }

    /// The data.
    pub fn data(&self) -> Result<Map> {
        match plain(&self.base)? {
            Value::Map(map) => Ok(map),
            _ => Ok(Map::new()),
        }
    }
}

fn failure(problem: Problem, path: &[Key], value: &Node) -> Failure {
    Failure {
        problem,
        path: path.to_vec(),
        files: files_of(value),
    }
}

fn files_of(value: &Node) -> Vec<usize> {
    match value {
        Node::One(item) => vec![item.file],
        Node::Many(items) => items.iter().map(|item| item.file).collect(),
        _ => Vec::new(),
    }
}

fn size(node: &Node) -> usize {
    1 + match node {
        Node::Dict(dict) => dict.values().map(size).sum(),
        Node::List(items) => items.iter().map(size).sum(),
        Node::Plain(_) | Node::One(_) | Node::Many(_) => 0,
    }
}

/// Items of one type without anything to compute (reclass: `ValueList.merge`).
fn merged(items: Vec<Item>) -> Result<Item> {
    let merge = |base: Item, item: Item| match (base.content, item.content) {
        (Content::List(mut all), Content::List(more)) => {
            all.extend(more);
            Ok(Item {
                content: Content::List(all),
                ..item_of(item.file)
            })
        }
        (_, Content::Dict(_)) => Err(Problem::Other("two mappings cannot be merged here".into())),
        (_, content) => Ok(Item {
            content,
            ..item_of(item.file)
        }),
    };
    let mut items = items.into_iter();
    let first = items.next().unwrap_or_else(|| item_of(0));
    items.try_fold(first, merge)
}

fn item_of(file: usize) -> Item {
    Item {
        content: Content::Scalar(Value::None),
        file,
        overwrites: false,
        is_constant: false,
    }
}

fn plain_text(tokens: &[Token]) -> String {
    let text = |token: &Token| match token {
        Token::Text(text) => text.clone(),
        Token::Reference(_) | Token::Query(_) => String::new(),
    };
    tokens.iter().map(text).collect()
}

/// What a value refers to, as far as it is known.
struct References {
    names: Vec<String>,
    are_all: bool,
}

impl References {
    fn of(value: &Node) -> Self {
        let settings = None;
        References::with(value, settings)
    }

    /// Once more, with what references inside references come to now.
    fn again(self, value: &Node, base: &Node, settings: &Settings) -> Result<Self> {
        let now = References::with(value, Some(Rendering { base, settings }));
        match now.names.len() == self.names.len() {
            false => Ok(now),
            true => {
                let names: Vec<String> = now
                    .names
                    .iter()
                    .map(|name| format!("${{{name}}}"))
                    .collect();
                Err(Problem::Other(format!(
                    "references inside a reference lead to nothing: {}",
                    names.join(", ")
                )))
            }
        }
    }

    fn with(value: &Node, rendering: Option<Rendering<'_>>) -> Self {
        let mut made = References {
            names: Vec::new(),
            are_all: true,
        };
        let items = match value {
            Node::One(item) => std::slice::from_ref(item),
            Node::Many(items) => items,
            _ => &[],
        };
        for item in items {
            if let Content::Text(tokens) = &item.content {
                made.add(tokens, rendering.as_ref());
            }
        }
        made
    }

    fn add(&mut self, tokens: &[Token], rendering: Option<&Rendering<'_>>) {
        for token in tokens {
            let Token::Reference(inside) = token else {
                continue;
            };
            self.add(inside, rendering);
            let is_plain = inside.iter().all(|token| matches!(token, Token::Text(_)));
            let name = match (is_plain, rendering) {
                (true, _) => Ok(plain_text(inside)),
                (false, Some(rendering)) => rendering.joined(inside),
                (false, None) => Err(Problem::Missing(String::new())),
            };
            match name {
                Ok(name) => self.names.push(name),
                Err(_) => self.are_all = false,
            }
        }
    }
}

/// Values with what references stand for.
#[derive(Clone, Copy)]
struct Rendering<'r> {
    base: &'r Node,
    settings: &'r Settings,
}

impl Rendering<'_> {
    fn item(self, item: &Item) -> Result<Node> {
        self.content(&item.content)
    }

    fn content(self, content: &Content) -> Result<Node> {
        match content {
            Content::Scalar(value) => Ok(Node::Plain(value.clone())),
            Content::List(items) => Ok(Node::List(items.clone())),
            Content::Dict(dict) => Ok(Node::Dict(dict.clone())),
            Content::Text(tokens) => match &**tokens {
                [one] => self.token(one),
                tokens => Ok(Node::Plain(self.joined(tokens)?.into())),
            },
        }
    }

    fn token(self, token: &Token) -> Result<Node> {
        match token {
            Token::Text(text) => Ok(Node::Plain(Value::from(&**text))),
            Token::Query(query) => Err(Problem::Unsupported(format!(
                "the inventory query $[{query}] is not built in"
            ))),
            Token::Reference(inside) => {
                let name = self.joined(inside)?;
                let found = get(self.base, &split(&name, &self.settings.delimiter));
                found.cloned().map_err(|problem| match problem {
                    Problem::Missing(_) => Problem::Missing(name),
                    other => other,
                })
            }
        }
    }

    fn joined(self, tokens: &[Token]) -> Result<String> {
        let mut text = String::new();
        for token in tokens {
            text.push_str(&shown(&self.token(token)?)?);
            if text.len() > MAX_TEXT {
                return Err(Problem::Limit(format!(
                    "a text with references comes to more than {MAX_TEXT} bytes"
                )));
            }
        }
        Ok(text)
    }

    /// Items over each other, by the options (reclass: `ValueList.render`).
    fn many(self, items: &[Item]) -> Result<Node> {
        let mut output = Node::Plain(Value::None);
        let mut missing = None;
        let mut is_constant = false;
        for (at, item) in items.iter().enumerate() {
            let is_container = matches!(output, Node::Dict(_) | Node::List(_));
            let new = match self.item(item) {
                Err(problem @ Problem::Missing(_))
                    if self.settings.ignores_overwritten
                        && !is_container
                        && at + 1 != items.len() =>
                {
                    missing = Some(problem);
                    Node::Plain(Value::None)
                }
                new => new?,
            };
            if is_constant {
                if self.settings.strict_constants {
                    return Err(Problem::Other(
                        "a constant is changed by a later file".into(),
                    ));
                }
                continue;
            }
            output = match is_none(&output) || item.overwrites {
                true => new,
                false => self.over(output, new, item.file)?,
            };
            is_constant |= item.is_constant;
        }
        match missing {
            Some(missing) if matches!(output, Node::Dict(_) | Node::List(_)) => Err(missing),
            _ => Ok(output),
        }
    }

    fn over(self, base: Node, new: Node, file: usize) -> Result<Node> {
        let settings = self.settings;
        let nulls = settings.none_override && is_none(&new);
        let is_allowed = match (&base, &new) {
            (Node::Dict(_), Node::Dict(_)) | (Node::List(_), Node::List(_)) => true,
            (Node::Dict(_), Node::List(_)) | (Node::List(_), Node::Dict(_)) => false,
            (Node::Dict(_), _) => settings.scalar_over_dict || nulls,
            (Node::List(_), _) => settings.scalar_over_list || nulls,
            (_, Node::Dict(_)) => settings.dict_over_scalar,
            (_, Node::List(_)) => settings.list_over_scalar,
            _ => true,
        };
        if !is_allowed {
            let message = format!(
                "{} cannot be merged over {}",
                described(&new),
                described(&base)
            );
            return Err(Problem::Other(message));
        }
        match (base, new) {
            (Node::Dict(base), Node::Dict(new)) => {
                let source = Source {
                    settings,
                    file,
                    parses: false,
                };
                let base = source.merge_dict(Dict::default(), base);
                let made = base.and_then(|base| {
                    let new = source.merge_dict(Dict::default(), new)?;
                    source.merge_dict(base, new)
                });
                made.map(Node::Dict).map_err(Problem::Other)
            }
            (Node::List(mut base), Node::List(new)) => {
                base.extend(new);
                Ok(Node::List(base))
            }
            (base @ Node::Plain(_), Node::List(new)) => Ok(Node::List([vec![base], new].concat())),
            (_, new) => Ok(new),
        }
    }
}

fn is_none(node: &Node) -> bool {
    matches!(node, Node::Plain(Value::None))
}

fn described(node: &Node) -> &'static str {
    match node {
        Node::Dict(_) => "a mapping",
        Node::List(_) => "a list",
        Node::Plain(value) => value.kind().described(),
        Node::One(_) | Node::Many(_) => "a value with references",
    }
}

/// The steps of a path: text between delimiters that are not escaped.
pub fn split(name: &str, delimiter: &str) -> Vec<Key> {
    let mut steps = Vec::new();
    let (mut start, mut from) = (0, 0);
    while let Some(found) = name[from..].find(delimiter).map(|at| from + at) {
        from = found + delimiter.len();
        if !name[..found].ends_with('\\') {
            steps.push(Key::from(&name[start..found]));
            start = from;
        }
    }
    steps.push(Key::from(&name[start..]));
    steps
}

/// The value at a path. The last step is not looked up in a list by text, which is a habit of reclass.
fn get<'n>(base: &'n Node, path: &[Key]) -> Result<&'n Node> {
    let missing = || Problem::Missing(String::new());
    let (last, way) = path.split_last().ok_or_else(missing)?;
    let mut node = base;
    for step in way {
        node = match node {
            Node::Dict(dict) => dict.get(step).ok_or_else(missing)?,
            Node::List(items) => {
                let index = match step {
                    Key::Int(index) => index.to_i64(),
                    step => step.to_string().trim().parse().ok(),
                };
                let wrong = || Problem::Other(format!("a list has no item '{step}'"));
                at_index(items, index.ok_or_else(wrong)?).ok_or_else(wrong)?
            }
            _ => return Err(missing()),
        };
    }
    match (node, last) {
        (Node::Dict(dict), last) => dict.get(last).ok_or_else(missing),
        (Node::List(items), Key::Int(index)) => index
            .to_i64()
            .and_then(|index| at_index(items, index))
            .ok_or_else(missing),
        _ => Err(missing()),
    }
}

fn at_index(items: &[Node], index: i64) -> Option<&Node> {
    let index = match index < 0 {
        true => items
            .len()
            .checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
        false => usize::try_from(index).ok()?,
    };
    items.get(index)
}

/// Put a value at a path of the nodes' own, where something is.
fn set(base: &mut Node, path: &[Key], value: Node) {
    let mut node = base;
    for step in path {
        let inside = match (node, step) {
            (Node::Dict(dict), step) => dict.get_mut(step),
            (Node::List(items), step) => {
                let index = match step {
                    Key::Int(index) => index.to_i64(),
                    step => step.to_string().trim().parse().ok(),
                };
                index
                    .and_then(|index| usize::try_from(index).ok())
                    .and_then(|index| items.get_mut(index))
            }
            _ => None,
        };
        let Some(inside) = inside else {
            return;
        };
        node = inside;
    }
    *node = value;
}

/// A node as data; what waits has none.
fn plain(node: &Node) -> Result<Value> {
    Ok(match node {
        Node::Plain(value) => value.clone(),
        Node::Dict(dict) => {
            let entries = dict
                .iter()
                .map(|(key, value)| Ok((key.clone(), plain(value)?)));
            Value::Map(entries.collect::<Result<Map>>()?)
        }
        Node::List(items) => items.iter().map(plain).collect::<Result<Value>>()?,
        Node::One(_) | Node::Many(_) => {
            let message = "a reference leads to an item of a list that has references itself";
            return Err(Problem::Other(message.into()));
        }
    })
}

fn shown(node: &Node) -> Result<String> {
    plain(node).map(|value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_where_the_delimiter_is_not_escaped() {
        assert_eq!(split("a:b:c", ":"), ["a", "b", "c"].map(Key::from));
        assert_eq!(split("a\\:b:c", ":"), ["a\\:b", "c"].map(Key::from));
        assert_eq!(split("", ":"), [Key::from("")]);
        assert_eq!(split("a::b", ":"), ["a", "", "b"].map(Key::from));
    }
}
