//! Mistakes in a text that YAML's grammar refuses, in the reader's terms.
//!
//! The grammar stops late and says little: four mistakes of people are one "did not find expected key". The lines around
//! the place tell them apart.

mod lines;
mod structure;

use std::borrow::Cow;

use crate::events;
use mapstack_value::pytext::is_printable;

use crate::error::excerpt;
use lines::{Line, TextLines};

/// A mistake in words.
pub(crate) struct Advice {
    pub problem: String,
    pub advice: Cow<'static, str>,
    /// The byte of the text to look at.
    pub at: usize,
    /// The byte on the line that the problem ends with.
    pub line_of: Option<usize>,
}

/// A text and what the grammar says about it.
struct Refused<'t> {
    text: &'t str,
    lines: TextLines<'t>,
    error: &'t events::Error,
    /// The index of the line that the grammar stopped at.
    line: usize,
}

impl Advice {
    fn new(at: usize, problem: impl Into<String>, advice: impl Into<Cow<'static, str>>) -> Self {
        Advice {
            problem: problem.into(),
            advice: advice.into(),
            at,
            line_of: None,
        }
    }

    fn on_line_of(mut self, byte: usize) -> Self {
        self.line_of = Some(byte);
        self
    }
}

/// Explain an error of the grammar.
pub(crate) fn explain(text: &str, error: &events::Error) -> Advice {
    let refused = Refused {
        text,
        lines: TextLines::of(text),
        error,
        line: error.mark.line,
    };
    if let Some(marker) = refused.lines.conflict() {
        return Advice::new(
            marker,
            "a merge conflict is not resolved here",
            "remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`, and the unwanted lines between them",
        );
    }
    let mut explained = refused.explained();
    let line = refused.lines.around(explained.at);
    let unseen = line.and_then(|line| {
        let mut unseen = line
            .text
            .chars()
            .filter(|c| *c != '\t' && !is_printable(*c));
        unseen.next()
    });
    if let Some(c) = unseen.filter(|_| !explained.problem.starts_with("<U+")) {
        explained.advice = format!("{}; the line has {} in it", explained.advice, named(c)).into();
    }
    if line.is_some_and(|line| line.text.contains("{{") || line.text.contains("{%")) {
        explained.advice =
            "put a template expression in quotes, or render the template first".into();
    }
    explained
}

/// The most characters of a key that no `? ` begins.
const LONGEST_KEY: usize = 1024;

