//! A template's text as nodes.

use super::names::{self, Idents, Invalid, Signature};
use super::tags::{self, Tag};
use crate::error::{Error, SourceSpan};
use crate::sandbox::span;
use mapstack_sandbox::protocol::Span;

/// The index of a node.
pub(super) type Id = usize;

/// A piece of a template.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// Its first line, counted from 1.
    pub(super) line: usize,
    pub(super) span: Span,
    /// The nodes inside of a tag, or those after a control line up to its end.
    pub(super) children: Vec<Id>,
    /// True if a tag encloses it.
    pub(super) nested: bool,
}

#[derive(Debug)]
pub(super) enum NodeKind {
    /// Text to print; `exact` if the source has it literally.
    Text {
        text: String,
        exact: bool,
    },
    Expression {
        code: String,
        filters: Vec<String>,
        idents: Idents,
        filter_idents: Idents,
    },
    Control {
        keyword: String,
        end: bool,
        text: String,
        idents: Idents,
    },
    Code {
        text: String,
        module: bool,
        idents: Idents,
    },
    Comment,
    Tag(Box<Tag>),
}

/// A template read.
#[derive(Debug)]
pub(super) struct MakoTemplate {
    pub(super) nodes: Vec<Node>,
    /// The nodes that no tag encloses.
    pub(super) root: Vec<Id>,
}

impl MakoTemplate {
    /// Every text of the template that becomes code.
    pub(super) fn codes(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().flat_map(codes_of)
    }
}

fn codes_of(node: &Node) -> Vec<&str> {
    match &node.kind {
        NodeKind::Text { .. } | NodeKind::Comment => Vec::new(),
        NodeKind::Expression { code, filters, .. } => {
            let filters = filters.iter().map(String::as_str);
            filters.chain([code.as_str()]).collect()
        }
        NodeKind::Control { text, .. } | NodeKind::Code { text, .. } => vec![text.as_str()],
        NodeKind::Tag(tag) => {
            let values = tag.attributes.values().map(String::as_str);
            values.chain([tag.keyword.as_str()]).collect()
        }
    }
}

/// A failure without its place in a file.
#[derive(Debug)]
pub(super) struct LexerFailure {
    pub(super) message: String,
    pub(super) class: &'static str,
    pub(super) offset: usize,
}

impl LexerFailure {
    pub(super) fn into_error(
        self,
        name: Option<&mapstack_value::Str>,
        source: &std::sync::Arc<str>,
    ) -> Box<Error> {
        let end = source
            .get(self.offset..)
            .and_then(|rest| rest.find('\n'))
            .map_or(source.len(), |at| self.offset + at);
        let place = SourceSpan {
            template: name.cloned(),
            source: source.clone(),
            span: span(self.offset, end),
        };
        Error::raised(self.class, format!("{}: {}", self.class, self.message)).at(|| place)
    }
}

type LexResult<T> = Result<T, LexerFailure>;

/// Read a template.
pub(super) fn read(text: &str) -> LexResult<MakoTemplate> {
    let mut lexer = Lexer {
        text,
        breaks: text.match_indices('\n').map(|(at, _)| at).collect(),
        at: 0,
        start: 0,
        tree: MakoTemplate {
            nodes: Vec::new(),
            root: Vec::new(),
        },
        tags: Vec::new(),
        controls: Vec::new(),
    };
    lexer.run()?;
    Ok(lexer.tree)
}

struct Lexer<'a> {
    text: &'a str,
    /// The ends of its lines.
    breaks: Vec<usize>,
    at: usize,
    /// The start of the last match.
    start: usize,
    tree: MakoTemplate,
    tags: Vec<Id>,
    controls: Vec<Id>,
}

