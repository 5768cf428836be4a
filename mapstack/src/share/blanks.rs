//! What stands in a stack in place of texts that every minion has for itself.

use std::cell::Cell;
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use mapstack_render::{DictRef, Obj, Reader};
use mapstack_value::{Key, Str, Value};
use mapstack_yaml::{Lines, Marks, plain_scalar};

/// Whether a stack holds blanks, and whether anybody looked at it since.
#[derive(Debug, Default)]
pub(crate) struct Blanks {
    there: Cell<bool>,
    seen: Cell<bool>,
}

impl Blanks {
    /// From now on the stack holds some.
    pub fn fill_in(&self) {
        self.there.set(true);
    }

    pub fn is_empty(&self) -> bool {
        !self.there.get()
    }

    /// Somebody looks at the stack, for whom a blank is not what it stands for.
    pub fn look(&self) {
        if self.there.get() {
            self.seen.set(true);
        }
    }

    pub fn were_seen(&self) -> bool {
        self.seen.get()
    }

    /// The stack as an object of templates, each look at which is told.
    pub fn live(self: &Rc<Self>, stack: &Value) -> Obj {
        match stack {
            Value::Map(map) if self.there.get() => {
                Obj::Dict(DictRef::watched(map.clone(), self.clone() as Rc<dyn Reader>, Vec::new()))
            }
            other => Obj::from(other.clone()),
        }
    }

    /// Whether nobody looked at a live stack, or changed it.
    pub fn are_unread(&self, live: &Obj, stack: &Value) -> bool {
        let is_same = match (live.to_value_unread(), stack) {
            (Ok(Value::Map(live)), Value::Map(stack)) => live.ptr_eq(stack),
            _ => false,
        };
        if !is_same {
            self.look();
        }
        !self.were_seen()
    }
}

impl Reader for Blanks {
    fn entry(&self, _: &[Key]) {
        self.look();
    }

    fn whole(&self, _: &[Key]) {
        self.look();
    }
}

/// What no text of a file or a minion has in it: nobody can know it before the process runs. Letters only, of
/// which the first makes no escape sequence in YAML.
static MARKER: LazyLock<String> = LazyLock::new(|| {
    let number = foldhash::fast::RandomState::default().hash_one("mapstack");
    let letter = |at: u32| char::from(b'a' + u8::try_from((number >> (4 * at)) & 15).unwrap_or_default());
    format!("m{}q", (0..16).map(letter).collect::<String>())
});

/// What stands for the blank of some number: safe in a plain scalar, and a text there.
pub(super) fn blank(number: usize) -> String {
    let digit = |at: u32| char::from(b'a' + u8::try_from((number >> (4 * at)) & 15).unwrap_or_default());
    format!("{}{}", *MARKER, (0..4).map(digit).collect::<String>())
}

/// More blanks have no names.
pub(super) const MOST_BLANKS: usize = 1 << 16;

/// Whether a printed text can be put in for a blank: in one line of text that is a scalar with a blank in it,
/// it changes nothing but what the scalar says. Letters, digits and what means nothing to YAML between them.
pub(super) fn is_safe(text: &str) -> bool {
    let is_inner = |b: u8| b.is_ascii_alphanumeric() || b"_.+-/~".contains(&b);
    let is_first = |b: &u8| b.is_ascii_alphanumeric();
    text.len() <= 256 && text.as_bytes().first().is_some_and(is_first) && text.bytes().all(is_inner)
}

/// A text with blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Blank(usize),
}

/// The pieces of a text that has blanks in it.
fn pieces(text: &str) -> Option<Vec<Piece>> {
    if !text.contains(&**MARKER) {
        return None;
    }
    let mut parts = text.split(&**MARKER);
    let mut pieces = vec![Piece::Text(parts.next().unwrap_or_default().to_owned())];
    for part in parts {
        let (name, rest) = part.split_at_checked(4)?;
        let number = name.bytes().rev().fold(0, |number, b| number << 4 | usize::from(b.wrapping_sub(b'a')));
        pieces.push(Piece::Blank(number));
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    Some(pieces)
}

/// A scalar with blanks, as a layer has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub text: Str,
    /// Whether what it stands for depends on what it says.
    pub is_plain: bool,
}

/// The scalars with blanks in the values of a layer; `None` if some of `numbers` is somewhere else, too, or nowhere.
pub(super) fn scalars(
    values: &Value,
    marks: &Marks,
    text: &str,
    numbers: std::ops::Range<usize>,
) -> Option<Vec<Scalar>> {
    let mut found = Found { text, lines: Lines::of(text), scalars: Vec::new() };
    found.walk(values, marks)?;
    let has = |number: usize| found.scalars.iter().any(|scalar| scalar.text.contains(&blank(number)));
    numbers.into_iter().all(has).then_some(found.scalars)
}

