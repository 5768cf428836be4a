//! Nodes to text, one after the other, laid out as libyaml's emitter lays them out.

use std::borrow::Cow;
use std::fmt::Write;

use super::analysis::{Analysis, analyze, is_printable};
use super::{DumpOptions, anchor_name};
use crate::decode::is_break;

/// The longest key, in bytes, that needs no `? `.
const MAX_SIMPLE_KEY: usize = 128;

/// A scalar to be written.
pub(super) struct Scalar<'v> {
    pub text: Cow<'v, str>,
    /// True if the text without quotes would be read as the right type.
    pub plain: bool,
    /// True if it is the text of a `!!binary`.
    pub binary: bool,
}

/// Writes the nodes it is given in document order.
pub(super) struct Emitter<'o> {
    options: &'o DumpOptions,
    out: String,
    /// Collections that have not ended, outermost first.
    levels: Vec<EmitterLevel>,
    /// The number of them in brackets.
    flow_levels: usize,
    /// Columns before a new line's content; `None` outside of every collection.
    indent: Option<usize>,
    column: usize,
    /// True if what was written last is white space.
    whitespace: bool,
    /// True if the line has only indentation and indicators.
    indention: bool,
}

struct EmitterLevel {
    layout: Layout,
    indent_outside: Option<usize>,
    /// Nodes written so far; in mappings, keys and values.
    written: usize,
    /// True if the last key needed no `? `.
    simple: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    FlowSequence,
    FlowMapping,
    BlockSequence,
    BlockMapping,
}

/// The position of a node, once the text before it is written.
#[derive(Clone, Copy)]
struct NodePosition {
    in_mapping: bool,
    simple_key: bool,
}

/// The space that an indicator needs before it and leaves behind it.
#[derive(Clone, Copy)]
struct Indicator {
    needs_space: bool,
    is_space: bool,
    is_indention: bool,
}

/// Collections that are short enough for brackets whatever the layout is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Short {
    No,
    /// It holds nothing that holds anything.
    Leaf,
    Empty,
}

/// Follows what is before it directly.
const TIGHT: Indicator = Indicator {
    needs_space: false,
    is_space: false,
    is_indention: false,
};
/// Is set off by a space.
const LOOSE: Indicator = Indicator {
    needs_space: true,
    is_space: false,
    is_indention: false,
};
/// Opens a bracket.
const OPEN: Indicator = Indicator {
    needs_space: true,
    is_space: true,
    is_indention: false,
};
/// Belongs to the indentation: `-`, `?`, and `:` alone on a line.
const LAYOUT: Indicator = Indicator {
    needs_space: true,
    is_space: false,
    is_indention: true,
};

impl<'o> Emitter<'o> {
    pub fn new(options: &'o DumpOptions) -> Self {
        Emitter {
            options,
            out: String::new(),
            levels: Vec::new(),
            flow_levels: 0,
            indent: None,
            column: 0,
            whitespace: true,
            indention: true,
        }
    }

    /// The text; the last line is ended.
    pub fn finish(mut self) -> String {
        self.write_indent();
        self.out
    }

    pub fn alias(&mut self, number: usize) {
        let name = anchor_name(number);
        let place = self.place(Some(name.len()));
        self.indicator("*", LOOSE);
        self.name(&name);
        if place.simple_key {
            self.put(' ');
        }
    }

    pub fn scalar(&mut self, scalar: &Scalar<'_>) {
        let analysis = analyze(&scalar.text, self.options);
        let tag = if scalar.binary { "!!binary" } else { "" };
        let length = if analysis.multiline {
            None
        } else {
            Some(tag.len() + scalar.text.len())
        };
        let place = self.place(length);
        self.tag(tag);
        let outside = self.indent;
        self.increase_indent(true, false);
        let fold = !place.simple_key;
        match self.style(scalar, &analysis, place.simple_key) {
            Style::Plain => self.plain(&scalar.text, fold),
            Style::SingleQuoted => self.single_quoted(&scalar.text, fold),
            Style::DoubleQuoted => self.double_quoted(&scalar.text, fold),
            Style::Literal => self.literal(&scalar.text),
        }
        self.indent = outside;
    }

