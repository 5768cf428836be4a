//! Following a path into data, as Salt's `traverse_dict_and_list` does.

use crate::{Int, Key, Value};

/// Data that can be traversed: frozen [`Value`]s, or a template engine's live objects.
pub trait Traverse: Sized + Clone {
    /// Number of items if this is a list, else `None`. Tuples are not lists here.
    fn list_len(&self) -> Option<usize>;
    /// The item of a list.
    fn list_item(&self, index: usize) -> Option<Self>;
    /// True if this is a mapping.
    fn is_map(&self) -> bool;
    /// The entry of a mapping.
    fn map_entry(&self, key: &Key) -> Option<Self>;
    /// `self[index]` for sequences that are neither lists nor text (tuples).
    fn sequence_item(&self, index: &Int) -> Option<Self>;
}

/// A path into data: the steps to take, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Path(Vec<PathStep>);

/// One step of a [`Path`].
#[derive(Debug, Clone, PartialEq)]
pub struct PathStep(pub Key);

/// A path cannot be split on an empty delimiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("empty separator: the delimiter of a path must have at least one character")]
pub struct EmptyDelimiter;

impl Path {
    /// Split text on a delimiter.
    ///
    /// # Errors
    /// [`EmptyDelimiter`].
    pub fn split(text: &str, delimiter: &str) -> Result<Self, EmptyDelimiter> {
        if delimiter.is_empty() {
            return Err(EmptyDelimiter);
        }
        Ok(text.split(delimiter).map(Key::from).collect())
    }

    /// The steps in order.
    #[must_use]
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }
}

impl<K: Into<Key>> FromIterator<K> for Path {
    /// A path of ready-made steps, which may contain the delimiter.
    fn from_iter<T: IntoIterator<Item = K>>(iter: T) -> Self {
        Path(iter.into_iter().map(|k| PathStep(k.into())).collect())
    }
}

/// The value at the end of a path, or `None` if a step finds nothing.
///
/// `loose` reads a step as a YAML scalar where the exact text is not a key of a mapping; it returns
/// `None` when that does not change the step. Salt: `salt.utils.data.traverse_dict_and_list`.
///
/// ```
/// use mapstack_value::{Map, Path, Value, traverse};
/// let ports: Map = [("http", 80)].into_iter().collect();
/// let data: Map = [("ports", ports)].into_iter().collect();
/// let path = Path::split("ports:http", ":").unwrap();
/// assert_eq!(traverse(&Value::from(data), &path, &|_| None), Some(Value::from(80)));
/// ```
pub fn traverse<T: Traverse>(
    data: &T,
    path: &Path,
    loose: &dyn Fn(&str) -> Option<Value>,
) -> Option<T> {
    path.steps()
        .iter()
        .try_fold(data.clone(), |here, step| follow(&here, &step.0, loose))
}

fn follow<T: Traverse>(here: &T, step: &Key, loose: &dyn Fn(&str) -> Option<Value>) -> Option<T> {
    if let Some(len) = here.list_len() {
        return follow_list(here, len, step);
    }
    if !here.is_map() {
        // Text is never indexed; a tuple is, by a step that is an integer itself.
        return match step {
            Key::Int(index) => here.sequence_item(index),
            Key::Bool(b) => here.sequence_item(&Int::from(i64::from(*b))),
            _ => None,
        };
    }
    here.map_entry(step).or_else(|| {
        let loosely = loose(step.as_str()?)?;
        here.map_entry(&Key::try_from(&loosely).ok()?)
    })
}

fn follow_list<T: Traverse>(list: &T, len: usize, step: &Key) -> Option<T> {
    let entry_of_a_mapping = |key: &Key| {
        (0..len)
            .filter_map(|i| list.list_item(i))
            .filter(T::is_map)
            .find_map(|item| item.map_entry(key))
    };
    match integer_step(step) {
        Some(index) => entry_of_a_mapping(&Key::Int(index.clone())).or_else(|| {
            let index = index.to_i64()?;
            let from_start = if index < 0 {
                index.checked_add(i64::try_from(len).ok()?)?
            } else {
                index
            };
            list.list_item(usize::try_from(from_start).ok()?)
        }),
        None => entry_of_a_mapping(step),
    }
}

/// The step as Python's `int()` would read it: surrounding blanks, a sign, underscores between
/// digits and leading zeros are fine; floats lose their fraction.
#[must_use]
pub fn integer_step(step: &Key) -> Option<Int> {
    match step {
        Key::Int(i) => Some(i.clone()),
        Key::Bool(b) => Some(i64::from(*b).into()),
        Key::Float(f) => Int::from_f64(*f),
        Key::Str(s) => parse_python_int(s),
        Key::None | Key::Bytes(_) | Key::Tuple(_) => None,
    }
}

fn parse_python_int(text: &str) -> Option<Int> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let groups_are_digits = digits
        .split('_')
        .all(|group| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit()));
    if !groups_are_digits {
        return None;
    }
    text.replace('_', "").parse().ok()
}

impl Traverse for Value {
    fn list_len(&self) -> Option<usize> {
        self.as_list().map(<[Value]>::len)
    }

    fn list_item(&self, index: usize) -> Option<Self> {
        self.as_list()?.get(index).cloned()
    }

    fn is_map(&self) -> bool {
        self.as_map().is_some()
    }

    fn map_entry(&self, key: &Key) -> Option<Self> {
        self.as_map()?.get(key).cloned()
    }

    fn sequence_item(&self, index: &Int) -> Option<Self> {
        let Value::Tuple(items) = self else {
            return None;
        };
        let index = index.to_i64()?;
        let from_start = if index < 0 {
            index.checked_add(i64::try_from(items.len()).ok()?)?
        } else {
            index
        };
        items.get(usize::try_from(from_start).ok()?).cloned()
    }
}
