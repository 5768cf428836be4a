//! Which file set each value.

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use mapstack_value::{Key, Map, Value};

/// The file of a class or a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassFile {
    /// The name of the class, or the id of the node.
    pub name: String,
    /// Its path.
    pub path: String,
}

/// The files that set the values of a pillar.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    files: Vec<ClassFile>,
    root: Node,
}

/// What is known of one key: the file that set it, and those that set what is further inside.
#[derive(Debug, Clone, Default)]
struct Node {
    set_by: Option<usize>,
    inside: IndexMap<Key, Node, RandomState>,
}

impl Origins {
    /// Add a file; its number.
    pub fn add(&mut self, file: ClassFile) -> usize {
        self.files.push(file);
        self.files.len() - 1
    }

    /// A file gave the value below these keys, with all that is inside.
    pub fn set(&mut self, path: &[Key], file: usize) {
        let mut node = &mut self.root;
        for key in path {
            node = node.inside.entry(key.clone()).or_default();
        }
        *node = Node {
            set_by: Some(file),
            inside: IndexMap::default(),
        };
    }

    /// The file that set a value last, whole or in part.
    #[must_use]
    pub fn file_of(&self, path: &[Key]) -> Option<&ClassFile> {
        let mut found = self.root.set_by;
        let mut node = &self.root;
        for key in path {
            let Some(inside) = node.inside.get(key) else {
                break;
            };
            node = inside;
            found = node.set_by.or(found);
        }
        self.files.get(found?)
    }

    /// A mapping in parts: what each file set of it, in the order of the files. The parts merged by keys are the
    /// mapping, but for the order of its keys.
    #[must_use]
    pub fn parts(&self, whole: &Map) -> Vec<(&ClassFile, Map)> {
        let mut parts = vec![Map::new(); self.files.len()];
        divide(
            &self.root,
            whole,
            self.root.set_by,
            &mut Vec::new(),
            &mut parts,
        );
        let parts = self.files.iter().zip(parts);
        parts.filter(|(_, part)| !part.is_empty()).collect()
    }
}

fn divide(node: &Node, map: &Map, set_by: Option<usize>, path: &mut Vec<Key>, parts: &mut [Map]) {
    for (key, value) in map {
        let inside = node.inside.get(key);
        let set_by = inside.and_then(|inside| inside.set_by).or(set_by);
        path.push(key.clone());
        match (inside, value) {
            (Some(inside), Value::Map(map)) if !inside.inside.is_empty() && !map.is_empty() => {
                divide(inside, map, set_by, path, parts);
            }
            _ => {
                if let Some(part) = set_by.and_then(|file| parts.get_mut(file)) {
                    put(part, path, value);
                }
            }
        }
        path.pop();
    }
}

/// Put a value below keys, whose mappings are made on the way.
fn put(map: &mut Map, path: &[Key], value: &Value) {
    match path {
        [] => {}
        [last] => {
            map.insert(last.clone(), value.clone());
        }
        [first, rest @ ..] => {
            if !map.contains_key(first) {
                map.insert(first.clone(), Map::new());
            }
            if let Some(Value::Map(inside)) = map.get_mut(first) {
                put(inside, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_file_counts_and_parts_make_the_whole() {
        let key = |names: &[&str]| {
            names
                .iter()
                .map(|name| Key::from(*name))
                .collect::<Vec<_>>()
        };
        let mut origins = Origins::default();
        let file = |name: &str| ClassFile {
            name: name.into(),
            path: format!("{name}.yml"),
        };
        let [a, b] = ["a", "b"].map(|name| origins.add(file(name)));
        origins.set(&key(&["x"]), a);
        origins.set(&key(&["x", "y"]), b);
        origins.set(&key(&["z"]), b);
        let inner: Map = [("y", 1), ("w", 2)].into_iter().collect();
        let whole: Map = [
            ("x", Value::from(inner)),
            ("z", 3.into()),
            ("other", 4.into()),
        ]
        .into_iter()
        .collect();
        assert_eq!(origins.file_of(&key(&["x", "w"])).unwrap().name, "a");
        assert_eq!(origins.file_of(&key(&["x", "y", "q"])).unwrap().name, "b");
        assert!(origins.file_of(&key(&["other"])).is_none());
        let parts: Vec<String> = origins
            .parts(&whole)
            .iter()
            .map(|(file, part)| format!("{} {}", file.name, Value::from(part.clone())))
            .collect();
        assert_eq!(parts, ["a {'x': {'w': 2}}", "b {'x': {'y': 1}, 'z': 3}"]);
    }
}