    /// Begin a sequence; `short` puts it between brackets on its own account, as an empty one is.
    pub fn begin_sequence(&mut self, anchor: Option<usize>, short: Short) {
        self.begin(
            anchor,
            "",
            short,
            [Layout::FlowSequence, Layout::BlockSequence],
        );
    }

    /// Begin a mapping; see [`begin_sequence`](Self::begin_sequence).
    pub fn begin_mapping(&mut self, anchor: Option<usize>, tag: Option<&str>, short: Short) {
        self.begin(
            anchor,
            tag.unwrap_or_default(),
            short,
            [Layout::FlowMapping, Layout::BlockMapping],
        );
    }

    fn begin(
        &mut self,
        anchor: Option<usize>,
        tag: &str,
        short: Short,
        [flow, block]: [Layout; 2],
    ) {
        let name = anchor.map(anchor_name).unwrap_or_default();
        let place = self.place((short == Short::Empty).then_some(name.len() + tag.len()));
        if !name.is_empty() {
            self.indicator("&", LOOSE);
            self.name(&name);
        }
        self.tag(tag);
        let layout = if self.flow_levels > 0 || self.options.flow || short != Short::No {
            flow
        } else {
            block
        };
        let indent_outside = self.indent;
        match layout {
            Layout::FlowSequence | Layout::FlowMapping => {
                self.indicator(
                    if layout == Layout::FlowSequence {
                        "["
                    } else {
                        "{"
                    },
                    OPEN,
                );
                self.increase_indent(true, false);
                self.flow_levels += 1;
            }
            Layout::BlockSequence => {
                self.increase_indent(false, place.in_mapping && !self.indention);
            }
            Layout::BlockMapping => self.increase_indent(false, false),
        }
        self.levels.push(EmitterLevel {
            layout,
            indent_outside,
            written: 0,
            simple: false,
        });
    }

    /// End the innermost collection; without one, do nothing.
    pub fn end(&mut self) {
        let Some(level) = self.levels.pop() else {
            return;
        };
        self.indent = level.indent_outside;
        match level.layout {
            Layout::FlowSequence => {
                self.flow_levels -= 1;
                self.indicator("]", TIGHT);
            }
            Layout::FlowMapping => {
                self.flow_levels -= 1;
                self.indicator("}", TIGHT);
            }
            Layout::BlockSequence | Layout::BlockMapping => {}
        }
    }

    /// Write what goes before a node: commas, dashes, colons, line breaks. `length` is the node's
    /// own if it fits one line.
    fn place(&mut self, length: Option<usize>) -> NodePosition {
        let can_be_simple = length.is_some_and(|length| length <= MAX_SIMPLE_KEY);
        let Some(level) = self.levels.last_mut() else {
            return NodePosition {
                in_mapping: false,
                simple_key: false,
            };
        };
        let (layout, written) = (level.layout, level.written);
        level.written += 1;
        let is_key = written.is_multiple_of(2);
        if is_key {
            level.simple = can_be_simple;
        }
        let simple = level.simple;
        match layout {
            Layout::FlowSequence => {
                self.flow_separator(written);
                return NodePosition {
                    in_mapping: false,
                    simple_key: false,
                };
            }
            Layout::BlockSequence => {
                self.write_indent();
                self.indicator("-", LAYOUT);
                return NodePosition {
                    in_mapping: false,
                    simple_key: false,
                };
            }
            Layout::FlowMapping if is_key => {
                self.flow_separator(written);
                if !simple {
                    self.indicator("?", LOOSE);
                }
            }
            Layout::BlockMapping if is_key => {
                self.write_indent();
                if !simple {
                    self.indicator("?", LAYOUT);
                }
            }
            Layout::FlowMapping | Layout::BlockMapping if simple => self.indicator(":", TIGHT),
            Layout::FlowMapping => {
                self.break_long_line();
                self.indicator(":", LOOSE);
            }
            Layout::BlockMapping => {
                self.write_indent();
                self.indicator(":", LAYOUT);
            }
        }
        NodePosition {
            in_mapping: true,
            simple_key: is_key && simple,
        }
    }

