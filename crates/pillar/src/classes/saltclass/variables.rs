//! References such as `${app:port}` to other values (Salt: `expand_variables`).
//!
//! Values are looked up as they are at the time, so what a reference comes to depends on the order of the values. Only
//! text can be put into text.

use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_pyobject::{DictRef, Entries, ListRef, Obj, equal};
use mapstack_value::{Key, Str};

use super::objects::{described, plain};
use crate::classes::Host;

/// A text with its references is so long at most.
const MAX_TEXT: usize = 1 << 20;

/// Pillars nest this deep at most.
const MAX_DEPTH: usize = 256;

/// The expansion of the references in one pillar.
pub struct Variables<'h> {
    host: &'h dyn Host<Obj>,
    /// The result: the mapping at the top is a copy, and all inside is shared with the original.
    whole: DictRef,
}

impl<'h> Variables<'h> {
    pub fn new(host: &'h dyn Host<Obj>) -> Self {
        let whole = DictRef::new(Entries::default());
        Variables { host, whole }
    }

    /// The pillar with its references expanded.
    pub fn expanded(mut self, pillars: &DictRef) -> Result<DictRef> {
        self.whole = DictRef::new(pillars.entries().into_iter().collect());
        self.inside(pillars, 0)?;
        Ok(self.whole)
    }

    fn inside(&self, dict: &DictRef, depth: usize) -> Result<()> {
        too_deep(depth)?;
        for key in dict.keys() {
            self.host.spend(1)?;
            match dict.get(&key) {
                Some(Obj::Dict(inner)) => self.inside(&inner, depth + 1)?,
                Some(Obj::List(items)) => self.items(&items, depth)?,
                Some(Obj::Str(text)) => self.text(&text, Some(&text))?,
                _ => {}
            }
        }
        Ok(())
    }

    fn items(&self, items: &ListRef, depth: usize) -> Result<()> {
        let mut at = 0;
        while let Some(item) = items.get(at) {
            match item {
                Obj::Dict(inner) => self.inside(&inner, depth + 1)?,
                Obj::Str(text) => self.text(&text, None)?,
                _ => {}
            }
            at += 1;
        }
        Ok(())
    }

    /// Replace a text everywhere by what its references come to (Salt: `find_and_process_re`). `value` is the text
    /// of an entry, not of an item of a list.
    fn text(&self, text: &Str, value: Option<&Str>) -> Result<()> {
        let mut current = text.clone();
        let mut value = value.cloned();
        for reference in references(text) {
            if let Some(escaped) = reference.strip_prefix('\\') {
                let new = current.replace(reference, escaped.trim_start_matches('\\'));
                // The rest of the text is not found from now on, as in the reference.
                self.replace(&self.whole, &current, &new.into(), 0)?;
                continue;
            }
            let (name, source) = match reference.strip_prefix('$') {
                Some(_) => (reference, value.as_ref().unwrap_or(&current)),
                None => (after_first(reference), &current),
            };
            let found = self.found(name, text)?;
            let size = source.len() + source.matches(name).count() * found.len();
            if size > MAX_TEXT {
                return Err(too_long(name));
            }
            let new: Str = source.replace(name, &found).into();
            self.replace(&self.whole, &current, &new, 0)?;
            if reference.starts_with('$') {
                value = Some(new.clone());
            }
            current = new;
        }
        Ok(())
    }

    /// The text of a reference's target; itself, if nothing is there (Salt: `find_value_to_expand`).
    fn found(&self, reference: &str, text: &str) -> Result<Str> {
        let itself = || Ok(Str::from(reference));
        let name = reference.get(2..reference.len() - 1).unwrap_or_default();
        let mut found = Obj::Dict(self.whole.clone());
        for step in name.split(':') {
            self.host.spend(1)?;
            found = match found {
                Obj::None => return itself(),
                Obj::Dict(dict) => match dict.get(&Key::from(step)) {
                    Some(found) => found,
                    None => return itself(),
                },
                Obj::Str(inner) if !inner.contains(step) => return itself(),
                Obj::List(items) if !holds(&items, step)? => return itself(),
                other => {
                    let message = format!(
                        "{reference} leads into {}, which has no keys",
                        described(&other)
                    );
                    return Err(self.wrong(&message, text));
                }
            };
        }
        match found {
            Obj::Str(found) => Ok(found),
            other => {
                let message = format!(
                    "{reference} is {}, and only text can be put into text",
                    described(&other)
                );
                Err(self
                    .wrong(&message, text)
                    .help("quote the value it refers to, or write it here once more"))
            }
        }
    }

