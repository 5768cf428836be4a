//! Skeletons: parsed YAML texts with holes for words.
//!
//! A template that prints a minion's name makes a different text for each minion, although the texts differ only in
//! a few words. Parsing YAML costs far more than inserting a word into a value. So a [`Skeleton`] is parsed once,
//! from a text with holes in place of the words.
//!
//! A filled skeleton equals the parsed text because of what a skeleton refuses. A hole is a letter that occurs
//! nowhere else in the text. A word for it must begin and end with an ASCII letter or digit, and contain nothing
//! that ends or begins a token. Inside a scalar, the grammar does not distinguish such a word from the letter; texts
//! with holes elsewhere are refused. There are three more ways in which a word could matter:
//!
//! - It makes lines longer, and a key can have at most 1024 characters. Skeletons limit the lengths of lines and
//!   words to far less.
//! - It decides whether a scalar without quotes is a number. This is determined for each word.
//! - It could make two keys equal. Texts with holes in keys are refused, and so are tags, aliases and `<<`.

use mapstack_value::{MapKind, Value};

use crate::compose::{Content, Graph, NodeId, ROOT, TypedBy, compose};
use crate::construct::construct_as;
use crate::resolve::{Tag, implicit};
use crate::{Limits, scalar};

/// A YAML text with holes in scalars, parsed once for all words that fill the holes.
///
/// ```
/// use mapstack_yaml::{Skeleton, load};
/// let text = format!("port: 80\nname: www.{}\n", Skeleton::hole(0).unwrap());
/// let skeleton = Skeleton::parse(&text, 1).unwrap();
/// assert_eq!(skeleton.fill(&["example.org"]), load("port: 80\nname: www.example.org\n").ok());
/// assert!(!Skeleton::accepts("a: b") && skeleton.fill(&["a: b"]).is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Skeleton {
    /// The parsed text, with the letters of holes.
    value: Value,
    scalars: Vec<Scalar>,
}

/// A scalar with holes.
#[derive(Debug, Clone)]
struct Scalar {
    /// The indices of entries and items that lead to the scalar.
    path: Vec<usize>,
    parts: Vec<SkeletonPart>,
    /// True if the type of the scalar depends on its text.
    is_plain: bool,
}

#[derive(Debug, Clone)]
enum SkeletonPart {
    Text(String),
    Hole(usize),
}

/// The letters of holes come from the private use area, so they have no meaning in YAML.
const FIRST_HOLE: u32 = 0xe000;
const MAX_HOLES: usize = 256;
/// Limits on the lines of a text with holes, and on the words that fill it. They ensure that no key is longer than
/// 1024 characters.
const MAX_LINE_BYTES: usize = 500;
const MAX_FILL_BYTES: usize = 500;

impl Skeleton {
    /// The letter of a hole; `None` for a number that is too high.
    #[must_use]
    pub fn hole(number: usize) -> Option<char> {
        let number = Some(number).filter(|number| *number < MAX_HOLES)?;
        char::from_u32(FIRST_HOLE + u32::try_from(number).ok()?)
    }

    /// True if a word can fill a hole.
    #[must_use]
    pub fn accepts(word: &str) -> bool {
        let mut before = 0_u8;
        let mut bytes = word.bytes().peekable();
        while let Some(byte) = bytes.next() {
            let mut is_between_words = || {
                before.is_ascii_alphanumeric()
                    && bytes.peek().is_some_and(u8::is_ascii_alphanumeric)
            };
            let is_inside = byte.is_ascii_alphanumeric()
                || before != 0
                    && matches!(byte, b'.' | b'_' | b'-' | b'/' | b':' | b'+' | b'@' | b'=')
                || byte == b' ' && is_between_words();
            if !is_inside {
                return false;
            }
            before = byte;
        }
        // The loop accepts only an alphanumeric byte as the first one.
        before.is_ascii_alphanumeric()
    }

    /// Parse a text with this number of holes.
    ///
    /// `None` if the text is invalid, or if words could change its structure.
    #[must_use]
    pub fn parse(text: &str, holes: usize) -> Option<Self> {
        Skeleton::parse_as(text, holes, MapKind::Dict)
    }

    /// [`parse`](Self::parse) for a text that is read as [`load_rendered`](crate::load_rendered) reads it, in the default
    /// limits.
    #[must_use]
    pub fn parse_rendered(text: &str, holes: usize) -> Option<Self> {
        Skeleton::parse_as(text, holes, MapKind::Ordered)
    }

