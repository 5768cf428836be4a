//! The parts of the data that are pieces of the pillar.

use mapstack_minion::Part;
use mapstack_value::{Key, Map, Value};

use crate::{Ancestry, LayerKind, Lineage, ValuePosition};

impl Lineage {
    /// The paths of mappings and lists that are the pillar's, outermost ones alone: a layer took them from there, whatever
    /// later layers merged into them, or a template put them in after the layers. A scalar of the pillar in another mapping
    /// makes none of it.
    ///
    /// ```
    /// use mapstack::{DataOptions, Engine, loader::MemoryFiles, minion::Minion, value::Key};
    /// use mapstack_lineage::Explain;
    /// let files = MemoryFiles::new().file("base", "web/parameters/defaults.yaml", "values: {user: {name: www}}");
    /// let pillar = b"pillar: {web: {user: {uid: 33}, keys: {a: 1}, list: [1]}}";
    /// let minion = Minion::parse(pillar, "m").unwrap().complete();
    /// let engine = Engine::new(files);
    /// let (_, lineage) = engine.run(&minion).explain("web", &DataOptions::default()).unwrap();
    /// assert_eq!(lineage.pieces_of_pillar(&minion.pillar), [[Key::from("keys")], [Key::from("list")]]);
    /// ```
    #[must_use]
    pub fn pieces_of_pillar(&self, pillar: &Map) -> Vec<Vec<Key>> {
        let mut pieces: Vec<Vec<Key>> = Vec::new();
        self.visit(&mut |path, known| {
            let is_inside = pieces.last().is_some_and(|last| path.starts_with(last));
            let is_container = match &known.value {
                Value::Map(map) => !map.is_empty(),
                Value::List(items) => !items.is_empty(),
                _ => false,
            };
            if is_container && !is_inside && self.is_of_pillar(known, pillar) {
                pieces.push(path.to_vec());
            }
        });
        pieces
    }

    fn is_of_pillar(&self, known: &Ancestry, pillar: &Map) -> bool {
        match &known.spot {
            ValuePosition::Fact { part, .. } => matches!(part, Some(Part::Pillar) | None),
            ValuePosition::File { .. } => {
                let layer = self.layers().get(known.layer);
                let edits =
                    layer.is_some_and(|layer| matches!(layer.kind, LayerKind::Edits { .. }));
                let has_secret = || scalars(&known.value).any(|scalar| self.knows(scalar));
                edits && (has_secret() || pillar.values().any(|value| has(value, &known.value)))
            }
            _ => false,
        }
    }

    fn knows(&self, scalar: &Value) -> bool {
        let said = scalar.to_string();
        self.secrets.contains(&*said)
    }
}

/// The texts and numbers right in a mapping or a list.
fn scalars(container: &Value) -> impl Iterator<Item = &Value> {
    let (map, list) = (container.as_map(), container.as_list());
    let all = map
        .into_iter()
        .flat_map(Map::values)
        .chain(list.into_iter().flatten());
    all.filter(|value| matches!(value, Value::Str(_) | Value::Int(_) | Value::Float(_)))
}

/// True if a mapping or a list is another one, or somewhere in it.
fn has(outer: &Value, inner: &Value) -> bool {
    match outer {
        Value::Map(map) => outer == inner || map.values().any(|value| has(value, inner)),
        Value::List(items) => outer == inner || items.iter().any(|item| has(item, inner)),
        _ => false,
    }
}
