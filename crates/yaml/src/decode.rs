//! Bytes to text.

use crate::{Error, ErrorKind, Mark};

const BOM: char = '\u{feff}';

/// The text of a UTF-8 file, without its byte order mark.
///
/// ```
/// assert_eq!(mapstack_yaml::decode(b"\xef\xbb\xbfa: 1").unwrap(), "a: 1");
/// let error = mapstack_yaml::decode(b"a: 1\nb: \xe9\n").unwrap_err();
/// assert_eq!(error.mark().unwrap().line, 2);
/// ```
///
/// # Errors
/// [`ErrorKind::NotUtf8`] naming the first bad byte.
pub fn decode(bytes: &[u8]) -> Result<&str, Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(without_bom(text)),
        Err(error) => {
            let offset = error.valid_up_to();
            let before = std::str::from_utf8(&bytes[..offset]).unwrap_or_default();
            Err(Error::new(
                ErrorKind::NotUtf8 { offset },
                mark_after(before),
            ))
        }
    }
}

pub(crate) fn without_bom(text: &str) -> &str {
    text.strip_prefix(BOM).unwrap_or(text)
}

/// The position right behind a text, lines as YAML 1.1 counts them.
pub(crate) fn mark_after(text: &str) -> Mark {
    let mut mark = Mark::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if is_break(c) {
            if c == '\r' && chars.peek() == Some(&'\n') {
                chars.next();
            }
            mark = Mark {
                line: mark.line.saturating_add(1),
                column: 1,
            };
        } else {
            mark.column = mark.column.saturating_add(1);
        }
    }
    mark
}

/// True if YAML 1.1 ends a line with this character.
pub(crate) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
