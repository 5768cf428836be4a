//! The origins of the lines of a managed file.

use mapstack::Engine;
use mapstack_diagnostic::Error;
use mapstack_files::{Content, ContentMethod, ManagedFile, ManagedFiles};
use mapstack_minion::{Minion, Part};
use mapstack_states::{HighData, SettledStates};
use mapstack_value::{Key, Map, Str, Value};
use mapstack_yaml::{Limits, Mark, Marks, load_marked};

use super::{ExplainedStates, Explaining, StatesExplainer};
use crate::flow::{Printing, TemplateVariables, TracedLines, line_ranges};
use crate::tree::{At, Claim, HistoryStep, Node};

/// The lines of a managed file with their origins.
#[derive(Debug)]
pub struct FileLines {
    /// The path of the file on the minion.
    pub path: String,
    /// The lines below the path, by their numbers: the text of each, and the values of the expressions in it,
    /// by their sources.
    pub explained: ExplainedStates,
}

/// The lines of a managed file of a minion, with their origins. `settled` is the result of
/// [`HighData::settled`].
///
/// ```
/// use mapstack::{Engine, loader::MemoryFiles, minion::Minion, value::Key};
/// use mapstack_files::ManagedFiles;
/// use mapstack_lineage::explain_file;
/// use mapstack_states::{Gatherer, TopOptions, RequestedStates};
/// let files = MemoryFiles::new()
///     .file("base", "top.sls", "base: {'*': [web]}")
///     .file("base", "web.sls", "/etc/web:\n  file.managed:\n    - source: salt://web.conf\n    - template: jinja\n    - port: 80\n")
///     .file("base", "web.conf", "# of states\nport = {{ port }}\n");
/// let engine = Engine::new(files);
/// let minion = Minion::new("web1").complete();
/// let gatherer = Gatherer::new(&engine, TopOptions::default()).keeping_low();
/// let compiled = gatherer.compiled(&minion).unwrap();
/// let managed = ManagedFiles::new(&engine, &minion, &compiled.low);
/// let high = gatherer.high(&minion, RequestedStates::Highstate);
/// let settled = high.settled(&minion).unwrap();
/// let file = &managed.all()[0];
/// let lines = explain_file(&engine, &minion, &high, settled, &managed, file).unwrap();
/// let at = |steps: &[Key]| lines.explained.lineage.at(steps).unwrap();
/// let line = at(&["/etc/web".into(), 2.into(), "text".into()]);
/// assert_eq!(line.value.to_string(), "port = 80");
/// assert_eq!(line.spot.to_string(), "web.conf:2:1");
/// assert_eq!(line.printed[0].spot.to_string(), "web.sls:5:13");
/// ```
///
/// # Errors
/// The bytes of the file are not known, or Salt refuses the state.
pub fn explain_file<'x>(
    engine: &'x Engine,
    minion: &'x Minion,
    high: &'x HighData,
    settled: SettledStates,
    files: &ManagedFiles<'_>,
    file: &ManagedFile,
) -> Result<FileLines, Content> {
    StatesExplainer::new(engine, minion, high, settled).file(files, file)
}

impl StatesExplainer<'_> {
    /// The lines of a managed file with their origins; see [`explain_file`].
    ///
    /// # Errors
    /// The bytes of the file are not known, or Salt refuses the state.
    pub fn file(
        &mut self,
        files: &ManagedFiles<'_>,
        file: &ManagedFile,
    ) -> Result<FileLines, Content> {
        let states = self.states.clone();
        let mut explaining = self.explaining();
        let arguments = explaining.of_state(&states, file);
        let (lines, node) = match file.way() {
            way @ (ContentMethod::Served(_) | ContentMethod::Template(_)) => {
                let given = given(file, &arguments);
                let made = explaining.traced.lines(&file.state.saltenv, way, given);
                made.map_err(failed)?
            }
            ContentMethod::Arguments | ContentMethod::Nothing => {
                let bytes = match files.content(file) {
                    Content::Bytes(bytes) => bytes,
                    other => return Err(other),
                };
                let text = String::from_utf8_lossy(&bytes).into_owned();
                explaining.of_arguments(&text, file, &arguments)
            }
        };
        let states = explaining.states;
        let (data, node) = arguments.with_lines(&file.path, &lines, node);
        let mut explained = self.explained(data, node, states);
        explained
            .states
            .retain(|state| state.function == file.function);
        Ok(FileLines {
            path: file.path.clone(),
            explained,
        })
    }
}

