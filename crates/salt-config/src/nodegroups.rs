//! Faults of the option `nodegroups`. Salt silently ignores a faulty group.

use mapstack_diagnostic::{Diagnostic, ErrorKind, nearest};
use mapstack_value::{Key, Map, Value};

use crate::OptionPlace;

/// The groups in the files that are not targets, contain themselves, or name a group that does not exist.
pub(super) fn faults(settings: &[OptionPlace], groups: Option<&Map>) -> Vec<Diagnostic> {
    let Some(groups) = groups else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for setting in settings {
        let own = setting.value.as_map().into_iter().flatten();
        for (index, (name, group)) in own.enumerate() {
            let Some((message, help)) = fault(name, group, groups) else {
                continue;
            };
            let mut warning = Diagnostic::warning(ErrorKind::Options, message).with_help(help);
            let key = setting.marks.key(index);
            warning.place = Some(key.map_or_else(|| setting.place(), |key| setting.place_of(key)));
            found.push(warning);
        }
    }
    found
}

fn fault(name: &Key, group: &Value, groups: &Map) -> Option<(String, String)> {
    let Some(named) = named(group) else {
        let message = format!(
            "the nodegroup '{name}' is {}, and no minion is in it",
            match group {
                Value::List(_) => "a list with other items than texts",
                other => other.kind().described(),
            }
        );
        return Some((
            message,
            "write a target, or a list of its words or of minions".into(),
        ));
    };
    if let Some(absent) = named
        .iter()
        .find(|other| !groups.contains_key(other.as_str()))
    {
        let known: Vec<String> = groups.keys().map(Key::to_string).collect();
        let help = match nearest(absent.as_str(), known.iter()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => "define it, or take it out".into(),
        };
        let message = format!("the nodegroup '{name}' names '{absent}', which does not exist");
        return Some((message, help));
    }
    names_itself(&name.to_string(), named, groups).then(|| {
        (
            format!("the nodegroup '{name}' contains itself, which adds no minions to it"),
            "take it out of the groups that it names".into(),
        )
    })
}

/// The groups that a group names; none if its value is not a target.
fn named(group: &Value) -> Option<Vec<String>> {
    let words: Vec<&str> = match group {
        Value::Str(text) => text.split_whitespace().collect(),
        Value::List(items) => items.iter().map(Value::as_str).collect::<Option<_>>()?,
        _ => return None,
    };
    let names = words.into_iter().filter_map(|word| word.strip_prefix("N@"));
    Some(
        names
            .filter(|name| !name.is_empty())
            .map(String::from)
            .collect(),
    )
}

fn names_itself(name: &str, mut next: Vec<String>, groups: &Map) -> bool {
    let mut seen: Vec<String> = Vec::new();
    while let Some(other) = next.pop() {
        if other == name {
            return true;
        }
        if !seen.contains(&other) {
            next.extend(
                groups
                    .get(other.as_str())
                    .and_then(named)
                    .unwrap_or_default(),
            );
            seen.push(other);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::{Config, Kind};

    #[test]
    fn groups_that_are_none_are_warned_of_at_their_place() {
        let text = "nodegroups:\n  web: G@os:Debian and N@wbe2\n  web2: [a, b]\n  a: N@b\n  b: [N@a]\n  n: 5\n  l: [a, 5]\n";
        let config = Config::parse(text.as_bytes(), "master", Kind::Master).unwrap();
        let found: Vec<String> = config.warnings().iter().map(ToString::to_string).collect();
        let said = [
            "master:2:3: the nodegroup 'web' names 'wbe2', which does not exist (did you mean 'web2'?)",
            "master:4:3: the nodegroup 'a' contains itself, which adds no minions to it (take it out of the groups that \
             it names)",
            "master:5:3: the nodegroup 'b' contains itself, which adds no minions to it (take it out of the groups that \
             it names)",
            "master:6:3: the nodegroup 'n' is an integer, and no minion is in it (write a target, or a list of its words or \
             of minions)",
            "master:7:3: the nodegroup 'l' is a list with other items than texts, and no minion is in it (write a target, or \
             a list of its words or of minions)",
        ];
        assert_eq!(found, said);
    }
}
