//! `slsutil.deserialize('configparser', …)`: a configuration file as Python's `configparser` reads it (Salt:
//! `salt.serializers.configparser`).

use std::collections::HashSet;

use indexmap::IndexMap;
use mapstack_pyobject::{Error, Result};
use mapstack_value::{Map, Value};

use super::DEFAULT;

/// Names in lower case and texts, in order.
type Entries = IndexMap<String, String>;

/// References inside each other.
const MAX_DEPTH: usize = 10;

/// The sections of a text, with the entries of `DEFAULT` ahead of their own, and references replaced. `spend` is asked
/// for each piece of text that is copied.
///
/// # Errors
/// `DeserializationError` for a line that does not belong in such a file, for duplicates, and for a reference that leads
/// nowhere. Errors of `spend`.
pub(crate) fn deserialize(text: &str, spend: &dyn Fn(usize) -> Result<()>) -> Result<Map> {
    let Sections { defaults, named } = read(text)?;
    let mut data = Map::new();
    for (name, own) in named {
        let mut entries = defaults.clone();
        entries.extend(own);
        let mut section = Map::new();
        for (key, value) in &entries {
            let mut made = String::new();
            let references = References {
                entries: &entries,
                key,
                section: &name,
                spend,
            };
            references.expand(value, &mut made, 1)?;
            section.insert(key.as_str(), made);
        }
        spend(entries.len())?;
        data.insert(name, section);
    }
    Ok(data)
}

#[derive(Default)]
struct Sections {
    defaults: Entries,
    named: IndexMap<String, Entries>,
}

/// The section and option that the lines so far are about.
#[derive(Default)]
struct ReaderState {
    sections: Sections,
    /// The present section.
    section: Option<String>,
    /// The present entry, which further lines can belong to, and its lines.
    entry: Option<(String, Vec<String>)>,
    indent: usize,
    seen: HashSet<(String, Option<String>)>,
    /// The first line that is not one of a file. Errors of other kinds come first.
    bad: Option<String>,
}

fn read(text: &str) -> Result<Sections> {
    let mut state = ReaderState::default();
    for (number, line) in (1..).zip(text.split('\n')) {
        state.line(number, line)?;
    }
    state.end_entry();
    match state.bad {
        None => Ok(state.sections),
        Some(bad) => Err(refused(bad)),
    }
}

impl ReaderState {
    fn line(&mut self, number: usize, line: &str) -> Result<()> {
        let value = line.trim();
        if value.starts_with(['#', ';']) {
            return Ok(());
        }
        if value.is_empty() {
            if let Some((_, lines)) = &mut self.entry {
                lines.push(String::new());
            }
            return Ok(());
        }
        let indent = line.chars().take_while(|c| c.is_whitespace()).count();
        if let Some((_, lines)) = &mut self.entry
            && indent > self.indent
        {
            lines.push(value.to_owned());
            return Ok(());
        }
        self.indent = indent;
        if let Some(name) = header(value) {
            return self.begin_section(number, name);
        }
        if self.section.is_none() {
            let line = Value::from(line).repr();
            return Err(refused(format!(
                "File contains no section headers: line {number}: {line}"
            )));
        }
        let Some((name, value)) = value.split_once(['=', ':']) else {
            self.bad(number, line);
            return Ok(());
        };
        if name.is_empty() {
            self.bad(number, line);
        }
        self.begin_entry(number, name, value)
    }

    fn bad(&mut self, number: usize, line: &str) {
        let line = Value::from(line).repr();
        let message = format!("Source contains parsing errors: line {number}: {line}");
        self.bad.get_or_insert(message);
    }

    fn begin_section(&mut self, number: usize, name: &str) -> Result<()> {
        self.end_entry();
        self.section = Some(name.to_owned());
        if name == DEFAULT {
            return Ok(());
        }
        if !self.seen.insert((name.to_owned(), None)) {
            return Err(refused(format!(
                "line {number}: section '{name}' already exists"
            )));
        }
        self.sections.named.entry(name.to_owned()).or_default();
        Ok(())
    }

    fn begin_entry(&mut self, number: usize, name: &str, value: &str) -> Result<()> {
        self.end_entry();
        let section = self.section.clone().unwrap_or_default();
        let name = name.trim_end().to_lowercase();
        if !self.seen.insert((section.clone(), Some(name.clone()))) {
            return Err(refused(format!(
                "line {number}: option '{name}' in section '{section}' already exists"
            )));
        }
        // An entry without a name takes no further lines.
        match name.is_empty() {
            true => self.keep(name, value.trim().to_owned()),
            false => self.entry = Some((name, vec![value.trim().to_owned()])),
        }
        Ok(())
    }

    fn end_entry(&mut self) {
        if let Some((name, lines)) = self.entry.take() {
            let value = lines.join("\n");
            self.keep(name, value.trim_end().to_owned());
        }
    }

    fn keep(&mut self, name: String, value: String) {
        let section = self.section.as_deref().unwrap_or_default();
        let entries = match section {
            DEFAULT => &mut self.sections.defaults,
            section => self.sections.named.entry(section.to_owned()).or_default(),
        };
        entries.insert(name, value);
    }
}

/// The name in `[name]`, up to the last bracket.
fn header(value: &str) -> Option<&str> {
    let (name, _) = value.strip_prefix('[')?.rsplit_once(']')?;
    (!name.is_empty()).then_some(name)
}

/// The targets of references in a value.
struct References<'r> {
    entries: &'r Entries,
    key: &'r str,
    section: &'r str,
    spend: &'r dyn Fn(usize) -> Result<()>,
}

impl References<'_> {
    fn expand(&self, mut rest: &str, made: &mut String, depth: usize) -> Result<()> {
        (self.spend)(1 + rest.len() / 16)?;
        if depth > MAX_DEPTH {
            return Err(self.refused("references lead to each other too deeply"));
        }
        while let Some(at) = rest.find('%') {
            made.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(behind) = rest.strip_prefix('%') {
                made.push('%');
                rest = behind;
                continue;
            }
            let Some(name) = rest.strip_prefix('(') else {
                return Err(self.refused("'%' must be followed by '%' or '('"));
            };
            let reference = name.split_once(")s");
            // A name has no bracket, and at least one character.
            let Some((name, behind)) =
                reference.filter(|(name, _)| !name.is_empty() && !name.contains(')'))
            else {
                return Err(self.refused("bad interpolation variable reference"));
            };
            rest = behind;
            let name = name.to_lowercase();
            let Some(value) = self.entries.get(&name) else {
                return Err(self.refused(&format!("there is no option '{name}'")));
            };
            self.expand(value, made, depth + 1)?;
        }
        made.push_str(rest);
        Ok(())
    }

    fn refused(&self, problem: &str) -> Box<Error> {
        refused(format!(
            "option '{}' in section '{}': {problem}",
            self.key, self.section
        ))
    }
}

fn refused(message: impl Into<String>) -> Box<Error> {
    Error::python("DeserializationError", message.into())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn references_that_multiply_are_paid_for() {
        let mut text = "[a]\nx0 = 0123456789\n".to_owned();
        for n in 1..9 {
            let doubled = format!("%(x{})s", n - 1).repeat(10);
            text.push_str(&format!("x{n} = {doubled}\n"));
        }
        let left = Cell::new(10_000_usize);
        let spend = |steps: usize| match left.get().checked_sub(steps) {
            Some(rest) => {
                left.set(rest);
                Ok(())
            }
            None => Err(Error::limit("steps")),
        };
        assert_eq!(deserialize(&text, &spend).unwrap_err().message, "steps");
    }
}
