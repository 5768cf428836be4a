//! Changing data in the text of a file, so that all other lines stay as they are.
//!
//! Only block mappings and lists are edited from inside. Any other value is replaced as a whole, in its place. The
//! caller has to read the result back: aliases and merge keys can make it say something else.

use std::ops::Range;

use mapstack::value::{Key, Map, Value};
use mapstack::yaml::{DumpOptions, Mark, Marks, dump, load};

/// The text with other data in place of `old`, whose places are in `marks`; `None` if it cannot be edited.
pub(crate) fn edited(
    text: &str,
    old: &Value,
    marks: &Marks,
    new: &Value,
    options: &DumpOptions,
) -> Option<String> {
    // Other line breaks of YAML, and a byte order mark, would need columns of their own.
    let is_odd = |c| matches!(c, '\u{feff}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    if text.contains(is_odd) || text.replace("\r\n", "").contains('\r') {
        return None;
    }
    let mut editor = Editor::of(text, options);
    editor.inside(old, new, marks, editor.line_count())?;
    Some(editor.applied())
}

/// True if two values are the same but for the order of keys.
pub(crate) fn is_same_data(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Map(one), Value::Map(other)) => {
            let has = |(key, value): (&Key, &Value)| {
                let found = other.index_of(key).and_then(|index| other.entry_at(index));
                found.is_some_and(|(same, found)| {
                    key.to_value().is_same(&same.to_value()) && is_same_data(value, found)
                })
            };
            one.len() == other.len() && one.iter().all(has)
        }
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other.iter())
                    .all(|(one, other)| is_same_data(one, other))
        }
        _ => one.is_same(other),
    }
}

struct Editor<'t> {
    text: &'t str,
    options: &'t DumpOptions,
    /// The starts of lines, and the end of the text.
    starts: Vec<usize>,
    edits: Vec<(Range<usize>, String)>,
}

/// The place of an entry of a mapping or an item of a list.
#[derive(Clone, Copy)]
struct EntryPlace {
    /// Its first line, from 0.
    line: usize,
    /// The line behind it and the comments that follow it.
    limit: usize,
    /// The column of its key or dash, from 0.
    column: usize,
}

/// The text before a value: a key with its colon, or a dash.
struct EntryPrefix<'k> {
    /// The byte behind it.
    end: usize,
    /// The key.
    key: Option<&'k Key>,
}

impl<'t> Editor<'t> {
    fn of(text: &'t str, options: &'t DumpOptions) -> Self {
        let behind = text.match_indices('\n').map(|(at, _)| at + 1);
        let mut starts: Vec<usize> = std::iter::once(0).chain(behind).collect();
        if !text.ends_with('\n') {
            starts.push(text.len());
        }
        Editor {
            text,
            options,
            starts,
            edits: Vec::new(),
        }
    }

