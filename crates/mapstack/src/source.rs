//! Evaluates source definitions: the values that matchers find, and the paths that these lead to.

use mapstack_matcher::{Definition, Matcher, MatcherKind, PathRules, Paths, TooManyPaths};
use mapstack_minion::ConfigGet;
use mapstack_value::{Key, Map, Path, PathStep, Value};

use crate::run::Run;
use mapstack_diagnostic::{Error, ErrorKind, Result};

/// A value that a matcher found.
pub(crate) struct MatcherValue {
    pub value: Value,
    /// The entry `strategy` of the value.
    pub strategy: Option<Value>,
    /// The entry `merge_lists` of the value.
    pub merge_lists: Option<Value>,
}

impl MatcherValue {
    /// Remove the merge options from a mapping (saltext-formula: `MatcherResult.from_bare`).
    fn new(mut value: Value) -> Self {
        let (mut strategy, mut merge_lists) = (None, None);
        if let Value::Map(map) = &mut value {
            strategy = map.shift_remove("strategy").filter(|v| !v.is_none());
            merge_lists = map.shift_remove("merge_lists").filter(|v| !v.is_none());
        }
        MatcherValue {
            value,
            strategy,
            merge_lists,
        }
    }
}

/// The data that matchers can read besides the minion.
pub(crate) struct MatcherData<'s> {
    /// The data merged so far.
    pub stack: &'s Value,
    /// The custom data of the caller.
    pub custom_data: &'s Value,
    /// The merge strategy of `config.get`.
    pub config_get_strategy: &'s Value,
}

/// Look up the query of a matcher; `None` if it finds nothing.
pub(crate) fn fetch(
    run: &Run<'_>,
    matcher: &Matcher,
    around: &MatcherData<'_>,
) -> Result<Option<MatcherValue>> {
    let value = match matcher.kind() {
        MatcherKind::Static => {
            let message = format!(
                "P@{} is a path, not data: it cannot be merged",
                matcher.query()
            );
            return Err(Error::new(ErrorKind::Definition, message)
                .help(format!("to read that file write Y!P@{}", matcher.query())));
        }
        MatcherKind::Grains => run.grains_get(matcher.query(), matcher.delimiter())?,
        MatcherKind::Pillar => run.pillar_find(matcher.query(), matcher.delimiter())?,
        MatcherKind::Config => {
            let query = ConfigGet {
                delimiter: matcher.delimiter().to_owned(),
                merge: around.config_get_strategy.clone(),
                ..ConfigGet::default()
            };
            run.config_get(&Value::from(matcher.query()), &query)?
        }
        MatcherKind::MapData => look_into(around.stack, matcher)?,
        MatcherKind::CustomData => look_into(around.custom_data, matcher)?,
    };
    let found = value.map(MatcherValue::new);
    if let Some(found) = &found {
        run.report(|hooks| hooks.matcher_found(matcher, &found.value));
    }
    Ok(found)
}

fn look_into(data: &Value, matcher: &Matcher) -> Result<Option<Value>> {
    let path = Path::split(matcher.query(), matcher.delimiter())
        .map_err(|e| Error::new(ErrorKind::Lookup, e.to_string()))?;
    Ok(mapstack_yaml::traverse(data, &path))
}

/// Remove the merge options of values that matchers of type `M` found from the merged data. Callers can see this:
/// the reference pops the options from the live object.
pub(crate) fn pop_options(definition: &Definition, stack: &mut Value) {
    for matcher in definition
        .matchers()
        .iter()
        .filter(|m| m.kind() == MatcherKind::MapData)
    {
        let Ok(path) = Path::split(matcher.query(), matcher.delimiter()) else {
            continue;
        };
        let carries = |v: Value| {
            v.as_map()
                .is_some_and(|m| m.contains_key("strategy") || m.contains_key("merge_lists"))
        };
        if mapstack_yaml::traverse(stack, &path).is_some_and(carries)
            && let Some(Value::Map(map)) = locate(stack, path.steps())
        {
            map.shift_remove("strategy");
            map.shift_remove("merge_lists");
        }
    }
}

/// The value at a path, for changes. The path must exist.
fn locate<'v>(data: &'v mut Value, steps: &[PathStep]) -> Option<&'v mut Value> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(data);
    };
    let one = |value: &Value| mapstack_yaml::traverse(value, &Path::from_iter([step.0.clone()]));
    let next = match data {
        Value::Map(map) => {
            let key = if map.contains_key(&step.0) {
                step.0.clone()
            } else {
                Key::try_from(&mapstack_yaml::loose_scalar(step.0.as_str()?)?).ok()?
            };
            map.get_mut(&key)?
        }
        Value::List(list) => {
            let found = one(&Value::List(list.clone()))?;
            // The step leads into an item that is a mapping, or to an item itself.
            let inside = list
                .iter()
                .position(|item| item.as_map().is_some() && one(item).is_some_and(|v| v == found));
            match inside {
                Some(index) => return locate(&mut list.make_mut()[index], steps),
                None => {
                    let index = list.iter().position(|item| *item == found)?;
                    &mut list.make_mut()[index]
                }
            }
        }
        _ => return None,
    };
    locate(next, rest)
}

/// The value of the first matcher of a raw definition. `SUB` nests it below its query.
pub(crate) fn fetch_layer(
    run: &Run<'_>,
    matcher: &Matcher,
    around: &MatcherData<'_>,
) -> Result<Option<MatcherValue>> {
    let Some(mut found) = fetch(run, matcher, around)? else {
        return Ok(None);
    };
    if matcher.has_sub() {
        let nested: Map = [(sub_key(matcher), found.value)].into_iter().collect();
        found.value = nested.into();
    }
    Ok(Some(found))
}

/// The key below which `SUB` nests: the query, without its last seven characters if it ends with the delimiter and
/// `lookup`. As in the reference, it is seven characters, the length of `:lookup`, for every delimiter.
fn sub_key(matcher: &Matcher) -> Key {
    let query = matcher.query();
    if !query.ends_with(&format!("{}lookup", matcher.delimiter())) {
        return Key::from(query);
    }
    let kept = query.chars().count() - ":lookup".len();
    Key::from(query.chars().take(kept).collect::<String>())
}

/// The texts of a value: the value itself, or one for each item (saltext-formula: `MatcherListResult`).
pub(crate) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Str(text) => vec![text.to_string()],
        other => match crate::options::iterate(other, "") {
            Ok(items) => items.iter().map(ToString::to_string).collect(),
            Err(_) => vec![other.to_string()],
        },
    }
}

/// The relative paths of a definition (saltext-formula: `Renderer.render_path`).
pub(crate) fn paths<'d>(
    run: &Run<'_>,
    definition: &'d Definition,
    around: &MatcherData<'_>,
    rules: PathRules,
) -> Result<Paths<'d>> {
    let find = |matcher: &Matcher| {
        let found = fetch(run, matcher, around).map_err(PathsError::Lookup)?;
        Ok(found.map(|found| texts(&found.value)))
    };
    definition
        .paths_by(rules, find)
        .map_err(|failed| match failed {
            PathsError::Lookup(error) => error,
            PathsError::TooMany(error) => Error::new(ErrorKind::Limit, error.to_string())
                .help("some grain or pillar list is far too long"),
        })
}

/// The reason why a definition has no paths.
enum PathsError {
    Lookup(Error),
    TooMany(TooManyPaths),
}

impl From<TooManyPaths> for PathsError {
    fn from(error: TooManyPaths) -> Self {
        PathsError::TooMany(error)
    }
}
