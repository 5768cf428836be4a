//! From Python's syntax of regular expressions to that of the engine.
//!
//! If they differ, the translation spells out Python's meaning: `$` before a final line break,
//! `\Z`, brackets and operators inside character sets, braces that are not a quantifier, comments and
//! verbose patterns. It also finds the common mistakes, with Python's words and positions.

use std::fmt::Write;

use mapstack_pyobject::{Error, Result};
use mapstack_value::quote_str;

/// A pattern for the engine.
pub(super) struct TranslatedPattern {
    pub pattern: String,
    /// Flags for the whole pattern.
    pub flags: String,
    /// The number of groups that capture.
    pub groups: usize,
    /// Those with names.
    pub names: Vec<(String, usize)>,
}

/// Python's `re.error`.
pub(super) fn error(message: &str, position: usize) -> Box<Error> {
    Error::python("error", format!("{message} at position {position}"))
}

/// Translate a pattern.
pub(super) fn translate(pattern: &str, multi_line: bool) -> Result<TranslatedPattern> {
    let mut translator = Translator {
        chars: pattern.chars().collect(),
        at: 0,
        out: String::with_capacity(pattern.len() + 8),
        flags: if multi_line {
            "m".into()
        } else {
            String::new()
        },
        multi_line,
        verbose: false,
        open: Vec::new(),
        groups: 0,
        names: Vec::new(),
        before: QuantifiedItem::Nothing,
    };
    translator.run()?;
    if let Some(group) = translator.open.last() {
        return Err(error("missing ), unterminated subpattern", group.start));
    }
    let Translator {
        out,
        flags,
        groups,
        names,
        ..
    } = translator;
    Ok(TranslatedPattern {
        pattern: out,
        flags,
        groups,
        names,
    })
}

/// The item that a quantifier would apply to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuantifiedItem {
    Nothing,
    Item,
    Repeat,
}

/// The kind of an extension `(?…`.
enum ExtensionKind {
    /// A group, and its number if it has one.
    Group(Option<usize>),
    /// A comment, flags or a reference, which ended here.
    Nothing,
}

struct OpenGroup {
    start: usize,
    /// Its number, if it captures.
    number: Option<usize>,
    /// True if the pattern was verbose outside.
    verbose: bool,
}

struct Translator {
    chars: Vec<char>,
    at: usize,
    out: String,
    flags: String,
    multi_line: bool,
    verbose: bool,
    open: Vec<OpenGroup>,
    groups: usize,
    names: Vec<(String, usize)>,
    before: QuantifiedItem,
}

/// Deeper nesting is refused.
const MAX_OPEN: usize = 100;

impl Translator {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn run(&mut self) -> Result<()> {
        while let Some(c) = self.peek() {
            let start = self.at;
            self.at += 1;
            match c {
                c if self.verbose && c.is_whitespace() => {}
                '#' if self.verbose => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '\\' => self.escape(start)?,
                '[' => self.set(start)?,
                '(' => self.group(start)?,
                ')' => {
                    let Some(group) = self.open.pop() else {
                        return Err(error("unbalanced parenthesis", start));
                    };
                    self.verbose = group.verbose;
                    self.item(")");
                }
                '|' => {
                    self.out.push('|');
                    self.before = QuantifiedItem::Nothing;
                }
                '$' => self.item(if self.multi_line { "$" } else { r"(?=\n?\z)" }),
                '*' | '+' | '?' => self.repeat(&c.to_string(), start)?,
                '{' => match self.braces() {
                    Some(Ok(quantifier)) => self.repeat(&quantifier, start)?,
                    Some(Err(())) => {
                        return Err(error("min repeat greater than max repeat", start + 1));
                    }
                    None => self.item(r"\{"),
                },
                '.' | '^' => self.item(&c.to_string()),
                c => {
                    push_literal(&mut self.out, c);
                    self.before = QuantifiedItem::Item;
                }
            }
        }
        Ok(())
    }

    fn item(&mut self, text: &str) {
        self.out.push_str(text);
        self.before = QuantifiedItem::Item;
    }

    fn repeat(&mut self, quantifier: &str, start: usize) -> Result<()> {
        match self.before {
            QuantifiedItem::Nothing => return Err(error("nothing to repeat", start)),
            QuantifiedItem::Repeat => return Err(error("multiple repeat", start)),
            QuantifiedItem::Item => {}
        }
        self.out.push_str(quantifier);
        if self.eat('?') {
            self.out.push('?');
        } else if self.eat('+') {
            self.out.push('+');
        }
        self.before = QuantifiedItem::Repeat;
        Ok(())
    }