    /// An error about a reference in a text.
    fn wrong(&self, message: &str, text: &str) -> Error {
        let shown: String = text.chars().take(60).collect();
        Error::new(ErrorKind::DataSource, message)
            .at(self.host.place_of_text(text))
            .note(format!("in the text {}", mapstack_value::quote_str(&shown)))
    }

    /// Put a text in place of another everywhere (Salt: `dict_search_and_replace`), but in lists of lists.
    fn replace(&self, dict: &DictRef, old: &Str, new: &Str, depth: usize) -> Result<()> {
        too_deep(depth)?;
        for (key, value) in dict.entries() {
            self.host.spend(1)?;
            match value {
                Obj::Dict(inner) => self.replace(&inner, old, new, depth + 1)?,
                Obj::List(items) => {
                    for (at, item) in items.items().into_iter().enumerate() {
                        self.host.spend(1)?;
                        match item {
                            Obj::Dict(inner) => self.replace(&inner, old, new, depth + 1)?,
                            Obj::Str(text) if text == *old => {
                                items.change(|items| items[at] = Obj::Str(new.clone()));
                            }
                            _ => {}
                        }
                    }
                }
                Obj::Str(text) if text == *old => dict.insert(key, Obj::Str(new.clone())),
                _ => {}
            }
        }
        Ok(())
    }
}

/// True if a list has a text as an item.
fn holds(items: &ListRef, step: &str) -> Result<bool> {
    let step = Obj::from(step);
    for item in items.items() {
        if equal(&item, &step).map_err(|e| plain(&e))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn after_first(text: &str) -> &str {
    let mut rest = text.chars();
    rest.next();
    rest.as_str()
}

/// The matches of `(^|.)\$\{.*?\}`: references with the character before, if they do not begin the text.
fn references(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("${").map(|start| at + start) {
        let before = text[at..start]
            .chars()
            .next_back()
            .filter(|before| *before != '\n');
        let end = text[start..].find(['}', '\n']).map(|end| start + end);
        let Some(end) = end.filter(|end| text.as_bytes()[*end] == b'}') else {
            // Its line has no brace; the next one may.
            at = start + 1;
            continue;
        };
        let first = match before {
            Some(before) => start - before.len_utf8(),
            None if start == 0 => 0,
            // The one before ends here, or a line begins here.
            None => {
                at = start + 1;
                continue;
            }
        };
        found.push(&text[first..=end]);
        at = end + 1;
    }
    found
}

fn too_deep(depth: usize) -> Result<()> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    let message = format!("the pillars of the classes are nested deeper than {MAX_DEPTH}");
    Err(Error::new(ErrorKind::Limit, message).help("does a template put the pillar into itself?"))
}

fn too_long(reference: &str) -> Error {
    let message = format!("a text with {reference} in it becomes longer than {MAX_TEXT} bytes");
    Error::new(ErrorKind::Limit, message).help("do references double a text again and again?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_as_the_expression_finds_them() {
        assert_eq!(references("${a}"), ["${a}"]);
        assert_eq!(references("x${a}y${b:c}"), ["x${a}", "y${b:c}"]);
        assert_eq!(references(r"\${a}"), [r"\${a}"]);
        assert_eq!(references("$${a}"), ["$${a}"]);
        // A reference right behind another has no character before it.
        assert_eq!(references("${a}${b} ${c}"), ["${a}", " ${c}"]);
        assert_eq!(references("x\n${a}"), [""; 0]);
        assert_eq!(references("é${a\n} ${b}"), [" ${b}"]);
        assert_eq!(references("${a"), [""; 0]);
        assert_eq!(references("${${a}}"), ["${${a}"]);
    }
}
