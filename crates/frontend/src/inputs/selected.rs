//! The message about a `--select` that matches no minion.

use std::collections::BTreeSet;

use mapstack::nearest;
use mapstack_fleet::Minions;

use crate::inputs::InputError;

/// The failure of an expression that is true for no minion, with the grains in it that none of them has.
pub fn selects_none(select: &str, minions: &dyn Minions, ids: &[String]) -> InputError {
    none_of(select, ids.len(), &names_of_grains(minions, ids))
}

/// The names of all grains that some minions have.
pub fn names_of_grains(minions: &dyn Minions, ids: &[String]) -> BTreeSet<String> {
    let minions = ids.iter().filter_map(|id| minions.read(id).ok());
    let names = minions.flat_map(|minion| {
        let names = minion.grains.keys().map(ToString::to_string);
        names.collect::<Vec<String>>()
    });
    names.collect()
}

/// The same, where the names of all grains are known.
pub fn none_of(select: &str, count: usize, known: &BTreeSet<String>) -> InputError {
    let mut message = match count {
        1 => "--select is not true for the minion".to_owned(),
        count => format!("--select is true for none of {count} minions"),
    };
    let unknown = grains(select).into_iter();
    for name in unknown.filter(|name| !known.contains(*name)) {
        message.push_str(&format!("\nno minion has a grain '{name}'"));
        if let Some(near) = nearest(name, known.iter()) {
            message.push_str(&format!("; did you mean '{near}'?"));
        }
    }
    InputError::Usage(message)
}

/// The names of grains in an expression: `grains.os`, `grains['os']` and `grains.get('os')`.
fn grains(expression: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (at, word) in expression.match_indices("grains") {
        let before = expression[..at].chars().next_back();
        if before.is_some_and(|c| is_word(c) || c == '.') {
            continue;
        }
        let rest = &expression[at + word.len()..];
        let quoted = |rest: &'_ str| -> Option<(usize, usize)> {
            let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
            Some((1, 1 + rest[1..].find(quote)?))
        };
        let call = rest.strip_prefix(".get(").or(rest.strip_prefix('['));
        let name = match (call, rest.strip_prefix('.')) {
            (Some(inside), _) => quoted(inside).map(|(from, to)| &inside[from..to]),
            (None, Some(inside)) => {
                let end = inside.find(|c| !is_word(c)).unwrap_or(inside.len());
                // A method, such as `items()`, is not a grain.
                let is_method = inside[end..].starts_with('(');
                (!is_method).then(|| &inside[..end])
            }
            (None, None) => None,
        };
        found.extend(name.filter(|name| !name.is_empty()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::grains;

    #[test]
    fn names_of_grains_are_found() {
        for (expression, names) in [
            (
                "grains.os == 'Debian' and grains['os_family']",
                &["os", "os_family"][..],
            ),
            (
                "grains.get(\"größe\", 1) or mygrains.a or x.grains.b",
                &["größe"],
            ),
            ("grains.items() | length > 3", &[]),
            ("'grains' in id or grains", &[]),
            ("grains['ö", &[]),
        ] {
            assert_eq!(grains(expression), names, "{expression}");
        }
    }
}