/// More nodes than templates have.
const MAX_NODES: usize = 200_000;

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn at_line_start(&self) -> bool {
        self.at == 0 || self.text.as_bytes().get(self.at - 1) == Some(&b'\n')
    }

    /// Move on; a match of nothing swallows a character, as in Mako.
    fn advance(&mut self, end: usize) {
        self.start = self.at;
        self.at = if end == self.at {
            end + self.rest().chars().next().map_or(1, char::len_utf8)
        } else {
            end
        };
    }

    fn syntax<T>(&self, message: impl Into<String>) -> LexResult<T> {
        Err(LexerFailure {
            message: message.into(),
            class: "SyntaxException",
            offset: self.start,
        })
    }

    fn line_of(&self, offset: usize) -> usize {
        self.breaks.partition_point(|at| *at < offset) + 1
    }

    /// The start of the line that is this many lines below an offset.
    fn below(&self, offset: usize, lines: usize) -> usize {
        if lines == 0 {
            return offset;
        }
        let rest = self.text.get(offset..).unwrap_or("");
        rest.match_indices('\n')
            .nth(lines - 1)
            .map_or(self.text.len(), |(at, _)| offset + at + 1)
    }

    fn invalid(&self, invalid: Invalid, offset: usize) -> LexerFailure {
        let class = if invalid.message.starts_with('\'') {
            "CompileException"
        } else {
            "SyntaxException"
        };
        LexerFailure {
            message: invalid.message,
            class,
            offset: self.below(offset, invalid.line),
        }
    }

    fn push(&mut self, kind: NodeKind, start: usize) -> LexResult<Id> {
        let id = self.tree.nodes.len();
        if id > MAX_NODES {
            return self.syntax("the template has too many parts");
        }
        let (is_tag, control) = match &kind {
            NodeKind::Tag(_) => (true, None),
            NodeKind::Control { keyword, end, .. } => (false, Some((keyword.clone(), *end))),
            _ => (false, None),
        };
        self.tree.nodes.push(Node {
            kind,
            line: self.line_of(start),
            span: span(start, self.at.min(self.text.len())),
            children: Vec::new(),
            nested: !self.tags.is_empty(),
        });
        match self.tags.last() {
            Some(&tag) => self.tree.nodes[tag].children.push(id),
            None => self.tree.root.push(id),
        }
        if let Some(&control) = self.controls.last() {
            self.tree.nodes[control].children.push(id);
        }
        if is_tag {
            self.tags.push(id);
        }
        if let Some((keyword, end)) = control {
            if end {
                self.controls.pop();
            } else if is_primary(&keyword) {
                self.controls.push(id);
            } else if self.controls.is_empty() {
                let message = format!("'% {keyword}' continues nothing");
                return Err(LexerFailure {
                    message,
                    class: "SyntaxError",
                    offset: self.start,
                });
            } else if let Some(open) = self.open_control()
                && !is_ternary(open, &keyword)
            {
                return self.syntax(format!(
                    "Keyword '{keyword}' not a legal ternary for keyword '{open}'"
                ));
            }
        }
        Ok(id)
    }

    fn open_control(&self) -> Option<&str> {
        match &self.tree.nodes[*self.controls.last()?].kind {
            NodeKind::Control { keyword, .. } => Some(keyword),
            _ => None,
        }
    }

    fn run(&mut self) -> LexResult<()> {
        self.coding_comment();
        while self.at < self.text.len() {
            let matched = self.expression()?
                || self.control_line()?
                || self.comment()?
                || self.tag_start()?
                || self.tag_end()?
                || self.python_block()?
                || self.percent()?;
            if !matched {
                self.plain()?;
            }
        }
        if let Some(&tag) = self.tags.last() {
            let keyword = self.keyword(tag);
            return self.syntax(format!("Unclosed tag: <%{keyword}>"));
        }
        if let Some(&control) = self.controls.last() {
            self.start = self.tree.nodes[control].span.start as usize;
            let keyword = self.open_control().unwrap_or_default();
            return self.syntax(format!("Unterminated control keyword: '{keyword}'"));
        }
        Ok(())
    }

    fn keyword(&self, tag: Id) -> String {
        match &self.tree.nodes[tag].kind {
            NodeKind::Tag(tag) => tag.keyword.clone(),
            _ => String::new(),
        }
    }

    /// The line with a file's encoding is not part of the template.
    fn coding_comment(&mut self) {
        let Some(end) = self.text.find('\n') else {
            return;
        };
        let line = &self.text[..end];
        let names_encoding = line.starts_with('#')
            && line.match_indices("coding").any(|(at, word)| {
                line[at + word.len()..]
                    .strip_prefix([':', '='])
                    .is_some_and(|rest| {
                        rest.trim_start().starts_with(|c: char| {
                            c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
                        })
                    })
            });
        if names_encoding {
            self.at = end + 1;
        }
    }

    fn expression(&mut self) -> LexResult<bool> {
        if !self.rest().starts_with("${") {
            return Ok(false);
        }
        let start = self.at;
        self.advance(start + 2);
        let (code, end) = self.until(true, &["|", "}"])?;
        let mut filters = "";
        if end == "|" {
            filters = self.until(true, &["}"])?.0;
        }
        let code = code.replace("\r\n", "\n");
        let (filters, filter_idents) =
            names::of_list(filters.trim()).map_err(|e| self.invalid(e, start))?;
        let idents = names::of_code(&code).map_err(|e| self.invalid(e, start))?;
        self.push(
            NodeKind::Expression {
                code,
                filters,
                idents,
                filter_idents,
            },
            start,
        )?;
        Ok(true)
    }

    fn control_line(&mut self) -> LexResult<bool> {
        if !self.at_line_start() {
            return Ok(false);
        }
        let rest = self.rest();
        let line = rest.trim_start_matches([' ', '\t']);
        let (body, comment) = match (line.strip_prefix("##"), line.strip_prefix('%')) {
            (Some(body), _) => (body, true),
            (None, Some(body)) if !body.starts_with('%') => (body, false),
            _ => return Ok(false),
        };
        let body = body.trim_start_matches([' ', '\t']);
        let begin = rest.len() - body.len();
        let Some(end) = control_end(body) else {
            return Ok(false);
        };
        let text = body[..end].to_owned();
        let after = &body[end..];
        let newline = ["\r\n", "\n"].iter().find(|end| after.starts_with(**end));
        let newline = newline.map_or(0, |end| end.len());
        let start = self.at;
        self.advance(start + begin + end + newline);
        if comment {
            self.push(NodeKind::Comment, start)?;
            return Ok(true);
        }
        let (is_end, word) = match text.strip_prefix("end") {
            Some(word) if word.starts_with(is_word) => (true, word),
            _ => (false, text.as_str()),
        };
        let keyword: String = word.chars().take_while(|c| is_word(*c)).collect();
        if keyword.is_empty() {
            return self.syntax(format!("Invalid control line: '{text}'"));
        }
        let idents = if is_end {
            match self.open_control() {
                None => {
                    return self.syntax(format!("No starting keyword '{keyword}' for '{text}'"));
                }
                Some(open) if open != keyword => {
                    return self.syntax(format!("Keyword '{text}' doesn't match keyword '{open}'"));
                }
                Some(_) => Idents::default(),
            }
        } else {
            self.fragment(&text, start)?
        };
        self.push(
            NodeKind::Control {
                keyword,
                end: is_end,
                text,
                idents,
            },
            start,
        )?;
        Ok(true)
    }

    /// The names in a line that only begins a statement.
    fn fragment(&self, text: &str, start: usize) -> LexResult<Idents> {
        let compile = |message: String| LexerFailure {
            message,
            class: "CompileException",
            offset: start,
        };
        let stripped = text.trim();
        let keyword: String = stripped.chars().take_while(|c| is_word(*c)).collect();
        let not_partial = || {
            compile(format!(
                "Fragment '{text}' is not a partial control statement"
            ))
        };
        let after = &stripped[keyword.len()..];
        if keyword.is_empty() || !after.starts_with(|c: char| c.is_whitespace() || c == ':') {
            return Err(not_partial());
        }
        let colon = stripped
            .char_indices()
            .skip(keyword.chars().count())
            .find(|(at, c)| {
                let rest = stripped[at + c.len_utf8()..].trim_start();
                *c == ':' && (rest.is_empty() || rest.starts_with('#'))
            });
        let Some((colon, _)) = colon else {
            return Err(not_partial());
        };
        let code = &stripped[..=colon];
        let (code, above) = match keyword.as_str() {
            "for" | "if" | "while" | "with" => (format!("{code}pass"), 0),
            "try" => (format!("{code}pass\nexcept:pass"), 0),
            "elif" | "else" => (format!("if False:pass\n{code}pass"), 1),
            "except" => (format!("try:pass\n{code}pass"), 1),
            _ => return Err(compile(format!("Unsupported control keyword: '{keyword}'"))),
        };
        names::of_code(&code).map_err(|invalid| {
            let line = invalid.line.saturating_sub(above);
            self.invalid(Invalid { line, ..invalid }, start)
        })
    }

    fn comment(&mut self) -> LexResult<bool> {
        let Some(body) = self.rest().strip_prefix("<%doc>") else {
            return Ok(false);
        };
        let Some(end) = body.find("</%doc>") else {
            return Ok(false);
        };
        let start = self.at;
        self.advance(start + "<%doc>".len() + end + "</%doc>".len());
        self.push(NodeKind::Comment, start)?;
        Ok(true)
    }

    fn tag_start(&mut self) -> LexResult<bool> {
        let Some(found) = tags::opening(self.rest()) else {
            return Ok(false);
        };
        let start = self.at;
        self.advance(start + found.length);
        let tag = Tag::new(&found.keyword, found.attributes).map_err(|problem| match problem {
            tags::TagProblem::Compile(message) => LexerFailure {
                message,
                class: "CompileException",
                offset: start,
            },
            tags::TagProblem::Invalid(invalid) => self.invalid(invalid, start),
            tags::TagProblem::Unsupported(message) => LexerFailure {
                message,
                class: "UnsupportedError",
                offset: start,
            },
        })?;
        let is_text = found.keyword == "text";
        self.push(NodeKind::Tag(Box::new(tag)), start)?;
        if found.closed {
            self.tags.pop();
        } else if is_text {
            let Some(end) = self.rest().find("</%text>") else {
                return self.syntax("Unclosed tag: <%text>");
            };
            let begin = self.at;
            let text = self.rest()[..end].to_owned();
            self.advance(begin + end);
            self.push(NodeKind::Text { text, exact: true }, begin)?;
            return self.tag_end();
        }
        Ok(true)
    }

    fn tag_end(&mut self) -> LexResult<bool> {
        let Some(body) = self.rest().strip_prefix("</%") else {
            return Ok(false);
        };
        let body = body.trim_start_matches(['\t', ' ']);
        let Some(word) = body.find(['\t', ' ', '>']) else {
            return Ok(false);
        };
        // A `>` right at the start can be part of the name only.
        let word = if word == 0 { return Ok(false) } else { word };
        let after = body[word..].trim_start_matches(['\t', ' ']);
        if !after.starts_with('>') {
            return Ok(false);
        }
        let keyword = body[..word].to_owned();
        let end = self.text.len() - after.len() + 1;
        self.advance(end);
        let Some(&open) = self.tags.last() else {
            return self.syntax(format!("Closing tag without opening tag: </%{keyword}>"));
        };
        let opened = self.keyword(open);
        if opened != keyword {
            return self.syntax(format!(
                "Closing tag </%{keyword}> does not match tag: <%{opened}>"
            ));
        }
        self.tags.pop();
        Ok(true)
    }

    fn python_block(&mut self) -> LexResult<bool> {
        let Some(body) = self.rest().strip_prefix("<%") else {
            return Ok(false);
        };
        let module = body.starts_with('!');
        let start = self.at;
        self.advance(start + 2 + usize::from(module));
        let (text, _) = self.until(false, &["%>"])?;
        let mut text = super::text::without_margin(text);
        text.push('\n');
        let idents = names::of_code(&text).map_err(|invalid| self.invalid(invalid, start))?;
        self.push(
            NodeKind::Code {
                text,
                module,
                idents,
            },
            start,
        )?;
        Ok(true)
    }

    fn percent(&mut self) -> LexResult<bool> {
        if !self.at_line_start() {
            return Ok(false);
        }
        let rest = self.rest();
        let line = rest.trim_start();
        let Some(more) = line.strip_prefix("%%") else {
            return Ok(false);
        };
        let signs = more.len() - more.trim_start_matches('%').len();
        let space = rest.len() - line.len();
        let text = format!("{}%{}", &rest[..space], &more[..signs]);
        let start = self.at;
        self.advance(start + space + 2 + signs);
        self.push(NodeKind::Text { text, exact: false }, start)?;
        Ok(true)
    }

    fn plain(&mut self) -> LexResult<()> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let (mut end, mut next) = (rest.len(), rest.len());
        for (at, c) in rest.char_indices() {
            let here = &rest[at..];
            let after_newline = if at == 0 {
                self.at > 0 && self.at_line_start()
            } else {
                bytes[at - 1] == b'\n'
            };
            let stop = match c {
                '$' => here.starts_with("${"),
                '<' => here.starts_with("<%") || here.starts_with("</%"),
                '\\' => {
                    let broken = ["\\\n", "\\\r\n"]
                        .into_iter()
                        .find(|broken| here.starts_with(*broken));
                    if let Some(broken) = broken {
                        (end, next) = (at, at + broken.len());
                        break;
                    }
                    false
                }
                _ => false,
            };
            let line = || here.trim_start_matches([' ', '\t']);
            if stop
                || (after_newline
                    && matches!(c, ' ' | '\t' | '%' | '#')
                    && (line().starts_with('%') || line().starts_with("##")))
            {
                (end, next) = (at, at);
                break;
            }
        }
        let start = self.at;
        let text = rest[..end].to_owned();
        self.advance(start + next);
        if !text.is_empty() {
            let id = self.push(NodeKind::Text { text, exact: true }, start)?;
            self.tree.nodes[id].span = span(start, start + end);
        }
        Ok(())
    }

    /// The text up to one of the marks, outside of strings, comments and, if asked, of brackets.
    fn until(
        &mut self,
        nested: bool,
        marks: &[&'static str],
    ) -> LexResult<(&'a str, &'static str)> {
        let (begin, opened) = (self.at, self.start);
        let mut levels = [0i64; 3];
        loop {
            let rest = self.rest();
            if rest.starts_with('#')
                && let Some(end) = rest.find('\n')
            {
                self.at += end + 1;
                continue;
            }
            if let Some(length) = string_length(rest) {
                self.at += length;
                continue;
            }
            let skipped: &str;
            if let Some(mark) = marks.iter().find(|mark| rest.starts_with(**mark)) {
                let end = self.at;
                self.at += mark.len();
                if !nested || levels.iter().all(|level| *level <= 0) {
                    return Ok((self.text.get(begin..end).unwrap_or(""), mark));
                }
                skipped = mark;
            } else {
                let stops = |at: usize| {
                    rest[at..].starts_with(['"', '\'', '#'])
                        || marks.iter().any(|mark| rest[at..].starts_with(*mark))
                };
                let Some(end) = rest.char_indices().map(|(at, _)| at).find(|at| stops(*at)) else {
                    self.start = opened;
                    let marks: Vec<&str> = marks
                        .iter()
                        .map(|mark| if *mark == "|" { "\\|" } else { *mark })
                        .collect();
                    return self.syntax(format!(
                        "Expected: {}; unterminated tag or expression beginning",
                        marks.join(",")
                    ));
                };
                skipped = &rest[..end];
                self.at += if end == 0 {
                    rest.chars().next().map_or(1, char::len_utf8)
                } else {
                    end
                };
            }
            for (level, (open, close)) in
                levels.iter_mut().zip([('{', '}'), ('(', ')'), ('[', ']')])
            {
                let count = |c: char| i64::try_from(skipped.matches(c).count()).unwrap_or(0);
                *level += count(open) - count(close);
            }
        }
    }
}

