//! The origins of a configuration's values.

use std::collections::HashSet;

use mapstack::value::{Key, Str, Value};
use mapstack::yaml::{DumpOptions, dump, load};
use mapstack::{Configuration, Run};
use mapstack_lineage::{Explain, LayerKind, Lineage, ValuePosition};

use crate::used_by_states::PlaceOfValue;

/// The origins of a configuration's values on a minion, and the secrets among them.
///
#[derive(Debug)]
pub struct Origins {
    explained: Option<(Value, Lineage)>,
    secret_texts: Vec<Str>,
    secret_paths: HashSet<Vec<Key>>,
}

impl Origins {
    /// Explain a configuration on a minion, once more. `run` makes runs of that minion, and `secret_texts`
    /// are the texts that its templates made of secrets.
    #[must_use]
    pub fn of<'e>(
        configuration: &Configuration,
        run: impl FnOnce() -> Run<'e>,
        secret_texts: Vec<Str>,
    ) -> Self {
        let explained = run().explain_configuration(configuration).ok();
        let secret_paths = explained
            .as_ref()
            .map(|(_, lineage)| lineage.secret_paths(&[]))
            .unwrap_or_default();
        let of_run = explained
            .iter()
            .flat_map(|(_, lineage)| lineage.secret_texts());
        let secret_texts = of_run.map(Str::from).chain(secret_texts).collect();
        Origins {
            explained,
            secret_texts,
            secret_paths,
        }
    }

    /// The origins of a pillar that was explained.
    #[must_use]
    pub fn of_pillar(data: Value, lineage: Lineage) -> Self {
        Origins {
            secret_paths: lineage.secret_paths(&[]),
            explained: Some((data, lineage)),
            secret_texts: Vec::new(),
        }
    }

    /// True if the configuration could be explained.
    pub(crate) fn is_known(&self) -> bool {
        self.explained.is_some()
    }

    /// The origin of the value at a path, if that is known.
    #[must_use]
    pub fn at(&self, path: &[Key], value: &Value) -> Option<ValuePosition> {
        // A template that reads the clock or the machine can give another value now.
        let is_it = |known: &Value| known.is_same(&read_back(value));
        self.has(path, is_it).then(|| self.spot(path)).flatten()
    }

    /// True if the value of a file at a path is used in the result.
    pub(crate) fn has(&self, path: &[Key], is_it: impl FnOnce(&Value) -> bool) -> bool {
        let explained = self.explained.as_ref();
        let known = explained.and_then(|(data, _)| at(data, path));
        known.is_some_and(|known| is_it(&read_back(known)))
    }

    /// The origin of the value at a path that exists.
    pub(crate) fn spot(&self, path: &[Key]) -> Option<ValuePosition> {
        let (_, lineage) = self.explained.as_ref()?;
        let known = lineage.at(path)?;
        let layer = lineage.layers().get(known.layer).map(|layer| &layer.kind);
        // Of an external pillar without files only the name has a place, which is the same for all its values.
        let is_named = matches!(layer, Some(LayerKind::External { shown: None, .. }));
        (known.spot != ValuePosition::Unknown && !is_named).then_some(known.spot)
    }

    /// The places of the value at a path, and of all values in it, that no template computed.
    pub(crate) fn places_below(&self, path: &[Key]) -> Vec<PlaceOfValue> {
        let mut places = Vec::new();
        if let Some((_, lineage)) = &self.explained {
            lineage.visit_below(path, &mut |_, known| {
                // A container that several layers made has the place of the first.
                if !matches!(known.value, Value::Map(_) | Value::List(_)) {
                    places.extend(PlaceOfValue::of(&known.spot));
                }
            });
        }
        places
    }

    /// The paths of the secret scalars in a value at a path. Texts with a secret in them are
    /// found by their content as well, wherever they are printed; numbers only here.
    #[must_use]
    pub fn secret_paths(&self, path: &[Key], value: &Value) -> HashSet<Vec<Key>> {
        let of_layers = self.secret_paths.iter();
        let mut secret: HashSet<Vec<Key>> = of_layers
            .filter(|known| known.starts_with(path))
            .cloned()
            .collect();
        self.add_numbers(value, &mut path.to_vec(), &mut secret);
        secret
    }

    /// The texts that templates made of secrets.
    #[must_use]
    pub fn secret_texts(&self) -> &[Str] {
        &self.secret_texts
    }

    fn add_numbers(&self, value: &Value, path: &mut Vec<Key>, secret: &mut HashSet<Vec<Key>>) {
        match value {
            Value::Map(map) => {
                for (key, value) in map {
                    path.push(key.clone());
                    self.add_numbers(value, path, secret);
                    path.pop();
                }
            }
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push(Key::of_index(index));
                    self.add_numbers(item, path, secret);
                    path.pop();
                }
            }
            Value::Int(_) | Value::Float(_)
                if self.secret_texts.contains(&Str::from(value.to_string())) =>
            {
                secret.insert(path.clone());
            }
            _ => {}
        }
    }
}

fn at<'v>(value: &'v Value, path: &[Key]) -> Option<&'v Value> {
    path.iter()
        .try_fold(value, |value, key| value.as_map()?.get(key))
}

/// A value as a file has it: tuples are lists there.
#[must_use]
pub fn read_back(value: &Value) -> Value {
    load(&dump(value, &DumpOptions::output())).unwrap_or_else(|_| value.clone())
}
