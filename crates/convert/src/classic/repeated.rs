//! Values that several layers repeat, which are said once.

use mapstack::minion::platforms;
use mapstack::value::{Key, Map, Value};

use super::layer::{MapLayer, TablePlace};
use crate::SharedValues;
use crate::edit::EntryLines;
use crate::leaves::{at, leaves, union, with};
use crate::table::{Block, TableRow};
use crate::values::lines_of;

/// Layers that repeat nothing of those below them, and the values that became defaults.
pub(crate) struct DistinctLayers {
    pub layers: Vec<MapLayer>,
    /// The values that all entries of a table had; systems without an entry get them, too.
    pub shared: Option<SharedValues>,
}

/// Grains that follow from the system alone, so that the built-in platforms show which entries go together.
const OF_SYSTEM: [&str; 2] = ["os_family", "os"];

impl DistinctLayers {
    /// The layers of a map. With `shares`, values that all entries of the first table have become defaults.
    pub fn of(mut layers: Vec<MapLayer>, shares: bool) -> Self {
        let shared = match shares {
            true => share(&mut layers),
            false => None,
        };
        let systems = Systems::of(&layers);
        for at in 1..layers.len() {
            let (below, own) = layers.split_at_mut(at);
            if let MapLayer::ByGrain { grain, rows, .. } = &mut own[0] {
                rows.iter_mut()
                    .for_each(|row| systems.drop_repeated(below, grain, row));
            }
        }
        DistinctLayers { layers, shared }
    }
}

/// Make the values that all entries of the first table have a layer below it.
fn share(layers: &mut Vec<MapLayer>) -> Option<SharedValues> {
    let place = layers
        .iter()
        .position(|layer| !matches!(layer, MapLayer::Always(..)))
        .filter(|at| *at <= 1)?;
    let MapLayer::ByGrain { grain, rows, .. } = &layers[place] else {
        return None;
    };
    let known = match &layers[0] {
        MapLayer::Always(block, _) => block.value.as_ref()?.as_map()?.clone(),
        _ => Map::new(),
    };
    let mut values = common(rows)?;
    for key in known.keys() {
        values.shift_remove(key);
    }
    if values.is_empty() {
        return None;
    }
    let shared = SharedValues {
        values,
        grain: grain.clone(),
        entries: rows.iter().map(|row| row.key.clone()).collect(),
    };
    let added = Value::from(shared.values.clone());
    match &mut layers[0] {
        MapLayer::Always(block, _) => {
            let mut all = known;
            union(&mut all, &shared.values);
            block.body.push_str(&lines_of(&added));
            block.value = Some(all.into());
            block.whole = None;
        }
        _ => {
            layers.insert(
                0,
                MapLayer::Always(Block::of_value(&added), TablePlace::Entries),
            );
        }
    }
    Some(shared)
}

/// The values that all of several entries have, without those that have comments.
fn common(rows: &[TableRow]) -> Option<Map> {
    let maps: Option<Vec<&Map>> = rows
        .iter()
        .map(|row| row.block.value.as_ref()?.as_map())
        .collect();
    let maps = maps.filter(|maps| maps.len() > 1)?;
    let texts = rows.iter().map(|row| EntryLines::of(&row.block.body));
    let texts: Vec<Option<EntryLines<'_>>> = texts.collect();
    let mut all = Map::new();
    let (first, others) = maps.split_first()?;
    for path in leaves(first) {
        let Some(value) = at(first, &path) else {
            continue;
        };
        let is_common = others
            .iter()
            .all(|map| at(map, &path).is_some_and(|other| other.is_same(value)));
        let is_plain = texts.iter().flatten().all(|text| !text.is_commented(&path));
        if is_common && is_plain {
            all = with(&all, &path, Some(value.clone()));
        }
    }
    Some(all)
}

/// The grains of the built-in platforms.
struct Systems(Vec<Map>);

impl Systems {
    /// The platforms, if there are several tables, so that entries of one can repeat those of another.
    fn of(layers: &[MapLayer]) -> Self {
        let tables = layers
            .iter()
            .filter(|layer| matches!(layer, MapLayer::ByGrain { .. }));
        let platforms = match tables.count() {
            0 | 1 => &[],
            _ => platforms::all(),
        };
        let minions = platforms
            .iter()
            .map(|platform| platform.minion().complete());
        Systems(minions.map(|minion| minion.grains).collect())
    }

