//! Minions for the targets of top files that name none: `web*` is met by `web-1`, `G@roles:db` by a grain.

use std::collections::BTreeMap;

use mapstack::minion::platforms;
use mapstack::value::pytext::Fnmatch;
use mapstack::value::{Map, Value};

use super::top_text::TopTarget;

/// The facts that a minion needs for a target to mean it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TargetFacts {
    /// The id, if the target is about it.
    pub id: Option<String>,
    /// The shell pattern that the id was made for, if it is not literally the target.
    pub pattern: Option<String>,
    /// The built-in platform that has the grains.
    pub platform: Option<&'static str>,
    /// Grains beside those of the platform: a path of keys, and the value.
    pub grains: Vec<(Vec<String>, String)>,
}

/// The depth to which nodegroups may name each other.
const DEPTH: usize = 8;

/// The largest number of minions for one target: one for each of its alternatives.
const ALTERNATIVES: usize = 8;

/// The facts that meet a target, for each of its alternatives. Terms for which no fact can be made up, such
/// as those about the pillar, are left out. A target without other terms gives no facts.
pub fn wanted(target: &TopTarget, nodegroups: &Map) -> Vec<TargetFacts> {
    let expression = target.expression.trim();
    let of_one = |letter: &str| term(&format!("{letter}@{expression}"), nodegroups, 0);
    match target.matcher.as_deref() {
        Some("glob") => one(id(expression)),
        Some("grain") => one(of_one("G")),
        Some("grain_pcre") => one(of_one("P")),
        Some("pcre") => one(of_one("E")),
        Some("list") => expression
            .split(',')
            .filter_map(|name| id(name.trim()))
            .collect(),
        Some("nodegroup") => nodegroup(expression, nodegroups, 0),
        Some("ipcidr") => one(of_one("S")),
        Some("compound") | None => compound(expression, nodegroups, 0),
        Some(_) => Vec::new(),
    }
}

fn one(wanted: Option<TargetFacts>) -> Vec<TargetFacts> {
    wanted.into_iter().collect()
}

fn compound(expression: &str, nodegroups: &Map, depth: usize) -> Vec<TargetFacts> {
    let mut all = vec![TargetFacts::default()];
    let (mut level, mut is_not, mut is_met) = (0_usize, false, vec![false]);
    for word in expression.split_whitespace() {
        match word {
            "(" => level += 1,
            ")" => level = level.saturating_sub(1),
            "not" => is_not = true,
            "or" if level == 0 && all.len() < ALTERNATIVES => {
                all.push(TargetFacts::default());
                is_met.push(false);
            }
            "and" | "or" => {}
            term_of if !std::mem::take(&mut is_not) => {
                let Some(met) = term(term_of, nodegroups, depth) else {
                    continue;
                };
                if let (Some(last), Some(is_met)) = (all.last_mut(), is_met.last_mut()) {
                    last.add(met);
                    *is_met = true;
                }
            }
            _ => {}
        }
    }
    let met = all.into_iter().zip(is_met);
    met.filter_map(|(wanted, is_met)| is_met.then_some(wanted))
        .collect()
}

fn nodegroup(name: &str, nodegroups: &Map, depth: usize) -> Vec<TargetFacts> {
    let Some(group) = nodegroups.get(name).filter(|_| depth < DEPTH) else {
        return Vec::new();
    };
    let expression = match group {
        Value::List(words) => {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            // A list of ids, or the words of an expression.
            match words
                .iter()
                .any(|word| word.contains('@') || is_operator(word))
            {
                true => words.join(" "),
                false => words.join(" or "),
            }
        }
        other => other.to_string(),
    };
    compound(&expression, nodegroups, depth + 1)
}

fn is_operator(word: &str) -> bool {
    matches!(word, "and" | "or" | "not" | "(" | ")")
}

fn term(word: &str, nodegroups: &Map, depth: usize) -> Option<TargetFacts> {
    let Some((letter, rest)) = word.split_once('@') else {
        return id(word);
    };
    // `G.@a.b`: another delimiter than the colon.
    let mut parts = letter.chars();
    let rest = match (parts.next(), parts.next(), parts.next()) {
        (Some(_), None, _) => rest.to_owned(),
        (Some(_), Some(delimiter), None) if !delimiter.is_alphanumeric() => {
            rest.replace(delimiter, ":")
        }
        _ => return id(word),
    };
    let rest = &*rest;
    match &letter[..letter.chars().next().map_or(0, char::len_utf8)] {
        "G" => grain(rest),
        "P" => {
            let (path, pattern) = rest.rsplit_once(':')?;
            grain(&format!("{path}:{}", example(pattern)?))
        }
        "E" => id(&example(rest)?).map(|wanted| TargetFacts {
            // It could be another one.
            pattern: wanted.id.clone(),
            ..wanted
        }),
        "L" => id(rest.split(',').next()?),
        "N" => nodegroup(rest, nodegroups, depth).into_iter().next(),
        "S" => Some(TargetFacts {
            grains: vec![(vec!["ipv4".into()], rest.split('/').next()?.into())],
            ..TargetFacts::default()
        }),
        _ => None,
    }
}

