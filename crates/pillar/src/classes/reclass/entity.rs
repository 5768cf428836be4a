//! Nodes and classes: what their files say (reclass: `datatypes`, `storage.yamldata`).

use mapstack_value::posixpath::join;
use mapstack_value::{Map, Value};

use super::value::{Dict, Node, ValueFile};

/// A node or a class.
#[derive(Debug, Clone, Default)]
pub struct Entity {
    pub classes: Vec<String>,
    pub applications: Applications,
    pub parameters: Dict,
    pub exports: Dict,
    pub environment: Value,
    /// The number of its file.
    pub file: usize,
    /// Its path from the directory of all.
    pub path: String,
    /// The number of values of its parameters and exports.
    pub size: usize,
}

impl Entity {
    /// The data of a file (reclass: `YamlData.get_entity`).
    ///
    /// # Errors
    /// A part has the wrong form.
    pub fn read(data: &Map, name: &str, source: ValueFile<'_>) -> Result<Self, String> {
        let part = |name: &str| match data.get(name) {
            None | Some(Value::None) => Ok(Dict::default()),
            Some(data) => read_dict(source, data).map_err(|message| format!("`{name}`: {message}")),
        };
        let mut entity = Entity {
            parameters: part("parameters")?,
            exports: part("exports")?,
            environment: data.get("environment").cloned().unwrap_or_default(),
            file: source.file,
            ..Entity::default()
        };
        let parts = [&entity.parameters, &entity.exports];
        entity.size = parts
            .iter()
            .flat_map(|part| part.values())
            .map(Node::size)
            .sum();
        for class in texts(data, "classes")? {
            let class = absolute(&class, name).ok_or("the name of a class is empty")?;
            add_class(&mut entity.classes, class)?;
        }
        for application in texts(data, "applications")? {
            entity.applications.add(&application);
        }
        Ok(entity)
    }
}

/// Applications, and those that are taken away from earlier ones.
#[derive(Debug, Clone, Default)]
pub struct Applications {
    pub items: Vec<String>,
    negations: Vec<String>,
}

impl Applications {
    pub fn add(&mut self, item: &str) {
        match item.strip_prefix('~') {
            Some(negated) => {
                self.remove(negated);
                self.negations.push(negated.into());
            }
            None if self.items.iter().any(|own| own == item) => {}
            None => self.items.push(item.into()),
        }
    }

    fn remove(&mut self, item: &str) {
        if let Some(at) = self.items.iter().position(|own| own == item) {
            self.items.remove(at);
        }
    }

    pub fn merge(&mut self, other: &Applications) {
        other
            .negations
            .iter()
            .for_each(|negated| self.remove(negated));
        other.items.iter().for_each(|item| self.add(item));
    }
}

/// Data as parameters.
pub fn read_dict(source: ValueFile<'_>, data: &Value) -> Result<Dict, String> {
    match source.wrap(data)? {
        Node::Dict(dict, _) => source.merge_dict(Dict::default(), dict),
        _ => Err(format!(
            "it must be a mapping, not {}",
            data.kind().described()
        )),
    }
}

/// The texts of a list.
fn texts(data: &Map, name: &str) -> Result<Vec<String>, String> {
    let text = |item: &Value| match item {
        Value::Str(text) => Ok(text.to_string()),
        other => Err(format!(
            "an item of `{name}` must be text, not {}",
            other.kind().described()
        )),
    };
    match data.get(name) {
        None | Some(Value::None) => Ok(Vec::new()),
        Some(Value::List(items)) => items.iter().map(text).collect(),
        // Python goes over keys and characters as well.
        Some(Value::Map(map)) => map.keys().map(|key| text(&key.to_value())).collect(),
        Some(Value::Str(all)) => Ok(all.chars().map(String::from).collect()),
        Some(other) => Err(format!(
            "`{name}` must be a list, not {}",
            other.kind().described()
        )),
    }
}

/// The name of a class that may begin with dots, which lead up from the class that names it.
fn absolute(class: &str, by: &str) -> Option<String> {
    let rest = class.trim_start_matches('.');
    let dots = class.len() - rest.len();
    if dots == 0 {
        return (!class.is_empty()).then(|| class.into());
    }
    let parts: Vec<&str> = by.split('.').collect();
    let parent = parts[..parts.len().saturating_sub(dots)].join(".");
    Some(match &*parent {
        "" => rest.into(),
        parent => format!("{parent}.{rest}"),
    })
}

/// Add the name of a class once.
pub fn add_class(classes: &mut Vec<String>, class: String) -> Result<(), String> {
    if class.contains([' ', '/']) {
        return Err(format!(
            "the name of the class '{class}' has a blank or a slash in it"
        ));
    }
    if !classes.contains(&class) {
        classes.push(class);
    }
    Ok(())
}

/// The parameters that every node has of itself.
pub fn automatic(name: &str, environment: &Value) -> Map {
    let parts: Vec<&str> = name.split('.').collect();
    let about: [(&str, Value); 4] = [
        ("full", name.into()),
        ("short", parts.last().copied().unwrap_or_default().into()),
        (
            "path",
            parts
                .iter()
                .skip(1)
                .fold(parts[0].to_owned(), |path, part| join(&path, part))
                .into(),
        ),
        ("parts", Value::from_iter(parts.iter().copied())),
    ];
    let about: Map = about.into_iter().collect();
    let about: [(&str, Value); 2] = [("name", about.into()), ("environment", environment.clone())];
    let about: Map = about.into_iter().collect();
    [("_reclass_", about)].into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_lead_up_from_the_class_that_names_another() {
        assert_eq!(absolute(".x", "a.b").as_deref(), Some("a.x"));
        assert_eq!(absolute("..x.y", "a.b").as_deref(), Some("x.y"));
        assert_eq!(absolute("..x", "a.b.c").as_deref(), Some("a.x"));
        assert_eq!(absolute("x", "a.b").as_deref(), Some("x"));
        assert_eq!(absolute("", "a"), None);
    }

    #[test]
    fn negated_applications_go() {
        let mut all = Applications::default();
        ["a", "b", "a", "~b", "c"]
            .into_iter()
            .for_each(|item| all.add(item));
        let mut more = Applications::default();
        ["~a", "d"].into_iter().for_each(|item| more.add(item));
        all.merge(&more);
        assert_eq!(all.items, ["c", "d"]);
    }
}
