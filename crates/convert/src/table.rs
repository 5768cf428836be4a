//! Files of tables: an entry for each system, as text that keeps its comments.

use std::collections::HashSet;
use std::sync::Arc;

use mapstack::value::{Key, Value};
use mapstack::yaml::{Limits, Lines, load, load_marked};
use mapstack_salt_jinja::{Syntax, compile};

use crate::values::{HEADER, dedented, indented, lines_of, trimmed};

/// An entry of a table.
#[derive(Debug, Clone)]
pub(crate) struct TableRow {
    pub key: Key,
    pub block: Block,
}

/// The values of a layer as text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    /// The lines that a file with it begins with.
    pub header: Arc<str>,
    /// Statements of a template that it needs.
    pub preamble: String,
    /// The comments above it.
    pub comment: String,
    /// Its lines, which begin in the first column.
    pub body: String,
    /// Its data, unless a template computes it.
    pub value: Option<Value>,
    /// The text of the whole file, if it is the only one in it.
    pub whole: Option<String>,
    /// True if its keys replace those of the layers below, mappings too.
    pub overwrites: bool,
    /// The condition under which it counts, as an expression of a template.
    pub only_if: Option<String>,
}

impl TableRow {
    /// The same with the lines for editors that new files have, if it has none.
    pub fn with_header(mut self) -> Self {
        if self.block.header.is_empty() {
            self.block.header = HEADER.into();
        }
        self
    }
}

impl Block {
    /// A block of data.
    pub fn of_value(value: &Value) -> Self {
        Block {
            body: lines_of(value),
            value: Some(value.clone()),
            header: HEADER.into(),
            ..Block::default()
        }
    }

    /// True if it has no values.
    pub fn is_empty(&self) -> bool {
        match &self.value {
            Some(Value::None) => true,
            Some(Value::Map(map)) => map.is_empty(),
            Some(_) => false,
            None => self.body.lines().all(|line| {
                let line = line.trim();
                line.is_empty() || line.starts_with('#') || line == "{}"
            }),
        }
    }

    /// True if it is a mapping, or may be one.
    pub fn is_mapping(&self) -> bool {
        matches!(&self.value, None | Some(Value::None | Value::Map(_)))
    }

    /// The file of a layer.
    pub fn file(&self) -> String {
        if let (Some(whole), false) = (&self.whole, self.overwrites) {
            return whole.clone();
        }
        let body = match self.is_empty() {
            true => "values: {}\n".to_owned(),
            false => format!("values:\n{}", indented(&self.body, 2)),
        };
        let (header, comment) = (&self.header, &self.comment);
        let preamble = match uses(&self.body, &self.preamble) {
            true => &*self.preamble,
            false => "",
        };
        let body = match &self.only_if {
            Some(only_if) => {
                format!(
                    "# Only for systems without an entry of their own\n{{%- if {only_if} %}}\n{body}{{%- else %}}\nvalues: {{}}\n{{%- endif %}}\n"
                )
            }
            None => body,
        };
        let strategy = match self.overwrites {
            true => "strategy: overwrite\n",
            false => "",
        };
        format!("{header}{preamble}---\n{strategy}{comment}{body}")
    }

    /// The same where a condition holds. Its values are those of a template then.
    pub fn only_if(self, condition: String) -> Self {
        Block {
            value: None,
            whole: None,
            only_if: Some(condition),
            ..self
        }
    }

    /// The same below keys.
    pub fn below(mut self, keys: &[String]) -> Self {
        for key in keys.iter().rev() {
            self.body = format!("{key}:\n{}", indented(&self.body, 2));
            self.value = self
                .value
                .map(|value| Value::from(mapstack::value::Map::from_iter([(key.as_str(), value)])));
            self.whole = None;
        }
        self
    }
}

/// True if a template uses a name that statements before it mention.
fn uses(body: &str, preamble: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|c| !is_name(c)).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let set: HashSet<String> = words(preamble)
        .into_iter()
        .filter(|word| {
            ["set", "as", "import", "macro"]
                .iter()
                .any(|tag| preamble.contains(&format!("{tag} {word}")))
        })
        .collect();
    Syntax::has_marks(body) && !words(body).is_disjoint(&set)
}

/// The entries of a file; why it cannot be taken apart.
pub(crate) fn rows(text: &str) -> Result<Vec<TableRow>, String> {
    match Syntax::has_marks(text) {
        true => rows_of_template(text),
        false => rows_of_data(text),
    }
}

/// The file as one block.
pub(crate) fn whole(text: &str) -> Result<Block, String> {
    let all = rows(text)?;
    let is_top = |line: &&str| line.starts_with("---") || line.starts_with("...");
    let first = text.lines().position(|line| line.starts_with("---"));
    let body = text
        .lines()
        .skip(first.map_or(0, |at| at + 1))
        .filter(|line| !is_top(line));
    let body: String = body.map(|line| format!("{line}\n")).collect();
    let header = all
        .first()
        .map_or_else(|| HEADER.into(), |row| row.block.header.clone());
    let value = match Syntax::has_marks(text) {
        true => None,
        false => load(text).ok(),
    };
    Ok(Block {
        header,
        body: trimmed(&body),
        value,
        ..Block::default()
    })
}