    /// The text after an opening brace, if that is a quantifier; an inner error if its bounds are
    /// the wrong way round.
    fn braces(&mut self) -> Option<Result<String, ()>> {
        let here = self.at;
        let low = self.digits();
        let comma = self.eat(',');
        let high = if comma { self.digits() } else { low.clone() };
        if !self.eat('}') || (!comma && low.is_empty()) {
            self.at = here;
            return None;
        }
        let number = |digits: &str| digits.parse::<u64>().unwrap_or(u64::MAX);
        if !high.is_empty() && !low.is_empty() && number(&high) < number(&low) {
            return Some(Err(()));
        }
        let low = if low.is_empty() { "0" } else { &low };
        Some(Ok(if comma {
            format!("{{{low},{high}}}")
        } else {
            format!("{{{low}}}")
        }))
    }

    fn digits(&mut self) -> String {
        let mut digits = String::new();
        while let Some(c) = self.peek().filter(char::is_ascii_digit) {
            digits.push(c);
            self.at += 1;
        }
        digits
    }

    fn escape(&mut self, start: usize) -> Result<()> {
        let Some(c) = self.peek() else {
            return Err(error("bad escape (end of pattern)", start));
        };
        self.at += 1;
        match c {
            'A' | 'b' | 'B' | 'd' | 'D' | 'w' | 'W' => {
                self.out.push('\\');
                self.out.push(c);
            }
            'Z' => self.out.push_str(r"\z"),
            's' => self.out.push_str(r"[\s\x1c-\x1f]"),
            'S' => self.out.push_str(r"[^\s\x1c-\x1f]"),
            '0' => {
                let c = read_octal(&self.chars, &mut self.at, 2, 0);
                push_literal(&mut self.out, c);
            }
            '1'..='9' => self.reference(c, start)?,
            c => {
                let c = self.character(c, start)?;
                push_literal(&mut self.out, c);
            }
        }
        self.before = QuantifiedItem::Item;
        Ok(())
    }

    /// A back-reference, or a character of three octal digits.
    fn reference(&mut self, first: char, start: usize) -> Result<()> {
        let digit = |c: Option<char>| c.and_then(|c| c.to_digit(10));
        let mut group = first.to_digit(10).unwrap_or(0);
        if let Some(second) = digit(self.peek()) {
            let third = digit(self.chars.get(self.at + 1).copied()).filter(|d| *d < 8);
            if let (true, Some(third)) = (group < 8 && second < 8, third) {
                self.at += 2;
                let code = group * 64 + second * 8 + third;
                if code > 0o377 {
                    let message = format!("octal escape value \\{code:o} outside of range 0-0o377");
                    return Err(error(&message, start));
                }
                push_literal(&mut self.out, char::from_u32(code).unwrap_or('\u{fffd}'));
                return Ok(());
            }
            self.at += 1;
            group = group * 10 + second;
        }
        let number = group as usize;
        if number > self.groups {
            return Err(error(
                &format!("invalid group reference {number}"),
                start + 1,
            ));
        }
        if self.open.iter().any(|g| g.number == Some(number)) {
            return Err(error("cannot refer to an open group", start));
        }
        // Separate, so that a digit after it is not part of it.
        let _ = write!(self.out, r"(?:\{number})");
        Ok(())
    }

    /// The character of an escape, inside and outside of sets.
    fn character(&mut self, c: char, start: usize) -> Result<char> {
        let digits = match c {
            'a' => return Ok('\x07'),
            'f' => return Ok('\x0c'),
            'n' => return Ok('\n'),
            'r' => return Ok('\r'),
            't' => return Ok('\t'),
            'v' => return Ok('\x0b'),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            c if c.is_ascii_alphanumeric() => {
                return Err(error(&format!("bad escape \\{c}"), start));
            }
            c => return Ok(c),
        };
        let hex: String = self.chars[self.at..]
            .iter()
            .take(digits)
            .take_while(|d| d.is_ascii_hexdigit())
            .collect();
        self.at += hex.len();
        if hex.len() < digits {
            return Err(error(&format!("incomplete escape \\{c}{hex}"), start));
        }
        let code = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
        code.ok_or_else(|| error(&format!("bad escape \\{c}{hex}"), start))
    }