/// An id that a shell pattern means; of `*` alone, none in particular.
fn id(pattern: &str) -> Option<TargetFacts> {
    if pattern.is_empty() || pattern.chars().all(|c| c == '*') {
        return None;
    }
    let is_named = !pattern.contains(['*', '?', '[']);
    let id = match is_named {
        true => pattern.to_owned(),
        false => met_by(pattern)?,
    };
    Some(TargetFacts {
        id: Some(id),
        pattern: (!is_named).then(|| pattern.to_owned()),
        ..TargetFacts::default()
    })
}

/// A text that a shell pattern matches.
fn met_by(pattern: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' => {
                let is_word = text.chars().next_back().is_some_and(char::is_alphanumeric);
                let next = rest.clone().next();
                text.push_str(
                    match (text.is_empty(), is_word && next.is_none_or(|c| c == '.')) {
                        (true, _) => "minion-1",
                        (false, true) => "-1",
                        (false, false) => "1",
                    },
                );
            }
            '?' => text.push('1'),
            '[' => {
                let class: Vec<char> = rest.by_ref().take_while(|c| *c != ']').collect();
                text.push(class.first().copied().filter(|c| *c != '!')?);
            }
            other => text.push(other),
        }
    }
    Fnmatch::new(pattern).matches(&text).then_some(text)
}

/// A text that a simple regular expression matches: literal text, alternatives, classes and repetitions.
fn example(pattern: &str) -> Option<String> {
    let pattern = pattern.trim_start_matches('^').trim_end_matches('$');
    let mut text = String::new();
    let mut rest = pattern.chars().peekable();
    let mut last = String::new();
    while let Some(c) = rest.next() {
        let next: String = match c {
            '.' => "1".into(),
            '\\' => match rest.next()? {
                'd' => "1".into(),
                'w' => "a".into(),
                c if c.is_alphanumeric() => return None,
                c => c.into(),
            },
            '[' => {
                let class: Vec<char> = rest.by_ref().take_while(|c| *c != ']').collect();
                class.first().copied().filter(|c| *c != '^')?.into()
            }
            '(' => {
                let group: String = rest.by_ref().take_while(|c| *c != ')').collect();
                let group = group.strip_prefix("?:").unwrap_or(&group);
                example(group.split('|').next()?)?
            }
            '*' | '+' => continue,
            '?' => {
                text.truncate(text.len() - last.len());
                last.clear();
                continue;
            }
            '|' => break,
            '{' => {
                let count: String = rest.by_ref().take_while(|c| *c != '}').collect();
                let count: usize = count.split(',').next()?.parse().ok().filter(|n| *n < 20)?;
                for _ in 1..count {
                    text.push_str(&last);
                }
                continue;
            }
            other => other.into(),
        };
        text.push_str(&next);
        last = next;
    }
    (!text.is_empty()).then_some(text)
}

/// A grain: that of the newest platform that has it, or one that no platform has.
fn grain(term: &str) -> Option<TargetFacts> {
    let (path, value) = term.rsplit_once(':')?;
    let path: Vec<String> = path.split(':').map(str::to_owned).collect();
    let wanted = Fnmatch::new(value);
    if let [name] = &path[..] {
        let has = |platform: &&platforms::Platform| {
            let minion = platform.minion();
            let own = minion.grains.get(name.as_str());
            own.is_some_and(|own| own.as_list().is_none() && wanted.matches(&own.to_string()))
        };
        if let Some(platform) = platforms::all().iter().rev().find(has) {
            return Some(TargetFacts {
                platform: Some(platform.name),
                ..TargetFacts::default()
            });
        }
    }
    let value = match value.contains(['*', '?', '[']) {
        true => met_by(value).unwrap_or_else(|| "any".into()),
        false => value.to_owned(),
    };
    Some(TargetFacts {
        grains: vec![(path, value)],
        ..TargetFacts::default()
    })
}

impl TargetFacts {
    fn add(&mut self, other: TargetFacts) {
        if self.id.is_none() {
            (self.id, self.pattern) = (other.id, other.pattern);
        }
        self.platform = self.platform.or(other.platform);
        self.grains.extend(other.grains);
    }

    /// True if it is about one minion by its id.
    pub fn is_named(&self) -> bool {
        self.id.is_some() && self.pattern.is_none()
    }