/// The end of a control line, which a backslash continues; `None` if a lone carriage return ends it, which Mako
/// does not take for the end of a line.
fn control_end(body: &str) -> Option<usize> {
    let mut end = 0;
    loop {
        let Some(found) = body[end..].find(['\r', '\n']) else {
            return Some(body.len());
        };
        let at = end + found;
        let broken = if body[at..].starts_with("\r\n") { 2 } else { 1 };
        if broken == 1 && body[at..].starts_with('\r') {
            return None;
        }
        if !body[..at].ends_with('\\') {
            return Some(at);
        }
        end = at + broken;
    }
}

/// The length of a string literal at the start, if it is closed.
fn string_length(text: &str) -> Option<usize> {
    ["\"\"\"", "'''", "\"", "'"]
        .into_iter()
        .filter(|quote| text.starts_with(quote))
        .find_map(|quote| {
            let mut at = quote.len();
            loop {
                let rest = text.get(at..)?;
                if rest.starts_with(quote) {
                    return Some(at + quote.len());
                }
                let mut chars = rest.chars();
                at += match chars.next()? {
                    '\\' => 1 + chars.next()?.len_utf8(),
                    c => c.len_utf8(),
                };
            }
        })
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_primary(keyword: &str) -> bool {
    matches!(keyword, "for" | "if" | "while" | "try" | "with")
}

pub(super) fn is_ternary(open: &str, keyword: &str) -> bool {
    matches!(
        (open, keyword),
        ("if", "else" | "elif") | ("try", "except" | "finally") | ("for", "else")
    )
}

/// A function's arguments alone.
pub(super) fn arguments(text: &str) -> Result<Signature, Invalid> {
    Ok(names::of_signature(&format!("ANON({text})"))?.unwrap_or_default())
}
