//! Texts that are the same but for a few words.
//!
//! A template that prints a minion's name makes another text for each minion, and all of them say the same
//! in other words. Reading YAML costs far more than putting a word in its place, so a [`Mould`] is such a text
//! read once, with holes for the words.
//!
//! It is right because of what it refuses. A hole is a letter that the text has nowhere else. What can fill
//! it begins and ends with an ASCII letter or digit, and has nothing inside that ends or begins a token. The
//! grammar does not distinguish such a word from the letter where it is part of a scalar, and a hole that is not
//! part of a scalar makes no mould. Words differ in three more ways, and none of them counts: they make lines
//! longer, where a key may have 1024 characters (lines are far shorter); they decide whether a scalar
//! without quotes is a number (that is looked at each time); and as keys they could be equal to others (a
//! hole in a key makes no mould, nor do tags, aliases and `<<`).

use mapstack_value::Value;

use crate::compose::{Content, Graph, NodeId, ROOT, TypedBy, compose};
use crate::construct::construct;
use crate::resolve::{Tag, implicit};
use crate::{Limits, scalar};

/// A text with holes in scalars, read once for all words that they are filled with.
///
/// ```
/// use mapstack_yaml::{Mould, load};
/// let text = format!("port: 80\nname: www.{}\n", Mould::hole(0).unwrap());
/// let mould = Mould::read(&text, 1).unwrap();
/// assert_eq!(mould.fill(&["example.org"]), load("port: 80\nname: www.example.org\n").ok());
/// assert!(!Mould::takes("a: b") && mould.fill(&["a: b"]).is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Mould {
    /// What the text says, with the holes' letters.
    value: Value,
    scalars: Vec<Scalar>,
}

/// A scalar with holes.
#[derive(Debug, Clone)]
struct Scalar {
    /// Indices of items and entries that lead to it.
    path: Vec<usize>,
    parts: Vec<Part>,
    /// Whether its text says of which type it is.
    is_plain: bool,
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Hole(usize),
}

/// The letters of holes: private ones, that mean nothing to YAML.
const FIRST_HOLE: u32 = 0xe000;
const MOST_HOLES: usize = 256;
/// The longest line of a text with holes, and the most bytes that fill them: a key of 1024 characters is none.
const MOST_IN_LINE: usize = 500;
const MOST_TO_FILL: usize = 500;

impl Mould {
    /// The letter that stands for a hole; there are not many.
    #[must_use]
    pub fn hole(number: usize) -> Option<char> {
        let number = Some(number).filter(|number| *number < MOST_HOLES)?;
        char::from_u32(FIRST_HOLE + u32::try_from(number).ok()?)
    }

    /// Whether a hole can be filled with a word.
    #[must_use]
    pub fn takes(word: &str) -> bool {
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
        // The first was one, or it would have been refused.
        before.is_ascii_alphanumeric()
    }

    /// Read a text in which so many holes' letters stand for words.
    ///
    /// `None` if it is not the same text for every word, or no text that can be read.
    #[must_use]
    pub fn read(text: &str, holes: usize) -> Option<Self> {
        // What an escape makes is not to be taken for a hole, and tags have rules of their own.
        let is_odd = text.contains("\\u") || text.contains("\\U") || text.contains('!');
        if holes > MOST_HOLES || is_odd || text.lines().any(|line| line.len() > MOST_IN_LINE) {
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
                if let Part::Hole(n) = part {
                    Some(*n)
                } else {
                    None
                }
            })
            .collect();
        found.sort_unstable();
        // A hole in a comment or a key is not among them.
        if !found.into_iter().eq(0..holes) {
            return None;
        }
        let (value, ()) = construct(graph).ok()?;
        Some(Mould { value, scalars })
    }

    /// What [`load`](crate::load) says of the text with words for its holes, which are to be as many.
    ///
    /// `None` if it takes reading the text to know.
    #[must_use]
    pub fn fill<T: AsRef<str>>(&self, words: &[T]) -> Option<Value> {
        let scalars = (0..self.scalars.len())
            .map(|index| self.scalar(index, words))
            .collect::<Option<Vec<_>>>()?;
        self.with(scalars)
    }

    /// How many scalars have holes.
    #[must_use]
    pub fn scalars(&self) -> usize {
        self.scalars.len()
    }

    /// What one of the [scalars](Self::scalars) says with words for all holes; `None` if it takes reading the
    /// text to know.
    #[must_use]
    pub fn scalar<T: AsRef<str>>(&self, index: usize, words: &[T]) -> Option<Value> {
        let length: usize = words.iter().map(|word| word.as_ref().len()).sum();
        if length > MOST_TO_FILL {
            return None;
        }
        let scalar = self.scalars.get(index)?;
        let mut text = String::new();
        for part in &scalar.parts {
            text.push_str(match part {
                Part::Text(text) => text,
                Part::Hole(number) => words
                    .get(*number)
                    .map(AsRef::as_ref)
                    .filter(|word| Mould::takes(word))?,
            });
        }
        let tag = if scalar.is_plain {
            implicit(&text)
        } else {
            Tag::Str
        };
        scalar::construct(&tag, &text)?.ok()
    }

    /// What the text says with other values in place of its [scalars](Self::scalars) with holes.
    #[must_use]
    pub fn with(&self, values: impl IntoIterator<Item = Value>) -> Option<Value> {
        let mut whole = self.value.clone();
        for (scalar, value) in self.scalars.iter().zip(values) {
            *whole.inside_mut(&scalar.path)? = value;
        }
        Some(whole)
    }
}

/// The number of the hole that a letter stands for.
fn number_of(letter: char) -> Option<usize> {
    let number = usize::try_from(u32::from(letter).checked_sub(FIRST_HOLE)?).ok()?;
    (number < MOST_HOLES).then_some(number)
}

/// Find the scalars with holes below a node, without keys; `None` if one of them has a tag.
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

/// A scalar's text, cut at its holes.
fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for c in text.chars() {
        match (number_of(c), parts.last_mut()) {
            (Some(number), _) => parts.push(Part::Hole(number)),
            (None, Some(Part::Text(text))) => text.push(c),
            (None, _) => parts.push(Part::Text(c.into())),
        }
    }
    parts
}
