//! Placeholders: unguessable texts that stand in the merged data for scalars that differ between minions.

use std::cell::Cell;
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use mapstack::hooks::Hooks;
use mapstack_render::Reader;
use mapstack_value::{Key, Str, Value};
use mapstack_yaml::Skeleton;

/// Knows if the data of a run contains placeholders, and if anything has read the data since then. Clones share
/// their state.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlaceholderWatch(Rc<State>);

#[derive(Debug, Default)]
struct State {
    present: Cell<bool>,
    read: Cell<bool>,
}

impl PlaceholderWatch {
    /// Note that the data contains placeholders from now on.
    pub fn mark_present(&self) {
        self.0.present.set(true);
    }

    pub fn are_present(&self) -> bool {
        self.0.present.get()
    }

    /// Note that something reads the data. If the data contains a placeholder, the reader sees a wrong value.
    pub fn record_read(&self) {
        if self.0.present.get() {
            self.0.read.set(true);
        }
    }

    pub fn were_read(&self) -> bool {
        self.0.read.get()
    }

    /// A reader for the dicts that templates see as the merged data; `None` while the data has no placeholders.
    pub fn reader(&self) -> Option<Rc<dyn Reader>> {
        self.are_present()
            .then(|| Rc::new(self.clone()) as Rc<dyn Reader>)
    }
}

impl Hooks for PlaceholderWatch {
    fn data_read(&self) {
        self.record_read();
    }

    fn data_reader(&self) -> Option<Rc<dyn Reader>> {
        self.reader()
    }

    fn facts_changed(&self) {
        // A template may have put the merged data into facts.
        self.record_read();
    }
}

impl Reader for PlaceholderWatch {
    fn entry(&self, _: &[Key]) {
        self.record_read();
    }

    fn whole(&self, _: &[Key]) {
        self.record_read();
    }
}

/// The prefix of every placeholder. It contains random numbers of this process, so that no file or minion can
/// contain it.
static MARKER: LazyLock<String> = LazyLock::new(|| {
    let number = |of: &str| foldhash::fast::RandomState::default().hash_one(of);
    format!(
        "placeholder {:016x}{:016x} ",
        number("one"),
        number("other")
    )
});

/// The layers of a run whose scalars were replaced by placeholders, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Placeholders {
    layers: Vec<Arc<Skeleton>>,
    scalars: usize,
}

impl Placeholders {
    /// True if no scalar was replaced.
    pub fn is_empty(&self) -> bool {
        self.scalars == 0
    }

    /// Add a layer. Returns its content, with placeholders in all scalars that have holes.
    pub fn add(&mut self, skeleton: Skeleton) -> Option<Value> {
        let last = self.scalars + skeleton.scalar_count();
        let filled = skeleton
            .with_values((self.scalars..last).map(|number| format!("{}{number}", *MARKER).into()));
        self.scalars = last;
        self.layers.push(skeleton.into());
        filled
    }

    /// The layer, and the number of the scalar in it, that a placeholder stands for.
    fn find(&self, text: &str) -> Option<(usize, usize)> {
        let mut number: usize = text.strip_prefix(&**MARKER)?.parse().ok()?;
        for (layer, skeleton) in self.layers.iter().enumerate() {
            if number < skeleton.scalar_count() {
                return Some((layer, number));
            }
            number -= skeleton.scalar_count();
        }
        None
    }
}

/// True if a value contains a placeholder anywhere.
pub(super) fn has_placeholder(value: &Value) -> bool {
    match value {
        Value::Str(text) => text.contains(&**MARKER),
        Value::Bytes(bytes) => bytes
            .windows(MARKER.len())
            .any(|window| window == MARKER.as_bytes()),
        Value::List(items) => items.iter().any(has_placeholder),
        Value::Tuple(items) => items.iter().any(has_placeholder),
        Value::Map(map) => map
            .iter()
            .any(|(key, value)| is_placeholder_key(key) || has_placeholder(value)),
        Value::Set(set) => set.iter().any(is_placeholder_key),
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    }
}

fn is_placeholder_key(key: &Key) -> bool {
    match key {
        Key::Str(text) => text.contains(&**MARKER),
        other => has_placeholder(&other.to_value()),
    }
}

/// A result with placeholders, and the positions of these.
#[derive(Debug)]
pub(super) struct ResultSkeleton {
    value: Value,
    layers: Vec<Arc<Skeleton>>,
    places: Vec<PlaceholderPath>,
}

#[derive(Debug)]
struct PlaceholderPath {
    /// The indices of mapping entries and list items that lead to the placeholder.
    path: Vec<usize>,
    layer: usize,
    scalar: usize,
}

impl ResultSkeleton {
    /// Find the placeholders in a result. `None` if one of them is not a whole scalar any more, or is in a key, a
    /// tuple or a set.
    pub fn of(value: &Value, placeholders: Placeholders) -> Option<Self> {
        let mut places = Vec::new();
        find(value, &placeholders, &mut Vec::new(), &mut places)?;
        Some(ResultSkeleton {
            value: value.clone(),
            layers: placeholders.layers,
            places,
        })
    }

    /// Replace the placeholders. `words` has the words that each layer printed for a minion. `None` if the result
    /// for these words has to be computed: if YAML would read a scalar as something other than text, a number or a
    /// boolean.
    pub fn fill(&self, words: &[&[Str]]) -> Option<Value> {
        let mut value = self.value.clone();
        let mut filled = Vec::with_capacity(self.layers.len());
        for (skeleton, words) in self.layers.iter().zip(words) {
            // Check the scalars that later layers replaced as well: YAML can refuse one of them.
            let scalars = (0..skeleton.scalar_count()).map(|scalar| skeleton.scalar(scalar, words));
            filled.push(scalars.collect::<Option<Vec<_>>>()?);
        }
        for PlaceholderPath {
            path,
            layer,
            scalar,
        } in &self.places
        {
            let filled = filled.get(*layer)?.get(*scalar)?.clone();
            if !matches!(
                filled,
                Value::Str(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_)
            ) {
                return None;
            }
            *value.inside_mut(path)? = filled;
        }
        Some(value)
    }

    /// Approximate size in bytes, without the value.
    pub fn size(&self) -> usize {
        1024 * self.layers.len()
            + self
                .places
                .iter()
                .map(|place| 64 + 8 * place.path.len())
                .sum::<usize>()
    }
}

fn find(
    value: &Value,
    placeholders: &Placeholders,
    path: &mut Vec<usize>,
    places: &mut Vec<PlaceholderPath>,
) -> Option<()> {
    let mut below = |(index, inner): (usize, &Value)| {
        path.push(index);
        let found = find(inner, placeholders, path, places);
        path.pop();
        found
    };
    match value {
        Value::Str(text) if text.contains(&**MARKER) => {
            let (layer, scalar) = placeholders.find(text)?;
            places.push(PlaceholderPath {
                path: path.clone(),
                layer,
                scalar,
            });
            Some(())
        }
        Value::Map(map) if map.keys().any(is_placeholder_key) => None,
        Value::Map(map) => map
            .iter()
            .map(|(_, value)| value)
            .enumerate()
            .try_for_each(&mut below),
        Value::List(items) => items.iter().enumerate().try_for_each(&mut below),
        other => (!has_placeholder(other)).then_some(()),
    }
}
