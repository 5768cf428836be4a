//! `wordwrap`: Python's `textwrap`.

use std::sync::LazyLock;

use fancy_regex::Regex;

use mapstack_pyobject::{CallArgs, Error, Obj, Result, to_str};

use super::call::{flag, index_of, inner, method, no_attribute, room};
use crate::dialect::Filters;
use crate::vm::Vm;

pub(super) const TABLE: Filters = &[("wordwrap", wordwrap)];

fn wordwrap(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let names = [
        "width",
        "break_long_words",
        "wrapstring",
        "break_on_hyphens",
    ];
    let [width, long, wrapstring, hyphens] = inner("do_wordwrap", "s").bind(args, 0, names)?;
    let Some(text) = x.as_str() else {
        return Err(no_attribute(&x, "splitlines"));
    };
    let between = match wrapstring {
        None | Some(Obj::None) => "\n".to_string(),
        Some(other) => to_str(&other)?,
    };
    let wrapper = Wrapper {
        width: width.map_or(Ok(79), |w| index_of(&w))?,
        break_long_words: flag(long, true)?,
        break_on_hyphens: flag(hyphens, true)?,
    };
    vm.burn(text.len() / 16)?;
    let lines = method(vm, &Obj::from(text.clone()), "splitlines", [])?.collect(vm)?;
    let mut out = Vec::with_capacity(lines.len());
    for line in &lines {
        let wrapped = wrapper.wrap(line.as_str().map_or("", |l| l))?;
        room(vm, wrapped.iter().map(|l| l.len() + between.len()).sum())?;
        out.push(wrapped.join(&between));
    }
    Ok(Obj::from(out.join(&between)))
}

/// `textwrap.wrap(text, width)`.
///
/// ```
/// assert_eq!(mapstack_jinja::filters::wrap("one two three", 8).unwrap(), ["one two", "three"]);
/// ```
///
/// # Errors
/// A `ValueError` for a width below 1.
pub fn wrap(text: &str, width: i64) -> Result<Vec<String>> {
    // Tabs become spaces up to the next stop, and every other white space becomes one.
    let mut line = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' => {
                let spaces = 8 - column % 8;
                line.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            c => {
                column = if matches!(c, '\n' | '\r') {
                    0
                } else {
                    column + 1
                };
                line.push(if SPACES.contains(&c) { ' ' } else { c });
            }
        }
    }
    Wrapper {
        width,
        break_long_words: true,
        break_on_hyphens: true,
    }
    .wrap(&line)
}

/// The places where a line may break: around white space, behind hyphens inside words and around dashes.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const WORD: &str = r#"[\w!"'&.,?]"#;
    const LETTER: &str = r"[^\d\W]";
    const SPACE: &str = r"[\t\n\x0b\x0c\r ]";
    const OTHER: &str = r"[^\t\n\x0b\x0c\r ]";
    let dash = format!(r"(?<={WORD})-{{2,}}(?=\w)");
    let hyphenated =
        format!(r"-(?:(?<={LETTER}{{2}}-)|(?<={LETTER}-{LETTER}-))(?={LETTER}-?{LETTER})");
    let word_end = format!(r"(?={SPACE}|\z)");
    let before_dash = format!(r"(?<={WORD})(?=-{{2,}}\w)");
    Regex::new(&format!(
        "{SPACE}+|{dash}|{OTHER}+?(?:{hyphenated}|{word_end}|{before_dash})"
    ))
    .ok()
});

const SPACES: [char; 6] = ['\t', '\n', '\x0b', '\x0c', '\r', ' '];

struct Wrapper {
    width: i64,
    break_long_words: bool,
    break_on_hyphens: bool,
}

impl Wrapper {
    fn wrap(&self, line: &str) -> Result<Vec<String>> {
        let mut pieces = self.pieces(line)?;
        let width = match usize::try_from(self.width) {
            Ok(width) if width > 0 => width,
            _ => {
                return Err(Error::value_error(format!(
                    "invalid width {} (must be > 0)",
                    self.width
                )));
            }
        };
        pieces.reverse();
        let mut lines: Vec<String> = Vec::new();
        while !pieces.is_empty() {
            if !lines.is_empty() && pieces.last().is_some_and(|piece| is_blank(piece)) {
                pieces.pop();
            }
            let mut current: Vec<Vec<char>> = Vec::new();
            let mut length = 0;
            while let Some(piece) = pieces.pop_if(|piece| length + piece.len() <= width) {
                length += piece.len();
                current.push(piece);
            }
            if pieces.last().is_some_and(|piece| piece.len() > width) {
                self.cut_long_word(&mut pieces, &mut current, width - length);
            }
            if current.last().is_some_and(|piece| is_blank(piece)) {
                current.pop();
            }
            if !current.is_empty() {
                lines.push(current.into_iter().flatten().collect());
            }
        }
        Ok(lines)
    }

    /// Put as much of a word on the line as fits, or all of it on a separate line.
    fn cut_long_word(
        &self,
        pieces: &mut Vec<Vec<char>>,
        current: &mut Vec<Vec<char>>,
        space: usize,
    ) {
        if !self.break_long_words {
            if current.is_empty() {
                current.extend(pieces.pop());
            }
            return;
        }
        let Some(piece) = pieces.last_mut() else {
            return;
        };
        let mut end = space;
        if self.break_on_hyphens && piece.len() > space {
            let hyphen = piece[..space].iter().rposition(|c| *c == '-');
            if let Some(hyphen) =
                hyphen.filter(|&at| at > 0 && piece[..at].iter().any(|c| *c != '-'))
            {
                end = hyphen + 1;
            }
        }
        let rest = piece.split_off(end.min(piece.len()));
        current.push(std::mem::replace(piece, rest));
    }

    fn pieces(&self, line: &str) -> Result<Vec<Vec<char>>> {
        let mut pieces = Vec::new();
        let mut push = |piece: &str| {
            if !piece.is_empty() {
                pieces.push(piece.chars().collect());
            }
        };
        match &*WORDS {
            Some(words) if self.break_on_hyphens => {
                let mut at = 0;
                for found in words.find_iter(line) {
                    let found = found.map_err(|_| Error::limit("the text is too long to wrap"))?;
                    push(&line[at..found.start()]);
                    push(found.as_str());
                    at = found.end();
                }
                push(&line[at..]);
            }
            _ => {
                let mut rest = line;
                while let Some(first) = rest.chars().next() {
                    let blank = SPACES.contains(&first);
                    let (piece, after) = rest.split_at(
                        rest.find(|c| SPACES.contains(&c) != blank)
                            .unwrap_or(rest.len()),
                    );
                    push(piece);
                    rest = after;
                }
            }
        }
        Ok(pieces)
    }
}

fn is_blank(piece: &[char]) -> bool {
    piece
        .iter()
        .all(|c| c.is_whitespace() || matches!(c, '\x1c'..='\x1f'))
}