fn failed(error: Error) -> Content {
    Content::Failed(Box::new(error))
}

/// The arguments of a state with their origins.
#[derive(Default)]
struct Arguments {
    values: Map,
    node: Node,
    /// The functions of the ID, and the claim on it.
    of_id: Option<(Key, Map, Node, Option<Claim>)>,
}

impl Arguments {
    /// The data and its origins: the lines below the path of the file, and the functions below the ID.
    fn with_lines(self, path: &str, lines: &Value, node: Node) -> (Map, Node) {
        let path = Key::from(path);
        let (mut data, mut whole) = (Map::new(), Node::default());
        let mut own = Map::new();
        if let Some((id, functions, node, key)) = self.of_id {
            if id == path {
                own.clone_from(&functions);
            }
            data.insert(id.clone(), Value::Map(functions));
            whole.set(&id, node, key);
        }
        let numbered = lines.as_map().cloned().unwrap_or_default();
        if own.is_empty() {
            whole.set(&path, node, None);
        } else {
            // The ID is the path.
            for number in numbered.keys() {
                let line = node.child(number).unwrap_or_default();
                *whole.follow_mut(&[path.clone(), number.clone()]) = line;
            }
        }
        own.extend(
            numbered
                .iter()
                .map(|(number, line)| (number.clone(), line.clone())),
        );
        data.insert(path, Value::Map(own));
        (data, whole)
    }

    fn get(&self, name: &str) -> Option<(&Value, Node)> {
        let key = Key::from(name);
        Some((self.values.get(&key)?, self.node.child(&key)?))
    }
}

/// The variables that a template gets, with their origins: the arguments, under `defaults`, under `context`.
fn given(file: &ManagedFile, arguments: &Arguments) -> TemplateVariables {
    let mut given = TemplateVariables::new();
    let mut add = |name: &Key, value: &Value, node: Option<Node>| {
        let (Some(name), Some(node)) = (name.as_str(), node) else {
            return;
        };
        match given
            .iter_mut()
            .find(|(known, ..): &&mut (Str, _, _)| **known == *name)
        {
            Some((_, known, old)) => {
                *known = value.clone();
                *old = std::mem::take(old).then(node, HistoryStep::Replaced);
            }
            None => given.push((name.into(), value.clone(), node)),
        }
    };
    for (name, value) in &arguments.values {
        add(name, value, arguments.node.child(name));
    }
    for name in ["defaults", "context"] {
        let Some((Value::Map(map), node)) = arguments.get(name) else {
            continue;
        };
        for (name, value) in map {
            add(name, value, node.child(name));
        }
    }
    // Salt's own variable of this name is the source that counts.
    if let Some(url) = file.source.as_ref().and_then(|source| source.url.as_ref()) {
        given.retain(|(name, value, _)| **name != *"source" || value.as_str() == Some(url));
    }
    given
}

/// The arguments that hold a content.
const CONTENTS: [&str; 6] = ["contents", "text", "content", "repl", "value", "key_values"];

/// The text of a line, its range, and the origins that it may have.
type LineOf<'l> = (&'l str, Option<Claim>, Vec<Printing>);

impl Explaining<'_, '_> {
    /// The arguments of the state of a file.
    fn of_state(&mut self, states: &Value, file: &ManagedFile) -> Arguments {
        let id = &*file.state.id;
        let states = states.as_map().into_iter();
        let found = states.flat_map(|states| {
            let own = states.get(id).map(|body| (Key::from(id), body));
            // An ID can be a number.
            let mut others = states.iter().map(|(id, body)| (id.clone(), body));
            own.or_else(|| others.find(|(other, _)| other.to_string() == id))
        });
        let mut found = found.filter_map(|(id, body)| Some((id, body.as_map()?)));
        let found = found.next();
        let Some((id, body)) = found else {
            return Arguments::default();
        };
        let (data, node, key) = self.state(&id, body);
        let name = Key::from(&*file.function);
        let functions = data.as_map().cloned().unwrap_or_default();
        let values = functions.get(&name).and_then(Value::as_map).cloned();
        Arguments {
            values: values.unwrap_or_default(),
            node: node.child(&name).unwrap_or_default(),
            of_id: Some((id, functions, node, key)),
        }
    }