    fn line_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// A line without its end.
    fn line(&self, line: usize) -> &'t str {
        self.text[self.starts[line]..self.starts[line + 1]].trim_end_matches(['\r', '\n'])
    }

    /// The end of a line's text.
    fn line_end(&self, line: usize) -> usize {
        self.starts[line] + self.line(line).len()
    }

    /// The line of a mark, from 0, and its byte.
    fn position(&self, mark: Mark) -> Option<(usize, usize)> {
        let line = (mark.line as usize).checked_sub(1)?;
        if line >= self.line_count() {
            return None;
        }
        let column = Mark { line: 1, ..mark };
        let offset = column.offset(self.line(line));
        Some((line, self.starts[line] + offset))
    }

    /// Edit what is in a mapping or a list whose lines end before `limit`; if that cannot be, edit nothing.
    fn inside(&mut self, old: &Value, new: &Value, marks: &Marks, limit: usize) -> Option<()> {
        let before = self.edits.len();
        let done = match (old, new) {
            (Value::Map(old), Value::Map(new)) => self.map(old, new, marks, limit),
            (Value::List(old), Value::List(new)) => self.list(old, new, marks, limit),
            _ => None,
        };
        if done.is_none() {
            self.edits.truncate(before);
        }
        done
    }

    fn map(&mut self, old: &Map, new: &Map, marks: &Marks, limit: usize) -> Option<()> {
        if new.is_empty() {
            return None;
        }
        let spots = self.entries(old, marks, limit)?;
        for (index, ((key, value), spot)) in old.iter().zip(&spots).enumerate() {
            let inner = marks.child(index)?;
            match new.get(key) {
                Some(wanted) if is_same_data(value, wanted) => {}
                Some(wanted) => {
                    if self.inside(value, wanted, inner, spot.limit).is_none() {
                        let end = self.lead_end(*spot, key, inner)?;
                        let key = Some(key);
                        self.replace(*spot, &EntryPrefix { end, key }, value, inner, wanted)?;
                    }
                }
                None => {
                    // The first entry of an item is behind its dash.
                    if !is_blank(&self.line(spot.line)[..spot.column]) {
                        return None;
                    }
                    let end = self.end_of(value, inner, *spot);
                    self.edits
                        .push((self.starts[spot.line]..self.starts[end], String::new()));
                }
            }
        }
        let added = new.iter().filter(|(key, _)| !old.contains_key(*key));
        let added: Map = added
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if !added.is_empty() {
            let last = old.len() - 1;
            let (_, value) = old.entry_at(last)?;
            let end = self.end_of(value, marks.child(last)?, spots[last]);
            self.insert(end, spots[last].column, &added.into());
        }
        Some(())
    }

    /// The places of the entries of a block mapping, if each key has a line.
    fn entries(&self, map: &Map, marks: &Marks, limit: usize) -> Option<Vec<EntryPlace>> {
        let column = (marks.mark().column as usize).checked_sub(1)?;
        if marks.key(0)? != marks.mark() {
            return None;
        }
        let mut spots: Vec<EntryPlace> = Vec::new();
        for index in 0..map.len() {
            let mark = marks.key(index)?;
            let (line, _) = self.position(mark)?;
            let before = self.line(line).get(..column)?;
            let is_alone = match spots.last_mut() {
                None => before.bytes().all(|byte| matches!(byte, b' ' | b'-')),
                Some(last) => {
                    last.limit = line;
                    line > last.line && is_blank(before)
                }
            };
            if !is_alone || mark.column as usize != column + 1 || line >= limit {
                return None;
            }
            spots.push(EntryPlace {
                line,
                limit,
                column,
            });
        }
        Some(spots)
    }

    fn list(&mut self, old: &[Value], new: &[Value], marks: &Marks, limit: usize) -> Option<()> {
        if old.is_empty() || new.is_empty() {
            return None;
        }
        let spots = self.items(old, marks, limit)?;
        let same = |(old, new): &(&Value, &Value)| is_same_data(old, new);
        let head = old.iter().zip(new).take_while(same).count();
        let (old_rest, new_rest) = (&old[head..], &new[head..]);
        let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
        let tail = ends.take_while(same).count();
        let (gone, come) = (old_rest.len() - tail, new_rest.len() - tail);
        let paired = gone.min(come);
        for index in head..head + paired {
            let (value, wanted) = (&old[index], &new[index]);
            let (inner, spot) = (marks.child(index)?, spots[index]);
            if !is_same_data(value, wanted)
                && self.inside(value, wanted, inner, spot.limit).is_none()
            {
                let end = self.starts[spot.line] + spot.column + 1;
                self.replace(spot, &EntryPrefix { end, key: None }, value, inner, wanted)?;
            }
        }
        for index in head + paired..head + gone {
            let (inner, spot) = (marks.child(index)?, spots[index]);
            let end = self.end_of(&old[index], inner, spot);
            self.edits
                .push((self.starts[spot.line]..self.starts[end], String::new()));
        }
        let added = &new[head + paired..head + come];
        if !added.is_empty() {
            let at = match (head + paired).checked_sub(1) {
                Some(index) => self.end_of(&old[index], marks.child(index)?, spots[index]),
                None => spots[0].line,
            };
            self.insert(at, spots[0].column, &added.iter().cloned().collect());
        }
        Some(())
    }

    /// The places of the items of a block list, if each dash is the first on its line.
    fn items(&self, items: &[Value], marks: &Marks, limit: usize) -> Option<Vec<EntryPlace>> {
        let column = (marks.mark().column as usize).checked_sub(1)?;
        let has_dash = |line: usize| {
            let text = self.line(line);
            let behind = text.get(column..).and_then(|rest| rest.strip_prefix('-'));
            behind.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
                && is_blank(&text[..column])
        };
        let mut spots: Vec<EntryPlace> = Vec::new();
        for index in 0..items.len() {
            let (own, _) = self.position(marks.child(index)?.mark())?;
            let first = match spots.last() {
                None => self.position(marks.mark())?.0,
                Some(last) => last.line + 1,
            };
            let line = (first..=own).rev().find(|line| has_dash(*line))?;
            if line >= limit {
                return None;
            }
            if let Some(last) = spots.last_mut() {
                last.limit = line;
            }
            spots.push(EntryPlace {
                line,
                limit,
                column,
            });
        }
        Some(spots)
    }

    /// The byte behind the colon of an entry.
    fn lead_end(&self, spot: EntryPlace, key: &Key, marks: &Marks) -> Option<usize> {
        let start = self.starts[spot.line] + spot.column;
        let (line, value) = self.position(marks.mark())?;
        if line == spot.line {
            let lead = self.text.get(start..value)?.trim_end();
            return lead.ends_with(':').then_some(start + lead.len());
        }
        let whole = &self.text[start..self.line_end(spot.line)];
        ends(whole).find_map(|end| {
            let lead = whole[..end].trim_end();
            let alone = load(lead).ok()?;
            let is_key = alone.as_map()?.iter().all(|(own, _)| own == key);
            (is_key && lead.ends_with(':')).then_some(start + lead.len())
        })
    }

    /// Put another value behind a key or a dash.
    fn replace(
        &mut self,
        spot: EntryPlace,
        lead: &EntryPrefix<'_>,
        old: &Value,
        marks: &Marks,
        new: &Value,
    ) -> Option<()> {
        let (line, start) = self.position(marks.mark())?;
        if line < spot.line || line >= spot.limit || start < lead.end {
            return None;
        }
        let own_line = self.text.get(start..self.line_end(spot.line));
        let own_line = own_line.unwrap_or_default();
        let end = match line == spot.line {
            true => short_end(own_line, old).map(|end| start + end),
            false => None,
        };
        let (comment, until) = self.old_rest(spot, lead, old, marks, line, end);
        let comment = comment.trim_end();
        if !(comment.is_empty() || comment.trim_start().starts_with('#')) {
            return None;
        }
        let is_flow = end.is_some() && own_line.starts_with(['[', '{']);
        let text = self.value_text(lead, new, is_flow)?;
        let gap = match line == spot.line && text.starts_with(' ') {
            true => &self.text[lead.end..start],
            false => "",
        };
        let text = match gap.is_empty() {
            true => text,
            false => format!("{gap}{}", &text[1..]),
        };
        let text = commented(&text, comment, spot.column);
        self.push(lead.end..until, &text);
        Some(())
    }

    /// The comment behind a value that ends at `end`, or behind the key of one that starts on another line, and where
    /// the text of both ends.
    fn old_rest(
        &self,
        spot: EntryPlace,
        lead: &EntryPrefix<'_>,
        old: &Value,
        marks: &Marks,
        line: usize,
        end: Option<usize>,
    ) -> (&'t str, usize) {
        let first_end = self.line_end(spot.line);
        if let Some(end) = end {
            return (&self.text[end..first_end], first_end);
        }
        let until = self.line_end(self.end_of(old, marks, spot) - 1);
        match line == spot.line {
            true => ("", until),
            false => (&self.text[lead.end..first_end], until),
        }
    }

    /// The text of a value behind a key or a dash, without the last line break.
    fn value_text(&self, lead: &EntryPrefix<'_>, value: &Value, is_flow: bool) -> Option<String> {
        if is_flow && matches!(value, Value::Map(_) | Value::List(_)) {
            let flow = DumpOptions {
                flow: true,
                width: usize::MAX,
                final_break: false,
                ..self.options.clone()
            };
            return Some(format!(" {}", dump(value, &flow)));
        }
        let (whole, mark): (Value, &str) = match lead.key {
            Some(_) => (Map::from_iter([("k", value.clone())]).into(), "k:"),
            None => (std::iter::once(value.clone()).collect(), "-"),
        };
        let text = dump(&whole, self.options);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        text.strip_prefix(mark).map(str::to_owned)
    }

    /// Put entries or items before a line.
    fn insert(&mut self, line: usize, column: usize, value: &Value) {
        let at = self.starts[line];
        let text = indented(&dump(value, self.options), column);
        let text = match at == self.text.len() && !self.text.ends_with('\n') {
            true => format!("\n{}", text.trim_end_matches('\n')),
            false => text,
        };
        self.push(at..at, &text);
    }

    fn push(&mut self, range: Range<usize>, text: &str) {
        let text = match self.text.contains("\r\n") {
            true => text.replace('\n', "\r\n"),
            false => text.to_owned(),
        };
        self.edits.push((range, text));
    }

    /// The line behind the last one of a value; comments and blank lines behind it are not its own.
    fn end_of(&self, value: &Value, marks: &Marks, spot: EntryPlace) -> usize {
        let last = self.position(last_mark(value, marks));
        if let Some((line, start)) = last.filter(|(line, _)| (spot.line..spot.limit).contains(line))
            && self.text[start..].starts_with(['|', '>'])
        {
            return self.end_of_block(line, start, spot.limit);
        }
        let is_own = |line: &usize| {
            let text = self.line(*line).trim_start();
            !(text.is_empty() || text.starts_with('#'))
        };
        let lines = spot.line..spot.limit;
        lines.rev().find(is_own).unwrap_or(spot.line) + 1
    }

    /// The line behind a text after `|` or `>`, in which `#` does not start a comment.
    fn end_of_block(&self, line: usize, start: usize, limit: usize) -> usize {
        let indent = |line: usize| {
            let text = self.line(line);
            (!is_blank(text)).then(|| text.len() - text.trim_start_matches(' ').len())
        };
        let outer = indent(line).unwrap_or_default();
        let keeps = ["|+", ">+"]
            .iter()
            .any(|head| self.text[start..].starts_with(head));
        let mut inner = None;
        let mut end = line + 1;
        for next in line + 1..limit {
            match (indent(next), inner) {
                (None, _) if keeps => end = next + 1,
                (None, _) => {}
                (Some(own), None) if own > outer => {
                    inner = Some(own);
                    end = next + 1;
                }
                (Some(own), Some(inner)) if own >= inner => end = next + 1,
                _ => break,
            }
        }
        end
    }

    fn applied(mut self) -> String {
        // Stable: what is inserted at one place stays in order, inner mappings before outer ones.
        self.edits.sort_by_key(|(range, _)| range.start);
        let mut text = String::with_capacity(self.text.len());
        let mut at = 0;
        for (range, new) in &self.edits {
            text.push_str(self.text.get(at..range.start).unwrap_or_default());
            text.push_str(new);
            at = at.max(range.end);
        }
        text.push_str(&self.text[at..]);
        text
    }
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ')
}

