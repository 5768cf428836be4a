//! Rendered text that remembers which source produced which bytes.

use std::ops::Range;
use std::sync::Arc;

use mapstack_pyobject::{Error, Result, TemplatePlace};

use crate::syntax::ast::{Span, Template};

/// The origin of a piece of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputOrigin {
    /// Literal text of the template: every byte maps to one byte of source.
    Literal,
    /// Printed by the expression or tag at the span.
    Computed,
    /// Printed by the expression at the span, whose value is text and not data that a filter such as
    /// `json` wrote out.
    Text,
}

impl OutputOrigin {
    /// True if what was printed is not literally in the template.
    #[must_use]
    pub fn is_computed(self) -> bool {
        self != OutputOrigin::Literal
    }
}

/// A run of output with one origin.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    /// The start in the output.
    start: usize,
    /// Index into the list of templates.
    template: u32,
    span: Span,
    origin: OutputOrigin,
}

/// The source of each part of a rendered text.
#[derive(Debug, Default, Clone)]
pub struct SourceMap {
    templates: Vec<Arc<Template>>,
    chunks: Vec<Chunk>,
    /// The secret bytes of the output, in order.
    secret: Vec<Range<usize>>,
}

impl SourceMap {
    /// The source behind a byte of the output.
    ///
    /// Literal text maps to the exact byte, computed text to the expression or tag that printed it.
    #[must_use]
    pub fn locate(&self, offset: usize) -> Option<(TemplatePlace, OutputOrigin)> {
        let after = self.chunks.partition_point(|c| c.start <= offset);
        let chunk = self.chunks.get(after.checked_sub(1)?)?;
        let template = self.templates.get(chunk.template as usize)?;
        let span = match chunk.origin {
            OutputOrigin::Literal => {
                let into = u32::try_from(offset - chunk.start).unwrap_or(u32::MAX);
                let start = chunk.span.start.saturating_add(into).min(chunk.span.end);
                Span {
                    start,
                    end: chunk.span.end,
                }
            }
            OutputOrigin::Computed | OutputOrigin::Text => chunk.span,
        };
        let place = TemplatePlace {
            template: template.name.clone(),
            source: template.source.clone(),
            span,
        };
        Some((place, chunk.origin))
    }

    /// The bytes of the output that are secret according to a [`Taint`](super::Taint), in order.
    #[must_use]
    pub fn secret(&self) -> &[Range<usize>] {
        &self.secret
    }

    /// Mark everything that was computed as secret, for languages whose expressions are not tracked. An output without
    /// runs counts as computed.
    #[must_use]
    pub fn with_secret_computed(mut self, length: usize) -> Self {
        let ends = self
            .chunks
            .iter()
            .map(|chunk| chunk.start)
            .skip(1)
            .chain([length]);
        let runs = self
            .chunks
            .iter()
            .zip(ends)
            .filter(|(chunk, _)| chunk.origin.is_computed());
        self.secret = runs.map(|(chunk, end)| chunk.start..end).collect();
        if self.chunks.is_empty() && length > 0 {
            self.secret.push(0..length);
        }
        self
    }

    /// The output in runs of one origin, in order: where each starts, and how it came about.
    ///
    /// ```
    /// use mapstack_jinja::{Jinja2, NoHost, OutputOrigin, Request, render};
    /// let rendered = render(Request::new(&Jinja2, "a: {{ 1 }}", &NoHost)).unwrap();
    /// assert!(rendered.map.runs().eq([(0, OutputOrigin::Literal), (3, OutputOrigin::Computed)]));
    /// ```
    pub fn runs(&self) -> impl Iterator<Item = (usize, OutputOrigin)> {
        self.chunks.iter().map(|chunk| (chunk.start, chunk.origin))
    }
}

/// Text being written.
pub struct Output {
    text: String,
    map: Option<SourceMap>,
    limit: usize,
    secret: Vec<Range<usize>>,
    /// The number that a tracer gave to what begins here.
    begin: usize,
}

impl Output {
    /// Output that keeps a source map.
    pub fn mapped(limit: usize) -> Self {
        Output {
            text: String::new(),
            map: Some(SourceMap::default()),
            limit,
            secret: Vec::new(),
            begin: 0,
        }
    }

    /// Make room for what a template is likely to print.
    pub fn expect(&mut self, template: &Template) {
        self.text.reserve(template.source.len().min(self.limit));
        if let Some(map) = &mut self.map {
            map.chunks.reserve(template.body.len());
        }
    }

    /// Output of a capture into an empty buffer; its bytes are attributed to whatever prints them later.
    pub fn capture(buffer: String, limit: usize) -> Self {
        Output {
            text: buffer,
            map: None,
            limit,
            secret: Vec::new(),
            begin: 0,
        }
    }

    /// The same output with a source map, for a tracer that gave it a number.
    pub fn traced(self, begin: usize) -> Self {
        Output {
            map: Some(SourceMap::default()),
            begin,
            ..self
        }
    }

    /// The number that a tracer gave to it.
    pub fn begin(&self) -> usize {
        self.begin
    }

    /// True if it keeps a source map.
    pub fn is_mapped(&self) -> bool {
        self.map.is_some()
    }

    /// Append text that came from a span.
    ///
    /// # Errors
    /// A limit error when the output grows too large.
    pub fn push(
        &mut self,
        text: &str,
        template: &Arc<Template>,
        span: Span,
        origin: OutputOrigin,
    ) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.text.len() + text.len() > self.limit {
            return Err(Error::limit(format!(
                "the template printed more than {} bytes",
                self.limit
            ))
            .with_help("a loop that does not end, or raise the output limit"));
        }
        if let Some(map) = &mut self.map {
            let is_last = map
                .templates
                .last()
                .is_some_and(|last| Arc::ptr_eq(last, template));
            if !is_last {
                map.templates.push(template.clone());
            }
            map.chunks.push(Chunk {
                start: self.text.len(),
                template: u32::try_from(map.templates.len() - 1).unwrap_or(u32::MAX),
                span,
                origin,
            });
        }
        self.text.push_str(text);
        Ok(())
    }

    /// Mark bytes of the text that is [pushed](Self::push) next as secret.
    pub fn expect_secret(&mut self, within: Vec<Range<usize>>) {
        let start = self.text.len();
        self.secret.extend(
            within
                .into_iter()
                .map(|range| start + range.start..start + range.end),
        );
    }

    /// The text and where it came from.
    pub fn finish(self) -> (String, SourceMap) {
        let map = self.map.unwrap_or_default();
        (
            self.text,
            SourceMap {
                secret: self.secret,
                ..map
            },
        )
    }
}
