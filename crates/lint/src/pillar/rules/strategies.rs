//! Strategies of stacked files: those that do not exist, and those that are data.

use crate::{Content, Finding, Level, Rule};
use mapstack::nearest;
use mapstack::value::{Map, Value};
use mapstack::yaml::{Mark, Marks};
use mapstack_pillar::{STACK_MARKER, StackStrategy};

use super::PillarSubject;

pub(super) fn check(subject: &PillarSubject<'_>) -> Vec<Finding> {
    let stacked = subject.documents.iter().filter(|document| {
        let (place, _) = document.content.place(document.marks.mark(), 0);
        subject.seen.stacked.contains(&place.file)
    });
    let mut found = Vec::new();
    for document in stacked {
        let file = StackFile {
            content: &document.content,
        };
        file.value(&document.value, &document.marks, &mut found);
    }
    found
}

/// A file of a stack.
struct StackFile<'d> {
    content: &'d Content,
}

impl StackFile<'_> {
    fn value(&self, value: &Value, marks: &Marks, found: &mut Vec<Finding>) {
        match value {
            Value::Map(map) => {
                found.extend(self.mapping(map, marks));
                for (index, (_, inside)) in map.iter().enumerate() {
                    if let Some(marks) = marks.child(index) {
                        self.value(inside, marks, found);
                    }
                }
            }
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    let Some((Value::Map(map), marks)) = Some(item).zip(marks.child(index)) else {
                        continue;
                    };
                    match index {
                        0 => found.extend(self.head(map, marks)),
                        _ => found.extend(self.late(map, marks)),
                    }
                }
            }
            _ => {}
        }
    }

    /// The strategy of a mapping, by its key or by one that looks like it.
    fn mapping(&self, map: &Map, marks: &Marks) -> Vec<Finding> {
        let of = |(index, (key, value)): (usize, (&mapstack::value::Key, &Value))| {
            let key = key.as_str()?;
            match key == STACK_MARKER {
                true => self.unknown(value, marks.child(index)?),
                false => self.misspelt_key(key, value, marks.key(index)?),
            }
        };
        map.iter().enumerate().filter_map(of).collect()
    }

    /// The first item of a list can name the strategy of the list, and goes away then.
    fn head(&self, map: &Map, marks: &Marks) -> Vec<Finding> {
        let mut found = self.mapping(map, marks);
        if map.get(STACK_MARKER).is_some() && map.len() > 1 {
            let message = format!(
                "the item with `{STACK_MARKER}` is not part of the list, so its other keys are lost"
            );
            let place = self.content.place(marks.mark(), 0).0;
            let finding = Finding::new(Rule::MisplacedOption, place, message);
            found.push(finding.help(format!("write `{STACK_MARKER}` in a separate item")));
        }
        found
    }

    /// The strategy of a list that is not in its first item.
    fn late(&self, map: &Map, marks: &Marks) -> Option<Finding> {
        let index = map.index_of(STACK_MARKER)?;
        meant(map.entry_at(index)?.1)?;
        let place = self.content.place(marks.key(index)?, STACK_MARKER.len()).0;
        let message = format!(
            "`{STACK_MARKER}` is data here: the strategy of a list must be in its first item"
        );
        Some(Finding::new(Rule::MisplacedOption, place, message))
    }

    fn unknown(&self, value: &Value, marks: &Marks) -> Option<Finding> {
        let name = value.to_string();
        let all = StackStrategy::ALL.map(StackStrategy::name);
        if value.as_str().is_some() && all.contains(&&*name) {
            return None;
        }
        let place = self.content.place(marks.mark(), name.len()).0;
        let finding = Finding::new(
            Rule::UnknownStrategy,
            place,
            format!("unknown merge strategy '{name}'"),
        );
        Some(match meant(value) {
            Some(near) => finding.help(format!("did you mean '{near}'?")),
            None => finding.help(format!("it is one of {}", all.join(", "))),
        })
    }

    /// A key of dashes and underscores that holds the name of a strategy.
    fn misspelt_key(&self, key: &str, value: &Value, mark: Mark) -> Option<Finding> {
        let looks_like_it =
            !key.is_empty() && key.chars().all(|c| matches!(c, '_' | '-' | '.' | '*'));
        let near = meant(value).filter(|_| looks_like_it)?;
        let place = self.content.place(mark, key.len()).0;
        let message = format!("`{key}` is a key like any other, and its value lands in the pillar");
        let mut finding = Finding::new(Rule::UnknownStrategy, place, message);
        finding.level = Level::Warning;
        Some(finding.help(format!("did you mean `{STACK_MARKER}: {near}`?")))
    }
}

/// The strategy that a value names, or nearly does.
fn meant(value: &Value) -> Option<&'static str> {
    let name = value.as_str()?.trim().to_lowercase().replace('_', "-");
    let all = StackStrategy::ALL.map(StackStrategy::name);
    let is_it = |one: &&str| **one == *name;
    all.into_iter().find(is_it).or_else(|| nearest(&name, all))
}
