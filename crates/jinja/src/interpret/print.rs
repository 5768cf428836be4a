//! Printing of values.

use std::borrow::Cow;

use crate::syntax::ast::{Expr, ExprKind, Span};
use mapstack_pyobject::{Obj, Result};
use mapstack_value::Str;

use super::place;
use crate::loops::measure;
use crate::output::{Output, OutputOrigin};
use crate::scope::Frame;
use crate::vm::Vm;

/// Larger buffers than this are not kept.
const SPARE: usize = 64 << 10;

impl Vm<'_> {
    /// `{{ expr }}`
    pub(super) fn print_expr(
        &self,
        expr: &Expr,
        span: Span,
        frame: &Frame,
        out: &mut Output,
    ) -> Result<()> {
        let value = match self.eval(expr, frame) {
            Ok(value) => value,
            Err(e) => return Err(self.located(e, frame, expr)),
        };
        if let Obj::Int(int) = &value
            && let Some(int) = int.to_i64()
            && !self.is_observed()
        {
            let mut buffer = itoa::Buffer::new();
            let digits = buffer.format(int);
            // The steps of printing any other object.
            self.burn(1 + digits.len() / 16)?;
            return out.push(digits, &frame.template, span, OutputOrigin::Computed);
        }
        let printed = match self.print(&value) {
            Ok(printed) => printed,
            Err(e) => return Err(self.located(e, frame, expr)),
        };
        if let Some(taint) = self.taint {
            out.expect_secret(taint.printed(&value, &printed));
        }
        if let Some(tracer) = self.tracer {
            tracer.printed(&place(frame, span), &value);
        }
        let is_text = out.is_mapped() && matches!(value, Obj::Str(_)) && !self.writes_data(expr);
        let origin = if is_text {
            OutputOrigin::Text
        } else {
            OutputOrigin::Computed
        };
        out.push(&printed, &frame.template, span, origin)
    }

    /// Print the result of a block.
    pub(super) fn print_block(
        &self,
        value: &Obj,
        span: Span,
        frame: &Frame,
        out: &mut Output,
    ) -> Result<()> {
        let printed = self.print(value)?;
        if let Some(taint) = self.taint {
            out.expect_secret(taint.printed_by_block(value, &printed));
        }
        if let Some(tracer) = self.tracer {
            tracer.printed(&place(frame, span), value);
        }
        out.push(&printed, &frame.template, span, OutputOrigin::Computed)
    }

    /// Print literal text, with the line endings that the syntax asks for.
    pub(super) fn print_literal(
        &self,
        text: &str,
        span: Span,
        frame: &Frame,
        out: &mut Output,
    ) -> Result<()> {
        let newline = self.newline();
        if newline == "\n" {
            return out.push(text, &frame.template, span, OutputOrigin::Literal);
        }
        let mut start = span.start;
        for line in text.split_inclusive('\n') {
            let end = start.saturating_add(u32::try_from(line.len()).unwrap_or(u32::MAX));
            let (content, ends) = line
                .strip_suffix('\n')
                .map_or((line, false), |content| (content, true));
            out.push(
                content,
                &frame.template,
                Span { start, end },
                OutputOrigin::Literal,
            )?;
            if ends {
                out.push(
                    newline,
                    &frame.template,
                    Span {
                        start: end - 1,
                        end,
                    },
                    OutputOrigin::Computed,
                )?;
            }
            start = end;
        }
        Ok(())
    }

    /// Output that becomes an object.
    pub(crate) fn capturing(&self) -> Output {
        let out = Output::capture(self.spare.take(), self.limits().output);
        match self.tracer {
            Some(tracer) => out.traced(tracer.captures()),
            None => out,
        }
    }

    /// Captured output as an object: safe text where autoescaping made it so.
    ///
    /// # Errors
    /// As [`pay`](Self::pay).
    pub(crate) fn captured(&self, out: Output) -> Result<Obj> {
        let begin = out.begin();
        let (mut buffer, map) = out.finish();
        let text = Str::from(&*buffer);
        if let Some(tracer) = self.tracer {
            tracer.captured(begin, &text, &map);
        }
        if buffer.capacity() <= SPARE {
            buffer.clear();
            self.spare.set(buffer);
        }
        if let Some(taint) = self.taint {
            taint.captured(&text, map.secret().to_vec());
        }
        self.pay(1, text.len())?;
        Ok(if self.autoescape.get() {
            Obj::Markup(text)
        } else {
            Obj::Str(text)
        })
    }

    fn print<'v>(&self, value: &'v Obj) -> Result<Cow<'v, str>> {
        match value {
            Obj::Markup(s) => Ok(Cow::Borrowed(s)),
            Obj::Str(s) if !self.autoescape.get() => Ok(Cow::Borrowed(s)),
            Obj::Bool(value) => {
                // The steps of printing any other object.
                self.burn(1)?;
                Ok(Cow::Borrowed(if *value { "True" } else { "False" }))
            }
            value => {
                measure(self, value)?;
                let text = self.dialect().print(value)?;
                self.settle(text.len() / 16)?;
                Ok(if self.autoescape.get() {
                    mapstack_value::pytext::markup::escape(&text).into()
                } else {
                    text.into()
                })
            }
        }
    }

    /// True if an expression's text contains data rather than being a value: from a serialising filter or a macro.
    fn writes_data(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Filter { name, .. } => {
                self.dialect().converts(name) == Some(crate::Conversion::Writes)
            }
            ExprKind::Call { callee, .. } => matches!(callee.kind, ExprKind::Name(_)),
            _ => false,
        }
    }
}
