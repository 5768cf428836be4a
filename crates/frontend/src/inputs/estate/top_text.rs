//! The text of a top file before it is rendered: a template may ask which minion it is for, and minions are what is
//! looked for.

use mapstack::value::Value;
use mapstack::yaml;

/// A target, as a top file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopTarget {
    /// The expression.
    pub expression: String,
    /// The value of `match`; by default an expression is a compound one.
    pub matcher: Option<String>,
    /// The line.
    pub line: usize,
}

/// The text in place of an expression of the template: no id and no name of an sls has it.
const HOLE: &str = "\u{fffc}";

/// The text without what is a template's: tags and comments are left out, what would be printed leaves a hole.
pub fn without_template(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("{") {
        let (before, tag) = rest.split_at(at);
        plain.push_str(before);
        let (end, hole) = match tag.as_bytes().get(1) {
            Some(b'%') => ("%}", ""),
            Some(b'#') => ("#}", ""),
            Some(b'{') => ("}}", HOLE),
            _ => {
                plain.push('{');
                rest = &tag[1..];
                continue;
            }
        };
        let length = tag.find(end).map_or(tag.len(), |at| at + end.len());
        plain.push_str(hole);
        // Lines keep their numbers.
        plain.extend(tag[..length].chars().filter(|c| *c == '\n'));
        rest = &tag[length..];
    }
    plain.push_str(rest);
    plain
}

/// The targets in a top file's text, without those that an expression makes.
///
/// A branch of a template can repeat a target, and the rest need not be YAML. So lines are read, and YAML if no
/// line begins with a target.
pub fn targets(text: &str) -> Vec<TopTarget> {
    let plain = without_template(text);
    let of_lines = targets_of_lines(&plain);
    match of_lines.is_empty() {
        true => targets_of_flow(&plain),
        false => of_lines,
    }
}

/// The targets of `base: {'web*': [web]}`.
fn targets_of_flow(plain: &str) -> Vec<TopTarget> {
    let Ok(Value::Map(envs)) = yaml::load(plain) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (expression, below) in envs.values().filter_map(Value::as_map).flatten() {
        let items = below.as_list().into_iter().flatten();
        let matcher = items
            .filter_map(|item| item.as_map()?.get("match")?.as_str())
            .map(str::to_owned)
            .next_back();
        match expression.to_value() {
            Value::Str(text) if !text.contains(HOLE) => found.push(TopTarget {
                expression: text.to_string(),
                matcher,
                line: 0,
            }),
            _ => {}
        }
    }
    found
}

fn targets_of_lines(plain: &str) -> Vec<TopTarget> {
    let mut found: Vec<TopTarget> = Vec::new();
    let mut indent_of_targets = None;
    for (number, line) in plain.lines().enumerate() {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if indent == 0 {
            indent_of_targets = None;
            continue;
        }
        if let Some(item) = content.strip_prefix("- ") {
            if let (Some(last), Some(matcher)) = (found.last_mut(), item.strip_prefix("match:")) {
                last.matcher = Some(matcher.trim().trim_matches(['"', '\'']).to_owned());
            }
            continue;
        }
        let is_target = *indent_of_targets.get_or_insert(indent) == indent;
        let Some(key) = is_target.then(|| key_of(content)).flatten() else {
            continue;
        };
        if !key.contains(HOLE) {
            found.push(TopTarget {
                expression: key,
                matcher: None,
                line: number + 1,
            });
        }
    }
    found
}

/// The sls that a top file's text names, without those that an expression makes.
pub fn sls_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |name: &str| {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
        if !name.is_empty() && name.chars().all(is_name) && !name.starts_with('.') {
            names.push(name.to_owned());
        }
    };
    for line in without_template(text).lines() {
        let content = line.split(" #").next().unwrap_or_default().trim();
        match content.strip_prefix("- ") {
            Some(item) => add(item.trim().trim_matches(['"', '\''])),
            None => {
                let Ok(Value::Map(map)) = yaml::load(content) else {
                    continue;
                };
                let items = map.values().filter_map(Value::as_list).flatten();
                items.filter_map(Value::as_str).for_each(&mut add);
            }
        }
    }
    names
}

/// The key of a line such as `'web*':`, as YAML reads it.
fn key_of(content: &str) -> Option<String> {
    let content = content.split(" #").next()?.trim_end();
    let mapping = content.ends_with(':') || content.ends_with(']') && content.contains(": [");
    let value = mapping.then(|| yaml::load(content).ok())??;
    let (key, _) = value.as_map()?.iter().next()?;
    match key.to_value() {
        Value::Str(text) => Some(text.to_string()),
        _ => None,
    }
}

/// The text that a template puts in place of the dots: `{{ id.replace('.', '_') }}`.
pub fn separator(text: &str) -> Option<char> {
    let at = text.find("replace(")?;
    let call: String = text[at..].chars().filter(|c| *c != ' ').take(20).collect();
    let call = call.replace('"', "'");
    let to = call.strip_prefix("replace('.','")?;
    to.chars().next().filter(|c| *c != '\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_found_between_the_tags_of_a_template() {
        let text = "{% set x = 1 %}\nbase:\n  '*':\n    - common\n  {% if x %}\n  'G@roles:db and web*':\n    - match: \
                    compound\n    - db\n  {% endif %}\n  '{{ id }}':\n    - own\n  web1.example.org: [web]\n{{ saltenv \
                    }}:\n    \"roles:mail\":\n      - match: grain\n      - mail\n";
        let found = targets(text);
        let found: Vec<_> = found
            .iter()
            .map(|target| (&*target.expression, target.matcher.as_deref(), target.line))
            .collect();
        assert_eq!(
            found,
            [
                ("*", None, 3),
                ("G@roles:db and web*", Some("compound"), 6),
                ("web1.example.org", None, 12),
                ("roles:mail", Some("grain"), 14),
            ]
        );
    }

    #[test]
    fn targets_stand_in_one_line_as_well() {
        let found = targets("base: {'web*': [web], 'a:b': [{match: grain}, c], '{{ x }}': [d]}\n");
        let found: Vec<_> = found
            .iter()
            .map(|target| (&*target.expression, target.matcher.as_deref()))
            .collect();
        assert_eq!(found, [("web*", None), ("a:b", Some("grain"))]);
    }

    #[test]
    fn sls_are_named_in_lists_of_both_forms() {
        let text = "base:\n  '*':\n    - match: compound\n    - common  # all\n    - 'private.smtp'\n    {% if x %}\n    - \
                    \"b\"\n    {% endif %}\n    - id.{{ id }}\n  web: [c, {match: grain}]\n# - off\n";
        assert_eq!(sls_names(text), ["common", "private.smtp", "b", "c"]);
    }

    #[test]
    fn names_of_files_can_be_made_of_ids() {
        assert_eq!(separator("{% set x = id.replace('.', '_') %}"), Some('_'));
        assert_eq!(separator("{{ grains.id.replace(\".\",\"-\") }}"), Some('-'));
        assert_eq!(separator("{{ os.replace(' ', '_') }}"), None);
    }
}
