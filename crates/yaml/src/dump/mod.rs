//! Values to YAML text, as PyYAML with libyaml's emitter prints them.

mod analysis;
mod emitter;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use mapstack_value::pytext::base64;
use mapstack_value::{Key, Map, MapKind, Set, Value, float_repr, sort_by_key};

use crate::resolve::{Tag, implicit};
use emitter::{Emitter, Scalar, Short};

/// The options for printing a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpOptions {
    /// `{a: [1]}` instead of one entry a line.
    pub flow: bool,
    /// In block layout, `[1, 2]` for collections of scalars alone (PyYAML's default_flow_style=None).
    pub flow_leaves: bool,
    /// Sort the keys of plain dicts, where they can be compared; ordered dicts stay as they are.
    pub sort_keys: bool,
    /// Sort the keys of ordered dicts, too.
    pub sort_ordered: bool,
    /// Print a collection found in several places once, with an anchor, and aliases to it.
    pub aliases: bool,
    /// Columns a level is indented by.
    pub indent: usize,
    /// Column behind which lines are broken where they can be.
    pub width: usize,
    /// Write texts of several lines as literal blocks (`|`) where these read back as the same text.
    pub literal: bool,
    /// Write characters beyond the Basic Multilingual Plane as escapes.
    pub escape_astral: bool,
    /// Write everything beyond ASCII as escapes.
    pub escape_non_ascii: bool,
    /// Write characters that act on a terminal as escapes, and texts that a CI service takes for commands in quotes.
    pub escape_acting: bool,
    /// Print the mapping types that are Salt's own as `NULL`, because the reference's dumper does not know
    /// them.
    pub unknown_as_null: bool,
    /// End with a line break.
    pub final_break: bool,
}

impl DumpOptions {
    /// The options of Salt's filter `|yaml(flow_style)`.
    #[must_use]
    pub fn filter(flow_style: bool) -> Self {
        DumpOptions {
            flow: flow_style,
            flow_leaves: false,
            sort_keys: true,
            sort_ordered: false,
            escape_non_ascii: false,
            aliases: true,
            indent: 2,
            width: 80,
            literal: false,
            escape_astral: true,
            escape_acting: false,
            unknown_as_null: true,
            final_break: false,
        }
    }

    /// The options of Salt's YAML serializer (`slsutil.serialize('yaml', …)`): brackets for collections
    /// of scalars alone, everything sorted, ASCII.
    ///
    /// ```
    /// use mapstack_yaml::{DumpOptions, dump, load};
    /// let value = load("{c: é, a: [1, {b: 2}]}").unwrap();
    /// assert_eq!(dump(&value, &DumpOptions::serializer()), "a:\n- 1\n- {b: 2}\nc: \"\\xE9\"\n");
    /// ```
    #[must_use]
    pub fn serializer() -> Self {
        DumpOptions {
            flow_leaves: true,
            sort_ordered: true,
            escape_non_ascii: true,
            escape_acting: false,
            unknown_as_null: false,
            final_break: true,
            ..Self::filter(false)
        }
    }

    /// For people and files: block layout in the value's own order, without aliases.
    ///
    /// A value that can be loaded at all is loaded back the same; tuples come back as lists.
    #[must_use]
    pub fn output() -> Self {
        DumpOptions {
            flow: false,
            flow_leaves: false,
            sort_keys: false,
            sort_ordered: false,
            escape_non_ascii: false,
            aliases: false,
            indent: 2,
            width: 80,
            literal: false,
            escape_astral: false,
            escape_acting: true,
            unknown_as_null: false,
            final_break: true,
        }
    }
}

impl DumpOptions {
    /// To be compared line by line: as [`output`](Self::output), but a text is on one line, however long, and one of
    /// several lines is a literal block.
    ///
    /// ```
    /// use mapstack_yaml::{DumpOptions, dump, load};
    /// let value = load("motd: \"hello\\nworld\\n\"\nmode: '0644'").unwrap();
    /// assert_eq!(dump(&value, &DumpOptions::lines()), "motd: |\n  hello\n  world\nmode: '0644'\n");
    /// ```
    #[must_use]
    pub fn lines() -> Self {
        DumpOptions {
            width: usize::MAX,
            literal: true,
            ..Self::output()
        }
    }

    /// On one line, as long as no text in it has several: brackets for collections.
    ///
    /// ```
    /// use mapstack_yaml::{DumpOptions, dump, load};
    /// let value = load("b: [yes, '0644']\na: {}").unwrap();
    /// assert_eq!(dump(&value, &DumpOptions::line()), "{b: [true, '0644'], a: {}}\n");
    /// ```
    #[must_use]
    pub fn line() -> Self {
        DumpOptions {
            flow: true,
            width: usize::MAX,
            ..Self::output()
        }
    }
}

