//! Text in place of a block's next key or item.

use crate::events::{Event, EventKind, Events, Style};

use super::{Advice, Line, Refused, blanks};

impl<'t> Refused<'t> {
    /// Something else than the next key of a mapping, or the next item of a list.
    pub(super) fn out_of_structure(&self) -> Advice {
        let at = self.error.mark.offset;
        let line = self.lines.get(self.line).copied();
        let line = line.unwrap_or(Line {
            start: at,
            text: "",
        });
        let before = line.until(at);
        match before.text.trim_start_matches([' ', '-']).is_empty() {
            true => self.first_on_its_line(&line),
            false => self.behind_a_value(&before),
        }
    }

    /// Text that follows a value on its line.
    fn behind_a_value(&self, before: &Line<'_>) -> Advice {
        let at = self.error.mark.offset;
        let last = self.last_scalar();
        match before.text.trim_end().chars().last() {
            Some(quote @ ('"' | '\'')) => {
                let opened = last.map_or(at, |scalar| scalar.start.offset);
                if opened < before.start {
                    return Advice::new(
                        opened,
                        "the quote opened here is closed by the next quote",
                        "close it where the value ends",
                    )
                    .on_line_of(at);
                }
                let advice = match quote {
                    '"' => "write a quote inside the text as `\\\"`, or use single quotes",
                    _ => "write a quote inside the text twice, or use double quotes",
                };
                Advice::new(at, "text follows the closing quote", advice)
            }
            Some(close @ (']' | '}')) => {
                let problem = match self.character() {
                    Some(']' | '}') => "a bracket is closed that was not opened".to_owned(),
                    _ => format!("text follows the closing `{close}`"),
                };
                Advice::new(at, problem, "remove it, or put the whole value in quotes")
            }
            _ => Advice::new(
                at,
                "text follows the value",
                "put the whole value in quotes, or begin a new line",
            ),
        }
    }

    /// The line that begins with something else than the block needs, or in no column of it.
    fn first_on_its_line(&self, line: &Line<'t>) -> Advice {
        let at = self.error.mark.offset;
        let column = self.error.mark.column;
        let base = self.error.context.map_or(0, |context| context.start.column);
        if let Some(first) = self.block_above() {
            let problem = format!(
                "{} is neither a key nor part of the block above",
                line.shown()
            );
            let advice = format!(
                "this line has {} the text of the block has {first}",
                blanks(column)
            );
            return Advice::new(at, problem, advice);
        }
        if column > base
            && let Some(deeper) = self.deeper_column(column)
        {
            let problem = format!(
                "{} is indented differently from the lines above",
                line.shown()
            );
            let advice = format!(
                "this line has {} its neighbours have {deeper}, and the block around them {base}",
                blanks(column)
            );
            return Advice::new(at, problem, advice);
        }
        match self.error.problem {
            "did not find expected key" if line.is_item() => Advice::new(
                at,
                "a list item is among the keys of a mapping",
                "remove the `- `, or indent the item to put it below a key",
            ),
            "did not find expected key" => Advice::new(
                at,
                "expected a key of the mapping",
                "indent the line like the other keys, or quote the value before it",
            ),
            _ => Advice::new(
                at,
                format!("{} is among the items of a list", line.shown()),
                "start the line with `- `, or indent it differently",
            ),
        }
    }

    /// The smallest column beyond one in which a line of the same block begins.
    fn deeper_column(&self, column: usize) -> Option<usize> {
        let begun = self.error.context.map_or(0, |context| context.start.line);
        let block = self.lines.above(self.line).take_while(|line| {
            self.lines
                .get(begun)
                .is_some_and(|first| line.start >= first.start)
        });
        block
            .flat_map(|line| [line.indent(), line.key_column()])
            .filter(|other| *other > column)
            .min()
    }

    /// The blanks before the text of a block (`|` or `>`) that ends directly above.
    fn block_above(&self) -> Option<usize> {
        let scalar = self.last_scalar()?;
        let is_block = matches!(
            &scalar.kind,
            EventKind::Scalar(scalar) if matches!(scalar.style, Style::Literal | Style::Folded)
        );
        let between = self.text.get(scalar.end.offset..self.error.mark.offset)?;
        let first = self.lines.get(scalar.start.line + 1)?.indent();
        let base = self.error.context.map_or(0, |context| context.start.column);
        let is_inside = self.error.mark.column > base && self.error.mark.column < first;
        (is_block && between.trim().is_empty() && is_inside).then_some(first)
    }

    /// The last scalar before the error.
    fn last_scalar(&self) -> Option<Event<'t>> {
        let events = Events::of(self.text).ok()?;
        events
            .map_while(Result::ok)
            .filter(|event| matches!(event.kind, EventKind::Scalar(_)))
            .last()
    }
}