fn rows_of_data(text: &str) -> Result<Vec<TableRow>, String> {
    let (value, marks) =
        load_marked(text, &Limits::default()).map_err(|e| format!("it is not YAML: {e}"))?;
    let map = match &value {
        Value::Map(map) => map,
        Value::None => return Ok(Vec::new()),
        _ => return Err("it is not a mapping".into()),
    };
    let positions = Lines::of(text);
    let line_of = |at: usize| {
        marks
            .key(at)
            .map(|mark| positions.line(positions.offset(text, mark)) - 1)
    };
    let starts: Option<Vec<usize>> = (0..map.len()).map(line_of).collect();
    let starts = starts.filter(|starts| starts.is_sorted_by(|a, b| a < b));
    let Some(starts) = starts else {
        let whole = |(key, value): (&Key, &Value)| TableRow {
            key: key.clone(),
            block: Block::of_value(value),
        };
        return Ok(map.iter().map(whole).collect());
    };
    let parts = TableLines::of(text, starts);
    let row = |(at, (key, value)): (usize, (&Key, &Value))| {
        let body = dedented(&trimmed(&parts.body(at)));
        let keeps = load(&body).is_ok_and(|read| read.is_same(value));
        let block = Block {
            comment: parts.comment(at),
            body: match keeps {
                true => body,
                false => lines_of(value),
            },
            value: Some(value.clone()),
            header: parts.header(),
            whole: (map.len() == 1)
                .then(|| parts.with_values(text.ends_with('\n')))
                .filter(|whole| has_values(whole, value)),
            ..Block::default()
        };
        TableRow {
            key: key.clone(),
            block,
        }
    };
    Ok(map.iter().enumerate().map(row).collect())
}

fn rows_of_template(text: &str) -> Result<Vec<TableRow>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_key = |line: &str| {
        let first = line.chars().next();
        first.is_some_and(|c| !matches!(c, ' ' | '#' | '{' | '}' | '-' | '.' | '%' | '\t'))
            && line.contains(':')
    };
    let starts: Vec<usize> = (0..lines.len()).filter(|at| is_key(lines[*at])).collect();
    let Some(first) = starts.first().copied() else {
        return Err("a template computes its keys".into());
    };
    let before = lines[..first]
        .iter()
        .filter(|line| !line.starts_with("---"));
    let is_statement = |line: &&&str| !line.starts_with('#') && !line.trim().is_empty();
    let preamble: String = before
        .filter(is_statement)
        .map(|line| format!("{line}\n"))
        .collect();
    if compile(None, preamble.as_str().into(), &Syntax::default()).is_err() {
        return Err("a statement of its template spans several entries".into());
    }
    let parts = TableLines::of(text, starts);
    let all = (0..parts.starts.len()).map(|at| parts.row_of_template(at, &preamble));
    let mut rows = all.collect::<Result<Vec<TableRow>, String>>()?;
    if let [row] = &mut rows[..]
        && row.block.value.is_none()
    {
        row.block.whole = Some(parts.with_values(text.ends_with('\n')));
    }
    Ok(rows)
}

/// The lines of a file, and where its entries begin.
struct TableLines<'t> {
    lines: Vec<&'t str>,
    starts: Vec<usize>,
}

impl<'t> TableLines<'t> {
    fn of(text: &'t str, starts: Vec<usize>) -> Self {
        TableLines {
            lines: text.lines().collect(),
            starts,
        }
    }

    /// An entry of a template. What stands on the line of its key is data.
    fn row_of_template(&self, at: usize, preamble: &str) -> Result<TableRow, String> {
        let line = self.lines[self.starts[at]];
        let (key, rest) = line.split_once(':').unwrap_or((line, ""));
        let key = load(&format!("{key}: 0")).ok();
        let key = key.and_then(|value| value.as_map()?.keys().next().cloned());
        let key = key.ok_or_else(|| format!("a template computes the key in `{line}`"))?;
        let rest = rest.trim();
        let is_inline = !rest.is_empty() && !rest.starts_with('#');
        let raw = match is_inline {
            true => format!("{rest}\n"),
            false => dedented(&trimmed(&self.body(at))),
        };
        let alone = format!("{preamble}{raw}");
        if compile(None, alone.as_str().into(), &Syntax::default()).is_err() {
            return Err(format!(
                "a statement of its template spans several entries, `{key}` among them"
            ));
        }
        let value = match Syntax::has_marks(&raw) {
            true if is_inline => {
                return Err(format!("a template computes the whole entry `{line}`"));
            }
            true => None,
            false => Some(load(&raw).map_err(|e| format!("it is not YAML: {e}"))?),
        };
        let body = match (&value, is_inline) {
            (Some(value), true) => lines_of(value),
            _ => raw,
        };
        let block = Block {
            header: self.header(),
            preamble: preamble.to_owned(),
            comment: self.comment(at),
            body,
            value,
            whole: None,
            overwrites: false,
            only_if: None,
        };
        Ok(TableRow { key, block })
    }

