//! Source definitions, as libmapstack and `map.data` have them.

/// A definition of libmapstack as `map.data` takes it: `Y:` becomes `Y!`.
pub(crate) fn modern(definition: &str) -> Option<String> {
    let (head, query) = definition.split_once('@')?;
    let mut parts = head.split(':');
    if parts.next() != Some("Y") {
        return None;
    }
    let method = parts.next().filter(|method| !method.is_empty());
    let method = method.unwrap_or("C");
    let delimiter = parts.collect::<Vec<_>>().join(":");
    Some(match delimiter.as_str() {
        "" => format!("Y!{method}@{query}"),
        delimiter => format!("Y!{method}::{delimiter}@{query}"),
    })
}

/// The keys of the pillar that a definition looks up and merges as they are.
pub(crate) fn pillar_keys(definition: &str) -> Option<Vec<String>> {
    let (head, query) = definition.split_once('@')?;
    let mut parts = head.split(':');
    matches!(parts.next(), Some("C" | "I")).then(|| query.split(':').map(str::to_owned).collect())
}

/// The key below which a definition with the option `SUB` puts what it finds.
pub(crate) fn sub_key(definition: &str) -> Option<&str> {
    let (head, query) = definition.split_once('@')?;
    let is_sub = head.split(':').nth(1)?.split(',').any(|o| o == "SUB");
    is_sub.then(|| query.strip_suffix(":lookup").unwrap_or(query))
}

/// The default sources of `map.data` for a formula.
pub(crate) fn built_in(formula: &str) -> Vec<String> {
    let own = format!("C@{formula}");
    [
        "Y!G@osarch",
        "Y!G@os_family",
        "Y!G@os",
        "Y!G@osfinger",
        &own,
        "Y!G@id",
    ]
    .map(str::to_owned)
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_definitions_become_those_of_today() {
        for (old, new) in [
            ("Y:G@os", Some("Y!G@os")),
            ("Y:C@roles", Some("Y!C@roles")),
            ("Y@roles", Some("Y!C@roles")),
            ("Y:@roles", Some("Y!C@roles")),
            ("Y:G:!@dns!domain", Some("Y!G::!@dns!domain")),
            ("C@ntp:lookup", None),
            ("defaults.yaml", None),
        ] {
            assert_eq!(modern(old).as_deref(), new, "{old}");
        }
    }

    #[test]
    fn a_definition_says_which_keys_it_looks_up() {
        assert_eq!(pillar_keys("C@a:b"), Some(vec!["a".into(), "b".into()]));
        assert_eq!(pillar_keys("Y!G@os"), None);
        assert_eq!(sub_key("C:SUB@ssh:lookup"), Some("ssh"));
        assert_eq!(sub_key("C@ssh:lookup"), None);
    }
}