    /// A character set.
    fn set(&mut self, start: usize) -> Result<()> {
        let unterminated = || error("unterminated character set", start);
        self.out.push('[');
        if self.eat('^') {
            self.out.push('^');
        }
        let first = self.at;
        loop {
            let here = self.at;
            let c = self.peek().ok_or_else(unterminated)?;
            self.at += 1;
            if c == ']' && here > first {
                break;
            }
            let low = self.set_item(c, here, &unterminated)?;
            let is_range =
                self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|c| *c != ']');
            if !is_range {
                low.push(&mut self.out);
                continue;
            }
            self.at += 1;
            let c = self.peek().ok_or_else(unterminated)?;
            let high_at = self.at;
            self.at += 1;
            let high = self.set_item(c, high_at, &unterminated)?;
            let written: String = self.chars[here..self.at].iter().collect();
            match (&low, &high) {
                (SetItem::Char(low), SetItem::Char(high)) if low <= high => {
                    let _ = write!(
                        self.out,
                        r"\x{{{:x}}}-\x{{{:x}}}",
                        u32::from(*low),
                        u32::from(*high)
                    );
                }
                _ => return Err(error(&format!("bad character range {written}"), here)),
            }
        }
        self.item("]");
        Ok(())
    }

    fn set_item(
        &mut self,
        c: char,
        start: usize,
        unterminated: &dyn Fn() -> Box<Error>,
    ) -> Result<SetItem> {
        if c != '\\' {
            return Ok(SetItem::Char(c));
        }
        let c = self.peek().ok_or_else(unterminated)?;
        self.at += 1;
        Ok(match c {
            'd' => SetItem::Class(r"\d"),
            'D' => SetItem::Class(r"\D"),
            'w' => SetItem::Class(r"\w"),
            'W' => SetItem::Class(r"\W"),
            's' => SetItem::Class(r"\s\x1c-\x1f"),
            'S' => SetItem::Class(r"[^\s\x1c-\x1f]"),
            'b' => SetItem::Char('\x08'),
            '0'..='7' => SetItem::Char(read_octal(
                &self.chars,
                &mut self.at,
                2,
                c.to_digit(8).unwrap_or(0),
            )),
            c => SetItem::Char(self.character(c, start)?),
        })
    }

    /// The part after an opening parenthesis.
    fn group(&mut self, start: usize) -> Result<()> {
        let verbose = self.verbose;
        let number = if self.eat('?') {
            match self.extension(start)? {
                ExtensionKind::Group(number) => number,
                ExtensionKind::Nothing => return Ok(()),
            }
        } else {
            self.groups += 1;
            self.out.push('(');
            Some(self.groups)
        };
        if self.open.len() >= MAX_OPEN {
            return Err(Error::limit(format!(
                "more than {MAX_OPEN} groups inside each other"
            )));
        }
        self.open.push(OpenGroup {
            start,
            number,
            verbose,
        });
        self.before = QuantifiedItem::Nothing;
        Ok(())
    }

    /// The part after `(?`.
    fn extension(&mut self, start: usize) -> Result<ExtensionKind> {
        let mut number = None;
        let Some(c) = self.peek() else {
            return Err(error("unexpected end of pattern", self.at));
        };
        self.at += 1;
        match c {
            ':' | '=' | '!' | '>' => {
                self.out.push_str("(?");
                self.out.push(c);
            }
            '<' => match self.peek() {
                Some(c @ ('=' | '!')) => {
                    self.at += 1;
                    self.out.push_str("(?<");
                    self.out.push(c);
                }
                None => return Err(error("unexpected end of pattern", self.at)),
                Some(c) => return Err(error(&format!("unknown extension ?<{c}"), start + 1)),
            },
            '#' => {
                while !self.eat(')') {
                    if self.peek().is_none() {
                        return Err(error("missing ), unterminated comment", start));
                    }
                    self.at += 1;
                }
                return Ok(ExtensionKind::Nothing);
            }
            'P' => match self.peek() {
                Some('<') => {
                    self.at += 1;
                    number = Some(self.named(start)?);
                }
                Some('=') => {
                    self.at += 1;
                    self.named_reference()?;
                    return Ok(ExtensionKind::Nothing);
                }
                None => return Err(error("unexpected end of pattern", self.at)),
                Some(c) => return Err(error(&format!("unknown extension ?P{c}"), start + 1)),
            },
            '(' => self.condition(start)?,
            c if "aiLmsux-".contains(c) => {
                self.at -= 1;
                if !self.inline_flags(start)? {
                    return Ok(ExtensionKind::Nothing);
                }
            }
            c => return Err(error(&format!("unknown extension ?{c}"), start + 1)),
        }
        Ok(ExtensionKind::Group(number))
    }

    fn until(&mut self, end: char, what: &str) -> Result<String> {
        let start = self.at;
        let Some(length) = self.chars[start..].iter().position(|c| *c == end) else {
            let message = if start == self.chars.len() {
                format!("missing {what}")
            } else {
                format!("missing {end}, unterminated name")
            };
            return Err(error(&message, start));
        };
        self.at = start + length + 1;
        let name: String = self.chars[start..start + length].iter().collect();
        if name.is_empty() {
            return Err(error(&format!("missing {what}"), start));
        }
        Ok(name)
    }

    fn identifier(&mut self, end: char) -> Result<String> {
        let start = self.at;
        let name = self.until(end, "group name")?;
        let fits = name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !name.starts_with(char::is_numeric);
        if fits {
            Ok(name)
        } else {
            Err(error(
                &format!("bad character in group name {}", quote_str(&name)),
                start,
            ))
        }
    }

    fn named(&mut self, start: usize) -> Result<usize> {
        let name = self.identifier('>')?;
        self.groups += 1;
        if let Some((_, first)) = self.names.iter().find(|(known, _)| *known == name) {
            let (quoted, group) = (quote_str(&name), self.groups);
            let message =
                format!("redefinition of group name {quoted} as group {group}; was group {first}");
            return Err(error(&message, start + 4));
        }
        // Names are looked up here, so the engine needs none.
        self.names.push((name, self.groups));
        self.out.push('(');
        Ok(self.groups)
    }

    fn named_reference(&mut self) -> Result<()> {
        let start = self.at;
        let name = self.identifier(')')?;
        let Some((_, number)) = self.names.iter().find(|(known, _)| *known == name) else {
            return Err(error(
                &format!("unknown group name {}", quote_str(&name)),
                start,
            ));
        };
        if self.open.iter().any(|g| g.number == Some(*number)) {
            return Err(error("cannot refer to an open group", start));
        }
        let _ = write!(self.out, r"(?:\{number})");
        self.before = QuantifiedItem::Item;
        Ok(())
    }

    fn condition(&mut self, _start: usize) -> Result<()> {
        let start = self.at;
        let name = self.until(')', "group name")?;
        let number = match name.parse::<usize>() {
            Ok(0) => return Err(error("bad group number", start)),
            Ok(number) => number,
            Err(_) => match self.names.iter().find(|(known, _)| *known == name) {
                Some((_, number)) => *number,
                None => {
                    return Err(error(
                        &format!("unknown group name {}", quote_str(&name)),
                        start,
                    ));
                }
            },
        };
        if number > self.groups {
            return Err(error(&format!("invalid group reference {number}"), start));
        }
        let _ = write!(self.out, "(?({number})");
        Ok(())
    }

    /// Inline flags; whether a group begins with them.
    fn inline_flags(&mut self, start: usize) -> Result<bool> {
        let mut on = String::new();
        let mut off = String::new();
        let mut negative = false;
        loop {
            let Some(c) = self.peek() else {
                return Err(error("missing -, : or )", self.at));
            };
            self.at += 1;
            match c {
                'i' | 'm' | 's' if negative => off.push(c),
                'i' | 'm' | 's' => on.push(c),
                'x' => self.verbose = !negative,
                'a' | 'L' | 'u' => {}
                '-' if !negative => negative = true,
                ':' => {
                    let minus = if off.is_empty() { "" } else { "-" };
                    let _ = write!(self.out, "(?{on}{minus}{off}:");
                    return Ok(true);
                }
                ')' if !negative => {
                    if start != 0 {
                        return Err(error(
                            "global flags not at the start of the expression",
                            start,
                        ));
                    }
                    self.multi_line |= on.contains('m');
                    self.flags.push_str(&on);
                    return Ok(false);
                }
                _ => return Err(error("unknown flag", self.at - 1)),
            }
        }
    }
}

/// One member of a set.
enum SetItem {
    Char(char),
    Class(&'static str),
}

impl SetItem {
    fn push(&self, out: &mut String) {
        match self {
            SetItem::Char(c) => push_literal(out, *c),
            SetItem::Class(class) => out.push_str(class),
        }
    }
}

/// A plain character.
fn push_literal(out: &mut String, c: char) {
    if c.is_alphanumeric() || c == '_' || c == ' ' {
        out.push(c);
    } else {
        let _ = write!(out, r"\x{{{:x}}}", u32::from(c));
    }
}

/// Up to `most` more octal digits.
pub(super) fn read_octal(chars: &[char], at: &mut usize, most: usize, first: u32) -> char {
    let mut code = first;
    for _ in 0..most {
        let Some(digit) = chars.get(*at).and_then(|c| c.to_digit(8)) else {
            break;
        };
        code = code * 8 + digit;
        *at += 1;
    }
    char::from_u32(code & 0xff).unwrap_or('\0')
}