struct Found<'t> {
    text: &'t str,
    lines: Lines,
    scalars: Vec<Scalar>,
}

impl Found<'_> {
    fn walk(&mut self, value: &Value, marks: &Marks) -> Option<()> {
        match value {
            Value::Str(text) if text.contains(&**MARKER) => {
                let at = self.lines.offset(self.text, marks.mark());
                let is_plain = match self.text.as_bytes().get(at)? {
                    b'"' | b'\'' | b'|' | b'>' => false,
                    // Tags and aliases.
                    b'!' | b'&' | b'*' => return None,
                    _ => true,
                };
                let scalar = Scalar { text: text.clone(), is_plain };
                if self.scalars.iter().any(|known| known.text == scalar.text && known.is_plain != is_plain) {
                    return None;
                }
                self.scalars.push(scalar);
            }
            Value::Map(map) => {
                for (index, (key, value)) in map.iter().enumerate() {
                    if has_blank(&key.to_value()) {
                        return None;
                    }
                    self.walk(value, marks.child(index)?)?;
                }
            }
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(item, marks.child(index)?)?;
                }
            }
            other if has_blank(other) => return None,
            _ => {}
        }
        Some(())
    }
}

/// Whether there is a blank anywhere in a value.
pub(super) fn has_blank(value: &Value) -> bool {
    match value {
        Value::Str(text) => text.contains(&**MARKER),
        Value::Bytes(bytes) => bytes.windows(MARKER.len()).any(|window| window == MARKER.as_bytes()),
        Value::List(items) => items.iter().any(has_blank),
        Value::Tuple(items) => items.iter().any(has_blank),
        Value::Map(map) => map.iter().any(|(key, value)| has_blank(&key.to_value()) || has_blank(value)),
        Value::Set(set) => set.iter().any(|key| has_blank(&key.to_value())),
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    }
}

/// A result with blanks, and where they are.
#[derive(Debug)]
pub(super) struct Form {
    value: Value,
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    /// Positions in mappings and lists.
    path: Vec<usize>,
    pieces: Vec<Piece>,
    is_plain: bool,
}

impl Form {
    /// The form of a result that has `scalars` in it, some or all; `None` if something was made of one of them.
    pub fn of(value: &Value, scalars: &[Scalar]) -> Option<Self> {
        let mut places = Vec::new();
        find(value, scalars, &mut Vec::new(), &mut places)?;
        Some(Form { value: value.clone(), places })
    }

    /// The result with texts put in for its blanks; `None` if one of them would be something else there than
    /// text, a number or a truth value.
    pub fn filled(&self, texts: &[Str]) -> Option<Value> {
        let mut value = self.value.clone();
        for place in &self.places {
            let mut text = String::new();
            for piece in &place.pieces {
                text.push_str(match piece {
                    Piece::Text(text) => text,
                    Piece::Blank(number) => texts.get(*number)?,
                });
            }
            let scalar = if place.is_plain { plain_scalar(&text)? } else { text.into() };
            if !matches!(scalar, Value::Str(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_)) {
                return None;
            }
            let mut here = &mut value;
            for index in &place.path {
                here = match here {
                    Value::Map(map) => map.value_at_mut(*index)?,
                    Value::List(items) => items.make_mut().get_mut(*index)?,
                    _ => return None,
                };
            }
            *here = scalar;
        }
        Some(value)
    }

    /// About how many bytes it takes besides its value.
    pub fn size(&self) -> usize {
        self.places.iter().map(|place| 64 * (place.pieces.len() + 1) + 8 * place.path.len()).sum()
    }
}

fn find(value: &Value, scalars: &[Scalar], path: &mut Vec<usize>, places: &mut Vec<Place>) -> Option<()> {
    match value {
        Value::Str(text) => {
            if let Some(pieces) = pieces(text) {
                let scalar = scalars.iter().find(|scalar| scalar.text == *text)?;
                places.push(Place { path: path.clone(), pieces, is_plain: scalar.is_plain });
            }
        }
        Value::Map(map) => {
            for (index, (key, value)) in map.iter().enumerate() {
                if has_blank(&key.to_value()) {
                    return None;
                }
                path.push(index);
                find(value, scalars, path, places)?;
                path.pop();
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(index);
                find(item, scalars, path, places)?;
                path.pop();
            }
        }
        other if has_blank(other) => return None,
        _ => {}
    }
    Some(())
}

/// Layers of a formula that print what every minion has for itself, by their paths.
pub(crate) type Printing = std::collections::BTreeSet<Arc<str>>;