    fn flow_separator(&mut self, written: usize) {
        if written > 0 {
            self.indicator(",", TIGHT);
        }
        self.break_long_line();
    }

    fn break_long_line(&mut self) {
        if self.column > self.options.width {
            self.write_indent();
        }
    }

    fn style(&self, scalar: &Scalar<'_>, analysis: &Analysis, simple_key: bool) -> Style {
        let in_flow = self.flow_levels > 0;
        if simple_key && analysis.multiline {
            return Style::DoubleQuoted;
        }
        if scalar.binary {
            let literal = analysis.block && !in_flow && !simple_key;
            return if literal {
                Style::Literal
            } else {
                Style::DoubleQuoted
            };
        }
        if self.options.literal && !in_flow && !simple_key && is_literal(&scalar.text, analysis) {
            return Style::Literal;
        }
        let allowed = if in_flow {
            analysis.flow_plain
        } else {
            analysis.block_plain
        };
        if scalar.plain && allowed && !(scalar.text.is_empty() && (in_flow || simple_key)) {
            Style::Plain
        } else if analysis.single_quoted {
            Style::SingleQuoted
        } else {
            Style::DoubleQuoted
        }
    }

    fn increase_indent(&mut self, flow: bool, indentless: bool) {
        self.indent = Some(match self.indent {
            None if flow => self.options.indent,
            None => 0,
            Some(indent) if indentless => indent,
            Some(indent) => indent + self.options.indent,
        });
    }

