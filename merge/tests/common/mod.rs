//! The tests' common parts: values from JSON, a recording observer and the replay of what it recorded.

// Each test program uses a part of this module.
#![allow(dead_code)]

use mapstack_merge::{Change, ItemOrigin, KeyPath, Observer, Trail};
use mapstack_value::{List, Value};

/// A value from JSON text.
pub fn json(text: &str) -> Value {
    from_json(&serde_json::from_str(text).unwrap())
}

/// A value from parsed JSON.
pub fn from_json(json: &serde_json::Value) -> Value {
    json.clone().into()
}

/// A change as an observer can keep it.
#[derive(Debug, Clone, PartialEq)]
pub enum Recorded {
    Set(Value),
    Kept(Value),
    Joined {
        base: Vec<Value>,
        overlay: Vec<Value>,
        origins: Vec<ItemOrigin>,
    },
    Paired(Value, Value),
    Removed,
    Dropped,
}

/// Keeps everything that is reported to it.
#[derive(Debug, Default)]
pub struct Recorder(pub Vec<(KeyPath, Recorded)>);

impl Observer for Recorder {
    fn changed(&mut self, at: &Trail<'_>, change: Change<'_>) {
        let recorded = match change {
            Change::Added { new } | Change::Replaced { new, .. } => Recorded::Set(new.clone()),
            Change::Kept { old, .. } => Recorded::Kept(old.clone()),
            Change::Joined {
                base,
                overlay,
                origins,
            } => Recorded::Joined {
                base: base.to_vec(),
                overlay: overlay.to_vec(),
                origins: origins.to_vec(),
            },
            Change::Paired { old, new } => Recorded::Paired(old.clone(), new.clone()),
            Change::Removed { .. } => Recorded::Removed,
            Change::Dropped { .. } => Recorded::Dropped,
        };
        self.0.push((at.to_path(), recorded));
    }
}

impl Recorder {
    /// The base with every recorded change applied.
    pub fn replay(&self, base: &Value) -> Value {
        let mut result = base.clone();
        for (path, recorded) in &self.0 {
            apply(&mut result, &path.0, recorded);
        }
        result
    }
}

fn apply(here: &mut Value, path: &[mapstack_value::Key], recorded: &Recorded) {
    let Some((key, rest)) = path.split_first() else {
        match recorded {
            Recorded::Set(value) | Recorded::Kept(value) => *here = value.clone(),
            Recorded::Joined {
                base,
                overlay,
                origins,
            } => *here = joined(base, overlay, origins).into(),
            Recorded::Paired(old, new) => *here = Value::from_iter([old.clone(), new.clone()]),
            Recorded::Dropped | Recorded::Removed => {}
        }
        return;
    };
    let Value::Map(map) = here else {
        panic!("a change below {key}, which is in no mapping")
    };
    match recorded {
        Recorded::Removed if rest.is_empty() => drop(map.shift_remove(key)),
        Recorded::Dropped => {}
        _ => {
            if !map.contains_key(key) {
                map.insert(key.clone(), Value::None);
            }
            apply(map.get_mut(key).unwrap(), rest, recorded);
        }
    }
}

fn joined(base: &[Value], overlay: &[Value], origins: &[ItemOrigin]) -> List {
    origins
        .iter()
        .map(|origin| match origin {
            ItemOrigin::Base(i) => base[*i].clone(),
            ItemOrigin::Overlay(i) => overlay[*i].clone(),
        })
        .collect()
}
