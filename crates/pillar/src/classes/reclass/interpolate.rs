//! References resolved (reclass: `Parameters.interpolate`).

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use mapstack_value::{Int, Key, Map, Value};

use super::answers::Exports;
use super::at::{At, ValuePlaces};
use super::keys::{shown_path, split};
use super::paths::{MissingValue, PathProblem, Result, get, plain, remove, set};
use super::query::Query;
use super::reference::Token;
use super::settings::ReclassSettings;
use super::value::{Content, Dict, Node, PlacedItem, ValueFile, is_complex};
use crate::classes::{Host, PlaceEffect, SetPlaces};

/// The purpose of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The parameters of a node, without the files that set them.
    Parameters,
    /// The parameters of the minion, with the files that set them.
    Result,
    /// The exports of a node.
    Exports,
}

/// A problem with the keys of the value it is about, and the numbers of the files that say the value.
#[derive(Debug, Clone)]
pub struct KeyProblem {
    pub problem: PathProblem,
    pub role: Role,
    pub path: Vec<Key>,
    pub files: Vec<usize>,
}

/// References are followed so deep at most.
const MAX_DEPTH: usize = 200;

/// Parameters nest so deep at most.
const MAX_NESTED: usize = 100;

/// A result has this many values at most.
const MAX_VALUES: usize = 250_000;

/// A text has this many bytes at most.
const MAX_TEXT: usize = 1 << 20;

/// Paths still to be computed, in the order in which they were found, each with true if it must wait.
#[derive(Debug, Default)]
struct PendingPaths {
    numbers: HashMap<Vec<Key>, (u64, bool), RandomState>,
    in_order: BTreeMap<u64, Vec<Key>>,
    next: u64,
}

impl PendingPaths {
    fn first(&self) -> Option<&Vec<Key>> {
        self.in_order.values().next()
    }

    fn paths(&self) -> impl Iterator<Item = &Vec<Key>> {
        self.in_order.values()
    }

    /// True if the turn of a path has not come; `None` if it does not wait.
    fn is_untouched(&self, path: &[Key]) -> Option<bool> {
        self.numbers
            .get(path)
            .map(|(_, is_untouched)| *is_untouched)
    }

    fn insert(&mut self, path: &[Key], is_untouched: bool) {
        if let Some((_, known)) = self.numbers.get_mut(path) {
            *known = is_untouched;
            return;
        }
        self.numbers
            .insert(path.to_vec(), (self.next, is_untouched));
        self.in_order.insert(self.next, path.to_vec());
        self.next += 1;
    }

    fn remove(&mut self, path: &[Key]) {
        if let Some((number, _)) = self.numbers.remove(path) {
            self.in_order.remove(&number);
        }
    }
}

/// The parts of all nodes that the inventory queries of parameters look at.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Queries {
    /// Nodes of all environments are asked.
    pub all_environments: bool,
    /// Paths of exports, and whether a path with references to nothing is left out.
    pub exports: Vec<(Vec<Key>, bool)>,
}

/// The values of a node with their references.
pub struct Parameters<'s> {
    settings: &'s ReclassSettings,
    host: &'s dyn Host<Value>,
    role: Role,
    pub base: Node,
    waiting: PendingPaths,
    /// The exports of all nodes, if a query asks for them.
    exports: Option<Exports>,
    /// The places that set the values, as far as they are known.
    pub origin: SetPlaces,
    values: usize,
}

impl<'s> Parameters<'s> {
    /// Values whose simple ones are merged at once (reclass: `_initialise_interpolate`).
    pub fn new(
        base: Dict,
        settings: &'s ReclassSettings,
        host: &'s dyn Host<Value>,
        role: Role,
    ) -> Result<Self, KeyProblem> {
        let mut made = Parameters {
            settings,
            host,
            role,
            base: Node::Plain(Value::None),
            waiting: PendingPaths::default(),
            exports: None,
            origin: SetPlaces::default(),
            values: 0,
        };
        let mut path = Vec::new();
        made.base = made
            .simple(Node::Dict(base, At::default()), &mut path)
            .map_err(|problem| made.failure(problem, &path, &Node::Plain(Value::None)))?;
        Ok(made)
    }

