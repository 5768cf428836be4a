//! Classes by the names of nodes (reclass: the option `class_mappings`).

use fancy_regex::Regex;
use mapstack_value::pytext::{Fnmatch, shlex};

/// The classes that a mapping such as `*.example.org base web` gives a node, if it means the node.
///
/// # Errors
/// A quotation mark or a slash without its partner, or an expression that is wrong.
pub fn classes(mapping: &str, node: &str) -> Result<Vec<String>, String> {
    let is_expression = mapping.starts_with('/');
    let quotes: &[char] = if is_expression { &['"', '/'] } else { &['"'] };
    let words = shlex::split_quoted(mapping, quotes).map_err(|_| {
        format!("the mapping {mapping:?} has a quotation mark or a slash without its partner")
    })?;
    let mut words = words.into_iter();
    let Some(key) = words.next() else {
        return Ok(Vec::new());
    };
    if !is_expression && !key.starts_with('/') {
        let is_match = Fnmatch::new(&key).matches(node);
        return Ok(if is_match {
            words.collect()
        } else {
            Vec::new()
        });
    }
    let pattern = if is_expression {
        &*key
    } else {
        key.trim_matches('/')
    };
    let expression =
        Regex::new(pattern).map_err(|e| format!("the expression /{pattern}/ is wrong: {e}"))?;
    let found = expression
        .captures(node)
        .map_err(|e| format!("the expression /{pattern}/ fails: {e}"))?;
    let Some(found) = found else {
        return Ok(Vec::new());
    };
    let group = |number: usize| found.get(number).map(|group| group.as_str().to_owned());
    words.map(|class| expanded(&class, &group)).collect()
}

/// Python's `Match.expand` for groups by their numbers.
fn expanded(template: &str, group: &dyn Fn(usize) -> Option<String>) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = template.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        let mut digits = String::new();
        if rest.peek() == Some(&'g') {
            let all: String = rest.clone().skip(1).collect();
            if let Some((number, _)) = all.strip_prefix('<').and_then(|all| all.split_once('>')) {
                rest.nth(number.len() + 2);
                digits = number.into();
            }
        }
        while digits.len() < 2 && rest.peek().is_some_and(char::is_ascii_digit) {
            digits.extend(rest.next());
        }
        let number: usize = digits.parse().map_err(|_| {
            format!("the class {template} has a backslash without the number of a group")
        })?;
        text.push_str(&group(number).unwrap_or_default());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_mean_nodes_by_pattern_or_expression() {
        let of = |mapping: &str| classes(mapping, "web1.example.org");
        assert_eq!(of("*.example.org base web").unwrap(), ["base", "web"]);
        assert_eq!(of("db* db").unwrap(), [""; 0]);
        assert_eq!(
            of(r"/^(web)(\d)\./ role.\\1 n.\\2").unwrap(),
            ["role.web", "n.1"]
        );
        assert_eq!(of("'web1*' 'a b'").unwrap(), ["a b"]);
        assert!(of("/web x").unwrap_err().contains("without its partner"));
        assert!(of("/(/ x").unwrap_err().contains("is wrong"));
    }
}
