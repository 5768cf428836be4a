//! Texts for people: what is data and what is a style are told apart by type until they are printed.

use std::borrow::Cow;
use std::fmt;

use anstyle::{AnsiColor, Style};
pub use mapstack::sanitize;
#[cfg(feature = "html")]
use mapstack::value::is_printable;
use mapstack::value::{commands, is_acting, is_plain};

use crate::room::Room;

/// The style of the heading of a paragraph.
pub(crate) const KEY: Style = Style::new().bold();
/// The style of a place.
pub(crate) const ORIGIN: Style = AnsiColor::BrightBlack.on_default();

/// The style of a line that goes (`-`), comes (`+`) or stays.
pub(crate) fn of_sign(sign: char) -> Style {
    match sign {
        '-' => AnsiColor::Red.on_default(),
        '+' => AnsiColor::Green.on_default(),
        _ => Style::new(),
    }
}

/// A text for people, made of data and styles. Whatever the data, it cannot set a style, steer the terminal or command a
/// CI service.
///
/// ```
/// use mapstack_report::terminal::Styled;
/// let mut text = Styled::default();
/// text.add(anstyle::Style::new().bold(), "a\u{1b}[8m");
/// text.plain(" b\n::error::c\n");
/// assert_eq!(text.shown(false), "a\\x1b[8m b\n\\x3a:error::c\n");
/// assert!(text.shown(true).starts_with("\u{1b}[1ma\\x1b[8m\u{1b}[0m b"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Styled {
    text: String,
    /// The starts of pieces whose style differs from that of the text before.
    styles: Vec<(usize, Style)>,
}

impl Styled {
    /// Add a piece in a style.
    pub fn add(&mut self, style: Style, text: &str) {
        let last = self.styles.last().map_or(Style::new(), |(_, style)| *style);
        if style != last {
            self.styles.push((self.text.len(), style));
        }
        self.text.push_str(text);
    }

    /// Add a piece without a style.
    pub fn plain(&mut self, text: &str) {
        self.add(Style::new(), text);
    }

    /// Add an entry, if there is room for it.
    pub(crate) fn in_room(&mut self, room: &mut Room, add: impl FnOnce(&mut Styled)) {
        room.show(|| {
            let before = self.text.len();
            add(self);
            self.text.len() - before
        });
    }

    /// Add another text.
    pub fn append(&mut self, other: &Styled) {
        let mut from = (0, Style::new());
        for next in other
            .styles
            .iter()
            .copied()
            .chain([(other.text.len(), Style::new())])
        {
            if let Some(piece) = other.text.get(from.0..next.0) {
                self.add(from.1, piece);
            }
            from = next;
        }
    }

    /// The text as it is printed.
    #[must_use]
    pub fn shown(&self, colored: bool) -> String {
        if !colored || self.styles.is_empty() {
            return printable(&self.text).into_owned();
        }
        let commands = commands(&self.text);
        let (mut out, mut from, mut style) = (String::new(), 0, Style::new());
        let end = [(self.text.len(), Style::new())];
        for (at, next) in self.styles.iter().copied().chain(end) {
            if let Some(piece) = self.text.get(from..at).filter(|piece| !piece.is_empty()) {
                out.push_str(&style.render().to_string());
                escape(
                    piece,
                    |at, c| is_bad(c) || commands.binary_search(&(from + at)).is_ok(),
                    &mut out,
                );
                out.push_str(&style.render_reset().to_string());
            }
            (from, style) = (at, next);
        }
        out
    }
}

impl fmt::Write for Styled {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.plain(text);
        Ok(())
    }
}

/// True if a character must not be printed as itself.
fn is_bad(c: char) -> bool {
    !matches!(c, '\n' | '\t') && is_acting(c)
}

/// The text with escapes for control characters, for characters that change the direction of text, and for
/// the start of a line that a CI service would take for a command.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let commands = commands(text);
    if commands.is_empty() && (is_plain(text) || !text.contains(is_bad)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    escape(
        text,
        |at, c| is_bad(c) || commands.binary_search(&at).is_ok(),
        &mut out,
    );
    Cow::Owned(out)
}

/// The text of a page, with the same escapes, also for everything that cannot be seen.
#[cfg(feature = "html")]
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| !matches!(c, '\n' | '\t') && !is_printable(c);
    let commands = commands(text);
    if commands.is_empty() && (is_plain(text) || !text.contains(is_hidden)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    escape(
        text,
        |at, c| is_hidden(c) || commands.binary_search(&at).is_ok(),
        &mut out,
    );
    Cow::Owned(out)
}

