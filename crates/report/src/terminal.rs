//! Output for terminals: safe characters, and colours.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use mapstack::is_acting;
pub use mapstack::sanitize;

/// The text with control characters as escapes, and so those that turn the direction of what follows; styles stay
/// where there are some.
pub fn printable(text: &str, styled: bool) -> Cow<'_, str> {
    let is_bad = |c: char| !matches!(c, '\n' | '\t') && is_acting(c);
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            c if !is_bad(c) || (styled && starts_style(&text[at..])) => out.push(c),
            c if c.is_ascii() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

/// True if a text starts with the sequence that sets colours, which does nothing else.
fn starts_style(text: &str) -> bool {
    let parameters = text.strip_prefix("\u{1b}[");
    parameters.is_some_and(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
            .starts_with('m')
    })
}

/// The colours of changes.
pub struct Paint {
    /// True if there are any.
    pub colored: bool,
}

impl Paint {
    fn styled(&self, style: Style, text: &str) -> String {
        if self.colored {
            format!("{style}{text}{style:#}")
        } else {
            text.into()
        }
    }

    /// The heading of a paragraph.
    pub fn key(&self, text: &str) -> String {
        self.styled(Style::new().bold(), text)
    }

    /// The place of something.
    pub fn origin(&self, text: &str) -> String {
        self.styled(AnsiColor::BrightBlack.on_default(), text)
    }

    /// A line that goes (`-`), comes (`+`) or stays.
    pub fn line(&self, sign: char, text: &str) -> String {
        let line = format!("{sign} {text}");
        match sign {
            '-' => self.styled(AnsiColor::Red.on_default(), &line),
            '+' => self.styled(AnsiColor::Green.on_default(), &line),
            _ => line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_styles_steers_the_terminal() {
        let text = "\u{1b}[1mbold\u{1b}[0m \u{1b}[2J\u{1b}]0;title\u{7} a\tb \u{9b}1m \u{202e}x\n";
        let safe = "bold{0m} \\x1b[2J\\x1b]0;title\\x07 a\tb \\u009b1m \\u202ex\n";
        assert_eq!(
            printable(text, true),
            format!("\u{1b}[1m{}", safe.replace("{0m}", "\u{1b}[0m"))
        );
        assert_eq!(
            printable(text, false),
            format!("\\x1b[1m{}", safe.replace("{0m}", "\\x1b[0m"))
        );
        assert!(matches!(printable("plain\n", false), Cow::Borrowed(_)));
    }
}
