//! Selects a minion's config files.

use mapstack_value::{Key, Map, Path, Value};

use super::StackKind;
use super::config::ExtPillar;
use mapstack_diagnostic::{Error, ErrorKind, Result};

/// The data that selectors look at.
pub(crate) struct Stores {
    pub pillar: Value,
    pub grains: Value,
    pub opts: Value,
}

/// A config file whose turn it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SelectedFile {
    pub path: String,
    /// The path that its data goes to, from the root inwards (MakoStack).
    pub graft: Option<String>,
    pub selected_by: Option<String>,
}

impl Stores {
    /// The config files of an external pillar for the minion, in order (Salt:
    /// `Pillar._external_pillar_data`, `stack.ext_pillar`).
    pub fn config_files(&self, pillar: &ExtPillar, kind: StackKind) -> Result<Vec<SelectedFile>> {
        let wrong =
            |message: String| Error::new(ErrorKind::Options, message).at(pillar.place.clone());
        let plain = |value: &Value| match value {
            Value::Str(path) => Ok(SelectedFile {
                selected_by: None,
                ..chosen(path, kind)
            }),
            other => {
                let what = other.kind().described();
                let error = wrong(format!(
                    "a config file of {} is named by text, not by {what}",
                    kind.title()
                ));
                Err(error.help(
                    "give one path, a list of paths, or a mapping of selectors such as `grains:os`",
                ))
            }
        };
        match &pillar.arguments {
            Value::Map(selectors) => {
                let mut all = Vec::new();
                for (selector, table) in selectors {
                    let found = self.selected(selector, table, kind);
                    all.extend(found.map_err(|e| e.at(pillar.place.clone()))?);
                }
                Ok(all)
            }
            Value::List(paths) => paths.iter().map(plain).collect(),
            one => plain(one).map(|one| vec![one]),
        }
    }

    fn selected(
        &self,
        selector: &Key,
        table: &Value,
        kind: StackKind,
    ) -> Result<Vec<SelectedFile>> {
        let title = kind.title();
        let wrong = |message: String| Error::new(ErrorKind::Options, message);
        let Some((store, query)) = self.store_of(selector) else {
            let error = wrong(format!("'{selector}' selects nothing that {title} knows"));
            return Err(
                error.help("write pillar:, grains: or opts: and a path into it, such as grains:os")
            );
        };
        let Value::Map(table) = table else {
            let what = table.kind().described();
            let error = wrong(format!(
                "below '{selector}' must be a mapping of values to config files, not {what}"
            ));
            return Err(
                error.help("write one line for each value, such as `Debian: /path/to/stack.cfg`")
            );
        };
        let env = kind.env(&self.opts);
        let table = match &env {
            Some(env) => with_env(table, env),
            None => table.clone(),
        };
        let path = Path::split(query, ":").map_err(|e| wrong(e.to_string()))?;
        let found = mapstack_yaml::traverse(store, &path).unwrap_or_default();
        let key = Key::try_from(&found).map_err(|_| {
            let what = found.kind().described();
            let error = wrong(format!(
                "'{selector}' is {what}, which cannot be looked up in a table of values"
            ));
            error.help("select by something that is text or a number")
        })?;
        let Some(paths) = table.get(&key) else {
            return Ok(Vec::new());
        };
        let paths = match paths {
            Value::List(paths) => paths.to_vec(),
            one => vec![one.clone()],
        };
        let by = format!("{selector} = {found}");
        let choose = |path: &Value| {
            let Value::Str(path) = path else {
                let what = path.kind().described();
                let message =
                    format!("a config file is named by text, not by {what}, at '{by}' of {title}");
                return Err(wrong(message));
            };
            let path = path_in(path, env.as_ref())?;
            Ok(SelectedFile {
                selected_by: Some(by.clone()),
                ..chosen(&path, kind)
            })
        };
        paths.iter().map(choose).collect()
    }

    /// The data that a selector looks into, and the path there.
    fn store_of<'s>(&self, selector: &'s Key) -> Option<(&Value, &'s str)> {
        let (name, query) = selector.as_str()?.split_once(':')?;
        let store = match name {
            "pillar" => &self.pillar,
            "grains" => &self.grains,
            "opts" => &self.opts,
            _ => return None,
        };
        Some((store, query))
    }
}

/// The path of a config file, with the pillar environment in it.
fn path_in(path: &str, env: Option<&Value>) -> Result<String> {
    let wrong = |message: String| Error::new(ErrorKind::Options, message);
    match env {
        None => Ok(path.to_owned()),
        // It can come from the minion, and must not lead to another's config files.
        Some(Value::Str(env))
            if path.contains(ENV) && (env.contains(['/', '\\', '\0']) || **env == *"..") =>
        {
            let shown = mapstack_value::quote_str(env);
            let message =
                format!("the pillar environment {shown} cannot be part of the path {path}");
            Err(wrong(message)
                .help("it must be a plain name; see the options pillarenv and saltenv"))
        }
        Some(Value::Str(env)) => Ok(path.replace(ENV, env)),
        Some(other) => {
            let what = other.kind().described();
            let message =
                format!("the pillar environment is text, not {what}; see the option pillarenv");
            Err(wrong(message))
        }
    }
}

/// Stands for the pillar environment.
const ENV: &str = "__env__";

impl StackKind {
    /// The pillar environment, if the stack puts it in place of `__env__`.
    fn env(self, opts: &Value) -> Option<Value> {
        let option = |name| {
            opts.as_map()
                .and_then(|opts| opts.get(name))
                .filter(|value| value.truthy())
                .cloned()
        };
        match self {
            StackKind::PillarStack => Some(
                option("pillarenv")
                    .or_else(|| option("saltenv"))
                    .unwrap_or_else(|| "base".into()),
            ),
            StackKind::MakoStack => None,
        }
    }
}

/// The table with the pillar environment in place of a key `__env__`.
fn with_env(table: &Map, env: &Value) -> Map {
    let key = |key: &Key| match (key.as_str(), Key::try_from(env)) {
        (Some(ENV), Ok(env)) => env,
        _ => key.clone(),
    };
    table
        .iter()
        .map(|(name, value)| (key(name), value.clone()))
        .collect()
}

fn chosen(path: &str, kind: StackKind) -> SelectedFile {
    let (path, graft) = match (kind, path.split_once(':')) {
        (StackKind::MakoStack, Some((path, graft))) => {
            (path, Some(graft.to_string()).filter(|g| !g.is_empty()))
        }
        _ => (path, None),
    };
    SelectedFile {
        path: path.into(),
        graft,
        selected_by: None,
    }
}