/// JSON with the same escapes in JSON's own grammar. All that is escaped can only stand in its texts.
#[must_use]
pub fn printable_json(json: &str) -> Cow<'_, str> {
    const COMMAND: &str = "##[";
    let is_bad = |c: char| c != '\n' && is_acting(c);
    if !json.contains(COMMAND) && (is_plain(json) || !json.contains(is_bad)) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for c in json.replace(COMMAND, "##\\u005b").chars() {
        match is_bad(c) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Append a piece of a text, with escapes for the characters that are bad at their offsets.
fn escape(piece: &str, is_bad: impl Fn(usize, char) -> bool, out: &mut String) {
    for (at, c) in piece.char_indices() {
        match c {
            c if !is_bad(at, c) => out.push(c),
            c if c.is_ascii() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use mapstack::value::{Map, Value, json};
    use mapstack::yaml;

    use super::*;

    /// Texts of up to three hostile pieces each, in every order.
    pub(crate) fn hostile() -> Vec<String> {
        const PIECES: [&str; 18] = [
            "\u{1b}[8m",
            "\u{1b}]0;t\u{7}",
            "\u{9b}31m",
            "\r",
            "\n",
            "\t",
            "\u{202e}",
            "\u{2066}",
            "::error::x",
            ":",
            " ",
            "##[",
            "```",
            "`",
            "|",
            "</details>",
            "\\",
            "a",
        ];
        let longer = |text: &String| PIECES.map(|piece| format!("{text}{piece}"));
        let one: Vec<String> = PIECES.map(String::from).into();
        let two: Vec<String> = one.iter().flat_map(longer).collect();
        let three = two.iter().flat_map(longer).collect();
        [one, two, three].concat()
    }

    pub(crate) fn assert_harmless(printed: &str, of: &str) {
        let acts = printed.contains(is_bad);
        assert!(
            !acts && commands(printed).is_empty(),
            "{printed:?} of {of:?}"
        );
    }

    #[test]
    fn no_text_does_anything_where_it_is_printed() {
        for text in hostile() {
            let mut styled = Styled::default();
            styled.add(KEY, &text);
            styled.plain(&text);
            assert_harmless(&styled.shown(false), &text);
            let colored = styled.shown(true);
            for own in [KEY.render().to_string(), KEY.render_reset().to_string()] {
                assert_eq!(colored.matches(&own).count(), 1, "{colored:?}");
            }
            assert_harmless(
                &colored.replace("\u{1b}[1m", "").replace("\u{1b}[0m", ""),
                &text,
            );
            assert_harmless(&sanitize(&text), &text);
        }
    }

    #[test]
    fn data_does_nothing_where_it_is_printed_and_can_be_read_back() {
        for text in hostile() {
            let value: Value = Map::from_iter([(text.clone(), text.clone())]).into();
            let printed = crate::values::as_yaml(&value);
            assert_harmless(&printed, &text);
            assert_eq!(yaml::load(&printed).unwrap(), value, "{printed}");
            let printed = crate::values::as_json(&value).unwrap();
            assert_harmless(&printed, &text);
            assert_eq!(json::loads(&printed).unwrap(), value, "{printed}");
        }
    }

    #[test]
    fn nothing_but_our_styles_steers_the_terminal() {
        let data =
            "\u{1b}[1mbold\u{1b}[0m \u{1b}]0;title\u{7} a\tb \u{9b}1m \u{202e}x\r\n ::error::x\n";
        let safe = "\\x1b[1mbold\\x1b[0m \\x1b]0;title\\x07 a\tb \\u009b1m \\u202ex\\x0d\n \\x3a:error::x\n";
        let mut text = Styled::default();
        text.plain(data);
        text.add(KEY, data);
        assert_eq!(text.shown(true), format!("{safe}\u{1b}[1m{safe}\u{1b}[0m"));
        assert_eq!(text.shown(false), format!("{safe}{safe}"));
        assert!(matches!(printable("plain\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_command_in_two_pieces_is_one() {
        let mut text = Styled::default();
        text.add(KEY, ":");
        text.plain(":error::x ##");
        text.add(ORIGIN, "[error]y");
        assert_eq!(text.shown(false), "\\x3a:error::x ##\\x5berror]y");
        assert!(text.shown(true).contains("\\x3a") && text.shown(true).contains("\\x5b"));
    }
}
