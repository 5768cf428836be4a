//! Messages as a person reads them, with excerpts of files.

use annotate_snippets::{AnnotationKind, Element, Group, Origin, Snippet};
pub use annotate_snippets::{Level, Renderer};
use mapstack::secrets::Redacted;
use mapstack::{Diagnostic, Place};

use crate::terminal::sanitize;

/// A message as a person reads it, with excerpts. `id` is the name of the rule that speaks, and a message about a
/// whole file has no excerpt.
pub fn rendered(
    renderer: &Renderer,
    diagnostic: &Redacted<Diagnostic>,
    level: Level<'_>,
    id: Option<&str>,
    whole_file: bool,
) -> String {
    let message = sanitize(&diagnostic.message);
    let notes: Vec<String> = diagnostic.notes.iter().map(|n| sanitize(n)).collect();
    let help = diagnostic.help.as_deref().map(sanitize);
    let mut elements: Vec<Element<'_>> = Vec::new();
    let shown = diagnostic.place.as_ref().map(ShownPlace::new);
    if let Some(shown) = &shown {
        match whole_file {
            true => elements.push(Origin::path(shown.file.as_str()).into()),
            false => elements.extend(shown.elements()),
        }
    }
    elements.extend(
        notes
            .iter()
            .map(|note| Level::NOTE.message(note.as_str()).into()),
    );
    if let Some(help) = &help {
        elements.push(Level::HELP.message(help.as_str()).into());
    }
    let steps: Vec<(String, ShownPlace)> = diagnostic
        .trace
        .iter()
        .map(|step| (sanitize(&step.what), ShownPlace::new(&step.place)))
        .collect();
    let mut title = level.primary_title(message.as_str());
    if let Some(id) = id {
        title = title.id(id);
    }
    let mut groups = vec![title.elements(elements)];
    for (what, place) in &steps {
        let title = Level::NOTE.secondary_title(what.as_str());
        groups.push(Group::with_title(title).elements(place.elements()));
    }
    renderer.render(&groups)
}

/// A place with the few lines of its file that are worth showing.
struct ShownPlace {
    file: String,
    excerpt: String,
    first_line: usize,
    start: usize,
    end: usize,
    /// The line and column, if the excerpt begins inside of a line, so that they cannot be counted in it.
    inside: Option<(usize, usize)>,
}

impl ShownPlace {
    /// Lines before and after the place.
    const CONTEXT: usize = 2;
    /// Longer lines are cut.
    const MAX_WIDTH: usize = 400;

    fn new(place: &Place) -> Self {
        let source = &*place.source;
        let start = floor(source, place.start.min(source.len()));
        let end = floor(source, place.end.clamp(start, source.len()));
        // A place that spans lines is shown by its first.
        let line_end = source[start..]
            .find('\n')
            .map_or(source.len(), |i| start + i);
        let end = end.min(line_end).max(start);
        let line_start = source[..start].rfind('\n').map_or(0, |i| i + 1);
        let mut from = line_start;
        for _ in 0..Self::CONTEXT {
            from = source[..from.saturating_sub(1)]
                .rfind('\n')
                .map_or(0, |i| i + 1);
        }
        let to = source[line_end..]
            .match_indices('\n')
            .nth(Self::CONTEXT)
            .map_or(source.len(), |(i, _)| line_end + i);
        let (mut from, mut to) = (from, to);
        if to - from > Self::MAX_WIDTH * 5 {
            from = floor(
                source,
                start.saturating_sub(Self::MAX_WIDTH / 2).max(line_start),
            );
            to = floor(source, (start + Self::MAX_WIDTH).min(line_end));
        }
        // A C1 control character acts on a terminal as an escape does, and takes two bytes in place of three.
        let visible = |text: &str| {
            let text = text.replace(|c| matches!(c, '\u{80}'..='\u{9f}'), "\u{fffd}");
            // A command to a CI service; its length stays, so that the marks below it do.
            text.replace("##[", "##(")
        };
        let (at, until) = (start.max(from), end.min(to).max(start));
        let before = visible(&source[from..at]).len();
        let marked = visible(&source[at..until.max(at)]).len();
        let is_inside = from > 0 && source.as_bytes().get(from - 1) != Some(&b'\n');
        let first_line = source[..from].matches('\n').count() + 1;
        ShownPlace {
            // A name is one line.
            file: sanitize(&place.file).replace('\n', "\u{fffd}"),
            excerpt: visible(&source[from..to.max(from)]),
            first_line,
            start: before,
            end: before + marked,
            inside: is_inside.then(|| (place.line(), place.column())),
        }
    }

    fn elements(&self) -> Vec<Element<'_>> {
        let end = self.end.max(self.start);
        let snippet = Snippet::source(self.excerpt.as_str())
            .line_start(self.first_line)
            .annotation(AnnotationKind::Primary.span(self.start..end));
        match self.inside {
            None => vec![snippet.path(self.file.as_str()).into()],
            Some((line, column)) => {
                let origin = Origin::path(self.file.as_str()).line(line);
                vec![origin.char_column(column).into(), snippet.into()]
            }
        }
    }
}

/// The nearest character boundary at or before an offset.
fn floor(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use mapstack::secrets::Secrets;
    use mapstack::{Error, ErrorKind};

    use super::*;
    use crate::terminal::tests::{assert_harmless, hostile};

    #[test]
    fn nothing_in_a_message_acts_where_it_is_printed() {
        for text in hostile().iter().step_by(7) {
            let source = format!("a: {text}!");
            let (start, end) = (source.len() - 1, source.len());
            let place = Place {
                file: text.clone(),
                source: source.into(),
                start,
                end,
            };
            let error = Error::new(ErrorKind::Yaml, text).note(text).help(text);
            let error = error.at(Some(place));
            let told = Secrets::without_digests().redact(error.diagnostic());
            let text = rendered(&Renderer::plain(), &told, Level::ERROR, Some("id"), false);
            assert_harmless(&text, &text);
        }
    }

    #[test]
    fn marks_are_below_their_text_where_it_has_control_characters() {
        let source = "a: \u{9b}\u{85} ##[x] b";
        let place = Place {
            file: "f.yaml".into(),
            source: source.into(),
            start: source.len() - 1,
            end: source.len(),
        };
        let error = Error::new(ErrorKind::Yaml, "no").at(Some(place));
        let told = Secrets::without_digests().redact(error.diagnostic());
        let text = rendered(&Renderer::plain(), &told, Level::ERROR, None, false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1].trim(), "--> f.yaml:1:13", "{text}");
        assert_eq!(lines[3], "1 | a: \u{fffd}\u{fffd} ##(x] b", "{text}");
        assert_eq!(lines[4], "  |             ^", "{text}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place_and_keeps_its_column() {
        let source = format!(
            "a: {}\nb: {}!{}\n",
            "x".repeat(9_000),
            "y".repeat(9_000),
            "z".repeat(9_000)
        );
        let at = source.find('!').unwrap();
        let place = Place {
            file: "f.yaml".into(),
            source: source.into(),
            start: at,
            end: at + 1,
        };
        let error = Error::new(ErrorKind::Yaml, "no").at(Some(place));
        let told = Secrets::without_digests().redact(error.diagnostic());
        let text = rendered(&Renderer::plain(), &told, Level::ERROR, None, false);
        assert!(text.contains("--> f.yaml:2:9004"), "{text}");
        assert!(text.contains("yy!zz") && text.len() < 1_000, "{text}");
    }
}
