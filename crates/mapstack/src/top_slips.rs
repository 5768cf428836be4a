//! Mistakes in top files that are valid, and do something else than their author meant.

use mapstack_diagnostic::nearest;
use mapstack_value::{Key, Map, Value};

/// The options that stand below a target beside sls.
const OPTIONS: [&str; 3] = ["match", "order", "ignore_missing"];

/// An entry of a top file that its author probably meant otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopSlip {
    /// The index of the item of the list that it is about.
    pub item: Option<usize>,
    /// What it does.
    pub message: String,
    /// The probable intention.
    pub help: String,
}

/// The slips in what stands below a target: options without the blank behind their colons or with a letter wrong, and
/// nodegroups that do not exist.
///
/// ```
/// use mapstack::{top_slips, value::Value};
/// let listed = Value::from_iter(["match:grain", "web"]);
/// let slips = top_slips(&"os:Debian".into(), &listed, None);
/// assert_eq!(slips[0].help, "write `- match: grain`");
/// ```
#[must_use]
pub fn top_slips(target: &Key, listed: &Value, groups: Option<&Map>) -> Vec<TopSlip> {
    let items = listed.as_list().unwrap_or_default();
    let texts = items.iter().enumerate();
    let texts = texts.filter_map(|(index, item)| Some((index, item.as_str()?)));
    let mut found: Vec<TopSlip> = texts.filter_map(joined_option).collect();
    found.extend(items.iter().enumerate().filter_map(misspelt_option));
    let matcher = items
        .iter()
        .rev()
        .find_map(|item| item.as_map()?.get("match"));
    let matcher = matcher.map_or("compound", |matcher| matcher.as_str().unwrap_or_default());
    let target = target.to_string();
    let named: Vec<&str> = match matcher {
        "nodegroup" => vec![&target],
        "compound" => target
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("N@"))
            .collect(),
        _ => Vec::new(),
    };
    let is_absent = |name: &&str| !groups.is_some_and(|groups| groups.contains_key(*name));
    found.extend(named.into_iter().filter(is_absent).map(|name| {
        let known: Vec<String> = groups
            .into_iter()
            .flat_map(Map::keys)
            .map(Key::to_string)
            .collect();
        let near = nearest(name, known.iter());
        TopSlip {
            item: None,
            message: format!(
                "the option nodegroups has no '{name}', which the target '{target}' names"
            ),
            help: match near {
                Some(near) => format!("did you mean '{near}'?"),
                None => "without it, the target matches no minion by this nodegroup".into(),
            },
        }
    }));
    found
}

/// An option of a target that is text: `match:grain`.
fn joined_option((index, text): (usize, &str)) -> Option<TopSlip> {
    let key = mapstack_yaml::joined_key(text)?;
    let rest = text.get(key.len() + 1..)?;
    OPTIONS.contains(&key).then(|| TopSlip {
        item: Some(index),
        message: format!("`{text}` is the name of an sls here, as no blank follows its `:`"),
        help: format!("write `- {key}: {rest}`"),
    })
}

/// An option of a target with a letter wrong: `mtach: grain`.
fn misspelt_option((index, item): (usize, &Value)) -> Option<TopSlip> {
    let map = item.as_map()?;
    if map
        .keys()
        .any(|key| key.as_str().is_some_and(|key| OPTIONS.contains(&key)))
    {
        return None;
    }
    let key = map.keys().next()?.as_str()?;
    let near = nearest(key, OPTIONS)?;
    Some(TopSlip {
        item: Some(index),
        message: format!("a target has no option `{key}`, so this item is ignored"),
        help: format!("did you mean `{near}`?"),
    })
}