    /// The lines of a content that arguments have, or facts that they name.
    fn of_arguments(
        &mut self,
        text: &str,
        file: &ManagedFile,
        arguments: &Arguments,
    ) -> (Value, Node) {
        let unknown = self.traced.unknown(&Value::None);
        let owner = arguments.node.claim().cloned().unwrap_or(unknown);
        let facts: Vec<Node> = file
            .looked_up
            .iter()
            .filter_map(|read| {
                let part = read.part?;
                Some(self.fact(part, &read.path))
            })
            .collect();
        let data = facts
            .first()
            .cloned()
            .filter(|_| file.function == "file.serialize");
        let data = data.or_else(|| Some(arguments.get("dataset")?.1));
        let serialized = data.and_then(|node| SerializedData::new(text, node));
        let given = CONTENTS.iter().filter_map(|name| arguments.get(name));
        let mut pool: Vec<TextCursor> = given
            .flat_map(|(value, node)| pieces(value, &node))
            .collect();
        pool.extend(facts.iter().flat_map(|node| {
            let value = node.claim().map(|claim| claim.value.clone());
            pieces(&value.unwrap_or_default(), node)
        }));
        let mut lines = TracedLines::default();
        for (number, range) in line_ranges(text).enumerate() {
            if lines.is_full() {
                break;
            }
            let line = &text[range];
            let (line, claim, printed): LineOf<'_> = match &serialized {
                Some(data) => data.line(line, number),
                None => of_pool(line, &mut pool),
            };
            let near = || Claim {
                at: owner.at.nearby(),
                ..owner.clone()
            };
            lines.add(&claim.unwrap_or_else(near).over(&line.into()), printed);
        }
        lines.finish(&owner)
    }

    /// The origins of a fact.
    fn fact(&mut self, part: Part, path: &[Key]) -> Node {
        let layer = self.traced.facts(part);
        let value = self.traced.fact(part, path);
        Node::whole(Claim {
            layer,
            value,
            at: At::Fact(Some(part), path.to_vec()),
        })
    }
}

/// A text that an argument has, and where the search for the next line of it begins.
struct TextCursor {
    text: String,
    node: Node,
    done: usize,
}

/// The texts of an argument.
fn pieces(value: &Value, node: &Node) -> Vec<TextCursor> {
    let piece = |value: &Value, node: Node| TextCursor {
        text: value.to_string(),
        node,
        done: 0,
    };
    match value {
        Value::List(items) => items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| Some(piece(item, node.child(&Key::of_index(index))?)))
            .collect(),
        Value::Map(map) => map
            .iter()
            .filter_map(|(key, value)| Some(piece(value, node.child(key)?)))
            .collect(),
        value => vec![piece(value, node.clone())],
    }
}

/// The origins of a line among those of the texts that have it, the first whose end is not reached.
fn of_pool<'l>(line: &'l str, pool: &mut [TextCursor]) -> LineOf<'l> {
    let has = |piece: &mut TextCursor| {
        let rest = piece.text.get(piece.done..)?;
        let found =
            line_ranges(rest).find(|range| rest[range.clone()].trim_end() == line.trim_end());
        let found = found.or_else(|| {
            // A line can be made of several, such as a key and its value.
            (!rest.is_empty() && line.contains(rest)).then_some(0..rest.len())
        })?;
        let before = piece.text[..piece.done + found.start].matches('\n').count();
        piece.done += found.end;
        Some((piece.node.clone(), before))
    };
    let Some((node, number)) = pool.iter_mut().find_map(has) else {
        return (line, None, Vec::new());
    };
    let claim = node.claim().map(|claim| in_scalar(claim, line, number));
    (line, claim, Vec::new())
}

