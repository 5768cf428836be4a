//! Texts that were compiled, and where code is in them.

use std::sync::Arc;

use mapstack_sandbox::protocol::Span;
use mapstack_value::Str;
use rustpython_vm::VirtualMachine;

use super::span;
use crate::error::SourceSpan;

/// Calls inside each other that the stack has room for.
pub(super) const MAX_DEPTH: usize = 900;

/// A text that was compiled, and where its lines come from.
pub(crate) struct Unit {
    pub(crate) name: Option<Str>,
    pub(crate) source: Arc<str>,
    /// The span in the source behind each line of code; empty where they are the same lines.
    pub(crate) lines: Vec<Option<Span>>,
}

impl Unit {
    /// The place of a line of the code, counted from 1.
    pub(crate) fn place(&self, line: usize) -> SourceSpan {
        SourceSpan {
            template: self.name.clone(),
            source: self.source.clone(),
            span: self.span(line),
        }
    }

    /// The part of the source that a line of the code was made from; none for a line that only holds code together.
    pub(super) fn own_span(&self, line: usize) -> Option<Span> {
        if self.lines.is_empty() {
            return Some(line_span(&self.source, line));
        }
        *self.lines.get(line.checked_sub(1)?)?
    }

    /// The part of the source behind a line of the code, counted from 1.
    fn span(&self, line: usize) -> Span {
        if self.lines.is_empty() {
            return line_span(&self.source, line);
        }
        let before = self
            .lines
            .get(..line.min(self.lines.len()))
            .unwrap_or_default();
        before
            .iter()
            .rev()
            .find_map(|span| *span)
            .unwrap_or(Span { start: 0, end: 0 })
    }
}

/// A line's text without its indentation.
pub(super) fn line_span(source: &str, line: usize) -> Span {
    let mut start = 0;
    for (at, text) in source.split_inclusive('\n').enumerate() {
        if at + 1 == line {
            let indent = text.len() - text.trim_start().len();
            let length = text.trim_end().len().max(indent);
            return span(start + indent, start + length);
        }
        start += text.len();
    }
    span(source.len(), source.len())
}

/// The name of a unit's source inside the interpreter.
pub(super) fn unit_path(unit: usize) -> String {
    format!("<unit {unit}>")
}

/// The unit and the line of the template's code that runs, or that called what runs.
pub(crate) fn current_line(vm: &VirtualMachine) -> Option<(usize, usize)> {
    let frames = std::iter::successors(vm.current_frame(), |frame| frame.f_back(vm));
    frames.take(MAX_DEPTH).find_map(|frame| {
        let unit = unit_of(frame.code.source_path.as_str())?;
        Some((unit, frame.current_location().line.get()))
    })
}

/// The unit that a path names.
pub(crate) fn unit_of(path: &str) -> Option<usize> {
    path.strip_prefix("<unit ")?.strip_suffix('>')?.parse().ok()
}
