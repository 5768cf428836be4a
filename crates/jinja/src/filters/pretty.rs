//! Python's `pprint.pformat`, 80 columns wide.

use std::cmp::Ordering;

use mapstack_pyobject::{ErrorKind, Obj, Result, depth, methods, order, repr};
use mapstack_value::{Key, MapKind};

use super::call::{class_of, method, plain, room};
use crate::dialect::Filters;
use crate::vm::Vm;

pub(super) const TABLE: Filters = &[("pprint", |vm, x, args| {
    plain("do_pprint", "value").alone(args)?;
    pformat(vm, &x).map(Obj::from)
})];

const WIDTH: isize = 80;

/// `pprint.pformat(x)`.
///
/// # Errors
/// The exception of `repr()` of a part; limit errors.
pub fn pformat(vm: &Vm<'_>, x: &Obj) -> Result<String> {
    let mut printer = Printer {
        vm,
        out: String::new(),
        open: Vec::new(),
    };
    printer.format(x, 0, 0, 0)?;
    Ok(printer.out)
}

struct Printer<'v> {
    vm: &'v Vm<'v>,
    out: String,
    /// The containers being printed.
    open: Vec<usize>,
}

impl Printer<'_> {
    fn format(&mut self, x: &Obj, indent: isize, allowance: isize, level: isize) -> Result<()> {
        depth::objects(usize::try_from(level).unwrap_or(0), depth::DATA, "")?;
        let identity = identity(x);
        if identity.is_some_and(|id| self.open.contains(&id)) {
            self.out.push_str(&recursion(x));
            return Ok(());
        }
        let flat = self.flat(x, level)?;
        methods::limit::size(self.vm, self.out.len().saturating_add(flat.len()))?;
        if columns(&flat) <= WIDTH - indent - allowance {
            self.out.push_str(&flat);
            return Ok(());
        }
        self.open.extend(identity);
        let level = level + 1;
        match x {
            Obj::Dict(dict) if !dict.kind().is_ordered() => {
                self.out.push('{');
                self.entries(
                    &sorted_entries(dict.entries())?,
                    indent,
                    allowance + 1,
                    level,
                )?;
                self.out.push('}');
            }
            Obj::Dict(dict) if dict.kind() == MapKind::Ordered && !dict.is_empty() => {
                self.out.push_str("OrderedDict(");
                let pairs: Vec<Obj> = dict
                    .entries()
                    .into_iter()
                    .map(|(k, v)| Obj::tuple([Obj::from(&k), v]))
                    .collect();
                self.format(&Obj::list(pairs), indent + 12, allowance + 1, level)?;
                self.out.push(')');
            }
            Obj::List(list) => self.items(&list.items(), "[", "]", indent, allowance, level)?,
            Obj::Tuple(items) => {
                let end = if items.len() == 1 { ",)" } else { ")" };
                self.items(items, "(", end, indent, allowance, level)?;
            }
            Obj::Set(set) if !set.is_empty() => {
                let keys = sorted_keys(set.read(|s| s.iter().cloned().collect()))?;
                let items: Vec<Obj> = keys.iter().map(Obj::from).collect();
                self.items(&items, "{", "}", indent, allowance, level)?;
            }
            Obj::Str(_) => self.text(x, indent, allowance, level)?,
            Obj::Bytes(bytes) if bytes.len() > 4 => self.bytes(bytes, indent, allowance, level)?,
            _ => self.out.push_str(&flat),
        }
        if identity.is_some() {
            self.open.pop();
        }
        Ok(())
    }

    fn break_line(&mut self, indent: isize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(
            ' ',
            usize::try_from(indent).unwrap_or(0),
        ));
    }

    fn entries(
        &mut self,
        entries: &[(Key, Obj)],
        indent: isize,
        allowance: isize,
        level: isize,
    ) -> Result<()> {
        let indent = indent + 1;
        for (i, (key, value)) in entries.iter().enumerate() {
            let last = i + 1 == entries.len();
            let key = self.flat(&Obj::from(key), level)?;
            self.out.push_str(&key);
            self.out.push_str(": ");
            self.format(
                value,
                indent + columns(&key) + 2,
                if last { allowance } else { 1 },
                level,
            )?;
            if !last {
                self.out.push(',');
                self.break_line(indent);
            }
        }
        Ok(())
    }

    fn items(
        &mut self,
        items: &[Obj],
        begin: &str,
        end: &str,
        indent: isize,
        allowance: isize,
        level: isize,
    ) -> Result<()> {
        self.out.push_str(begin);
        let allowance = allowance + columns(end);
        for (i, item) in items.iter().enumerate() {
            let last = i + 1 == items.len();
            if i > 0 {
                self.out.push(',');
                self.break_line(indent + 1);
            }
            self.format(item, indent + 1, if last { allowance } else { 1 }, level)?;
        }
        self.out.push_str(end);
        Ok(())
    }

    /// Long text as several literals, one for each line and as many words as fit.
    fn text(&mut self, x: &Obj, indent: isize, allowance: isize, level: isize) -> Result<()> {
        let outermost = level == 1;
        let (indent, allowance) = if outermost {
            (indent + 1, allowance + 1)
        } else {
            (indent, allowance)
        };
        let lines = method(self.vm, x, "splitlines", [Obj::Bool(true)])?.collect(self.vm)?;
        let width = WIDTH - indent;
        let mut pieces: Vec<String> = Vec::new();
        for (i, line) in lines.iter().enumerate() {
            let last_line = i + 1 == lines.len();
            let quoted = repr(line)?;
            if columns(&quoted) <= if last_line { width - allowance } else { width } {
                pieces.push(quoted);
                continue;
            }
            let words = words(line.as_str().map_or("", |l| l));
            let mut current = String::new();
            for (j, word) in words.iter().enumerate() {
                let very_last = last_line && j + 1 == words.len();
                let candidate = format!("{current}{word}");
                self.vm.burn(1 + candidate.len() / 16)?;
                let width = if very_last { width - allowance } else { width };
                if columns(&mapstack_value::quote_str(&candidate)) > width {
                    if !current.is_empty() {
                        pieces.push(mapstack_value::quote_str(&current));
                    }
                    current = (*word).to_string();
                } else {
                    current = candidate;
                }
            }
            if !current.is_empty() {
                pieces.push(mapstack_value::quote_str(&current));
            }
        }
        let parentheses = outermost && pieces.len() > 1;
        self.wrapped(&pieces, indent, parentheses);
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8], indent: isize, allowance: isize, level: isize) -> Result<()> {
        let outermost = level == 1;
        let (indent, allowance) = if outermost {
            (indent + 1, allowance + 1)
        } else {
            (indent, allowance)
        };
        let mut width = WIDTH - indent;
        let mut pieces = Vec::new();
        let mut current: Vec<u8> = Vec::new();
        let last = bytes.len() / 4 * 4;
        let literal = |bytes: &[u8]| repr(&Obj::Bytes(bytes.into()));
        for (i, four) in bytes.chunks(4).enumerate() {
            if i * 4 == last {
                width -= allowance;
            }
            let candidate = [&current[..], four].concat();
            self.vm.burn(1)?;
            if columns(&literal(&candidate)?) > width {
                if !current.is_empty() {
                    pieces.push(literal(&current)?);
                }
                current = four.to_vec();
            } else {
                current = candidate;
            }
        }
        if !current.is_empty() {
            pieces.push(literal(&current)?);
        }
        self.wrapped(&pieces, indent, outermost);
        Ok(())
    }

    fn wrapped(&mut self, pieces: &[String], indent: isize, parentheses: bool) {
        if parentheses {
            self.out.push('(');
        }
        for (i, piece) in pieces.iter().enumerate() {
            if i > 0 {
                self.break_line(indent);
            }
            self.out.push_str(piece);
        }
        if parentheses {
            self.out.push(')');
        }
    }

    /// The object on one line, with sorted keys.
    fn flat(&mut self, x: &Obj, level: isize) -> Result<String> {
        let mut out = String::new();
        self.flat_into(x, level, &mut out)?;
        self.vm.burn(out.len() / 16)?;
        Ok(out)
    }

    fn flat_into(&mut self, x: &Obj, level: isize, out: &mut String) -> Result<()> {
        let identity = identity(x);
        self.vm.burn(1)?;
        if out.len() > self.vm.limits().output {
            room(self.vm, out.len())?;
        }
        depth::objects(usize::try_from(level).unwrap_or(0), depth::DATA, "")?;
        if identity.is_some_and(|id| self.open.contains(&id)) {
            out.push_str(&recursion(x));
            return Ok(());
        }
        self.open.extend(identity);
        match x {
            Obj::Dict(dict) if !dict.kind().is_ordered() => {
                out.push('{');
                for (i, (key, value)) in sorted_entries(dict.entries())?.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    self.flat_into(&Obj::from(key), level + 1, out)?;
                    out.push_str(": ");
                    self.flat_into(value, level + 1, out)?;
                }
                out.push('}');
            }
            Obj::List(list) => self.flat_items(&list.items(), "[", "]", level, out)?,
            Obj::Tuple(items) if items.len() == 1 => {
                self.flat_items(items, "(", ",)", level, out)?;
            }
            Obj::Tuple(items) => self.flat_items(items, "(", ")", level, out)?,
            other => out.push_str(&repr(other)?),
        }
        if identity.is_some() {
            self.open.pop();
        }
        Ok(())
    }

    fn flat_items(
        &mut self,
        items: &[Obj],
        begin: &str,
        end: &str,
        level: isize,
        out: &mut String,
    ) -> Result<()> {
        out.push_str(begin);
        for (i, item) in items.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            self.flat_into(item, level + 1, out)?;
        }
        out.push_str(end);
        Ok(())
    }
}

