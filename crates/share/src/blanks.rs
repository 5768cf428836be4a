//! What stands in a stack in place of scalars that every minion has for itself.

use std::cell::Cell;
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use mapstack::hooks::Hooks;
use mapstack_render::Reader;
use mapstack_value::{Key, Str, Value};
use mapstack_yaml::Mould;

/// Whether the data of a run holds blanks, and whether anybody looked at it since. Copies stand for the same data.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blanks(Rc<State>);

#[derive(Debug, Default)]
struct State {
    there: Cell<bool>,
    seen: Cell<bool>,
}

impl Blanks {
    /// From now on the data holds some.
    pub fn fill_in(&self) {
        self.0.there.set(true);
    }

    pub fn is_empty(&self) -> bool {
        !self.0.there.get()
    }

    /// Somebody looks at the data, for whom a blank is not what it stands for.
    pub fn look(&self) {
        if self.0.there.get() {
            self.0.seen.set(true);
        }
    }

    pub fn were_seen(&self) -> bool {
        self.0.seen.get()
    }

    /// Who is to be told of each look at the data, if it holds any.
    pub fn reader(&self) -> Option<Rc<dyn Reader>> {
        (!self.is_empty()).then(|| Rc::new(self.clone()) as Rc<dyn Reader>)
    }
}

impl Hooks for Blanks {
    fn data_read(&self) {
        self.look();
    }

    fn data_reader(&self) -> Option<Rc<dyn Reader>> {
        self.reader()
    }

    fn facts_changed(&self) {
        // What was put into facts can be the data.
        self.look();
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

/// What no text of a file or a minion has in it: nobody can know it before the process runs.
static MARKER: LazyLock<String> = LazyLock::new(|| {
    let number = |of: &str| foldhash::fast::RandomState::default().hash_one(of);
    format!("blank {:016x}{:016x} ", number("one"), number("other"))
});

/// The layers of a run that left blanks, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sheet {
    layers: Vec<Arc<Mould>>,
    scalars: usize,
}

impl Sheet {
    /// Whether nothing is blank.
    pub fn is_empty(&self) -> bool {
        self.scalars == 0
    }

    /// What a layer says with blanks in place of what a mould has holes for.
    pub fn add(&mut self, mould: Mould) -> Option<Value> {
        let last = self.scalars + mould.scalars();
        let blanked =
            mould.with((self.scalars..last).map(|number| format!("{}{number}", *MARKER).into()));
        self.scalars = last;
        self.layers.push(mould.into());
        blanked
    }

    /// The layer and the scalar in it that a blank stands for.
    fn find(&self, text: &str) -> Option<(usize, usize)> {
        let mut number: usize = text.strip_prefix(&**MARKER)?.parse().ok()?;
        for (layer, mould) in self.layers.iter().enumerate() {
            if number < mould.scalars() {
                return Some((layer, number));
            }
            number -= mould.scalars();
        }
        None
    }
}

/// Whether there is a blank anywhere in a value.
pub(super) fn has_blank(value: &Value) -> bool {
    match value {
        Value::Str(text) => text.contains(&**MARKER),
        Value::Bytes(bytes) => bytes
            .windows(MARKER.len())
            .any(|window| window == MARKER.as_bytes()),
        Value::List(items) => items.iter().any(has_blank),
        Value::Tuple(items) => items.iter().any(has_blank),
        Value::Map(map) => map
            .iter()
            .any(|(key, value)| is_blank(key) || has_blank(value)),
        Value::Set(set) => set.iter().any(is_blank),
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    }
}

fn is_blank(key: &Key) -> bool {
    match key {
        Key::Str(text) => text.contains(&**MARKER),
        other => has_blank(&other.to_value()),
    }
}

/// A result with blanks, and where they are.
#[derive(Debug)]
pub(super) struct Form {
    value: Value,
    layers: Vec<Arc<Mould>>,
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    /// Positions in mappings and lists.
    path: Vec<usize>,
    layer: usize,
    scalar: usize,
}

impl Form {
    /// The form of a result; `None` if something was made of a blank.
    pub fn of(value: &Value, sheet: Sheet) -> Option<Self> {
        let mut places = Vec::new();
        find(value, &sheet, &mut Vec::new(), &mut places)?;
        Some(Form {
            value: value.clone(),
            layers: sheet.layers,
            places,
        })
    }

    /// The result with what the words that layers printed make of its blanks; `None` if one of them would be
    /// something else there than text, a number or a truth value.
    pub fn filled(&self, words: &[&[Str]]) -> Option<Value> {
        let mut value = self.value.clone();
        let mut filled = Vec::with_capacity(self.layers.len());
        for (mould, words) in self.layers.iter().zip(words) {
            // Those that a later layer put something else in place of are read, too: that can be an error.
            let scalars = (0..mould.scalars()).map(|scalar| mould.scalar(scalar, words));
            filled.push(scalars.collect::<Option<Vec<_>>>()?);
        }
        for Place {
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

    /// About how many bytes it takes besides its value.
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
    sheet: &Sheet,
    path: &mut Vec<usize>,
    places: &mut Vec<Place>,
) -> Option<()> {
    let mut below = |(index, inner): (usize, &Value)| {
        path.push(index);
        let found = find(inner, sheet, path, places);
        path.pop();
        found
    };
    match value {
        Value::Str(text) if text.contains(&**MARKER) => {
            let (layer, scalar) = sheet.find(text)?;
            places.push(Place {
                path: path.clone(),
                layer,
                scalar,
            });
            Some(())
        }
        Value::Map(map) if map.keys().any(is_blank) => None,
        Value::Map(map) => map
            .iter()
            .map(|(_, value)| value)
            .enumerate()
            .try_for_each(&mut below),
        Value::List(items) => items.iter().enumerate().try_for_each(&mut below),
        other => (!has_blank(other)).then_some(()),
    }
}
