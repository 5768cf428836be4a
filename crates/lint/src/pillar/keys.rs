//! The keys that the files of a pillar can give, whichever minion asks.

use std::collections::BTreeSet;

use mapstack::value::{Map, Value};
use mapstack::yaml;

use crate::pillar::files::ReadablePillarFiles;
use crate::templates::words;

/// The keys that the files of a pillar can give, whichever minion asks.
#[derive(Debug)]
pub struct PillarKeys {
    /// The data of the sls that are not templates.
    plain: Vec<Map>,
    /// The words of all files.
    words: BTreeSet<String>,
    /// The words of all other files, which may make keys of them.
    of_others: BTreeSet<String>,
    /// True if external pillars give values as well.
    has_externals: bool,
}

impl PillarKeys {
    pub(crate) fn read(files: &ReadablePillarFiles, has_externals: bool) -> Self {
        let (mut plain, mut others) = (Vec::new(), Vec::new());
        for file in files.all.values() {
            let source = &file.source;
            let is_plain = file.name().is_some() && !source.is_template();
            match is_plain.then(|| yaml::load(&source.text)) {
                Some(Ok(Value::Map(map))) => plain.push(map),
                _ => others.push(&*source.text),
            }
        }
        let texts = files.all.values().map(|file| &*file.source.text);
        PillarKeys {
            words: words(texts),
            of_others: words(others),
            plain,
            has_externals,
        }
    }

    /// True if some file may give a value under a key, which has colons between its parts. A part that no file says is
    /// one that none gives.
    pub(crate) fn can_have(&self, key: &str) -> bool {
        let said = |part: &str| is_computed(part) || self.words.contains(part);
        let last = key.rsplit(':').next().unwrap_or(key);
        let is_in_template = || is_computed(last) || self.of_others.contains(last);
        self.has_externals
            || key.split(':').all(said)
                && (is_in_template() || self.plain.iter().any(|map| has(map, key)))
    }

    /// True if some file may give a value under a name somewhere below the first part of a key.
    pub(crate) fn can_name(&self, key: &str, name: &str) -> bool {
        let first = key.split(':').next().unwrap_or(key);
        let says = |map: &Map| match map.get(first) {
            Some(value) => names(value, name),
            None => false,
        };
        self.has_externals
            || [first, name].into_iter().any(is_computed)
            || self.of_others.contains(name)
            || self.plain.iter().any(says)
    }
}

/// True if a value has a key of a name in any depth.
fn names(value: &Value, name: &str) -> bool {
    match value {
        Value::Map(map) => map
            .iter()
            .any(|(key, value)| key.as_str() == Some(name) || names(value, name)),
        Value::List(items) => items.iter().any(|item| names(item, name)),
        _ => false,
    }
}

/// True if a part of a key is none that a file could say as one word: a template makes it.
fn is_computed(part: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    part.is_empty() || !part.chars().all(is_word)
}

/// True if a mapping has a value under a key; what a computed part leads to can have anything.
fn has(map: &Map, key: &str) -> bool {
    let (first, rest) = match key.split_once(':') {
        Some((first, rest)) => (first, Some(rest)),
        None => (key, None),
    };
    if is_computed(first) {
        return true;
    }
    match (map.get(first), rest) {
        (value, None) => value.is_some(),
        (Some(Value::Map(below)), Some(rest)) => has(below, rest),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceFile;
    use crate::pillar::files::PillarFile;

    fn keys(files: &[(&str, &str)]) -> PillarKeys {
        let mut all = ReadablePillarFiles::default();
        for (path, text) in files {
            let source = SourceFile::new(*path, *path, *text);
            let saltenv = "base".into();
            all.all
                .insert((*path).to_owned(), PillarFile { saltenv, source });
        }
        PillarKeys::read(&all, false)
    }

    #[test]
    fn a_plain_sls_gives_what_it_says_and_a_template_may_give_any_word() {
        let own = keys(&[
            ("web.sls", "web: {port: 80, vhosts: {a: {root: /a}}}"),
            (
                "made.sls",
                "{% for n in ['x', 'user'] %}{{ n }}: 1\n{% endfor %}",
            ),
        ]);
        for key in ["web", "web:port", "web:vhosts:…:root", "x", "web:user"] {
            assert!(own.can_have(key), "{key}");
        }
        for key in ["db", "web:host", "port", "port:web", "web:port:x2"] {
            assert!(!own.can_have(key), "{key}");
        }
        assert!(own.can_name("web:lookup", "root") && own.can_name("db", "user"));
        assert!(!own.can_name("web", "roots") && !own.can_name("db", "root"));
    }
}