    /// Take out of an entry what the layers below say, too.
    fn drop_repeated(&self, below: &[MapLayer], grain: &str, row: &mut TableRow) {
        let Some(Value::Map(values)) = &row.block.value else {
            return;
        };
        let Some(systems) = self.values_below(below, grain, &row.key) else {
            return;
        };
        let says_same = |path: &[Key], value: &Value| {
            let mut systems = systems.iter();
            systems.all(|below| at(below, path).is_some_and(|other| other.is_same(value)))
        };
        let found = RepeatedValues::of(&row.block.body, values, &says_same);
        if let Some(block) = row.block.without(values, &found.0) {
            row.block = block;
        }
    }

    /// The values that layers give systems whose grain has a value: one mapping for each kind of system, if they are known.
    fn values_below(&self, below: &[MapLayer], grain: &str, value: &Key) -> Option<Vec<Map>> {
        let is_always = |layer: &MapLayer| matches!(layer, MapLayer::Always(..));
        if below.iter().all(is_always) {
            return Some(vec![values_of(below, &|_| None)?]);
        }
        let key = |grains: &Map, grain: &str| Key::try_from(grains.get(grain)?).ok();
        let systems = self.0.iter();
        let systems = systems.filter(|grains| key(grains, grain).as_ref() == Some(value));
        let values = systems.map(|grains| {
            let of_system = |grain: &str| OF_SYSTEM.contains(&grain).then(|| key(grains, grain))?;
            values_of(below, &of_system)
        });
        let values: Option<Vec<Map>> = values.collect();
        values.filter(|all| !all.is_empty())
    }
}

impl Block {
    /// The block without the values at some paths; nothing if no line can be left out.
    fn without(&self, values: &Map, paths: &[Vec<Key>]) -> Option<Self> {
        if paths.is_empty() || self.overwrites {
            return None;
        }
        let left = paths
            .iter()
            .fold(values.clone(), |left, path| with(&left, path, None));
        let edited = EntryLines::of(&self.body).and_then(|text| text.without(paths));
        let (body, value) = match edited {
            Some(edited) => edited,
            None if self.body.contains('#') => return None,
            None => (lines_of(&left.clone().into()), left),
        };
        Some(Block {
            body,
            value: Some(value.into()),
            whole: None,
            ..self.clone()
        })
    }
}

/// The largest parts of values that are the same below, without those that have comments.
struct RepeatedValues(Vec<Vec<Key>>);

impl RepeatedValues {
    fn of(body: &str, values: &Map, says_same: &dyn Fn(&[Key], &Value) -> bool) -> Self {
        let text = EntryLines::of(body);
        let goes = |path: &[Key], value: &Value| {
            let is_commented = match &text {
                Some(text) => text.is_commented(path),
                None => body.contains('#'),
            };
            let is_part = matches!(value, Value::Map(map) if !map.is_empty());
            !is_commented && (is_part || says_same(path, value))
        };
        let mut found = RepeatedValues(Vec::new());
        found.add(values, &mut Vec::new(), &goes);
        found
    }

    /// Add the parts of a mapping; true if it is one itself.
    fn add(
        &mut self,
        values: &Map,
        path: &mut Vec<Key>,
        goes: &dyn Fn(&[Key], &Value) -> bool,
    ) -> bool {
        let mut is_all = true;
        for (key, value) in values {
            path.push(key.clone());
            let before = self.0.len();
            let mut is_one = goes(path, value);
            if let (true, Value::Map(inner)) = (is_one, value)
                && !inner.is_empty()
            {
                is_one = self.add(inner, path, goes);
            }
            if is_one {
                self.0.truncate(before);
                self.0.push(path.clone());
            }
            is_all &= is_one;
            path.pop();
        }
        is_all
    }
}

/// The merged values of layers for a system.
fn values_of(layers: &[MapLayer], system: &dyn Fn(&str) -> Option<Key>) -> Option<Map> {
    let mut merged = Map::new();
    for layer in layers {
        let block = match layer {
            MapLayer::Always(block, _) => Some(block),
            MapLayer::ByGrain { grain, rows, .. } => {
                let own = system(grain)?;
                rows.iter().find(|row| row.key == own).map(|row| &row.block)
            }
            MapLayer::Left(_) | MapLayer::Raw(_) | MapLayer::Overwriting(_) => return None,
        };
        let Some(block) = block else { continue };
        if block.overwrites {
            return None;
        }
        match block.value.as_ref()? {
            Value::Map(own) => {
                let mut upper = own.clone();
                union(&mut upper, &merged);
                merged = upper;
            }
            Value::None => {}
            _ => return None,
        }
    }
    Some(merged)
}