    fn parse_as(text: &str, holes: usize, maps: MapKind) -> Option<Self> {
        // Escapes could produce the letter of a hole, and tags have rules of their own.
        let is_odd = text.contains("\\u") || text.contains("\\U") || text.contains('!');
        if holes > MAX_HOLES || is_odd || text.lines().any(|line| line.len() > MAX_LINE_BYTES) {
            return None;
        }
        if text.chars().filter(|c| number_of(*c).is_some()).count() != holes {
            return None;
        }
        let graph = compose(text, &Limits::default()).ok()?;
        let is_plain = |tag: &Tag| {
            !matches!(
                tag,
                Tag::Merge | Tag::Value | Tag::Set | Tag::Omap | Tag::Pairs
            )
        };
        if graph
            .nodes
            .iter()
            .any(|node| node.aliased || !is_plain(&node.tag))
        {
            return None;
        }
        let mut scalars = Vec::new();
        if !graph.nodes.is_empty() {
            find(&graph, ROOT, &mut Vec::new(), &mut scalars)?;
        }
        let parts = scalars.iter().flat_map(|scalar| &scalar.parts);
        let mut found: Vec<usize> = parts
            .filter_map(|part| {
                if let SkeletonPart::Hole(n) = part {
                    Some(*n)
                } else {
                    None
                }
            })
            .collect();
        found.sort_unstable();
        // Holes in comments and keys are missing here.
        if !found.into_iter().eq(0..holes) {
            return None;
        }
        let (value, ()) = construct_as(graph, maps).ok()?;
        Some(Skeleton { value, scalars })
    }

    /// The value that [`load`](crate::load) returns for the text with one word for each hole.
    ///
    /// `None` if the text has to be parsed with these words.
    #[must_use]
    pub fn fill<T: AsRef<str>>(&self, words: &[T]) -> Option<Value> {
        let length: usize = words.iter().map(|word| word.as_ref().len()).sum();
        if length > MAX_FILL_BYTES {
            return None;
        }
        let mut whole = self.value.clone();
        for scalar in &self.scalars {
            *whole.inside_mut(&scalar.path)? = scalar.filled(words)?;
        }
        Some(whole)
    }
}

impl Scalar {
    /// The value of the scalar with these words. `None` if the text has to be parsed with them.
    fn filled<T: AsRef<str>>(&self, words: &[T]) -> Option<Value> {
        let mut text = String::new();
        for part in &self.parts {
            text.push_str(match part {
                SkeletonPart::Text(text) => text,
                SkeletonPart::Hole(number) => words
                    .get(*number)
                    .map(AsRef::as_ref)
                    .filter(|word| Skeleton::accepts(word))?,
            });
        }
        let tag = if self.is_plain {
            implicit(&text)
        } else {
            Tag::Str
        };
        scalar::construct(&tag, &text)?.ok()
    }
}

/// The number of the hole with this letter.
fn number_of(letter: char) -> Option<usize> {
    let number = usize::try_from(u32::from(letter).checked_sub(FIRST_HOLE)?).ok()?;
    (number < MAX_HOLES).then_some(number)
}

/// Collect the scalars with holes below a node, but not keys; `None` if one has a tag.
fn find(graph: &Graph, id: NodeId, path: &mut Vec<usize>, scalars: &mut Vec<Scalar>) -> Option<()> {
    let mut below = |(index, child): (usize, NodeId)| {
        path.push(index);
        let found = find(graph, child, path, scalars);
        path.pop();
        found
    };
    let node = &graph.nodes[id];
    match &node.content {
        Content::Sequence(items) => items.iter().copied().enumerate().try_for_each(&mut below),
        Content::Mapping(pairs) => pairs
            .iter()
            .map(|(_, value)| *value)
            .enumerate()
            .try_for_each(&mut below),
        Content::Scalar(text) if text.contains(|c| number_of(c).is_some()) => {
            if node.typed_by == TypedBy::Tag {
                return None;
            }
            let is_plain = node.typed_by == TypedBy::Text;
            scalars.push(Scalar {
                path: path.clone(),
                parts: parts(text),
                is_plain,
            });
            Some(())
        }
        Content::Scalar(_) => Some(()),
    }
}

/// Split the text of a scalar at its holes.
fn parts(text: &str) -> Vec<SkeletonPart> {
    let mut parts = Vec::new();
    for c in text.chars() {
        match (number_of(c), parts.last_mut()) {
            (Some(number), _) => parts.push(SkeletonPart::Hole(number)),
            (None, Some(SkeletonPart::Text(text))) => text.push(c),
            (None, _) => parts.push(SkeletonPart::Text(c.into())),
        }
    }
    parts
}
