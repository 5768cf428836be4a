//! Nodegroups: names for targets, from the option `nodegroups` (Salt: `salt.utils.minions`).

use mapstack_value::{Map, Value};

/// A group whose words cannot be a target.
pub(super) struct BadGroup;

/// The words that operate on others.
pub(super) const OPERATORS: [&str; 5] = ["and", "or", "not", "(", ")"];

/// The words of a group; none for a group that does not exist or holds itself.
///
/// A group is a target as text, a list of its words, or a plain list of minions.
pub(super) fn expand(name: &str, groups: &Map) -> Result<Vec<String>, BadGroup> {
    let words = words(name, groups)?;
    if words.is_empty() && !is_plain_list(groups.get(name)) {
        return Ok(Vec::new());
    }
    let mut above = vec![name.to_string()];
    let mut left = MAX_WORDS;
    let (expanded, nested) = inner(&words, groups, &mut above, &mut left)?;
    if nested {
        return Ok(bracketed(expanded));
    }
    Ok(joined(&words).unwrap_or(words))
}

/// Groups that hold others can expand to more words than any memory holds.
const MAX_WORDS: usize = 100_000;

fn is_plain_list(group: Option<&Value>) -> bool {
    matches!(
        group,
        Some(Value::Str(_) | Value::List(_) | Value::Tuple(_))
    )
}

/// A group's own words.
fn words(name: &str, groups: &Map) -> Result<Vec<String>, BadGroup> {
    let items = match groups.get(name) {
        Some(Value::Str(text)) => return Ok(text.split_whitespace().map(Into::into).collect()),
        Some(Value::List(items)) => items.to_vec(),
        Some(Value::Tuple(items)) => items.to_vec(),
        _ => return Ok(Vec::new()),
    };
    // Python would stumble over them later.
    items
        .iter()
        .map(|item| item.as_str().map(Into::into).ok_or(BadGroup))
        .collect()
}

/// The words with the groups among them expanded, and whether there were any.
fn inner(
    words: &[String],
    groups: &Map,
    above: &mut Vec<String>,
    left: &mut usize,
) -> Result<(Vec<String>, bool), BadGroup> {
    let mut expanded = Vec::new();
    let mut nested = false;
    for word in words {
        *left = left.checked_sub(1).ok_or(BadGroup)?;
        match word.strip_prefix("N@").filter(|name| !name.is_empty()) {
            Some(name) => {
                nested = true;
                expanded.extend(expand_nested(name, groups, above, left)?);
            }
            None => expanded.push(word.clone()),
        }
    }
    Ok((expanded, nested))
}

fn expand_nested(
    name: &str,
    groups: &Map,
    above: &mut Vec<String>,
    left: &mut usize,
) -> Result<Vec<String>, BadGroup> {
    if above.iter().any(|group| group == name)
        || !is_plain_list(groups.get(name))
        || above.len() > MAX_DEPTH
    {
        return Ok(Vec::new());
    }
    let words = words(name, groups)?;
    above.push(name.to_string());
    let (expanded, _) = inner(&words, groups, above, left)?;
    above.pop();
    Ok(joined(&words).unwrap_or_else(|| bracketed(expanded)))
}

/// Groups nest this deep at most.
const MAX_DEPTH: usize = 100;

fn bracketed(words: Vec<String>) -> Vec<String> {
    if words.is_empty() {
        return words;
    }
    [vec!["(".to_string()], words, vec![")".to_string()]].concat()
}

/// A list of minions or of expressions as one word.
fn joined(words: &[String]) -> Option<Vec<String>> {
    let is_typed = |word: &String| {
        let mut chars = word.chars();
        matches!((chars.next(), chars.next()), (Some('A'..='Z'), Some('@')))
    };
    if words
        .iter()
        .any(|word| OPERATORS.contains(&word.as_str()) || word.contains('*') || is_typed(word))
    {
        return None;
    }
    let is_expression = |word: &String| word.contains(['(', '[', '{', '\\', '?', '}', ']', ')']);
    let engine = if words.iter().any(is_expression) {
        "E"
    } else {
        "L"
    };
    Some(vec![format!("{engine}@{}", words.join(","))])
}