    /// The parts of nodes that queries look at which are there before anything is computed; `None` without queries.
    /// Others are answered from the same exports, if there are any.
    pub fn queries(&self) -> Option<Queries> {
        let mut found: Option<Queries> = None;
        for path in self.waiting.paths() {
            let Ok(value) = get(&self.base, path) else {
                continue;
            };
            let items = value.items();
            for query in items.iter().filter_map(|item| item.content.query()) {
                let queries = found.get_or_insert_default();
                queries.all_environments |= query.all_environments;
                // Of a value that several files set, none is left out, whatever its queries say.
                let leaves_out = query.ignores_errors && matches!(value, Node::One(_));
                for export in query.exports() {
                    let asked = (export.to_vec(), leaves_out);
                    if !queries.exports.contains(&asked) {
                        queries.exports.push(asked);
                    }
                }
            }
        }
        found
    }

    /// Compute all that waits, with the exports that the queries look at.
    pub fn interpolate(&mut self, exports: Option<Exports>) -> Result<(), KeyProblem> {
        self.exports = exports;
        let mut missing: Option<KeyProblem> = None;
        while let Some(path) = self.waiting.first() {
            let path = path.clone();
            self.one(&path, 0, &mut missing)?;
        }
        missing.map_or(Ok(()), Err)
    }

    /// The same with the values of other parameters, which are computed (reclass: `interpolate_from_external`).
    pub fn interpolate_from(&mut self, other: &mut Parameters<'_>) -> Result<(), KeyProblem> {
        while let Some(path) = self.waiting.first() {
            let path = path.clone();
            let value = get(&self.base, &path).ok().cloned();
            if let Some(value @ (Node::One(_) | Node::Many(_))) = value {
                self.one_from(&path, &value, other)?;
            }
            self.waiting.remove(&path);
        }
        Ok(())
    }

    /// The same for what is at a path, around it or below it, with other parameters, which are computed as far as
    /// that needs. References to nothing are an error, unless they are to be left out (reclass:
    /// `_interpolate_single_path_from_external`).
    pub fn interpolate_at(
        &mut self,
        asked: &[Key],
        leaves_out: bool,
        other: &mut Parameters<'_>,
    ) -> Result<(), KeyProblem> {
        loop {
            let required = self.required(asked)?;
            if required.is_empty() {
                return Ok(());
            }
            for path in required {
                let nothing = Node::Plain(Value::None);
                let value = get(&self.base, &path)
                    .map_err(|lost| self.failure(lost.inside(&path), &path, &nothing))?;
                if let value @ (Node::One(_) | Node::Many(_)) = value.clone() {
                    match self.one_from(&path, &value, other) {
                        Err(failure) if leaves_out && failure.is_missing() => {
                            remove(&mut self.base, &path);
                        }
                        done => done?,
                    }
                }
                self.waiting.remove(&path);
            }
        }
    }

    /// The paths to compute before a path.
    fn required(&self, asked: &[Key]) -> Result<Vec<Vec<Key>>, KeyProblem> {
        let mut required = Vec::new();
        for end in 1..asked.len() {
            let path = &asked[..end];
            if self.waiting.is_untouched(path).is_none() {
                continue;
            }
            if end + 1 < asked.len() {
                let message = format!(
                    "an inventory query asks for `{}`, which reclass cannot look up as this has references",
                    shown_path(asked)
                );
                let value = get(&self.base, path)
                    .cloned()
                    .unwrap_or(Node::Plain(Value::None));
                return Err(self.failure(PathProblem::Other(message), path, &value));
            }
            required.push(path.to_vec());
        }
        let below = self.waiting.paths().filter(|path| path.starts_with(asked));
        required.extend(below.cloned());
        self.spend(self.waiting.in_order.len())
            .map_err(|problem| self.failure(problem, asked, &Node::Plain(Value::None)))?;
        Ok(required)
    }