fn columns(text: &str) -> isize {
    isize::try_from(text.chars().count()).unwrap_or(isize::MAX)
}

fn identity(x: &Obj) -> Option<usize> {
    match x {
        Obj::List(list) => Some(list.address()),
        Obj::Dict(dict) => Some(dict.address()),
        _ => None,
    }
}

fn recursion(x: &Obj) -> String {
    format!("<Recursion on {} with id=0>", x.type_name())
}

/// Words, each with the white space after it.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let space = rest[word..]
            .find(|c: char| !c.is_whitespace())
            .map_or(rest.len(), |n| word + n);
        let (piece, after) = rest.split_at(space);
        words.push(piece);
        rest = after;
    }
    words
}

fn sorted_entries(entries: Vec<(Key, Obj)>) -> Result<Vec<(Key, Obj)>> {
    methods::sort_by(entries, &|a, b| less(&a.0, &b.0))
}

fn sorted_keys(keys: Vec<Key>) -> Result<Vec<Key>> {
    methods::sort_by(keys, &less)
}

/// By value where that is possible, else by the name of the type.
fn less(a: &Key, b: &Key) -> Result<bool> {
    let (a, b) = (Obj::from(a), Obj::from(b));
    match order(&a, &b, "<") {
        Ok(order) => Ok(order == Some(Ordering::Less)),
        Err(e) if e.kind == ErrorKind::Python("TypeError") => Ok(class_of(&a) < class_of(&b)),
        Err(e) => Err(e),
    }
}