impl Refused<'_> {
    fn explained(&self) -> Advice {
        let at = self.error.mark.offset;
        match self.error.problem {
            "mapping values are not allowed in this context" => self.misplaced_colon(),
            "could not find expected ':'" => self.missing_colon_at(self.opened()),
            "did not find expected key" | "did not find expected '-' indicator" => {
                self.out_of_structure()
            }
            "did not find expected ',' or ']'" => self.in_brackets('[', ']'),
            "did not find expected ',' or '}'" => self.in_brackets('{', '}'),
            "did not find expected node content" if self.rest().trim().is_empty() => {
                self.value_at_the_end()
            }
            "found unexpected end of stream" => Advice::new(
                self.opened(),
                "the quote opened here is never closed",
                "close it",
            ),
            found => {
                let (problem, advice) = plainly(found, self.character());
                Advice::new(at, problem, advice)
            }
        }
    }

    fn character(&self) -> Option<char> {
        self.text.get(self.error.mark.offset..)?.chars().next()
    }

    /// The text from where the grammar stopped.
    fn rest(&self) -> &str {
        self.text.get(self.error.mark.offset..).unwrap_or_default()
    }

    /// The lack of a value where the text ends: a bracket is open.
    fn value_at_the_end(&self) -> Advice {
        let mut open: Vec<(usize, char)> = Vec::new();
        for (at, c) in self.text.char_indices() {
            match c {
                '[' | '{' => open.push((at, c)),
                ']' | '}' => drop(open.pop()),
                _ => (),
            }
        }
        match open.pop() {
            Some((at, '[')) => never_closed(at, '[', ']'),
            Some((at, _)) => never_closed(at, '{', '}'),
            None => {
                let (problem, advice) = plainly(self.error.problem, None);
                Advice::new(self.error.mark.offset, problem, advice)
            }
        }
    }

    /// The beginning of the construct in which the grammar stopped.
    fn opened(&self) -> usize {
        let context = self.error.context;
        context.map_or(self.error.mark.offset, |context| context.start.offset)
    }

    /// A `:` that makes a key of something that cannot be one.
    fn misplaced_colon(&self) -> Advice {
        let at = self.error.mark.offset;
        let is_long = |line: &Line<'_>| {
            let key = self
                .text
                .get(line.start..at)
                .unwrap_or_default()
                .trim_start();
            key.chars().count() > LONGEST_KEY && !key.contains(": ")
        };
        if self.lines.get(self.line).is_some_and(is_long) {
            return Advice::new(
                at,
                "a key has more than 1024 characters",
                "shorten it, or begin it with `? ` and the next line with `: `",
            );
        }
        let plain = || {
            Advice::new(
                at,
                "a `:` makes a key of something that cannot be one here",
                "put a value that contains `: ` in quotes, or check the indentation",
            )
        };
        let Some(line) = self.lines.get(self.line) else {
            return plain();
        };
        let before = line.until(at);
        if let Some(key) = before.key() {
            let problem = format!("the value of `{}` has a `: ` in it", excerpt(key));
            return Advice::new(at, problem, "put the value in quotes");
        }
        let Some(begun) = self.lines.text_begun_before(self.line) else {
            return plain();
        };
        let is_bare = begun.key().is_none() && !begun.is_item();
        if is_bare {
            return self.missing_colon_at(begun.start + begun.indent());
        }
        self.continued(begun, line)
    }

    /// A line that was meant to be structure and continues the text of one above.
    fn continued(&self, begun: &Line<'_>, line: &Line<'_>) -> Advice {
        let first = match begun.key() {
            Some(_) => begun.key_column(),
            None => begun.indent(),
        };
        let later = line.indent();
        let first_is_wrong = first > 0
            && !begun.is_item()
            && !self.lines.has_sibling(begun)
            && self.lines.is_likelier(later, first);
        let (wrong, is, others) = match first_is_wrong {
            true => (begun, first, later),
            false => (line, later, first),
        };
        let advice = format!("this line has {} its neighbours have {others}", blanks(is));
        let problem = format!("{} continues the text begun", line.shown());
        let at = wrong.start + wrong.indent();
        Advice::new(at, problem, advice).on_line_of(begun.start)
    }

    /// A line of a mapping that has no `:`, or none with a blank behind it.
    fn missing_colon_at(&self, at: usize) -> Advice {
        let line = self.lines.around(at);
        let content = line.map_or("", |line| line.from(at)).trim_end();
        if let Some(key) = joined_key(content) {
            let rest = content.get(key.len() + 1..).unwrap_or_default();
            let behind = rest.chars().next().filter(|c| !is_printable(*c));
            let problem = match behind {
                Some(c) => format!("{} follows `{key}:`, where YAML needs a blank", named(c)),
                None => format!("no blank follows `{key}:`"),
            };
            return Advice::new(at, problem, "put a blank behind the `:` of a key");
        }
        if content.starts_with('-') && content.chars().nth(1).is_some_and(|c| c != '-') {
            return Advice::new(
                at,
                "no blank follows the `-` of a list item",
                "put a blank behind it",
            );
        }
        if content.starts_with(['"', '\'']) {
            return Advice::new(
                at,
                "the text in quotes that begins here has no `:` behind it",
                "close the quote on its line, or add the missing `:`",
            );
        }
        if content.len() > 1024 && content.contains(": ") {
            return Advice::new(
                at,
                "a key has more than 1024 characters",
                "put the text behind a short key",
            );
        }
        let setting = content.split_once('=').map(|(name, _)| name.trim());
        let is_name = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
        let setting = setting.filter(|name| !name.is_empty() && name.chars().all(is_name));
        match setting {
            Some(name) => Advice::new(
                at,
                format!("`{}` is set with `=`", excerpt(name)),
                "write a `:` and a blank instead",
            ),
            None => Advice::new(
                at,
                format!("{} has no `:`", quoted(content)),
                "add the missing `:`, or indent the line more if it continues the text above",
            ),
        }
    }

    /// A list or a mapping in brackets that is not closed, or not by what opened it.
    fn in_brackets(&self, open: char, close: char) -> Advice {
        let (opened, at) = (self.opened(), self.error.mark.offset);
        if self.rest().trim().is_empty() {
            return never_closed(opened, open, close);
        }
        if let Some(other @ (']' | '}')) = self.character() {
            let problem = format!("`{other}` cannot close the `{open}` that was opened");
            return Advice::new(at, problem, format!("write `{close}`")).on_line_of(opened);
        }
        let is_below = self
            .error
            .context
            .is_some_and(|context| context.start.line < self.line);
        let line = self.lines.get(self.line).filter(|_| is_below);
        if let Some(line) = line.filter(|line| line.key().is_some() || line.is_item()) {
            let problem = format!(
                "the `{open}` opened here is not closed before {}",
                line.shown()
            );
            return Advice::new(opened, problem, format!("close it with `{close}`"))
                .on_line_of(line.start);
        }
        let before = self.text.get(..at).unwrap_or_default().trim_end();
        Advice::new(
            at,
            format!("a `,` or `{close}` is missing here"),
            match before.ends_with(['"', '\'']) {
                true => "add it, or write a quote inside the text twice or with a backslash",
                false => "add it, or put the value in quotes",
            },
        )
        .on_line_of_opening(opened, is_below)
    }
}

impl Advice {
    /// Names the line of the opening bracket, if it is another one.
    fn on_line_of_opening(self, opened: usize, is_below: bool) -> Self {
        match is_below {
            true => {
                let problem = format!("{}, in brackets that open", self.problem);
                Advice { problem, ..self }.on_line_of(opened)
            }
            false => self,
        }
    }
}