    /// Compute a value that other parameters are for.
    fn one_from(
        &mut self,
        path: &[Key],
        value: &Node,
        other: &mut Parameters<'_>,
    ) -> Result<(), KeyProblem> {
        // A path that the other parameters lack is null for this value.
        other.references(path, value, 0, &mut None)?;
        let failed = |this: &Self, problem| this.failure(problem, path, value);
        let new = self.rendered(value, Some(&other.base), &mut ValuePlaces::default());
        let new = new.map_err(|problem| failed(self, problem))?;
        let new = self.simple(new, &mut path.to_vec());
        let new = new.map_err(|problem| failed(self, problem))?;
        set(&mut self.base, path, new);
        Ok(())
    }

    fn spend(&self, steps: usize) -> Result<()> {
        Ok(self.host.spend(steps)?)
    }

    /// Merge and take what does not wait for other values (reclass: `_render_simple_container`).
    fn simple(&mut self, node: Node, path: &mut Vec<Key>) -> Result<Node> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(PathProblem::Limit(format!(
                "the parameters come to more than {MAX_VALUES} values"
            )));
        }
        if path.len() > MAX_NESTED {
            return Err(PathProblem::Limit(format!(
                "the parameters are nested deeper than {MAX_NESTED}; does a reference lead to a mapping or a list around it?"
            )));
        }
        let item = match node {
            Node::Many(items) if is_complex(&items) => {
                self.waiting.insert(path, true);
                return Ok(Node::Many(items));
            }
            Node::Many(items) => {
                self.note(path, || ValuePlaces::of(&items));
                merged(items)?
            }
            Node::One(item) if item.content.is_complex() => {
                self.waiting.insert(path, true);
                return Ok(Node::One(item));
            }
            Node::One(item) => {
                self.note(path, || ValuePlaces::one(&item.at));
                item
            }
            Node::Dict(dict, at) => {
                self.note(path, || ValuePlaces::one(&at));
                return self.simple_dict(dict, path);
            }
            Node::List(items, at) => {
                self.note(path, || ValuePlaces::one(&at));
                return self.simple_list(items, path);
            }
            Node::Plain(value) => return Ok(Node::Plain(value)),
        };
        match item.content {
            Content::Dict(dict) => self.simple_dict(dict, path),
            Content::List(items) => self.simple_list(items, path),
            Content::Scalar(value) => Ok(Node::Plain(value)),
            Content::Text(tokens) => match tokens.iter().find_map(Token::query) {
                Some(query) => Err(unanswered(query)),
                None => Ok(Node::Plain(plain_text(&tokens).into())),
            },
        }
    }

    fn note(&mut self, path: &[Key], turns: impl FnOnce() -> ValuePlaces) {
        if self.role == Role::Result {
            let places = turns().places();
            if !places.is_empty() {
                self.origin.follow_mut(path).turns = places;
            }
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
        Ok(Node::Dict(made, At::default()))
    }

    fn simple_list(&mut self, items: Vec<Node>, path: &mut Vec<Key>) -> Result<Node> {
        let mut made = Vec::with_capacity(items.len());
        for (index, value) in items.into_iter().enumerate() {
            path.push(Key::Int(Int::from(index as i64)));
            made.push(self.simple(value, path)?);
            path.pop();
        }
        Ok(Node::List(made, At::default()))
    }

    /// Compute what waits at a path (reclass: `_interpolate_inner`).
    fn one(
        &mut self,
        path: &[Key],
        depth: usize,
        missing: &mut Option<KeyProblem>,
    ) -> Result<(), KeyProblem> {
        let value = match get(&self.base, path) {
            Ok(value @ (Node::One(_) | Node::Many(_))) => value.clone(),
            _ => {
                self.waiting.remove(path);
                return Ok(());
            }
        };
        if depth > MAX_DEPTH {
            let message = format!(
                "references lead further than {MAX_DEPTH} steps; do they lead back to this value?"
            );
            return Err(self.failure(PathProblem::Limit(message), path, &value));
        }
        self.waiting.insert(path, false);
        self.references(path, &value, depth, missing)?;
        let mut turns = ValuePlaces::default();
        let new = match self.rendered(&value, None, &mut turns) {
            Err(problem @ PathProblem::Missing(_)) => {
                let failure = self.failure(problem, path, &value);
                if !self.settings.gathers_errors {
                    return Err(failure);
                }
                missing.get_or_insert(failure);
                Ok(Node::Plain(Value::None))
            }
            rendered => rendered,
        };
        let new = new.and_then(|new| self.simple(new, &mut path.to_vec()));
        let new = new.map_err(|problem| self.failure(problem, path, &value))?;
        set(&mut self.base, path, new);
        self.note(path, || turns);
        self.waiting.remove(path);
        Ok(())
    }

    /// Compute first what a value refers to (reclass: `_interpolate_references`).
    fn references(
        &mut self,
        path: &[Key],
        value: &Node,
        depth: usize,
        missing: &mut Option<KeyProblem>,
    ) -> Result<(), KeyProblem> {
        let mut references = References::of(value);
        loop {
            for name in &references.names {
                let to = split(name, &self.settings.delimiter);
                match self.waiting.is_untouched(&to) {
                    Some(false) => {
                        let message =
                            format!("the reference ${{{name}}} leads back to the value it is in");
                        return Err(self.failure(PathProblem::Other(message), path, value));
                    }
                    Some(true) => self.one(&to, depth + 1, missing)?,
                    None => {
                        for end in 1..to.len() {
                            if self.waiting.is_untouched(&to[..end]).is_some() {
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
            references = again.map_err(|problem| self.failure(problem, path, value))?;
        }
    }

    /// A value with its references resolved.
    fn rendered(
        &mut self,
        value: &Node,
        other: Option<&Node>,
        turns: &mut ValuePlaces,
    ) -> Result<Node> {
        let rendering = Rendering {
            base: other.unwrap_or(&self.base),
            settings: self.settings,
            exports: self.exports.as_deref(),
        };
        let tests = value.items().iter().filter_map(|item| item.content.query());
        let tests: usize = tests.map(Query::tests).sum();
        self.spend(1 + tests * rendering.exports.map_or(0, <[_]>::len))?;
        let made = match value {
            Node::One(item) => {
                turns.add(&item.at, PlaceEffect::Set);
                rendering.item(item)?
            }
            Node::Many(items) => rendering.many(items, turns)?,
            other => other.clone(),
        };
        self.values += made.size();
        if self.values > MAX_VALUES {
            return Err(PathProblem::Limit(format!(
                "the parameters come to more than {MAX_VALUES} values"
            )));
        }
        Ok(made)
    }

    /// The text that tokens come to with what is computed already, for the name of a class.
    pub fn text(&self, tokens: &[Token]) -> Result<String> {
        // Names of classes are made before any node is asked.
        let rendering = Rendering {
            base: &self.base,
            settings: self.settings,
            exports: Some(&[]),
        };
        let content = Content::Text(tokens.into());
        shown(&rendering.content(&content)?)
    }

    /// Something is wrong with a value.
    fn failure(&self, problem: PathProblem, path: &[Key], value: &Node) -> KeyProblem {
        KeyProblem {
            problem,
            role: self.role,
            path: path.to_vec(),
            files: value.items().iter().map(|item| item.file).collect(),
        }
    }

    /// The data.
    pub fn data(&self) -> Result<Map, KeyProblem> {
        let data = plain(&self.base);
        match data.map_err(|problem| self.failure(problem, &[], &self.base))? {
            Value::Map(map) => Ok(map),
            _ => Ok(Map::new()),
        }
    }
}

impl KeyProblem {
    /// True if a reference to nothing is all that is wrong.
    fn is_missing(&self) -> bool {
        matches!(self.problem, PathProblem::Missing(_))
    }
}

/// A query where reclass has no exports for it.
fn unanswered(query: &Query) -> PathProblem {
    PathProblem::Other(format!(
        "the inventory query $[{}] has no answer here: a query has to be all of a value of the parameters, and exports cannot depend on one",
        query.text
    ))
}

/// Items of one type without anything to compute (reclass: `ValueList.merge`).
fn merged(items: Vec<PlacedItem>) -> Result<PlacedItem> {
    let merge = |base: PlacedItem, item: PlacedItem| match (base.content, item.content) {
        (Content::List(mut all), Content::List(more)) => {
            all.extend(more);
            Ok(PlacedItem {
                content: Content::List(all),
                at: base.at,
                ..item_of(item.file)
            })
        }
        (_, Content::Dict(_)) => Err(PathProblem::Other(
            "two mappings cannot be merged here".into(),
        )),
        (_, content) => Ok(PlacedItem {
            content,
            ..item_of(item.file)
        }),
    };
    let mut items = items.into_iter();
    let first = items.next().unwrap_or_else(|| item_of(0));
    items.try_fold(first, merge)
}

fn item_of(file: usize) -> PlacedItem {
    PlacedItem {
        content: Content::Scalar(Value::None),
        file,
        at: At::default(),
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

/// The references of a value, as far as they are known.
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
    fn again(self, value: &Node, base: &Node, settings: &ReclassSettings) -> Result<Self> {
        let rendering = Rendering {
            base,
            settings,
            exports: None,
        };
        let now = References::with(value, Some(rendering));
        match now.names.len() == self.names.len() {
            false => Ok(now),
            true => {
                let names: Vec<String> = now
                    .names
                    .iter()
                    .map(|name| format!("${{{name}}}"))
                    .collect();
                Err(PathProblem::Other(format!(
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
        for item in value.items() {
            if let Content::Text(tokens) = &item.content {
                made.add(tokens, rendering.as_ref());
            }
        }
        made
    }

    fn add(&mut self, tokens: &[Token], rendering: Option<&Rendering<'_>>) {
        for token in tokens {
            let inside = match token {
                Token::Text(_) => continue,
                Token::Query(query) => {
                    self.names.extend(query.references().map(Into::into));
                    continue;
                }
                Token::Reference(inside) => inside,
            };
            self.add(inside, rendering);
            let is_plain = inside.iter().all(|token| matches!(token, Token::Text(_)));
            let name = match (is_plain, rendering) {
                (true, _) => Ok(plain_text(inside)),
                (false, Some(rendering)) => rendering.joined(inside),
                (false, None) => Err(PathProblem::Missing(String::new())),
            };
            match name {
                Ok(name) => self.names.push(name),
                Err(_) => self.are_all = false,
            }
        }
    }
}

/// Values with their references resolved.
#[derive(Clone, Copy)]
struct Rendering<'r> {
    base: &'r Node,
    settings: &'r ReclassSettings,
    /// The exports that answer queries.
    exports: Option<&'r [(String, Node)]>,
}

impl Rendering<'_> {
    fn item(self, item: &PlacedItem) -> Result<Node> {
        Ok(self.content(&item.content)?.with_places(item))
    }

    fn content(self, content: &Content) -> Result<Node> {
        match content {
            Content::Scalar(value) => Ok(Node::Plain(value.clone())),
            Content::List(items) => Ok(Node::List(items.clone(), At::default())),
            Content::Dict(dict) => Ok(Node::Dict(dict.clone(), At::default())),
            Content::Text(tokens) => match &**tokens {
                [one] => self.token(one),
                tokens => Ok(Node::Plain(self.joined(tokens)?.into())),
            },
        }
    }

    fn token(self, token: &Token) -> Result<Node> {
        match token {
            Token::Text(text) => Ok(Node::Plain(Value::from(&**text))),
            Token::Query(query) => match self.exports {
                Some(exports) => query.answer(self.base, exports, self.settings),
                None => Err(unanswered(query)),
            },
            Token::Reference(inside) => {
                let name = self.joined(inside)?;
                let found = get(self.base, &split(&name, &self.settings.delimiter));
                found.cloned().map_err(|lost| match lost {
                    MissingValue::Key | MissingValue::Inside => PathProblem::Missing(name),
                    MissingValue::Item(step) => {
                        PathProblem::Other(format!("a list has no item '{step}'"))
                    }
                })
            }
        }
    }

    fn joined(self, tokens: &[Token]) -> Result<String> {
        let mut text = String::new();
        for token in tokens {
            text.push_str(&shown(&self.token(token)?)?);
            if text.len() > MAX_TEXT {
                return Err(PathProblem::Limit(format!(
                    "a text with references becomes longer than {MAX_TEXT} bytes"
                )));
            }
        }
        Ok(text)
    }

    /// Items over each other, by the options (reclass: `ValueList.render`).
    fn many(self, items: &[PlacedItem], turns: &mut ValuePlaces) -> Result<Node> {
        let mut output = Node::Plain(Value::None);
        let mut missing = None;
        let mut is_constant = false;
        for (at, item) in items.iter().enumerate() {
            let is_container = matches!(output, Node::Dict(..) | Node::List(..));
            let new = match self.item(item) {
                Err(problem @ PathProblem::Missing(_))
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
                    return Err(PathProblem::Other(
                        "a constant is changed by a later file".into(),
                    ));
                }
                turns.add(&item.at, PlaceEffect::Rejected);
                continue;
            }
            match (&output, &new) {
                (Node::Dict(..), Node::Dict(..)) if !item.overwrites => {}
                (output, Node::List(..)) if !item.overwrites && !is_none(output) => {
                    turns.add(&item.at, PlaceEffect::Joined);
                }
                _ => turns.add(&item.at, PlaceEffect::Set),
            }
            output = match is_none(&output) || item.overwrites {
                true => new,
                false => self.over(output, new, item.file)?,
            };
            is_constant |= item.is_constant;
        }
        match missing {
            Some(missing) if matches!(output, Node::Dict(..) | Node::List(..)) => Err(missing),
            _ => Ok(output),
        }
    }

    fn over(self, base: Node, new: Node, file: usize) -> Result<Node> {
        let settings = self.settings;
        let nulls = settings.none_override && is_none(&new);
        let is_allowed = match (&base, &new) {
            (Node::Dict(..), Node::Dict(..)) | (Node::List(..), Node::List(..)) => true,
            (Node::Dict(..), Node::List(..)) | (Node::List(..), Node::Dict(..)) => false,
            (Node::Dict(..), _) => settings.scalar_over_dict || nulls,
            (Node::List(..), _) => settings.scalar_over_list || nulls,
            (_, Node::Dict(..)) => settings.dict_over_scalar,
            (_, Node::List(..)) => settings.list_over_scalar,
            _ => true,
        };
        if !is_allowed {
            let message = format!(
                "{} cannot be merged over {}",
                described(&new),
                described(&base)
            );
            return Err(PathProblem::Other(message));
        }
        match (base, new) {
            (Node::Dict(base, at), Node::Dict(new, _)) => {
                let source = ValueFile {
                    settings,
                    file,
                    parses: false,
                    is_noted: false,
                };
                let base = source.merge_dict(Dict::default(), base);
                let made = base.and_then(|base| {
                    let new = source.merge_dict(Dict::default(), new)?;
                    source.merge_dict(base, new)
                });
                let made = made.map_err(PathProblem::Other)?;
                Ok(Node::Dict(made, at))
            }
            (Node::List(mut base, at), Node::List(new, _)) => {
                base.extend(new);
                Ok(Node::List(base, at))
            }
            (base @ Node::Plain(_), Node::List(new, at)) => {
                Ok(Node::List([vec![base], new].concat(), at))
            }
            (_, new) => Ok(new),
        }
    }
}

fn is_none(node: &Node) -> bool {
    matches!(node, Node::Plain(Value::None))
}

fn described(node: &Node) -> &'static str {
    match node {
        Node::Dict(..) => "a mapping",
        Node::List(..) => "a list",
        Node::Plain(value) => value.kind().described(),
        Node::One(_) | Node::Many(_) => "a value with references",
    }
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