/// The possible ends of the content of a line: before each `#` that may begin a comment, and at its end.
fn ends(line: &str) -> impl Iterator<Item = usize> {
    let comments = line.match_indices('#').map(|(at, _)| at);
    let comments = comments.filter(|at| *at == 0 || line[..*at].ends_with([' ', '\t']));
    comments.chain(std::iter::once(line.len()))
}

/// The end of a value on one line: where the text up to it reads as the value. A comment can follow.
fn short_end(line: &str, value: &Value) -> Option<usize> {
    let own = |end: usize| line[..end].trim_end();
    let is_value = |text: &str| load(text).is_ok_and(|read| is_same_data(&read, value));
    ends(line).map(own).find(|own| is_value(own)).map(str::len)
}

/// The mark of the last value in a value.
fn last_mark(value: &Value, marks: &Marks) -> Mark {
    let (mut value, mut marks) = (value, marks);
    loop {
        let last = match value {
            Value::Map(map) => map.values().next_back().map(|value| (value, map.len())),
            Value::List(items) => items.last().map(|value| (value, items.len())),
            _ => None,
        };
        match last.and_then(|(value, len)| Some((value, marks.child(len - 1)?))) {
            Some((inner, inner_marks)) => (value, marks) = (inner, inner_marks),
            None => return marks.mark(),
        }
    }
}

fn indented(text: &str, column: usize) -> String {
    let indent = " ".repeat(column);
    let line = |line: &str| match line.trim().is_empty() {
        true => line.to_owned(),
        false => format!("{indent}{line}"),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// The text of a value with the comment of the one before it: behind the key of a collection, or behind a scalar.
fn commented(text: &str, comment: &str, column: usize) -> String {
    match text.split_once('\n') {
        None => format!("{text}{comment}"),
        Some(("", rest)) => format!("{comment}\n{}", indented(rest, column)),
        Some((first, rest)) => format!("{first}\n{}{comment}", indented(rest, column)),
    }
}