/// The claim on a line of a scalar of several.
fn in_scalar(claim: &Claim, line: &str, number: usize) -> Claim {
    let (at, from) = match &claim.at {
        At::Printed(at, from) => (&**at, &from[..]),
        at => (at, &[][..]),
    };
    let At::Text(text, marks) = at else {
        return claim.clone();
    };
    let start = marks.mark();
    // The lines of a block follow its mark, in order.
    let is_it = |text: &str| text.trim() == line.trim();
    let mut found = scalar_lines(text.as_str(), start)
        .filter(|(at, text)| *at >= start.line as usize - 1 + number && is_it(text));
    let place = found
        .next()
        .filter(|_| claim.value.to_string().contains('\n'));
    let at = place.and_then(|(at, text)| {
        let indent = text.len() - text.trim_start().len();
        Some(Mark {
            line: u32::try_from(at + 1).ok()?,
            column: u32::try_from(indent + 1).ok()?,
        })
    });
    let has = |node: &&Node| {
        let value = node.claim().map(|claim| claim.value.to_string());
        value.is_some_and(|value| {
            !line.trim().is_empty() && (value.contains(line) || line.contains(&value))
        })
    };
    let from: Vec<Node> = from.iter().filter(has).cloned().collect();
    let at = match at {
        Some(mark) => At::Mark(text.clone(), mark),
        None if number == 0 => At::Mark(text.clone(), start),
        // The scalar does not have the line as a line of its own.
        None => claim.at.nearby(),
    };
    Claim {
        at,
        ..claim.clone()
    }
    .printed(from)
}

/// The lines of the scalar at a mark, with their indices in the text. Those after its first are indented more than the
/// line in which it begins, or as much if nothing precedes it there.
fn scalar_lines(text: &str, start: Mark) -> impl Iterator<Item = (usize, &str)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let first = start.line as usize - 1;
    let mut lines = text.split('\n').enumerate().skip(first);
    let begin = lines.next();
    let around = begin.map_or(0, |(_, line)| indent(line));
    let least = match start.column as usize == around + 1 {
        true => around,
        false => around + 1,
    };
    let inside = move |(_, line): &(usize, &str)| line.trim().is_empty() || indent(line) >= least;
    begin.into_iter().chain(lines.take_while(inside))
}

/// Data that is serialized, with the places of its parts in the text.
struct SerializedData {
    node: Node,
    /// The paths of scalars and keys, by the number of their line.
    paths: Vec<(usize, Vec<Key>)>,
}

impl SerializedData {
    fn new(text: &str, node: Node) -> Option<Self> {
        let (value, marks) = load_marked(text, &Limits::default()).ok()?;
        let is_whole = matches!(value, Value::Map(_) | Value::List(_));
        let mut paths = Vec::new();
        if is_whole {
            visit(&value, &marks, &mut Vec::new(), &mut paths);
        }
        Some(SerializedData { node, paths })
    }

    fn line<'l>(&self, line: &'l str, number: usize) -> LineOf<'l> {
        let begin = self.paths.partition_point(|(at, _)| *at < number);
        let on_line = self.paths[begin..]
            .iter()
            .take_while(|(at, _)| *at == number);
        let mut claim = None;
        let mut printed = Vec::new();
        for (_, path) in on_line {
            let Some(node) = self.node.follow(path) else {
                continue;
            };
            let Some(own) = node.claim() else { continue };
            let is_scalar = !matches!(own.value, Value::Map(_) | Value::List(_));
            let on_line = match is_scalar {
                true => None,
                false => self.key(path),
            };
            let on_line = on_line.unwrap_or_else(|| own.clone());
            let at = At::Somewhere(Box::new(on_line.at.clone()));
            claim.get_or_insert(Claim { at, ..on_line });
            if is_scalar {
                let steps: Vec<String> = path.iter().map(Key::to_string).collect();
                printed.push(Printing {
                    source: steps.join(":"),
                    value: own.value.clone(),
                    node,
                });
            }
        }
        (line, claim, printed)
    }

    /// The claim on a key. An index has none.
    fn key(&self, path: &[Key]) -> Option<Claim> {
        let (last, above) = path.split_last()?;
        self.node.follow(above)?.key_of(last)
    }
}

/// The lines of all keys and items, in the order of the text.
fn visit(value: &Value, marks: &Marks, path: &mut Vec<Key>, all: &mut Vec<(usize, Vec<Key>)>) {
    let steps: Vec<(Key, &Value)> = match value {
        Value::Map(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::List(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(index, item)| (Key::of_index(index), item))
                .collect()
        }
        _ => return,
    };
    for (index, (step, inside)) in steps.into_iter().enumerate() {
        let Some(own) = marks.child(index) else {
            continue;
        };
        let line = marks.key(index).unwrap_or(own.mark()).line as usize;
        path.push(step);
        all.push((line.saturating_sub(1), path.clone()));
        visit(inside, own, path, all);
        path.pop();
    }
}