fn never_closed(opened: usize, open: char, close: char) -> Advice {
    let problem = format!("the `{open}` opened here is never closed");
    Advice::new(opened, problem, format!("close it with `{close}`"))
}

/// A character that cannot be seen.
fn named(c: char) -> String {
    format!("<U+{:04X}>", u32::from(c))
}

/// A count of blanks, for the middle of a sentence.
fn blanks(n: usize) -> String {
    match n {
        0 => "no blanks;".to_owned(),
        1 => "1 blank;".to_owned(),
        n => format!("{n} blanks;"),
    }
}

/// The start of a line in a message: nothing behind a word, which may be long or secret.
fn quoted(content: &str) -> String {
    let is_name =
        |text: &str| !text.is_empty() && text.len() <= 40 && !text.contains(char::is_whitespace);
    match is_name(content) {
        true => format!("`{content}`"),
        false => "this line".to_owned(),
    }
}

/// The key of `key:value`, where YAML sees one text: a name with a `:` behind it that is not part of an address.
///
/// ```
/// use mapstack_yaml::joined_key;
/// assert_eq!(joined_key("port:80"), Some("port"));
/// assert_eq!(joined_key("port: 80").or(joined_key("https://example.org")), None);
/// ```
#[must_use]
pub fn joined_key(content: &str) -> Option<&str> {
    let (key, rest) = content.split_once(':')?;
    let is_name = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key
            .chars()
            .all(|c| c.is_alphanumeric() || "_-.".contains(c));
    let is_joined = rest
        .chars()
        .next()
        .is_some_and(|c| !matches!(c, ' ' | '\t' | ':' | '/' | '\\'));
    (is_name && is_joined).then_some(key)
}

/// The grammar's complaint about a character, in the reader's terms.
fn plainly(found: &'static str, character: Option<char>) -> (&'static str, &'static str) {
    const QUOTE: &str = "put the value in quotes";
    match (found, character) {
        ("found character that cannot start any token", Some('\t'))
        | ("found a tab character where an indentation space is expected", _)
        | ("found a tab character that violates indentation", _) => {
            ("a tab is used as indentation", "indent with spaces")
        }
        ("found character that cannot start any token", Some('@')) => {
            ("a plain value cannot start with `@`", QUOTE)
        }
        ("found character that cannot start any token", Some('`')) => {
            ("a plain value cannot start with a backquote", QUOTE)
        }
        ("found character that cannot start any token", Some('%')) => {
            ("a plain value cannot start with `%`", QUOTE)
        }
        ("found character that cannot start any token", _) => {
            ("this character cannot start a value", QUOTE)
        }
        ("block sequence entries are not allowed in this context", _) => (
            "a list item cannot start here",
            "put `- ` on its own line, or the value in quotes",
        ),
        ("did not find expected comment or line break", _) => (
            "text follows the `|` or `>` of a block",
            "put it on the next line, indented, or the value in quotes",
        ),
        ("found unexpected document indicator", _) => (
            "the document ends inside a quoted value",
            "close the quote, or indent the line",
        ),
        ("did not find expected node content", _) => (
            "expected a value",
            "add the missing value, or quote the one that starts here",
        ),
        ("did not find expected <document start>", _) => (
            "text follows where the document has ended",
            "remove it, or check brackets and indentation above",
        ),
        ("found unexpected ':'", _) => (
            "a `:` touches a bracket or comma",
            "put a space after the `:`, or the value in quotes",
        ),
        (other, character) => of_escapes_and_tags(other, character),
    }
}

fn of_escapes_and_tags(
    found: &'static str,
    character: Option<char>,
) -> (&'static str, &'static str) {
    match (found, character) {
        ("found unknown escape character", _) => (
            "double quotes give the backslash a meaning, and this escape has none",
            "use single quotes, or write the backslash twice",
        ),
        ("found invalid Unicode character escape code", _) => (
            "the escape names no character",
            "write the character itself, or one `\\U` escape",
        ),
        ("did not find expected hexdecimal number", _) => (
            "the escape has too few hexadecimal digits",
            "write `\\x` with 2, `\\u` with 4, `\\U` with 8 digits",
        ),
        ("found unknown directive name", _) => (
            "a line starting with `%` is a directive, and this one is not known",
            "quote the value, or remove the line",
        ),
        ("found undefined tag handle", _) => (
            "the tag's prefix is not declared",
            "quote a value that starts with `!`",
        ),
        ("did not find expected alphabetic or numeric character", _) => (
            "an anchor or alias needs a name of letters, digits, `-` and `_`",
            "quote a value that starts with `&` or `*`",
        ),
        ("found more than 100 %TAG directives", _) => (
            "more than 100 %TAG directives before one document",
            "remove those that no tag uses",
        ),
        ("did not find expected whitespace or line break", Some(',')) => (
            "a comma touches a tag",
            "quote a value that starts with `!`, or put a space behind the tag",
        ),
        (other, _) => (other, "check the text here"),
    }
}