impl Default for DumpOptions {
    /// [`DumpOptions::output`].
    fn default() -> Self {
        Self::output()
    }
}

/// Text as one double-quoted scalar on one line, however long.
///
/// ```
/// assert_eq!(mapstack_yaml::double_quoted("a\nb"), r#""a\nb""#);
/// ```
#[must_use]
pub fn double_quoted(text: &str) -> String {
    let options = DumpOptions::filter(true);
    let mut emitter = Emitter::new(&options);
    emitter.double_quoted(text, false);
    emitter.finish().trim_end_matches('\n').to_owned()
}

/// Print a value as one YAML document.
///
/// ```
/// use mapstack_yaml::{DumpOptions, dump, load};
/// let value = load("b: [yes, '0644']\na: {}").unwrap();
/// assert_eq!(dump(&value, &DumpOptions::output()), "b:\n- true\n- '0644'\na: {}\n");
/// assert_eq!(dump(&value, &DumpOptions::filter(true)), "{a: {}, b: [true, '0644']}");
/// ```
#[must_use]
pub fn dump(value: &Value, options: &DumpOptions) -> String {
    let mut anchors = if options.aliases {
        anchors(value, options)
    } else {
        HashMap::new()
    };
    let mut emitter = Emitter::new(options);
    let mut open = vec![vec![DumpNode::Value(value)].into_iter()];
    while let Some(items) = open.last_mut() {
        match items.next() {
            Some(item) => open.extend(emit(&item, options, &mut emitter, &mut anchors)),
            None => {
                open.pop();
                emitter.end();
            }
        }
    }
    let text = emitter.finish();
    // The filter strips what Python calls white space, even where it belongs to a plain scalar.
    if options.final_break {
        text
    } else {
        text.trim().to_owned()
    }
}

/// A part that is printed as one node.
#[derive(Clone, Copy)]
enum DumpNode<'v> {
    Value(&'v Value),
    Key(&'v Key),
    /// The value of a set's element.
    Null,
}

/// A collection's items in the order they are printed; keys and values take turns.
type Items<'v> = std::vec::IntoIter<DumpNode<'v>>;

/// Print one node; the items of a collection are left to the caller.
fn emit<'v>(
    item: &DumpNode<'v>,
    options: &DumpOptions,
    emitter: &mut Emitter<'_>,
    anchors: &mut HashMap<usize, Anchor>,
) -> Option<Items<'v>> {
    if let Some(scalar) = scalar(item, options) {
        emitter.scalar(&scalar);
        return None;
    }
    let mut anchor = None;
    if let Some(known) = address(item).and_then(|address| anchors.get_mut(&address)) {
        anchor = known.number;
        if let (Some(number), true) = (anchor, known.printed) {
            emitter.alias(number);
            return None;
        }
        known.printed = true;
    }
    let items = items(item, options);
    let leaf = |item: &DumpNode<'_>| scalar(item, options).is_some_and(|scalar| !scalar.binary);
    let short = match options.flow_leaves && items.iter().all(leaf) {
        _ if items.is_empty() => Short::Empty,
        true => Short::Leaf,
        false => Short::No,
    };
    match item {
        DumpNode::Value(Value::Set(_)) => emitter.begin_mapping(anchor, Some("!!set"), short),
        DumpNode::Value(Value::Map(_)) => emitter.begin_mapping(anchor, None, short),
        _ => emitter.begin_sequence(anchor, short),
    }
    Some(items.into_iter())
}

/// A scalar's text and type; `None` for collections.
fn scalar<'v>(item: &DumpNode<'v>, options: &DumpOptions) -> Option<Scalar<'v>> {
    Some(match *item {
        DumpNode::Null | DumpNode::Value(Value::None) | DumpNode::Key(Key::None) => {
            Scalar::plain("null")
        }
        DumpNode::Value(Value::Bool(b)) | DumpNode::Key(Key::Bool(b)) => {
            Scalar::plain(if *b { "true" } else { "false" })
        }
        DumpNode::Value(Value::Int(i)) | DumpNode::Key(Key::Int(i)) => Scalar::plain(i.to_string()),
        DumpNode::Value(Value::Float(f)) | DumpNode::Key(Key::Float(f)) => Scalar::plain(float(*f)),
        DumpNode::Value(Value::Str(s)) | DumpNode::Key(Key::Str(s)) => {
            Scalar::text(s, implicit(s) == Tag::Str)
        }
        DumpNode::Value(Value::Bytes(b)) | DumpNode::Key(Key::Bytes(b)) => {
            Scalar::binary(base64::encode_lines(b))
        }
        DumpNode::Value(Value::Map(m))
            if options.unknown_as_null
                && matches!(m.kind(), MapKind::Aggregate | MapKind::Bunch) =>
        {
            Scalar::plain("NULL")
        }
        _ => return None,
    })
}

