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
    decode_all(bytes).map(|text| text.strip_prefix(BOM).unwrap_or(text))
}

/// The text of a UTF-8 file with its byte order mark, which is a part of the text for everything but YAML.
///
/// # Errors
/// As [`decode`].
pub fn decode_all(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        let before = std::str::from_utf8(&bytes[..offset]).unwrap_or_default();
        Error::new(ErrorKind::NotUtf8 { offset }, mark_after(before))
    })
}

/// The position right behind a text.
pub(crate) fn mark_after(text: &str) -> Mark {
    let (line, start) = match text.rfind('\n') {
        Some(last) => (text.matches('\n').count() + 1, last + 1),
        None => (1, 0),
    };
    let column = text[start..].trim_start_matches(BOM).chars().count() + 1;
    let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Mark {
        line: narrow(line),
        column: narrow(column),
    }
}

/// True if YAML 1.1 ends a line with this character.
pub(crate) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