    fn plain(&mut self, text: &str, fold: bool) {
        if !self.whitespace && (!text.is_empty() || self.flow_levels > 0) {
            self.put(' ');
        }
        let mut folder = Folder::default();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let foldable = chars.peek() != Some(&' ');
            self.folded_char(c, fold && foldable, &mut folder);
        }
        self.whitespace = false;
        self.indention = false;
    }

    fn single_quoted(&mut self, text: &str, fold: bool) {
        self.indicator("'", LOOSE);
        let mut folder = Folder::default();
        let mut chars = text.chars().peekable();
        let mut first = true;
        while let Some(c) = chars.next() {
            let foldable = !first && chars.peek().is_some_and(|&next| next != ' ');
            self.folded_char(c, fold && foldable, &mut folder);
            if c == '\'' {
                self.put('\'');
            }
            first = false;
        }
        if folder.breaks {
            self.write_indent();
        }
        self.indicator("'", TIGHT);
        self.whitespace = false;
        self.indention = false;
    }

    /// One character of a text whose lines are folded: a space may become a line break, and a
    /// line break takes two.
    fn folded_char(&mut self, c: char, foldable: bool, folder: &mut Folder) {
        if c == ' ' {
            if foldable && !folder.spaces && self.column > self.options.width {
                self.write_indent();
            } else {
                self.put(c);
            }
            folder.spaces = true;
        } else if is_break(c) {
            if !folder.breaks && c == '\n' {
                self.put_break('\n');
            }
            self.put_break(c);
            self.indention = true;
            folder.breaks = true;
        } else {
            if folder.breaks {
                self.write_indent();
            }
            self.put(c);
            self.indention = false;
            *folder = Folder::default();
        }
    }

    pub fn double_quoted(&mut self, text: &str, fold: bool) {
        self.indicator("\"", LOOSE);
        let mut after_space = false;
        let mut chars = text.chars().peekable();
        let mut first = true;
        while let Some(c) = chars.next() {
            let is_command = self.options.escape_acting && c == '[' && self.out.ends_with("##");
            if is_command
                || !is_printable(c, self.options)
                || is_break(c)
                || matches!(c, '"' | '\\')
            {
                self.escape(c);
                after_space = false;
            } else if c == ' ' {
                let next = chars.peek().copied();
                let begins_command = self.options.escape_acting && next == Some(':');
                if fold
                    && !begins_command
                    && !after_space
                    && self.column > self.options.width
                    && !first
                    && next.is_some()
                {
                    self.write_indent();
                    if next == Some(' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                after_space = true;
            } else {
                self.put(c);
                after_space = false;
            }
            first = false;
        }
        self.indicator("\"", TIGHT);
        self.whitespace = false;
        self.indention = false;
    }

    fn escape(&mut self, c: char) {
        let start = self.out.len();
        self.out.push('\\');
        let short = match c {
            '\0' => Some('0'),
            '\x07' => Some('a'),
            '\x08' => Some('b'),
            '\t' => Some('t'),
            '\n' => Some('n'),
            '\x0b' => Some('v'),
            '\x0c' => Some('f'),
            '\r' => Some('r'),
            '\x1b' => Some('e'),
            '"' | '\\' => Some(c),
            '\u{85}' => Some('N'),
            '\u{a0}' => Some('_'),
            '\u{2028}' => Some('L'),
            '\u{2029}' => Some('P'),
            _ => None,
        };
        // Writing to a String cannot fail.
        let _ = match (short, u32::from(c)) {
            (Some(short), _) => self.out.write_char(short),
            (None, n @ ..=0xff) => write!(self.out, "x{n:02X}"),
            (None, n @ ..=0xffff) => write!(self.out, "u{n:04X}"),
            (None, n) => write!(self.out, "U{n:08X}"),
        };
        self.column += self.out.len() - start;
    }

    fn literal(&mut self, text: &str) {
        // The header says if the final line break belongs to the text, and further ones.
        let header = match text.strip_suffix('\n') {
            None => "|-",
            Some(rest) if rest.ends_with('\n') => "|+",
            Some(_) => "|",
        };
        self.indicator(header, LOOSE);
        self.put_break('\n');
        for line in text.lines() {
            if !line.is_empty() {
                self.indention = true;
                self.whitespace = true;
                self.write_indent();
                self.indention = false;
                self.write(line);
            }
            self.put_break('\n');
        }
        self.indention = true;
        self.whitespace = true;
    }

    fn tag(&mut self, tag: &str) {
        if !tag.is_empty() {
            self.indicator(tag, LOOSE);
            self.indention = false;
        }
    }

    fn name(&mut self, name: &str) {
        self.write(name);
        self.whitespace = false;
        self.indention = false;
    }

    fn indicator(&mut self, indicator: &str, how: Indicator) {
        if how.needs_space && !self.whitespace {
            self.put(' ');
        }
        self.write(indicator);
        self.whitespace = how.is_space;
        self.indention &= how.is_indention;
    }

    /// Go to the indentation column, on a new line unless nothing but indentation is on this one.
    fn write_indent(&mut self) {
        let indent = self.indent.unwrap_or(0);
        if !self.indention || self.column > indent || self.column == indent && !self.whitespace {
            self.put_break('\n');
        }
        while self.column < indent {
            self.put(' ');
        }
        self.whitespace = true;
        self.indention = true;
    }

    fn put_break(&mut self, c: char) {
        self.out.push(c);
        self.column = 0;
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }
}

/// True if a text of several lines reads back the same from a literal block, whose first line sets the indentation.
fn is_literal(text: &str, analysis: &Analysis) -> bool {
    let is_other_break = |c: char| c != '\n' && is_break(c);
    analysis.block
        && text.contains('\n')
        && !text.starts_with([' ', '\n'])
        && !text.contains(is_other_break)
}

#[derive(Clone, Copy)]
enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

/// The kind of the last characters of a folded text.
#[derive(Default)]
struct Folder {
    spaces: bool,
    breaks: bool,
}