    /// The first of the comment lines directly above an entry.
    fn begin(&self, at: usize) -> usize {
        let Some(start) = self.starts.get(at) else {
            return self.lines.len();
        };
        let floor = match at {
            0 => 0,
            at => self.starts[at - 1] + 1,
        };
        let mut begin = *start;
        while begin > floor && self.lines[begin - 1].starts_with('#') {
            begin -= 1;
        }
        begin
    }

    /// The lines of an entry after that of its key.
    fn body(&self, at: usize) -> String {
        let begin = self.starts[at] + 1;
        let end = self.begin(at + 1).max(begin);
        let ends = |line: &&&str| !line.starts_with("...");
        let lines = self.lines[begin..end].iter().take_while(ends);
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// The comment above an entry, without that of the file.
    fn comment(&self, at: usize) -> String {
        let lines = &self.lines[self.begin(at)..self.starts[at]];
        // Comments at the top are about the file.
        let is_top = at == 0 && self.begin(at) == 0;
        match is_top {
            true => String::new(),
            false => lines.iter().map(|line| format!("{line}\n")).collect(),
        }
    }

    /// The lines for editors at the top.
    fn header(&self) -> Arc<str> {
        let is_mode =
            |line: &&&str| line.starts_with('#') && (line.contains("-*-") || line.contains("vim:"));
        let modes = self.lines.iter().take(4).filter(is_mode);
        modes
            .map(|line| format!("{line}\n"))
            .collect::<String>()
            .into()
    }

    /// The whole file, with `values` in place of its only key.
    fn with_values(&self, is_ended: bool) -> String {
        let start = self.starts.first().copied().unwrap_or_default();
        let line = |(at, line): (usize, &&str)| match at == start {
            true => {
                let rest = line.split_once(':').map_or("", |(_, rest)| rest);
                format!("values:{rest}\n")
            }
            false => format!("{line}\n"),
        };
        let mut text: String = self.lines.iter().enumerate().map(line).collect();
        // A block scalar at the end has no line break where the file has none.
        if !is_ended {
            text.pop();
        }
        text
    }
}

/// True if a file has some values.
fn has_values(text: &str, values: &Value) -> bool {
    let read = load(text).ok();
    let read = read.as_ref().and_then(Value::as_map);
    read.and_then(|map| map.get("values"))
        .is_some_and(|read| read.is_same(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_lines() {
        let text = "# -*- coding: utf-8 -*-\n# vim: ft=yaml\n---\n\
            # Of Debian\nDebian:\n    # the package\n    pkg: a  # yes\n\n    list:\n      - 1\n\
            # Of others\nRedHat: {pkg: b}\nSuse: {}\n...\n";
        let rows = rows(text).unwrap();
        let files: Vec<String> = rows.iter().map(|row| row.block.file()).collect();
        let header = "# -*- coding: utf-8 -*-\n# vim: ft=yaml\n---\n";
        assert_eq!(
            files,
            [
                format!(
                    "{header}# Of Debian\nvalues:\n  # the package\n  pkg: a  # yes\n\n  list:\n    - 1\n"
                ),
                format!("{header}# Of others\nvalues:\n  pkg: b\n"),
                format!("{header}values: {{}}\n"),
            ]
        );
        assert!(rows[2].block.is_empty() && !rows[0].block.is_empty());
    }

    #[test]
    fn the_only_entry_is_its_file() {
        let text = "# about\n---\nntp:  # all of it\n  a: 1\n  b: {{ grains.id }}\n...\n";
        let rows = rows(text).unwrap();
        assert_eq!(rows[0].block.file(), text.replace("ntp:", "values:"));
    }

    #[test]
    fn aliases_are_written_out() {
        let rows = rows("A: &a\n  x: 1\nB: *a\nC:\n  <<: *a\n  y: 2\n").unwrap();
        let bodies: Vec<&str> = rows.iter().map(|row| &*row.block.body).collect();
        assert_eq!(bodies, ["x: 1\n", "x: 1\n", "x: 1\ny: 2\n"]);
    }

    #[test]
    fn templates_are_taken_apart_between_their_statements() {
        let text = "{% set v = 1 %}\nA:\n  x: {{ v }}\nB:\n  {% if v %}\n  y: 1\n  {% endif %}\nC: {z: 1}\n";
        let all = rows(text).unwrap();
        assert_eq!(
            all[0].block.file(),
            "{% set v = 1 %}\n---\nvalues:\n  x: {{ v }}\n"
        );
        assert_eq!(all[1].block.body, "{% if v %}\ny: 1\n{% endif %}\n");
        assert_eq!(all[2].block.file(), "---\nvalues:\n  z: 1\n");
        rows("{% if a %}\nA:\n  x: 1\n{% endif %}\n").unwrap_err();
        rows("{{ a }}: {x: 1}\n").unwrap_err();
    }
}