fn items<'v>(item: &DumpNode<'v>, options: &DumpOptions) -> Vec<DumpNode<'v>> {
    match *item {
        DumpNode::Value(Value::List(list)) => list.iter().map(DumpNode::Value).collect(),
        DumpNode::Value(Value::Tuple(tuple)) => tuple.iter().map(DumpNode::Value).collect(),
        DumpNode::Key(Key::Tuple(tuple)) => tuple.iter().map(DumpNode::Key).collect(),
        DumpNode::Value(Value::Map(map)) => entries(map, options)
            .into_iter()
            .flat_map(|(k, v)| [DumpNode::Key(k), DumpNode::Value(v)])
            .collect(),
        DumpNode::Value(Value::Set(set)) => elements(set, options)
            .into_iter()
            .flat_map(|k| [DumpNode::Key(k), DumpNode::Null])
            .collect(),
        _ => Vec::new(),
    }
}

fn entries<'v>(map: &'v Map, options: &DumpOptions) -> Vec<(&'v Key, &'v Value)> {
    let entries: Vec<_> = map.iter().collect();
    if options.sort_keys && (options.sort_ordered || !map.kind().is_ordered()) {
        // Keys that cannot be compared stay as they are.
        return sort_by_key(entries.clone(), |entry| entry.0).unwrap_or(entries);
    }
    entries
}

fn elements<'v>(set: &'v Set, options: &DumpOptions) -> Vec<&'v Key> {
    let elements: Vec<_> = set.iter().collect();
    if options.sort_keys {
        return sort_by_key(elements.clone(), |key| *key).unwrap_or(elements);
    }
    elements
}

/// The number of a collection that is printed more than once.
#[derive(Default)]
struct Anchor {
    number: Option<usize>,
    printed: bool,
}

/// Number the collections met more than once, in the order they are met again.
fn anchors(value: &Value, options: &DumpOptions) -> HashMap<usize, Anchor> {
    let mut anchors: HashMap<usize, Anchor> = HashMap::new();
    let mut numbered = 0;
    let mut open = vec![vec![DumpNode::Value(value)].into_iter()];
    while let Some(items_left) = open.last_mut() {
        let Some(item) = items_left.next() else {
            open.pop();
            continue;
        };
        if scalar(&item, options).is_some() {
            continue;
        }
        if let Some(address) = address(&item) {
            match anchors.get_mut(&address) {
                Some(anchor) if anchor.number.is_some() => continue,
                Some(anchor) => {
                    numbered += 1;
                    anchor.number = Some(numbered);
                    continue;
                }
                None => {
                    anchors.insert(address, Anchor::default());
                }
            }
        }
        open.push(items(&item, options).into_iter());
    }
    anchors
}

/// The identity of a collection; the empty tuple has none.
fn address(item: &DumpNode<'_>) -> Option<usize> {
    match item {
        DumpNode::Value(Value::List(list)) => Some(list.address()),
        DumpNode::Value(Value::Map(map)) => Some(map.address()),
        DumpNode::Value(Value::Set(set)) => Some(set.address()),
        DumpNode::Value(Value::Tuple(tuple)) if !tuple.is_empty() => Some(tuple.as_ptr() as usize),
        _ => None,
    }
}

fn float(f: f64) -> String {
    if f.is_nan() {
        return ".nan".into();
    }
    if f.is_infinite() {
        return if f > 0.0 {
            ".inf".into()
        } else {
            "-.inf".into()
        };
    }
    let repr = float_repr(f);
    // YAML 1.1 wants a point in every float.
    if repr.contains('.') {
        repr
    } else {
        repr.replacen('e', ".0e", 1)
    }
}

/// `id001`
fn anchor_name(number: usize) -> String {
    let mut name = String::from("id");
    // Writing to a String cannot fail.
    let _ = write!(name, "{number:03}");
    name
}

impl<'v> Scalar<'v> {
    /// A scalar whose plain form has its own type.
    fn plain(text: impl Into<Cow<'v, str>>) -> Self {
        Scalar {
            text: text.into(),
            plain: true,
            binary: false,
        }
    }

    fn text(text: &'v str, plain: bool) -> Self {
        Scalar {
            text: text.into(),
            plain,
            binary: false,
        }
    }

    fn binary(text: String) -> Self {
        Scalar {
            text: text.into(),
            plain: false,
            binary: true,
        }
    }
}