    /// True if a minion of some id is all that it asks for.
    pub fn is_met_by(&self, id: &str) -> bool {
        let matches = |pattern: &String| Fnmatch::new(pattern).matches(id);
        self.pattern.as_ref().is_some_and(matches)
            && self.grains.is_empty()
            && self.platform.is_none()
    }

    /// A name that says what the minion is for.
    pub fn name(&self) -> String {
        if let Some(id) = &self.id {
            return id.clone();
        }
        let grains = self.grains.iter().map(|(path, value)| {
            format!("{}-{value}", path.last().map_or("grain", String::as_str))
        });
        let parts: Vec<String> = self
            .platform
            .map(str::to_owned)
            .into_iter()
            .chain(grains)
            .collect();
        let plain = |c: char| match c.is_alphanumeric() || matches!(c, '-' | '.' | '_') {
            true => c,
            false => '-',
        };
        parts.join("-").chars().map(plain).collect()
    }

    /// Put its grains over those of a minion. One that is not a list on the platform is text; others are lists, as roles
    /// are.
    pub fn apply(&self, grains: &mut Map) {
        let mut set: BTreeMap<&Vec<String>, Vec<&str>> = BTreeMap::new();
        for (path, value) in &self.grains {
            set.entry(path).or_default().push(value);
        }
        for (path, values) in set {
            put(grains, path, &values);
        }
    }
}

fn put(grains: &mut Map, path: &[String], values: &[&str]) {
    let [name, rest @ ..] = path else { return };
    if rest.is_empty() {
        let is_text = grains
            .get(name.as_str())
            .is_some_and(|own| own.as_list().is_none());
        let value = match (is_text, values) {
            (true, [value, ..]) => Value::from(*value),
            _ => values.iter().map(|value| Value::from(*value)).collect(),
        };
        grains.insert(name.as_str(), value);
        return;
    }
    let mut inner = match grains.get(name.as_str()) {
        Some(Value::Map(inner)) => inner.clone(),
        _ => Map::new(),
    };
    put(&mut inner, rest, values);
    grains.insert(name.as_str(), inner);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(expression: &str, matcher: Option<&str>) -> Vec<String> {
        let target = TopTarget {
            expression: expression.into(),
            matcher: matcher.map(str::to_owned),
            line: 1,
        };
        let groups = Map::from_iter([("db", "G@roles:db and db*"), ("two", "a.org,b.org")]);
        wanted(&target, &groups)
            .iter()
            .map(TargetFacts::name)
            .collect()
    }

    #[test]
    fn a_target_is_met_by_what_it_asks_for() {
        for (expression, matcher, expected) in [
            ("*", None, &[][..]),
            ("web*", None, &["web-1"]),
            ("web*.example.org", None, &["web-1.example.org"]),
            ("*.example.org", None, &["minion-1.example.org"]),
            ("web[0-9]", None, &["web0"]),
            ("web1.example.org", None, &["web1.example.org"]),
            ("G@roles:db", None, &["roles-db"]),
            ("roles:db", Some("grain"), &["roles-db"]),
            ("web* and G@roles:db and not G@os:Debian", None, &["web-1"]),
            ("web1 or db1", None, &["web1", "db1"]),
            ("N@db", None, &["db-1"]),
            ("db", Some("nodegroup"), &["db-1"]),
            ("a,b", Some("list"), &["a", "b"]),
            ("E@(consul|master)\\.psf\\.io", None, &["consul.psf.io"]),
            ("web\\d+", Some("pcre"), &["web1"]),
            ("I@role:web", None, &[]),
            ("I.@role.web", None, &[]),
            ("G.@roles.db", None, &["roles-db"]),
        ] {
            assert_eq!(names(expression, matcher), expected, "{expression}");
        }
    }

    #[test]
    fn a_grain_of_a_platform_is_that_of_the_newest_with_it() {
        let target = TopTarget {
            expression: "G@os_family:Suse".into(),
            matcher: None,
            line: 1,
        };
        let found = wanted(&target, &Map::new());
        assert!(found[0].platform.unwrap().contains("sles"), "{found:?}");
    }

    #[test]
    fn roles_are_lists_and_grains_of_a_platform_stay_text() {
        let mut grains = Map::from_iter([("virtual", "physical")]);
        let wanted = TargetFacts {
            grains: vec![
                (vec!["roles".into()], "db".into()),
                (vec!["roles".into()], "web".into()),
                (vec!["virtual".into()], "kvm".into()),
                (vec!["a".into(), "b".into()], "c".into()),
            ],
            ..TargetFacts::default()
        };
        wanted.apply(&mut grains);
        assert_eq!(
            Value::from(grains).repr(),
            "{'virtual': 'kvm', 'a': {'b': ['c']}, 'roles': ['db', 'web']}"
        );
    }
}
